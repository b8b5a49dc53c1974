//! Embeddings of questions: each computed once, the last thousand kept.
//!
//! Equal questions at a time wait for one call. The call itself decides about the pause and publishes its vector, so it
//! does not matter whether the recall that began it still waits.

use super::client::Client;
use super::pause::Pause;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tracing::warn;

/// Questions whose vectors are kept.
const KEPT: usize = 1_000;
/// Calls at a time.
const CALLS: usize = 4;
/// Pause after a failure, the first and the longest.
const PAUSE: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];

/// Hash of a question: texts may be long.
type Key = [u8; 32];
/// The vector of a question, once it is there. Its sender is dropped if the call fails.
type Vector = watch::Receiver<Option<Arc<[f32]>>>;

#[derive(Debug)]
pub(super) struct Questions {
    client: Arc<Client>,
    timeout: Duration,
    permits: Arc<Semaphore>,
    pause: Arc<Pause>,
    /// Written by the recalls that begin a call.
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    vectors: BTreeMap<Key, (u64, Vector)>,
    /// Number of uses so far.
    uses: u64,
}

impl Questions {
    pub(super) fn new(client: Arc<Client>, timeout: Duration) -> Self {
        let permits = Arc::new(Semaphore::new(CALLS));
        Self { client, timeout, permits, pause: Arc::new(Pause::new(PAUSE)), kept: Mutex::default() }
    }

    /// The vector of a question; `None` if the call failed, or another did a moment ago.
    pub(super) async fn vector(&self, text: &str) -> Option<Arc<[f32]>> {
        let key: Key = Sha256::digest(text.as_bytes()).into();
        let known = self.open().find(&key);
        let mut vector = match known {
            Some(known) => known,
            None if self.pause.left().is_some() => return None,
            None => {
                let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
                self.call(key, text, permit)?
            }
        };
        let found = vector.wait_for(Option::is_some).await.ok()?;
        found.clone()
    }

    /// Begins a call, unless another recall has begun it, or one has failed meanwhile.
    fn call(&self, key: Key, text: &str, permit: OwnedSemaphorePermit) -> Option<Vector> {
        let mut kept = self.open();
        if let Some(known) = kept.find(&key) {
            return Some(known);
        }
        if self.pause.left().is_some() {
            return None;
        }
        let (publish, vector) = watch::channel(None);
        kept.keep(key, vector.clone());
        let (client, pause, timeout) = (Arc::clone(&self.client), Arc::clone(&self.pause), self.timeout);
        let text = text.to_owned();
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            match client.embed(&[text], timeout) {
                Ok(vectors) => {
                    pause.end();
                    #[expect(clippy::cast_possible_truncation, reason = "embeddings are compared as f32")]
                    let single = vectors.concat().into_iter().map(|number| number as f32).collect();
                    publish.send_replace(Some(single));
                }
                Err(why) => {
                    let pause_s = pause.begin().as_secs();
                    warn!(%why, pause_s, "questions are answered without embeddings during a pause");
                }
            }
        });
        Some(vector)
    }

    fn open(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// The vector of a question that is there or under way.
    fn find(&mut self, key: &Key) -> Option<Vector> {
        self.uses += 1;
        let (used, vector) = self.vectors.get_mut(key)?;
        let is_lost = vector.borrow().is_none() && vector.has_changed().is_err();
        *used = self.uses;
        (!is_lost).then(|| vector.clone())
    }

    /// Keeps a vector instead of the one that was not used for longest.
    fn keep(&mut self, key: Key, vector: Vector) {
        if self.vectors.len() >= KEPT
            && let Some(oldest) = self.vectors.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key)
        {
            self.vectors.remove(&oldest);
        }
        self.vectors.insert(key, (self.uses, vector));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_makes_room_and_a_failed_one_is_forgotten() {
        let key = |n: u64| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&n.to_be_bytes());
            key
        };
        let (mut kept, mut senders) = (Kept::default(), Vec::new());
        for n in 0..KEPT as u64 {
            assert!(kept.find(&key(n)).is_none());
            let (publish, vector) = watch::channel(None);
            kept.keep(key(n), vector);
            senders.push(publish);
        }
        assert!(kept.find(&key(0)).is_some());
        kept.keep(key(5_000), watch::channel(None).1);
        assert_eq!(kept.vectors.len(), KEPT);
        assert!(kept.find(&key(0)).is_some() && kept.find(&key(1)).is_none());
        // Its sender is gone, and nothing was sent.
        assert!(kept.find(&key(5_000)).is_none());
    }
}

//! Embeddings of questions: each computed once, the last thousand kept.
//!
//! Equal questions at a time wait for one call. The call publishes its vector whether the recall that began it still waits
//! or not, so a model that is slow at first serves the next recall. A question that the embedder refuses, while it accepts
//! a probe, is not sent again for a while, and delays no other.

use super::PROBE;
use super::client::{Client, Failure, FailureKind};
use super::pause::Pause;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};
use tracing::warn;

/// Questions whose vectors are kept.
const KEPT: usize = 1_000;
/// Calls at a time.
const CALLS: usize = 8;

/// Hash of a question: texts may be long.
type Key = [u8; 32];
/// The answer to a question, once it is there. Its sender is dropped if the call fails.
type Pending = watch::Receiver<Option<Answer>>;

#[derive(Debug, Clone)]
enum Answer {
    Vector(Arc<[f32]>),
    /// The question is not sent again until then.
    RefusedUntil(Instant),
}

impl Answer {
    fn vector(&self) -> Option<Arc<[f32]>> {
        match self {
            Self::Vector(vector) => Some(Arc::clone(vector)),
            Self::RefusedUntil(_) => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Questions {
    client: Arc<Client>,
    timeout: Duration,
    /// Time for which a refused question is not sent again.
    refused: Duration,
    permits: Arc<Semaphore>,
    pause: Arc<Pause>,
    /// Written by the recalls that begin a call.
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    answers: BTreeMap<Key, (u64, Pending)>,
    /// Number of uses so far.
    uses: u64,
}

impl Questions {
    pub(super) fn new(client: Arc<Client>, timeout: Duration, pauses: [Duration; 2]) -> Self {
        let (permits, pause) = (Arc::new(Semaphore::new(CALLS)), Arc::new(Pause::new(pauses)));
        Self { client, timeout, refused: pauses[1], permits, pause, kept: Mutex::default() }
    }

    /// The vector of a question; `None` if the call failed, if another did a moment ago, or if too many are under way.
    pub(super) async fn vector(&self, text: &str) -> Option<Arc<[f32]>> {
        let mut answer = self.pending(text)?;
        if self.pause.left().is_some() {
            return answer.borrow().as_ref().and_then(Answer::vector);
        }
        answer.wait_for(Option::is_some).await.ok()?.as_ref().and_then(Answer::vector)
    }

    /// Begins a pause after a failure.
    pub(super) fn begin_pause(&self, why: &Failure) {
        begin(&self.pause, why);
    }

    /// The answer to a question, by a new call if none is there or under way.
    fn pending(&self, text: &str) -> Option<Pending> {
        let key: Key = Sha256::digest(text.as_bytes()).into();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.find(&key) {
            return Some(known);
        }
        if self.pause.left().is_some() {
            return None;
        }
        let permit = Arc::clone(&self.permits).try_acquire_owned().ok()?;
        let (publish, answer) = watch::channel(None);
        kept.keep(key, answer.clone());
        let (client, pause, timeout) = (Arc::clone(&self.client), Arc::clone(&self.pause), self.timeout);
        let (text, refused) = (text.to_owned(), self.refused);
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            match client.embed(&[text], timeout) {
                Ok(vectors) => {
                    pause.end();
                    #[expect(clippy::cast_possible_truncation, reason = "embeddings are compared as f32")]
                    let single = vectors.concat().into_iter().map(|number| number as f32).collect();
                    publish.send_replace(Some(Answer::Vector(single)));
                }
                Err(why) if why.kind == FailureKind::Refused && accepts_probe(&client, timeout) => {
                    warn!(%why, "a question is answered without an embedding");
                    let until = Instant::now().checked_add(refused);
                    publish.send_replace(until.map(Answer::RefusedUntil));
                }
                Err(why) => begin(&pause, &why),
            }
        });
        Some(answer)
    }
}

fn accepts_probe(client: &Client, timeout: Duration) -> bool {
    client.embed(&[PROBE.to_owned()], timeout).is_ok()
}

fn begin(pause: &Pause, why: &Failure) {
    let pause_s = pause.begin().as_secs();
    warn!(%why, pause_s, "questions are answered without embeddings during a pause");
}

impl Kept {
    /// The answer to a question that is there or under way.
    fn find(&mut self, key: &Key) -> Option<Pending> {
        self.uses += 1;
        let (used, answer) = self.answers.get_mut(key)?;
        *used = self.uses;
        let is_over = match *answer.borrow() {
            None => answer.has_changed().is_err(),
            Some(Answer::Vector(_)) => false,
            Some(Answer::RefusedUntil(until)) => Instant::now() >= until,
        };
        (!is_over).then(|| answer.clone())
    }

    /// Keeps an answer instead of the one that was not used for longest.
    fn keep(&mut self, key: Key, answer: Pending) {
        if self.answers.len() >= KEPT
            && let Some(oldest) = self.answers.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key)
        {
            self.answers.remove(&oldest);
        }
        self.answers.insert(key, (self.uses, answer));
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
            let (publish, answer) = watch::channel(None);
            kept.keep(key(n), answer);
            senders.push(publish);
        }
        assert!(kept.find(&key(0)).is_some());
        kept.keep(key(5_000), watch::channel(None).1);
        assert_eq!(kept.answers.len(), KEPT);
        assert!(kept.find(&key(0)).is_some() && kept.find(&key(1)).is_none());
        // Its sender is gone, and nothing was sent.
        assert!(kept.find(&key(5_000)).is_none());
        for (until, is_kept) in [(Duration::from_secs(3_600), true), (Duration::ZERO, false)] {
            let answer = Answer::RefusedUntil(Instant::now() + until);
            kept.keep(key(5_000), watch::channel(Some(answer)).1);
            assert_eq!(kept.find(&key(5_000)).is_some(), is_kept);
        }
    }
}

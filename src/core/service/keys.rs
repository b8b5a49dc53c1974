//! API keys: created, listed, revoked, and checked at each request.
//!
//! A secret has 256 random bits, so only a plain SHA-256 of it is stored: it cannot be guessed, and a slow hash would
//! only let a sender of wrong keys load the server. Hashes are compared in constant time, and for an id that is
//! unknown, revoked or expired with one that nothing matches, so the time of a refusal reveals
//! nothing but whether the id, which is no secret, is of a key in force.
//!
//! # Freshness
//! A [`Keyring`] reads the keys again when its copy is older than [`FRESH`], so a revoked key is refused two seconds
//! later. An unknown id causes an earlier read, since the key may have just been created. While the database is away
//! every caller is refused.

use super::Service;
use super::memories::RequestId;
use crate::domain::ids::{NameError, Scope, hex};
use crate::domain::key::{EVERY_SCOPE, Grant, PREFIX, Right, Scopes, parts};
use crate::domain::units::Timestamp;
use crate::store::{Class, Error, KeyRow, LiveKeys, Store};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

/// Greatest age of the copy of the keys.
pub const FRESH: Duration = Duration::from_secs(2);
/// Least time between reads after a failed read, and for an unknown key.
const AGAIN: Duration = Duration::from_millis(250);

/// A new key, with its secret, which is not shown again.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Its id.
    pub id: String,
    /// Sent as `Authorization: Bearer …`.
    pub secret: String,
    /// Its right and scopes.
    pub grant: Grant,
    /// When it expires; `None` if only when revoked.
    pub expires: Option<Timestamp>,
}

/// Why no key was created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// An invalid name or scope.
    #[error(transparent)]
    Name(#[from] NameError),
    /// No scope.
    #[error("a key needs a scope, or {EVERY_SCOPE} for all")]
    NoScope,
    /// The system provides no random numbers.
    #[error("the system provides no random numbers: {0}")]
    Random(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] Error),
}

impl Service {
    /// Creates a key with a right over scopes, `*` for all, with or without expiry.
    pub async fn create_key(
        &self,
        name: &str,
        right: Right,
        scopes: &[String],
        lasts: Option<Duration>,
    ) -> Result<NewKey, KeyError> {
        // Names are shown in tables, so they follow the rules of scopes.
        let name = Scope::new(name)?;
        let scopes = if scopes.iter().any(|scope| scope == EVERY_SCOPE) {
            Scopes::Every
        } else {
            Scopes::Some(scopes.iter().map(|scope| Scope::new(scope)).collect::<Result<BTreeSet<_>, _>>()?)
        };
        if scopes == Scopes::Some(BTreeSet::new()) {
            return Err(KeyError::NoScope);
        }
        let grant = Grant { right, scopes };
        let mut random = [0_u8; 40];
        getrandom::fill(&mut random).map_err(|why| KeyError::Random(why.to_string()))?;
        let (id, secret) = random.split_at(8);
        let id = hex(id);
        let body = hex(secret);
        let check = &hash(&format!("{PREFIX}{id}_{body}"))[..8];
        let secret = format!("{body}{check}");
        let now = self.now().await?;
        let expires = lasts.map(|lasts| now.after(lasts.as_secs_f64() * 1_000.0));
        self.store.create_key((&id, name.as_str(), &hash(&secret)), &grant, now, expires).await?;
        Ok(NewKey { secret: format!("{PREFIX}{id}_{secret}"), id, grant, expires })
    }

    /// All keys, oldest first.
    pub async fn keys(&self) -> Result<Vec<KeyRow>, Error> {
        self.store.keys().await
    }

    /// Removes keys that were revoked or have expired more than `days` ago; returns how many. The API stays closed.
    pub async fn prune_keys(&self, days: u32) -> Result<i64, Error> {
        self.store.prune_keys(days).await
    }

    /// Allows programs on this machine to call without a key again; returns whether a key was required.
    ///
    /// # Errors
    /// [`Error::Conflict`] if a key is left.
    pub async fn open_keys(&self) -> Result<bool, Error> {
        self.store.open_keys().await
    }

    /// Revokes a key permanently; returns its name and whether it was in force until now.
    pub async fn revoke_key(&self, id: &str) -> Result<(Option<String>, bool), Error> {
        let now = self.now().await?;
        self.store.revoke_key(id, now).await
    }
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// The caller of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Id of the key; `None` where none is needed.
    pub key: Option<String>,
    /// The surface, recorded with a write if there is no key.
    pub surface: &'static str,
    /// Right and scopes.
    pub grant: Grant,
}

/// Why a caller has no access to a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotYours {
    /// No scope is named, and the key has several.
    #[error("this key has several scopes; name one of {0}")]
    Several(String),
    /// The key has no right in this scope.
    #[error("this key has no right to {0} in scope {1}")]
    Forbidden(&'static str, Scope),
}

impl Caller {
    /// The user of this machine, through this surface.
    #[must_use]
    pub const fn local(surface: &'static str) -> Self {
        Self { key: None, surface, grant: Grant::ALL }
    }

    /// Name that distinguishes callers; all those without a key share one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.key.as_deref().unwrap_or_default()
    }

    /// The scope of a request, in which the caller must have the right: the named one, else the only one of its key,
    /// else the default.
    pub fn scope(&self, named: Option<&Scope>, usual: &Scope, right: Right) -> Result<Scope, NotYours> {
        let usual = || match &self.grant.scopes {
            Scopes::Every => Some(usual),
            Scopes::Some(_) => self.grant.only_scope(),
        };
        let Some(scope) = named.or_else(usual) else {
            return Err(NotYours::Several(self.grant.scope_names().join(", ")));
        };
        if self.grant.allows(right, scope) {
            Ok(scope.clone())
        } else {
            Err(NotYours::Forbidden(right.name(), scope.clone()))
        }
    }

    /// The request id, under which a write counts once: the caller's own, prefixed with its key, or a new one.
    #[must_use]
    pub fn request(&self, named: Option<&str>) -> RequestId {
        let own = named
            .map(|name| self.key.as_ref().map_or_else(|| name.to_owned(), |key| format!("{key}/{name}")));
        RequestId::or_new(self.key.as_deref().unwrap_or(self.surface), own.as_deref())
    }
}

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// No key, and one is needed.
    #[error("this needs an API key: send Authorization: Bearer ebb_…")]
    NoKey,
    /// A key that is unknown, wrong, revoked, expired or malformed: the caller cannot tell which.
    #[error("this API key is unknown, was revoked or has expired")]
    WrongKey,
    /// The keys cannot be read.
    #[error(transparent)]
    Store(Error),
}

/// A copy of the keys in force, at most [`FRESH`] old.
pub struct Keyring {
    store: Arc<Store>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    read_at: Option<Instant>,
    /// The keys of the last read; `None` if it failed.
    keys: Option<Keys>,
    /// The code with which the server refused the last read, and its class.
    refused: Option<(String, Class)>,
}

struct Keys {
    /// Whether there is or was a key: it stays true when all keys are gone.
    closed: bool,
    live: BTreeMap<String, (String, Grant)>,
}

impl Keyring {
    /// A keyring that has read nothing yet.
    #[must_use]
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, known: Mutex::default() }
    }

    /// The caller that sends this key, or none. With `open`, every caller is allowed until the first key exists; then
    /// none without a key, even when all keys are gone, until `ebb key open`.
    pub async fn caller(&self, token: Option<&str>, open: bool) -> Result<Caller, Denied> {
        let mut known = self.known.lock().await;
        let keys = known.fresh(&self.store, FRESH).await?;
        let Some(token) = token else {
            let free = open && !keys.closed;
            return free.then_some(Caller::local("anonymous")).ok_or(Denied::NoKey);
        };
        let (id, secret) = parts(token).unwrap_or_default();
        if !keys.live.contains_key(id) {
            // The key may have just been created. Only senders of unknown ids wait.
            let wait =
                known.read_at.and_then(|read_at| AGAIN.checked_sub(read_at.elapsed())).unwrap_or_default();
            drop(known);
            tokio::time::sleep(wait).await;
            known = self.known.lock().await;
            known.fresh(&self.store, AGAIN).await?;
        }
        let keys = known.fresh(&self.store, FRESH).await?;
        let nothing = (String::new(), Grant::ALL);
        let found = keys.live.get(id);
        let (stored, grant) = found.unwrap_or(&nothing);
        // Compared whether or not there is such a key; nothing matches an empty hash.
        let meets: bool = digest(stored).ct_eq(&digest(&hash(secret))).into();
        match found {
            Some(_) if meets => Ok(Caller { key: Some(id.to_owned()), surface: "key", grant: grant.clone() }),
            _ => Err(Denied::WrongKey),
        }
    }

    /// Whether there is a key in force.
    pub async fn has_live_keys(&self) -> Result<bool, Error> {
        Ok(!Keys::of(self.store.live_keys().await?).live.is_empty())
    }
}

/// A stored hash, forced to the one length that is compared.
fn digest(stored: &str) -> [u8; 64] {
    let mut digest = [0; 64];
    if stored.len() == digest.len() {
        digest.copy_from_slice(stored.as_bytes());
    }
    digest
}

impl Known {
    /// The keys, read again if the copy is older than `age`.
    async fn fresh(&mut self, store: &Arc<Store>, age: Duration) -> Result<&Keys, Denied> {
        let age = if self.keys.is_none() { AGAIN } else { age };
        if self.read_at.is_none_or(|read_at| read_at.elapsed() > age) {
            let (reader, runtime) = (Arc::clone(store), Handle::current());
            // On a thread of its own: the query is bound to a thread, and a caller is not.
            let reading = tokio::task::spawn_blocking(move || runtime.block_on(reader.live_keys()));
            let found = reading.await.unwrap_or_else(|gone| {
                Err(Error::Unavailable { uri: store.uri().to_owned(), why: gone.to_string() })
            });
            self.read_at = Some(Instant::now());
            match found {
                Ok(rows) => (self.keys, self.refused) = (Some(Keys::of(rows)), None),
                Err(why) => {
                    self.keys = None;
                    self.refused = match &why {
                        Error::Query { code, class: class @ Class::Refused(_), .. } => {
                            Some((code.clone(), *class))
                        }
                        _ => None,
                    };
                    return Err(Denied::Store(why));
                }
            }
        }
        let away = || {
            let why = "the API keys could not be read a moment ago".to_owned();
            match self.refused.clone() {
                Some((code, class)) => Error::Query { statement: "key/list", code, message: why, class },
                None => Error::Unavailable { uri: store.uri().to_owned(), why },
            }
        };
        self.keys.as_ref().ok_or_else(|| Denied::Store(away()))
    }
}

impl Keys {
    fn of(LiveKeys { keys, closed }: LiveKeys) -> Self {
        let live = keys.into_iter().filter_map(|key| {
            let grant = Grant::of(&key.rights, &key.scopes)?;
            Some((key.id, (key.hash, grant)))
        });
        Self { closed, live: live.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_hash_matches_no_key() {
        for stored in ["", "ab", &"g".repeat(65)] {
            assert!(!bool::from(digest(stored).ct_eq(&digest(&hash("")))), "{stored}");
        }
        assert!(bool::from(digest(&hash("x")).ct_eq(&digest(&hash("x")))));
    }
}

//! The only reader of time, the only maker of new ids, and the one place where instants become text and back.
//!
//! Laws take `now` as a parameter; whoever calls them asks a [`Clock`]. Replay and tests drive a manual one, so a month
//! passes in a second and the same input gives the same graph.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the one place that reads time, and how wrong a test has it"
)]

use crate::domain::units::Timestamp;
use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// Where `now` comes from: the machine, or a hand.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine's clock; in a build with debug assertions off by the milliseconds of `EBB_CLOCK_SKEW_MS`.
    Real,
    /// The machine's clock, wrong by so many milliseconds: what a wrong one does is found out by it.
    Skewed(i64),
    /// A clock that moves when it is told to. Clones share one hand.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands at `now` until it is moved.
    #[must_use]
    pub fn manual(now: Timestamp) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(now.millis())))
    }

    /// The present instant, in whole milliseconds.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let real = || {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
            i64::try_from(since.as_millis()).ok()
        };
        let ms = match self {
            Self::Real => real().unwrap_or(0).saturating_add(injected_skew_ms()),
            Self::Skewed(ms) => real().unwrap_or(0).saturating_add(*ms),
            Self::Manual(ms) => ms.load(Ordering::SeqCst),
        };
        // A machine whose clock stands outside the calendar is taken to stand at its epoch: leases use the server's.
        Timestamp::from_millis(ms).unwrap_or(Timestamp::EPOCH)
    }

    /// How many milliseconds this clock is ahead of a server that read its own between `asked` and `answered`; what may be
    /// the way there and back does not count, nor does a clock that is moved by hand.
    #[must_use]
    pub fn skew_ms(&self, asked: Timestamp, server: Timestamp, answered: Timestamp) -> i64 {
        let (asked, server, answered) = (asked.millis(), server.millis(), answered.millis());
        match self {
            Self::Real | Self::Skewed(_) => (asked - server).max(0) - (server - answered).max(0),
            Self::Manual(_) => 0,
        }
    }

    /// Moves a manual clock; a real one cannot be moved and stays.
    pub fn set(&self, now: Timestamp) {
        if let Self::Manual(ms) = self {
            ms.store(now.millis(), Ordering::SeqCst);
        }
    }
}

/// By how much a test has set the clock of this process wrong.
#[cfg(debug_assertions)]
fn injected_skew_ms() -> i64 {
    static SKEW: std::sync::LazyLock<i64> = std::sync::LazyLock::new(|| {
        let skew = std::env::var("EBB_CLOCK_SKEW_MS").ok();
        skew.and_then(|ms| ms.parse().ok()).unwrap_or(0)
    });
    *SKEW
}

#[cfg(not(debug_assertions))]
const fn injected_skew_ms() -> i64 {
    0
}

/// A process whose clock is further off the server's opens no runs and is not ready; from there on an instant that somebody
/// states lies ahead.
pub const SKEW_MAX: Duration = Duration::from_secs(60);
/// From how much on it is told.
pub const SKEW_TOLD: Duration = Duration::from_secs(5);

/// Why a process whose clock is that far ahead of the server's cannot be relied on. In whole seconds: a log names a reason
/// once, and milliseconds would make another one of it at each measurement.
#[must_use]
pub fn too_far_off(skew_ms: i64) -> Option<String> {
    let off = Duration::from_millis(skew_ms.unsigned_abs());
    let side = if skew_ms < 0 { "behind" } else { "ahead of" };
    (off > SKEW_MAX).then(|| {
        let seconds = off.saturating_add(Duration::from_millis(500)).as_secs();
        format!("this machine's clock is {seconds} s {side} the server's; set one of them right")
    })
}

/// A time up to `most`, by lot to the millisecond: those who would do the same thing at the same moment wait it first.
#[must_use]
pub fn jitter(most: Duration) -> Duration {
    let drawn = u128::from(RandomState::new().build_hasher().finish()) % (most.as_millis() + 1);
    Duration::from_millis(u64::try_from(drawn).unwrap_or(u64::MAX))
}

/// A new id: a v7 uuid, so that ids made later sort later.
#[must_use]
pub fn new_id() -> String {
    if injected_skew_ms() == 0 {
        return uuid::Uuid::now_v7().to_string();
    }
    let millis = Clock::Real.now().millis().max(0).unsigned_abs();
    let nanos = u32::try_from(millis % 1_000 * 1_000_000).unwrap_or(0);
    uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, millis / 1_000, nanos)).to_string()
}

/// A text that nobody can guess, not from any other: 122 bits of chance.
#[must_use]
pub fn chance() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// An instant as people and JSON read it: `2026-03-02T08:00:00.000Z`.
#[must_use]
pub fn rfc3339(at: Timestamp) -> String {
    DateTime::from_timestamp_millis(at.millis())
        .map_or_else(|| format!("{} ms", at.millis()), |at| at.to_rfc3339_opts(SecondsFormat::Millis, true))
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&rfc3339(*self))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        parse_rfc3339(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// The instant of an RFC 3339 text, whatever its offset; finer parts than milliseconds are cut off.
pub fn parse_rfc3339(text: &str) -> Result<Timestamp, String> {
    let at = DateTime::parse_from_rfc3339(text)
        .map_err(|why| format!("{text:?} is not an RFC 3339 instant such as 2026-03-02T08:00:00Z: {why}"))?;
    Timestamp::from_millis(at.timestamp_millis()).map_err(|why| why.to_string())
}

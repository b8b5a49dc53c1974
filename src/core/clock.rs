//! The only reader of time and only creator of new ids; also the conversion between instants and text.
//!
//! Laws take `now` as a parameter; their callers read it from a [`Clock`]. Replay and tests use a manual one, so a
//! month passes in a second and the same input gives the same graph.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the only reader of time, and of the offset that a test sets"
)]

use crate::domain::units::Timestamp;
use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// Source of `now`: the machine, or a manual setting.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine's clock; in a build with debug assertions offset by the milliseconds of `EBB_CLOCK_SKEW_MS`.
    Real,
    /// The machine's clock, offset by these milliseconds, to test the effect of a wrong clock.
    Skewed(i64),
    /// A clock that is set manually. Clones share one setting.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stays at `now` until it is set.
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
        // A machine whose clock is outside the calendar gets the epoch: leases use the server's clock.
        Timestamp::from_millis(ms).unwrap_or(Timestamp::EPOCH)
    }

    /// By how many milliseconds this clock is ahead of a server that read its own between `sent` and `answered`; the
    /// time of transmission does not count, and a manual clock has no skew.
    #[must_use]
    pub fn skew_ms(&self, sent: Timestamp, server: Timestamp, answered: Timestamp) -> i64 {
        let (sent, server, answered) = (sent.millis(), server.millis(), answered.millis());
        match self {
            Self::Real | Self::Skewed(_) => (sent - server).max(0) - (server - answered).max(0),
            Self::Manual(_) => 0,
        }
    }

    /// Sets a manual clock; a real one is unchanged.
    pub fn set(&self, now: Timestamp) {
        if let Self::Manual(ms) = self {
            ms.store(now.millis(), Ordering::SeqCst);
        }
    }
}

/// Offset that a test has set for the clock of this process.
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

/// A process whose clock differs from the server's by more opens no runs and is not ready; a stated instant further
/// ahead counts as in the future.
pub const SKEW_MAX: Duration = Duration::from_secs(60);
/// Least difference that is logged.
pub const SKEW_TOLD: Duration = Duration::from_secs(5);

/// Why a process whose clock is that far ahead of the server's is not reliable. In whole seconds: a log repeats only a
/// changed reason, and milliseconds would change it at each measurement.
#[must_use]
pub fn too_far_off(skew_ms: i64) -> Option<String> {
    let off = Duration::from_millis(skew_ms.unsigned_abs());
    let side = if skew_ms < 0 { "behind" } else { "ahead of" };
    (off > SKEW_MAX).then(|| {
        let seconds = off.saturating_add(Duration::from_millis(500)).as_secs();
        format!("this machine's clock is {seconds} s {side} the server's; correct one of them")
    })
}

/// A random time up to `most`, to the millisecond, which spreads concurrent actions.
#[must_use]
pub fn jitter(most: Duration) -> Duration {
    let drawn = u128::from(RandomState::new().build_hasher().finish()) % (most.as_millis() + 1);
    Duration::from_millis(u64::try_from(drawn).unwrap_or(u64::MAX))
}

/// A new id: a v7 uuid, so that later ids sort later.
#[must_use]
pub fn new_id() -> String {
    if injected_skew_ms() == 0 {
        return uuid::Uuid::now_v7().to_string();
    }
    let millis = Clock::Real.now().millis().max(0).unsigned_abs();
    let nanos = u32::try_from(millis % 1_000 * 1_000_000).unwrap_or(0);
    uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, millis / 1_000, nanos)).to_string()
}

/// An unguessable text: 122 random bits.
#[must_use]
pub fn chance() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// An instant in text and JSON: `2026-03-02T08:00:00.000Z`.
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

/// The instant of a text that another program wrote: RFC 3339, or the same without an offset, which is then UTC, or a date
/// alone, which is then its midnight. `None` for any other text.
#[must_use]
pub fn parse_lenient(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let zoned = DateTime::parse_from_rfc3339(text).ok().map(|at| at.timestamp_millis());
    let bare = || {
        let bare = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"];
        let at = bare.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
        let midnight = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
        at.or_else(midnight).map(|at| at.and_utc().timestamp_millis())
    };
    Timestamp::from_millis(zoned.or_else(bare)?).ok()
}

/// The instant of an RFC 3339 text with any offset, truncated to milliseconds.
pub fn parse_rfc3339(text: &str) -> Result<Timestamp, String> {
    let at = DateTime::parse_from_rfc3339(text)
        .map_err(|why| format!("{text:?} is not an RFC 3339 instant such as 2026-03-02T08:00:00Z: {why}"))?;
    Timestamp::from_millis(at.timestamp_millis()).map_err(|why| why.to_string())
}

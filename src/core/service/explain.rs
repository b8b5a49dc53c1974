//! Why a memory is where it is: its energy curve, what lies ahead of it, and its history, in words.

use super::Service;
use super::past::stretches;
use crate::api::memory::{self as api, EnergyCurve, EnergyLevel, EnergyPoint, Explained, Memory};
use crate::clock::rfc3339;
use crate::domain::ids::{MemoryKey, shell_word};
use crate::domain::memory::{Crossing, MemoryState};
use crate::domain::tier::Tier;
use crate::domain::tunables::Tunables;
use crate::domain::units::{HOUR_MS, Timestamp};
use crate::store::{Error, MemoryEvent, Record};

pub use super::past::Stretch;

/// A memory explained, with the data of its plot.
#[derive(Debug)]
pub struct Explanation {
    /// The explanation in words and numbers.
    pub explained: Explained,
    /// Its energy from its anchor on: instants and values.
    pub curve: Vec<(Timestamp, f64)>,
    /// Its energy before the anchor, as far as the records explain it: a stretch between each two events.
    pub past: Vec<Stretch>,
    /// The thresholds for a memory of its tier, by name: `promotion`, `expiry`.
    pub thresholds: Vec<(&'static str, f64)>,
}

impl Explanation {
    /// The explanation with the course of the energy.
    #[must_use]
    pub fn with_curve(self) -> Explained {
        let point = |(at, energy)| EnergyPoint { at, energy };
        let past = self.past.into_iter().map(|stretch| stretch.into_iter().map(point).collect::<Vec<_>>());
        let skipped = past.len().saturating_sub(STRETCHES_MAX);
        let level = |(name, energy)| EnergyLevel { name, energy };
        let curve = EnergyCurve {
            thresholds: self.thresholds.into_iter().map(level).collect(),
            past: past.skip(skipped).collect(),
            ahead: self.curve.into_iter().map(point).collect(),
        };
        Explained { curve: Some(curve), ..self.explained }
    }
}

/// Most stretches of a past in a response.
const STRETCHES_MAX: usize = 100;
/// Points of a drawn curve.
const POINTS: i64 = 160;

impl Service {
    /// Explains a memory at an instant.
    pub async fn explain(&self, key: &MemoryKey, at: Timestamp) -> Result<Explanation, Error> {
        let tunables = self.store().tunables().await?;
        let record = self.record(key).await?;
        let life = record.life.clone();
        let life = life.map_err(|reason| Error::Quarantined { id: format!("memory {key}"), reason })?;
        let history = self.store().history(key).await?;
        let state = life.state;
        let crossings = state.crossings(at, &tunables);
        let half_life_hours = tunables
            .curve(state.tier)
            .filter(|_| !state.pinned)
            .and_then(crate::domain::decay::Curve::half_life)
            .map(|ms| ms / hours_ms(1.0));
        let curve = curve(&state, at, &crossings, half_life_hours, &tunables);
        let past = if at < state.anchor() {
            Vec::new()
        } else {
            stretches(&life, &history, record.last_expired, &tunables)
        };
        let working = matches!(state.tier, Tier::Working | Tier::ExpiredWorking);
        let expiry = working.then_some(("expiry", tunables.config().expiry_threshold));
        let promotion = tunables.promotion_threshold(state.tier).map(|value| ("promotion", value));
        let thresholds = promotion.into_iter().chain(expiry).filter(|_| !state.pinned).collect();
        let because = because(&record, &state, at, &crossings, &history, &tunables);
        let history = api::history(&history, &life, record.last_expired);
        let memory = Memory::at(record, at, &tunables);
        let explained = Explained { memory, half_life_hours, crossings, history, because, curve: None };
        Ok(Explanation { explained, curve, past, thresholds })
    }
}

fn hours_ms(hours: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "3.6e6 is exact")]
    let ms = HOUR_MS as f64;
    hours * ms
}

/// The energy from its anchor until shortly after the last crossing, or for three half-lives.
fn curve(
    state: &MemoryState,
    at: Timestamp,
    crossings: &[Crossing],
    half_life_hours: Option<f64>,
    tunables: &Tunables,
) -> Vec<(Timestamp, f64)> {
    let from = state.anchor().min(at);
    let ahead = crossings.last().map_or_else(
        || at.after(hours_ms(half_life_hours.unwrap_or(8.0) * 3.0)),
        |last| at.max(last.at).after(last.at.since(from) * 0.15),
    );
    let span = ahead.since(from).max(1.0);
    (0..=POINTS)
        .map(|i| {
            #[expect(clippy::cast_precision_loss, reason = "at most 160")]
            let instant = from.after(span * i as f64 / POINTS as f64);
            (instant, state.energy_now(instant, tunables).value())
        })
        .collect()
}

fn because(
    record: &Record,
    state: &MemoryState,
    at: Timestamp,
    crossings: &[Crossing],
    history: &[MemoryEvent],
    tunables: &Tunables,
) -> String {
    let energy = state.energy_now(at, tunables).value();
    let times = |count: i64| match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    };
    let used =
        format!("it was accessed {}, last at {}", times(state.access_count), rfc3339(state.last_accessed));
    let promotion = promotion(history);
    let config = tunables.config();
    if state.pinned {
        return format!(
            "It is pinned: neither time nor jobs change it; {used}. Its energy stays at {energy:.3}. \
             To let it decay: ebb memory unpin {}",
            shell_word(record.id.as_str())
        );
    }
    match state.tier {
        Tier::ExpiredWorking => {
            let threshold = config.expiry_threshold;
            let rule = if energy < threshold {
                format!("a working memory whose energy falls below {threshold} expires")
            } else {
                format!(
                    "its energy fell below another threshold than that of now, {threshold}, or another program marked it"
                )
            };
            format!(
                "It expired at {}: {used}, and {rule}. Its energy was {energy:.3} then and stays there. Nothing was deleted; \
                 the next access revives it.",
                rfc3339(record.last_expired.unwrap_or(state.energy_at))
            )
        }
        Tier::ArchivedWorking | Tier::ArchivedShortTerm => {
            "It is the stub that a promotion left: a record of the memory as it was then.".to_owned()
        }
        tier => {
            let next = match (state.ripe_at, tier.next(), tunables.promotion_threshold(tier)) {
                (Some(ripe), Some(next), _) => {
                    format!(
                        " It has been ready for promotion since {}; the next run of promote promotes it to {next}.",
                        rfc3339(ripe)
                    )
                }
                (None, Some(next), Some(threshold)) => format!(
                    " It is promoted to {next} when an access lifts its energy above {threshold}: {} would suffice now.",
                    accesses((threshold - energy).max(0.0))
                ),
                _ => " There is no tier above.".to_owned(),
            };
            let expiry = crossings
                .iter()
                .find(|crossing| crossing.name == "expiry" && state.ripe_at.is_none())
                .map(|crossing| format!(" Unused, it expires at {}.", rfc3339(crossing.at)))
                .unwrap_or_default();
            format!(
                "It is {tier} with an energy of {energy:.3} at {}: {used}.{promotion}{next}{expiry}",
                rfc3339(at)
            )
        }
    }
}

/// A sentence about the last promotion; empty if there was none.
fn promotion(history: &[MemoryEvent]) -> String {
    let is_promotion =
        |event: &&MemoryEvent| matches!(event.what.as_str(), "PROMOTED_TO" | "CRYSTALLIZED_INTO");
    let Some(event) = history.iter().find(is_promotion) else { return String::new() };
    let then = event.energy.map(|energy| format!("; by then it was {energy:.3}")).unwrap_or_default();
    format!(" It was promoted at {}, since its energy had been above the threshold{then}.", rfc3339(event.at))
}

/// Number of accesses at one instant that lift an energy by strictly more than `gap`.
fn accesses(gap: f64) -> String {
    let count = gap.floor() + 1.0;
    if count < 2.0 { "one access".to_owned() } else { format!("{count:.0} accesses") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promotion_without_an_energy_states_none() {
        let promoted = |energy| {
            let (what, at) = ("PROMOTED_TO".to_owned(), Timestamp::EPOCH);
            promotion(&[MemoryEvent { what, at, energy, detail: None, count: 1 }])
        };
        let known = promoted(Some(2.5));
        assert!(known.ends_with("had been above the threshold; by then it was 2.500."), "{known}");
        let unknown = promoted(None);
        assert!(unknown.ends_with("had been above the threshold."), "{unknown}");
        assert_eq!(promotion(&[]), "");
    }
}

//! How a memory expired: by which energy, threshold and half-life, and which values would have kept it.

use crate::api::why_not::{Expiry, Remedy, WhyNot};
use crate::clock::rfc3339;
use crate::domain::ids::shell_word;
use crate::domain::tier::Tier;
use crate::domain::tunables::Tunables;
use crate::domain::units::{HOUR_MS_F, Timestamp};
use crate::service::past::stretches;
use crate::store::{Life, MemoryEvent};

/// Least energy that is suggested as a threshold: below it a pass no longer writes an energy.
const THRESHOLD_MIN: f64 = 0.001;

/// The expiry of a memory, as far as its records explain it.
pub(super) fn of(
    life: &Life,
    history: &[MemoryEvent],
    last_expired: Option<Timestamp>,
    tunables: &Tunables,
) -> Expiry {
    let threshold = tunables.config().expiry_threshold;
    let curve = tunables.curve(Tier::Working);
    let last_accessed = life.state.last_accessed;
    let past = stretches(life, history, last_expired, tunables);
    let first = past.iter().rev().filter_map(|stretch| stretch.first());
    let energy_then = first.copied().find(|(at, _)| *at == last_accessed).map(|(_, energy)| energy);
    let after = energy_then
        .filter(|_| is_of_threshold(life, threshold))
        .and_then(|energy| curve?.crossing(energy, threshold));
    Expiry {
        expired_at: last_expired,
        crossed_at: after.map(|ms| last_accessed.after(ms)),
        threshold,
        half_life_hours: curve.and_then(|curve| curve.half_life()).map(|ms| ms / HOUR_MS_F),
        last_accessed,
        energy_then,
    }
}

/// Whether an expired memory has expired by this threshold: its energy stays as it was then.
fn is_of_threshold(life: &Life, threshold: f64) -> bool {
    life.state.energy.value() < threshold
}

/// Says how it expired, and what would have kept it until `at`.
pub(super) fn explain(of: &Expiry, life: &Life, at: Timestamp, tunables: &Tunables, answer: &mut WhyNot) {
    let config = tunables.config();
    let when = of.expired_at.map_or_else(String::new, |at| format!(" at {}", rfc3339(at)));
    answer.say(format!("It expired{when}; nothing was deleted, and an access revives it."));
    answer.suggest(format!("Access it: ebb memory access {}", shell_word(&answer.id)));
    if !is_of_threshold(life, of.threshold) {
        answer.say(format!(
            "Its energy was {:.3} then, which is not below memory.expiryThreshold, {} now: that was changed since, or another \
             program marked it as expired. So the instant at which its energy fell below a threshold is not known.",
            life.state.energy.value(),
            of.threshold
        ));
        return;
    }
    let half_life = of.half_life_hours.map_or_else(String::new, |hours| format!(" every {hours:.1} hours"));
    let (Some(energy), Some(crossed)) = (of.energy_then, of.crossed_at) else {
        answer.say(format!(
            "A working memory expires when its energy, which halves{half_life}, falls below {}; its recorded accesses do not \
             explain its energy, so the instant is not known.",
            of.threshold
        ));
        return;
    };
    answer.say(format!(
        "After its last access, at {}, its energy was {energy:.3}. It halves{half_life} and fell below {}, \
         memory.expiryThreshold, at {}.",
        rfc3339(of.last_accessed),
        of.threshold,
        rfc3339(crossed)
    ));
    let hours = at.since(of.last_accessed) / HOUR_MS_F;
    let rate = (energy / of.threshold).ln() / hours;
    if hours <= 0.0 || rate.is_nan() || rate <= 0.0 {
        return;
    }
    let rate = rounded_down(rate);
    answer.remedies.push(Remedy {
        text: format!(
            "memory.workingDecay of {rate} or less, in place of {}, would have kept it until now.",
            config.working_decay
        ),
        setting: Some("memory.workingDecay"),
        value: Some(config.working_decay),
        needed: Some(rate),
    });
    let left = rounded_down(energy * (-config.working_decay * hours).exp());
    if left >= THRESHOLD_MIN {
        answer.remedies.push(Remedy {
            text: format!(
                "memory.expiryThreshold of {left} or less, in place of {}, would have kept it, too.",
                of.threshold
            ),
            setting: Some("memory.expiryThreshold"),
            value: Some(of.threshold),
            needed: Some(left),
        });
    }
}

/// A value with three digits, not above this one.
pub(super) fn rounded_down(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 10_f64.powf(2.0 - value.log10().floor());
    (value * digits).floor() / digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::why_not::LossReason;
    use crate::domain::ids::{MemoryId, Scope};
    use crate::domain::memory::{MemoryState, created, decayed};
    use crate::domain::tunables::ConsolidationConfig;

    fn at(hours: f64) -> Timestamp {
        Timestamp::EPOCH.after(hours * HOUR_MS_F)
    }

    /// The suggested values keep the memory until the instant for which they are suggested, and a little more does not.
    #[test]
    fn the_needed_values_would_have_kept_it() {
        let config = ConsolidationConfig::DOCUMENTED;
        let tunables = config.clone().check().unwrap();
        let state = decayed(created(at(0.0), false), at(5.0), &tunables).0;
        assert_eq!(state.tier, Tier::ExpiredWorking);
        let (id, scope) = (MemoryId::new("m").unwrap(), Scope::local());
        let life = Life { id: id.clone(), scope: scope.clone(), state, created: at(0.0), session: None };
        let expired = of(&life, &[], Some(at(5.0)), &tunables);
        assert_eq!(expired.energy_then, Some(1.0));
        let crossed = expired.crossed_at.unwrap().since(at(0.0)) / HOUR_MS_F;
        assert!((crossed - 10_f64.ln() / 0.5).abs() < 1e-6, "{crossed}");
        let mut answer = WhyNot::new(&id, &scope);
        explain(&expired, &life, at(6.0), &tunables, &mut answer);
        let needed = |name: &str| {
            let found = answer.remedies.iter().find(|remedy| remedy.setting == Some(name));
            found.unwrap().needed.unwrap()
        };
        let expires = |config: ConsolidationConfig| -> bool {
            let tunables = config.check().unwrap();
            let state: MemoryState = decayed(created(at(0.0), false), at(6.0), &tunables).0;
            state.tier == Tier::ExpiredWorking
        };
        let rate = |working_decay| ConsolidationConfig { working_decay, ..config.clone() };
        assert!(!expires(rate(needed("memory.workingDecay"))));
        assert!(expires(rate(needed("memory.workingDecay") * 1.01)));
        let threshold = |expiry_threshold| ConsolidationConfig { expiry_threshold, ..config.clone() };
        assert!(!expires(threshold(needed("memory.expiryThreshold"))));
        assert!(expires(threshold(needed("memory.expiryThreshold") * 1.03)));
        assert_eq!(answer.ends(LossReason::Expired).because.len(), 2);
    }

    #[test]
    fn a_threshold_of_today_that_kept_it_is_said_to_be_another() {
        let tunables = ConsolidationConfig::DOCUMENTED.check().unwrap();
        let state = decayed(created(at(0.0), false), at(5.0), &tunables).0;
        let (id, scope) = (MemoryId::new("m").unwrap(), Scope::local());
        let life = Life { id: id.clone(), scope: scope.clone(), state, created: at(0.0), session: None };
        let lowered = ConsolidationConfig { expiry_threshold: 0.05, ..ConsolidationConfig::DOCUMENTED };
        let lowered = lowered.check().unwrap();
        let expired = of(&life, &[], Some(at(5.0)), &lowered);
        assert_eq!((expired.energy_then, expired.crossed_at), (Some(1.0), None));
        let mut answer = WhyNot::new(&id, &scope);
        explain(&expired, &life, at(6.0), &lowered, &mut answer);
        let because = answer.because.join(" ");
        assert!(
            because.contains("0.082 then") && because.contains("memory.expiryThreshold, 0.05 now"),
            "{because}"
        );
        assert!(answer.remedies.iter().all(|remedy| remedy.setting.is_none()));
    }

    #[test]
    fn a_value_is_rounded_down_to_three_digits() {
        let given = [0.383_764, 1.0, 123_456.0, 0.000_987_65, 0.0, -1.0, f64::NAN];
        let rounded = given.map(|value| rounded_down(value).to_string());
        assert_eq!(rounded, ["0.383", "1", "123000", "0.000987", "0", "0", "0"]);
    }
}

//! Energy of a memory: deposits by access, decay over time, promotion and expiry.
//!
//! A memory is its last known energy and the instant of it; everything else follows. All laws here are total functions
//! of a [`MemoryState`] (the stored state of a memory) and an instant, and return a new `MemoryState`.
//!
//! | event | energy | tier | ripe | due |
//! |---|---|---|---|---|
//! | [`created`] | 1 | working | – | at once |
//! | [`accessed`] | now's + 1 | expired → working | if above the tier's threshold | kept |
//! | [`decayed`] | now's | working below expiry, not ripe → expired | foreign access only | kept, or in 24 h |
//! | [`reinforced`] | now's + a share of the similarity | – | if above the tier's threshold | kept, or in 24 h |
//! | [`promoted`] | now's | one up | if above the next threshold too | kept, or in 24 h |
//! | [`merged`] | now's + the other's now | – | if above the tier's threshold | kept, or in 24 h |
//! | [`pinned`], [`unpinned`] | now's | – | cleared; recomputed | none; recomputed |
//!
//! Source: the three-tier consolidation document, with three corrections. Hours are fractional; an access decays with
//! the same exponent as a decay pass; a decay pass moves the anchor, so that passes compose instead of compounding.
//!
//! Invariant: two passes at one instant are one pass, to the bit (held by `twice_is_once`).
//! Invariant: many passes equal one (held by `passes_compose`). Invariant: no pass increases energy (held by
//! `never_raises`).
//! Invariant: a late access gives the same energy as a punctual one (held by `late_access_is_as_good_as_punctual`).
//! Invariant: an access makes the same of a memory whenever passes came (held by
//! `accesses_make_the_same_whenever_passes_came`).

use super::tier::Tier;
use super::tunables::{ENERGY_FLOOR, LONG_TERM_REWRITE_MS, Tunables};
use super::units::{Energy, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// Stored state of a memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryState {
    pub tier: Tier,
    /// Energy at [`MemoryState::anchor`].
    pub energy: Energy,
    /// Last write of the energy by Ebb.
    pub energy_at: Timestamp,
    /// Latest access.
    pub last_accessed: Timestamp,
    /// Number of accesses, including its creation.
    pub access_count: i64,
    /// Start of its wait for promotion.
    pub ripe_at: Option<Timestamp>,
    /// Earliest instant at which a decay pass must write it.
    pub due_at: Option<Timestamp>,
    /// Neither decays, expires nor is promoted.
    pub pinned: bool,
}

/// Whether an access to an expired memory brings it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revive {
    /// It is revived, with the energy that is left of it and that of the access.
    Yes,
    No,
}

/// Effect of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Added a deposit to a live memory.
    Lifted,
    /// Revived an expired memory.
    Revived,
}

/// Effect of a decay pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decayed {
    Unchanged,
    /// Energy was decayed to now.
    Faded,
    /// Energy was decayed to now and the memory expired.
    Expired,
}

/// The reason why a law does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The stub of a promotion is a record, not a memory.
    #[error("it is the stub of a promotion, not a memory")]
    Stub,
    /// Expired, and the caller did not request a revival.
    #[error("it has expired; an access revives it")]
    Expired,
    /// Below its threshold, pinned, or without a tier above.
    #[error("it is not ready for promotion")]
    NotRipe,
    /// Newer memories reinforce promoted ones only.
    #[error("it is not in short-term or long-term memory")]
    NotPromoted,
}

/// A future crossing of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Crossing {
    /// Energy of the threshold.
    pub threshold: f64,
    /// Name: promotion or expiry.
    pub name: &'static str,
    /// Instant of the crossing.
    pub at: Timestamp,
}

impl MemoryState {
    /// The instant at which the stored energy is valid: the later of Ebb's own write and the last access, because an
    /// agent that accesses a memory with its own Cypher stores the energy as of `lastAccessed`.
    #[must_use]
    pub fn anchor(&self) -> Timestamp {
        self.energy_at.max(self.last_accessed)
    }

    /// The energy at `now`. Before the anchor it is the anchor's; pinned and terminal memories do not decay.
    #[must_use]
    pub fn energy_now(&self, now: Timestamp, tunables: &Tunables) -> Energy {
        if self.pinned {
            return self.energy;
        }
        match tunables.curve(self.tier) {
            Some(curve) => self.energy.faded(curve.factor(now.since(self.anchor()))),
            None => self.energy,
        }
    }

    /// The state as if its expiry had not been recorded.
    const fn unexpired(self) -> Self {
        match self.tier {
            Tier::ExpiredWorking => Self { tier: Tier::Working, ..self },
            _ => self,
        }
    }

    /// The thresholds that it will cross after `now` without further events, soonest first.
    #[must_use]
    pub fn crossings(&self, now: Timestamp, tunables: &Tunables) -> Vec<Crossing> {
        let Some(curve) = tunables.curve(self.tier).filter(|_| !self.pinned) else { return Vec::new() };
        let promotion = tunables.promotion_threshold(self.tier).map(|threshold| ("promotion", threshold));
        let expiry = (self.tier == Tier::Working).then_some(("expiry", tunables.config().expiry_threshold));
        let mut ahead: Vec<Crossing> = promotion
            .into_iter()
            .chain(expiry)
            // A curve gives the instant of an energy that begins below the threshold as well: the anchor, which lies ahead
            // of a `now` in the past.
            .filter(|(_, threshold)| self.energy.value() >= *threshold)
            .filter_map(|(name, threshold)| {
                let at = self.anchor().after(curve.crossing(self.energy.value(), threshold)?);
                (at > now).then_some(Crossing { name, threshold, at })
            })
            .collect();
        ahead.sort_by_key(|crossing| crossing.at);
        ahead
    }

    /// When a decay pass must write it: never if pinned or terminal, or below [`ENERGY_FLOOR`] with no threshold left
    /// to cross; a long-term memory a day after its last write; any other at every pass. An always-due memory keeps its
    /// instant, to avoid index writes.
    fn next_due(&self) -> Option<Timestamp> {
        if self.pinned || !self.tier.is_live() {
            return None;
        }
        match self.tier {
            Tier::Working => Some(self.due_at.unwrap_or(self.energy_at)),
            _ if self.energy.value() < ENERGY_FLOOR => None,
            Tier::ShortTerm => Some(self.due_at.unwrap_or(self.energy_at)),
            #[expect(clippy::cast_precision_loss, reason = "a day in ms is exact")]
            _ => Some(self.energy_at.after(LONG_TERM_REWRITE_MS as f64)),
        }
    }

    /// Decays the energy to `now`, which becomes the anchor unless the anchor is later.
    fn brought_to(mut self, now: Timestamp, tunables: &Tunables) -> Self {
        self.energy = self.energy_now(now, tunables);
        self.energy_at = self.anchor().max(now);
        self
    }

    fn above(&self, threshold: Option<f64>) -> bool {
        threshold.is_some_and(|threshold| self.energy.value() > threshold)
    }

    /// Marks it ripe since its anchor if its energy is above its tier's threshold and it was not ripe before.
    fn ripened(mut self, tunables: &Tunables) -> Self {
        if !self.pinned && self.ripe_at.is_none() && self.above(tunables.promotion_threshold(self.tier)) {
            self.ripe_at = Some(self.anchor());
        }
        self
    }

    fn with_due(mut self) -> Self {
        self.due_at = self.next_due();
        self
    }
}

/// A memory created at `now`.
#[must_use]
pub fn created(now: Timestamp, pinned: bool) -> MemoryState {
    let born = MemoryState {
        tier: Tier::Working,
        energy: Energy::ONE,
        energy_at: now,
        last_accessed: now,
        access_count: 1,
        ripe_at: None,
        due_at: None,
        pinned,
    };
    born.with_due()
}

/// Properties of a memory of another writer, any of which may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ForeignMemory {
    pub tier: Option<Tier>,
    pub energy: Option<Energy>,
    pub energy_at: Option<Timestamp>,
    pub last_accessed: Option<Timestamp>,
    pub created: Option<Timestamp>,
    pub access_count: Option<i64>,
    pub ripe_at: Option<Timestamp>,
    pub pinned: bool,
}

/// Adopts a memory of another writer at `now`: its anchor is its last access, else its creation, else now; missing
/// values are those of a new memory; it is ripe if its energy is above its tier's threshold. Returns `None` for a
/// terminal memory, which is left unchanged.
#[must_use]
pub fn adopted(found: ForeignMemory, now: Timestamp, tunables: &Tunables) -> Option<MemoryState> {
    let tier = found.tier.unwrap_or(Tier::Working);
    if !tier.is_live() {
        return None;
    }
    let last_accessed = found.last_accessed.or(found.created).unwrap_or(now);
    let state = MemoryState {
        tier,
        energy: found.energy.unwrap_or(Energy::ONE),
        energy_at: found.energy_at.map_or(last_accessed, |at| at.max(last_accessed)),
        last_accessed,
        access_count: found.access_count.unwrap_or(1),
        ripe_at: found.ripe_at.filter(|_| !found.pinned),
        due_at: None,
        pinned: found.pinned,
    };
    Some(state.ripened(tunables).with_due())
}

/// An access at `now`: the energy of that instant plus 1.0. A late access, with an instant before the anchor, adds its
/// deposit decayed to the anchor, which never moves back. That its expiry was recorded changes no energy: it was recorded when a
/// pass came by, and what an access makes of a memory does not depend on when that was.
pub fn accessed(
    state: MemoryState,
    now: Timestamp,
    revive: Revive,
    tunables: &Tunables,
) -> Result<(MemoryState, Access), Refused> {
    if state.tier.is_stub() {
        return Err(Refused::Stub);
    }
    let expired = state.tier == Tier::ExpiredWorking;
    if expired && revive == Revive::No {
        return Err(Refused::Expired);
    }
    let state = state.unexpired();
    let base = state.energy_now(now, tunables);
    let anchor = state.anchor();
    let late = match tunables.curve(state.tier) {
        Some(curve) if !state.pinned => curve.factor(anchor.since(now)),
        _ => 1.0,
    };
    let next = MemoryState {
        energy: base.plus(Energy::ONE.faded(late)),
        energy_at: anchor.max(now),
        last_accessed: state.last_accessed.max(now),
        access_count: state.access_count.saturating_add(1),
        ..state
    };
    let what = if expired { Access::Revived } else { Access::Lifted };
    Ok((next.ripened(tunables).with_due(), what))
}

/// Reinforcement by a new memory of that similarity at `now`: the energy of that instant plus the similarity times
/// `reinforcementFactor`. It is no access. An instant before the anchor is handled as in a late access.
pub fn reinforced(
    state: MemoryState,
    similarity: f64,
    now: Timestamp,
    tunables: &Tunables,
) -> Result<MemoryState, Refused> {
    let Some(curve) = tunables.curve(state.tier).filter(|_| state.tier != Tier::Working) else {
        return Err(Refused::NotPromoted);
    };
    let deposit = Energy::new((tunables.config().reinforcement_factor * similarity).clamp(0.0, Energy::MAX));
    let late = if state.pinned { 1.0 } else { curve.factor(state.anchor().since(now)) };
    let mut next = state.brought_to(now, tunables);
    next.energy = next.energy.plus(deposit.unwrap_or(Energy::ZERO).faded(late));
    Ok(next.ripened(tunables).with_due())
}

/// A live memory at `now` after another one, which says the same, was merged into it: it has the energies of both and the
/// accesses of both, as if each had been one of it, and is pinned if either was. Its tier stays. An expired one adds what is left of
/// its energy.
pub fn merged(
    state: MemoryState,
    other: MemoryState,
    now: Timestamp,
    tunables: &Tunables,
) -> Result<MemoryState, Refused> {
    live(state)?;
    if other.tier.is_stub() {
        return Err(Refused::Stub);
    }
    // Neither loses what it has gained since.
    let now = now.max(state.anchor()).max(other.anchor());
    let added = other.unexpired().energy_now(now, tunables);
    let mut next = state.brought_to(now, tunables);
    next.energy = next.energy.plus(added);
    next.last_accessed = state.last_accessed.max(other.last_accessed);
    next.access_count = state.access_count.saturating_add(other.access_count);
    next.pinned |= other.pinned;
    next.ripe_at = next.ripe_at.filter(|_| !next.pinned);
    Ok(next.ripened(tunables).with_due())
}

/// A decay pass at `now`: energy decayed to now, and expiry if it is strictly below the threshold and the memory is not
/// waiting for promotion. `lastAccessed` is unchanged. A memory that another writer accessed is ripe from that access
/// if it raised the energy above the threshold.
#[must_use]
pub fn decayed(state: MemoryState, now: Timestamp, tunables: &Tunables) -> (MemoryState, Decayed) {
    let due = state.due_at.is_some_and(|due| due <= now) && state.anchor() < now;
    if !due || state.pinned || !state.tier.is_live() {
        return (state, Decayed::Unchanged);
    }
    let state = if state.last_accessed > state.energy_at { state.ripened(tunables) } else { state };
    let mut next = state.brought_to(now, tunables);
    let expires = next.tier == Tier::Working
        && next.ripe_at.is_none()
        && next.energy.value() < tunables.config().expiry_threshold;
    if expires {
        next.tier = Tier::ExpiredWorking;
    }
    (next.with_due(), if expires { Decayed::Expired } else { Decayed::Faded })
}

/// A promotion at `now`, one tier up, the energy decayed to now by the rate of the tier it leaves.
pub fn promoted(state: MemoryState, now: Timestamp, tunables: &Tunables) -> Result<MemoryState, Refused> {
    match state.tier.next() {
        Some(next) if state.ripe_at.is_some() && !state.pinned => Ok(raised(state, next, now, tunables)),
        _ => Err(Refused::NotRipe),
    }
}

/// The end of its session for a memory created in it: promoted if it is working, unpinned, and its energy at `now` is
/// strictly above `threshold`, which is lower than that of the job.
pub fn session_ended(
    state: MemoryState,
    now: Timestamp,
    threshold: f64,
    tunables: &Tunables,
) -> Result<MemoryState, Refused> {
    let strong = state.energy_now(now, tunables).value() > threshold;
    if state.tier == Tier::Working && !state.pinned && strong {
        Ok(raised(state, Tier::ShortTerm, now, tunables))
    } else {
        Err(Refused::NotRipe)
    }
}

fn raised(state: MemoryState, tier: Tier, now: Timestamp, tunables: &Tunables) -> MemoryState {
    let mut next = state.brought_to(now, tunables);
    next.tier = tier;
    next.ripe_at = None;
    next.ripened(tunables).with_due()
}

/// Pins it at `now` with its energy of then.
pub fn pinned(state: MemoryState, now: Timestamp, tunables: &Tunables) -> Result<MemoryState, Refused> {
    live(state)?;
    if state.pinned {
        return Ok(state);
    }
    let mut next = state.brought_to(now, tunables);
    next.pinned = true;
    next.ripe_at = None;
    Ok(next.with_due())
}

/// Unpins it at `now`: it decays again, and may be ripe at once.
pub fn unpinned(state: MemoryState, now: Timestamp, tunables: &Tunables) -> Result<MemoryState, Refused> {
    live(state)?;
    if !state.pinned {
        return Ok(state);
    }
    let mut next = state.brought_to(now, tunables);
    next.pinned = false;
    Ok(next.ripened(tunables).with_due())
}

fn live(state: MemoryState) -> Result<(), Refused> {
    match state.tier {
        tier if tier.is_stub() => Err(Refused::Stub),
        Tier::ExpiredWorking => Err(Refused::Expired),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;

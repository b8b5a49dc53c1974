//! Decay policies: rules for the decay of facts, and the choice of the policy that decides a fact.
//!
//! A policy has a pattern for relations, a scope, and an action: retract facts that are older than a time to live, or
//! halve confidence by a half-life. The most specific policy decides a fact: an exact relation before a pattern, a
//! longer literal prefix before a shorter one, `*` last; then an exact scope before `*`; then the order of the
//! configuration. A policy with `exempt_relations` that include the fact's relation does not match it, and the next one
//! may.
//!
//! **Pattern**: `*` matches any run of characters, including `:`. It is anchored and case-sensitive, and nothing else
//! is special.
//!
//! | mode of a sweep | a policy that retracts | one that reduces | one of mode `dry_run` |
//! |---|---|---|---|
//! | none requested | acts | acts | is counted |
//! | `retract` | acts | is skipped: it has no time to live | as its parameter says |
//! | `confidence` | is skipped | acts | as its parameter says |
//! | `dry_run` | is counted | is counted | is counted |
//!
//! A sweep by one policy, or in another mode, does a part of what the job does, and nothing else: the facts of a policy
//! that is skipped or not requested stay. A policy of mode `dry_run` takes no facts from others: the acting policies
//! decide as if there were none of that mode, and the facts that these would decide beside them are counted apart.
//!
//! Policies come from files, variables and requests as [`Draft`]s: fields with values of any type, so that all errors
//! of all policies are reported at once.
//!
//! Source: the decay semantics document (section 15.1). There the first match decides, of whatever mode: a policy that
//! only counts would end the retractions of a wider one.
//!
//! # Design notes
//! In its first, dry run a policy is counted as one of mode `dry_run`. But a later version of a policy keeps its facts
//! from others even then: the former version, which did so, is gone, and a wider policy would retract them in this one
//! run.
//!
//! Invariant: the deciding policy does not depend on the order of two that differ in specificity (held by
//! `the_order_of_the_configuration_decides_only_between_equals`).
//! Invariant: a sweep by one policy changes what the sweep by all changes by it, no more and no less (held by
//! `a_policy_alone_changes_what_it_changes_beside_the_others`).
//! Invariant: policies of mode `dry_run` do not affect what others change (held by
//! `policies_that_only_count_take_no_facts`).

use super::decay::Curve;
use super::fact::{Decay, FactScope, Fate, Head};
use super::guard::Guard;
use super::ids::PolicyId;
use super::units::{Confidence, Timestamp};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

mod draft;
mod glob;
#[cfg(test)]
mod tests;

pub use draft::{Draft, Given, PolicyFault};
pub use glob::Glob;

/// Mode of a policy or a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Writes confidence 0 for facts that are too old.
    Retract,
    /// Writes less confidence for facts that decay.
    Confidence,
    /// Counts, and writes nothing.
    DryRun,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Retract, Self::Confidence, Self::DryRun];

    /// Documented name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retract => "retract",
            Self::Confidence => "confidence",
            Self::DryRun => "dry_run",
        }
    }

    /// The mode with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Action of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Retracts facts older than this, seconds.
    TtlS(f64),
    /// Half-life of confidence, seconds.
    HalfLifeS(f64),
}

/// A valid policy. Its fields are the documented ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub id: PolicyId,
    pub relation: Glob,
    /// Scope of its facts; `None` is every scope, written `*`.
    pub scope: Option<FactScope>,
    pub mode: Mode,
    pub measure: Measure,
    /// Floor of the confidence.
    pub min_confidence: Confidence,
    /// Relations that it does not match.
    pub exempt_relations: Vec<Glob>,
    decay: Decay,
    /// Whether the facts that it decides stay also while it only counts.
    keeps: bool,
}

/// Policies in the order of their configuration, with unique ids.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Policies(Vec<Policy>);

/// Settings of sweeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Regime {
    /// Policies of the configuration.
    pub policies: Policies,
    /// Least reduction of confidence that is written, `0 ..= 1`.
    pub epsilon: f64,
    /// Limit above which a sweep needs confirmation.
    pub guard: Guard,
    /// Whether the first scheduled sweep by a policy, and by each later version of it, is a dry run.
    pub first_run_dry: bool,
}

/// Policies that take part in one sweep, the most specific first.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    rules: Vec<Rule>,
    asked: Option<Mode>,
}

#[derive(Debug, Clone, PartialEq)]
struct Rule {
    id: PolicyId,
    relation: Glob,
    exempt_relations: Vec<Glob>,
    /// Index in the configuration.
    place: usize,
    /// Whether it takes part. The facts of another one stay.
    takes_part: bool,
    /// Whether it decides facts. One that does not is counted beside the deciding one.
    decides: bool,
    mode: Mode,
    decay: Decay,
}

/// Rules for the facts of a relation.
#[derive(Debug, Clone, Copy)]
struct Match {
    /// The one that decides.
    decider: Option<usize>,
    /// The one that only counts, and would decide otherwise.
    counter: Option<usize>,
}

/// Counts of the heads that a sweep examines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counters {
    /// Valid heads with confidence above 0.
    pub live: i64,
    /// Heads of these that are not exempt.
    pub evaluated: i64,
    /// Heads retracted by policies that act.
    pub retracted: i64,
    /// Heads reduced by policies that act.
    pub reduced: i64,
    /// Heads that dry-run policies would retract.
    pub would_retract: i64,
    /// Heads that dry-run policies would reduce.
    pub would_reduce: i64,
    /// Ids of the policies that matched a fact.
    pub matched: BTreeSet<String>,
    /// Heads retracted by each policy that acts, by its id.
    #[serde(skip)]
    pub retracted_by: BTreeMap<String, i64>,
}

/// Response of a sweep, in the wire format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Mode of the sweep.
    pub mode: Mode,
    /// Live heads that are not exempt.
    pub evaluated: i64,
    /// Retracted heads; 0 in a dry run.
    pub retracted: i64,
    /// Reduced heads; 0 in a dry run.
    pub reduced: i64,
    /// Heads that would be retracted; 0 outside a dry run.
    pub would_retract: i64,
    /// Heads that would be reduced; 0 outside a dry run.
    pub would_reduce: i64,
    /// Ids of the policies that matched a fact, in the order of the configuration.
    pub applied: Vec<String>,
}

/// Decides heads by the rules, and counts them. Caches the rules of each relation.
pub struct Judge<'a> {
    rules: &'a Rules,
    now: Timestamp,
    epsilon: f64,
    known: HashMap<String, Match>,
    matched: BTreeSet<usize>,
    retracted_by: BTreeMap<usize, i64>,
    counters: Counters,
}

impl Policy {
    /// All its fields except the id, as text: identifies a version of the policy.
    #[must_use]
    pub fn wording(&self) -> String {
        let scope = self.scope.map_or("*", FactScope::name);
        let measure = match self.measure {
            Measure::TtlS(seconds) => format!("ttl_s {seconds}"),
            Measure::HalfLifeS(seconds) => format!("half_life_s {seconds}"),
        };
        let exempt: Vec<&str> = self.exempt_relations.iter().map(Glob::as_str).collect();
        let (relation, mode, least) = (self.relation.as_str(), self.mode, self.min_confidence.value());
        format!("{relation} in {scope}: {mode}, {measure}, min_confidence {least}, exempt {exempt:?}")
    }

    fn specificity(&self) -> (u8, Reverse<usize>, bool) {
        let (kind, literal) = self.relation.specificity();
        (kind, Reverse(literal), self.scope.is_none())
    }
}

impl Policies {
    /// Merges two lists: a policy of `later` replaces one with the same id.
    #[must_use]
    pub fn overlaid(mut self, later: Self) -> Self {
        for policy in later.0 {
            match self.0.iter_mut().find(|own| own.id == policy.id) {
                Some(own) => *own = policy,
                None => self.0.push(policy),
            }
        }
        self
    }

    /// All policies, in the order of the configuration.
    #[must_use]
    pub fn all(&self) -> &[Policy] {
        &self.0
    }

    /// Whether a policy has this id.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.0.iter().any(|policy| policy.id.as_str() == id)
    }

    /// The same policies, with the new ones in dry-run mode. One that is a later version of a policy keeps its facts.
    #[must_use]
    pub fn on_trial(
        mut self,
        is_new: impl Fn(&Policy) -> bool,
        is_later_version: impl Fn(&Policy) -> bool,
    ) -> Self {
        for policy in &mut self.0 {
            if is_new(policy) {
                policy.keeps = policy.mode != Mode::DryRun && is_later_version(policy);
                policy.mode = Mode::DryRun;
            }
        }
        self
    }

    /// The rules of a sweep of `scope`: policies take part in the mode that was `asked` for, or in their own; with
    /// `only`, that policy alone. The facts of others that act by themselves stay.
    #[must_use]
    pub fn rules(&self, scope: FactScope, asked: Option<Mode>, only: Option<&str>) -> Rules {
        let mut of_scope: Vec<(usize, &Policy)> = self
            .0
            .iter()
            .enumerate()
            .filter(|(_, policy)| policy.scope.is_none_or(|own| own == scope))
            .collect();
        // The sort is stable: equals keep the order of the configuration.
        of_scope.sort_by_key(|(_, policy)| policy.specificity());
        let rule = |(place, policy): (usize, &Policy)| {
            let is_skipped = matches!(
                (asked, policy.measure),
                (Some(Mode::Retract), Measure::HalfLifeS(_)) | (Some(Mode::Confidence), Measure::TtlS(_))
            );
            let takes_part = !is_skipped && only.is_none_or(|id| policy.id.as_str() == id);
            let is_made_to_act = takes_part && asked.is_some_and(|mode| mode != Mode::DryRun);
            let decides = policy.mode != Mode::DryRun || policy.keeps || is_made_to_act;
            (takes_part || decides).then(|| Rule {
                id: policy.id.clone(),
                relation: policy.relation.clone(),
                exempt_relations: policy.exempt_relations.clone(),
                place,
                takes_part,
                decides,
                mode: asked.unwrap_or(policy.mode),
                decay: policy.decay,
            })
        };
        Rules { rules: of_scope.into_iter().filter_map(rule).collect(), asked }
    }
}

impl Rules {
    /// The same rules as a dry run.
    #[must_use]
    pub fn rehearsed(mut self) -> Self {
        self.asked = Some(Mode::DryRun);
        self.rules.iter_mut().for_each(|rule| rule.mode = Mode::DryRun);
        self
    }

    fn taking_part(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.takes_part)
    }

    /// Whether no policy takes part.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.taking_part().next().is_none()
    }

    /// Whether any policy writes.
    #[must_use]
    pub fn act(&self) -> bool {
        self.taking_part().any(|rule| rule.mode != Mode::DryRun)
    }

    /// Whether any policy retracts, which is subject to the guard.
    #[must_use]
    pub fn retract(&self) -> bool {
        self.taking_part().any(|rule| rule.mode != Mode::DryRun && matches!(rule.decay, Decay::Ttl(_)))
    }

    /// The id of the policy that decides facts of this relation.
    #[must_use]
    pub fn deciding(&self, relation: &str) -> Option<&PolicyId> {
        self.matching(relation).decider.map(|at| &self.rules[at].id)
    }

    fn matching(&self, relation: &str) -> Match {
        let mut found = Match { decider: None, counter: None };
        for (at, rule) in self.rules.iter().enumerate() {
            let is_exempt = || rule.exempt_relations.iter().any(|glob| glob.matches(relation));
            if !rule.relation.matches(relation) || is_exempt() {
                continue;
            }
            if rule.decides {
                found.decider = Some(at);
                break;
            }
            // Behind the deciding one it would decide nothing.
            found.counter = found.counter.or(Some(at));
        }
        found
    }

    /// The response of a sweep with these counts.
    #[must_use]
    pub fn summary(&self, counters: &Counters) -> Summary {
        let matched = |rule: &&Rule| counters.matched.contains(rule.id.as_str());
        let mut modes: Vec<Mode> = self.taking_part().filter(matched).map(|rule| rule.mode).collect();
        if modes.is_empty() {
            modes = self.taking_part().map(|rule| rule.mode).collect();
        }
        let common = modes.first().filter(|first| modes.iter().all(|mode| mode == *first)).copied();
        let otherwise = if modes.contains(&Mode::Retract) { Mode::Retract } else { Mode::Confidence };
        let mode = self.asked.or(common).unwrap_or(otherwise);
        let mut applied: Vec<(usize, String)> = counters
            .matched
            .iter()
            .map(|id| {
                let rule = self.rules.iter().find(|rule| rule.id.as_str() == id);
                (rule.map_or(usize::MAX, |rule| rule.place), id.clone())
            })
            .collect();
        applied.sort();
        let (did, would) = if mode == Mode::DryRun { (0, 1) } else { (1, 0) };
        Summary {
            mode,
            evaluated: counters.evaluated,
            retracted: did * counters.retracted,
            reduced: did * counters.reduced,
            would_retract: would * counters.would_retract,
            would_reduce: would * counters.would_reduce,
            applied: applied.into_iter().map(|(_, id)| id).collect(),
        }
    }

    /// A judge by these rules.
    #[must_use]
    pub fn judge(&self, now: Timestamp, epsilon: f64) -> Judge<'_> {
        Judge {
            rules: self,
            now,
            epsilon,
            known: HashMap::new(),
            matched: BTreeSet::new(),
            retracted_by: BTreeMap::new(),
            counters: Counters::default(),
        }
    }
}

impl Judge<'_> {
    /// Decides a head, and counts it. Returns the change to write; [`Fate::Stays`] also for one that is only counted.
    pub fn judge(&mut self, relation: &str, head: &Head) -> Fate {
        if !head.is_live(self.now) {
            return Fate::Stays;
        }
        self.counters.live += 1;
        if head.is_exempt(relation) {
            return Fate::Stays;
        }
        self.counters.evaluated += 1;
        let Match { decider, counter } = match self.known.get(relation) {
            Some(known) => *known,
            None => *self.known.entry(relation.to_owned()).or_insert(self.rules.matching(relation)),
        };
        // A dry run counts a fact once: as retracted if either policy would do that, since a person confirms that number.
        let (mut written, mut would) = (Fate::Stays, Fate::Stays);
        for at in [decider, counter].into_iter().flatten() {
            let Some(rule) = self.rules.rules.get(at).filter(|rule| rule.takes_part) else { continue };
            self.matched.insert(at);
            let fate = head.fate(self.now, &rule.decay, self.epsilon);
            if rule.mode != Mode::DryRun {
                written = fate;
                if fate == Fate::Retracted {
                    *self.retracted_by.entry(at).or_default() += 1;
                }
            } else if fate == Fate::Retracted || would == Fate::Stays {
                would = fate;
            }
        }
        let counters = &mut self.counters;
        for (fate, retracted, reduced) in [
            (written, &mut counters.retracted, &mut counters.reduced),
            (would, &mut counters.would_retract, &mut counters.would_reduce),
        ] {
            match fate {
                Fate::Stays => {}
                Fate::Retracted => *retracted += 1,
                Fate::Reduced(_) => *reduced += 1,
            }
        }
        written
    }

    /// The counts.
    #[must_use]
    pub fn counters(mut self) -> Counters {
        let id = |at: &usize| self.rules.rules.get(*at).map(|rule| rule.id.to_string());
        self.counters.matched = self.matched.iter().filter_map(id).collect();
        let retracted = self.retracted_by.iter().filter_map(|(at, count)| Some((id(at)?, *count)));
        self.counters.retracted_by = retracted.collect();
        self.counters
    }
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, more: Self) {
        self.live += more.live;
        self.evaluated += more.evaluated;
        self.retracted += more.retracted;
        self.reduced += more.reduced;
        self.would_retract += more.would_retract;
        self.would_reduce += more.would_reduce;
        self.matched.extend(more.matched);
        for (id, count) in more.retracted_by {
            *self.retracted_by.entry(id).or_default() += count;
        }
    }
}

/// The fields of a policy, for serialization.
impl From<&Policy> for Draft {
    fn from(policy: &Policy) -> Self {
        let text = |text: &str| Given::Text(text.to_owned());
        let mut fields = BTreeMap::from([
            ("id".to_owned(), text(policy.id.as_str())),
            ("relation".to_owned(), text(policy.relation.as_str())),
            ("scope".to_owned(), text(policy.scope.map_or("*", FactScope::name))),
            ("mode".to_owned(), text(policy.mode.name())),
            ("min_confidence".to_owned(), Given::Number(policy.min_confidence.value())),
        ]);
        let (name, seconds) = match policy.measure {
            Measure::TtlS(seconds) => ("ttl_s", seconds),
            Measure::HalfLifeS(seconds) => ("half_life_s", seconds),
        };
        fields.insert(name.to_owned(), Given::Number(seconds));
        let exempt = policy.exempt_relations.iter().map(|glob| text(glob.as_str())).collect();
        fields.insert("exempt_relations".to_owned(), Given::List(exempt));
        Self(fields)
    }
}

impl Measure {
    /// The decay of this action; `None` for an invalid duration.
    fn decay(self, floor: Confidence) -> Option<Decay> {
        match self {
            Self::TtlS(seconds) => Curve::Ttl(seconds * 1_000.0).ok().map(Decay::Ttl),
            Self::HalfLifeS(seconds) => {
                Curve::HalfLife(seconds * 1_000.0).ok().map(|curve| Decay::HalfLife { curve, floor })
            }
        }
    }
}

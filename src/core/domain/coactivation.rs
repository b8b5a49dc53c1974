//! Coactivation of memories: each session that accessed two memories increases the weight of their pair by one, once.
//!
//! The weight of a pair is the number of distinct sessions that accessed both. To maintain it without reading past
//! sessions again, every access of a memory in a session has a flag, `counted`. A pair gains 1 in a session when at
//! least one of its two is not yet counted there, and the transaction that adds the gain also sets the flags. A session
//! that is accessed again after it was counted therefore adds nothing, and a memory that joins it late is paired with
//! all earlier ones.
//!
//! A session of very many memories says little about any two of them, and its number of pairs is quadratic: only its
//! [`MEMBERS_MAX`] most recent members count.
//!
//! Source: the three-tier consolidation document, whose statement counts a session again at each run.
//!
//! Invariant: however a session is cut into steps, each of its pairs gains 1 (held by `any_cut_counts_each_pair_once`).

use super::units::Timestamp;

/// Most memories of one session that are paired with each other: 19,900 pairs.
pub const MEMBERS_MAX: usize = 200;

/// A memory as a session accessed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member<'a> {
    pub id: &'a str,
    /// Last access; `None` if it was not recorded.
    pub at: Option<Timestamp>,
    /// Whether its pairs with the other counted members have gained theirs.
    pub counted: bool,
}

/// Pair of memories that gains 1, the smaller id first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair<'a> {
    /// The smaller id.
    pub a: &'a str,
    /// The greater id.
    pub b: &'a str,
    /// Instant at which both had been accessed; `None` if neither instant is known.
    pub at: Option<Timestamp>,
}

/// Result of one step through a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step<'a> {
    /// Pairs that gain 1.
    pub pairs: Vec<Pair<'a>>,
    /// Memories to be flagged as counted.
    pub counted: Vec<&'a str>,
    /// Whether every member is counted after this step.
    pub complete: bool,
}

/// The next step through a session: pairs of as many uncounted members as make up to `pairs_max`, and at least of one.
/// `members` are distinct.
#[must_use]
pub fn step<'a>(members: &[Member<'a>], pairs_max: usize) -> Step<'a> {
    let mut step = Step::default();
    let mut before: Vec<&Member<'a>> = members.iter().filter(|member| member.counted).collect();
    let mut fresh: Vec<&Member<'a>> = members.iter().filter(|member| !member.counted).collect();
    fresh.sort_by_key(|member| member.id);
    for member in fresh {
        if !step.counted.is_empty() && step.pairs.len() + before.len() > pairs_max {
            return step;
        }
        step.pairs.extend(before.iter().map(|other| Pair {
            a: member.id.min(other.id),
            b: member.id.max(other.id),
            at: member.at.max(other.at),
        }));
        step.counted.push(member.id);
        before.push(member);
    }
    step.complete = true;
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn at(ms: i64) -> Option<Timestamp> {
        Timestamp::from_millis(ms).ok()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn any_cut_counts_each_pair_once(
            known in prop::collection::vec(any::<bool>(), 0..24),
            late in 0_usize..6,
            pairs_max in 0_usize..60,
        ) {
            let names: Vec<String> = (0..known.len() + late).map(|n| format!("m{:02}", (n * 7) % 31 + n)).collect();
            let mut counted = known.clone();
            let mut gains: BTreeMap<(String, String), u32> = BTreeMap::new();
            for round in [known.len(), known.len() + late] {
                counted.resize(round, false);
                loop {
                    let members: Vec<Member<'_>> = (0..round)
                        .map(|n| Member { id: &names[n], at: at(n as i64), counted: counted[n] })
                        .collect();
                    let step = step(&members, pairs_max);
                    for pair in &step.pairs {
                        prop_assert!(pair.a < pair.b);
                        *gains.entry((pair.a.to_owned(), pair.b.to_owned())).or_default() += 1;
                    }
                    for id in &step.counted {
                        counted[names.iter().position(|name| name == id).unwrap()] = true;
                    }
                    if step.complete {
                        break;
                    }
                    prop_assert!(!step.counted.is_empty(), "every step goes on");
                }
                // Nothing is left to count, and counting again finds nothing.
                let members: Vec<Member<'_>> =
                    (0..round).map(|n| Member { id: &names[n], at: None, counted: counted[n] }).collect();
                prop_assert!(step(&members, pairs_max).pairs.is_empty());
            }
            let all = known.len() + late;
            let before = known.iter().filter(|known| **known).count();
            let pairs = all * all.saturating_sub(1) / 2 - before * before.saturating_sub(1) / 2;
            prop_assert_eq!(gains.len(), pairs, "every pair but those that had theirs before");
            prop_assert!(gains.values().all(|gain| *gain == 1));
        }
    }

    #[test]
    fn a_pair_is_as_old_as_the_later_of_its_two() {
        let members =
            [Member { id: "b", at: at(5), counted: true }, Member { id: "a", at: at(9), counted: false }];
        assert_eq!(step(&members, 10).pairs, [Pair { a: "a", b: "b", at: at(9) }]);
    }
}

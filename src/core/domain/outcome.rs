//! Outcomes: reports of which hits of a recall were useful.
//!
//! Nothing is stored about a recall. So the caller sends, for each useful hit, the path from the response, and a reward
//! for all of them. Learning needs no more: the nodes of these paths are *active* together, and each of their edges
//! that carries pheromones has led to a result.
//!
//! Checked when built, so that the code which applies it need not check whether it fits a transaction. Errors name the
//! invalid field.
//!
//! # Design notes
//! A hit found by its text alone has no path. It is reported with an empty one, and is active by itself: useful hits
//! should be associated, however each was found.
//!
//! Ids are those of nodes in a mirror. Only their length is checked: other writers to the graph may use any names, and
//! a response that contains them can be reported.

use super::ids::{NameError, RecallId, TERM_BYTES_MAX};
use super::trail::REWARD_MAX;
use super::units::{Pheromone, UnitError};
use std::collections::{BTreeMap, BTreeSet};

/// Most useful hits: the most that one recall returns.
pub const USED_MAX: usize = 1_000;
/// Nodes of one path: as many as the longest of a recall has.
pub const PATH_NODES_MAX: usize = 22;
/// Nodes that one outcome can teach.
pub const ACTIVE_MAX: usize = 256;
/// Longest id, in bytes.
pub const ID_BYTES_MAX: usize = TERM_BYTES_MAX;

/// A useful hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    pub id: String,
    /// Ids of its path from the response, from the seed to itself; empty if the response had none.
    pub path: Vec<String>,
}

/// Outcome of a recall.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    recall: RecallId,
    used: Vec<Used>,
    reward: Pheromone,
}

/// Nodes taught by an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Active<'a> {
    /// Ids without repeats, in order of first occurrence, at most [`ACTIVE_MAX`].
    pub nodes: Vec<&'a str>,
    pub left_out: usize,
}

/// The reason why an outcome is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OutcomeError {
    /// Invalid id of a recall.
    #[error("recall_id: {0}")]
    Recall(#[from] NameError),
    /// No hit, or more than a recall returns.
    #[error("used has {0} hits; it must have 1 to {USED_MAX}")]
    Count(usize),
    /// An invalid id.
    #[error("{field} {fault}")]
    Id { field: String, fault: String },
    /// A path longer than any of a recall.
    #[error("used[{hit}].path has {nodes} nodes; a recall returns {PATH_NODES_MAX} at most")]
    Length { hit: usize, nodes: usize },
    /// A path that does not end at its hit.
    #[error("used[{hit}].path ends at {end}, and the hit is {id}: send the path as returned")]
    End { hit: usize, end: String, id: String },
    /// A repeated hit.
    #[error("used[{hit}].id: {id} is in used[{first}] already")]
    Twice {
        hit: usize,
        id: String,
        /// Index of its first occurrence, from 0.
        first: usize,
    },
    /// Not above 0, or too great.
    #[error("reward is {0}; it must be above 0 and at most {REWARD_MAX}")]
    Reward(f64),
    /// A reward that is no valid pheromone.
    #[error(transparent)]
    Unit(#[from] UnitError),
}

impl Used {
    fn check(&self, hit: usize) -> Result<(), OutcomeError> {
        id(&self.id, || format!("used[{hit}].id"))?;
        if self.path.len() > PATH_NODES_MAX {
            return Err(OutcomeError::Length { hit, nodes: self.path.len() });
        }
        for (at, node) in self.path.iter().enumerate() {
            id(node, || format!("used[{hit}].path[{at}]"))?;
        }
        match self.path.last().filter(|end| **end != self.id) {
            Some(end) => Err(OutcomeError::End { hit, end: end.clone(), id: self.id.clone() }),
            None => Ok(()),
        }
    }

    /// Nodes of its path; the hit itself if there is none.
    fn nodes(&self) -> impl Iterator<Item = &str> {
        let alone = self.path.is_empty().then_some(self.id.as_str());
        self.path.iter().map(String::as_str).chain(alone)
    }
}

impl Outcome {
    /// An outcome of 1 to [`USED_MAX`] different hits with their paths from the response and a `reward`, above 0 and at
    /// most [`REWARD_MAX`].
    pub fn new(recall: RecallId, used: Vec<Used>, reward: f64) -> Result<Self, OutcomeError> {
        check(&used)?;
        Ok(Self { recall, used, reward: worth(reward)? })
    }

    /// Id of the recall.
    #[must_use]
    pub const fn recall(&self) -> &RecallId {
        &self.recall
    }

    /// Reward: the deposit on the first edge of each path.
    #[must_use]
    pub const fn reward(&self) -> Pheromone {
        self.reward
    }

    /// The useful hits.
    #[must_use]
    pub fn used(&self) -> &[Used] {
        &self.used
    }

    /// Activity of its nodes, above 0 and at most 1.
    #[must_use]
    pub fn activation(&self) -> f64 {
        self.reward.value().min(1.0)
    }

    /// Paths to its hits that have steps.
    pub fn paths(&self) -> impl Iterator<Item = &[String]> {
        self.used.iter().map(|hit| hit.path.as_slice()).filter(|path| path.len() > 1)
    }

    /// Nodes that it teaches.
    #[must_use]
    pub fn active(&self) -> Active<'_> {
        let mut met = BTreeSet::new();
        let all = self.used.iter().flat_map(Used::nodes);
        let mut nodes: Vec<&str> = all.filter(|node| met.insert(*node)).collect();
        let left_out = nodes.len().saturating_sub(ACTIVE_MAX);
        nodes.truncate(ACTIVE_MAX);
        Active { nodes, left_out }
    }
}

/// Reward of a recall, above 0 and at most [`REWARD_MAX`].
pub fn worth(reward: f64) -> Result<Pheromone, OutcomeError> {
    if !(reward > 0.0 && reward <= REWARD_MAX) {
        return Err(OutcomeError::Reward(reward));
    }
    Ok(Pheromone::new(reward)?)
}

fn check(used: &[Used]) -> Result<(), OutcomeError> {
    if !(1..=USED_MAX).contains(&used.len()) {
        return Err(OutcomeError::Count(used.len()));
    }
    let mut met = BTreeMap::new();
    for (hit, one) in used.iter().enumerate() {
        one.check(hit)?;
        if let Some(first) = met.insert(one.id.as_str(), hit) {
            return Err(OutcomeError::Twice { hit, id: one.id.clone(), first });
        }
    }
    Ok(())
}

fn id(text: &str, field: impl Fn() -> String) -> Result<(), OutcomeError> {
    let fault = if text.trim().is_empty() {
        "is empty".to_owned()
    } else if text.len() > ID_BYTES_MAX {
        format!("has {} bytes; at most {ID_BYTES_MAX} are allowed", text.len())
    } else {
        return Ok(());
    };
    Err(OutcomeError::Id { field: field(), fault })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(id: &str, path: &[&str]) -> Used {
        Used { id: id.to_owned(), path: path.iter().map(|node| (*node).to_owned()).collect() }
    }

    fn outcome(used: Vec<Used>, reward: f64) -> Result<Outcome, OutcomeError> {
        Outcome::new(RecallId::new("r").unwrap(), used, reward)
    }

    fn fault(used: Vec<Used>, reward: f64) -> String {
        outcome(used, reward).unwrap_err().to_string()
    }

    #[test]
    fn every_fault_names_its_field() {
        let one = || vec![used("m", &["a", "m"])];
        assert_eq!(fault(Vec::new(), 1.0), "used has 0 hits; it must have 1 to 1000");
        let many: Vec<Used> = (0..=USED_MAX).map(|n| used(&format!("m{n}"), &[])).collect();
        assert_eq!(fault(many, 1.0), "used has 1001 hits; it must have 1 to 1000");
        assert_eq!(fault(vec![used("m", &[]), used(" ", &[])], 1.0), "used[1].id is empty");
        assert_eq!(fault(vec![used("m", &["a", "", "m"])], 1.0), "used[0].path[1] is empty");
        let long = "x".repeat(ID_BYTES_MAX + 1);
        assert_eq!(
            fault(vec![used("m", &[&long, "m"])], 1.0),
            "used[0].path[0] has 1090 bytes; at most 1089 are allowed"
        );
        assert_eq!(
            fault(vec![used("m", &["m"; PATH_NODES_MAX + 1])], 1.0),
            "used[0].path has 23 nodes; a recall returns 22 at most"
        );
        assert_eq!(
            fault(vec![used("m", &["a", "b"])], 1.0),
            "used[0].path ends at b, and the hit is m: send the path as returned"
        );
        assert_eq!(
            fault(vec![used("m", &[]), used("n", &[]), used("m", &["m"])], 1.0),
            "used[2].id: m is in used[0] already"
        );
        for reward in [0.0, -0.0, -1.0, 10.000_001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let why = fault(one(), reward);
            assert!(why.starts_with("reward is ") && why.ends_with("above 0 and at most 10"), "{why}");
        }
    }

    #[test]
    fn what_is_at_its_bound_is_taken() {
        let path = ["f"; PATH_NODES_MAX];
        let long = "x".repeat(ID_BYTES_MAX);
        let all = (0..USED_MAX - 2).map(|n| used(&format!("m{n}"), &[]));
        let all = all.chain([used("f", &path), used(&long, &[&long])]).collect();
        assert_eq!(outcome(all, 10.0).unwrap().active().nodes.len(), ACTIVE_MAX);
        assert!(outcome(vec![used("m", &["m"])], f64::MIN_POSITIVE).is_ok());
    }

    #[test]
    fn each_node_is_active_once_in_the_order_of_its_first_standing() {
        let all =
            vec![used("m", &["a", "b", "m"]), used("n", &[]), used("b", &["a", "b"]), used("a", &["a"])];
        let one = outcome(all, 0.5).unwrap();
        assert_eq!(one.active(), Active { nodes: vec!["a", "b", "m", "n"], left_out: 0 });
        let paths: Vec<&[String]> = one.paths().collect();
        assert_eq!(paths, [["a", "b", "m"].as_slice(), &["a", "b"]], "a path of one node has no step");
    }

    #[test]
    fn nodes_beyond_the_bound_are_left_out_and_counted() {
        let many = (0..200).map(|n| used(&format!("m{n}"), &[&format!("e{n}"), &format!("m{n}")])).collect();
        let one = outcome(many, 1.0).unwrap();
        let active = one.active();
        assert_eq!((active.nodes.len(), active.left_out), (256, 144));
        assert_eq!((active.nodes[0], active.nodes[255]), ("e0", "m127"));
    }

    #[test]
    fn activation_is_the_reward_up_to_one() {
        for (reward, activation) in [(0.25, 0.25), (1.0, 1.0), (10.0, 1.0)] {
            let one = outcome(vec![used("m", &[])], reward).unwrap();
            assert_eq!(one.activation().to_bits(), f64::to_bits(activation));
            assert_eq!(one.reward().value().to_bits(), f64::to_bits(reward));
        }
    }
}

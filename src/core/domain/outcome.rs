//! Outcomes: reports of which hits of a recall were useful.
//!
//! Nothing is kept of a recall. So the caller sends back, of each hit that was of use, the way that the answer gave, and says
//! what all of it was worth. That is everything there is to be learned from: the nodes of these ways are *active* together,
//! and each of their edges that carries pheromones has led to something.
//!
//! Checked when it is built, so that whoever takes one in need not ask whether it fits a transaction. What is wrong is named
//! by its field.
//!
//! # Design notes
//! A hit for which its words alone speak has no way. It is sent back with an empty one, and is active by itself: what was of
//! use together should come together, whichever way each was found.
//!
//! Ids are those by which a mirror knows its nodes. They are looked at for their length only: whoever else writes to the graph
//! may call things as they like, and an answer that names such a thing can be sent back.

use super::ids::{NameError, RecallId, TERM_BYTES_MAX};
use super::trail::REWARD_MAX;
use super::units::{Pheromone, UnitError};
use std::collections::{BTreeMap, BTreeSet};

/// Hits that may have been of use: as many as one recall answers at most.
pub const USED_MAX: usize = 1_000;
/// Nodes of one way: a recall tells of five relationships at most.
pub const PATH_NODES_MAX: usize = 6;
/// Nodes that one outcome teaches.
pub const ACTIVE_MAX: usize = 256;
/// Longest id, in bytes.
pub const ID_BYTES_MAX: usize = TERM_BYTES_MAX;

/// A hit that was of use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    pub id: String,
    /// The ids of the way to it, from the seed to itself; empty where the answer gave none.
    pub path: Vec<String>,
}

/// What came of a recall.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    recall: RecallId,
    used: Vec<Used>,
    reward: Pheromone,
}

/// The nodes that an outcome teaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Active<'a> {
    /// Their ids, each once, in the order in which they first stand, at most [`ACTIVE_MAX`].
    pub nodes: Vec<&'a str>,
    pub left_out: usize,
}

/// Why something is no outcome.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OutcomeError {
    /// No name of a recall.
    #[error("recall_id: {0}")]
    Recall(#[from] NameError),
    /// No hit at all, or more than a recall answers.
    #[error("used has {0} hits; it must have 1 to {USED_MAX}")]
    Count(usize),
    /// An id that is none.
    #[error("{field} {fault}")]
    Id { field: String, fault: String },
    /// A way that no recall tells of.
    #[error("used[{hit}].path has {nodes} nodes; a recall tells of {PATH_NODES_MAX} at most")]
    Length { hit: usize, nodes: usize },
    /// A way that leads elsewhere.
    #[error("used[{hit}].path ends at {end}, and the hit is {id}: send the path as the answer gave it")]
    End { hit: usize, end: String, id: String },
    /// A hit that is there already.
    #[error("used[{hit}].id: {id} stands in used[{first}] already")]
    Twice {
        hit: usize,
        id: String,
        /// Where it stands first, from 0.
        first: usize,
    },
    /// Not above 0, or too much.
    #[error("reward is {0}; it must be above 0 and at most {REWARD_MAX}")]
    Reward(f64),
    /// No pheromone.
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

    /// The nodes of the way to it; itself where there is none.
    fn nodes(&self) -> impl Iterator<Item = &str> {
        let alone = self.path.is_empty().then_some(self.id.as_str());
        self.path.iter().map(String::as_str).chain(alone)
    }
}

impl Outcome {
    /// Of 1 to [`USED_MAX`] different hits, with the ways that the answer gave, worth `reward`, above 0 and at most
    /// [`REWARD_MAX`].
    pub fn new(recall: RecallId, used: Vec<Used>, reward: f64) -> Result<Self, OutcomeError> {
        check(&used)?;
        Ok(Self { recall, used, reward: worth(reward)? })
    }

    /// The recall whose answer it was.
    #[must_use]
    pub const fn recall(&self) -> &RecallId {
        &self.recall
    }

    /// What it was worth: what the first edge of each way earns.
    #[must_use]
    pub const fn reward(&self) -> Pheromone {
        self.reward
    }

    /// The hits that were of use.
    #[must_use]
    pub fn used(&self) -> &[Used] {
        &self.used
    }

    /// How active its nodes are, above 0 and at most 1.
    #[must_use]
    pub fn activation(&self) -> f64 {
        self.reward.value().min(1.0)
    }

    /// The ways to its hits, those that have steps.
    pub fn paths(&self) -> impl Iterator<Item = &[String]> {
        self.used.iter().map(|hit| hit.path.as_slice()).filter(|path| path.len() > 1)
    }

    /// The nodes that it teaches.
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

/// What a recall was worth, above 0 and at most [`REWARD_MAX`].
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
        format!("has {} bytes; an id has {ID_BYTES_MAX} at most", text.len())
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
            "used[0].path[0] has 1090 bytes; an id has 1089 at most"
        );
        assert_eq!(
            fault(vec![used("g", &["a", "b", "c", "d", "e", "f", "g"])], 1.0),
            "used[0].path has 7 nodes; a recall tells of 6 at most"
        );
        assert_eq!(
            fault(vec![used("m", &["a", "b"])], 1.0),
            "used[0].path ends at b, and the hit is m: send the path as the answer gave it"
        );
        assert_eq!(
            fault(vec![used("m", &[]), used("n", &[]), used("m", &["m"])], 1.0),
            "used[2].id: m stands in used[0] already"
        );
        for reward in [0.0, -0.0, -1.0, 10.000_001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let why = fault(one(), reward);
            assert!(why.starts_with("reward is ") && why.ends_with("above 0 and at most 10"), "{why}");
        }
    }

    #[test]
    fn what_is_at_its_bound_is_taken() {
        let path = ["a", "b", "c", "d", "e", "f"];
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
        assert_eq!(paths, [["a", "b", "m"].as_slice(), &["a", "b"]], "a way of one node has no step");
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

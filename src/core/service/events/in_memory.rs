//! The events of a file by scope, for views in memory that need no database.

use super::FeedError;
use super::line::{Line, Reading, parse};
use super::lines::Lines;
use crate::domain::event::Event;
use crate::domain::ids::Scope;
use crate::domain::similarity::Similarity;
use crate::domain::trail::Allowed;
use crate::mirror;
use crate::service::evaluation::Views;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

pub use crate::mirror::from_events::{EventRules, ScopeEvents};

/// The events of a file.
#[derive(Debug, Default)]
pub struct FileEvents {
    /// Memories and relations by scope.
    pub scopes: BTreeMap<Scope, ScopeEvents>,
    /// Scopes whose rows any of the events changes.
    pub changed: BTreeSet<Scope>,
    /// Number of events that a view of events leaves out, such as accesses and facts.
    pub left_out: u64,
}

impl FileEvents {
    /// Reads a file, by the rules of an import; `scope` is that of events that name none.
    ///
    /// # Errors
    /// [`FeedError`] for a file that cannot be read, or for its first line that is no event.
    pub fn read(
        path: &Path,
        scope: &Scope,
        similarity: &Similarity,
        allowed: Allowed,
    ) -> Result<Self, FeedError> {
        let reading = Reading {
            key: super::feed::identify(path)?.0,
            scope: scope.clone(),
            similarity: similarity.clone(),
            allowed,
            latest: None,
        };
        Self::of(Lines::open(path)?, &reading)
    }

    pub(super) fn of<R: Read>(lines: Lines<R>, reading: &Reading) -> Result<Self, FeedError> {
        let (mut read, mut ids) = (Self::default(), BTreeSet::new());
        lines.read_all(|number, text| {
            let line = parse(text, number, reading)?;
            read.changed.extend(Scope::new(line.scope()));
            match line {
                // A memory that is stored again keeps its content.
                Line::Event(Event::Remember(memory))
                    if ids.insert((memory.scope.clone(), memory.id.clone())) =>
                {
                    read.scopes.entry(memory.scope.clone()).or_default().memories.push(memory);
                }
                Line::Observe(seen) => {
                    read.scopes.entry(seen.tie.scope.clone()).or_default().relations.push(seen);
                }
                _ => read.left_out += 1,
            }
            Ok(())
        })?;
        Ok(read)
    }

    /// Builds the view of each scope.
    ///
    /// # Errors
    /// Of the engine, for more than a graph can hold; labels that no mirror can have.
    pub fn views(&self, rules: &EventRules) -> Result<Views, mirror::Error> {
        let view =
            |(scope, events): (&Scope, &ScopeEvents)| Ok((scope.clone(), Arc::new(events.view(rules)?)));
        self.scopes.iter().map(view).collect()
    }
}

/// The documented settings.
#[cfg(any(test, fuzzing))]
pub(crate) fn documented_rules() -> EventRules {
    use crate::domain::relation::{Fading, Pins};
    use crate::domain::trail::{Evaporation, Rates, Trails};
    let rates = Rates { exploitation: 0.02, exploration: 0.05, success: 0.01, traversal: 0.03, recency: 0.1 };
    EventRules {
        kinds: ebb_engine::graph::kinds::Kinds::default(),
        range: ebb_engine::graph::builder::WeightRange::default(),
        fading: Fading::new(90.0, 0.1).expect("the documented decay"),
        pins: Pins::default(),
        trails: Trails {
            evaporation: Evaporation::new(rates, 1e6).expect("the documented rates"),
            allowed: Allowed::new(&Allowed::LABELS, &Allowed::TYPES).expect("the documented names"),
            cycle_ms: 3_600_000,
            interval_cycles: 10,
            mirrored: Vec::new(),
        },
        mappings: Vec::new(),
    }
}

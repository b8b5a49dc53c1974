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
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::Kinds;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

pub use crate::mirror::from_events::ScopeEvents;

/// The events of a file.
#[derive(Debug, Default)]
pub struct FileEvents {
    /// Memories and relations by scope.
    pub scopes: BTreeMap<Scope, ScopeEvents>,
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
            match parse(text, number, reading)? {
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
    /// Of the engine, for more than a graph can hold.
    pub fn views(&self, kinds: &Kinds, range: WeightRange) -> Result<Views, mirror::Error> {
        let view = |(scope, events): (&Scope, &ScopeEvents)| {
            Ok((scope.clone(), Arc::new(events.view(kinds, range)?)))
        };
        self.scopes.iter().map(view).collect()
    }
}

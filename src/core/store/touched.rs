//! The keys that a transaction changes, recorded when it commits (see `change`).

use std::collections::BTreeSet;

/// More keys than these are left as "everything": reading so many one by one costs more than reading all.
const KEYS_MAX: usize = 50_000;

/// A node that changed, or of which some relationships did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Touched {
    pub label: String,
    /// Its scope; empty for what a change of before ids were unique in their scopes does not say.
    pub scope: String,
    /// Its `id`, of an entity its `name`.
    pub key: String,
    /// The type of the relationships that came, went or changed, either way; empty if the node itself did.
    pub kind: String,
}

/// The changes of a transaction so far.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether more changed than is named.
    pub(super) everything: bool,
    pub(super) touched: BTreeSet<Touched>,
    /// Who asked for it; nobody, where a job does it.
    pub(super) by: Option<String>,
}

impl Changes {
    /// Notes that a node changed, or with a `kind` that some of its relationships of that type did.
    pub(super) fn touch(&mut self, label: &str, scope: &str, key: &str, kind: &str) {
        if self.touched.len() >= KEYS_MAX {
            self.touch_everything();
        }
        if !self.everything {
            let [label, scope, key, kind] = [label, scope, key, kind].map(str::to_owned);
            self.touched.insert(Touched { label, scope, key, kind });
        }
    }

    /// Notes that more changed than can be named.
    pub(super) fn touch_everything(&mut self) {
        self.everything = true;
        self.touched.clear();
    }
}

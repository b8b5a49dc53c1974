//! Change records as a mirror reads them: what it has applied, and what its process has looked at.
//!
//! A record has the instant of its transaction, which is committed later: nearly always within [`RECENT_MS`], at the latest
//! within [`OVERLAP_MS`]. So what was just written is found by a short read; and a read that goes back as far as any
//! transaction may take, a *sweep*, finds the others.

use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use crate::store::{Change, ChangeToken, KEPT_MS, OVERLAP_MS};
use std::collections::{BTreeSet, HashMap};

/// How much later than its own instant a change is committed, except by a slow transaction.
pub(super) const RECENT_MS: i64 = 2_000;

/// How much a refresh reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Recent change records: what this or another process has just written.
    Recent,
    /// All records of which the transactions may have been committed since the last sweep, and rows of other libraries.
    All,
    /// The same, with a next generation in any case.
    Weighed,
}

/// What a mirror has applied, by the server's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Applied {
    /// The last read.
    pub(super) seen: Timestamp,
    /// The last sweep.
    pub(super) swept: Timestamp,
    /// The records of the scope of both and between, with their instants.
    records: HashMap<String, i64>,
}

impl Applied {
    /// After a sweep.
    pub(super) fn swept(seen: Timestamp, records: impl IntoIterator<Item = Change>) -> Self {
        let records = records.into_iter().map(|change| (change.id, change.at.millis())).collect();
        Self { seen, swept: seen, records }
    }

    /// As a file has it: after a sweep, with the ids of the records. Their instants are not needed before the next sweep.
    pub(super) fn restored(swept: Timestamp, records: impl IntoIterator<Item = String>) -> Self {
        let records = records.into_iter().map(|id| (id, swept.millis())).collect();
        Self { seen: swept, swept, records }
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &String> {
        self.records.keys()
    }

    /// The instant from which records are read.
    pub(super) fn since(&self, reading: Reading) -> Timestamp {
        let (from, back) = match reading {
            Reading::Recent => (self.seen, RECENT_MS),
            Reading::All | Reading::Weighed => (self.swept, OVERLAP_MS),
        };
        Timestamp::from_millis(from.millis() - back).unwrap_or(Timestamp::EPOCH)
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.records.contains_key(id)
    }

    /// Whether reads have gone on for so long without a sweep that the records are many.
    pub(super) const fn is_sweep_due(&self) -> bool {
        self.seen.millis() - self.swept.millis() > OVERLAP_MS
    }

    /// Whether a change of the scope is not applied. One before the records was.
    pub(super) fn lacks(&self, change: &Change) -> bool {
        change.at.millis() >= self.kept() && !self.has(&change.id)
    }

    /// Whether a write is applied. One without a record of its own is if a sweep has followed it.
    pub(super) fn includes(&self, change: &ChangeToken) -> bool {
        match &change.id {
            Some(id) => self.has(id) || change.at.millis() < self.kept(),
            None => change.at <= self.swept,
        }
    }

    /// After a further read.
    pub(super) fn next(
        &self,
        reading: Reading,
        seen: Timestamp,
        records: impl IntoIterator<Item = Change>,
    ) -> Self {
        let mut next = Self { seen, ..self.clone() };
        if reading != Reading::Recent {
            next.swept = seen;
        }
        next.records.extend(Self::swept(seen, records).records);
        let kept = next.kept();
        next.records.retain(|_, at| *at >= kept);
        next
    }

    /// The instant from which all records are kept; transactions of older ones had been committed by the last sweep.
    const fn kept(&self) -> i64 {
        self.swept.millis() - OVERLAP_MS
    }
}

/// Changes by the scope that they concern.
pub(super) struct ByScope<'c> {
    of: HashMap<&'c str, Vec<&'c Change>>,
    of_all: Vec<&'c Change>,
}

impl<'c> ByScope<'c> {
    pub(super) fn of(changes: &'c [Change]) -> Self {
        let (mut of, mut of_all) = (HashMap::<&str, Vec<&Change>>::new(), Vec::new());
        for change in changes {
            match change.scopes() {
                Some(scopes) => {
                    scopes.into_iter().for_each(|scope| of.entry(scope).or_default().push(change))
                }
                None => of_all.push(change),
            }
        }
        Self { of, of_all }
    }

    /// Those that concern a scope, in no order.
    pub(super) fn of_scope(&self, scope: &Scope) -> impl Iterator<Item = &'c Change> {
        self.naming(scope).chain(self.of_all.iter().copied())
    }

    /// Those that name a scope, in no order.
    pub(super) fn naming(&self, scope: &Scope) -> impl Iterator<Item = &'c Change> {
        self.of.get(scope.as_str()).into_iter().flatten().copied()
    }
}

/// Whether only a sweep can find a write, where records were looked at up to an instant.
pub(super) fn is_beyond_recent(change: &ChangeToken, checked: Timestamp) -> bool {
    change.id.is_none() || change.at.millis() < checked.millis() - RECENT_MS
}

/// Records that a process has looked at lately.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// With the scopes that they concern; `None`: all.
    records: HashMap<String, (i64, Option<BTreeSet<String>>)>,
    /// The last look; `None` before the first.
    pub(super) until: Option<Timestamp>,
    /// The instant of the latest record of the last look.
    newest: Option<Timestamp>,
}

/// The latest record of the last look. The database has it until a later one is older than [`KEPT_MS`], unless it was set back, as
/// by a dump.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witness {
    /// Its instant: looks go back as far. Of several at one instant, one stays.
    pub(super) at: Timestamp,
    /// The last look.
    looked: Timestamp,
}

impl Witness {
    /// Whether it is missing among the changes from its instant on, as of `now`.
    pub(super) fn is_missing(&self, now: Timestamp, changes: &[Change]) -> bool {
        now.millis() - self.looked.millis() < KEPT_MS - OVERLAP_MS
            && changes.iter().all(|change| change.at != self.at)
    }
}

impl Looked {
    /// Notes the changes of a look, which went back to the witness if there is one.
    pub(super) fn add(&mut self, changes: Vec<Change>, now: Timestamp) {
        self.newest = changes.iter().map(|change| change.at).max();
        for change in changes {
            let scopes = change.scopes().map(|scopes| scopes.into_iter().map(str::to_owned).collect());
            self.records.insert(change.id, (change.at.millis(), scopes));
        }
        self.until = Some(now);
        self.records.retain(|_, (at, _)| *at >= now.millis() - OVERLAP_MS);
    }

    /// The witness for a look at mirrors that were read from `since` on. None if the last look is long before that: there may be
    /// many records since, and the mirrors are of a later database.
    pub(super) fn witness(&self, since: Timestamp) -> Option<Witness> {
        let looked = self.until.filter(|until| until.millis() >= since.millis() - OVERLAP_MS)?;
        Some(Witness { at: self.newest?, looked })
    }

    /// Whether a write is known not to concern a scope.
    pub(super) fn spares(&self, change: &ChangeToken, scope: &Scope) -> bool {
        let known = change.id.as_ref().and_then(|id| self.records.get(id));
        known.is_some_and(|(_, scopes)| scopes.as_ref().is_some_and(|named| !named.contains(scope.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Touched;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + millis).unwrap()
    }

    fn change(id: &str, scope: &str, millis: i64) -> Change {
        let row = Touched {
            label: "Memory".to_owned(),
            scope: scope.to_owned(),
            key: "m".to_owned(),
            kind: String::new(),
        };
        Change { id: id.to_owned(), at: at(millis), everything: false, touched: vec![row] }
    }

    fn token(id: Option<&str>, millis: i64) -> ChangeToken {
        ChangeToken { id: id.map(str::to_owned), at: at(millis) }
    }

    #[test]
    fn a_change_that_is_committed_late_is_found_by_the_next_sweep_and_never_taken_for_applied() {
        let applied = Applied::swept(at(0), []);
        // Its instant is 1 s; it is committed 30 s later, after three short reads.
        let late = change("late", "one", 1_000);
        let applied = [2_000, 10_000, 25_000]
            .into_iter()
            .fold(applied, |applied, seen| applied.next(Reading::Recent, at(seen), []));
        assert!(!applied.includes(&token(Some("late"), 1_000)), "nor by its age");
        let is_beyond = |change| is_beyond_recent(&change, at(25_000));
        assert!(!applied.includes(&token(None, 26_000)) && is_beyond(token(None, 26_000)));
        assert!(is_beyond(token(Some("late"), 1_000)) && !is_beyond(token(Some("new"), 24_000)));
        assert!(applied.lacks(&late));
        assert!(applied.since(Reading::Recent) > late.at && applied.since(Reading::All) <= late.at);
        let applied = applied.next(Reading::All, at(31_000), [late.clone()]);
        assert!(applied.includes(&token(Some("late"), 1_000)) && applied.includes(&token(None, 31_000)));
        assert!(!applied.lacks(&late));
        // Its id is forgotten once no transaction of its time can be open.
        let applied = applied.next(Reading::All, at(31_000 + OVERLAP_MS), []);
        assert!(!applied.has("late") && applied.includes(&token(Some("late"), 1_000)));
        assert!(!applied.lacks(&late));
    }

    #[test]
    fn records_are_kept_from_one_sweep_to_the_next() {
        let applied = Applied::swept(at(0), [change("a", "one", -1_000)]);
        let applied = applied.next(Reading::Recent, at(OVERLAP_MS), [change("b", "one", 30_000)]);
        assert!(applied.has("a") && applied.has("b") && !applied.is_sweep_due());
        let applied = applied.next(Reading::Recent, at(OVERLAP_MS + 1), []);
        assert!(applied.is_sweep_due());
        assert_eq!(Applied::restored(at(5), ["a".to_owned()]).ids().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_database_without_the_latest_record_was_set_back() {
        let mut looked = Looked::default();
        assert!(looked.witness(at(0)).is_none());
        looked.add(vec![change("a", "one", 1), change("c", "one", 3), change("b", "one", 2)], at(4));
        let witness = looked.witness(at(4)).unwrap();
        assert_eq!(witness.at, at(3));
        assert!(!witness.is_missing(at(10), &[change("c", "one", 3), change("d", "one", 9)]));
        assert!(witness.is_missing(at(10), &[change("d", "one", 4)]) && witness.is_missing(at(10), &[]));
        assert!(!witness.is_missing(at(KEPT_MS), &[]), "it may have been trimmed by then");
        assert!(looked.witness(at(5 + OVERLAP_MS)).is_none(), "mirrors that were read later");
        looked.add(Vec::new(), at(KEPT_MS));
        assert!(looked.witness(at(KEPT_MS)).is_none());
    }

    #[test]
    fn a_change_of_another_scope_is_none_of_a_scope() {
        let [one, other] = ["one", "other"].map(|name| Scope::try_from(name.to_owned()).unwrap());
        let everything = Change { everything: true, ..change("all", "one", 1) };
        let changes = [change("a", "one", 1), change("any", "", 1), everything.clone()];
        let by_scope = ByScope::of(&changes);
        let of = |scope| by_scope.of_scope(scope).map(|change| change.id.as_str()).collect::<Vec<_>>();
        assert_eq!((of(&one), of(&other)), (vec!["a", "any", "all"], vec!["any", "all"]));
        let mut looked = Looked::default();
        looked.add(vec![change("a", "one", 1), change("any", "", 1), everything], at(2));
        let spares = |id, scope| looked.spares(&token(Some(id), 1), scope);
        assert!(spares("a", &other) && !spares("a", &one));
        assert!(!spares("any", &other) && !spares("all", &other) && !spares("unknown", &other));
        looked.add(Vec::new(), at(2 + OVERLAP_MS));
        assert!(!looked.spares(&token(Some("a"), 1), &other), "it is known for as long as a reader may wait");
    }
}

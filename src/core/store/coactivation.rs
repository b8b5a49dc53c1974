//! Coactivation: counts waiting sessions, a page of pairs in one transaction with the flags of counted members.
//!
//! A transaction locks the memories of its sessions in the order of the keys, then the sessions, and reads again:
//! members that another program added meanwhile are counted later, since the session stays in the queue.

use super::Store;
use super::catalogue::{
    COACTIVATION_ACCESSED, COACTIVATION_COUNT, COACTIVATION_DUE, COACTIVATION_FIND, COACTIVATION_KNOWN,
    COACTIVATION_RAISE, COACTIVATION_UNSEEN, SESSION_QUARANTINE,
};
use super::encode::{list, slices};
use super::error::Error;
use super::memory::lock;
use super::run::Run;
use super::tally::Tally;
use super::tx::Tx;
use crate::domain::coactivation::{MEMBERS_MAX, Member, Step, step};
use crate::domain::ids::MemoryKey;
use crate::domain::tunables::Tunables;
use crate::domain::units::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of one transaction: about a quarter of a second.
const PAIRS_MAX: usize = 5_000;
/// Accesses of one session that are flagged in one transaction beyond those that count.
const MARKS_MAX: i64 = 10_000;

/// A session that waits for coactivation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WaitingSession {
    scope: String,
    id: String,
    members: Vec<String>,
    all: i64,
}

impl WaitingSession {
    /// Upper bound of its pairs.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.members.len() * self.members.len().saturating_sub(1) / 2
    }
}

#[derive(Deserialize)]
struct AccessedRow {
    session: usize,
    memory: Vec<String>,
    at: Vec<i64>,
    counted: Vec<bool>,
    all: i64,
}

/// Increase of a pair in one transaction.
struct Gain {
    count: i64,
    first: Timestamp,
    last: Timestamp,
}

impl Store {
    /// Sessions that wait for coactivation at `now`, the longest-waiting first.
    pub async fn sessions_waiting(&self, now: Timestamp, limit: usize) -> Result<Vec<WaitingSession>, Error> {
        let call = COACTIVATION_DUE
            .call()
            .set("now", now.millis())
            .set("most", members_max())
            .set("limit", i64::try_from(limit).unwrap_or(i64::MAX));
        self.read(call).await
    }

    /// Counts sessions, as a batch of `run`: each completely, except perhaps the first, if it has more pairs than one
    /// transaction takes. Returns the counts.
    pub async fn coactivate(
        &self,
        run: &mut Run,
        tunables: &Tunables,
        sessions: &[WaitingSession],
    ) -> Result<Tally, Error> {
        let now = run.now;
        // The rest of a session is left to a later batch, which sees this one.
        let most = if run.is_dry() { usize::MAX } else { PAIRS_MAX };
        let body = async |tx: &mut Tx| count(tx, now, tunables, sessions, most).await;
        self.in_run(run, "coactivation.count", body).await
    }

    /// Quarantines a session that cannot be counted, as a batch of `run`.
    pub async fn quarantine_session(
        &self,
        run: &mut Run,
        session: &WaitingSession,
        why: &Error,
    ) -> Result<Tally, Error> {
        self.in_run(run, "coactivation.quarantine", async |tx: &mut Tx| {
            let call = SESSION_QUARANTINE
                .call()
                .set("scope", session.scope.as_str())
                .set("id", session.id.as_str())
                .set("reason", why.quarantine_reason());
            tx.run(call).await?;
            Ok(Tally { scanned: 1, quarantined: 1, ..Tally::default() })
        })
        .await
    }

    /// Whether there are accesses in sessions that were not written by Ebb.
    pub async fn unseen_accesses(&self) -> Result<bool, Error> {
        let unseen: i64 = self.read_one(COACTIVATION_UNSEEN.call()).await?;
        Ok(unseen != 0)
    }

    /// Scans all sessions for accesses of other writers, a page in one batch of `run`, and queues those with any.
    pub async fn find_accesses(&self, run: &mut Run) -> Result<(), Error> {
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Page {
            sessions: i64,
            known: i64,
            last_id: Option<String>,
            last_scope: Option<String>,
        }
        const PAGE: i64 = 5_000;
        let (now, mut limit) = (run.now, PAGE);
        let (mut after, mut known) = ((String::new(), String::new()), 0);
        loop {
            let find = self.in_run(run, "coactivation.find", async |tx: &mut Tx| {
                let call = COACTIVATION_FIND
                    .call()
                    .set("afterId", after.0.as_str())
                    .set("afterScope", after.1.as_str())
                    .set("now", now.millis())
                    .set("limit", limit);
                let row: Page = tx.only(call).await?;
                if row.sessions < limit {
                    let call = COACTIVATION_KNOWN.call().set("accesses", known + row.known);
                    tx.run(call).await?;
                }
                Ok((Tally::default(), row))
            });
            let page = match find.await {
                Ok((_, page)) => page,
                // All accesses of the sessions of a page are read at once.
                Err(why) if why.is_too_big() && limit > 1 => {
                    limit /= 2;
                    continue;
                }
                Err(why) => return Err(why),
            };
            known += page.known;
            match (page.last_id, page.last_scope) {
                (Some(id), Some(scope)) if page.sessions == limit => after = (id, scope),
                _ => return Ok(()),
            }
        }
    }
}

fn members_max() -> i64 {
    // One more than the limit, to detect that there are more.
    i64::try_from(MEMBERS_MAX + 1).unwrap_or(i64::MAX)
}

impl AccessedRow {
    /// Members that count, and of these only those that are locked in the scope of the session.
    fn members(&self, locked: Option<&BTreeSet<(&str, &str)>>, scope: &str) -> Vec<Member<'_>> {
        let each = self.memory.iter().zip(&self.at).zip(&self.counted).take(MEMBERS_MAX);
        each.filter(|((id, _), _)| locked.is_none_or(|locked| locked.contains(&(scope, id.as_str()))))
            .map(|((id, at), counted)| Member {
                id,
                at: Timestamp::from_millis(*at).ok().filter(|at| *at > Timestamp::FIRST),
                counted: *counted,
            })
            .collect()
    }
}

async fn read_accesses(tx: &mut Tx, sessions: &[WaitingSession]) -> Result<Vec<AccessedRow>, Error> {
    let call = COACTIVATION_ACCESSED
        .call()
        .set("scope", list(sessions.iter().map(|session| session.scope.as_str())))
        .set("id", list(sessions.iter().map(|session| session.id.as_str())))
        .set("most", members_max());
    tx.rows(call).await
}

async fn count(
    tx: &mut Tx,
    now: Timestamp,
    tunables: &Tunables,
    waits: &[WaitingSession],
    pairs_max: usize,
) -> Result<Tally, Error> {
    let keys: BTreeSet<MemoryKey> = waits
        .iter()
        .flat_map(|session| session.members.iter().map(|id| MemoryKey::of_row(&session.scope, id)))
        .collect();
    let wanted: Vec<(&MemoryKey, Option<&str>)> = keys.iter().map(|key| (key, None)).collect();
    let found = lock(tx, &wanted).await?;
    let locked: BTreeSet<(&str, &str)> = found.iter().map(|(key, _)| (key.scope(), key.id())).collect();
    let mut sessions: Vec<WaitingSession> = waits.to_vec();
    sessions.sort_by(|a, b| (&a.scope, &a.id).cmp(&(&b.scope, &b.id)));
    let rows = read_accesses(tx, &sessions).await?;

    let mut tally = Tally::default();
    let mut gains: BTreeMap<(&str, &str, &str), Gain> = BTreeMap::new();
    let mut steps: Vec<(&AccessedRow, Step<'_>, bool)> = Vec::new();
    for row in &rows {
        let Some(scope) = sessions.get(row.session).map(|session| session.scope.as_str()) else { continue };
        let members = row.members(Some(&locked), scope);
        let step = step(&members, pairs_max);
        for pair in &step.pairs {
            let at = pair.at.unwrap_or(now);
            let gain = gains.entry((scope, pair.a, pair.b)).or_insert(Gain { count: 0, first: at, last: at });
            gain.count += 1;
            gain.first = gain.first.min(at);
            gain.last = gain.last.max(at);
        }
        // A member that joined while this transaction waited for its locks is counted by the next one.
        let all_locked = members.len() == row.memory.len().min(MEMBERS_MAX);
        let done = step.complete && all_locked;
        tally.changed += i64::try_from(step.pairs.len()).unwrap_or(i64::MAX);
        tally.scanned += i64::from(done);
        tally.cut += i64::from(done && row.memory.len() > MEMBERS_MAX);
        steps.push((row, step, done));
    }
    raise(tx, now, tunables, &gains.into_iter().collect::<Vec<_>>()).await?;
    for (row, step, done) in steps {
        let Some(session) = sessions.get(row.session) else { continue };
        let call = COACTIVATION_COUNT
            .call()
            .set("scope", list([session.scope.as_str()]))
            .set("id", list([session.id.as_str()]))
            .set("memory", list([list(step.counted.iter().copied())]))
            .set("done", list([done]))
            .set("all", list([row.all]))
            .set("limit", MARKS_MAX);
        tx.run(call).await?;
    }
    Ok(tally)
}

async fn raise(
    tx: &mut Tx,
    now: Timestamp,
    tunables: &Tunables,
    gains: &[((&str, &str, &str), Gain)],
) -> Result<(), Error> {
    gains.iter().for_each(|((scope, a, _), _)| tx.touch("Memory", scope, a, "COACTIVATED"));
    let bytes = |((scope, a, b), _): &((&str, &str, &str), Gain)| scope.len() + a.len() + b.len() + 28;
    for slice in slices(&COACTIVATION_RAISE, gains, bytes) {
        let call = COACTIVATION_RAISE
            .call()
            .set("scope", list(slice.iter().map(|((scope, ..), _)| *scope)))
            .set("a", list(slice.iter().map(|((_, a, _), _)| *a)))
            .set("b", list(slice.iter().map(|((.., b), _)| *b)))
            .set("gain", list(slice.iter().map(|(_, gain)| gain.count)))
            .set("first", list(slice.iter().map(|(_, gain)| gain.first.millis())))
            .set("last", list(slice.iter().map(|(_, gain)| gain.last.millis())))
            .set("threshold", tunables.config().coactivation_threshold)
            .set("now", now.millis());
        tx.run(call).await?;
    }
    Ok(())
}

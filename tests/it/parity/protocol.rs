//! The protocol's statements, against the state machine that they are written after.
//!
//! Every statement that decides by a run's or an attempt's own record is asked in every state, for every holder, fence
//! and lease; the row it answers and the node it leaves are compared with what `domain::attempt` says.

use crate::harness::neo4j::{Fresh, fresh};
use ebb_core::domain::attempt::{
    AttemptEvent, AttemptRecord, AttemptState, FOREIGN_LEASE_MS, Right, RunEvent, RunRecord, RunState,
};
use ebb_core::store::catalogue;
use ebb_core::store::statement::Statement;
use neo4rs::{BoltType, query};
use serde::Deserialize;

const LEASE_MS: i64 = 60_000;
const HOUR_MS: i64 = 3_600_000;

#[derive(Debug, Deserialize)]
struct WrittenRow {
    state: Option<String>,
    holder: Option<String>,
    lease: Option<i64>,
    fence: Option<i64>,
    #[serde(rename = "serverNow")]
    server_now: i64,
}

/// Makes a node, asks the statement, and says whether it answered a row and what it left; all is taken back.
async fn ask(
    db: &Fresh,
    make: &str,
    statement: &Statement,
    params: &[(&str, BoltType)],
) -> (i64, bool, WrittenRow) {
    let mut tx = db.client.begin().await;
    let mut made = tx.execute(query(make)).await.unwrap();
    let before: i64 = made.next(tx.handle()).await.unwrap().unwrap().get("serverNow").unwrap();
    drop(made);
    let call =
        params.iter().fold(query(statement.body()), |call, (name, value)| call.param(name, value.clone()));
    let mut rows = tx.execute(call).await.unwrap();
    let mut answered = false;
    while rows.next(tx.handle()).await.unwrap().is_some() {
        answered = true;
    }
    drop(rows);
    let look = "MATCH (n) WHERE n:EbbRun OR n:ConsolidationAttempt \
                RETURN n.state AS state, n.holder AS holder, n.leaseUntil AS lease, n.fence AS fence, \
                datetime.realtime().epochMillis AS serverNow";
    let mut left = tx.execute(query(look)).await.unwrap();
    let left = left.next(tx.handle()).await.unwrap().unwrap().to().unwrap();
    tx.rollback().await.unwrap();
    (before, answered, left)
}

fn quoted(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), |text| format!("'{text}'"))
}

/// A lease that was given while the statement ran, or the one that was there.
fn lease_fits(found: i64, said: i64, (before, after): (i64, i64), given: i64) -> bool {
    found == said || (said == i64::MAX && (before + given..=after + given).contains(&found))
}

#[tokio::test(flavor = "multi_thread")]
async fn runs() {
    let db = fresh().await;
    let mut cases = 0;
    for state in [RunState::Open, RunState::Done, RunState::Guarded, RunState::Failed] {
        for holder in [None, Some("me"), Some("other")] {
            for lease in [-HOUR_MS, HOUR_MS] {
                for asked in [6_i64, 7, 8] {
                    let take = |right| (&catalogue::RUN_TAKE, RunEvent::Take { me: "me", right });
                    let asks: [(&Statement, RunEvent<'_>); 5] = [
                        take(Right::Lease),
                        take(Right::Scratch),
                        (&catalogue::RUN_GUARD, RunEvent::Guard { me: "me", fence: asked }),
                        (
                            &catalogue::RUN_CLOSE,
                            RunEvent::Close { me: "me", fence: asked, state: RunState::Done },
                        ),
                        (
                            &catalogue::RUN_CLOSE,
                            RunEvent::Close { me: "me", fence: asked, state: RunState::Failed },
                        ),
                    ];
                    for (statement, event) in asks {
                        let make = format!(
                            "WITH datetime.realtime().epochMillis AS serverNow CREATE (:EbbRun {{job: 'j', \
                             occurrence: 'o', id: 'r', now: datetime(), state: '{}', holder: {}, fence: 7, \
                             batch: 3, leaseUntil: serverNow + {lease}}}) RETURN serverNow",
                            state.name(),
                            quoted(holder)
                        );
                        let end = match event {
                            RunEvent::Close { state, .. } => state.name(),
                            _ => "",
                        };
                        let any = matches!(event, RunEvent::Take { right: Right::Scratch, .. });
                        let params: [(&str, BoltType); 10] = [
                            ("job", "j".into()),
                            ("occurrence", "o".into()),
                            ("holder", "me".into()),
                            ("own", "me".into()),
                            ("anyLease", any.into()),
                            ("fence", asked.into()),
                            ("leaseMs", LEASE_MS.into()),
                            ("state", end.into()),
                            ("truncated", false.into()),
                            ("reason", None::<&str>.into()),
                        ];
                        let (before, answered, left) = ask(&db, &make, statement, &params).await;
                        let record = RunRecord {
                            state,
                            holder: holder.map(str::to_owned),
                            fence: 7,
                            lease_until: before + lease,
                            batch: 3,
                        };
                        // A lease given now is told from the one that was there by its being out of range. Whether one has
                        // expired is asked at the instant of the node; an hour lies between the two.
                        let said = record.step(event, before, LEASE_MS);
                        let said = said.and_then(|_| record.step(event, i64::MAX, LEASE_MS));
                        let context = format!("{} on {record:?} by {event:?}: {left:?}", statement.name);
                        assert_eq!(answered, said.is_ok(), "{context}");
                        let said = said.unwrap_or(record);
                        assert_eq!(left.state.as_deref(), Some(said.state.name()), "{context}");
                        assert_eq!(left.holder, said.holder, "{context}");
                        assert_eq!(left.fence, Some(said.fence), "{context}");
                        let times = (before, left.server_now);
                        let found = left.lease.unwrap_or(0);
                        assert!(lease_fits(found, said.lease_until, times, LEASE_MS), "{context}");
                        cases += 1;
                    }
                }
            }
        }
    }
    println!("{cases} cases of runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts() {
    use AttemptState::{Aborted, Claimed, Done, Expired, Planned};
    let db = fresh().await;
    let mut cases = 0;
    for state in [None, Some(Planned), Some(Claimed), Some(Done), Some(Aborted), Some(Expired)] {
        for holder in [None, Some("me"), Some("other")] {
            for lease in [-HOUR_MS, HOUR_MS] {
                let finish = |state| (&catalogue::ATTEMPT_FINISH, AttemptEvent::Finish { state });
                let reap = |right| (&catalogue::ATTEMPT_REAP, AttemptEvent::Reap { right });
                let asks: [(&Statement, AttemptEvent<'_>); 8] = [
                    (&catalogue::ATTEMPT_CLAIM, AttemptEvent::Claim { me: "me" }),
                    (&catalogue::ATTEMPT_GUARD, AttemptEvent::Guard { me: "me" }),
                    finish(Claimed),
                    finish(Done),
                    finish(Aborted),
                    reap(Right::Lease),
                    reap(Right::Scratch),
                    (&catalogue::ATTEMPT_ADOPT, AttemptEvent::Adopt { instance: "theirs" }),
                ];
                for (statement, event) in asks {
                    let make = format!(
                        "WITH datetime.realtime().epochMillis AS serverNow CREATE (a:ConsolidationAttempt \
                         {{id: 'a', instanceId: 'theirs', state: {}, holder: {}, leaseUntil: serverNow + {lease}}}) \
                         RETURN serverNow",
                        quoted(state.map(AttemptState::name)),
                        quoted(holder)
                    );
                    let (end, any) = match event {
                        AttemptEvent::Finish { state } => (state.name(), false),
                        AttemptEvent::Reap { right } => ("", right == Right::Scratch),
                        _ => ("", false),
                    };
                    let by_element = matches!(event, AttemptEvent::Adopt { .. });
                    let statement = if by_element {
                        // The element id of a node that is made in the same transaction is not known beforehand.
                        &Statement {
                            name: statement.name,
                            file: Box::leak(
                                statement.body().replace("elementId(a) = $attempt", "true").into_boxed_str(),
                            ),
                        }
                    } else {
                        statement
                    };
                    let params: [(&str, BoltType); 9] = [
                        ("id", "a".into()),
                        ("holder", "me".into()),
                        ("now", 0_i64.into()),
                        ("limit", 10_i64.into()),
                        ("leaseMs", if by_element { FOREIGN_LEASE_MS } else { LEASE_MS }.into()),
                        ("state", end.into()),
                        ("applied", 0_i64.into()),
                        ("anyLease", any.into()),
                        ("attempt", "".into()),
                    ];
                    let (before, answered, left) = ask(&db, &make, statement, &params).await;
                    let record = AttemptRecord {
                        state,
                        holder: holder.map(str::to_owned),
                        lease_until: before + lease,
                    };
                    // The statement reads the clock after the node was made; an hour lies between the two leases.
                    let said = match event {
                        AttemptEvent::Reap { .. } => record.step(event, before, LEASE_MS),
                        _ => record.step(event, i64::MAX, LEASE_MS),
                    };
                    let context = format!("{} on {record:?} by {event:?}: {left:?}", statement.name);
                    assert_eq!(answered, said.is_ok(), "{context}");
                    let said = said.unwrap_or(record);
                    assert_eq!(left.state.as_deref(), said.state.map(AttemptState::name), "{context}");
                    assert_eq!(left.holder, said.holder, "{context}");
                    let given = if by_element { FOREIGN_LEASE_MS } else { LEASE_MS };
                    let times = (before, left.server_now);
                    assert!(lease_fits(left.lease.unwrap_or(0), said.lease_until, times, given), "{context}");
                    cases += 1;
                }
            }
        }
    }
    println!("{cases} cases of attempts");
}

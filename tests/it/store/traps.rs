//! What the store relies on of driver and server, each shown on its own: an upgrade of either that changes one of these
//! fails here, and not in a lost memory.

use crate::harness::neo4j::{fresh, run, touch};
use crate::harness::rows::row;
use neo4rs::{BoltType, Error, query};
use std::time::Duration;

fn code(why: &Error) -> &str {
    match why {
        Error::Neo4j(why) => why.code(),
        _ => "",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discarded_result_is_never_evaluated() {
    let db = fresh().await;
    let mut tx = db.client.begin().await;
    tx.run(query("RETURN 1 / 0 AS n")).await.expect("nobody asked for the value");
    tx.rollback().await.unwrap();
    let mut tx = db.client.begin().await;
    assert!(run(&mut tx, "RETURN 1 / 0 AS n").await.is_err(), "a drained one is evaluated");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_are_read_as_what_they_are() {
    let db = fresh().await;
    let mut tx = db.client.begin().await;
    let text = "RETURN 1 AS whole, toFloat(1) AS float, null AS nothing, 0.0 / 0.0 AS nan, 1.0 / 0.0 AS inf, [1.0, 2] AS mixed";
    let mut rows = tx.execute(query(text)).await.unwrap();
    let row = rows.next(tx.handle()).await.unwrap().unwrap();
    assert!(row.get::<f64>("whole").is_err(), "a whole number is no float: toFloat in every RETURN");
    assert!((row.get::<f64>("float").unwrap() - 1.0).abs() < f64::EPSILON);
    assert!(row.get::<i64>("float").is_err());
    assert!(row.get::<f64>("nothing").is_err());
    assert_eq!(row.get::<Option<f64>>("nothing").unwrap(), None);
    assert!(row.get::<Option<f64>>("absent").is_err(), "a column that is not there is no null");
    assert!(row.get::<f64>("nan").unwrap().is_nan());
    assert!(row.get::<f64>("inf").unwrap().is_infinite());
    assert!(row.get::<Vec<f64>>("mixed").is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn instants_cross_as_milliseconds_and_zones_are_kept() {
    let db = fresh().await;
    let text =
        "WITH datetime({epochMillis: $ms, timezone: 'Europe/Berlin'}) AS at RETURN at, at.epochMillis AS ms";
    let ms = 1_767_225_600_123_i64;
    let mut tx = db.client.begin().await;
    let mut rows = tx.execute(query(text).param("ms", ms)).await.unwrap();
    let row = rows.next(tx.handle()).await.unwrap().unwrap();
    assert_eq!(row.get::<i64>("ms").unwrap(), ms);
    assert!(
        matches!(row.get::<BoltType>("at").unwrap(), BoltType::DateTimeZoneId(at) if at.tz_id() == "Europe/Berlin")
    );
    tx.rollback().await.unwrap();
    let mut tx = db.client.begin().await;
    let mut rows =
        tx.execute(query("RETURN datetime({epochMillis: $ms}) AS at").param("ms", ms)).await.unwrap();
    let row = rows.next(tx.handle()).await.unwrap().unwrap();
    assert_eq!(row.get::<i64>("at").unwrap(), ms * 1_000_000, "read as a number it is nanoseconds, silently");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_frees_the_locks_and_so_does_a_failed_statement() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    let mut first = db.client.begin().await;
    touch(&mut first, "m").await.unwrap();
    first.rollback().await.unwrap();

    let mut second = db.client.begin().await;
    touch(&mut second, "m").await.expect("free after a rollback");
    let why = run(&mut second, "RETURN 1 / 0 AS n").await.unwrap_err();
    assert_eq!(code(&why), "Neo.ClientError.Statement.ArithmeticError");

    let mut third = db.client.begin().await;
    touch(&mut third, "m").await.expect("free after a failed statement");
    third.rollback().await.unwrap();
    // What follows on a failed transaction is ignored by the server, and is no error of its own.
    assert_eq!(code(&touch(&mut second, "m").await.unwrap_err()), "Neo.ServerError.Ignored");
    assert_eq!(code(&second.commit().await.unwrap_err()), "Neo.ServerError.Ignored");
    assert_eq!(db.client.value::<i64>("MATCH (m {touched: true}) RETURN count(m) AS n").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_spoils_its_transaction_and_no_other() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    let mut holder = db.client.begin().await;
    touch(&mut holder, "m").await.unwrap();
    let mut waiting = db.client.begin().await;
    {
        let wait = touch(&mut waiting, "m");
        tokio::pin!(wait);
        tokio::select! {
            done = &mut wait => panic!("it is locked: {done:?}"),
            () = db.somebody_waits() => {}
        }
    }
    assert!(waiting.rollback().await.is_err(), "the answer of the cancelled call is still to come");
    holder.rollback().await.unwrap();
    // Its connection lies in the pool with the lock; whoever checks it out next gets another in its place.
    let idle = [db.client.begin().await, db.client.begin().await, db.client.begin().await];
    let mut next = db.client.begin().await;
    let touched = tokio::time::timeout(Duration::from_secs(5), touch(&mut next, "m")).await;
    touched.expect("the cancelled one has gone").unwrap();
    next.rollback().await.unwrap();
    for other in idle {
        other.rollback().await.unwrap();
    }
}

/// Reads are only read-committed: a condition that was true before the lock may be false after it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_looked_at_after_the_lock_is_what_was_committed() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    let look_first = "MATCH (m:Memory {id: 'm'}) WHERE m.tier = 'working' SET m.seen = 'stale' RETURN m.id";
    let lock_first = "MATCH (m:Memory {id: 'm'}) SET m.ebbLock = true WITH m WHERE m.tier = 'working' \
                      SET m.seen = 'fresh' RETURN m.id";
    for (text, rows) in [(look_first, 1), (lock_first, 0)] {
        db.client.run("MATCH (m {id: 'm'}) SET m.tier = 'working'", &[]).await;
        let mut other = db.client.begin().await;
        run(&mut other, "MATCH (m:Memory {id: 'm'}) SET m.tier = 'shortTerm' RETURN m.id").await.unwrap();
        let mut ours = db.client.begin().await;
        let (found, ()) = tokio::join!(run(&mut ours, text), async {
            db.somebody_waits().await;
            other.commit().await.unwrap();
        });
        assert_eq!(found.unwrap(), rows, "{text}");
        ours.rollback().await.unwrap();
    }
}

/// The clock of a statement stands still while it waits for a lock; the real one, read after the lock, does not.
#[tokio::test(flavor = "multi_thread")]
async fn the_realtime_clock_is_read_after_the_wait() {
    let db = fresh().await;
    db.put(&[row("m", "working", 1.0)]).await;
    let mut other = db.client.begin().await;
    touch(&mut other, "m").await.unwrap();
    let text = "MATCH (m:Memory {id: 'm'}) SET m.ebbLock = true \
                WITH m, datetime.realtime().epochMillis AS real, datetime.statement().epochMillis AS stated \
                RETURN real AS real, stated AS stated";
    let mut ours = db.client.begin().await;
    let (row, released) = tokio::join!(
        async {
            let mut rows = ours.execute(query(text)).await.unwrap();
            rows.next(ours.handle()).await.unwrap().unwrap()
        },
        async {
            db.somebody_waits().await;
            let released: i64 = db.client.value("RETURN datetime.realtime().epochMillis AS now").await;
            other.rollback().await.unwrap();
            released
        }
    );
    let (real, stated): (i64, i64) = (row.get("real").unwrap(), row.get("stated").unwrap());
    assert!(stated <= released && released <= real, "{stated} {released} {real}");
    ours.rollback().await.unwrap();
}

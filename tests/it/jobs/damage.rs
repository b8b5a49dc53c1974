//! Every value of every type in every property of Ebb's own rows: what reads one of many leaves it out, and what rests on one
//! alone names it and says how to mend it, while everything else goes on.

use super::poison::{asked, leave, names};
use crate::harness::neo4j::{Fresh, START, at, fresh};
use crate::harness::rows::row;
use ebb_core::domain::attempt::Right;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::units::Timestamp;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, run_job};

/// Labels with their sound properties, the key (which each row has its own of) left to the generator, and what joins a row to
/// others.
const OWN: [(&str, &str, &str, &str); 13] = [
    (
        "EbbRun",
        "occurrence",
        "job: 'decay', id: name, trigger: 'schedule', state: 'done', now: at, started: at, finished: at, holder: 'h', leaseUntil: 0, fence: 1, batch: 1, truncated: false, reason: 'r', scanned: 1, changed: 1",
        "",
    ),
    (
        "EbbSweepJob",
        "id",
        "scope: 'local', mode: 'retract', policy: 'p', accepted: 1, now: at, heads: 1, state: 'done', reason: 'r', cursor: '', live: 0, evaluated: 0, retracted: 0, reduced: 0, wouldRetract: 0, wouldReduce: 0, matched: ['a'], answered: 'retract', applied: 0",
        "",
    ),
    ("EbbImport", "key", "name: 'f', lines: 1, digest: '', at: at", ""),
    (
        "EbbKey",
        "id",
        "name: 'k', hash: 'h', rights: 'read', scopes: ['local'], created: at, expires: at, revoked: at",
        "",
    ),
    (
        "EbbSynapse",
        "key",
        "scope: 'local', source: 'good1', relation: 'MENTIONS', target: 'good', base: 0.5, delta: 0.1, perm: 0.0, strengthened: 1, weakened: 0, ltp: false, ltd: false, tick: 1",
        "",
    ),
    (
        "EbbChange",
        "by",
        "at: datetime.realtime(), everything: false, labels: ['Memory'], scopes: ['local'], keys: ['good1'], kinds: ['']",
        "",
    ),
    (
        "EbbRequest",
        "id",
        "hash: 'h', by: 'b', seed: 's', at: at, waits: 'local', active: ['good1'], reward: 1.0, answer: '{}'",
        "",
    ),
    (
        "EbbLineage",
        "key",
        "scope: 'local', relation: 'likes'",
        "CREATE (n)-[:HEAD]->(:Fact:EbbFact {id: name, scope: 'local', entity: 'good', relation: 'likes', value: 'tea', confidence: 1.0, source: 'agent', assertedAt: at})",
    ),
    ("EbbTombstone", "hash", "at: at", ""),
    (
        "EbbCounter",
        "name",
        "scope: 'local', process: 'p', seen: at, generation: 1, nodes: 1, slots: 1, bytes: 1, tick: 1, learned: 1, whole: true, heldShare: 1.0, refreshMs: 1, staleMs: 1",
        "SET n.name = 'mirror:' + name",
    ),
    (
        "EbbSettings",
        "name",
        "layout: 1, relationHalfLifeMs: 1.0, relationMinimum: 0.1, learnedKept: 0.995, by: 'p', version: '0', at: at",
        "SET n.name = 'default'",
    ),
    ("EbbScratch", "name", "now: at, lock: true, work: 'w'", ""),
    (
        "EbbErasure",
        "open",
        "id: name, scope: name, by: 'b', requests: ['q'], at: at, labels: ['EbbMemory'], counts: [1], emptied: 0, finished: at, lock: true",
        "",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn no_value_in_a_row_of_ebbs_own_stops_anybody() {
    let db = fresh().await;
    db.put(&(1..=20).map(|n| row(&format!("good{n}"), "working", 4.0)).collect::<Vec<_>>()).await;
    db.client
        .run("CREATE (:Entity {scope: 'local', name: 'good'}), (:Room {scope: 'local', id: 'good'})", &[])
        .await;
    let mut made = 0;
    for (label, key, sound, joined) in OWN {
        for property in names(sound) {
            let create = format!("CREATE (n:{label} {{{key}: name, {sound}}}) SET n[$property] = v {joined}");
            made += leave(&db, label, property, &create).await;
        }
        let create = format!("CREATE (n:{label} {{{sound}}}) SET n[$property] = v");
        made += leave(&db, label, key, &create).await;
    }
    eprintln!("{made} rows");
    db.drop_plans().await;
    let mut failed = Vec::new();
    for hours in [6.0, 30.0] {
        for job in JobName::ALL {
            failed.extend(ran(&db, job, hours).await);
        }
    }
    failed.extend(Box::pin(asked(&db, at(30.0))).await);
    failed.extend(deleted(&db).await);
    assert_eq!(failed, [""; 0]);
    let faded: i64 = db
        .client
        .value("MATCH (m:Memory) WHERE m.energy < 4.0 AND NOT m:EbbQuarantined RETURN count(m) AS n")
        .await;
    assert_eq!(faded, 20);
}

/// Continues the deletions whose receipts are open, some of them to their end; answers how that failed, if it did.
async fn deleted(db: &Fresh) -> Vec<String> {
    let open = "MATCH (e:EbbErasure) WHERE e.open >= '' RETURN e.open AS scope ORDER BY scope";
    let open: Vec<String> = db.client.column(open).await;
    assert!(open.len() > 400, "{}", open.len());
    let mut failed = Vec::new();
    for (place, name) in open.iter().enumerate() {
        let Ok(scope) = Scope::new(name) else { continue };
        let why = match place % 40 {
            0 => db.store.erase(&scope, "test", "again").await.err(),
            _ => db.store.open_erasure(&scope, "test", "again").await.err(),
        };
        failed.extend(why.map(|why| format!("deletion of {name:?}: {why}")));
        failed
            .extend(db.store.erasures(&scope).await.err().map(|why| format!("receipts of {name:?}: {why}")));
    }
    failed
}

/// Runs a job; answers how it failed, if it did.
async fn ran(db: &Fresh, job: JobName, hours: f64) -> Option<String> {
    let wanted = Wanted::by_hand(at(hours), Right::Lease);
    let ran = run_job(&db.store, job, &wanted, Request::default()).await;
    ran.err().map(|why| format!("{job}: {why}"))
}

/// The answers that rest on one node, or on few.
async fn answered(db: &Fresh, now: Timestamp) -> Vec<String> {
    let service = db.service("[]");
    let local = Scope::local();
    let failed = [
        ("status", service.status(now).await.err()),
        ("doctor", service.doctor().await.err()),
        ("jobs", service.jobs(now).await.err()),
        ("history of jobs", service.job_history(None, 100, now).await.err()),
        ("policies", service.policies().await.err()),
        ("hot trails", service.hot_trails(&local, 10, now).await.err()),
        ("survey", db.store.survey(&JobName::ALL.map(JobName::name)).await.err()),
        ("concerns", db.store.concerns().await.err()),
        ("last runs", service.inspect("last_runs").await.err()),
    ];
    failed.into_iter().filter_map(|(what, why)| Some(format!("{what}: {}", why?))).collect()
}

/// Values that no such property may have, one of each kind.
const WRONG: [&str; 10] = [
    "''",
    "'x'",
    "-1",
    "9223372036854775807",
    "0.0 / 0.0",
    "true",
    "['a']",
    "duration('P1D')",
    "datetime('+999999999-12-31T23:59:59Z')",
    "null",
];

/// What a damaged node may keep from its work, and what it must be named by: the node, what finds it, its properties, the jobs
/// and answers that rest on it alone, and what their errors say.
struct Central {
    node: &'static str,
    sound: &'static str,
    rests: &'static [&'static str],
    says: &'static str,
}

const CENTRAL: [Central; 6] = [
    Central {
        node: "(c:EbbCounter {name: 'cycle'})",
        sound: "epoch: c.epoch, lengthMs: c.lengthMs, advances: c.advances, evaporated: c.evaporated",
        rests: &["evaporate", "hot trails"],
        says: "EbbCounter",
    },
    Central {
        node: "(c:EbbCounter {name: 'tick:local'})",
        sound: "scope: c.scope, tick: c.tick",
        rests: &[],
        says: "",
    },
    Central {
        node: "(c:EbbCounter {name: 'job:decay'})",
        sound: "last: c.last, latest: c.latest, schedule: c.schedule, since: c.since",
        rests: &[],
        says: "",
    },
    Central { node: "(c:EbbCounter {name: 'policies'})", sound: "version: c.version", rests: &[], says: "" },
    Central {
        node: "(c:EbbPolicy {id: 'status'})",
        sound: "relation: c.relation, scope: c.scope, mode: c.mode, ttlS: c.ttlS, halfLifeS: c.halfLifeS, minConfidence: c.minConfidence, exemptRelations: c.exemptRelations, place: c.place",
        rests: &["sweep", "policies"],
        says: "EbbPolicy",
    },
    Central {
        node: "(c:EbbRun {job: 'decay', occurrence: 'damaged'})",
        sound: "state: c.state, now: c.now, fence: c.fence, batch: c.batch, id: c.id, leaseUntil: c.leaseUntil, holder: c.holder",
        rests: &[],
        says: "",
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_node_on_which_much_rests_is_named_and_stops_nobody_else() {
    let db = fresh().await;
    db.put(&[row("good1", "working", 4.0)]).await;
    db.client
        .run(
            "WITH datetime({epochMillis: $start}) AS at
             CREATE (:Entity {scope: 'local', name: 'good'}), (:Room {scope: 'local', id: 'good'}),
               (:EbbPolicy {id: 'status', relation: 'status', scope: 'local', mode: 'retract', ttlS: 60.0, place: 1})
             MERGE (c:EbbCounter {name: 'tick:local'}) SET c.scope = 'local', c.tick = 0
             MERGE (p:EbbCounter {name: 'policies'})
             CREATE (:EbbRun {job: 'decay', occurrence: 'damaged', state: 'done', now: at, started: at, fence: 1, batch: 0, id: 'x', leaseUntil: 0})",
            &[("start", START.into())],
        )
        .await;
    let mut wrong = Vec::new();
    let mut hours = 10.0;
    for Central { node, sound, rests, says } in CENTRAL {
        for property in names(sound) {
            for value in WRONG {
                hours += 20.0;
                // A run that its holder left behind, whatever the last round made of it.
                let open = if node.starts_with("(c:EbbRun") {
                    "SET c.state = 'open', c.leaseUntil = 0, c.fence = 1, c.batch = 0, c.holder = 'gone'"
                } else {
                    ""
                };
                let text = format!(
                    "MATCH {node} {open} SET c.before = c.{property}, c.{property} = {value} RETURN elementId(c) AS id"
                );
                let id: String = db.client.value(&text).await;
                let mut failed = Vec::new();
                for job in [JobName::Decay, JobName::Evaporate, JobName::Sweep, JobName::Learn] {
                    failed.extend(ran(&db, job, hours).await);
                }
                failed.extend(answered(&db, at(hours)).await);
                let rests_on = |failed: &&String| {
                    rests.iter().any(|on| failed.starts_with(&format!("{on}: "))) && failed.contains(says)
                };
                let others = failed.iter().filter(|failed| !rests_on(failed));
                wrong.extend(others.map(|failed| format!("{node}.{property} = {value}: {failed}")));
                let back =
                    format!("MATCH (c) WHERE elementId(c) = $id SET c.{property} = c.before REMOVE c.before");
                db.client.run(&back, &[("id", id.into())]).await;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

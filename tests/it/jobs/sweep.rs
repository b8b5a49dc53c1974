//! Facts asserted and adopted, policies applied to them by the job and on request.

use crate::harness::ebb::{by_hand, close, together};
use crate::harness::neo4j::{Fresh, at, fresh};
use ebb_core::api::fact::{Sweep, SweepAnswer, SweepRequest};
use ebb_core::api::job::JobRunRequest;
use ebb_core::clock::{Clock, new_id};
use ebb_core::domain::attempt::{Right, RunState};
use ebb_core::domain::fact::{Assertion, DECAY_SOURCE, FactScope, Tuple, Value};
use ebb_core::domain::guard::Guard;
use ebb_core::domain::ids::{EntityName, FactRelation, Scope, Source, Term};
use ebb_core::domain::policy::{Counters, Draft, Mode, Policies, Regime};
use ebb_core::domain::tunables::ConsolidationConfig;
use ebb_core::domain::units::Confidence;
use ebb_core::jobs::{JobName, Request};
use ebb_core::scheduler::driver::{Wanted, dry_run_job, finish_open, run_job};
use ebb_core::scheduler::{self, JobConfig};
use ebb_core::service::memories::{RequestId, WriteMode};
use ebb_core::service::{self, Service};
use ebb_core::store::{
    AcceptedPolicy, Config, Error, Fact, FactFilter, FactReceipt, PageMode, RequestMode, RequestedSweep,
    Store, SweepState,
};
use ebb_engine::plasticity::LearningMode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) fn policies(json: &str) -> Policies {
    let drafts: Vec<Draft> = serde_json::from_str(json).unwrap();
    Policies::check(&drafts).unwrap()
}

/// Every fact of a scope, by lineage and instant: relation, value, confidence, who says it, and whether it is a head.
const WHOLE: &str =
    "MATCH (f:Fact) OPTIONAL MATCH (l:EbbLineage)-[:HEAD]->(f) OPTIONAL MATCH (f)-[:DECAYED_FROM]->(o)
    WITH f, l, o ORDER BY f.relation, f.entity, toString(f.value), f.assertedAt, f.confidence DESC
    RETURN collect(f.relation + ' ' + toString(f.value) + ' ' + toString(f.confidence) + ' ' + f.source + ' '
      + toString(f.assertedAt) + CASE WHEN l IS NULL THEN '' ELSE ' head' END
      + CASE WHEN o IS NULL THEN '' ELSE ' from ' + toString(o.confidence) END) AS whole";

pub(crate) fn fact(relation: &str, value: &str, hours: f64) -> Assertion {
    Assertion {
        at: at(hours),
        id: new_id(),
        tuple: Tuple {
            scope: FactScope::Company,
            entity: EntityName::new("Atlas").unwrap(),
            relation: FactRelation::new(relation).unwrap(),
            value: Value::Text(value.to_owned()),
        },
        confidence: Confidence::ONE,
        source: Source::new("agent").unwrap(),
        valid_until: None,
    }
}

impl Fresh {
    pub(crate) async fn assert(&self, facts: &[Assertion]) -> Vec<FactReceipt> {
        let request = new_id();
        self.store
            .assert_facts(RequestMode::Once { request: &request, hash: "hash", by: "test" }, facts)
            .await
            .unwrap()
    }

    pub(crate) fn governed(&self, json: &str) -> Store {
        Store::connect(&self.governing(json)).unwrap()
    }

    fn governing(&self, json: &str) -> Config {
        let regime = Regime { policies: policies(json), ..self.config.regime.clone() };
        Config { regime, ..self.config.clone() }
    }

    /// Ebb as its surfaces see it, with these policies in its configuration.
    pub(crate) fn service(&self, json: &str) -> Service {
        self.learning(json, LearningMode::default())
    }

    /// The same, which learns from this.
    pub(crate) fn learning(&self, json: &str, learn: LearningMode) -> Service {
        self.timed(json, learn, Clock::manual(at(0.0)))
    }

    /// The same, by this clock.
    pub(crate) fn timed(&self, json: &str, learn: LearningMode, clock: Clock) -> Service {
        let job = JobConfig {
            enabled: true,
            rhythm: None,
            jitter: Duration::ZERO,
            time_limit: Duration::from_secs(60),
        };
        let config = service::Config {
            consolidation: ConsolidationConfig::DOCUMENTED,
            jobs: watch::Sender::new(Arc::new(scheduler::Config(std::array::from_fn(|_| job.clone())))),
            on_scratch: false,
            scope: Scope::local(),
            guard: Guard { enabled: true, max_affected_ratio: 0.2 },
            mirror: crate::mirror::config(1 << 30),
            engine: crate::mirror::rules(),
            learn,
            embedder: None,
            presets: ebb::settings::adopt::presets().unwrap(),
        };
        Service::new(self.governed(json), clock, config)
    }

    async fn heads(&self, scope: FactScope) -> Vec<Fact> {
        let filter = FactFilter { scope, entity: None, relation: None, history: false };
        self.store.facts(&filter, "", 10_000).await.unwrap()
    }

    async fn count(&self) -> i64 {
        self.client.value("MATCH (f:Fact) RETURN count(f) AS n").await
    }
}

pub(crate) fn request(scope: FactScope, mode: Option<Mode>, hours: f64) -> SweepRequest {
    SweepRequest { scope, mode, policy_id: None, accept_affected: None, at: Some(at(hours)) }
}

pub(crate) fn once() -> WriteMode {
    WriteMode::Once(RequestId::or_new("test", None))
}

#[track_caller]
pub(crate) fn done(sweep: Sweep) -> SweepAnswer {
    match sweep {
        Sweep::Done(answer) => answer,
        Sweep::Queued(queued) => panic!("{queued:?}"),
    }
}

const BOTH: &str = r#"[
    {"id": "status", "relation": "roadmap:status", "scope": "company", "mode": "retract", "ttl_s": 3600},
    {"id": "memory", "relation": "memory:*", "scope": "*", "mode": "confidence", "half_life_s": 3600, "min_confidence": 0.1}]"#;

#[tokio::test(flavor = "multi_thread")]
async fn twice_is_once() {
    let db = fresh().await;
    let many: Vec<Assertion> = (0..1_500)
        .map(|n| {
            fact(
                if n % 3 == 0 { "roadmap:status" } else { "memory:context" },
                &format!("v{n}"),
                f64::from(n % 40),
            )
        })
        .collect();
    db.assert(&many).await;
    let mut config = db.governing(BOTH);
    config.regime.guard.enabled = false;
    let store = Store::connect(&config).unwrap();
    let said = dry_run_job(&store, JobName::Sweep, at(30.0), Default::default()).await.unwrap().tally;
    let first = by_hand(&store, JobName::Sweep, 30.0).await.tally;
    assert_eq!(said, first);
    assert!(first.retracted > 300 && first.reduced > 600, "{first:?}");
    assert_eq!(first.changed, first.retracted + first.reduced);
    let before: Vec<String> = db.client.value(WHOLE).await;
    let second = by_hand(&store, JobName::Sweep, 30.0).await.tally;
    assert_eq!((second.scanned, second.changed), (first.scanned, 0));
    assert_eq!(db.client.value::<Vec<String>>(WHOLE).await, before);
    let originals = "MATCH (f:Fact {source: 'agent'}) WHERE f.confidence = 1.0 RETURN count(f) AS n";
    assert_eq!(db.client.value::<i64>(originals).await, 1_500, "a sweep only adds");
    let loose =
        "MATCH (f:Fact {source: $s}) WHERE NOT EXISTS { (f)-[:DECAYED_FROM]->(:Fact {value: f.value}) }
        OR NOT EXISTS { (f)-[:ABOUT]->(:Entity {name: 'Atlas', scope: 'company'}) } RETURN count(f) AS n";
    let loose: Vec<Count> = db.client.rows(loose, &[("s", DECAY_SOURCE.into())]).await;
    assert_eq!(loose[0].n, 0);
}

#[derive(serde::Deserialize)]
struct Count {
    n: i64,
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schedule_leaves_no_trace() {
    let db = fresh().await;
    db.assert(&[fact("memory:x", "a", 0.0)]).await;
    let store = db.governed(BOTH);
    for hour in [1.0, 2.0, 2.5, 3.0] {
        by_hand(&store, JobName::Sweep, hour).await;
    }
    let heads = db.heads(FactScope::Company).await;
    close(heads[0].confidence.unwrap(), 0.125);
    assert_eq!((heads[0].origin_confidence, heads[0].origin_at), (Some(1.0), Some(at(0.0).millis())));
    // Age is the origin's, so reducing a fact puts nothing off.
    let retracting =
        db.governed(r#"[{"id": "r", "relation": "*", "scope": "*", "mode": "retract", "ttl_s": 10800}]"#);
    assert_eq!(by_hand(&retracting, JobName::Sweep, 3.0).await.tally.retracted, 0);
    assert_eq!(by_hand(&retracting, JobName::Sweep, 3.01).await.tally.retracted, 1);
    let whole: Vec<String> = db.client.value(WHOLE).await;
    assert_eq!(whole.len(), 6, "{whole:?}");
    assert_eq!(whole.iter().filter(|fact| fact.contains(" head")).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_latest_is_the_head_and_a_late_one_is_kept() {
    let db = fresh().await;
    let said = db.assert(&[fact("r", "v", 5.0), fact("r", "v", 3.0), fact("r", "w", 1.0)]).await;
    assert_eq!(said.iter().map(|said| said.is_head).collect::<Vec<_>>(), [true, false, true]);
    assert!(!db.assert(&[fact("r", "v", 4.0)]).await[0].is_head);
    let again = db.assert(&[fact("r", "v", 6.0)]).await;
    assert!(again[0].is_head);
    let heads = db.heads(FactScope::Company).await;
    assert_eq!(heads.len(), 2);
    assert!(heads.iter().any(|head| head.id == again[0].id && head.is_head));
    assert!(db.heads(FactScope::Public).await.is_empty(), "nothing crosses scopes");
    let of = |entity: Option<&str>, relation: Option<&str>, history| FactFilter {
        scope: FactScope::Company,
        entity: entity.map(str::to_owned),
        relation: relation.map(str::to_owned),
        history,
    };
    let count = async |filter: FactFilter| db.store.facts(&filter, "", 100).await.unwrap().len();
    assert_eq!(count(of(None, None, true)).await, 5);
    assert_eq!(count(of(Some("Atlas"), None, true)).await, 5);
    assert_eq!(count(of(Some("Atlas"), Some("r"), false)).await, 2);
    assert_eq!(count(of(None, Some("other"), false)).await, 0);
    let all = of(None, None, true);
    let first = db.store.facts(&all, "", 2).await.unwrap();
    let rest = db.store.facts(&all, &first[1].cursor, 100).await.unwrap();
    assert_eq!((first.len(), rest.len()), (2, 3));
    assert!(rest.iter().all(|fact| fact.id > first[1].id));
}

/// An import of yesterday's events comes after the night's sweep: what they assert counts as if they had come before.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_assertion_counts_whatever_a_sweep_has_derived_since() {
    let db = fresh().await;
    let store = db.governed(BOTH);
    let swept = async || {
        let tally = by_hand(&store, JobName::Sweep, 2.0).await.tally;
        (tally.retracted, tally.reduced)
    };
    db.assert(&[
        fact("roadmap:status", "a", 0.5),
        fact("roadmap:status", "b", 0.25),
        fact("memory:x", "c", 0.5),
    ])
    .await;
    assert_eq!(swept().await, (2, 1));
    let late = [
        fact("roadmap:status", "a", 0.25),
        fact("roadmap:status", "a", 1.5),
        fact("roadmap:status", "b", 0.5),
        fact("memory:x", "c", 1.0),
    ];
    let receipts = db.assert(&late).await;
    assert_eq!(receipts.iter().map(|receipt| receipt.is_head).collect::<Vec<_>>(), [false, true, true, true]);
    // At the same instant: each is derived from another head than before.
    assert_eq!(swept().await, (1, 1));
    assert_eq!(swept().await, (0, 0));
    let heads = db.heads(FactScope::Company).await;
    let mut confidences: Vec<(String, Option<f64>)> =
        heads.iter().map(|head| (head.value().unwrap().to_string(), head.confidence)).collect();
    confidences.sort_by(|one, other| one.0.cmp(&other.0));
    let wanted = [("a", 1.0), ("b", 0.0), ("c", 0.5)];
    assert_eq!(confidences, wanted.map(|(value, confidence)| (value.to_owned(), Some(confidence))));
    // Facts that are adopted again, as after a copy in plain Cypher, have the same heads.
    let all = db.count().await;
    db.client.run("MATCH (l:EbbLineage) DETACH DELETE l", &[]).await;
    db.client.run("MATCH (f:EbbFact) REMOVE f:EbbFact", &[]).await;
    assert_eq!(by_hand(&db.store, JobName::Audit, 3.0).await.tally.adopted, all);
    assert_eq!(db.heads(FactScope::Company).await, heads);
}

/// The preview of a policy, a sweep by it alone, and the job: the most specific policy decides in each.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_by_itself_leaves_to_others_what_they_decide() {
    let db = fresh().await;
    db.assert(&[fact("roadmap:status", "a", 0.0), fact("note", "b", 0.0)]).await;
    let old = |mode: &str| {
        let both = r#"[
            {"id": "roadmap", "relation": "roadmap:*", "scope": "*", "mode": "confidence", "half_life_s": 31536000},
            {"id": "old", "relation": "*", "scope": "*", "mode": "MODE", "ttl_s": 3600}]"#;
        db.service(&both.replace("MODE", mode))
    };
    let ask = SweepRequest {
        policy_id: Term::try_from("old".to_owned()).ok(),
        ..request(FactScope::Company, None, 2.0)
    };
    let preview = done(old("dry_run").sweep(&WriteMode::DryRun, &ask, None).await.unwrap());
    assert_eq!((preview.mode, preview.dry_run_would_retract), (Mode::DryRun, 1));
    assert_eq!(preview.policies_applied, ["old"]);
    let acting = old("retract");
    let job = acting.dry_run_job(JobName::Sweep, at(2.0), &JobRunRequest::default(), false).await.unwrap();
    assert_eq!((job.tally.retracted, job.tally.reduced), (1, 0));
    let swept = done(acting.sweep(&once(), &ask, None).await.unwrap());
    assert_eq!((swept.facts_evaluated, swept.facts_retracted), (2, 1));
    let retracted = "MATCH (f:Fact {confidence: 0.0}) RETURN collect(f.relation) AS all";
    assert_eq!(db.client.value::<Vec<String>>(retracted).await, ["note"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_only_counts_ends_no_retraction() {
    let db = fresh().await;
    db.assert(&[fact("note:todo", "a", 0.0), fact("note:todo", "b", 1.5)]).await;
    let store = db.governed(
        r#"[{"id": "notes", "relation": "note:*", "scope": "*", "mode": "retract", "ttl_s": 3600},
            {"id": "todo", "relation": "note:todo", "scope": "*", "mode": "dry_run", "ttl_s": 60}]"#,
    );
    let tally = by_hand(&store, JobName::Sweep, 2.0).await.tally;
    assert_eq!((tally.retracted, tally.rehearsed), (1, 2));
    assert_eq!(db.count().await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_counts_once_and_a_dry_run_not_at_all() {
    let db = fresh().await;
    let lasting = RequestMode::Once { request: "r1", hash: "h", by: "test" };
    let said = db.store.assert_facts(lasting, &[fact("r", "v", 1.0)]).await.unwrap();
    assert_eq!(db.store.assert_facts(lasting, &[fact("r", "v", 1.0)]).await.unwrap(), said);
    let other = RequestMode::Once { request: "r1", hash: "other", by: "test" };
    assert!(matches!(db.store.assert_facts(other, &[fact("r", "w", 1.0)]).await, Err(Error::Conflict(_))));
    db.store.assert_facts(RequestMode::DryRun, &[fact("r", "x", 1.0)]).await.unwrap();
    assert_eq!(db.count().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_writers_of_one_lineage_leave_one_head() {
    let db = fresh().await;
    let stores: Vec<_> = (0..8).map(|_| db.another()).collect();
    together(stores.into_iter().enumerate().map(|(n, store)| async move {
        let facts: Vec<Assertion> = (0..10)
            .map(|i| fact("r", &format!("v{}", (i + n) % 10), f64::from(u8::try_from(n).unwrap())))
            .collect();
        let request = format!("r{n}");
        store
            .assert_facts(RequestMode::Once { request: &request, hash: "h", by: "test" }, &facts)
            .await
            .unwrap()
    }))
    .await;
    let heads = db.heads(FactScope::Company).await;
    assert_eq!((heads.len(), db.count().await), (10, 80));
    assert!(heads.iter().all(|head| head.asserted_at == Some(at(7.0).millis())), "the latest of each");
    assert_eq!(db.client.value::<i64>("MATCH ()-[h:HEAD]->() RETURN count(h) AS n").await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_sweeps_at_once_say_each_thing_once() {
    let db = fresh().await;
    let facts: Vec<Assertion> = (0..60).map(|n| fact("memory:x", &format!("v{n}"), 0.0)).collect();
    db.assert(&facts).await;
    let services: Vec<Service> = (0..8).map(|_| db.service(BOTH)).collect();
    together(services.into_iter().map(|service| async move {
        service.sweep(&once(), &request(FactScope::Company, None, 2.0), None).await.unwrap()
    }))
    .await;
    let twice = "MATCH (f:Fact {source: 'system:stigmem:decay'}) WITH f.value AS value, f.assertedAt AS at, count(*) AS n
        WHERE n > 1 RETURN count(*) AS n";
    assert_eq!(db.client.value::<i64>(twice).await, 0);
    assert_eq!(db.count().await, 120);
    assert!(db.heads(FactScope::Company).await.iter().all(|head| head.confidence == Some(0.25)));
}

#[tokio::test(flavor = "multi_thread")]
async fn exempt_facts_and_other_scopes_stay() {
    let db = fresh().await;
    let by = |source: &str, relation: &str| {
        format!("(:Fact {{id: randomUUID(), entity: 'Atlas', relation: '{relation}', scope: 'company', value: 'v',
            confidence: 1.0, source: '{source}', assertedAt: datetime({{epochMillis: {}}})}})", at(0.0).millis())
    };
    db.client.run(&format!("CREATE {}", by("system:stigmem:lint", "note")), &[]).await;
    let mut elsewhere = fact("release:date", "v", 0.0);
    elsewhere.tuple.scope = FactScope::Team;
    let gone = Assertion { valid_until: Some(at(1.0)), ..fact("gone", "v", 0.0) };
    db.assert(&[
        fact("stigmem:x", "v", 0.0),
        fact("rel:part_of", "v", 0.0),
        fact("release:date", "v", 0.0),
        elsewhere,
        gone,
    ])
    .await;
    let service =
        db.service(r#"[{"id": "all", "relation": "*", "scope": "*", "mode": "retract", "ttl_s": 60}]"#);
    let swept = done(service.sweep(&once(), &request(FactScope::Company, None, 2.0), None).await.unwrap());
    assert_eq!((swept.facts_evaluated, swept.facts_retracted), (1, 1), "release: is not rel:");
    let team = db.heads(FactScope::Team).await;
    assert_eq!(team[0].confidence, Some(1.0));
    let retracted = "MATCH (f:Fact {confidence: 0.0}) RETURN collect(f.relation) AS all";
    assert_eq!(db.client.value::<Vec<String>>(retracted).await, ["release:date"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guard_stops_before_it_writes_and_takes_the_number_it_named() {
    let db = fresh().await;
    let facts: Vec<Assertion> = (0..60).map(|n| fact("memory:x", &format!("v{n}"), 0.0)).collect();
    db.assert(&facts).await;
    let service =
        db.service(r#"[{"id": "all", "relation": "*", "scope": "*", "mode": "retract", "ttl_s": 60}]"#);
    let ask = request(FactScope::Company, None, 2.0);
    let why = service.sweep(&once(), &ask, None).await.unwrap_err();
    assert!(matches!(&why, Error::Guarded(too_much) if too_much.affected == 60), "{why}");
    assert_eq!(db.count().await, 60);
    let wrong = SweepRequest { accept_affected: Some(59), ..ask.clone() };
    assert!(matches!(service.sweep(&once(), &wrong, None).await, Err(Error::Guarded(_))));
    let job =
        run_job(service.store(), JobName::Sweep, &Wanted::by_hand(at(2.0), Right::Lease), Request::default())
            .await;
    assert!(matches!(job, Err(Error::Guarded(_))));
    assert_eq!(service.history(Some(JobName::Sweep), 1).await.unwrap()[0].state, "guarded");
    let accepted = SweepRequest { accept_affected: Some(60), ..ask.clone() };
    let intent = once();
    let swept = done(service.sweep(&intent, &accepted, None).await.unwrap());
    assert_eq!(swept.facts_retracted, 60);
    assert_eq!(
        done(service.sweep(&intent, &accepted, None).await.unwrap()),
        swept,
        "the same request, the same answer"
    );
    assert_eq!(db.count().await, 120);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guard_counts_the_facts_of_other_writers() {
    let db = fresh().await;
    let write = "UNWIND range(1, 60) AS n
        CREATE (:Fact {entity: 'e', relation: 'memory:' + n, value: n, scope: 'company',
            assertedAt: datetime('2026-01-01T00:00Z')})";
    db.client.run(write, &[]).await;
    let service =
        db.service(r#"[{"id": "all", "relation": "*", "scope": "*", "mode": "retract", "ttl_s": 60}]"#);
    let dry = service.dry_run_job(JobName::Sweep, at(2.0), &Default::default(), false).await.unwrap();
    assert_eq!(
        (dry.tally.retracted, dry.truncated, dry.reason),
        (0, true, None),
        "a run takes them over first"
    );
    let ask = request(FactScope::Company, None, 2.0);
    let intent = once();
    let why = service.sweep(&intent, &ask, None).await.unwrap_err();
    assert!(matches!(&why, Error::Guarded(too_much) if too_much.affected == 60), "{why}");
    let heads = "MATCH (:EbbLineage)-[:HEAD]->(f:EbbFact {confidence: 1.0}) RETURN count(f) AS n";
    assert_eq!(db.client.value::<i64>(heads).await, 60, "they are under the laws, and as they were");
    // Whoever ran it: the same request is answered from its record.
    let again = service.sweep(&intent, &ask, None).await.unwrap_err();
    assert!(matches!(&again, Error::Guarded(too_much) if too_much.affected == 60), "{again}");
    let accepted = SweepRequest { accept_affected: Some(60), ..ask };
    let swept = done(service.sweep(&once(), &accepted, None).await.unwrap());
    assert_eq!(swept.facts_retracted, 60);
}

const RETRACT: &str =
    r#"[{"id": "old", "relation": "memory:*", "scope": "company", "mode": "retract", "ttl_s": 60}]"#;

impl Fresh {
    /// Asserts this many facts of one relation, at this hour.
    async fn assert_many(&self, name: &str, count: usize, hour: f64) {
        let facts: Vec<Assertion> =
            (0..count).map(|n| fact("memory:x", &format!("{name}{n}"), hour)).collect();
        self.assert(&facts).await;
    }

    /// The guard's records: name, greatest number, and whether the wording is that of the policy with this time to live.
    async fn accepted(&self, ttl_s: u32) -> Vec<String> {
        let records = format!(
            "MATCH (c:EbbCounter) WHERE c.name STARTS WITH 'guard:' AND c.acceptedAt IS NOT NULL
             WITH c ORDER BY c.name
             RETURN collect(c.name + ' ' + coalesce(toString(c.most), '-')
               + CASE WHEN c.wording CONTAINS 'ttl_s {ttl_s},' THEN '' ELSE ' other' END) AS all"
        );
        self.client.value(&records).await
    }
}

async fn scheduled(store: &Store, hour: f64) -> Result<i64, Error> {
    let wanted = Wanted::scheduled(at(hour), Right::Lease);
    run_job(store, JobName::Sweep, &wanted, Request::default()).await.map(|report| report.tally.retracted)
}

#[track_caller]
fn named(swept: Result<i64, Error>) -> i64 {
    match swept {
        Err(Error::Guarded(stopped)) => stopped.affected,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_in_force_before_the_first_fact_retracts_by_itself_however_much() {
    let db = fresh().await;
    let (store, service) = (db.governed(RETRACT), db.service(RETRACT));
    store.accept_before_facts(at(0.0)).await.unwrap();
    store.accept_before_facts(at(0.5)).await.unwrap();
    assert_eq!(db.accepted(60).await, ["guard:company:old -"]);
    db.assert_many("a", 60, 0.0).await;
    let ask = request(FactScope::Company, None, 1.0);
    assert_eq!(done(service.sweep(&once(), &ask, None).await.unwrap()).facts_retracted, 60);
    db.assert_many("b", 500, 1.0).await;
    assert_eq!(scheduled(&store, 2.0).await.unwrap(), 500);
    assert_eq!(db.accepted(60).await, ["guard:company:old 500"]);
    // Another scope has its own record: facts that are there before the policy are not retracted unasked.
    let facts: Vec<Assertion> = (0..60)
        .map(|n| {
            let mut one = fact("memory:x", &format!("t{n}"), 0.0);
            one.tuple.scope = FactScope::Team;
            one
        })
        .collect();
    db.assert(&facts).await;
    let everywhere = db.governed(&RETRACT.replace(r#""scope": "company""#, r#""scope": "*""#));
    assert_eq!(named(scheduled(&everywhere, 3.0).await), 60);
    assert_eq!(db.accepted(60).await, ["guard:company:old 500", "guard:local:old -", "guard:public:old -"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_was_accepted_runs_by_itself_in_every_worker_until_it_changes_or_jumps() {
    let db = fresh().await;
    db.assert_many("a", 60, 0.0).await;
    let (one, other) = (db.governed(RETRACT), db.governed(RETRACT));
    let service = db.service(RETRACT);
    assert_eq!(named(scheduled(&one, 1.0).await), 60);
    assert_eq!(named(scheduled(&other, 2.0).await), 60, "each night, until it is accepted");
    let by_hand = async |accept_affected, hour| {
        let ask = JobRunRequest { accept_affected, ..JobRunRequest::default() };
        service.run_job(JobName::Sweep, at(hour), &ask).await.map(|report| report.tally.retracted)
    };
    assert_eq!(named(by_hand(Some(59), 3.0).await), 60);
    assert_eq!(db.accepted(60).await, [""; 0]);
    assert_eq!(by_hand(Some(60), 3.0).await.unwrap(), 60);
    assert_eq!(db.accepted(60).await, ["guard:company:old 60"]);
    db.assert_many("b", 600, 3.0).await;
    assert_eq!(scheduled(&other, 4.0).await.unwrap(), 600, "ten times as much");
    db.assert_many("c", 6_001, 4.0).await;
    assert_eq!(named(scheduled(&one, 5.0).await), 6_001, "a jump");
    let jump = SweepRequest { accept_affected: Some(6_001), ..request(FactScope::Company, None, 5.0) };
    assert_eq!(done(service.sweep(&once(), &jump, None).await.unwrap()).facts_retracted, 6_001);
    assert_eq!(db.accepted(60).await, ["guard:company:old 6001"]);
    // Another wording is another policy, whoever applies it.
    db.assert_many("d", 60, 5.0).await;
    let changed = db.governed(&RETRACT.replace("60", "90"));
    assert_eq!(named(scheduled(&changed, 6.0).await), 60);
    assert_eq!(scheduled(&one, 7.0).await.unwrap(), 60);
    let fade = JobRunRequest { accept_affected: Some(1), ..JobRunRequest::default() };
    assert!(matches!(service.run_job(JobName::Fade, at(7.0), &fade).await, Err(Error::Invalid(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_between_acceptance_and_the_first_fact_is_continued_by_another_worker() {
    let db = fresh().await;
    db.assert_many("a", 60, 0.0).await;
    let brief =
        || Store::connect(&Config { lease: Duration::from_secs(1), ..db.governing(RETRACT) }).unwrap();
    let dying = brief();
    assert_eq!(named(scheduled(&dying, 1.0).await), 60);
    // A scheduled run that is killed once the acceptance is in the graph.
    let wanted = Wanted::scheduled(at(2.0), Right::Lease);
    let opened =
        dying.open_run("sweep", &wanted.occurrence, at(2.0), "schedule", Right::Lease).await.unwrap();
    let ebb_core::store::OpenedRun::Ours(mut run) = opened else { panic!("{opened:?}") };
    let policy = &policies(RETRACT).all()[0].clone();
    let accepted = [AcceptedPolicy::new(FactScope::Company, policy, Some(60))];
    dying.accept_policies(&mut run, &accepted).await.unwrap();
    drop(run);
    db.leases_are_over().await;
    let other = db.governed(RETRACT);
    let left = finish_open(&other, JobName::Sweep, Right::Lease, Request::default()).await.unwrap().unwrap();
    assert_eq!((left.now, left.tally.retracted), (at(2.0), 60));
    assert_eq!(scheduled(&other, 3.0).await.unwrap(), 0, "a second run changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_requests_that_accept_at_once_retract_once() {
    let db = fresh().await;
    db.assert_many("a", 60, 0.0).await;
    let services = [db.service(RETRACT), db.service(RETRACT)];
    let ask = SweepRequest { accept_affected: Some(60), ..request(FactScope::Company, None, 1.0) };
    let swept = together(services.into_iter().map(|service| {
        let ask = ask.clone();
        async move { service.sweep(&once(), &ask, None).await.unwrap() }
    }))
    .await;
    let retracted: i64 = swept
        .into_iter()
        .map(|swept| match swept {
            Sweep::Done(answer) => answer.facts_retracted,
            // Its turn did not come in time: a worker would do it, and find nothing.
            Sweep::Queued(_) => 0,
        })
        .sum();
    assert_eq!((retracted, db.count().await), (60, 120));
    assert_eq!(db.accepted(60).await, ["guard:company:old 60"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_that_is_told_to_stop_is_left_to_a_worker() {
    let db = fresh().await;
    let facts: Vec<Assertion> = (0..1_001).map(|n| fact("memory:x", &format!("v{n}"), 0.0)).collect();
    db.assert(&facts).await;
    let service = db.service(BOTH);
    let (stop, intent) = (CancellationToken::new(), once());
    stop.cancel();
    let ask = request(FactScope::Company, None, 2.0);
    let left = service.sweep(&intent, &ask, Some(stop)).await.unwrap();
    assert!(matches!(left, Sweep::Queued(_)), "{left:?}");
    let swept = done(service.sweep(&intent, &ask, None).await.unwrap());
    assert_eq!(swept.facts_reduced, 1_001, "the same request goes on behind the page that was done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_that_a_worker_has_is_answered_when_it_is_done() {
    let db = fresh().await;
    let facts: Vec<Assertion> = (0..1_001).map(|n| fact("memory:x", &format!("v{n}"), 0.0)).collect();
    db.assert(&facts).await;
    let service = db.service(BOTH);
    let (stop, intent, ask) = (CancellationToken::new(), once(), request(FactScope::Company, None, 2.0));
    stop.cancel();
    let Sweep::Queued(left) = service.sweep(&intent, &ask, Some(stop)).await.unwrap() else { panic!("done") };
    let worker = db.governed(BOTH);
    let mut run = worker.take_open_run("sweep", Right::Lease).await.unwrap().unwrap();
    let working = async {
        // Long enough for one who does not wait to have answered.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let rules = policies(BOTH).rules(FactScope::Company, None, None);
        let (all, _) =
            worker.sweep_requested(&mut run, &left.job_id, &rules, PageMode::Rows(1_000)).await.unwrap();
        worker.end_sweep(&mut run, &left.job_id, Ok(&rules.summary(&all.counters))).await.unwrap();
        worker.close_run(&run, RunState::Done, false, None).await.unwrap();
    };
    let (swept, ()) = tokio::join!(service.sweep(&intent, &ask, None), working);
    assert_eq!(done(swept.unwrap()).facts_reduced, 1_001);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_scheduled_run_of_each_wording_of_a_policy_only_counts() {
    let db = fresh().await;
    db.assert(&[fact("memory:x", "a", 0.0), fact("roadmap:status", "a", 0.0)]).await;
    let with = |json: &str| {
        let mut config = db.governing(json);
        config.regime.first_run_dry = true;
        Store::connect(&config).unwrap()
    };
    let scheduled = async |store: &Store, hour: f64| {
        let wanted = Wanted::scheduled(at(hour), Right::Lease);
        let tally = run_job(store, JobName::Sweep, &wanted, Request::default()).await.unwrap().tally;
        (tally.retracted, tally.reduced, tally.rehearsed)
    };
    let store = with(BOTH);
    assert_eq!(scheduled(&store, 1.1).await, (0, 0, 2));
    assert_eq!(db.count().await, 2, "nothing was written");
    assert_eq!(scheduled(&store, 1.2).await, (1, 1, 0));
    // Another wording of one of them is tried anew; a person who asks for a run is taken at their word.
    let reworded = with(&BOTH.replace("0.1", "0.05"));
    assert_eq!(scheduled(&reworded, 1.7).await, (0, 0, 1));
    let other = with(&BOTH.replace("0.1", "0.01"));
    assert_eq!(by_hand(&other, JobName::Sweep, 2.0).await.tally.reduced, 1);
    assert_eq!(scheduled(&other, 3.0).await, (0, 0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_loses_nothing() {
    let db = fresh().await;
    let facts: Vec<Assertion> = (0..3_000).map(|n| fact("memory:x", &format!("v{n}"), 0.0)).collect();
    db.assert(&facts).await;
    let store = Store::connect(&Config { lease: Duration::from_secs(1), ..db.governing(BOTH) }).unwrap();
    let asked = RequestedSweep {
        id: new_id(),
        scope: FactScope::Company,
        mode: None,
        policy: None,
        accepted: None,
        now: at(2.0),
        heads: 3_000,
        cursor: String::new(),
        counters: Counters::default(),
    };
    let id =
        store.request_sweep(RequestMode::Once { request: "r", hash: "h", by: "test" }, &asked).await.unwrap();
    assert_eq!(store.next_requested_sweep().await.unwrap(), Some((id.clone(), at(2.0))));
    assert_eq!(store.sweep_job(&id).await.unwrap().state, SweepState::Pending);
    // The program that dies after a page: its run stays open, its lease runs out.
    let opened = store
        .open_run("sweep", &RequestedSweep::occurrence(&id), at(2.0), "manual", Right::Lease)
        .await
        .unwrap();
    let ebb_core::store::OpenedRun::Ours(mut run) = opened else { panic!("{opened:?}") };
    let rules = policies(BOTH).rules(FactScope::Company, None, None);
    let (half, lineages) = store.sweep_requested(&mut run, &id, &rules, PageMode::Rows(1_100)).await.unwrap();
    assert_eq!((half.counters.reduced, lineages), (1_100, 1_100));
    let standing = store.sweep_job(&id).await.unwrap();
    assert_eq!((standing.state, standing.asked.counters.reduced), (SweepState::Running, 1_100));
    assert_eq!(store.next_requested_sweep().await.unwrap(), None, "it has a run, which is taken over");
    drop(run);
    db.leases_are_over().await;
    let other = db.governed(BOTH);
    let report =
        finish_open(&other, JobName::Sweep, Right::Lease, Request::default()).await.unwrap().unwrap();
    assert_eq!(report.now, at(2.0));
    let ended = other.sweep_job(&id).await.unwrap();
    assert_eq!(
        (ended.state, ended.asked.counters.reduced, ended.asked.counters.evaluated),
        (SweepState::Done, 3_000, 3_000)
    );
    assert_eq!(ended.applied, ["memory"]);
    assert_eq!(db.count().await, 6_000, "one for each lineage");
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_of_other_writers_come_under_the_laws() {
    let db = fresh().await;
    db.assert(&[fact("r", "known", 5.0)]).await;
    let write = format!(
        "CREATE (:Fact {{entity: 'Atlas', relation: 'r', value: 'plain'}}),
        (:Fact {{id: 'late', entity: 'Atlas', relation: 'r', scope: 'company', value: 'known', confidence: 0.5, source: 'a',
          assertedAt: datetime({{epochMillis: {late}}})}}),
        (:Fact {{id: 'num', entity: 'Atlas', relation: 'r', scope: 'team', value: 42, confidence: 1}}),
        (:Fact {{entity: 'Atlas', relation: 'r', value: 'v', confidence: 'much'}}),
        (:Fact {{entity: 'Atlas', relation: 'r', value: 'v', scope: 'mars'}}), (:Fact {{relation: 'r', value: 'v'}})",
        late = at(4.0).millis()
    );
    db.client.run(&write, &[]).await;
    assert_eq!(db.store.fact_adoption().await.unwrap().waiting(), 6);
    let did = by_hand(&db.store, JobName::Audit, 6.0).await.tally;
    assert_eq!((did.adopted, did.quarantined), (3, 2));
    assert_eq!(db.store.fact_adoption().await.unwrap().waiting(), 0);
    let reasons =
        "MATCH (f:Fact:EbbQuarantined) WITH f ORDER BY f.ebbReason RETURN collect(f.ebbReason) AS all";
    let reasons: Vec<String> = db.client.value(reasons).await;
    assert_eq!(reasons, ["confidence is not a number", "scope is not local, team, company or public"]);
    let foreign =
        "MATCH (f:Fact) WHERE f.entity IS NULL AND NOT f:EbbFact AND size(keys(f)) = 2 RETURN count(f) AS n";
    assert_eq!(db.client.value::<i64>(foreign).await, 1, "a fact about nothing is of another library");
    assert_eq!(db.store.fact_adoption().await.unwrap().foreign, 1);
    let heads = db.heads(FactScope::Company).await;
    assert_eq!((heads.len(), heads[0].confidence), (1, Some(1.0)), "a late one is not the head");
    let local = db.heads(FactScope::Local).await;
    assert_eq!((local[0].confidence, local[0].asserted_at), (Some(1.0), Some(at(6.0).millis())));
    assert_eq!(db.heads(FactScope::Team).await[0].value(), Some(Value::Integer(42)));
    // A head that somebody spoils is set aside by the next sweep, and comes back when it is mended.
    db.client.run("MATCH (f:Fact {id: 'num'}) SET f.confidence = 'x'", &[]).await;
    let store = db.governed(
        r#"[{"id": "r", "relation": "*", "scope": "*", "mode": "confidence", "half_life_s": 3600}]"#,
    );
    assert_eq!(by_hand(&store, JobName::Sweep, 7.0).await.tally.quarantined, 1);
    assert_eq!(by_hand(&store, JobName::Sweep, 7.0).await.tally.quarantined, 0);
    db.client.run("MATCH (f:Fact {id: 'num'}) SET f.confidence = 1.0", &[]).await;
    let tunables = db.tunables().await;
    assert_eq!(db.store.release_sound(at(7.0), &tunables).await.unwrap(), 1);
    assert_eq!(db.heads(FactScope::Team).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_words_are_data() {
    let db = fresh().await;
    let words = ["`) DETACH DELETE n //", "' OR 1=1 //", "\"})-[:X]->() //", "*", "$rows", "{}", "\u{202e}x"];
    let facts: Vec<Assertion> = words
        .iter()
        .map(|word| {
            let mut one = fact(word, word, 0.0);
            one.tuple.entity = EntityName::new(word).unwrap();
            one.source = Source::new(word).unwrap();
            one
        })
        .collect();
    db.assert(&facts).await;
    let service = db.service("[]");
    for word in words {
        let json = serde_json::json!({"id": word, "relation": word, "scope": "*", "mode": "confidence", "half_life_s": 3600});
        service.set_policy(&once(), serde_json::from_value(json).unwrap()).await.unwrap();
    }
    let swept = done(service.sweep(&once(), &request(FactScope::Company, None, 1.0), None).await.unwrap());
    assert_eq!((swept.facts_evaluated, swept.facts_reduced), (7, 7));
    let heads = db.heads(FactScope::Company).await;
    let mut values: Vec<String> = heads.iter().map(|head| head.value().unwrap().to_string()).collect();
    values.sort();
    let mut wanted = words.map(str::to_owned).to_vec();
    wanted.sort();
    assert_eq!(values, wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_change_writes_the_policies_down() {
    let db = fresh().await;
    let service = db.service(BOTH);
    assert!(!service.policies().await.unwrap().in_graph);
    let draft = |json: &str| serde_json::from_str::<Draft>(json).unwrap();
    let new = r#"{"id": "new", "relation": "x", "scope": "team", "mode": "retract", "ttl_s": 9, "exempt_relations": ["y*"]}"#;
    service.set_policy(&WriteMode::DryRun, draft(new)).await.unwrap();
    assert!(!service.policies().await.unwrap().in_graph, "a dry run writes nothing");
    assert!(service.set_policy(&once(), draft(new)).await.unwrap().1);
    assert!(!service.set_policy(&once(), draft(&new.replace("9", "8"))).await.unwrap().1);
    let found = service.policies().await.unwrap();
    assert!(found.in_graph);
    let ids = |found: &service::ActivePolicies| {
        found.policies.all().iter().map(|policy| policy.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&found), ["status", "memory", "new"]);
    assert_eq!(found.policies.all()[0], policies(BOTH).all()[0]);
    service.remove_policy(&once(), "status").await.unwrap();
    assert!(matches!(service.remove_policy(&once(), "status").await, Err(Error::NotFound { .. })));
    assert_eq!(
        ids(&db.service("[]").policies().await.unwrap()),
        ["memory", "new"],
        "whatever the configuration says"
    );
    let wrong = service
        .set_policy(&once(), draft(r#"{"id": "w", "relation": "x", "scope": "s", "mode": "retract"}"#))
        .await;
    let why = wrong.unwrap_err().to_string();
    assert!(why.contains("scope is \"s\"") && why.contains("ttl_s is missing"), "{why}");
    db.client.run("MATCH (p:EbbPolicy {id: 'new'}) SET p.ttlS = 'soon'", &[]).await;
    let why = service.sweep(&once(), &request(FactScope::Team, None, 1.0), None).await.unwrap_err();
    assert!(
        matches!(why, Error::Policies(_)) && why.to_string().contains("(new).ttl_s is \"soon\""),
        "{why}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_counts_each_lineage_once_however_many_pages_they_fill() {
    let db = fresh().await;
    let service = db
        .service(r#"[{"id": "old", "relation": "memory:*", "scope": "*", "mode": "retract", "ttl_s": 60}]"#);
    // A page of a look has 20,000, and two are read at once.
    for (until, told) in [(20_000, 20_000), (40_000, 40_000), (40_001, 40_001)] {
        let grown = format!(
            "MATCH (l:EbbLineage) WITH count(l) AS from UNWIND range(from + 1, {until}) AS i
             CREATE (f:Fact:EbbFact {{id: 'f' + i, entity: 'e' + i, relation: 'memory:x', scope: 'company', value: 'v',
               valueType: 'text', confidence: 1.0, source: 'agent', assertedAt: datetime('2026-01-01T00:00:00Z')}})
             CREATE (:EbbLineage {{key: 'company|' + i, scope: 'company', relation: 'memory:x'}})-[:HEAD]->(f)"
        );
        db.client.run(&grown, &[]).await;
        let ask = request(FactScope::Company, Some(Mode::DryRun), 2.0);
        let seen = done(service.sweep(&once(), &ask, None).await.unwrap());
        assert_eq!((seen.facts_evaluated, seen.dry_run_would_retract), (told, told));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_follow_mode_and_policy() {
    let db = fresh().await;
    let service = db.service(BOTH);
    db.assert(&[fact("roadmap:status", "a", 0.0), fact("memory:x", "b", 0.0), fact("other", "c", 0.0)]).await;
    let sweep = async |mode, policy_id: Option<&str>, intent: WriteMode| {
        let ask = SweepRequest {
            policy_id: policy_id.map(|id| Term::try_from(id.to_owned()).unwrap()),
            ..request(FactScope::Company, mode, 2.0)
        };
        done(service.sweep(&intent, &ask, None).await.unwrap())
    };
    let counts = |s: &SweepAnswer| {
        (
            s.facts_evaluated,
            s.facts_retracted,
            s.facts_reduced,
            s.dry_run_would_retract,
            s.dry_run_would_reduce,
        )
    };
    let dry = sweep(Some(Mode::DryRun), None, once()).await;
    assert_eq!((dry.mode, counts(&dry)), (Mode::DryRun, (3, 0, 0, 1, 1)));
    let rehearsed = sweep(Some(Mode::Retract), None, WriteMode::DryRun).await;
    assert_eq!((rehearsed.mode, counts(&rehearsed)), (Mode::DryRun, (3, 0, 0, 1, 0)));
    assert_eq!(db.count().await, 3, "nothing was written");
    let one = sweep(None, Some("memory"), once()).await;
    assert_eq!((one.mode, counts(&one)), (Mode::Confidence, (3, 0, 1, 0, 0)));
    assert_eq!(one.policies_applied, ["memory"]);
    let rest = sweep(None, None, once()).await;
    assert_eq!((rest.mode, counts(&rest)), (Mode::Retract, (3, 1, 0, 0, 0)));
    assert_eq!(rest.policies_applied, ["status", "memory"]);
    let ask = SweepRequest {
        policy_id: Term::try_from("none".to_owned()).ok(),
        ..request(FactScope::Company, None, 2.0)
    };
    assert!(matches!(service.sweep(&once(), &ask, None).await, Err(Error::Invalid(_))));
}

const RETRACT_ALL: &str =
    r#"[{"id": "old", "relation": "memory:*", "scope": "*", "mode": "retract", "ttl_s": 60}]"#;

/// The schedule has nobody to ask, and sweeps what it may. Who asked is told that nothing was written, and it is so.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_by_hand_that_the_guard_stops_in_one_scope_writes_in_none() {
    let db = fresh().await;
    db.assert_many("a", 60, 0.0).await;
    let of_team = Assertion {
        tuple: Tuple { scope: FactScope::Team, ..fact("memory:x", "t", 0.0).tuple },
        ..fact("memory:x", "t", 0.0)
    };
    db.assert(&[of_team]).await;
    let service = db.service(RETRACT_ALL);
    let ask = JobRunRequest::default();
    let dry = service.dry_run_job(JobName::Sweep, at(2.0), &ask, false).await.unwrap();
    assert_eq!((dry.tally.retracted, dry.truncated), (61, false), "it counts, and says so");
    let why = service.run_job(JobName::Sweep, at(2.0), &ask).await.unwrap_err();
    let says = "60 of 60 live items of company would be affected, more than 20 % of them";
    assert!(why.to_string().contains(says), "{why}");
    let reason = dry.reason.unwrap();
    assert!(reason.starts_with(says) && reason.ends_with("accept_affected 60 lets it run"), "{reason}");
    assert_eq!(db.count().await, 61, "nothing was written");
    assert_eq!(named(scheduled(&db.governed(RETRACT_ALL), 2.0).await), 60);
    assert_eq!(db.count().await, 62, "the schedule sweeps the others");
    let accepted = JobRunRequest { accept_affected: Some(60), ..ask };
    let dry = service.dry_run_job(JobName::Sweep, at(3.0), &accepted, false).await.unwrap();
    assert_eq!((dry.tally.retracted, dry.truncated, dry.reason), (60, false, None));
    let other = service.dry_run_job(JobName::Decay, at(3.0), &accepted, false).await.unwrap_err();
    assert!(other.to_string().contains("no guard stops decay"), "{other}");
    assert_eq!(service.run_job(JobName::Sweep, at(3.0), &accepted).await.unwrap().tally.retracted, 60);
}

/// What a requested sweep may retract was judged by the policies of its beginning.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_that_is_continued_under_other_policies_is_judged_anew() {
    let db = fresh().await;
    let facts: Vec<Assertion> = (0..1_001).map(|n| fact("memory:x", &format!("v{n}"), 0.0)).collect();
    db.assert(&facts).await;
    let (stop, intent, ask) = (CancellationToken::new(), once(), request(FactScope::Company, None, 2.0));
    stop.cancel();
    let left = db.service(BOTH).sweep(&intent, &ask, Some(stop)).await.unwrap();
    assert!(matches!(left, Sweep::Queued(_)), "{left:?}");
    let before = db.count().await;
    let why = db.service(RETRACT).sweep(&intent, &ask, None).await.unwrap_err();
    assert!(why.to_string().contains("a part is done, and the guard stopped the rest"), "{why}");
    assert_eq!(db.count().await, before);
}

//! The mirror beside a changing graph: what is patched is what a load makes, what was learned is heard, what was forgotten is
//! gone, what other writers changed is found, and what does not fit is said.

mod adopted;
mod events;
mod facts;

use crate::harness::ebb::{access, id, remember, session};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::random::Random;
use crate::jobs::sweep::fact;
use crate::worker::process::eventually;
use ebb_core::api::recall::RecallRequest;
use ebb_core::clock::{Clock, new_id};
use ebb_core::domain::annotations::{Annotations, Provenance};
use ebb_core::domain::event::{Event, Observe, PlaceName, Remember, Step, Tie, Trace, Walk};
use ebb_core::domain::fact::FactScope;
use ebb_core::domain::ids::{EntityName, MemoryKey, PlaceId, RelationType, Scope};
use ebb_core::domain::relation::Observation;
use ebb_core::domain::units::Pheromone;
use ebb_core::jobs::JobName;
use ebb_core::mirror::compare::compare;
use ebb_core::mirror::hot::at_peak;
use ebb_core::mirror::{Config, Current, Mirror, RefreshOutcome};
use ebb_core::store::{MemoryUpdate, MentionRule, MirrorQuery, RequestMode, Store};
use ebb_engine::activation::ActivationConfig;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::plasticity::PlasticityConfig;
use ebb_engine::recall::{FusionWeights, RecallConfig, RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A configuration of one scope that may take so many bytes: an eighth of all is left to others.
pub(crate) fn config(max_bytes: u64) -> Config {
    Config {
        max_bytes: max_bytes.div_ceil(7).saturating_mul(8),
        expired: true,
        refresh: Duration::from_secs(30),
        staleness: Duration::from_secs(90),
        scopes: vec![Scope::local()],
        connections: 2,
        kinds: Kinds::default(),
        range: WeightRange::default(),
        rules: PlasticityConfig::default(),
        saves: None,
    }
}

pub(crate) fn rules() -> RecallConfig {
    RecallConfig::new(ActivationConfig::RECALL, ActivationConfig::REFERENCE, FusionWeights::default(), 1_000)
        .unwrap()
}

struct Bed {
    db: Fresh,
    clock: Clock,
    mirror: Arc<Mirror>,
}

impl Bed {
    async fn new(max_bytes: u64) -> Self {
        let db = fresh().await;
        let clock = Clock::manual(at(0.0));
        let store = Arc::new(Store::connect(&db.config).unwrap());
        let mirror = Mirror::new(store, config(max_bytes));
        Self { db, clock, mirror }
    }

    async fn refresh(&self) -> (RefreshOutcome, Current) {
        let done = self.mirror.refresh(&Scope::local(), self.clock.now()).await.unwrap();
        (done, self.mirror.current(&Scope::local()).unwrap())
    }

    async fn observe(&self, from: &str, kind: &str, to: &str, hours: f64) {
        let tie = Tie {
            scope: Scope::local(),
            from: EntityName::new(from).unwrap(),
            kind: RelationType::new(kind).unwrap(),
            to: EntityName::new(to).unwrap(),
        };
        let seen = Observation { at: at(hours), weight: None, pinned: None };
        let request = new_id();
        let lasting = RequestMode::Once { request: &request, hash: "h", by: "test" };
        self.db.store.observe(lasting, &[Observe { tie, seen }]).await.unwrap();
    }

    async fn trace(&self, what: Walk, hours: f64) {
        let request = new_id();
        let trace = Trace { at: at(hours), scope: Scope::local(), what };
        self.db
            .store
            .trace(RequestMode::Once { request: &request, hash: "h", by: "test" }, &[trace])
            .await
            .unwrap();
    }

    async fn forget(&self, name: &str, hours: f64) {
        let request = new_id();
        let guard = crate::harness::ebb::UNGUARDED;
        let lasting = RequestMode::Once { request: &request, hash: "h", by: "test" };
        self.db
            .store
            .forget(lasting, (&Scope::local(), &[id(name)]), at(hours), (&guard, None))
            .await
            .unwrap();
    }
}

pub(crate) fn about(name: &str, hours: f64, content: &str, mentions: &[&str]) -> Event {
    Event::Remember(Remember {
        content: content.to_owned(),
        mentions: mentions.iter().map(|name| EntityName::new(name).unwrap()).collect(),
        session: Some(session(name)),
        ..remember(name, hours)
    })
}

fn place(label: &str, id: &str) -> (ebb_core::domain::trail::PlaceLabel, PlaceId) {
    let allowed = crate::harness::neo4j::trails().allowed;
    (allowed.label(label).unwrap().clone(), PlaceId::new(id).unwrap())
}

fn hits(current: &Current, text: &str) -> Vec<String> {
    let ask = RecallQuery { text: text.to_owned(), ..RecallQuery::default() };
    let recalled = recall(&current.view, &ask, &rules(), &mut Scratch::default()).unwrap();
    recalled.hits.into_iter().map(|hit| hit.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_joined_comes_back_and_what_is_forgotten_does_not() {
    let bed = Bed::new(1 << 30).await;
    let said = [
        about("m1", 0.0, "The parser was written by Alex in spring", &["Parser", "Alex"]),
        about("m2", 0.1, "Lunch was good", &["Alex"]),
        about("m3", 0.2, "Nothing to do with it", &["Weather"]),
    ];
    bed.db.apply(&said).await;
    bed.observe("Alex", "works_on", "Compiler", 0.3).await;
    let (done, current) = bed.refresh().await;
    assert_eq!(done, RefreshOutcome::Loaded);
    let found = hits(&current, "who wrote the Parser");
    assert_eq!(found.first().map(String::as_str), Some("m1"), "{found:?}");
    assert!(found.iter().any(|id| id == "m2") && found.iter().any(|id| id == "Alex"), "{found:?}");
    assert!(!found.iter().any(|id| id == "m3"), "{found:?}");

    bed.forget("m1", 0.4).await;
    let (done, current) = bed.refresh().await;
    assert_eq!(done, RefreshOutcome::Patched);
    assert!(current.view.graph().find("m1").is_none());
    assert!(!hits(&current, "who wrote the Parser").iter().any(|id| id == "m1"));
    // What nobody changed makes no generation.
    let generation = current.view.generation();
    let (done, current) = bed.refresh().await;
    assert_eq!((done, current.view.generation()), (RefreshOutcome::Same, generation));
}

/// Tags and a source, given by Ebb or by another writer, and later than the memory.
#[tokio::test(flavor = "multi_thread")]
async fn a_tag_is_found_once_it_is_refreshed() {
    let bed = Bed::new(1 << 30).await;
    bed.db
        .apply(&[about("m1", 0.0, "Retry three times", &[]), about("m2", 0.1, "Lunch was good", &[])])
        .await;
    // As an agent writes a memory with its own Cypher, and one with values that are none.
    let theirs =
        "CREATE (:Memory {id: 'm3', scope: 'local', content: 'Back off', tier: 'working', energy: 1.0,
            tags: ['#Limits', 'api'], sourcePath: 'docs/limits.md', lineStart: 4, canonical: true}),
          (:Memory {id: 'm4', scope: 'local', content: 'Nothing', tier: 'working', energy: 1.0,
            tags: 'limits', sourcePath: 7, lineStart: 0, lineEnd: 'x', excerpt: ['x'], canonical: 'yes'})";
    bed.db.client.run(theirs, &[]).await;
    let (_, current) = bed.refresh().await;
    assert_eq!(hits(&current, "quota"), [""; 0]);
    assert_eq!(hits(&current, "limits"), ["m3"]);
    let graph = current.view.graph();
    let source = |id| graph.provenance(graph.find(id).unwrap());
    let wanted = Provenance {
        source_path: Some("docs/limits.md".to_owned()),
        line_start: Some(4),
        canonical: true,
        ..Provenance::default()
    };
    assert_eq!((source("m3"), source("m4"), source("m1")), (Some(wanted), None, None));

    let annotations = Annotations::new(&["quota".to_owned()], Provenance::default()).unwrap();
    let content = "Retry three times".to_owned();
    bed.db.apply(&[Event::Remember(Remember { content, annotations, ..remember("m1", 0.2) })]).await;
    let (done, current) = bed.refresh().await;
    assert_eq!(done, RefreshOutcome::Patched);
    assert_eq!(hits(&current, "quota"), ["m1"]);
}

const ENTITIES: [&str; 7] = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus"];
const ROOMS: [&str; 4] = ["r0", "r1", "r2", "r3"];

/// Changes at random, through Ebb.
struct Writer<'b> {
    bed: &'b Bed,
    random: Random,
    made: usize,
}

impl Writer<'_> {
    /// The name of a memory that was made, and whether it is there and lives.
    async fn any(&mut self) -> (String, bool, bool) {
        let name = format!("m{}", self.random.below(self.made + 1));
        let tier = format!("MATCH (m:Memory {{id: '{name}'}}) RETURN m.tier");
        let tier: Vec<String> = self.bed.db.client.column(&tier).await;
        let lives = tier.iter().any(|tier| matches!(tier.as_str(), "working" | "shortTerm" | "longTerm"));
        (name, !tier.is_empty(), lives)
    }

    async fn change(&mut self, hours: f64) {
        match self.random.below(12) {
            0..=2 => {
                let mentions = [self.random.pick(&ENTITIES), self.random.pick(&ENTITIES)];
                let name = format!("m{}", self.made);
                let content = format!("word{} about {}", self.made, mentions[0]);
                self.bed.db.apply(&[about(&name, hours, &content, &mentions)]).await;
                self.made += 1;
            }
            3 => {
                if let (name, _, true) = self.any().await {
                    self.bed.db.apply(&[Event::Access(access(&name, hours))]).await;
                }
            }
            4 => self.annotate(hours).await,
            5 | 6 => {
                let (from, to) = (self.random.pick(&ENTITIES), self.random.pick(&ENTITIES));
                self.bed.observe(from, self.random.pick(&["knows", "helps"]), to, hours).await;
            }
            7 => self.walk(hours).await,
            10 => self.learn(hours).await,
            11 => self.update(hours).await,
            8 => {
                if let (name, true, _) = self.any().await {
                    self.bed.forget(&name, hours).await;
                }
            }
            _ => {
                let jobs = [
                    JobName::Decay,
                    JobName::Promote,
                    JobName::Coactivate,
                    JobName::Cluster,
                    JobName::Reinforce,
                    JobName::Fade,
                ];
                self.bed.db.run(self.random.pick(&jobs), hours).await;
            }
        }
    }

    /// A memory is stored again, with a tag and a source.
    async fn annotate(&mut self, hours: f64) {
        let (name, true, _) = self.any().await else { return };
        let of = format!("MATCH (m:Memory {{id: '{name}'}}) RETURN m.content");
        let content: String = self.bed.db.client.value(&of).await;
        let source = Provenance {
            source_path: Some(format!("{name}.md")),
            line_start: Some(u32::try_from(self.random.below(90)).unwrap() + 1),
            ..Provenance::default()
        };
        let annotations = Annotations::new(&[format!("t{}", self.random.below(9))], source).unwrap();
        let again = Remember { content, annotations, ..remember(&name, hours) };
        self.bed.db.apply(&[Event::Remember(again)]).await;
    }

    /// The text of a memory becomes another, which may name what it mentions or no longer.
    async fn update(&mut self, hours: f64) {
        let (name, _, true) = self.any().await else { return };
        let content = format!("a new word about {}", self.random.pick(&ENTITIES));
        let update = MemoryUpdate { content: Some(content), ..MemoryUpdate::default() };
        let request = new_id();
        let lasting = RequestMode::Once { request: &request, hash: "h", by: "test" };
        let key = MemoryKey::new(&Scope::local(), &id(&name));
        self.bed.db.store.update_memory(lasting, &key, &update, at(hours)).await.unwrap();
    }

    /// Something that was of use together is learned.
    async fn learn(&mut self, hours: f64) {
        let (memory, _, _) = self.any().await;
        let nodes = [memory, self.random.pick(&ENTITIES).to_owned(), self.random.pick(&ENTITIES).to_owned()];
        crate::jobs::learn::file(&self.bed.db, "local", &[(nodes.to_vec(), self.random.unit())]).await;
        self.bed.db.run(JobName::Learn, hours).await;
    }

    async fn walk(&mut self, hours: f64) {
        let (from, to) = (self.random.pick(&ROOMS), self.random.pick(&ROOMS));
        let named = |id| PlaceName { label: None, id: PlaceId::new(id).unwrap() };
        let kind = crate::harness::neo4j::trails().allowed.kind("HALL").unwrap().clone();
        let edge = Walk::Edge { from: named(from), to: named(to), kind, base_cost: None };
        self.bed.trace(edge, hours).await;
        let step = |id| Step { to: named(id), via: None };
        let path = vec![step(from), step(to)];
        self.bed.trace(Walk::Deposit { path, reward: Pheromone::new(1.0).unwrap() }, hours).await;
    }

    /// A change by somebody who leaves no word of it.
    async fn foreign(&mut self) {
        let (name, _, _) = self.any().await;
        let entity = self.random.pick(&ENTITIES);
        let text = match self.random.below(4) {
            0 => format!("MATCH (m:Memory {{id: '{name}'}}) DETACH DELETE m"),
            1 => format!(
                "MATCH (m:Memory {{id: '{name}'}}), (e:Entity {{name: '{entity}'}}) MERGE (m)-[:MENTIONS]->(e)"
            ),
            2 => format!("MATCH (m:Memory {{id: '{name}'}}) SET m.content = 'changed by hand'"),
            _ => format!("MATCH (:Memory {{id: '{name}'}})-[r:MENTIONS]->() DELETE r"),
        };
        self.bed.db.client.run(&text, &[]).await;
    }
}

/// Steps of the walk: 300, or as many as EBB_MIRROR_STEPS says.
#[expect(clippy::disallowed_methods, reason = "a longer walk is asked for by the environment")]
fn steps() -> u32 {
    std::env::var("EBB_MIRROR_STEPS").ok().map_or(300, |steps| steps.parse().expect("a number of steps"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_a_deletion_dissolves_leaves_the_mirror() {
    let bed = Bed::new(1 << 30).await;
    bed.db.apply(&[about("m1", 0.0, "Lunch was good", &[]), about("m2", 0.1, "Dinner was not", &[])]).await;
    let joined = "CREATE (c:SemanticCluster {scope: 'local', id: 'c', key: 'k', strength: 4.0, size: 2, formed: datetime()})
        WITH c MATCH (m:Memory) CREATE (m)-[:BELONGS_TO]->(c)";
    bed.db.client.run(joined, &[]).await;
    let (_, current) = bed.refresh().await;
    let nodes = current.view.graph().node_count();
    bed.forget("m1", 0.4).await;
    bed.forget("m2", 0.5).await;
    let (done, current) = bed.refresh().await;
    assert_eq!(done, RefreshOutcome::Patched);
    assert_eq!(current.view.graph().node_count() + 3, nodes, "two memories and their cluster");
    assert!(bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn patched_is_loaded() {
    let bed = Bed::new(1 << 30).await;
    for room in ROOMS {
        let (label, id) = place("Room", room);
        bed.trace(Walk::Node { label, id, name: None }, 0.0).await;
    }
    bed.refresh().await;
    let mut writer = Writer { bed: &bed, random: Random::seeded(20_261_122), made: 0 };
    let (mut patched, mut found, steps) = (0, 0, steps());
    for step in 1..=steps {
        let hours = f64::from(step) * 0.5;
        // The last fifty of each hundred have changes without word among them, which only an audit finds.
        let foreign = step % 100 > 50 && writer.random.once_in(4);
        if foreign {
            writer.foreign().await;
        } else {
            writer.change(hours).await;
        }
        bed.clock.set(at(hours));
        if writer.random.once_in(6) {
            let (done, _) = bed.refresh().await;
            patched += i32::from(done == RefreshOutcome::Patched);
        }
        if step % 100 == 50 {
            let difference = bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap();
            assert!(difference.is_none(), "step {step}: {difference}");
        }
        if step % 100 == 0 {
            let difference = bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap();
            found += i32::from(!difference.is_none());
            let difference = bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap();
            assert!(difference.is_none(), "step {step}, just audited: {difference}");
        }
    }
    assert!(patched * 10 > i32::try_from(steps).unwrap(), "{patched} refreshes merged something in");
    assert!(found > 0, "an audit found what somebody left no word of");
    let current = bed.mirror.current(&Scope::local()).unwrap();
    assert!(current.view.graph().node_count() > 30, "{}", current.view.graph().node_count());
    println!("{steps} steps: {patched} refreshes merged something in, {found} audits found something");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_other_writers_changed_is_found_and_taken_over() {
    let bed = Bed::new(1 << 30).await;
    bed.db.apply(&[about("m1", 0.0, "one", &["Ada"]), about("m2", 0.0, "two", &["Ben"])]).await;
    bed.refresh().await;
    assert!(bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap().is_none());
    bed.db.client.run("MATCH (m:Memory {id: 'm1'}) DETACH DELETE m", &[]).await;
    bed.db
        .client
        .run("MATCH (m:Memory {id: 'm2'}), (e:Entity {name: 'Ada'}) CREATE (m)-[:MENTIONS]->(e)", &[])
        .await;
    let difference = bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap();
    assert_eq!((difference.extra, difference.missing), (1, 0), "{difference}");
    assert!(difference.differing >= 2, "{difference}");
    assert!(bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap().is_none());
}

/// None of these leaves a record.
#[tokio::test(flavor = "multi_thread")]
async fn everything_that_a_load_reads_of_relationships_and_vectors_is_compared() {
    let bed = Bed::new(1 << 30).await;
    bed.db.apply(&[about("m1", 0.0, "one", &["Ada"]), about("m2", 0.0, "two", &["Ben"])]).await;
    bed.observe("Ada", "knows", "Ben", 0.0).await;
    let mut store = bed.db.config.clone();
    store.similarity.dimensions = Some(2);
    let mirror = Mirror::new(Arc::new(Store::connect(&store).unwrap()), config(1 << 30));
    let (local, now) = (Scope::local(), bed.clock.now());
    mirror.refresh(&local, now).await.unwrap();
    assert!(mirror.verify(&local, now).await.unwrap().is_none());
    for (text, named) in [
        ("MATCH (m:Memory {id: 'm1'}) SET m.embedding = [1.0, 0.0]", &["m1"][..]),
        ("MATCH (m:Memory {id: 'm1'}) SET m.embedding = [1.0, 0.5]", &["m1"]),
        ("MATCH (:Memory {id: 'm2'})-[r:MENTIONS]->() SET r.causal_strength = 0.75", &["m2"]),
        ("MATCH ()-[r:RELATES_TO]->() SET r.causal_strength = 0.75", &["Ada"]),
        ("MATCH ()-[r:RELATES_TO]->() SET r.type = 'helps'", &["Ada"]),
        ("MATCH ()-[r:RELATES_TO]->() SET r.pinned = true", &["Ada"]),
    ] {
        bed.db.client.run(text, &[]).await;
        let difference = mirror.verify(&local, now).await.unwrap();
        assert_eq!(difference.named, named, "{text}: {difference}");
        assert!(mirror.verify(&local, now).await.unwrap().is_none(), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_that_lacks_a_known_change_says_so_until_it_has_it() {
    let bed = Bed::new(1 << 30).await;
    let own = Mirror::new(Arc::new(bed.db.store.clone()), config(1 << 30));
    let (local, team) = (Scope::local(), Scope::new("team").unwrap());
    let refresh =
        async |mirror: &Mirror, scope: &Scope| mirror.refresh(scope, bed.clock.now()).await.unwrap();
    let is_behind = |mirror: &Mirror, scope: &Scope| mirror.current(scope).unwrap().is_behind();
    for scope in [&local, &team] {
        refresh(&own, scope).await;
        refresh(&bed.mirror, scope).await;
    }
    bed.db.apply(&[about("m1", 0.0, "one", &["Ada"])]).await;
    assert_eq!([is_behind(&own, &local), is_behind(&own, &team)], [true, false], "what it wrote itself");
    assert!(!is_behind(&bed.mirror, &local), "what nobody told it");
    assert_eq!(bed.mirror.outdated(bed.clock.now()).await.unwrap(), vec![local.clone()]);
    assert!(is_behind(&bed.mirror, &local), "what it has seen recorded");
    for mirror in [&own, &bed.mirror] {
        refresh(mirror, &local).await;
        assert!(!is_behind(mirror, &local));
    }
    bed.db.store.record_full_change().await.unwrap();
    let outdated = own.outdated(bed.clock.now()).await.unwrap();
    assert_eq!(outdated.len(), 2);
    assert_eq!([is_behind(&own, &local), is_behind(&own, &team)], [false; 2], "it may be of other scopes");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_while_it_is_compared_is_no_difference() {
    let bed = Bed::new(1 << 30).await;
    bed.db.apply(&[about("m0", 0.0, "one", &["Ada"])]).await;
    bed.refresh().await;
    let (scope, now) = (Scope::local(), bed.clock.now());
    let writing = async {
        for n in 1..=5 {
            bed.db.apply(&[about(&format!("m{n}"), 0.1, "another", &["Ada"])]).await;
        }
    };
    let (compared, ()) = tokio::join!(bed.mirror.verify(&scope, now), writing);
    let difference = compared.unwrap();
    assert!(difference.is_none(), "{difference}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_set_aside_or_leads_to_another_scope_joins_nothing() {
    let bed = Bed::new(1 << 30).await;
    bed.db.apply(&[about("m1", 0.0, "one", &["Ada", "Ben"])]).await;
    bed.observe("Ada", "knows", "Ben", 0.0).await;
    bed.observe("Ada", "knows", "Dan", 0.0).await;
    let joined = |current: &Current, a: &str, kind: &str, b: &str| {
        let graph = current.view.graph();
        let (a, b) = (graph.find(a).unwrap(), graph.find(b).unwrap());
        graph.slot(a, kind, b).or_else(|| graph.slot(b, kind, a)).is_some()
    };
    let (_, current) = bed.refresh().await;
    assert!(joined(&current, "Ada", "RELATES_TO", "Ben") && joined(&current, "m1", "MENTIONS", "Ben"));
    for text in [
        "MATCH (:Entity {name: 'Ada'})-[r:RELATES_TO]->(:Entity {name: 'Ben'}) SET r.ebbReason = 'spoilt'",
        "MATCH (:Memory {id: 'm1'})-[r:MENTIONS]->(:Entity {name: 'Ben'}) SET r.ebbReason = 'spoilt'",
        "MATCH (m:Memory {id: 'm1'}) CREATE (m)-[:MENTIONS]->(:Entity {scope: 'team', name: 'Dan'})",
    ] {
        bed.db.client.run(text, &[]).await;
    }
    let as_it_is = |current: &Current| {
        assert!(joined(current, "Ada", "RELATES_TO", "Dan") && joined(current, "m1", "MENTIONS", "Ada"));
        assert!(!joined(current, "Ada", "RELATES_TO", "Ben"), "set aside");
        assert!(!joined(current, "m1", "MENTIONS", "Ben"), "set aside");
        assert!(!joined(current, "m1", "MENTIONS", "Dan"), "the Dan of another scope");
    };
    let difference = bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap();
    assert!(!difference.is_none());
    as_it_is(&bed.mirror.current(&Scope::local()).unwrap());
    // All of the type are read around Ada.
    bed.clock.set(at(0.2));
    bed.observe("Ada", "helps", "Dan", 0.1).await;
    let (done, current) = bed.refresh().await;
    assert_eq!(done, RefreshOutcome::Patched);
    as_it_is(&current);
    assert!(bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_that_a_fact_made_is_there_at_the_next_look() {
    let bed = Bed::new(1 << 30).await;
    bed.refresh().await;
    let mut said = fact("status", "on", 0.0);
    said.tuple.scope = FactScope::Local;
    bed.db.assert(&[said]).await;
    let (done, current) = bed.refresh().await;
    assert_eq!(done, RefreshOutcome::Patched);
    assert!(current.view.graph().find("Atlas").is_some());
}

/// The mirror of the bed's database with another budget, loaded.
async fn loaded(bed: &Bed, max_bytes: u64) -> Current {
    let mirror = Mirror::new(Arc::new(Store::connect(&bed.db.config).unwrap()), config(max_bytes));
    mirror.refresh(&Scope::local(), bed.clock.now()).await.unwrap();
    mirror.current(&Scope::local()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_content_of_a_scope_that_was_dropped_is_loaded_again() {
    let bed = Bed::new(1 << 30).await;
    bed.db.apply(&[about("tea", 0.0, "drinks tea", &["Ann"])]).await;
    let mirror = Mirror::new(
        Arc::new(Store::connect(&bed.db.config).unwrap()),
        Config { scopes: vec![], ..config(1 << 19) },
    );
    let local = Scope::local();
    for n in 0..60 {
        mirror
            .ready(&if n == 0 { local.clone() } else { Scope::new(&format!("user-{n}")).unwrap() }, at(0.0))
            .await
            .unwrap();
    }
    assert!(mirror.status(&local).is_none(), "it was dropped");
    let (view, _) = mirror.content(&local, at(0.0)).await.unwrap();
    assert!(view.graph().find("tea").is_some());
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn assert_share(current: &Current, all: usize, budget: u64) {
    let nodes = current.view.graph().node_count();
    let share = nodes as f64 / all as f64;
    assert!((current.held_share() - share).abs() < 1e-9, "{budget}: {} for {share}", current.held_share());
    assert_eq!(current.is_whole(), nodes == all, "{budget}");
    assert!(
        nodes == 0 || at_peak(current.view.bytes().total()) <= budget,
        "{budget}: {nodes} nodes take more"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_left_out_and_said() {
    let bed = Bed::new(1 << 30).await;
    let all: Vec<Event> = (0..1_500_u32)
        .map(|n| {
            let hours = f64::from(n) * 0.001;
            about(&format!("m{n:04}"), hours, "text", &[if n < 600 { "Old" } else { "New" }])
        })
        .collect();
    bed.db.apply(&all).await;
    bed.clock.set(at(2.0));
    // Less than a page of nodes, and more.
    for (budget, least) in [(100_000, 10), (1_400_000, 500)] {
        let current = loaded(&bed, budget).await;
        let graph = current.view.graph();
        assert!((least..1_502).contains(&graph.node_count()), "{budget}: {}", graph.node_count());
        assert_share(&current, 1_502, budget);
        // The youngest are the hottest.
        assert!(graph.find("m1499").is_some() && graph.find("m0000").is_none());
        let partial = graph.nodes().filter(|node| graph.is_partial(*node)).count();
        assert!(partial > 0, "a neighbour of what was left out says so");
        // Where hardly a node fits, a hub that hundreds speak of does not.
        let is_partial = graph.find("m1499").is_some_and(|node| graph.is_partial(node));
        assert!(!is_partial || budget == 100_000, "{budget}: its neighbour has room");
    }
}

/// Whatever memories say, whatever they are joined to, and whatever the budget.
#[tokio::test(flavor = "multi_thread")]
async fn every_budget_is_kept_and_holds_the_hottest() {
    let bed = Bed::new(1 << 30).await;
    let mut random = Random::seeded(20_261_123);
    let mut all = Vec::new();
    for n in 0..400_u32 {
        let words = 1 + random.below([4, 40, 400][n as usize % 3]);
        let unique = random.once_in(2);
        let word =
            |_| if unique { format!("w{:x}", random.bits()) } else { format!("word{}", random.below(99)) };
        let content = (0..words).map(word).collect::<Vec<String>>().join(" ");
        let mentions = [random.pick(&ENTITIES), random.pick(&ENTITIES)];
        all.push(about(&format!("m{n}"), f64::from(n) * 0.001, &content, &mentions));
    }
    all.push(about("hottest", 1.0, "a word of its own", &["Ada"]));
    bed.db.apply(&all).await;
    bed.clock.set(at(2.0));
    let (_, current) = bed.refresh().await;
    let count = current.view.graph().node_count();
    assert_share(&current, count, 1 << 30);
    let budgets = (0..14).map(|n| 2_000 * (1 << n) + random.below(1_000 << n) as u64).collect::<Vec<u64>>();
    for budget in budgets {
        let current = loaded(&bed, budget).await;
        assert_share(&current, count, budget);
        if budget > 50_000 {
            assert_eq!(hits(&current, "own").first().map(String::as_str), Some("hottest"), "{budget}");
        }
    }
}

/// A short one that was accessed five times, a long one that was not, and a short one that was not.
#[tokio::test(flavor = "multi_thread")]
async fn expired_memories_are_selected_by_their_text_and_their_accesses() {
    let bed = Bed::new(1 << 30).await;
    let texts = [
        ("asked", "the spare key hangs by the door"),
        ("brief", "good to know"),
        ("long", "the harbour office moved to the second floor of the house above the fish market"),
    ];
    bed.db.apply(&texts.map(|(name, text)| about(name, 0.0, text, &[]))).await;
    // So far apart that none is promoted.
    for n in 1..=5 {
        bed.db.apply(&[Event::Access(access("asked", 5.0 * f64::from(n)))]).await;
    }
    bed.db.apply(&[about("young", 60.0, "yes", &[])]).await;
    assert_eq!(bed.db.run(JobName::Decay, 60.0).await.tally.changed, 3);
    let trails = crate::harness::neo4j::trails();
    let asked = MirrorQuery::new(
        Scope::local(),
        (&trails, &[]),
        true,
        Vec::new(),
        (Vec::new(), MentionRule::default()),
    )
    .unwrap();
    let (tunables, counter) = (bed.db.tunables().await, bed.db.store.cycles().await.unwrap());
    let mut taken = Vec::new();
    for most in 1..=4 {
        let census =
            bed.db.store.census(&asked, at(60.0), (&tunables, &counter), (most, u64::MAX)).await.unwrap();
        let keys: Vec<String> = census.hottest.into_iter().map(|one| one.key).collect();
        assert_eq!((keys.len(), census.count), (most, 4));
        taken.extend(keys.into_iter().find(|key| !taken.contains(key)));
    }
    assert_eq!(taken, ["young", "asked", "long", "brief"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn relations_weigh_what_they_do_at_the_instant_of_their_generation() {
    let bed = Bed::new(1 << 30).await;
    bed.observe("Ada", "knows", "Ben", 0.0).await;
    let weight = |current: &Current| {
        let graph = current.view.graph();
        let (ada, ben) = (graph.find("Ada").unwrap(), graph.find("Ben").unwrap());
        graph.slot(ada, "RELATES_TO", ben).map(|slot| graph.base(slot))
    };
    let (_, current) = bed.refresh().await;
    assert_eq!(weight(&current), Some(1.0));
    // Half a half-life later, without any change.
    bed.clock.set(at(45.0 * 24.0));
    let (done, current) = bed.refresh().await;
    assert_eq!(done, RefreshOutcome::Patched);
    let half = weight(&current).unwrap();
    assert!((f64::from(half) - 0.5_f64.sqrt()).abs() < 1e-6, "{half}");
    // A change of everything may be of another scope alone: a load keeps the instant.
    bed.clock.set(at(45.0 * 24.0 + 0.5));
    bed.db.store.record_full_change().await.unwrap();
    let (done, current) = bed.refresh().await;
    assert_eq!((done, weight(&current)), (RefreshOutcome::Loaded, Some(half)));
    // Below the minimum it is not there, nor a fact.
    bed.clock.set(at(400.0 * 24.0));
    let (_, current) = bed.refresh().await;
    assert_eq!(weight(&current), None);
    assert!(hits(&current, "who knows somebody").is_empty());
    // It comes back when it is observed.
    bed.observe("Ada", "knows", "Ben", 401.0 * 24.0).await;
    bed.clock.set(at(401.0 * 24.0));
    let (_, current) = bed.refresh().await;
    assert_eq!(weight(&current), Some(1.0));
}

/// Lets the mirror's scope learn one outcome.
async fn teach(bed: &Bed, nodes: &[&str], hours: f64) {
    let nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
    crate::jobs::learn::file(&bed.db, "local", &[(nodes, 1.0)]).await;
    assert_eq!(bed.db.run(JobName::Learn, hours).await.tally.scanned, 1);
}

fn weight(current: &Current, from: &str, relation: &str, to: &str) -> Option<f32> {
    let graph = current.view.graph();
    graph.slot(graph.find(from)?, relation, graph.find(to)?).map(|slot| graph.weight(slot))
}

fn near(found: Option<f32>, wanted: f64) {
    assert!(found.is_some_and(|found| (f64::from(found) - wanted).abs() < 1e-6), "{found:?}, not {wanted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_learned_is_heard_in_place_and_loaded_the_same() {
    let bed = Bed::new(1 << 30).await;
    bed.db
        .apply(&[about("m1", 0.0, "one of Ada", &["Ada"]), about("m2", 0.0, "Ada and Ben", &["Ada", "Ben"])])
        .await;
    let (_, first) = bed.refresh().await;
    near(weight(&first, "m1", "MENTIONS", "Ada"), 0.5);
    teach(&bed, &["m1", "Ada"], 0.1).await;
    let (done, current) = bed.refresh().await;
    assert_eq!((done, current.view.generation()), (RefreshOutcome::Learned, first.view.generation()));
    assert_eq!((current.ticks(), current.learned), ((1, 1), 2));
    near(weight(&current, "m1", "MENTIONS", "Ada"), 0.8);
    near(weight(&current, "Ada", "MENTIONS", "m1"), 0.8);
    near(weight(&current, "m2", "MENTIONS", "Ada"), 0.5);
    assert_eq!(first.ticks(), (0, 1), "who asked before is told that weights moved");
    assert_eq!(bed.refresh().await.0, RefreshOutcome::Same);

    // A change of the graph and one of weights at once: the next generation has both before it is asked.
    bed.db.apply(&[about("m3", 0.2, "three of Ben", &["Ben"])]).await;
    teach(&bed, &["m2", "Ada", "Ben"], 0.2).await;
    let (done, current) = bed.refresh().await;
    assert_eq!((done, current.ticks(), current.learned), (RefreshOutcome::Patched, (2, 2), 6));
    near(weight(&current, "m2", "MENTIONS", "Ben"), 0.8);
    // Ada was active and m1 was not, so it faded.
    near(weight(&current, "Ada", "MENTIONS", "m1"), 0.5 + 0.3 * 0.995);
    assert!(bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap().is_none());
    let another = Mirror::new(Arc::new(Store::connect(&bed.db.config).unwrap()), config(1 << 30));
    another.refresh(&Scope::local(), bed.clock.now()).await.unwrap();
    let loaded = another.current(&Scope::local()).unwrap();
    assert!(compare(&current.view, &loaded.view).is_none());
    assert_eq!((loaded.ticks(), loaded.learned), ((2, 2), 6));

    // What was forgotten is gone with what was learned of it.
    bed.forget("m2", 0.3).await;
    let (done, current) = bed.refresh().await;
    assert_eq!((done, current.learned), (RefreshOutcome::Patched, 2));
    // Somebody begins anew, past Ebb.
    bed.db.client.run("MATCH (n) WHERE n:EbbSynapse OR n.name = 'tick:local' DELETE n", &[]).await;
    let (done, current) = bed.refresh().await;
    assert_eq!((done, current.ticks(), current.learned), (RefreshOutcome::Loaded, (0, 0), 0));
    near(weight(&current, "m1", "MENTIONS", "Ada"), 0.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_learned_on_a_relation_comes_back_with_it() {
    let bed = Bed::new(1 << 30).await;
    bed.observe("Ada", "knows", "Ben", 0.0).await;
    bed.observe("Cleo", "knows", "Dan", 0.0).await;
    bed.refresh().await;
    teach(&bed, &["Ada", "Ben"], 0.0).await;
    let (_, current) = bed.refresh().await;
    near(weight(&current, "Ada", "RELATES_TO", "Ben"), 1.3);
    // Below the minimum it is not there, and what it learned fades meanwhile.
    bed.clock.set(at(400.0 * 24.0));
    let (done, current) = bed.refresh().await;
    assert_eq!((done, current.learned), (RefreshOutcome::Patched, 0));
    assert_eq!(weight(&current, "Ada", "RELATES_TO", "Ben"), None);
    bed.observe("Cleo", "knows", "Dan", 401.0 * 24.0).await;
    teach(&bed, &["Cleo", "Dan"], 401.0 * 24.0).await;
    bed.clock.set(at(401.0 * 24.0));
    let (_, current) = bed.refresh().await;
    assert_eq!((current.ticks(), current.learned), ((2, 2), 2));
    bed.observe("Ada", "knows", "Ben", 402.0 * 24.0).await;
    bed.clock.set(at(402.0 * 24.0));
    let (_, current) = bed.refresh().await;
    assert_eq!(current.learned, 4);
    near(weight(&current, "Ada", "RELATES_TO", "Ben"), 1.0 + 0.3 * 0.995);
    assert!(bed.mirror.verify(&Scope::local(), bed.clock.now()).await.unwrap().is_none());
}

fn request<T: DeserializeOwned>(fields: &Value) -> T {
    serde_json::from_value(fields.clone()).unwrap()
}

fn shown<A: Serialize>(answer: Result<A, ebb_core::service::recall::Error>) -> String {
    serde_json::to_string(&answer.unwrap()).unwrap()
}

/// A label is the beginning of a text. Nobody refreshes this mirror, which counts as up to date for a second.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_forgotten_is_in_no_answer_of_an_old_mirror() {
    let bed = Bed::new(1 << 30).await;
    let secret = about("a", 0.0, "the secret of the build", &["Build"]);
    bed.db.apply(&[secret, about("b", 0.0, "the build is green", &["Build"])]).await;
    let (service, local) = (bed.db.service("[]"), Scope::local());
    let recalled = async || {
        let text = "what does the Build need".to_owned();
        let ask = RecallRequest { text, content: false, ..RecallRequest::default() };
        shown(service.recall(&local, ask).await)
    };
    let seeds = json!({"seeds": [{"id": "Build", "score": 1}, {"id": "a", "score": 1}]});
    let mechanisms = async || {
        [
            shown(service.activate(&local, request(&seeds)).await),
            shown(service.xlr(&local, request(&seeds)).await),
            shown(service.rank(&local, request(&json!({}))).await),
            shown(service.communities(&local, request(&json!({}))).await),
            shown(service.causal(&local, request(&seeds)).await),
            shown(service.resonate(&local, request(&seeds)).await),
            shown(service.harmonics(&local, request(&seeds)).await),
        ]
    };
    let shows = |answer: &String| answer.contains("secret") || answer.contains(r#""id":"a""#);
    assert!(shows(&recalled().await) && mechanisms().await[..4].iter().all(shows));
    bed.forget("a", 1.0).await;
    eventually("the mirror is too old", async || !shows(&recalled().await)).await;
    for answer in mechanisms().await {
        assert!(!shows(&answer), "{answer}");
    }
}

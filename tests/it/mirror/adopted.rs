//! Random graphs of other libraries, drawn from the rules of each preset: whatever their rows hold, everything that reads them
//! answers, no row changes, and a mirror that followed what the library wrote is one that is loaded.

use super::{config, rules};
use crate::harness::error_text;
use crate::harness::graph::{everything, same};
use crate::harness::neo4j::{Fresh, START, at, fresh};
use crate::harness::random::{Random, number_from_env};
use crate::harness::random_row::{Form, RandomRow, SET, VALUES};
use crate::harness::rows::{list, map};
use crate::jobs::sweep::once;
use ebb::settings::adopt::presets;
use ebb_core::api::adopted::{RerankRequest, StateRequest};
use ebb_core::api::recall::RecallRequest;
use ebb_core::domain::event::{Observe, Tie};
use ebb_core::domain::ids::{EntityName, RelationType, Scope, Term};
use ebb_core::domain::mapping::{Key, Mapping, Name, NodeMapping, RelationMapping};
use ebb_core::domain::relation::Observation;
use ebb_core::domain::tunables::ConsolidationConfig;
use ebb_core::domain::units::Timestamp;
use ebb_core::mirror::Mirror;
use ebb_core::mirror::compare::compare;
use ebb_core::service::Service;
use ebb_core::store::{Error, RequestMode, Store};
use ebb_engine::recall::{RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use neo4rs::BoltType;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Nodes and relationships of a graph, and changes after its first load.
const NODES: usize = 60;
const EDGES: usize = 130;
const CHANGES: usize = 8;
/// Values that name a scope, where rows have one.
const SCOPES: [&str; 3] = ["one", "two", ""];
/// Types of relationships where a rule names none.
const TYPES: [&str; 4] = ["LIKES", "KNOWS", "LIVES_IN", "NEXT"];
/// Labels where a rule names none.
const LABELS: [&str; 3] = ["person", "city", "food"];
const WORDS: [&str; 8] = ["Ann", "Bob", "Acme", "Oslo", "tea", "boat", "harbour", "winter"];

/// What a library wrote so far.
struct Library<'m> {
    mapping: &'m Mapping,
    nodes: Vec<LibraryRow<'m, NodeMapping>>,
    edges: Vec<LibraryRow<'m, RelationMapping>>,
    /// Rows of any kind, for keys.
    count: usize,
}

/// A row, by a number that the test alone knows.
struct LibraryRow<'m, T> {
    rule: &'m T,
    number: usize,
    has_own_key: bool,
}

/// The instant of a write: of long ago, or of now.
#[derive(Clone, Copy)]
enum At {
    Past,
    Now(i64),
}

/// Where a relationship begins: at any node before the first load, at the node that was made last, or at one that was read before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Any,
    Last,
    Known,
}

fn words(random: &mut Random) -> String {
    (0..1 + random.below(4)).map(|_| random.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}

fn form(random: &mut Random) -> Form {
    random.pick(&[Form::DateTime, Form::DateTime, Form::Local, Form::Text, Form::Seconds, Form::Milliseconds])
}

/// Draws what the rules of nodes and of relationships have in common.
struct CommonRule<'m> {
    key: Option<&'m Key>,
    texts: Vec<&'m Name>,
    observed: &'m [Name],
    written: &'m [Name],
    until: &'m [Name],
    vector: Option<&'m Name>,
}

impl<'m> CommonRule<'m> {
    fn of_node(rule: &'m NodeMapping) -> Self {
        Self {
            key: Some(&rule.key),
            texts: rule.marks().chain(&rule.name).chain(&rule.text).collect(),
            observed: &rule.observed,
            written: &rule.written,
            until: &rule.until,
            vector: rule.vector.as_ref(),
        }
    }

    fn of_relation(rule: &'m RelationMapping) -> Self {
        Self {
            key: rule.key.as_ref(),
            texts: rule.predicate.iter().collect(),
            observed: &rule.observed,
            written: &rule.written,
            until: &rule.until,
            vector: rule.vector.as_ref(),
        }
    }

    /// A row that is written at an instant; one with a number is new and gets a key.
    fn draw(&self, random: &mut Random, at: At, number: Option<usize>) -> RandomRow {
        let mut drawn = RandomRow::default();
        let key = self.key.and_then(Key::property);
        for name in &self.texts {
            if Some(*name) == key || random.once_in(10) || self.observed.contains(name) {
                continue;
            }
            if random.once_in(8) {
                drawn.odd(random, name.to_string());
            } else if random.once_in(6) {
                drawn.sound.push((name.to_string(), list([words(random), words(random)])));
            } else {
                drawn.sound.push((name.to_string(), words(random).into()));
            }
        }
        if let (Some(key), Some(number)) = (key, number) {
            drawn.sound.push((key.to_string(), format!("k{number}").into()));
        }
        for name in self.observed.iter().filter(|name| !self.written.contains(name)) {
            self.instant(random, &mut drawn, name);
        }
        for name in self.until.iter().filter(|name| !self.written.contains(name)) {
            if random.once_in(3) {
                self.instant(random, &mut drawn, name);
            }
        }
        for (n, name) in self.written.iter().enumerate() {
            match at {
                At::Now(now) if n == 0 || random.once_in(2) => {
                    drawn.instants.push((name.to_string(), now, form(random)));
                }
                At::Now(_) => {}
                At::Past if self.until.contains(name) && !random.once_in(4) => {}
                At::Past => self.instant(random, &mut drawn, name),
            }
        }
        if let Some(vector) = self.vector {
            match random.below(6) {
                0 => drawn.odd(random, vector.to_string()),
                1 => drawn.sound.push((vector.to_string(), list([0.5, 0.1]))),
                2 => {}
                _ => drawn.sound.push((
                    vector.to_string(),
                    list([random.unit() - 0.5, random.unit() - 0.5, random.unit()]),
                )),
            }
        }
        drawn
    }

    /// An instant of long ago in any form, or any value.
    fn instant(&self, random: &mut Random, drawn: &mut RandomRow, name: &Name) {
        if random.once_in(8) {
            drawn.odd(random, name.to_string());
        } else {
            let past = START - random.whole(2_000 * 86_400_000);
            drawn.instants.push((name.to_string(), past, form(random)));
        }
    }
}

impl<'m> Library<'m> {
    /// Draws a node, with its labels.
    fn node(&mut self, random: &mut Random, at: At) -> Option<BoltType> {
        // A new one is found by an instant alone.
        let can_be = |rule: &&NodeMapping| matches!(at, At::Past) || !rule.written.is_empty();
        let can_be: Vec<&NodeMapping> = self.mapping.nodes.iter().filter(can_be).collect();
        if can_be.is_empty() {
            return None;
        }
        let rule = random.pick(&can_be);
        let number = self.number();
        // Two rows may have one key. A load names a row by its label, too, where an ended one has its key; a refresh does not.
        let last = self.nodes.last().filter(|last| last.has_own_key);
        let last = last.filter(|last| last.rule.until.is_empty() && rule.until.is_empty());
        let shared = last.filter(|_| random.once_in(8)).map(|last| last.number);
        let mut drawn = CommonRule::of_node(rule).draw(random, at, Some(shared.unwrap_or(number)));
        if let Some(scope) = &self.mapping.scope.property {
            match random.below(12) {
                0 => drawn.odd(random, scope.to_string()),
                1 => {}
                _ => drawn.sound.push((scope.to_string(), random.pick(&SCOPES).into())),
            }
        }
        if let Some(status) = &rule.status {
            let live = rule.live.first().map_or("", String::as_str);
            drawn.sound.push((status.to_string(), random.pick(&[live, live, "archived"]).into()));
        }
        let mut labels: Vec<String> =
            vec![rule.label.as_ref().map_or_else(|| random.pick(&LABELS).to_owned(), ToString::to_string)];
        if random.once_in(10) {
            labels.push("Other".to_owned());
        }
        // Its owner, if there is one step from it to the row: the conversation of a message, or a user.
        let direct = rule.owner.as_ref().filter(|owner| owner.path.len() == 1 && !random.once_in(6));
        let owners = direct.map(|owner| {
            let scope = random.pick(&SCOPES);
            map([
                ("label", owner.label.as_str().into()),
                ("type", owner.path[0].as_str().into()),
                ("key", owner.property.as_str().into()),
                ("scope", scope.into()),
            ])
        });
        self.nodes.push(LibraryRow { rule, number, has_own_key: shared.is_none() });
        Some(drawn.param(vec![("labels", list(labels)), ("number", param(number)), ("owners", list(owners))]))
    }

    /// Draws a relationship between nodes that are there: from the last of them, or from any.
    fn edge(&mut self, random: &mut Random, at: At, from: Start) -> Option<BoltType> {
        // One without an instant is found with its new node alone.
        let can_be = |rule: &&RelationMapping| from != Start::Known || !rule.written.is_empty();
        let can_be: Vec<&RelationMapping> = self.mapping.relationships.iter().filter(can_be).collect();
        if can_be.is_empty() {
            return None;
        }
        let rule = random.pick(&can_be);
        let number = self.number();
        let mut drawn = CommonRule::of_relation(rule).draw(random, at, Some(number));
        if let Some(valid) = &rule.valid {
            drawn.sound.push((valid.to_string(), (!random.once_in(3)).into()));
        }
        if let Some(confidence) = &rule.confidence {
            drawn.sound.push((confidence.to_string(), (random.unit() * 1.2).into()));
        }
        if let Some(evidence) = &rule.evidence {
            let keys = (0..random.below(4)).map(|_| format!("k{}", random.below(self.count)));
            drawn.sound.push((evidence.property.to_string(), list(keys.collect::<Vec<_>>())));
        }
        let [first, to] = [0, 1].map(|_| &self.nodes[random.below(self.nodes.len())]);
        let from = if from == Start::Last { self.nodes[self.nodes.len() - 1].number } else { first.number };
        let kind = rule.kind.as_ref().map_or_else(|| random.pick(&TYPES).to_owned(), ToString::to_string);
        // A row that gets one more owner may leave a scope, which no refresh finds.
        let owner = to.rule.owner.as_ref().filter(|_| matches!(at, At::Now(_)));
        if owner.is_some_and(|owner| owner.path.iter().any(|name| name.as_str() == kind)) {
            return None;
        }
        let to = to.number;
        self.edges.push(LibraryRow { rule, number, has_own_key: true });
        Some(drawn.param(vec![
            ("type", kind.into()),
            ("number", param(number)),
            ("from", param(from)),
            ("to", param(to)),
        ]))
    }

    fn number(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// Writes a change that a refresh finds; returns what it was.
    async fn step(&mut self, db: &Fresh, random: &mut Random, number: usize) -> String {
        // Each write has an instant of its own, as those of a library have, and none is to come.
        let minute_ago = "RETURN datetime.realtime().epochMillis - 60000 AS at";
        let now = db.client.value::<i64>(minute_ago).await + 1_000 * i64::try_from(number).unwrap();
        match random.below(3) {
            0 => {
                let Some(node) = self.node(random, At::Now(now)) else { return "nothing".to_owned() };
                write(db, vec![node], Vec::new()).await;
                let edges = (0..random.below(4)).filter_map(|_| self.edge(random, At::Now(now), Start::Last));
                let edges: Vec<BoltType> = edges.collect();
                let what = format!("a node with {} relationships", edges.len());
                write(db, Vec::new(), edges).await;
                what
            }
            1 => {
                let Some(edge) = self.edge(random, At::Now(now), Start::Known) else {
                    return "nothing".to_owned();
                };
                write(db, Vec::new(), vec![edge]).await;
                "a relationship".to_owned()
            }
            _ => {
                let Some((is_node, row)) = self.change(random, now) else { return "nothing".to_owned() };
                let what = format!("a change of {row:?}");
                change(db, is_node, row).await;
                what
            }
        }
    }

    /// Draws a change of a row that is there, if the library says when it changes such rows: whether it is a node, and the change.
    fn change(&self, random: &mut Random, now: i64) -> Option<(bool, BoltType)> {
        if random.once_in(2) {
            let node = &self.nodes[random.below(self.nodes.len())];
            let mut drawn = CommonRule::of_node(node.rule).draw(random, At::Now(now), None);
            if let Some(status) = &node.rule.status {
                let live = node.rule.live.first().map_or("", String::as_str);
                drawn.sound.push((status.to_string(), random.pick(&[live, "archived"]).into()));
            }
            // Without its marks it would be no row of the library. Another instant of an episode is found for facts about what it
            // mentions alone, and these facts have any episodes.
            let evidence = self.mapping.relationships.iter().filter_map(|rule| rule.evidence.as_ref());
            let instants = evidence.map(|evidence| evidence.observed.as_str());
            let kept: Vec<&str> = node.rule.marks().map(Name::as_str).chain(instants).collect();
            drawn.without(&kept);
            let change = drawn.param(vec![("number", param(node.number))]);
            (!node.rule.written.is_empty()).then_some((true, change))
        } else {
            let edge = self.edges.get(random.below(self.edges.len().max(1)))?;
            let drawn = CommonRule::of_relation(edge.rule).draw(random, At::Now(now), None);
            let change = drawn.param(vec![("number", param(edge.number))]);
            (!edge.rule.written.is_empty()).then_some((false, change))
        }
    }
}

fn param(number: usize) -> BoltType {
    i64::try_from(number).unwrap().into()
}

/// Writes rows, as the library does.
async fn write(db: &Fresh, nodes: Vec<BoltType>, edges: Vec<BoltType>) {
    let values = VALUES.join(", ");
    let text = format!(
        "WITH [{values}] AS values UNWIND $rows AS r CREATE (n {{testNumber: r.number}}) SET n:$(r.labels) {SET}
         FOREACH (o IN r.owners | CREATE (owner:$(o.label))-[:$(o.type)]->(n) SET owner[o.key] = o.scope)"
    );
    db.client.run(&text, &[("rows", list(nodes))]).await;
    let set = SET.replace("n[", "e[");
    let text = format!(
        "WITH [{values}] AS values UNWIND $rows AS r MATCH (a {{testNumber: r.from}}), (b {{testNumber: r.to}})
         CREATE (a)-[e:$(r.type) {{testNumber: r.number}}]->(b) {set}"
    );
    db.client.run(&text, &[("rows", list(edges))]).await;
}

async fn change(db: &Fresh, is_node: bool, row: BoltType) {
    let pattern = if is_node { "(n {testNumber: r.number})" } else { "()-[n {testNumber: r.number}]->()" };
    let values = VALUES.join(", ");
    let text = format!("WITH [{values}] AS values UNWIND $rows AS r MATCH {pattern} {SET}");
    db.client.run(&text, &[("rows", list([row]))]).await;
}

/// A mirror that follows a library.
struct MirrorFixture<'d> {
    db: &'d Fresh,
    mirror: Arc<Mirror>,
    scopes: Vec<Scope>,
}

impl MirrorFixture<'_> {
    fn mirror(db: &Fresh) -> Arc<Mirror> {
        let mut store = db.config.clone();
        store.similarity.dimensions = Some(3);
        let mirror = Mirror::new(Arc::new(Store::connect(&store).unwrap()), config(1 << 30));
        mirror.keep();
        mirror
    }

    /// What a refreshed mirror has otherwise than one that is loaded now.
    async fn differing(&self, hours: f64) -> Vec<String> {
        let mut found = Vec::new();
        for scope in &self.scopes {
            self.mirror.refresh(scope, at(hours)).await.unwrap();
            // Where nothing changed, weights stay those of an earlier instant for a while.
            let weighed = self.mirror.current(scope).unwrap().view.snapshot().as_of.unwrap();
            let loaded = Self::mirror(self.db);
            loaded.refresh(scope, Timestamp::from_millis(weighed).unwrap()).await.unwrap();
            let [own, other] = [&self.mirror, &loaded].map(|mirror| mirror.current(scope).unwrap().view);
            let difference = compare(&own, &other);
            if !difference.is_none() {
                found.push(format!("{scope}: {difference}"));
            }
            let ask = RecallQuery {
                text: "Ann Acme harbour".to_owned(),
                vector: Some(vec![0.5, -0.5, 0.3]),
                ..RecallQuery::default()
            };
            let [own, other] = [own, other].map(|view| {
                recall(&view, &ask, &rules(), &mut Scratch::default()).map(|found| {
                    found.hits.into_iter().map(|hit| (hit.id, hit.score.to_bits())).collect::<Vec<_>>()
                })
            });
            match (own, other) {
                (Ok(own), Ok(other)) if own == other => {}
                (own, other) => {
                    found.push(format!("{scope} is answered by {own:?}\nwhere a load has {other:?}"))
                }
            }
        }
        found
    }
}

/// Makes every read of rows of other libraries; returns the failures.
async fn read_everything(service: &Service, scopes: &[Scope], keys: &[String]) -> Vec<String> {
    let mut failed = Vec::new();
    let mut note = |what: &str, outcome: Result<(), String>| {
        failed.extend(outcome.err().map(|why| format!("{what}: {why}")));
    };
    note("detect", error_text(service.detect().await));
    note("report", error_text(service.graph_report(at(2.0)).await));
    note("doctor", error_text(service.doctor().await));
    note("status", error_text(service.status(at(2.0)).await));
    for scope in scopes {
        let ask = RecallRequest { text: "Ann Acme harbour".to_owned(), ..RecallRequest::default() };
        note("recall", error_text(service.recall(scope, ask).await));
        note("facts", error_text(service.adopted_facts(scope, at(2.0)).await));
        for keys in keys.chunks(50) {
            for query in ["", "Ann tea"] {
                let request = RerankRequest { query: query.to_owned(), keys: terms(keys), scope: None };
                note("rerank", error_text(service.rerank(scope, request).await));
            }
        }
        note("hidden", error_text(service.hidden(scope).await));
        let verified = service.verify_mirror(scope).await;
        note(
            "verify",
            match verified {
                Ok(difference) if !difference.is_none() => Err(difference.to_string()),
                outcome => error_text(outcome),
            },
        );
    }
    failed
}

/// Pins, hides or accesses a row, or takes that back; returns what failed.
async fn set_state(
    service: &Service,
    random: &mut Random,
    (scope, key): (&Scope, String),
    hours: f64,
) -> Option<String> {
    let [pinned, hidden] = [0, 1].map(|_| random.pick(&[None, Some(true), Some(false)]));
    let accessed = random.once_in(2) || (pinned, hidden) == (None, None);
    let request = StateRequest { keys: terms(&[key]), pinned, hidden, accessed, at: None, scope: None };
    match service.set_states(&once(), scope, &request, at(hours)).await {
        // A key that no row of the scope has is refused.
        Ok(_) | Err(Error::NotFound { .. }) => None,
        Err(why) => Some(format!("{request:?}: {why}")),
    }
}

fn terms(keys: &[String]) -> Vec<Term> {
    keys.iter().map(|key| Term::try_from(key.clone()).unwrap()).collect()
}

/// The rows of the library.
async fn theirs(db: &Fresh) -> Vec<String> {
    let all = everything(&db.client).await.into_iter();
    all.filter(|row| {
        !row.starts_with("(Ebb") && !row.starts_with("((Ebb") && !row.starts_with("(ConsolidationConfig")
    })
    .collect()
}

/// Runs all steps over one graph of a library, and returns what was found.
async fn run_graph(db: &mut Fresh, mapping: &Mapping, random: &mut Random) -> Vec<String> {
    db.config.mappings = vec![mapping.clone()];
    let mut library = Library { mapping, nodes: Vec::new(), edges: Vec::new(), count: 0 };
    let nodes = (0..NODES).filter_map(|_| library.node(random, At::Past)).collect();
    let edges: Vec<BoltType> =
        (0..EDGES).filter_map(|_| library.edge(random, At::Past, Start::Any)).collect();
    write(db, nodes, edges).await;
    let mut scopes = vec![Scope::local()];
    if mapping.is_scoped() {
        scopes.extend(["one", "two"].map(|scope| Scope::new(scope).unwrap()));
    }
    let ebb = MirrorFixture { db, mirror: MirrorFixture::mirror(db), scopes };
    let mut found = ebb.differing(1.0).await;
    let service = db.service("[]");
    for number in 0..CHANGES {
        let mut what = Vec::new();
        for _ in 0..1 + random.below(3) {
            what.push(library.step(db, random, number).await);
        }
        let before = theirs(db).await;
        for _ in 0..random.below(4) {
            let scope = &ebb.scopes[random.below(ebb.scopes.len())];
            let key = format!("k{}", 1 + random.below(library.count));
            found.extend(set_state(&service, random, (scope, key), 1.0 + hundredths(number)).await);
        }
        let differing = ebb.differing(1.0 + hundredths(number)).await;
        if !differing.is_empty() {
            found.push(format!("after change {number}, {}:\n  {}", what.join(", "), differing.join("\n  ")));
            break;
        }
        same(&before, &theirs(db).await, "a refresh, and states");
    }
    let before = theirs(db).await;
    let keys: Vec<String> = (1..=library.count).map(|number| format!("k{number}")).collect();
    found.extend(read_everything(&service, &ebb.scopes, &keys).await);
    same(&before, &theirs(db).await, "reads");
    db.store.uninstall().await.unwrap();
    same(&before, &theirs(db).await, "uninstallation");
    db.store.initialise(&ConsolidationConfig::DOCUMENTED, at(0.0)).await.unwrap();
    found
}

fn hundredths(number: usize) -> f64 {
    0.01 * f64::from(u32::try_from(number).unwrap())
}

/// EBB_LIBRARIES_GRAPHS graphs of each preset, from EBB_LIBRARIES_SEED on.
#[tokio::test(flavor = "multi_thread")]
async fn graphs_of_other_libraries_are_read_followed_and_left_as_they_are() {
    let mut db = fresh().await;
    let mut random = Random::seeded(number_from_env("EBB_LIBRARIES_SEED", 20_261_130));
    for graph in 0..number_from_env("EBB_LIBRARIES_GRAPHS", 1) {
        let seed = random.0;
        for (name, mapping) in presets().unwrap() {
            db.clear().await;
            let found = run_graph(&mut db, &mapping, &mut random).await;
            assert!(
                found.is_empty(),
                "graph {graph} of {name}, EBB_LIBRARIES_SEED={seed}:\n{}",
                found.join("\n")
            );
        }
        eprintln!("graph {graph}: next seed {}", random.0);
    }
}

/// Rules of mem0, and Ebb's own entities, have nodes of one type: which of them has a key is looked up.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_under_several_labels_of_one_type_is_of_several_nodes() {
    let mut db = fresh().await;
    db.config.mappings =
        presets().unwrap().into_iter().filter(|(name, _)| *name == "mem0").map(|(_, of)| of).collect();
    let scope = Scope::new("u").unwrap();
    let (service, mirror) = (db.service("[]"), MirrorFixture::mirror(&db));
    let ebb = MirrorFixture { db: &db, mirror, scopes: vec![scope.clone()] };
    let make = |from: &str, kind: &str, to: &str| {
        let of = |name: &str| {
            format!("name: '{name}', user_id: 'u', created: timestamp(), mentions: 1, embedding: [0.1]")
        };
        let (label, name) = from.split_once(' ').unwrap();
        let fact = "created_at: timestamp(), updated_at: timestamp(), valid: true";
        format!("CREATE (:{label} {{{}}})-[:{kind} {{{fact}}}]->(:thing {{{}}})", of(name), of(to))
    };
    db.client.run(&make("person ann", "likes", "tea"), &[]).await;
    assert_eq!(ebb.differing(1.0).await, [""; 0]);
    let pin = StateRequest {
        keys: terms(&["ann".to_owned()]),
        pinned: Some(true),
        hidden: None,
        accessed: false,
        at: None,
        scope: None,
    };
    service.set_states(&once(), &scope, &pin, at(1.0)).await.unwrap();
    assert_eq!(ebb.differing(1.1).await, [""; 0], "a pinned entity keeps its relations");
    db.client.run(&make("__Entity__ ann", "knows", "bob"), &[]).await;
    assert_eq!(ebb.differing(1.2).await, [""; 0], "one more label has the key");
    let name = |name: &str| EntityName::new(name).unwrap();
    let tie = Tie {
        scope: scope.clone(),
        from: name("ann"),
        kind: RelationType::new("owns").unwrap(),
        to: name("boat"),
    };
    let seen = Observation { at: at(1.2), weight: None, pinned: None };
    let mode = RequestMode::Once { request: "owns", hash: "hash", by: "test" };
    db.store.observe(mode, &[Observe { tie, seen }]).await.unwrap();
    assert_eq!(ebb.differing(1.3).await, [""; 0], "and an entity of Ebb's own");
    let ask = RecallRequest { text: "ann".to_owned(), ..RecallRequest::default() };
    let found: BTreeSet<String> =
        service.recall(&scope, ask).await.unwrap().hits.into_iter().map(|hit| hit.id).collect();
    for id in ["(any label):ann", "__Entity__:ann", "Entity:ann", "tea", "bob", "boat"] {
        assert!(found.contains(id), "{id} is not in {found:?}");
    }
}

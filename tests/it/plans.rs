//! The plan of every statement, on a database with some thousand rows of everything.
//!
//! A statement that is right and slow is found late, on somebody's large graph. So each is held to a gate (starts from
//! an index, gathers nothing that has no bound, multiplies nothing), and its operators to a golden file, where a change
//! of plan is a diff to be read. `schema/` is left out: the server plans none of it.

use crate::harness::neo4j::{Fresh, fresh};
use crate::harness::plan::Plan;
use ebb_core::store::catalogue::ALL;
use ebb_core::store::statement::Statement;
use std::fmt::Write;

/// The server series whose plans the golden file shows, at the version that Ebb starts: another one may differ in an operator.
const SERIES: &str = "5.26";
const STARTED: &str = include_str!("../../config/neo4j/pom.xml");

/// What hot statements start from, whatever the golden file says.
const HOT: &[(&str, &str)] = &[
    ("adopted/accesses", "Room(id)"),
    ("adopted/around", "Room(id)"),
    ("adopted/edges", "Room(id)"),
    ("adopted/nodes", "Room(id)"),
    ("adopted/numbers", "Room(scope, id)"),
    ("adopted/set_states", "EbbState(scope, kind, key)"),
    ("adopted/states", "EbbState(scope, kind, key)"),
    ("attempt/claim", "Memory(ripeAt)"),
    ("attempt/guard", "ConsolidationAttempt(id)"),
    ("attempt/overdue", "ConsolidationAttempt(state)"),
    ("cluster/around", "Memory(scope, id)"),
    ("cluster/due", "Memory(clusterDue)"),
    ("cluster/suspect", "Memory(id)"),
    ("coactivation/accessed", "Session(scope, id)"),
    ("change/since", "EbbChange(at)"),
    ("coactivation/due", "Session(coactivateDue)"),
    ("coactivation/find", "Session(id)"),
    ("coactivation/raise", "Memory(scope, id)"),
    ("embedding/due", "Memory(embedDue)"),
    ("embedding/find", "Memory(id)"),
    ("embedding/write", "Memory(scope, id)"),
    ("erasure/guard", "EbbErasure(open)"),
    ("erasure/list", "EbbErasure(scope, at)"),
    ("erasure/unfinished", "EbbErasure(open)"),
    ("fact/about", "EbbEntity(scope, name)"),
    ("fact/decay", "Fact(scope, id)"),
    ("fact/head", "Fact(scope, id)"),
    ("fact/heads", "EbbLineage(scope, key)"),
    ("fact/history", "Fact(scope, id)"),
    ("fact/list", "EbbLineage(scope, key)"),
    ("fact/lock", "EbbLineage(key)"),
    ("fact/trim", "Fact(scope, id)"),
    ("import/guard", "EbbImport(key)"),
    ("journal/entries", "EbbJournal(run)"),
    ("journal/lock", "Room(scope, id)"),
    ("journal/read", "Room(scope, id)"),
    ("journal/trim", "EbbJournal(recorded)"),
    ("memory/decay", "Memory(dueAt)"),
    ("memory/expires", "Memory(dueAt)"),
    ("memory/list", "Memory(scope, id)"),
    ("memory/live", "Memory(scope, id)"),
    ("memory/lock", "Memory(scope, id)"),
    ("memory/newest", "Memory(scope, created)"),
    ("memory/read", "Memory(scope, id)"),
    ("memory/ripe", "Memory(ripeAt)"),
    ("memory/update", "Memory(scope, id)"),
    ("memory/write", "Memory(scope, id)"),
    ("mirror/census", "Room(scope, id)"),
    ("mirror/find", "Room(scope, id)"),
    ("mirror/publish", "EbbCounter(name)"),
    ("mirror/status", "EbbCounter(name)"),
    ("mirror/trim", "EbbCounter(name)"),
    ("outcome/learned", "EbbRequest(id)"),
    ("outcome/waiting", "EbbRequest(waits, at, id)"),
    ("recall_guard/read", "EbbCounter(name)"),
    ("recall_guard/record", "EbbCounter(name)"),
    ("request/open", "EbbRequest(id)"),
    ("request/record", "EbbRequest(id)"),
    ("restore/relationships", "EbbRestored(ebbRestored)"),
    ("run/guard", "EbbRun(job, occurrence)"),
    ("sweep/read", "EbbSweepJob(id)"),
    ("scope/delete", "Room(scope, id)"),
    ("scope/first", "Room(scope, id)"),
    ("scope/numbers", "Room(scope, id)"),
    ("session/made", "Memory(sessionId)"),
    ("synapse/arriving", "EbbSynapse(scope, target)"),
    ("synapse/leaving", "EbbSynapse(scope, source)"),
    ("synapse/since", "EbbSynapse(scope, tick)"),
    ("synapse/trim", "EbbSynapse(scope, tick)"),
    ("synapse/write", "EbbSynapse(key)"),
    ("trail/evaporate_edges", "HALL(pheromone_cycle)"),
    ("trail/evaporate_places", "Room(pheromone_cycle)"),
    ("trail/find", "Room(id)"),
    ("trail/hot", "HALL(pheromone_cycle)"),
    ("trail/lock", "Room(id)"),
    ("session/open", "Session(scope, id)"),
    ("session/trim", "Session(id)"),
];

/// Statements that read a page in the order of their index. One that sorts reads all that follows for each page.
const PAGED: &[&str] = &[
    "fact/heads",
    "fact/history",
    "fact/list",
    "fact/page_end",
    "fact/trim",
    "memory/list",
    "memory/newest",
    "mirror/census",
    "outcome/waiting",
];

/// Statements that read a whole label, index or type, and why they may.
const SCANS: &[(&str, &str)] = &[
    ("layout/nodes", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("layout/node_sample", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("layout/relationships", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("layout/relationship_sample", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("layout/unknown", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/dangling", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/degrees", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/entering", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/hubs", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/names", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/node_days", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/node_instants", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/node_keys", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/relationship_days", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/relationship_instants", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("report/relationship_keys", "a person asks about rows without an index of Ebb; ends at a limit"),
    ("adopted/facts", "the key has the index that its library gave it, which is not one of Ebb's"),
    (
        "adopted/written_accesses",
        "the instant has the index that its library gave it, which is not one of Ebb's",
    ),
    (
        "adopted/written_beyond",
        "the instant has the index that its library gave it, which is not one of Ebb's",
    ),
    (
        "adopted/written_edges",
        "the instant has the index that its library gave it, which is not one of Ebb's",
    ),
    ("config/initialised", "one node"),
    ("config/settings", "one node"),
    ("inspect/clusters", "a person asks, now and then, about all clusters"),
    ("inspect/clusters_graph", "a person asks, now and then, about all clusters"),
    ("inspect/coactivation", "a person asks, now and then, about all pairs"),
    ("inspect/reinforcements", "a person asks, now and then, about all that was strengthened"),
    ("key/closed", "whether there is any: one is read"),
    ("key/list", "keys are few, and all of them are wanted"),
    ("relation/rewind", "a person asks the doctor, after a clock was wrong"),
    ("session/rewind", "a person asks the doctor, after a clock was wrong"),
    ("session/rewind_accesses", "a person asks the doctor, after a clock was wrong"),
    ("coactivation/rewind", "a person asks the doctor, after a clock was wrong"),
    ("run/rewind", "counters are few; a person asks the doctor, after a clock was wrong"),
    ("tombstone/trim", "the daily audit, where a person set a time, looks at all tombstones"),
    ("key/live", "keys are few, and those that have ended are removed"),
    ("key/open", "whether there is any: one is read"),
    ("key/prune", "keys are few, and those that have ended are removed"),
    ("inspect/facts", "a person asks, now and then, about the lineages that sweeps have changed"),
    ("inspect/policies", "policies are a handful"),
    ("policy/read", "policies are a handful"),
    ("policy/set", "policies are a handful"),
    ("fact/foreign", "the absence of a label has no index; asked only when the counts differ"),
    ("memory/health", "a person asks, now and then, about all memories"),
    ("coactivation/known", "ends a scan of all sessions"),
    ("session/adopt", "the absence of a label has no index; asked only when the counts differ"),
    ("attempt/list", "a person asks, now and then, about all of them"),
    ("attempt/marks", "claims are few and short-lived; the type is the list of them"),
    ("config/ensure", "a node made as documented has no name to find it by; there is one, or two"),
    ("inspect/attempts", "a person asks, now and then, about all of them"),
    ("inspect/states", "a person asks, now and then, about all of them"),
    ("inspect/conflicts", "a person asks, now and then, about all of them"),
    ("inspect/health", "a person asks, now and then, about all memories"),
    ("inspect/last_runs", "a person asks, now and then; the ledger is trimmed"),
    ("inspect/learned", "a person asks, now and then, about all that was learned"),
    ("inspect/promotions", "a person asks, now and then, about all promotions"),
    ("inspect/quarantine", "the label is the answer; of relations, a person asks, now and then, about all"),
    ("inspect/relations_below_minimum", "a person asks, now and then, about all relations"),
    ("trail/release_edges", "a reason has no index; a person asks, now and then"),
    ("trail/release_places", "a reason has no index; a person asks, now and then"),
    ("relation/release", "a reason has no index; a person asks, now and then"),
    ("server/quarantined", "a reason has no index; a person asks, now and then"),
    ("server/future_rows", "the dates have no index; a person asks, now and then"),
    ("embedding/others", "the model has no index; a person asks the doctor"),
    ("memory/rewind", "the dates have no index; a person asks, now and then"),
    ("fact/rewind", "the date has no index; a person asks, now and then"),
    ("relation/foreign", "the absence of a key has no index; part of a pass that reads every relation"),
    ("uninstall/count", "a person removes Ebb, once: a mark is found wherever it is"),
    ("uninstall/nodes", "a person removes Ebb, once: a mark is found wherever it is"),
    ("uninstall/relationships", "a person removes Ebb, once: a mark is found wherever it is"),
    ("uninstall/own", "the labels are the list of what is removed"),
    ("backup/last", "a backup reads everything, in ranges of numbers, of which this finds the greatest"),
    ("adopted/stated_scopes", "asked once, at the end of a restore"),
    ("restore/clear", "the label is the list of what is removed"),
    ("restore/clear_initial", "the labels are the list of what is removed"),
    ("restore/occupants", "asked once, at the beginning of a restore into a database that should be empty"),
    ("restore/release", "the label is the list of what was marked"),
    ("inspect/sessions", "a person asks, now and then, about all sessions"),
    ("memory/adopt", "the absence of a label has no index; asked only when the counts differ"),
    ("run/inputs", "one relationship of the type, or none, is all that is read"),
    ("memory/release", "the label is the list of what was set aside"),
    ("memory/tiers", "counts all memories in the index of the tier, for a person who asks"),
    ("memory/timeline", "a person asks, now and then, for the picture of all memories"),
    ("entity/adopt", "the absence of a label has no index; begins only where entities without it are there"),
    (
        "entity/missing",
        "the absence of a label has no index; begins only where entities without it are there and one is new",
    ),
    ("migration/duplicates", "runs once, before the constraints exist"),
    ("migration/entities", "runs once, at an upgrade"),
    ("migration/memories", "runs once, at an upgrade"),
    ("migration/relations", "runs once, at an upgrade"),
    ("inspect/places_cold", "a person asks, now and then, about all places"),
    ("inspect/trails_hot", "a person asks, now and then, about all edges"),
    ("inspect/trails_hot_graph", "a person asks, now and then, about all edges"),
    ("inspect/trails_silent", "a person asks, now and then, about all edges"),
    ("trail/adopt_edges", "the absence of a cycle has no index; part of a pass that reads every active edge"),
    (
        "trail/adopt_places",
        "the absence of a cycle has no index; part of a pass that reads every active place",
    ),
    ("trail/cold", "a person asks, now and then, about all places"),
    ("migration/list", "a row for each migration: a handful"),
    ("scope/changes", "a scope is deleted: records of a day, whose names have no index"),
    ("scope/journal", "a scope is deleted: the journal has no index by scope"),
    ("run/history", "a person asks, now and then; the ledger is trimmed"),
];

/// Statements that read in two ways and put the rows together, and why they may.
const UNIONS: &[(&str, &str)] = &[
    ("embedding/due", "each reads up to its limit, from its end of one index; one of the limits is 0"),
    ("layout/names", "both are lists of the database's names"),
    ("report/dangling", "a person asks, now and then; keys of both are grouped together, without an index"),
    ("inspect/conflicts", "a person asks, now and then, about both"),
    ("cluster/read", "both are lists of keys"),
    ("inspect/quarantine", "a person asks, now and then, about both"),
    ("inspect/trails_hot", "a person asks, now and then, about each type of edge"),
    ("inspect/trails_hot_graph", "a person asks, now and then, about each type of edge"),
    ("memory/history", "both read the relationships of one memory"),
    ("memory/tiers", "a person asks; counts of an index, of a label and of the few quarantined rows"),
    ("migration/duplicates", "runs once, before the constraints exist"),
    ("run/ask", "one key, and the open runs: at most one for each job"),
];

/// Statements that gather what they reach from one key, and why that is bounded.
const GATHERS: &[(&str, &str)] = &[
    ("change/record", "one node"),
    ("request/record", "the list is of the requests that share a transaction, of each one node"),
    ("config/settings", "one node"),
    (
        "scope/delete",
        "the relationships within the scope of a page of rows, of which each is deleted or emptied",
    ),
    ("git/write_files", "the list is a page of paths, of each one node in a scope"),
    ("git/remove_files", "the list is a page of paths, of each one node in a scope"),
    ("git/write_accesses", "the list is a page of changes, of each one relationship"),
    ("attempt/finish", "the marks of one claim"),
    ("attempt/reap", "the marks of one claim"),
    ("fact/lock", "the list is a page of keys, and a lineage has one head"),
    ("cluster/leave", "a memory belongs to one cluster, or to the few that another writer gave it"),
    ("trail/lock", "a label has one place of an id in each scope, and the id in few scopes"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_has_the_plan_it_was_reviewed_with() {
    let db = fresh().await;
    fill(&db).await;
    let (mut golden, mut offences, mut excused) = (String::new(), String::new(), Vec::new());
    for statement in ALL.iter().filter(|statement| !statement.name.starts_with("schema/")) {
        let plan = Plan::of(&db, statement.body()).await;
        let mut found = Vec::new();
        gate(statement, &plan, &mut found, &mut excused);
        if !found.is_empty() {
            write!(offences, "{}\n{}", found.join("\n"), plan.tree()).unwrap();
        }
        write!(golden, "{}\n{}\n", statement.name, plan.tree()).unwrap();
    }
    assert!(offences.is_empty(), "plans that may not be:\n{offences}");
    let version = db.store.about().await.unwrap().version;
    if STARTED.contains(&format!("<neo4j.version>{version}</neo4j.version>")) {
        for (table, excuses) in [("SCANS", SCANS), ("UNIONS", UNIONS), ("GATHERS", GATHERS)] {
            for (name, _) in excuses {
                assert!(excused.contains(&(table, *name)), "{table}: {name} needs no excuse: remove it");
            }
        }
        insta::assert_snapshot!(format!("plans_{SERIES}"), golden);
    }
}

/// The first plan of a statement is made where nothing is, and serves the first large import: the server makes another one after
/// ten seconds at the earliest.
#[tokio::test(flavor = "multi_thread")]
async fn no_statement_scans_because_its_plan_was_made_for_an_empty_database() {
    let db = fresh().await;
    db.client.run(include_str!("../../cypher/schema/restored.cypher"), &[]).await;
    db.client.run("CALL db.awaitIndexes(300)", &[]).await;
    // A person asks about what was there before the question; edges are marked that were read before.
    none_scans(&db, &["report/hub_relationships", "trail/mark_edges"]).await;
}

/// The server estimates what an index holds from a sample that it takes now and then. In the first seconds of a first import
/// a sample tells of nothing, and to scan a whole index for each row seems to cost as little: look-ups name an index to seek in.
#[tokio::test(flavor = "multi_thread")]
async fn no_statement_scans_because_its_index_was_sampled_before_it_grew() {
    let db = fresh().await;
    db.client.run("CALL db.prepareForReplanning(300)", &[]).await;
    rows(&db).await;
    // The key of another library's row has the index that the library gave it, which was there before Ebb; a deletion of a
    // scope, once a page, goes by keys whose names differ by label.
    none_scans(&db, &["adopted/", "scope/"]).await;
}

/// Plans every statement anew, but for those that may scan.
async fn none_scans(db: &Fresh, excused: &[&str]) {
    db.drop_plans().await;
    let (mut offences, mut looked) = (Vec::new(), 0);
    let may_scan = |name: &str| {
        SCANS.iter().any(|(scans, _)| *scans == name) || excused.iter().any(|scans| name.starts_with(scans))
    };
    for statement in ALL.iter().filter(|one| !one.name.starts_with("schema/") && !may_scan(one.name)) {
        let plan = Plan::of(db, statement.body()).await;
        let scans = |leaf: &&Plan| leaf.kind().contains("Scan");
        offences.extend(
            plan.leaves()
                .into_iter()
                .filter(scans)
                .map(|leaf| format!("{}: {} {}", statement.name, leaf.kind(), leaf.start())),
        );
        looked += 1;
    }
    assert!(looked > 200 && offences.is_empty(), "{looked}: {offences:#?}");
}

/// What quarantines a row on which a statement failed is a statement of its own to the server, and sets a mark.
#[tokio::test(flavor = "multi_thread")]
async fn every_quarantining_text_is_one_and_stops_at_its_page() {
    let db = fresh().await;
    let mut looked = 0;
    for statement in ALL.iter().filter(|statement| !statement.header().quarantine.is_empty()) {
        let text = statement.quarantining(statement.body());
        assert!(text.contains("LIMIT $limit\n"), "{}: has no page", statement.name);
        let plan = Plan::of(&db, &text).await;
        let sets = |plan: &Plan| plan.kind() == "SetLabels" || plan.kind().starts_with("Set");
        assert!(plan.all().into_iter().any(sets), "{}: marks nothing", statement.name);
        looked += 1;
    }
    assert_eq!(looked, 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_sees_a_bad_plan() {
    let bad = [
        ("MATCH (n {id: $id}) RETURN n.tier AS tier", "AllNodesScan"),
        ("MATCH (m:Memory) WHERE m.content = $text RETURN m.id AS id", "NodeByLabelScan"),
        ("MATCH (a)-[r:MENTIONS]-(b) RETURN r", "Undirected"),
        ("MATCH (m:Memory) WHERE m.dueAt > $due OR m.ripeAt > $due RETURN m.id AS id LIMIT 10", "Union"),
        (
            "MATCH (a:Memory {tier: $a}) MATCH (b:Memory {tier: $b}) RETURN a.id AS a, b.id AS b",
            "CartesianProduct",
        ),
        (
            "MATCH (m:Memory {tier: $a}) SET m.ebbLock = true WITH m WHERE m.tier = $a SET m.tier = $b",
            "Eager",
        ),
    ];
    let db = fresh().await;
    for (text, expected) in bad {
        let statement = Statement { name: "memory/bad", file: text };
        let mut offences = Vec::new();
        gate(&statement, &Plan::of(&db, text).await, &mut offences, &mut Vec::new());
        assert!(offences.iter().any(|offence| offence.contains(expected)), "{text}: {offences:?}");
    }
    let text = "MATCH (m:Memory) USING INDEX SEEK m:Memory(scope, id) WHERE m.scope = $scope AND m.id > $after \
                RETURN m.id AS id ORDER BY id LIMIT $limit";
    let sorted = Statement { name: "memory/list", file: text };
    let mut offences = Vec::new();
    gate(&sorted, &Plan::of(&db, text).await, &mut offences, &mut Vec::new());
    assert!(offences.iter().any(|offence| offence.contains("its index has in order")), "{offences:?}");
    let swept = Statement { name: "memory/decay", file: "MATCH (m:Memory {tier: $tier}) RETURN m.id AS id" };
    let mut offences = Vec::new();
    gate(&swept, &Plan::of(&db, swept.file).await, &mut offences, &mut Vec::new());
    assert_eq!(offences, ["memory/decay: does not start from Memory(dueAt), but from [\"Memory(tier)\"]"]);
}

/// What a plan may not do.
fn gate(
    statement: &Statement,
    plan: &Plan,
    offences: &mut Vec<String>,
    excused: &mut Vec<(&'static str, &'static str)>,
) {
    let mut offend = |what: String| offences.push(format!("{}: {what}", statement.name));
    let mut excuse = |table: &'static str, excuses: &[(&'static str, &'static str)]| {
        let found = excuses.iter().find(|(name, _)| *name == statement.name);
        excused.extend(found.map(|(name, _)| (table, *name)));
        found.is_some()
    };
    for plan in plan.all() {
        let (kind, details) = (plan.kind(), plan.details());
        // A mark is found wherever it is.
        let is_of_all = kind == "AllNodesScan"
            && !["uninstall/", "backup/"].iter().any(|folder| statement.name.starts_with(folder))
            && statement.name != "restore/occupants";
        let forbidden = is_of_all || kind.starts_with("Undirected");
        if forbidden || (kind.contains("Scan") && !excuse("SCANS", SCANS)) {
            offend(format!("{kind} {details}"));
        }
        if PAGED.contains(&statement.name) && (kind == "Top" || kind == "Sort") {
            offend(format!("{kind} of what its index has in order"));
        }
        if kind == "Union" && !excuse("UNIONS", UNIONS) {
            offend("a Union: reads everything each time".to_owned());
        }
        let inputs = plan.children();
        if kind == "CartesianProduct" && inputs.iter().filter(|input| !input.single()).count() > 1 {
            offend("a CartesianProduct of two inputs that both may have many rows".to_owned());
        }
        if kind == "Eager" && !inputs.iter().all(Plan::bounded) && !excuse("GATHERS", GATHERS) {
            offend(format!("an Eager over rows without a bound: {details}"));
        }
    }
    let starts: Vec<String> = plan.leaves().into_iter().map(Plan::start).collect();
    if let Some((_, index)) = HOT.iter().find(|(name, _)| *name == statement.name)
        && !starts.iter().any(|start| start == index)
    {
        offend(format!("does not start from {index}, but from {starts:?}"));
    }
}

/// Rows, and the statistics that the planner goes by.
async fn fill(db: &Fresh) {
    rows(db).await;
    db.client.run("CALL db.prepareForReplanning(300)", &[]).await;
}

async fn rows(db: &Fresh) {
    let text = include_str!("../fixtures/plans.cypher");
    for statement in text.split(";\n").filter(|statement| !statement.trim().is_empty()) {
        db.client.run(statement, &[]).await;
    }
    db.client.run("CALL db.awaitIndexes(300)", &[]).await;
}

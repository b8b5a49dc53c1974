//! A restart: the first answer comes from the state that was saved, says how old it is, and what changed meanwhile follows;
//! a state that does not fit the database or the settings, or is damaged, is not used.

use crate::harness::ebb::{UNGUARDED, access, id};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::mirror::{about, config, rules};
use ebb_core::clock::new_id;
use ebb_core::domain::event::Event;
use ebb_core::domain::ids::Scope;
use ebb_core::domain::relation::Fading;
use ebb_core::domain::trail::MirroredLabel;
use ebb_core::jobs::JobName;
use ebb_core::mirror::compare::compare;
use ebb_core::mirror::{Config, Current, Mirror, RefreshOutcome, saving};
use ebb_core::store::{self, RequestMode, Store};
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::{CausalTable, Kinds};
use ebb_engine::plasticity::PlasticityConfig;
use ebb_engine::recall::{RecallQuery, recall};
use ebb_engine::scratch::Scratch;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

fn local() -> Scope {
    Scope::local()
}

fn settings(folder: &Path) -> Config {
    let saves = Some(saving::Config { folder: folder.to_owned(), every: 1_000 });
    Config { saves, ..config(1 << 30) }
}

fn mirror(db: &Fresh, config: Config) -> Arc<Mirror> {
    mirror_of(&db.config, config)
}

/// The mirror of a process that refreshes it at intervals, so that requests are answered from a file at once.
fn mirror_of(store: &store::Config, config: Config) -> Arc<Mirror> {
    let mirror = Mirror::new(Arc::new(Store::connect(store).unwrap()), config);
    mirror.keep();
    mirror
}

/// Some memories and relations, of which one was learned; saved by a process that ended at hour 1.
async fn saved(db: &Fresh, folder: &Path) -> Current {
    let said = [
        about("m1", 0.0, "The parser was written by Alex in spring", &["Parser", "Alex"]),
        about("m2", 0.1, "Lunch was good", &["Alex"]),
        about("m3", 0.2, "Nothing to do with it", &["Weather"]),
    ];
    db.apply(&said).await;
    teach(db, &["m1", "Alex"], 0.3).await;
    let first = mirror(db, settings(folder));
    assert_eq!(first.refresh(&local(), at(1.0)).await.unwrap(), RefreshOutcome::Loaded);
    first.save_states().await;
    first.current(&local()).unwrap()
}

async fn teach(db: &Fresh, nodes: &[&str], hours: f64) {
    let nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
    crate::jobs::learn::file(db, "local", &[(nodes, 1.0)]).await;
    assert_eq!(db.run(JobName::Learn, hours).await.tally.scanned, 1);
}

async fn forget(db: &Fresh, name: &str, hours: f64) {
    let request = new_id();
    let once = RequestMode::Once { request: &request, hash: "h", by: "test" };
    db.store.forget(once, (&local(), &[id(name)]), at(hours), (&UNGUARDED, None)).await.unwrap();
}

fn hits(current: &Current, text: &str) -> Vec<String> {
    let ask = RecallQuery { text: text.to_owned(), ..RecallQuery::default() };
    let found = recall(&current.view, &ask, &rules(), &mut Scratch::default()).unwrap();
    found.hits.into_iter().map(|hit| hit.id).collect()
}

fn state_file(folder: &Path) -> PathBuf {
    folder.join("local.state")
}

/// Whether the first answer of a new process is that of the file, which is as of hour 1.
async fn uses_file(mirror: &Arc<Mirror>) -> bool {
    let current = mirror.ready(&local(), at(3.0)).await.unwrap();
    assert!([at(1.0), at(3.0)].contains(&current.as_of), "{:?}", current.as_of);
    current.as_of == at(1.0)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_answer_comes_from_the_file_and_changes_follow() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    let inner = folder.path().join("made/here");
    let before = saved(&db, &inner).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&inner), mode(&state_file(&inner))), (0o700, 0o600), "only its owner may read it");

    // Meanwhile another process adds, changes, deletes and learns.
    db.apply(&[about("m4", 1.1, "Alex left the compiler to Kim", &["Alex", "Kim"])]).await;
    db.apply(&[Event::Access(access("m2", 1.2))]).await;
    forget(&db, "m3", 1.3).await;
    teach(&db, &["m2", "Alex"], 1.4).await;

    let again = mirror(&db, settings(&inner));
    let first = again.ready(&local(), at(3.0)).await.unwrap();
    assert_eq!((first.as_of, first.view.generation()), (at(1.0), before.view.generation()));
    assert!(first.age().as_secs() >= 2 * 3_600, "it says how old it is: {:?}", first.age());
    assert!(first.since_read() >= first.age(), "nor was all of it read since");
    assert!(compare(&first.view, &before.view).is_none());
    assert_eq!((first.learned, first.ticks()), (before.learned, before.ticks()));
    for question in ["who wrote the Parser", "lunch", "Weather"] {
        assert_eq!(hits(&first, question), hits(&before, question));
    }
    again.woken().await;

    assert_eq!(again.refresh(&local(), at(3.0)).await.unwrap(), RefreshOutcome::Patched);
    let caught_up = again.current(&local()).unwrap();
    let loaded = mirror(&db, config(1 << 30));
    assert_eq!(loaded.refresh(&local(), at(3.0)).await.unwrap(), RefreshOutcome::Loaded);
    let loaded = loaded.current(&local()).unwrap();
    let difference = compare(&caught_up.view, &loaded.view);
    assert!(difference.is_none(), "{difference}");
    assert_eq!((caught_up.as_of, caught_up.ticks(), caught_up.learned), (at(3.0), (2, 2), loaded.learned));
    for question in ["who wrote the Parser", "lunch", "Weather", "Kim"] {
        assert_eq!(hits(&caught_up, question), hits(&loaded, question));
    }
    assert!(again.verify(&local(), at(3.0)).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_keeps_no_mirror_loads_its_own() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    saved(&db, folder.path()).await;
    db.client.run("MATCH (m:Memory {id: 'm1'}) DETACH DELETE m", &[]).await;
    let once = Mirror::new(Arc::new(Store::connect(&db.config).unwrap()), settings(folder.path()));
    let current = once.ready(&local(), at(3.0)).await.unwrap();
    assert_eq!(current.as_of, at(3.0));
    assert!(!hits(&current, "who wrote the Parser").contains(&"m1".to_owned()), "also without a record");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_of_other_settings_is_not_used() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    saved(&db, folder.path()).await;
    let same = || settings(folder.path());
    assert!(uses_file(&mirror(&db, same())).await);
    let none: [&str; 0] = [];
    let others = [
        ("limit", Config { max_bytes: 1 << 29, ..same() }),
        ("scopes", Config { scopes: vec![local(), Scope::new("other").unwrap()], ..same() }),
        ("expired", Config { expired: false, ..same() }),
        ("causal", Config { kinds: Kinds::new(CausalTable::new(&none, &none).unwrap()), ..same() }),
        ("weights", Config { range: WeightRange { cap: 4.0, ..WeightRange::default() }, ..same() }),
        ("decay", Config { rules: PlasticityConfig::new(0.3, 0.01).unwrap(), ..same() }),
        ("off", Config { saves: None, ..same() }),
    ];
    for (what, other) in others {
        assert!(!uses_file(&mirror(&db, other)).await, "{what}");
    }
    let mut labels = db.config.clone();
    labels.trails.mirrored = vec![MirroredLabel::new("Source=File").unwrap()];
    assert!(!uses_file(&mirror_of(&labels, same())).await, "labels");
    let half_life = store::Config { fading: Fading::new(30.0, 0.10).unwrap(), ..db.config.clone() };
    assert!(!uses_file(&mirror_of(&half_life, same())).await, "half-life");

    // The file of one scope under the name of another.
    let other = Scope::new("other").unwrap();
    fs::copy(state_file(folder.path()), folder.path().join("other.state")).unwrap();
    let renamed = mirror(&db, Config { scopes: vec![other.clone()], ..same() });
    let current = renamed.ready(&other, at(3.0)).await.unwrap();
    assert_eq!((current.as_of, current.view.graph().node_count()), (at(3.0), 0));
    assert!(uses_file(&mirror(&db, same())).await, "none of these changed it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_of_another_database_is_not_used() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    let same = || settings(folder.path());
    saved(&db, folder.path()).await;
    assert!(uses_file(&mirror(&db, same())).await);
    // A backup of before the last change has all but that change.
    let last = "MATCH (c:EbbChange) WITH c ORDER BY c.at DESC LIMIT 1 DETACH DELETE c";
    db.client.run(last, &[]).await;
    assert!(!uses_file(&mirror(&db, same())).await, "a backup");

    let fresh_one = mirror(&db, same());
    fresh_one.refresh(&local(), at(1.0)).await.unwrap();
    fresh_one.save_states().await;
    assert!(uses_file(&mirror(&db, same())).await);
    db.client.run("MATCH (m:EbbMigration) SET m.applied = m.applied + duration('PT1S')", &[]).await;
    assert!(!uses_file(&mirror(&db, same())).await, "initialised again");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_changes_tell_too_little_the_file_answers_until_all_is_read() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    saved(&db, folder.path()).await;
    // The last change was longer ago than changes are kept.
    db.client.run("MATCH (c:EbbChange) DELETE c", &[]).await;
    let first = mirror(&db, settings(folder.path()));
    first.refresh(&local(), at(1.0)).await.unwrap();
    first.save_states().await;
    db.client.run("MATCH (m:Memory {id: 'm1'}) DETACH DELETE m", &[]).await;

    let again = mirror(&db, settings(folder.path()));
    assert!(uses_file(&again).await);
    let shown = |mirror: &Mirror| {
        let current = mirror.current(&local()).unwrap();
        hits(&current, "who wrote the Parser").contains(&"m1".to_owned())
    };
    assert!(shown(&again));
    assert_eq!(again.refresh(&local(), at(3.0)).await.unwrap(), RefreshOutcome::Loaded);
    assert!(!shown(&again));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_state_is_not_used() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    saved(&db, folder.path()).await;
    let file = state_file(folder.path());
    let sound = fs::read(&file).unwrap();
    let uses = async |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        uses_file(&mirror(&db, settings(folder.path()))).await
    };
    for part in 0..=12 {
        let place = (sound.len() - 1) * part / 12;
        assert!(!uses(&sound[..place]).await, "the first {place} bytes");
        let mut flipped = sound.clone();
        flipped[place] ^= 1;
        assert!(!uses(&flipped).await, "byte {place}");
    }
    let mut longer = sound.clone();
    longer.push(0);
    assert!(!uses(&longer).await);
    let mut older = sound.clone();
    let version = b"ebb mirror state ".len();
    older[version] += 1;
    hash_again(&mut older);
    assert!(!uses(&older).await, "another version");
    assert!(!uses(b"{\"version\":3,\"nodes\":[],\"edges\":[]}").await);
    assert!(uses(&sound).await);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(!uses_file(&mirror(&db, settings(folder.path()))).await, "a folder");
}

/// Replaces the hash at the end of a file by that of its content.
fn hash_again(bytes: &mut [u8]) {
    let end = bytes.len() - 8;
    let sum = xxh3_64(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

/// The hash keeps out damage, not malice: so what it lets through must not make a load or a query fail either.
#[tokio::test(flavor = "multi_thread")]
async fn no_content_of_a_file_makes_a_query_fail() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    saved(&db, folder.path()).await;
    let file = state_file(folder.path());
    let sound = fs::read(&file).unwrap();
    let mut used = 0;
    for step in 0..120 {
        let mut changed = sound.clone();
        // Between the version and the hash.
        let place = 19 + (sound.len() - 27) * step / 120;
        changed[place] = changed[place].wrapping_add(1 + u8::try_from(step).unwrap());
        hash_again(&mut changed);
        fs::write(&file, &changed).unwrap();
        let again = mirror(&db, settings(folder.path()));
        let current = again.ready(&local(), at(3.0)).await.unwrap();
        used += u32::from(current.as_of != at(3.0));
        for question in ["who wrote the Parser", "lunch", "Weather"] {
            hits(&current, question);
        }
    }
    assert!(used > 0, "some changes make another name, and are noticed by nothing");
}

/// A dump takes back what was written after it, and the records of these changes with it; the process goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_process_loads_a_database_that_was_set_back() {
    let (db, folder) = (fresh().await, tempfile::tempdir().unwrap());
    let first = saved(&db, folder.path()).await;
    // However long nothing changes, the latest record is kept, also where it is of a request that may be repeated no longer.
    db.client.run("MATCH (c:EbbChange) SET c.at = c.at - duration({days: 2})", &[]).await;
    db.run(JobName::Audit, 1.0).await;
    assert_eq!(db.client.value::<i64>("MATCH (c:EbbRequest) RETURN count(c)").await, 0);
    assert_eq!(db.client.value::<i64>("MATCH (c:EbbChange) RETURN count(c)").await, 1);
    let mirror = mirror(&db, settings(folder.path()));
    mirror.refresh(&local(), at(1.0)).await.unwrap();
    assert!(mirror.outdated(at(1.0)).await.unwrap().is_empty(), "it is the database that was read");

    // It gives way to a later one as soon as that is an hour old, and not before.
    db.apply(&[about("m4", 1.0, "Sam wrote the compiler", &["Sam"])]).await;
    db.run(JobName::Audit, 1.0).await;
    assert_eq!(mirror.outdated(at(1.0)).await.unwrap(), [local()]);
    assert_eq!(mirror.catch_up(&local(), at(1.0)).await.unwrap(), RefreshOutcome::Patched);
    let other = Scope::new("other").unwrap();
    mirror.ready(&other, at(1.0)).await.unwrap();

    db.client.run("MATCH (c:EbbChange) DETACH DELETE c", &[]).await;
    db.client.run("MATCH (m:Memory {id: 'm1'}) DETACH DELETE m", &[]).await;
    let state = fs::read(state_file(folder.path())).unwrap();
    mirror.save_states().await;
    assert_eq!(
        fs::read(state_file(folder.path())).unwrap(),
        state,
        "no state of another database beside its id"
    );
    // Something is written before anybody looks.
    db.apply(&[about("m6", 1.0, "Lunch was late", &["Alex"])]).await;
    assert_eq!(mirror.sweep(at(1.0)).await.unwrap(), [local(), other.clone()]);
    let before = mirror.current(&local()).unwrap();
    assert!(before.is_behind() && hits(&before, "who wrote the Parser").contains(&"m1".to_owned()));
    assert_eq!(mirror.outdated(at(1.0)).await.unwrap(), [local(), other.clone()], "until they are loaded");
    assert_eq!(mirror.catch_up(&other, at(1.0)).await.unwrap(), RefreshOutcome::Loaded);
    assert_eq!(mirror.catch_up(&local(), at(1.0)).await.unwrap(), RefreshOutcome::Loaded);
    let after = mirror.current(&local()).unwrap();
    assert!(!after.is_behind() && after.view.generation() > first.view.generation());
    assert!(!hits(&after, "who wrote the Parser").contains(&"m1".to_owned()));
    assert!(mirror.outdated(at(1.0)).await.unwrap().is_empty());
    db.apply(&[about("m5", 1.1, "Kim wrote the next Parser", &["Parser"])]).await;
    assert_eq!(mirror.outdated(at(1.0)).await.unwrap(), [local()]);
    assert_eq!(mirror.catch_up(&local(), at(1.0)).await.unwrap(), RefreshOutcome::Patched);
}

//! Pairs of files after errors and kills at every call, injected and real.

use super::{CALLS, Calls, Error, Files, replace};
use ebb_engine::graph;
use ebb_engine::graph::builder::{EdgeRow, GraphBuilder, WeightRange};
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::index::Generation;
use ebb_engine::graph::kinds::{Kinds, NodeType};
use ebb_engine::graph::snapshot::{SkippedCounts, Snapshot};
use ebb_files::partial;
use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
use std::cell::Cell;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// A chain of memories with labels that identify the state.
fn snapshot(state: &str, nodes: usize) -> Snapshot {
    let mut builder = GraphBuilder::default();
    for at in 0..nodes {
        builder.add_node(NodeRow::new(format!("m{at}"), state, NodeType::MEMORY)).unwrap();
    }
    for at in 1..nodes {
        let (source, target) = (format!("m{}", at - 1), format!("m{at}"));
        let edge =
            EdgeRow { source, target, relation: "CALLS".to_owned(), weight: 0.5, ..EdgeRow::default() };
        builder.add_edge(&edge).unwrap();
    }
    let graph = builder.finalize().unwrap().with_generation(Generation(7));
    Snapshot { graph, as_of: Some(7), skipped: SkippedCounts::default() }
}

fn files(folder: &Path) -> Files {
    Files { graph: folder.join("graph.json"), learned: folder.join("learned.json") }
}

fn learned(state: &str) -> impl FnOnce(&mut dyn Write) -> io::Result<()> {
    let state = state.to_owned();
    move |into| into.write_all(state.as_bytes())
}

fn save(files: &Files, state: &str) {
    files.save(Some(&snapshot(state, 20)), learned(state)).unwrap();
}

/// The stored states of graph and learned weights; every node has the same state.
fn states(files: &Files) -> (String, String) {
    let text = |from: &mut dyn Read| {
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        Ok::<_, graph::Error>(text)
    };
    let (snapshot, learned) = files.load(Kinds::default(), WeightRange::default(), text).unwrap().unwrap();
    let labels: Vec<&str> = snapshot.graph.nodes().map(|node| snapshot.graph.label(node)).collect();
    assert!(labels.iter().all(|label| *label == labels[0]));
    (labels[0].to_owned(), learned.unwrap())
}

/// Other files in the folder.
fn left(folder: &Path) -> Vec<PathBuf> {
    let known = files(folder);
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| *path != known.graph && *path != known.learned && !path.ends_with("doom")).collect()
}

fn pair(graph: &str, learned: &str) -> (String, String) {
    (graph.to_owned(), learned.to_owned())
}

/// Saves with an error at the n-th call; returns the number of calls. Few bytes per call, so there are many writes.
fn save_stopped(
    files: &Files,
    state: &str,
    at: usize,
    stop: &dyn Fn() -> io::Result<()>,
) -> (usize, Result<(), Error>) {
    let count = Cell::new(0);
    let next = || {
        count.set(count.get() + 1);
        if count.get() == at { stop() } else { Ok(()) }
    };
    let calls = Calls {
        open: &|path| next().and_then(|()| (CALLS.open)(path)),
        write: &|file, bytes| next().and_then(|()| (CALLS.write)(file, &bytes[..bytes.len().min(100)])),
        sync: &|file| next().and_then(|()| (CALLS.sync)(file)),
        rename: &|from, to| next().and_then(|()| (CALLS.rename)(from, to)),
    };
    let saved = files.save_by(&calls, Some(&snapshot(state, 20)), learned(state));
    (count.get(), saved)
}

fn full() -> io::Result<()> {
    Err(io::ErrorKind::StorageFull.into())
}

#[test]
fn persist_order() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let nothing = files.load(Kinds::default(), WeightRange::default(), |_| Ok(())).unwrap();
    assert!(nothing.is_none());
    let graph_is_there = |into: &mut dyn Write| {
        assert!(files.graph.exists());
        into.write_all(b"one")
    };
    files.save(Some(&snapshot("one", 20)), graph_is_there).unwrap();
    assert_eq!(states(&files), pair("one", "one"));
    files.save(None, learned("two")).unwrap();
    assert_eq!(states(&files), pair("one", "two"));
    fs::remove_file(&files.learned).unwrap();
    let (alone, learned) = files.load(Kinds::default(), WeightRange::default(), |_| Ok(())).unwrap().unwrap();
    assert_eq!((alone.graph.node_count(), learned), (20, None));
    assert_eq!(fs::metadata(&files.graph).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn snap_faults() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    save(&files, "old");
    let (calls, saved) = save_stopped(&files, "old", 0, &full);
    saved.unwrap();
    assert!(calls > 20, "{calls}");
    let mut seen = Vec::new();
    for at in 1..=calls {
        save(&files, "old");
        let (_, saved) = save_stopped(&files, "new", at, &full);
        let Err(Error::File { doing, path, source }) = saved else { panic!("call {at}: {saved:?}") };
        assert_eq!(source.kind(), io::ErrorKind::StorageFull);
        let of_graph = path.starts_with(&files.graph) || path == partial(&files.graph);
        // The last call of either file is after its rename.
        let named = doing.ends_with("the name of");
        let graph = if of_graph && !named { "old" } else { "new" };
        let learned = if !of_graph && named { "new" } else { "old" };
        assert_eq!(states(&files), pair(graph, learned), "call {at}: {doing} {}", path.display());
        assert_eq!(left(folder.path()), Vec::<PathBuf>::new(), "call {at}: {doing}");
        if seen.last() != Some(&(of_graph, doing)) {
            seen.push((of_graph, doing));
        }
    }
    let each = ["open", "write", "sync", "replace", "sync the name of"];
    let both: Vec<(bool, &str)> =
        [true, false].into_iter().flat_map(|of| each.map(|doing| (of, doing))).collect();
    assert_eq!(seen, both);
    save(&files, "next");
    assert_eq!(states(&files), pair("next", "next"));
}

#[test]
fn persist_skip_on_failure() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    save(&files, "old");
    let (_, saved) = save_stopped(&files, "new", 3, &full);
    assert_eq!(saved.unwrap_err().path(), Some(partial(&files.graph).as_path()));
    let never = |_: &mut dyn Write| panic!("the learned state is saved without its graph");
    // Real errors: a missing folder, and a folder in place of the file.
    let nowhere = Files { graph: folder.path().join("no/graph.json"), ..files.clone() };
    let why = nowhere.save(Some(&snapshot("new", 2)), never).unwrap_err();
    assert!(matches!(why, Error::File { doing: "open", .. }), "{why}");
    let taken = Files { graph: folder.path().join("taken"), ..files.clone() };
    fs::create_dir(&taken.graph).unwrap();
    let why = taken.save(Some(&snapshot("new", 2)), never).unwrap_err();
    assert!(matches!(why, Error::File { doing: "replace", .. }), "{why}");
    assert_eq!(left(folder.path()), [taken.graph]);
    assert_eq!(states(&files), pair("old", "old"));
    // Content that fails half-way is not saved.
    let torn = |into: &mut dyn Write| into.write_all(b"half").and_then(|()| Err(io::ErrorKind::Other.into()));
    assert!(matches!(replace(&files.learned, torn), Err(Error::File { doing: "write", .. })));
    assert_eq!(states(&files), pair("old", "old"));
}

#[test]
fn one_save_of_a_file_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    save(&files, "old");
    let nested = |into: &mut dyn Write| {
        assert!(matches!(replace(&files.learned, learned("other")), Err(Error::Busy { .. })));
        into.write_all(b"new")
    };
    replace(&files.learned, nested).unwrap();
    assert_eq!(states(&files), pair("old", "new"));
    // Of many concurrent saves some are rejected as busy, and the files are of one of the others.
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let files = &files;
            scope.spawn(move || {
                for _ in 0..50 {
                    let state = thread.to_string().repeat(9_000);
                    match replace(&files.learned, learned(&state)) {
                        Ok(()) | Err(Error::Busy { .. }) => {}
                        Err(why) => panic!("{why:?}"),
                    }
                }
            });
        }
    });
    let (_, learned) = states(&files);
    assert_eq!(learned, learned[..1].repeat(9_000));
    assert_eq!(left(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_file_of_another_kind_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    save(&files, "old");
    let refuse = |_: &mut dyn Read| -> Result<(), _> {
        Err(graph::Error::CorruptSnapshot { path: "tick".to_owned(), reason: "no".to_owned() })
    };
    let why = files.load(Kinds::default(), WeightRange::default(), refuse).unwrap_err();
    assert_eq!(why.path(), Some(files.learned.as_path()));
    let spoilt = fs::read_to_string(&files.graph).unwrap().replacen("old", "odd", 1);
    fs::write(&files.graph, spoilt).unwrap();
    let why = files.load(Kinds::default(), WeightRange::default(), |_| Ok(())).unwrap_err();
    assert!(matches!(&why, Error::Content { path, .. } if *path == files.graph), "{why:?}");
}

/// Work of a child process in its working directory: exits before the n-th call of a save, saves with files limited to
/// n bytes, or saves until it is killed.
#[test]
#[ignore = "does nothing by itself; other tests start it in a folder"]
fn a_child_that_saves() {
    let folder = std::env::current_dir().unwrap();
    let Ok(doom) = fs::read_to_string(folder.join("doom")) else { return };
    let files = files(&folder);
    let (what, number) = doom.split_once(' ').unwrap();
    let number = number.parse().unwrap();
    let die = || kill_process(getpid(), Signal::KILL).map_err(io::Error::from);
    match what {
        "call" => drop(save_stopped(&files, "new", number, &die)),
        "size" => {
            let limit = Some(number as u64);
            setrlimit(Resource::Fsize, Rlimit { current: limit, maximum: limit }).unwrap();
            let why = files.save(Some(&snapshot("new", 20)), learned("new")).unwrap_err();
            assert!(
                matches!(&why, Error::File { source, .. } if source.kind() == io::ErrorKind::FileTooLarge)
            );
            assert_eq!(left(&folder), Vec::<PathBuf>::new());
        }
        _ => {
            let [one, two] = ["one", "two"].map(|state| snapshot(state, number));
            for (state, snapshot) in [("one", &one), ("two", &two)].into_iter().cycle() {
                files.save(Some(snapshot), learned(state)).unwrap();
            }
        }
    }
}

/// The child, through a shell that may make it ignore signals first.
fn child(folder: &Path, doom: &str, shell: &str) -> Command {
    fs::write(folder.join("doom"), doom).unwrap();
    let mut child = Command::new("sh");
    child.args(["-c", &format!("{shell} exec \"$0\" \"$@\"")]).arg(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", "mirror::persist::tests::a_child_that_saves"]);
    child.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    child
}

#[test]
fn snap_kills() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    save(&files, "old");
    let (calls, _) = save_stopped(&files, "old", 0, &full);
    let killed = |status: ExitStatus| status.signal() == Some(Signal::KILL.as_raw());
    let mut before = pair("old", "old");
    for at in 1..=calls {
        save(&files, "old");
        assert!(killed(child(folder.path(), &format!("call {at}"), "").status().unwrap()), "call {at}");
        let after = states(&files);
        assert!(["old", "new"].contains(&&*after.0) && ["old", "new"].contains(&&*after.1));
        // The later the kill, the more is new: the graph always before the learned state.
        assert!(
            after == before
                || before == pair("old", "old") && after == pair("new", "old")
                || after == pair("new", "new")
        );
        before = after;
    }
    assert_eq!(before, pair("new", "new"));
    // The next save removes the temporary files of a killed one.
    save(&files, "next");
    assert_eq!((states(&files), left(folder.path())), (pair("next", "next"), Vec::new()));
}

#[test]
fn snap_kills_at_any_instant() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    files.save(Some(&snapshot("one", 2)), learned("one")).unwrap();
    let first = fs::read(&files.graph).unwrap();
    for round in 0..10_u64 {
        let mut child = child(folder.path(), "forever 2000", "").spawn().unwrap();
        // It has begun once the file has changed.
        while round == 0 && fs::read(&files.graph).unwrap() == first {
            assert!(child.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(40 + round * 7));
        child.kill().unwrap();
        child.wait().unwrap();
        let (graph, learned) = states(&files);
        assert!(
            ["one", "two"].contains(&&*graph) && ["one", "two"].contains(&&*learned),
            "{graph} {learned}"
        );
    }
    save(&files, "next");
    assert_eq!((states(&files), left(folder.path())), (pair("next", "next"), Vec::new()));
}

/// A full or nearly full disk: the system's own limit on the size of files, as an error and as a signal.
#[test]
fn a_file_that_may_not_grow_leaves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    save(&files, "old");
    let size = fs::metadata(&files.graph).unwrap().len();
    for limit in [0, 1, size / 2, size - 1] {
        let told = child(folder.path(), &format!("size {limit}"), "trap '' XFSZ;").status().unwrap();
        assert!(told.success(), "{limit}: {told}");
        assert_eq!((states(&files), left(folder.path())), (pair("old", "old"), Vec::new()));
        let killed = child(folder.path(), &format!("size {limit}"), "").status().unwrap();
        assert_eq!(killed.signal(), Some(Signal::XFSZ.as_raw()), "{limit}");
        assert_eq!(states(&files), pair("old", "old"));
    }
    save(&files, "next");
    assert_eq!((states(&files), left(folder.path())), (pair("next", "next"), Vec::new()));
}

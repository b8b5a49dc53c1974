//! What is written for people: file docs, invariants and the tests that hold them, dependencies and their reasons,
//! sizes, and what a public text leaves out.

use crate::none;
use crate::source::{File, below, files, is_test, line, product, words};
use ebb::settings::{Environment, Flags, Settings};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Lines of code, comments and tests apart, from which a file is looked at.
const LINES_MAX: usize = 400;
/// Data and goldens: not written for people, or not by them.
const DATA: [&str; 4] = ["Cargo.lock", "config/demo/", "tests/fixtures/", "tests/fuzz/corpus/"];

fn pages() -> impl Iterator<Item = &'static File> {
    files()
        .iter()
        .filter(|file| !DATA.iter().any(|data| file.path.starts_with(data)) && !file.path.ends_with(".snap"))
}

#[test]
fn a_file_opens_by_saying_what_it_is() {
    let begins = |file: &File| {
        let text = match file.text.split_once('\n') {
            Some((first, rest)) if first.starts_with("#!/") => rest,
            _ => &file.text,
        };
        let wanted = match file.path.rsplit_once('.') {
            Some((_, "rs")) => "//! ",
            Some((_, "cypher")) => "// ",
            Some((_, "toml" | "yml" | "yaml" | "sh")) if !file.path.ends_with("Cargo.toml") => "# ",
            _ if file.path.starts_with(".ci/") => "# ",
            _ => "",
        };
        text.starts_with(wanted)
    };
    let offences: Vec<String> =
        files().iter().filter(|file| !begins(file)).map(|file| file.path.clone()).collect();
    none("a file opens with a comment that says what it is", &offences);
}

#[test]
fn what_the_docs_say_is_held_is_held() {
    let mut homes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let code = files().iter().filter(|file| file.path.ends_with(".rs"));
    for file in code {
        for name in tests_of(&file.text) {
            homes.entry(name).or_default().push(&file.path);
        }
    }
    let mut offences = Vec::new();
    for file in below("src", "rs") {
        for (at, held) in held_by(&file.text) {
            let (place, name) = held.rsplit_once("::").unwrap_or(("", &held));
            if !homes
                .get(name)
                .is_some_and(|paths| paths.iter().any(|path| stands_at(path, place, &file.path)))
            {
                offences.push(format!("{}:{at}: no test {held}", file.path));
            }
        }
    }
    none("every `held by` names a test: its function, after the file or module it is in", &offences);
}

/// What a file's docs say holds an invariant, each with its line: every name in back-ticks after "held by", up to the
/// closing bracket.
fn held_by(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, phrase) in text.match_indices("held by") {
        let claim = text[at + phrase.len()..].split(')').next().unwrap_or_default();
        let names = claim.split('`').skip(1).step_by(2);
        found.extend(names.map(|name| (line(text, at), name.to_owned())));
    }
    found
}

/// The functions of a text that are tests.
pub(crate) fn tests_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut attributed = false;
    for line in text.lines().map(str::trim) {
        let test = ["#[test]", "#[tokio::test"].iter().any(|attribute| line.starts_with(attribute));
        attributed |= test;
        if let Some((_, after)) = line.split_once("fn ").filter(|_| attributed && !line.starts_with("//")) {
            attributed = false;
            found.extend(words(after).next().map(|(_, name)| name.to_owned()));
        }
    }
    found
}

/// Whether a test in the file `path` answers to `place` in the docs of the file `from`: without a place it is in that
/// file, in its `tests.rs` or in that of its folder; else the place is the end of the test file's own path.
pub(crate) fn stands_at(path: &str, place: &str, from: &str) -> bool {
    if place.is_empty() || place == "tests" {
        let below = format!("{}/tests.rs", from.trim_end_matches(".rs"));
        let beside = from.rsplit_once('/').map(|(folder, _)| format!("{folder}/tests.rs"));
        return path == from || path == below || beside.as_deref() == Some(path);
    }
    let stem = path.trim_end_matches(".rs").replace('/', "::");
    stem.ends_with(&format!("::{place}"))
}

#[test]
fn a_module_stands_in_a_file_of_its_name() {
    let offences: Vec<String> =
        files().iter().map(|file| file.path.clone()).filter(|path| path.ends_with("/mod.rs")).collect();
    none("the module of a folder is the file beside it, not mod.rs in it", &offences);
}

#[test]
fn the_defaults_and_every_sample_are_valid_settings() {
    let nothing: Environment = [("HOME", "/home/somebody")].into_iter().collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let samples: Vec<&File> = files()
        .iter()
        .filter(|file| file.path.ends_with(".toml"))
        // Mappings are tested with their presets.
        .filter(|file| file.path.starts_with("config/") && !file.path.starts_with("config/adopt/"))
        .collect();
    assert!(samples.iter().any(|file| file.path == "config/default.toml"));
    for sample in samples {
        let flags = Flags { config: Some(root.join(&sample.path)), ..Flags::default() };
        if let Err(faults) = Settings::load(&flags, &nothing) {
            panic!("{} is no valid configuration: {faults}", sample.path);
        }
    }
}

#[test]
fn a_dependency_says_why() {
    let mut offences = Vec::new();
    let manifests =
        files().iter().filter(|file| file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml"));
    for manifest in manifests.filter(|manifest| !manifest.path.starts_with("tests/")) {
        let mut table = "";
        for line in manifest.text.lines() {
            if line.starts_with('[') {
                table = line;
            }
            let dependency = table.ends_with("dependencies]") && line.contains(" = ");
            // The reason stands where the version does.
            let inherited = line.contains("workspace = true");
            let says = line.split_once("  # ").is_some_and(|(_, reason)| reason.len() >= 4);
            if dependency && !inherited && !says {
                offences.push(format!("{}: {line}", manifest.path));
            }
        }
    }
    none("a dependency carries its reason on its line", &offences);
}

#[test]
fn a_public_text_speaks_of_the_product_alone() {
    // Put together, so that this file passes its own rule.
    let unfinished = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("for", " now")];
    let everywhere = ["work", "root", "farm", "tmp"];
    // A test may speak of somebody's home.
    let homes = ["home", "Users"];
    let hosts = [".internal", ".local", ".lan", ".corp", ".intranet"];
    let mut offences = Vec::new();
    for file in pages() {
        // A library of others stays as it was published.
        if file.path.ends_with(".min.js") {
            continue;
        }
        let mut tell =
            |at: usize, what: &str| offences.push(format!("{}:{}: {what}", file.path, line(&file.text, at)));
        for word in &unfinished {
            let whole = |at: usize| !file.text[..at].ends_with(char::is_alphanumeric);
            file.text.match_indices(word).filter(|(at, _)| whole(*at)).for_each(|(at, _)| tell(at, word));
        }
        let folders = everywhere.iter().chain(homes.iter().filter(|_| !is_test(&file.path)));
        for folder in folders.map(|folder| format!("/{folder}/")) {
            let begins =
                |at: usize| at == 0 || file.text[..at].ends_with([' ', '"', '\'', '`', '=', '(', ':', '\n']);
            file.text
                .match_indices(&folder)
                .filter(|(at, _)| begins(*at))
                .for_each(|(at, _)| tell(at, "a machine's own path"));
        }
        for (at, _) in file.text.match_indices("://") {
            let address =
                file.text[at + 3..].split(|c: char| !(c.is_alphanumeric() || "-._@[]".contains(c))).next();
            let host = address.unwrap_or_default().rsplit('@').next().unwrap_or_default();
            if hosts.iter().any(|end| host.ends_with(end)) {
                tell(at, "a host that only its own network knows");
            }
        }
    }
    none("no machine's path, no private host, nothing unfinished", &offences);
}

#[test]
fn crates_and_artifacts_come_from_where_everybody_gets_them() {
    let public = "registry+https://github.com/rust-lang/crates.io-index";
    let lock = include_str!("../../Cargo.lock");
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
    let mut offences: Vec<String> = sources
        .filter(|source| source.trim_matches('"') != public)
        .map(|source| format!("Cargo.lock: {source}"))
        .collect();
    let elsewhere = |file: &&File| match file.path.as_str() {
        path if path.starts_with(".cargo/") => {
            file.text.contains("[source") || file.text.contains("[registr")
        }
        path if path.ends_with("pom.xml") => {
            file.text.contains("<repositories>") || file.text.contains("<mirrors>")
        }
        _ => false,
    };
    offences.extend(
        files().iter().filter(elsewhere).map(|file| format!("{}: names a source of its own", file.path)),
    );
    none("no registry but the public ones", &offences);
}

#[test]
fn the_readme_shows_the_main_job() {
    let readme = files().iter().find(|file| file.path == "README.md").expect("README.md");
    assert!(
        readme.text.contains("cargo run --release -- demo"),
        "README.md does not show the command of the main job"
    );
}

#[test]
fn a_long_file_is_told() {
    for file in below("src", "rs").iter().filter(|file| !is_test(&file.path)) {
        let lines = product(file).lines().filter(|line| !line.trim().is_empty()).count();
        if lines > LINES_MAX {
            // Past the capture of test output: it is a remark, and the test passes.
            let told = format!("warning: {} has {lines} lines of code, more than {LINES_MAX}\n", file.path);
            std::io::stderr().write_all(told.as_bytes()).unwrap();
        }
    }
}

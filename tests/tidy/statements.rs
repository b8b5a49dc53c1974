//! Statements: the catalogue is the folder, and every header tells the truth about its text.
//!
//! The header is what people and programs go by: `ebb inspect` prints it, the store names columns from it, a reviewer
//! looks at `bound` before the text. One that lies is worse than none.

use crate::none;
use crate::source::{Language, below, code, words};
use ebb_core::store::catalogue::ALL;
use ebb_core::store::statement::Statement;
use std::collections::BTreeSet;
use std::path::Path;

/// The keys of a header, in the order in which they stand.
const KEYS: [&str; 10] =
    ["purpose", "mode", "params", "returns", "bound", "idempotent", "law", "clock", "names", "quarantine"];
/// The types of parameters.
const TYPES: [&str; 6] = ["String", "Integer", "Float", "Boolean", "List", "Map"];
/// Words that write, wherever they stand in a statement.
const WRITING: [&str; 8] = ["CREATE", "MERGE", "SET", "DELETE", "REMOVE", "FOREACH", "DROP", "LOAD"];
/// Folders whose statements may ask the server what time it is: leases, keys that expire, the change log, signs of life of mirrors, the age of a result, what a person
/// pastes into Neo4j Browser, and the question what its clock shows.
const CLOCKS: [&str; 15] = [
    "adopted/nodes",
    "attempt",
    "change",
    "erasure",
    "inspect",
    "journal",
    "key",
    "migration/processes",
    "mirror",
    "recall_guard",
    "request",
    "run",
    "server/about",
    "server/ping",
    "server/present",
];

/// The header's lines that are a key and a value.
fn keys(statement: &Statement) -> Vec<(&'static str, &'static str)> {
    let comments = statement.file.lines().map_while(|line| line.strip_prefix("//"));
    let header = comments.take_while(|line| !line.trim().is_empty());
    header
        .skip(usize::from(statement.name.starts_with("inspect/")))
        .filter_map(|line| line.trim().split_once(": "))
        .collect()
}

fn body(statement: &Statement) -> String {
    code(statement.body(), Language::Cypher)
}

/// The keywords of a text: words that are no property, label, parameter or key of a map.
fn keywords(code: &str) -> Vec<String> {
    let plain = |(at, word): &(usize, &str)| {
        let after = code[at + word.len()..].trim_start();
        !code[..*at].ends_with(['.', ':', '$', '|']) && !after.starts_with(':')
    };
    words(code).filter(plain).map(|(_, word)| word.to_uppercase()).collect()
}

/// How a text asks the server for the present instant: a temporal function without arguments, or one of its clocks.
fn clocks(code: &str) -> Vec<&str> {
    let functions = ["datetime", "localdatetime", "date", "time", "localtime", "timestamp"];
    let clocks = ["realtime", "transaction", "statement"];
    let asks = |(at, word): &(usize, &str)| {
        let Some(arguments) = code[at + word.len()..].trim_start().strip_prefix('(') else { return false };
        match code[..*at].ends_with('.') {
            true => clocks.contains(word),
            false => functions.contains(word) && arguments.trim_start().starts_with(')'),
        }
    };
    words(code).filter(asks).map(|(_, word)| word).collect()
}

/// Collects what `check` finds wrong, each under the name of its statement.
fn offences(check: impl Fn(&'static Statement, &mut Vec<String>)) -> Vec<String> {
    let mut all = Vec::new();
    for statement in ALL {
        let mut found = Vec::new();
        check(statement, &mut found);
        all.extend(found.into_iter().map(|what| format!("cypher/{}.cypher: {what}", statement.name)));
    }
    all
}

#[test]
fn the_catalogue_is_the_folder() {
    let listed: BTreeSet<String> =
        ALL.iter().map(|statement| format!("cypher/{}.cypher", statement.name)).collect();
    assert_eq!(listed.len(), ALL.len(), "a file is in the catalogue twice");
    let there: BTreeSet<String> = below("cypher", "cypher").iter().map(|file| file.path.clone()).collect();
    let mut offences: Vec<String> =
        there.difference(&listed).map(|path| format!("{path}: not in catalogue::ALL")).collect();
    offences.extend(
        listed
            .difference(&there)
            .map(|path| format!("{path}: in catalogue::ALL, and no such file is tracked")),
    );
    none("every file under cypher/ is in the catalogue once", &offences);
}

#[test]
fn a_header_is_complete() {
    let offences = offences(|statement, found| {
        let keys = keys(statement);
        let header = statement.header();
        let names: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
        let known: Vec<&str> = KEYS.into_iter().filter(|key| names.contains(key)).collect();
        if names != known {
            found.push(format!("the header's keys are {names:?}; known, each once and in order: {KEYS:?}"));
        }
        let schema = statement.name.starts_with("schema/");
        let mut needed = vec!["purpose", "mode", "params"];
        needed.extend((!schema).then_some("returns"));
        needed.extend((header.mode == "write").then_some(["bound", "idempotent"]).into_iter().flatten());
        found.extend(
            needed.into_iter().filter(|key| !names.contains(key)).map(|key| format!("has no `{key}:`")),
        );
        if !header.purpose.ends_with('.') {
            found.push("the purpose is no sentence".to_owned());
        }
        let modes: &[&str] = if schema { &["schema"] } else { &["read", "write"] };
        if !modes.contains(&header.mode) {
            found.push(format!("the mode is {:?}, not one of {modes:?}", header.mode));
        }
        if header.mode == "read" && !(header.bound.is_empty() && header.idempotent.is_empty()) {
            found.push("a read needs neither bound nor idempotent".to_owned());
        }
    });
    none("a header has what its mode needs", &offences);
}

/// Nothing is found by a name alone that repeats over scopes. Rows that another writer made without a scope are looked for as
/// such: the node's scope is said to be null.
#[test]
fn names_are_looked_for_within_their_scope() {
    const SCOPED: [&str; 5] = ["Memory", "Fact", "SemanticCluster", "Session", "Entity"];
    let offences = offences(|statement, found| {
        if ["schema/", "migration/", "inspect/"].iter().any(|folder| statement.name.starts_with(folder)) {
            return;
        }
        let code = body(statement);
        for (at, _) in code.match_indices(" {") {
            let head = &code[..at];
            let Some((before, label)) = head.rsplit_once(':') else { continue };
            let Some((map, _)) = code[at..].split_once('}') else { continue };
            let names = ["id:", "name:", "key:", "promotionKey:"].iter().any(|name| map.contains(name));
            let node = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let is_unscoped = !node.is_empty() && code.contains(&format!("{node}.scope IS NULL"));
            if SCOPED.contains(&label) && names && !map.contains("scope:") && !is_unscoped {
                found.push(format!("finds a {label} by{map}}} in no scope"));
            }
        }
    });
    none("names repeat over scopes: say which scope is meant", &offences);
}

#[test]
fn params_are_the_names_used_and_typed() {
    let offences = offences(|statement, found| {
        let written = keys(statement).iter().find(|(key, _)| *key == "params").map_or("", |(_, value)| value);
        let params = statement.header().params;
        let again: Vec<String> = params.iter().map(|(name, kind)| format!("${name}: {kind}")).collect();
        let again = if again.is_empty() { "none".to_owned() } else { again.join(", ") };
        if written != again {
            found.push(format!("params reads {written:?}; it is `none` or `$name: Type, …`"));
        }
        for (name, kind) in params.iter().filter(|(_, kind)| !TYPES.contains(kind)) {
            found.push(format!("${name} is of no known type: {kind:?}, not one of {TYPES:?}"));
        }
        let listed: BTreeSet<&str> = params.iter().map(|(name, _)| *name).collect();
        let code = body(statement);
        // `$(…)` is a label or type that is computed; the parameters in it are found by themselves.
        let used = code.split('$').skip(1).map(parameter).filter(|name| !name.is_empty());
        let used: BTreeSet<&str> = used.collect();
        for (name, kind) in &params {
            if name.starts_with("rows.") != (*kind == "List") {
                found.push(format!("${name}: {kind}: lists are in $rows, and only they"));
            }
        }
        found.extend(used.difference(&listed).map(|name| format!("${name} is used and not in params")));
        found.extend(listed.difference(&used).map(|name| format!("${name} is in params and not used")));
    });
    none("params: the names used, each with its type", &offences);
}

/// The name that a text after `$` begins with: a list is named with the map that it is in.
fn parameter(text: &str) -> &str {
    let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let end = match text.strip_prefix("rows.") {
        Some(column) => "rows.".len() + word(column),
        None => word(text),
    };
    &text[..end]
}

#[test]
fn the_mode_is_what_the_text_does() {
    let offences = offences(|statement, found| {
        let code = body(statement);
        let writes: Vec<String> =
            keywords(&code).into_iter().filter(|word| WRITING.contains(&word.as_str())).collect();
        match statement.header().mode {
            "read" if !writes.is_empty() => found.push(format!("a read that says {writes:?}")),
            "write" if writes.is_empty() => found.push("a write that writes nothing".to_owned()),
            _ => {}
        }
        if !statement.name.starts_with("schema/") && code.contains(';') {
            found.push("holds more than one statement".to_owned());
        }
    });
    none("a read has no clause that writes, a write has one", &offences);
}

#[test]
fn the_servers_clock_is_asked_only_where_the_header_says_so() {
    let offences = offences(|statement, found| {
        let code = body(statement);
        let asks = clocks(&code);
        let header = statement.header();
        match header.clock {
            "" if !asks.is_empty() => {
                found.push(format!("asks for {asks:?} and does not say `clock: server`"))
            }
            "server" if asks.is_empty() => found.push("says `clock: server` and does not ask it".to_owned()),
            "" | "server" => {}
            other => found.push(format!("clock is {other:?}; the one value is `server`")),
        }
        let noun = statement.name.split('/').next().unwrap_or_default();
        if !asks.is_empty() && !CLOCKS.iter().any(|home| *home == noun || *home == statement.name) {
            found.push(format!("asks the server's clock; only {CLOCKS:?} may"));
        }
        // A statement's own instant is older than its wait for a lock.
        let wanted = if noun == "inspect" { "datetime" } else { "realtime" };
        if asks.iter().any(|call| *call != wanted) {
            found.push(format!("asks by {asks:?}, here it is {wanted:?}"));
        }
        let random: Vec<String> =
            keywords(&code).into_iter().filter(|word| word == "RAND" || word == "RANDOMUUID").collect();
        if !random.is_empty() {
            found.push(format!("draws lots: {random:?}"));
        }
    });
    none("time and chance are parameters", &offences);
}

#[test]
fn a_question_opens_with_its_title_and_can_be_pasted() {
    let offences = offences(|statement, found| {
        let first = statement.file.lines().next().unwrap_or_default();
        let asked = statement.name.starts_with("inspect/");
        let (title, what) = first.trim_start_matches("// ").split_once(": ").unwrap_or_default();
        if !asked {
            if title != "purpose" {
                found.push("does not open with its purpose".to_owned());
            }
            return;
        }
        let capital = title.starts_with(char::is_uppercase);
        if !capital || what.is_empty() {
            found.push(format!("opens with {first:?}, not with `// Title: what it shows`"));
        }
        let header = statement.header();
        if header.mode != "read" || !header.params.is_empty() {
            found.push("is pasted into Neo4j Browser, so it reads and takes no parameter".to_owned());
        }
    });
    none("an inspect file opens with its title, every other with its purpose", &offences);
}

/// Names of a statement's text in whose place others are put: of places, and of rows that a mapping describes.
const PLACEHOLDERS: [&str; 19] = [
    ":Room",
    "_Room",
    ":HALL",
    "_HALL",
    "n.id",
    "n.lock",
    "n.scope",
    "n.mark IS NOT NULL",
    "n.mapped",
    "m.mapped",
    "n.scope IN $rows.groups",
    "CASE WHEN n.scope IN $rows.groups THEN n.mapped END",
    "CASE WHEN a.scope IN $rows.groups THEN a.mapped END",
    "CASE WHEN b.scope IN $rows.groups THEN b.mapped END",
    "[n.scope]",
    "n.written",
    "r.id",
    "r.written",
    "UNWIND $rows.keys AS key",
];

#[test]
fn what_stands_for_other_names_stands_in_the_text() {
    let offences = offences(|statement, found| {
        let named = statement.header().names;
        let code = body(statement);
        let after = |at: usize| code[at..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
        for name in named.split(", ").filter(|name| !name.is_empty()) {
            if !PLACEHOLDERS.contains(&name) {
                found.push(format!("`names: {name}`: statements are written for {PLACEHOLDERS:?}"));
            }
            if !code.contains(name) {
                found.push(format!("`names: {name}`, which does not stand in the text"));
            }
            if code.match_indices(name).any(|(at, _)| after(at + name.len())) {
                found.push(format!(
                    "{name} is the beginning of a longer name too, and would be put there as well"
                ));
            }
        }
    });
    none("`names:` are there, whole, to be put others in their place", &offences);
}

#[test]
fn a_law_has_its_twin() {
    let offences = offences(|statement, found| {
        let law = statement.header().law;
        if law.is_empty() {
            return;
        }
        let (module, name) = law.rsplit_once("::").unwrap_or(("", law));
        let home = format!("src/core/{}.rs", module.replace("::", "/"));
        let files = below("src", "rs");
        let twin = files.iter().filter(|file| file.path == home).any(|file| {
            let code = code(&file.text, Language::Rust);
            code.contains(&format!("fn {name}(")) || code.contains(&format!("fn {name}<"))
        });
        if !twin {
            found.push(format!("no function {law}: looked for `fn {name}` in {home}"));
        }
        assert!(Path::new(&home).starts_with("src/core/domain"), "{law}: a law lives in src/core/domain");
    });
    none("`law:` names the Rust twin", &offences);
}

#[test]
fn a_keyword_is_told_from_a_property_and_a_clock_from_a_conversion() {
    assert_eq!(keywords("set a.set = $set {set: 1} :SET"), ["SET", "A", "1"]);
    let asks =
        clocks("WHERE datetime ( ) > localdatetime() AND datetime({epochMillis: 1}) < datetime.realtime()");
    assert_eq!(asks, ["datetime", "localdatetime", "realtime"]);
    assert_eq!(clocks("a.datetime(), validdate(), date({year: 1}), a.realtime"), [""; 0]);
}

/// The labels of a pattern that begins with this text.
fn labels<'t>(text: &'t str, begins: &str) -> BTreeSet<&'t str> {
    let pattern = text.split(begins).nth(1).unwrap_or_default();
    pattern.split([')', '\n']).next().unwrap_or_default().split('|').collect()
}

/// A label that one of these lists lacks would stay behind, or be lost.
#[test]
fn ebbs_own_labels_are_the_same_wherever_they_are_listed() {
    let text = |name: &str| ALL.iter().find(|one| one.name == name).unwrap().body();
    let own = labels(text("uninstall/own"), "MATCH (n:");
    assert!(own.len() > 10, "{own:?}");
    let count = text("uninstall/count");
    assert_eq!(labels(count, "MATCH (n:"), own);
    assert_eq!(labels(count, "WHERE NOT n:"), own);
    let saved = std::fs::read_to_string("src/core/store/backup.rs").unwrap();
    let is_saved = |label: &str| saved.contains(&format!("\"{label}\""));
    let left: Vec<&&str> = own.iter().filter(|label| !is_saved(label)).collect();
    assert_eq!(left, [&"EbbMigration", &"EbbScratch"], "what a backup leaves out on purpose");
}

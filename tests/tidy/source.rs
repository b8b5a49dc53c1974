//! Files of the repository, and code with what is not code blanked out.
//!
//! Blanked text keeps its length and its lines, so that a position in it is a position in the file.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// One file of the repository.
pub(crate) struct File {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

/// Which language's comments and quotations are blanked.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Language {
    Rust,
    Cypher,
}

/// Every text file that git knows or would take, in the order of their paths.
pub(crate) fn files() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(read)
}

fn read() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .expect("git lists the files of the repository; install it");
    assert!(known.status.success(), "{}", String::from_utf8_lossy(&known.stderr));
    let mut paths: Vec<String> = String::from_utf8(known.stdout)
        .expect("paths are UTF-8")
        .split_terminator('\0')
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    assert!(
        paths.iter().any(|path| path == "src/lib.rs"),
        "git names the files of another folder: {paths:?}"
    );
    paths
        .into_iter()
        .filter_map(|path| Some(File { text: fs::read_to_string(root.join(&path)).ok()?, path }))
        .collect()
}

/// The files below `folder` whose name ends with `.extension`.
pub(crate) fn below(folder: &str, extension: &str) -> Vec<&'static File> {
    let (folder, extension) = (format!("{folder}/"), format!(".{extension}"));
    let wanted = |file: &&File| file.path.starts_with(&folder) && file.path.ends_with(&extension);
    let files: Vec<&File> = files().iter().filter(wanted).collect();
    assert!(!files.is_empty(), "no *{extension} below {folder}");
    files
}

/// The manifests of the workspace: the program's, and those of the crates below `src`.
pub(crate) fn manifests() -> impl Iterator<Item = &'static File> {
    let wanted = |path: &str| path.starts_with("src/") && path.ends_with("/Cargo.toml");
    files().iter().filter(move |file| file.path == "Cargo.toml" || wanted(&file.path))
}

/// The text with comments and the insides of quotations blanked.
pub(crate) fn code(text: &str, language: Language) -> String {
    let mut blank = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length = skipped(rest, before, language).unwrap_or(0);
        if length == 0 {
            blank.push(first);
            before = first;
            rest = &rest[first.len_utf8()..];
        } else {
            blank.extend(rest[..length].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            before = ' ';
            rest = &rest[length..];
        }
    }
    blank
}

/// The length of the comment or quotation that `rest` begins with.
fn skipped(rest: &str, before: char, language: Language) -> Option<usize> {
    let until =
        |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(until("*/", 2));
    }
    if rest.starts_with('"') || (language == Language::Cypher && rest.starts_with('\'')) {
        return Some(quoted(rest));
    }
    if language == Language::Cypher {
        return rest.starts_with('`').then(|| until("`", 1));
    }
    if let Some(inside) = rest.strip_prefix('\'') {
        // A character or a lifetime: a lifetime has no closing quote one character on.
        let mut inside = inside.chars();
        let first = inside.next()?;
        return (first == '\\' || inside.next() == Some('\''))
            .then(|| until("'", 1 + first.len_utf8() + usize::from(first == '\\')));
    }
    if rest.starts_with('r') && !(before.is_alphanumeric() && before != 'b') && before != '_' {
        let hashes = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
        if rest[1 + hashes..].starts_with('"') {
            return Some(until(&format!("\"{}", "#".repeat(hashes)), 2 + hashes));
        }
    }
    None
}

/// The length of a quotation with backslash escapes.
fn quoted(rest: &str) -> usize {
    let quote = rest.as_bytes()[0];
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Blanked Rust code without the modules that are compiled for tests only.
pub(crate) fn product(file: &File) -> String {
    if is_test(&file.path) {
        return String::new();
    }
    let mut code = code(&file.text, Language::Rust);
    while let Some(start) = code.find("#[cfg(test)]") {
        let end = block_end(&code, start);
        let blank: String = code[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        code.replace_range(start..end, &blank);
    }
    code
}

/// Whether a file holds nothing but tests.
pub(crate) fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.ends_with("/tests.rs")
}

/// Where the item that begins at `start` ends: after its block, or after its semicolon.
fn block_end(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// The words of a text, each with where it begins: letters, digits and underscores.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.char_indices().filter_map(move |(at, c)| {
        let begins = is_word(c) && !code[..at].chars().next_back().is_some_and(is_word);
        begins.then(|| (at, &code[at..at + code[at..].find(|c| !is_word(c)).unwrap_or(code.len() - at)]))
    })
}

/// The line of a position, counted from 1.
pub(crate) fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Every path that begins with `root::` in blanked code, groups in braces taken apart: `a::{b, c::d}` is `a::b` and
/// `a::c::d`. Each comes with where it begins, and without the root.
pub(crate) fn paths(code: &str, root: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, word) in words(code) {
        let after = code[at + word.len()..].trim_start();
        let before = code[..at].trim_end();
        if word == root && after.starts_with("::") && !before.ends_with("::") && !before.ends_with('.') {
            let mut taken = Vec::new();
            tree(&after[2..], "", &mut taken);
            found.extend(taken.into_iter().map(|path| (at, path)));
        }
    }
    found
}

/// Takes one branch of a use tree apart and returns what follows it.
fn tree<'a>(text: &'a str, prefix: &str, taken: &mut Vec<String>) -> &'a str {
    let mut rest = text.trim_start();
    if let Some(group) = rest.strip_prefix('{') {
        rest = group.trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            let before = rest.len();
            rest = tree(rest, prefix, taken).trim_start().trim_start_matches(',').trim_start();
            if rest.len() == before {
                break;
            }
        }
        return rest.strip_prefix('}').unwrap_or(rest);
    }
    let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, after) =
        if let Some(after) = rest.strip_prefix('*') { ("*", after) } else { rest.split_at(length) };
    let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") };
    if let Some(deeper) = after.strip_prefix("::").filter(|deeper| !deeper.starts_with('<')) {
        return tree(deeper, &path, taken);
    }
    taken.push(path);
    let after = after.trim_start();
    match after.strip_prefix("as ") {
        Some(alias) => alias.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'),
        None => after,
    }
}

#[test]
fn comments_and_quotations_are_blank_and_lifetimes_are_not() {
    let text =
        "let a: &'a str = \"x // \\\" y\"; // b\nlet c = '\\''; let d = 'e'; let f = r#\"g\"h\"#; /* i */ j";
    let blank = code(text, Language::Rust);
    assert_eq!(blank.len(), text.len());
    assert_eq!(blank.split_whitespace().collect::<String>(), "leta:&'astr=;letc=;letd=;letf=;j");
    assert_eq!(code("a 'b' `c` // d\ne", Language::Cypher).split_whitespace().collect::<String>(), "ae");
}

#[test]
fn a_path_is_followed_through_groups() {
    let text = "use crate::{a::{b, c as d}, e::*}; crate::f::g(); $crate::h; x.crate::i";
    let found: Vec<String> = paths(text, "crate").into_iter().map(|(_, path)| path).collect();
    assert_eq!(found, ["a::b", "a::c", "e::*", "f::g", "h"]);
}

#[test]
fn what_is_compiled_for_tests_only_is_no_product() {
    let text = "fn a() { b(); }\n#[cfg(test)]\nmod tests { fn c() { {} } }\n#[cfg(test)]\nmod d;\nfn e() {}"
        .to_owned();
    let product = product(&File { path: "src/x.rs".to_owned(), text });
    assert_eq!(product.split_whitespace().collect::<String>(), "fna(){b();}fne(){}");
}

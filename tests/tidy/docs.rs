//! What the pages say is there: links lead somewhere, paths exist, commands parse, and the book is whole.

use crate::none;
use crate::source::{File, files, line};
use clap::{CommandFactory, Parser};
use ebb::surfaces::cli::Cli;
use std::collections::BTreeSet;
use std::path::Path;

/// The most lines of README.md: it is the way in, and the book is where it leads.
const README_LINES_MAX: usize = 150;
/// Folders of which a name in back-ticks is a path.
const FOLDERS: [&str; 6] = ["src/", "cypher/", "tests/", "config/", "docs/", ".ci/"];

fn pages() -> impl Iterator<Item = &'static File> {
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "src/engine/README.md"];
    let is_page =
        move |path: &str| top.contains(&path) || (path.starts_with("docs/") && path.ends_with(".md"));
    files().iter().filter(move |file| is_page(&file.path))
}

pub(crate) fn exists(path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    let is_text = files().iter().any(|file| file.path == path || file.path.starts_with(&folder));
    // A PNG is no text.
    is_text || Path::new(env!("CARGO_MANIFEST_DIR")).join(path).is_file()
}

/// Each link of a page, with where it stands; addresses of other sites are left out.
pub(crate) fn links(page: &File) -> Vec<(usize, &str)> {
    let targets = page.text.match_indices("](").filter_map(|(at, open)| {
        let target = page.text[at + open.len()..].split(')').next()?;
        Some((at, target))
    });
    targets.filter(|(_, target)| !target.contains("://") && !target.starts_with("mailto:")).collect()
}

/// The path that a link of a page leads to.
pub(crate) fn resolved(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchors of a page: its headings, as GitHub and mdBook name them.
fn anchors(page: &File) -> BTreeSet<String> {
    let headings = page.text.lines().filter(|line| line.starts_with('#'));
    let named = headings.map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.collect::<String>().replace(' ', "-")
    });
    named.collect()
}

#[test]
fn a_link_leads_to_a_page_and_a_heading_that_are_there() {
    let mut offences = Vec::new();
    for page in pages() {
        for (at, target) in links(page) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { page.path.clone() } else { resolved(&page.path, path) };
            let there = if anchor.is_empty() {
                exists(&path)
            } else {
                files().iter().any(|file| file.path == path && anchors(file).contains(anchor))
            };
            if !there {
                offences.push(format!("{}:{}: {target}", page.path, line(&page.text, at)));
            }
        }
    }
    none("a link leads to a file of the repository and to a heading in it", &offences);
}

#[test]
fn every_page_of_the_book_stands_in_its_summary() {
    let summary = files().iter().find(|file| file.path == "docs/SUMMARY.md").expect("docs/SUMMARY.md");
    let listed: BTreeSet<String> =
        links(summary).into_iter().map(|(_, target)| resolved(&summary.path, target)).collect();
    let offences: Vec<String> = pages()
        .map(|page| page.path.clone())
        .filter(|path| path.starts_with("docs/") && *path != summary.path && !listed.contains(path))
        .collect();
    none("docs/SUMMARY.md lists every page", &offences);
}

#[test]
fn a_path_in_the_docs_exists() {
    let mut offences = Vec::new();
    for page in pages() {
        for (at, _) in page.text.match_indices('`') {
            let name = page.text[at + 1..].split('`').next().unwrap_or_default();
            let plain = |c: char| c.is_ascii_alphanumeric() || "./_-".contains(c);
            if FOLDERS.iter().any(|folder| name.starts_with(folder))
                && name.chars().all(plain)
                && !exists(name)
            {
                offences.push(format!("{}:{}: {name}", page.path, line(&page.text, at)));
            }
        }
    }
    none("a file that a page names in back-ticks exists", &offences);
}

#[test]
fn a_command_in_the_docs_parses() {
    let (mut offences, mut parsed) = (Vec::new(), 0);
    for page in pages() {
        for block in page.text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            for command in block.lines().flat_map(|line| line.split(['|', ';', '&'])).filter_map(words_of) {
                parsed += 1;
                if let Err(why) = Cli::try_parse_from(&command) {
                    let why = why.to_string();
                    let first = why.lines().next().unwrap_or_default();
                    offences.push(format!("{}: {}: {first}", page.path, command.join(" ")));
                }
            }
        }
    }
    Cli::command().debug_assert();
    assert!(parsed > 40, "only {parsed} commands were found");
    none("every `ebb …` in a shell block of a page is a command of the program", &offences);
}

/// The words of a line that calls `ebb`, without its comment and where its output goes.
fn words_of(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if !line.starts_with("ebb ") {
        return None;
    }
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (quote, c) {
            (None, '#' | '>') if word.is_empty() => break,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, ' ') => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            (_, c) => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    Some(words)
}

#[test]
fn the_readme_is_short() {
    let readme = files().iter().find(|file| file.path == "README.md").expect("README.md");
    let lines = readme.text.lines().count();
    assert!(
        lines <= README_LINES_MAX,
        "README.md has {lines} lines; what is more than a way in belongs to docs/"
    );
}

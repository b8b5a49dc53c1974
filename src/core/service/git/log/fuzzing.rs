//! Fuzz entry point: the output of git.

use super::{COMMIT, FILES_OF_PAIRS_MAX, History, TITLE_MAX};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the output of `git log`; the present tree are the words of the part before the last byte 1, or every other word of
/// the log. Counts of files, commits and pairs agree.
pub fn read(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (tree, log): (BTreeSet<&str>, &str) = match text.rsplit_once('\u{1}') {
        Some((tree, log)) => (tree.split('\0').collect(), log),
        None => (text.split('\0').skip(1).step_by(2).collect(), &*text),
    };
    let History { root, files, commits, pairs } = History::of("root".to_owned(), log, &tree);
    assert_eq!(root, "root");
    assert!(commits.len() <= log.matches(COMMIT).count());
    let mut changes: BTreeMap<&str, i64> = BTreeMap::new();
    let mut most = 0;
    for commit in &commits {
        assert!(!commit.files.is_empty() && commit.title.chars().count() <= TITLE_MAX);
        assert!(commit.files.is_sorted_by(|a, b| a < b));
        commit.files.iter().for_each(|path| *changes.entry(path).or_default() += 1);
        if commit.files.len() <= FILES_OF_PAIRS_MAX {
            most += commit.files.len() * (commit.files.len() - 1) / 2;
        }
    }
    assert!(pairs.len() <= most);
    let counted = files.iter().map(|file| (file.path.as_str(), file.commits)).collect::<BTreeMap<_, _>>();
    assert_eq!(counted, changes);
    assert!(files.iter().all(|file| tree.contains(file.path.as_str()) && file.created <= file.modified));
    for pair in &pairs {
        assert!(pair.from < pair.to && pair.commits > 0 && pair.first <= pair.last);
        assert!(pair.commits <= changes[pair.from.as_str()].min(changes[pair.to.as_str()]));
    }
}

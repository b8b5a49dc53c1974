//! Splits texts into words and queries into tokens.
//!
//! *Words* are maximal runs of letters and digits of a folded text. *Tokens* are the search terms of a query: distinct
//! words in their order, also split where the case changes, so that `chatHandler` gives both halves; without stop words
//! unless nothing else is left.

use super::fold::composed;
use super::stop::is_stop;
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_64;

/// Indexed part of the content of a memory, in bytes.
pub const CONTENT_BYTES_MAX: usize = 64 * 1024;

/// The words of a folded text.
pub fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Hash of a word: xxh3-64 of its UTF-8.
#[must_use]
pub fn hash(word: &str) -> u64 {
    xxh3_64(word.as_bytes())
}

/// The tokens of a query.
#[must_use]
pub fn tokens(query: &str) -> Vec<String> {
    let (mut all, mut known): (Vec<String>, HashSet<String>) = (Vec::new(), HashSet::new());
    for word in words(&composed(query)) {
        each_piece(word, |piece| {
            let token = piece.to_lowercase();
            // A letter can change its kind with its case: then a combining mark remains that is in no word.
            if !token.is_empty() && known.insert(token.clone()) {
                all.push(token);
            }
        });
    }
    if all.iter().any(|token| !is_stop(token)) {
        all.retain(|token| !is_stop(token));
    }
    all
}

/// Splits a word where the case changes: before a capital after a small letter, and before the last of several capitals if
/// a small letter follows (`HTTPServer` is `HTTP` and `Server`).
fn each_piece(word: &str, mut name: impl FnMut(&str)) {
    let mut begin = 0;
    let mut before: Option<char> = None;
    let mut rest = word.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map(|(_, c)| *c);
        let rises = before.is_some_and(char::is_lowercase) && c.is_uppercase();
        let ends = before.is_some_and(char::is_uppercase)
            && c.is_uppercase()
            && after.is_some_and(char::is_lowercase);
        if rises || ends {
            name(&word[begin..at]);
            begin = at;
        }
        before = Some(c);
    }
    name(&word[begin..]);
}

/// Drops the plural s of a word; short words and those that end in ss are unchanged.
#[must_use]
pub fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.chars().nth(2).is_some() && !stem.ends_with('s') => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold::fold;

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let said = fold("Dana's café-bar, no. 42_b!");
        assert_eq!(words(&said).collect::<Vec<_>>(), ["dana", "s", "café", "bar", "no", "42", "b"]);
        assert_eq!(words(" .,- ").count(), 0);
    }

    #[test]
    fn tokens_split_at_case_changes_before_they_are_folded() {
        assert_eq!(
            tokens("chatHandler HTTPServer sha256Sum"),
            ["chat", "handler", "http", "server", "sha256sum"]
        );
        assert_eq!(tokens("CHAT chat Chat"), ["chat"]);
        assert_eq!(tokens("3F2A9B"), ["3f2a9b"]);
        assert_eq!(tokens("açãoÚnica"), ["ação", "única"]);
    }

    #[test]
    fn stop_words_go_unless_nothing_else_is_left() {
        assert_eq!(tokens("who wrote the Dune Messiah"), ["wrote", "dune", "messiah"]);
        assert_eq!(tokens("qual é a capital"), ["capital"]);
        assert_eq!(tokens("The Who"), ["the", "who"]);
        assert!(tokens("?!").is_empty());
    }

    #[test]
    fn a_plural_loses_its_s() {
        let all = ["books", "book", "class", "bus", "gas", "dates", "ações", "s", "ss"];
        assert_eq!(all.map(singular), ["book", "book", "class", "bus", "gas", "date", "açõe", "s", "ss"]);
    }

    #[test]
    fn hash_vectors() {
        assert_eq!(hash(""), 0x2d06_8005_38d3_94c2);
    }
}

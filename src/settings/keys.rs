//! The keys of the configuration, derived from the types of the sections.

use super::reader::{self, Privacy};
use std::borrow::Cow;
use std::sync::LazyLock;

/// A key of the configuration.
#[derive(Debug)]
pub(super) struct Key {
    /// Section, dot, name: the form used in a file.
    pub(super) name: String,
    /// Path of fields in the settings.
    pub(super) path: Vec<&'static str>,
    pub(super) privacy: Privacy,
    /// For a list of tables: the fields of each, and whether one is required.
    pub(super) fields: Vec<(&'static str, bool)>,
}

/// All keys, section by section, in the order in which `config show` prints them.
pub(super) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut keys = Vec::new();
    add(&mut keys, &[]);
    keys
});

fn add(keys: &mut Vec<Key>, path: &[&'static str]) {
    let below = |name| [path, &[name]].concat();
    let field = reader::describe(path);
    let names = field.keys.unwrap_or_default();
    if !field.is_list && !names.is_empty() {
        return names.iter().for_each(|name| add(keys, &below(name)));
    }
    // A section whose keys are in two types.
    let name = match path {
        ["pools", rest @ ..] => [&["neo4j"], rest].concat().join("."),
        _ => path.join("."),
    };
    let is_required = |name| !reader::describe(&below(name)).is_optional;
    let fields = names.iter().map(|name| (*name, is_required(name))).collect();
    keys.push(Key { name, path: path.to_vec(), privacy: field.privacy, fields });
}

/// The key with this name, in any case of letters: environment variables lose it.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    let name = documented(name);
    KEYS.iter().find(|key| key.name.eq_ignore_ascii_case(&name))
}

/// The block of the relation decay document for its settings, and the corresponding section.
const DOCUMENTED: (&str, &str) = ("settings.memory.decay", "relation");

/// The name of a key, converted from the form of the document.
fn documented(key: &str) -> Cow<'_, str> {
    let (block, section) = DOCUMENTED;
    match key.split_at_checked(block.len()) {
        Some((head, rest)) if head.eq_ignore_ascii_case(block) && rest.starts_with('.') => {
            Cow::Owned(format!("{section}{rest}"))
        }
        _ => Cow::Borrowed(key),
    }
}

/// Whether this path is a section, or contains some.
pub(super) fn is_section(path: &str) -> bool {
    let block = DOCUMENTED.0;
    let holds_it = |dot: usize| block[..dot].eq_ignore_ascii_case(path);
    sections().any(|section| section.eq_ignore_ascii_case(path))
        || block.match_indices('.').any(|(dot, _)| holds_it(dot))
        || block.eq_ignore_ascii_case(path)
}

fn sections() -> impl Iterator<Item = &'static str> {
    KEYS.iter().flat_map(|key| key.name.match_indices('.').map(|(dot, _)| &key.name[..dot]))
}

/// The key most likely meant: one of the same section with a similar name, the same name in another section, or a path
/// that is similar as a whole.
pub(super) fn nearest_key(wrong: &str) -> Option<&'static str> {
    let wrong = documented(wrong).to_ascii_lowercase();
    let (section, name) = wrong.rsplit_once('.').unwrap_or(("", &wrong));
    let keys = || KEYS.iter().map(|key| key.name.as_str());
    let split = |key: &'static str| key.rsplit_once('.').unwrap_or(("", key));

    let siblings = keys().filter(|key| split(key).0.eq_ignore_ascii_case(section));
    closest(siblings.map(|key| (split(key).1, key)), name, 0.6)
        .or_else(|| keys().find(|key| split(key).1.eq_ignore_ascii_case(name)))
        .or_else(|| closest(keys().map(|key| (key, key)), &wrong, 0.7))
}

/// The section most likely meant.
pub(super) fn nearest_section(wrong: &str) -> Option<&'static str> {
    closest(sections().map(|section| (section, section)), &wrong.to_ascii_lowercase(), 0.5)
}

/// Of names, each with an answer, the answer of the one most similar to `wrong`.
pub(super) fn closest(
    candidates: impl Iterator<Item = (&'static str, &'static str)>,
    wrong: &str,
    least_likeness: f64,
) -> Option<&'static str> {
    candidates
        .map(|(name, key)| (strsim::normalized_damerau_levenshtein(&name.to_ascii_lowercase(), wrong), key))
        .filter(|(likeness, _)| *likeness >= least_likeness)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, key)| key)
}

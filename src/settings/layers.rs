//! The layers of a configuration: embedded defaults, a file, the environment, flags.
//!
//! Each layer becomes a list of values under the keys of the table of knobs, every value with its origin and already
//! checked alone; what is not a knob, or not a value for it, becomes a fault and is left out. The `config` crate then
//! merges the layers: it knows precedence, but neither lines nor all faults at once, which is why reading is done here.

use super::fault::{Fault, Origin};
use super::kind::{Kind, Raw, Shown, Table};
use super::{Environment, knobs};
use config::{ConfigError, Map, Source, Value};
use std::path::Path;
use toml_edit::{Document, Item, TableLike};

/// A checked value of one layer.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// The key as the table of knobs writes it.
    pub(super) key: &'static str,
    pub(super) value: Value,
    pub(super) shown: Shown,
    pub(super) origin: Origin,
}

/// The values of one layer, later ones winning.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer(pub(super) Vec<Given>);

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        Ok(self.0.iter().map(|given| (given.key.to_owned(), given.value.clone())).collect())
    }
}

/// The variables that every program around Neo4j knows, the two that choose where a managed server comes from, and the two
/// that hold decay policies, of which the later replaces policies of the earlier.
const USUAL: [(&str, &str); 9] = [
    ("NEO4J_URI", "neo4j.uri"),
    ("NEO4J_USERNAME", "neo4j.username"),
    ("NEO4J_PASSWORD", "neo4j.password"),
    ("NEO4J_PASSWORD_FILE", "neo4j.password_file"),
    ("NEO4J_DATABASE", "neo4j.database"),
    ("EBB_NEO4J", "neo4j.way"),
    ("EBB_NEO4J_IMAGE", "neo4j.image"),
    ("EBB_DECAY_POLICIES", "policies"),
    ("STIGMEM_DECAY_POLICIES", "policies"),
];
const PREFIX: &str = "EBB__";

impl Layer {
    /// The values of a TOML text. `origin` makes a place of a line and a column.
    pub(super) fn of_toml(
        text: &str,
        origin: &dyn Fn(usize, usize) -> Origin,
        faults: &mut Vec<Fault>,
    ) -> Self {
        let at = |span: Option<std::ops::Range<usize>>| {
            let (line, column) = line_and_column(text, span.map_or(0, |span| span.start));
            origin(line, column)
        };
        match Document::parse(text) {
            Ok(document) => {
                let mut reader = Reader { at: &at, values: Vec::new(), faults };
                reader.table("", document.as_table());
                Self(reader.values)
            }
            Err(fault) => {
                let what = format!("this is not TOML: {}", fault.message().replace('\n', "; "));
                faults.push(Fault { origin: at(fault.span()), what });
                Self::default()
            }
        }
    }

    /// The embedded defaults. Where artifacts are cached and which Java runs are the user's affair, so these two follow
    /// from the environment.
    pub(super) fn of_defaults(environment: &Environment, faults: &mut Vec<Fault>) -> Self {
        let mut layer = Self::of_toml(super::DEFAULT_TOML, &|_, _| Origin::Default, faults);
        let cache = environment.cache_folder().map(|(folder, variable)| ("neo4j.cache", folder, variable));
        let java = environment.java().map(|java| ("neo4j.java", java, "JAVA_HOME"));
        for (key, path, variable) in cache.into_iter().chain(java) {
            let raw = Raw::Text(path.to_string_lossy().into_owned());
            layer.0.extend(check(key, raw, Origin::DefaultBy(variable), faults));
        }
        layer
    }

    /// The values of a file on disk.
    pub(super) fn of_file(path: &Path, faults: &mut Vec<Fault>) -> Self {
        let origin = |line, column| Origin::File { path: path.to_owned(), line, column };
        match std::fs::read_to_string(path) {
            Ok(text) if path.extension().is_some_and(|end| end == "yaml" || end == "yml") => {
                Self::of_yaml(&text, &origin, faults)
            }
            Ok(text) => Self::of_toml(&text, &origin, faults),
            Err(error) => {
                let what = format!("it cannot be read: {error}");
                faults.push(Fault { origin: Origin::Whole(path.to_owned()), what });
                Self::default()
            }
        }
    }

    /// The values of the environment: the usual names first, then `EBB__SECTION__KEY`, which wins over them.
    pub(super) fn of_environment(environment: &Environment, faults: &mut Vec<Fault>) -> Self {
        let mut values = Vec::new();
        for (name, key) in USUAL {
            if let Some(text) = environment.get(name) {
                values.extend(check(
                    key,
                    Raw::Text(text.to_owned()),
                    Origin::Variable(name.to_owned()),
                    faults,
                ));
            }
        }
        for (rest, text) in environment.beginning(PREFIX) {
            let origin = Origin::Variable(format!("{PREFIX}{rest}"));
            values.extend(check(
                &rest.to_ascii_lowercase().replace("__", "."),
                Raw::Text(text.to_owned()),
                origin,
                faults,
            ));
        }
        Self(values)
    }

    /// The values of flags.
    pub(super) fn of_flags(flags: &[super::Flag], faults: &mut Vec<Fault>) -> Self {
        let one = |flag: &super::Flag| {
            check(flag.key, Raw::Text(flag.value.clone()), Origin::Flag(flag.written.clone()), faults)
        };
        Self(flags.iter().filter_map(one).collect())
    }
}

/// Walks the tables of a file.
struct Reader<'a> {
    at: &'a dyn Fn(Option<std::ops::Range<usize>>) -> Origin,
    values: Vec<Given>,
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    fn table(&mut self, path: &str, table: &dyn TableLike) {
        for (name, item) in table.iter() {
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
            let origin = (self.at)(span);
            match item.as_table_like() {
                Some(inner) if knobs::is_section(&path) => self.table(&path, inner),
                Some(_) if knobs::find(&path).is_none() => {
                    // Its keys would all be unknown too: the one fault is the section.
                    let what = unknown("section", &path, knobs::nearest_section(&path), &str::to_owned);
                    self.faults.push(Fault { origin, what });
                }
                _ => {
                    let raw = self.raw(item);
                    if let Some(given) = check(&path, raw, origin, self.faults)
                        && self.is_first(&given)
                    {
                        self.values.push(given);
                    }
                }
            }
        }
    }

    fn raw(&self, item: &Item) -> Raw {
        match item {
            Item::ArrayOfTables(list) => {
                Raw::Tables(list.iter().map(|table| self.of_list(table, table.span())).collect())
            }
            Item::Value(toml_edit::Value::Array(list)) if !list.is_empty() => {
                let tables =
                    list.iter().map(|value| Some(self.of_list(value.as_inline_table()?, value.span())));
                match tables.collect::<Option<_>>() {
                    Some(tables) => Raw::Tables(tables),
                    None => Raw::Toml(toml_edit::Value::Array(list.clone())),
                }
            }
            Item::Value(value) => Raw::Toml(value.clone()),
            _ => Raw::Other("a table"),
        }
    }

    /// One table of a list.
    fn of_list(&self, table: &dyn TableLike, span: Option<std::ops::Range<usize>>) -> Table {
        let field = |(name, item): (&str, &Item)| {
            let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
            let raw = match item {
                Item::Value(value) => Raw::Toml(value.clone()),
                _ => Raw::Other("a table"),
            };
            (name.to_owned(), raw, (self.at)(span))
        };
        Table { origin: (self.at)(span), fields: table.iter().map(field).collect() }
    }

    /// TOML itself refuses a key given twice, but not one given in two spellings.
    fn is_first(&mut self, given: &Given) -> bool {
        let Some(first) = self.values.iter().find(|first| first.key == given.key) else { return true };
        let what = format!("`{}` is given twice; it stands at {} too", given.key, first.origin);
        self.faults.push(Fault { origin: given.origin.clone(), what });
        false
    }
}

/// The value of this key, or a fault and nothing.
pub(super) fn check(path: &str, raw: Raw, origin: Origin, faults: &mut Vec<Fault>) -> Option<Given> {
    let spell: &dyn Fn(&str) -> String = match &origin {
        Origin::Variable(_) => &|key| format!("{PREFIX}{}", key.replace('.', "__").to_ascii_uppercase()),
        _ => &str::to_owned,
    };
    let what = match knobs::find(path) {
        Some(knob) if let Kind::Tables(tables) = &knob.kind => {
            let (value, shown) = tables.check(&knob.key, raw, &origin, faults)?;
            return Some(Given { key: &knob.key, value, shown, origin });
        }
        Some(knob) => match knob.kind.check(&raw) {
            Ok((value, shown)) => return Some(Given { key: &knob.key, value, shown, origin }),
            Err(rule) if knob.kind.is_secret() => format!("`{}`: {rule}", knob.key),
            Err(rule) => format!("`{}` is {raw}; {rule}", knob.key),
        },
        None if knobs::is_section(path) => format!("`{path}` is a section; name one of its keys"),
        None => unknown("key", path, knobs::nearest_key(path), spell),
    };
    faults.push(Fault { origin, what });
    None
}

pub(super) fn unknown(
    what: &str,
    path: &str,
    nearest: Option<&str>,
    spell: &dyn Fn(&str) -> String,
) -> String {
    match nearest {
        Some(nearest) => format!("unknown {what} `{path}`; the nearest name is `{}`", spell(nearest)),
        None => format!("unknown {what} `{path}`; `ebb config show` lists every key"),
    }
}

/// Both from 1; the column in characters.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

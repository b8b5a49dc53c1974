//! The layers of a configuration: embedded defaults, a file, the environment, flags.
//!
//! Each layer is read into a list of values by key, each with its place and checked alone; an unknown key or an invalid
//! value becomes a fault and is omitted. The `config` crate then merges the layers: it implements precedence, but has
//! no line numbers and stops at the first fault.

use super::fault::{Fault, Origin};
use super::keys::{self, Key};
use super::raw::{self, Data, Place, Raw};
use super::reader::{self, Privacy, Rule};
use super::{Environment, policies};
use config::{ConfigError, Map, Source, Value, ValueKind};
use std::path::Path;
use std::sync::LazyLock;

/// A checked value of one layer.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) key: &'static Key,
    /// The parsed value.
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// The embedded defaults that no variable changes, read once: a program with tests, or a fuzz target, reads many configurations.
static DEFAULTS: LazyLock<(Layer, Vec<Fault>)> = LazyLock::new(|| {
    let mut faults = Vec::new();
    (Layer::of_toml(super::DEFAULT_TOML, &|_, _| Origin::Default, &mut faults), faults)
});

/// The values of one layer, later ones winning.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer(pub(super) Vec<Given>);

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        Ok(self.0.iter().map(|given| (given.key.path.join("."), given.value.clone())).collect())
    }
}

/// Variables common to programs with Neo4j, the two that choose the origin of a managed server, and the two with decay
/// policies, of which the later replaces policies of the earlier.
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
/// Keys whose values are programs that Ebb runs, or the folder of those that Java runs.
const PROGRAMS: [&str; 4] = ["neo4j.cache", "neo4j.docker", "neo4j.java", "neo4j.mvn"];

impl Layer {
    /// The values of a TOML text.
    pub(super) fn of_toml(text: &str, place: Place<'_>, faults: &mut Vec<Fault>) -> Self {
        let entries = raw::of_toml(text, place).unwrap_or_else(|fault| {
            faults.push(fault);
            Vec::new()
        });
        Self::of_entries(&entries, faults)
    }

    /// The values of a YAML text. Its sections and keys are those of TOML; the documented block `settings.memory.decay`
    /// is another name of `[relation]` in both.
    pub(super) fn of_yaml(text: &str, place: Place<'_>, faults: &mut Vec<Fault>) -> Self {
        let entries = raw::of_yaml(text, place, faults);
        Self::of_entries(&entries, faults)
    }

    /// The embedded defaults. The cache folder and the Java program are determined by the environment.
    pub(super) fn of_defaults(environment: &Environment, faults: &mut Vec<Fault>) -> Self {
        let (mut layer, found) = DEFAULTS.clone();
        faults.extend(found);
        let cache = environment.cache_folder().map(|(folder, variable)| ("neo4j.cache", folder, variable));
        let java = environment.java().map(|java| ("neo4j.java", java, "JAVA_HOME"));
        for (key, path, variable) in cache.into_iter().chain(java) {
            layer.add(key, &path.to_string_lossy(), Origin::DefaultBy(variable), faults);
        }
        layer
    }

    /// The values of a file on disk.
    pub(super) fn of_file(path: &Path, faults: &mut Vec<Fault>) -> Self {
        let place = |line, column| Origin::File { path: path.to_owned(), line, column };
        match std::fs::read_to_string(path) {
            Ok(text) if path.extension().is_some_and(|end| end == "yaml" || end == "yml") => {
                Self::of_yaml(&text, &place, faults)
            }
            Ok(text) => Self::of_toml(&text, &place, faults),
            Err(error) => {
                let what = format!("it cannot be read: {error}");
                faults.push(Fault { origin: Origin::Whole(path.to_owned()), what });
                Self::default()
            }
        }
    }

    /// The values of the file of the current folder, which nobody named. It may have come with a repository or an archive, so it
    /// names no program that Ebb would run.
    pub(super) fn of_found_file(path: &Path, faults: &mut Vec<Fault>) -> Self {
        let mut layer = Self::of_file(path, faults);
        layer.0.retain(|given| {
            let names_program = PROGRAMS.contains(&given.key.name.as_str());
            if names_program {
                let what = format!(
                    "`{}` says which programs run, and this file was only found in the current folder; name it with --config",
                    given.key.name
                );
                faults.push(Fault { origin: given.origin.clone(), what });
            }
            !names_program
        });
        layer
    }

    /// The values of the environment: the common names first, then `EBB__SECTION__KEY`, which overrides them.
    pub(super) fn of_environment(environment: &Environment, faults: &mut Vec<Fault>) -> Self {
        let mut layer = Self::default();
        for (name, key) in USUAL {
            if let Some(text) = environment.get(name) {
                layer.add(key, text, Origin::Variable(name.to_owned()), faults);
            }
        }
        for (rest, text) in environment.beginning(PREFIX) {
            let key = rest.to_ascii_lowercase().replace("__", ".");
            layer.add(&key, text, Origin::Variable(format!("{PREFIX}{rest}")), faults);
        }
        layer
    }

    /// The values of flags.
    pub(super) fn of_flags(flags: &[super::Flag], faults: &mut Vec<Fault>) -> Self {
        let mut layer = Self::default();
        for flag in flags {
            layer.add(flag.key, &flag.value, Origin::Flag(flag.written.clone()), faults);
        }
        layer
    }

    fn add(&mut self, path: &str, text: &str, origin: Origin, faults: &mut Vec<Fault>) {
        self.0.extend(check(path, &Raw { data: Data::Bare(text.to_owned()), origin }, faults));
    }

    fn of_entries(entries: &[(String, Raw)], faults: &mut Vec<Fault>) -> Self {
        let mut layer = Self::default();
        layer.table("", entries, faults);
        layer
    }

    fn table(&mut self, path: &str, entries: &[(String, Raw)], faults: &mut Vec<Fault>) {
        for (name, raw) in entries {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match &raw.data {
                Data::Table(inner) if keys::is_section(&path) => self.table(&path, inner, faults),
                Data::Table(_) if keys::find(&path).is_none() => {
                    // Its keys would all be unknown too: only the section is reported.
                    let nearest = keys::nearest_section(&path).map(str::to_owned);
                    faults
                        .push(Fault { origin: raw.origin.clone(), what: unknown("section", &path, nearest) });
                }
                _ => {
                    let Some(given) = check(&path, raw, faults) else { continue };
                    // The TOML parser rejects a key given twice, but not one given in two spellings.
                    match self.0.iter().find(|first| first.key.name == given.key.name) {
                        None => self.0.push(given),
                        Some(Given { key, origin, .. }) => {
                            let what = format!("`{}` is given twice; also at {origin}", key.name);
                            faults.push(Fault { origin: given.origin, what });
                        }
                    }
                }
            }
        }
    }
}

/// The value of this key, or `None` after recording a fault.
fn check(path: &str, raw: &Raw, faults: &mut Vec<Fault>) -> Option<Given> {
    let what = match keys::find(path) {
        Some(key) if !key.fields.is_empty() => return tables(key, raw, faults),
        Some(key) => match reader::read(&key.path, raw) {
            Ok(value) => return Some(Given { key, value, origin: raw.origin.clone() }),
            Err(Rule(rule)) if key.privacy != Privacy::Open => format!("`{}`: {rule}", key.name),
            Err(Rule(rule)) => format!("`{}` is {raw}; {rule}", key.name),
        },
        None if keys::is_section(path) => format!("`{path}` is a section; name one of its keys"),
        None => {
            let nearest = keys::nearest_key(path).map(|key| match &raw.origin {
                Origin::Variable(_) => format!("{PREFIX}{}", key.replace('.', "__").to_ascii_uppercase()),
                _ => key.to_owned(),
            });
            unknown("key", path, nearest)
        }
    };
    faults.push(Fault { origin: raw.origin.clone(), what });
    None
}

fn unknown(what: &str, path: &str, nearest: Option<String>) -> String {
    match nearest {
        Some(nearest) => format!("unknown {what} `{path}`; the nearest name is `{nearest}`"),
        None => format!("unknown {what} `{path}`; `ebb config show` lists every key"),
    }
}

type Fields = Vec<(String, Raw)>;

/// The value of a key that is a list of tables: tables of a file, or a JSON array in a variable, which is the form of
/// decay policies in the documents.
fn tables(key: &'static Key, raw: &Raw, faults: &mut Vec<Fault>) -> Option<Given> {
    let (name, before) = (&key.name, faults.len());
    let as_table = |raw: &Raw| match &raw.data {
        Data::Table(fields) => Some((fields.clone(), raw.origin.clone())),
        _ => None,
    };
    let list: Result<Option<Vec<(Fields, Origin)>>, _> = match &raw.data {
        Data::List(items) => Ok(items.iter().map(as_table).collect()),
        Data::Bare(text) => raw::of_json(text, &raw.origin).map(|list| list.iter().map(as_table).collect()),
        _ => Ok(None),
    };
    let list = match list {
        Ok(Some(list)) => list,
        Ok(None) => {
            let what = format!("`{name}` is {raw}; it must be a list of tables, such as [[{name}]]");
            faults.push(Fault { origin: raw.origin.clone(), what });
            return None;
        }
        Err(why) => {
            let what = format!("`{name}` must be a JSON array of objects: {why}");
            faults.push(Fault { origin: raw.origin.clone(), what });
            return None;
        }
    };
    let mut values: Vec<Map<String, Value>> =
        list.iter().map(|(fields, origin)| table(key, fields, origin, faults)).collect();
    if name == policies::KEY {
        for fault in policies::faults(&mut values) {
            let (fields, origin) = &list[fault.index];
            let field = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(&fault.field));
            let origin = field.map_or(origin, |(_, raw)| &raw.origin).clone();
            let mut what = format!("`{name}.{}` {}", fault.field, fault.what);
            let is_same = |earlier: &Map<String, Value>| earlier.get("id") == values[fault.index].get("id");
            if fault.field == "id"
                && let Some(earlier) = values[..fault.index].iter().position(is_same)
            {
                what += &format!("; also at {}", list[earlier].1);
            }
            faults.push(Fault { origin, what });
        }
    }
    let value = Value::new(None, ValueKind::from(values));
    (faults.len() == before).then(|| Given { key, value, origin: raw.origin.clone() })
}

/// The values of one table of a list.
fn table(
    key: &Key,
    fields: &[(String, Raw)],
    origin: &Origin,
    faults: &mut Vec<Fault>,
) -> Map<String, Value> {
    let list = &key.name;
    let known = || key.fields.iter().map(|(field, _)| *field);
    let names = || known().collect::<Vec<_>>().join(", ");
    let mut named = Vec::new();
    let mut values = Map::new();
    for (name, raw) in fields {
        let what = match known().find(|field| field.eq_ignore_ascii_case(name)) {
            None => match keys::closest(known().map(|field| (field, field)), &name.to_ascii_lowercase(), 0.6)
            {
                Some(nearest) => {
                    format!("unknown field `{name}` of `{list}`; the nearest name is `{nearest}`")
                }
                None => format!("unknown field `{name}` of `{list}`; its fields are {}", names()),
            },
            Some(field) if named.contains(&field) => format!("`{list}.{field}` is given twice"),
            Some(field) => {
                named.push(field);
                match reader::read(&[&key.path[..], &[field]].concat(), raw) {
                    Ok(value) => {
                        values.insert(field.to_owned(), value);
                        continue;
                    }
                    Err(Rule(rule)) => format!("`{list}.{field}` is {raw}; {rule}"),
                }
            }
        };
        faults.push(Fault { origin: raw.origin.clone(), what });
    }
    for (missing, _) in key.fields.iter().filter(|(field, required)| *required && !named.contains(field)) {
        let what = format!("`{list}`: a table has no `{missing}`; its fields are {}", names());
        faults.push(Fault { origin: origin.clone(), what });
    }
    values
}

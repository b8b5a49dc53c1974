//! Raw values, each with its place: the common form of TOML, YAML, JSON, variables and flags.

use super::fault::{Fault, Origin};
use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use serde_json::Value as Json;
use std::ops::Range;
use toml_edit::{Document, Item, TableLike, Value};

/// A raw value and its place. The value of a key has the place of the key.
#[derive(Debug, Clone)]
pub(super) struct Raw {
    pub(super) data: Data,
    pub(super) origin: Origin,
}

#[derive(Debug, Clone)]
pub(super) enum Data {
    Switch(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    /// Text of a variable or a flag, which may represent a value of any type.
    Bare(String),
    List(Vec<Raw>),
    Table(Vec<(String, Raw)>),
    /// A description of a value that no key accepts.
    Other(String),
}

/// Creates a place from a line and a column, both from 1; columns count characters.
pub(super) type Place<'a> = &'a dyn Fn(usize, usize) -> Origin;

/// The entries of a TOML text.
pub(super) fn of_toml(text: &str, place: Place<'_>) -> Result<Vec<(String, Raw)>, Fault> {
    let newlines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let at = |span: Option<Range<usize>>| {
        let before = text.get(..span.map_or(0, |span| span.start)).unwrap_or(text);
        let lines = newlines.partition_point(|newline| *newline < before.len());
        let line_start = if lines == 0 { 0 } else { newlines[lines - 1] + 1 };
        place(lines + 1, before[line_start..].chars().count() + 1)
    };
    match Document::parse(text) {
        Ok(document) => Ok(toml_table(document.as_table(), &at)),
        Err(fault) => {
            let what = format!("this is not TOML: {}", fault.message().replace('\n', "; "));
            Err(Fault { origin: at(fault.span()), what })
        }
    }
}

type Spot<'a> = &'a dyn Fn(Option<Range<usize>>) -> Origin;

fn toml_table(table: &dyn TableLike, at: Spot<'_>) -> Vec<(String, Raw)> {
    let entry = |(name, item): (&str, &Item)| {
        let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
        let data = match item {
            Item::Value(value) => toml_value(value, at),
            Item::Table(table) => Data::Table(toml_table(table, at)),
            Item::ArrayOfTables(list) => {
                let table = |table: &toml_edit::Table| Raw {
                    data: Data::Table(toml_table(table, at)),
                    origin: at(table.span()),
                };
                Data::List(list.iter().map(table).collect())
            }
            Item::None => Data::Other("nothing".to_owned()),
        };
        (name.to_owned(), Raw { data, origin: at(span) })
    };
    table.iter().map(entry).collect()
}

fn toml_value(value: &Value, at: Spot<'_>) -> Data {
    match value {
        Value::Boolean(on) => Data::Switch(*on.value()),
        Value::Integer(number) => Data::Whole(*number.value()),
        Value::Float(number) => Data::Number(*number.value()),
        Value::String(text) => Data::Text(text.value().clone()),
        Value::Datetime(date) => Data::Other(date.value().to_string()),
        Value::InlineTable(table) => Data::Table(toml_table(table, at)),
        Value::Array(list) => {
            let item = |value: &Value| Raw { data: toml_value(value, at), origin: at(value.span()) };
            Data::List(list.iter().map(item).collect())
        }
    }
}

/// The entries of a YAML text: the form of settings in the relation decay document.
pub(super) fn of_yaml(text: &str, place: Place<'_>, faults: &mut Vec<Fault>) -> Vec<(String, Raw)> {
    let at = |node: &MarkedYaml<'_>| place(node.span.start.line(), node.span.start.col() + 1);
    let documents = MarkedYaml::load_from_str(text).unwrap_or_else(|why| {
        let origin = place(why.marker().line(), why.marker().col() + 1);
        faults.push(Fault { origin, what: format!("this is not YAML: {}", why.info()) });
        Vec::new()
    });
    let mut entries = Vec::new();
    for document in &documents {
        match yaml_value(document, &at, faults) {
            Data::Table(more) => entries.extend(more),
            // An empty document has no entries.
            Data::Other(_) => {}
            _ => {
                let what =
                    "this is no section: a name, a colon, and below it keys with their values".to_owned();
                faults.push(Fault { origin: at(document), what });
            }
        }
    }
    entries
}

fn yaml_value(
    node: &MarkedYaml<'_>,
    at: &dyn Fn(&MarkedYaml<'_>) -> Origin,
    faults: &mut Vec<Fault>,
) -> Data {
    match &node.data {
        YamlData::Value(Scalar::Boolean(on)) => Data::Switch(*on),
        YamlData::Value(Scalar::Integer(number)) => Data::Whole(*number),
        YamlData::Value(Scalar::FloatingPoint(number)) => Data::Number(number.into_inner()),
        YamlData::Value(Scalar::String(text)) => Data::Text(text.to_string()),
        YamlData::Sequence(list) => Data::List(
            list.iter().map(|item| Raw { data: yaml_value(item, at, faults), origin: at(item) }).collect(),
        ),
        YamlData::Mapping(entries) => {
            let mut table = Vec::new();
            for (name, value) in entries {
                match &name.data {
                    YamlData::Value(Scalar::String(word)) => {
                        let data = yaml_value(value, at, faults);
                        table.push((word.to_string(), Raw { data, origin: at(name) }));
                    }
                    _ => faults.push(Fault { origin: at(name), what: "a key must be a name".to_owned() }),
                }
            }
            Data::Table(table)
        }
        _ => Data::Other("nothing".to_owned()),
    }
}

/// The tables of a JSON array, each placed by its number. A null field counts as omitted.
pub(super) fn of_json(text: &str, origin: &Origin) -> serde_json::Result<Vec<Raw>> {
    let objects: Vec<serde_json::Map<String, Json>> = serde_json::from_str(text)?;
    let table = |(n, object)| {
        let origin = match origin {
            Origin::Variable(name) => Origin::Variable(format!("{name}[{n}]")),
            other => other.clone(),
        };
        Raw { data: json_value(Json::Object(object), &origin), origin }
    };
    Ok(objects.into_iter().enumerate().map(table).collect())
}

fn json_value(value: Json, origin: &Origin) -> Data {
    let raw = |value| Raw { data: json_value(value, origin), origin: origin.clone() };
    match value {
        Json::Null => Data::Other("null".to_owned()),
        Json::Bool(on) => Data::Switch(on),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Data::Whole(whole),
            None => Data::Number(number.as_f64().unwrap_or(f64::INFINITY)),
        },
        Json::String(text) => Data::Text(text),
        Json::Array(list) => Data::List(list.into_iter().map(raw).collect()),
        Json::Object(fields) => {
            let given = fields.into_iter().filter(|(_, value)| !value.is_null());
            Data::Table(given.map(|(name, value)| (name, raw(value))).collect())
        }
    }
}

/// The value as written, for faults.
impl std::fmt::Display for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.data {
            Data::Switch(on) => on.fmt(f),
            Data::Whole(number) => number.fmt(f),
            Data::Number(number) => write!(f, "{number:?}"),
            Data::Text(text) | Data::Bare(text) => write!(f, "\"{}\"", text.escape_debug()),
            Data::List(list) => {
                let items: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Data::Table(_) => f.write_str("a table"),
            Data::Other(what) => f.write_str(what),
        }
    }
}

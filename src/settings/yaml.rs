//! A configuration in YAML: the form in which the relation decay document writes its settings.
//!
//! A file whose name ends in `.yaml` or `.yml` is read as this. Its sections and keys are those of `config/default.toml`;
//! the documented block `settings.memory.decay` is another name of `[relation]`, in TOML as well.

use super::fault::{Fault, Origin};
use super::kind::Raw;
use super::kind::Table;
use super::knobs;
use super::layers::{Layer, check, unknown};
use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

impl Layer {
    /// The values of a YAML text. `origin` makes a place of a line and a column.
    pub(super) fn of_yaml(
        text: &str,
        origin: &dyn Fn(usize, usize) -> Origin,
        faults: &mut Vec<Fault>,
    ) -> Self {
        let documents = match MarkedYaml::load_from_str(text) {
            Ok(documents) => documents,
            Err(why) => {
                let origin = origin(why.marker().line(), why.marker().col() + 1);
                faults.push(Fault { origin, what: format!("this is not YAML: {}", why.info()) });
                return Self::default();
            }
        };
        let mut layer = Self::default();
        for document in &documents {
            node(&mut layer, "", document, origin, faults);
        }
        layer
    }
}

fn node(
    layer: &mut Layer,
    path: &str,
    node: &MarkedYaml<'_>,
    origin: &dyn Fn(usize, usize) -> Origin,
    faults: &mut Vec<Fault>,
) {
    let place = |node: &MarkedYaml<'_>| origin(node.span.start.line(), node.span.start.col() + 1);
    let YamlData::Mapping(entries) = &node.data else {
        // An empty document holds nothing.
        if !matches!(node.data, YamlData::Value(Scalar::Null)) {
            let what = "this is no section: a name, a colon, and below it keys with their values".to_owned();
            faults.push(Fault { origin: place(node), what });
        }
        return;
    };
    for (name, value) in entries {
        let YamlData::Value(Scalar::String(word)) = &name.data else {
            faults.push(Fault { origin: place(name), what: "a key must be a name".to_owned() });
            continue;
        };
        let path = if path.is_empty() { word.to_string() } else { format!("{path}.{word}") };
        if matches!(value.data, YamlData::Mapping(_)) {
            if knobs::is_section(&path) {
                self::node(layer, &path, value, origin, faults);
            } else {
                let what = unknown("section", &path, knobs::nearest_section(&path), &str::to_owned);
                faults.push(Fault { origin: place(name), what });
            }
            continue;
        }
        layer.0.extend(check(&path, raw(value, &place), place(name), faults));
    }
}

fn raw(node: &MarkedYaml<'_>, place: &dyn Fn(&MarkedYaml<'_>) -> Origin) -> Raw {
    match &node.data {
        YamlData::Value(Scalar::Boolean(on)) => Raw::Toml((*on).into()),
        YamlData::Value(Scalar::Integer(number)) => Raw::Toml((*number).into()),
        YamlData::Value(Scalar::FloatingPoint(number)) => Raw::Toml(number.into_inner().into()),
        YamlData::Value(Scalar::String(text)) => Raw::Toml(text.as_ref().into()),
        YamlData::Value(Scalar::Null) => Raw::Other("nothing"),
        YamlData::Sequence(list) if list.iter().any(|item| matches!(item.data, YamlData::Mapping(_))) => {
            let tables: Option<Vec<Table>> = list.iter().map(|item| table(item, place)).collect();
            tables.map_or(Raw::Other("a list of tables and other things"), Raw::Tables)
        }
        YamlData::Sequence(list) => {
            let mut array = toml_edit::Array::new();
            for item in list {
                match raw(item, place) {
                    Raw::Toml(value) => array.push(value),
                    _ => return Raw::Other("a list of what are no values"),
                }
            }
            Raw::Toml(toml_edit::Value::Array(array))
        }
        _ => Raw::Other("no value"),
    }
}

/// One table of a list; none if it is something else.
fn table(node: &MarkedYaml<'_>, place: &dyn Fn(&MarkedYaml<'_>) -> Origin) -> Option<Table> {
    let YamlData::Mapping(entries) = &node.data else { return None };
    let field = |(name, value): (&MarkedYaml<'_>, &MarkedYaml<'_>)| match &name.data {
        YamlData::Value(Scalar::String(word)) => Some((word.to_string(), raw(value, place), place(name))),
        _ => None,
    };
    Some(Table { origin: place(node), fields: entries.iter().map(field).collect::<Option<_>>()? })
}

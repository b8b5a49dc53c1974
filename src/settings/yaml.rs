//! A configuration in YAML: the form in which the relation decay document writes its settings.
//!
//! A file whose name ends in `.yaml` or `.yml` is read as this. Its sections and keys are those of `config/default.toml`;
//! the documented block `settings.memory.decay` is another name of `[relation]`, in TOML as well.

use super::fault::{Fault, Origin};
use super::kind::Raw;
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
        let raw = match &value.data {
            YamlData::Value(Scalar::Boolean(on)) => Raw::Toml((*on).into()),
            YamlData::Value(Scalar::Integer(number)) => Raw::Toml((*number).into()),
            YamlData::Value(Scalar::FloatingPoint(number)) => Raw::Toml(number.into_inner().into()),
            YamlData::Value(Scalar::String(text)) => Raw::Toml(text.as_ref().into()),
            YamlData::Value(Scalar::Null) => Raw::Other("nothing"),
            _ => Raw::Other("a list"),
        };
        layer.0.extend(check(&path, raw, place(name), faults));
    }
}

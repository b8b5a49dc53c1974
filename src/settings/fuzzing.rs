//! Fuzz entry point: configurations and mappings.

use super::layers::Layer;
use super::{Environment, Fault, Faults, Flags, Origin, Settings, adopt};
use serde_json::{Map, Value};

/// Reads a file in TOML.
pub(crate) fn toml(bytes: &[u8]) {
    file(bytes, Layer::of_toml);
}

/// Reads a file in YAML.
pub(crate) fn yaml(bytes: &[u8]) {
    file(bytes, Layer::of_yaml);
}

type OfText = fn(&str, &dyn Fn(usize, usize) -> Origin, &mut Vec<Fault>) -> Layer;

/// Reads a file. Faults are placed in it, and a valid configuration is the same when it is read from its own rows.
fn file(bytes: &[u8], layer: OfText) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = text.split(['\n', '\r']).count();
    match load(text, layer) {
        Ok(settings) => assert_same(&settings),
        Err(faults) => {
            assert!(!faults.list().is_empty());
            for fault in faults.list() {
                if let Origin::File { line, column, .. } = fault.origin {
                    assert!((1..=lines + 1).contains(&line) && column > 0, "{fault}");
                }
            }
        }
    }
}

fn load(text: &str, layer: OfText) -> Result<Settings, Faults> {
    let mut faults = Vec::new();
    let place = |line, column| Origin::File { path: "ebb.toml".into(), line, column };
    let layer = layer(text, &place, &mut faults);
    Settings::from_layers(layer, &Flags::default(), &Environment::default(), faults)
}

/// Writes the values that were given as TOML, and reads them again.
fn assert_same(settings: &Settings) {
    let mut given = Map::new();
    for row in settings.rows().iter().filter(|row| row.from.starts_with("ebb.toml")) {
        match &row.value {
            // A secret is not shown.
            Some(Value::String(stars)) if stars.starts_with("****") => return,
            Some(Value::Null) | None => {}
            Some(value) => put(&mut given, row.key, without_nulls(value)),
        }
    }
    let text = toml_edit::ser::to_string(&given).expect("values of TOML");
    let again = load(&text, Layer::of_toml).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    for (row, again) in settings.rows().iter().zip(again.rows()) {
        assert_eq!((row.key, &row.value), (again.key, &again.value), "{text}");
    }
}

/// Puts a value at a path of names with dots between.
fn put(table: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        Some((section, rest)) => {
            let inner = table.entry(section).or_insert_with(|| Value::Object(Map::new()));
            put(inner.as_object_mut().expect("a section"), rest, value);
        }
        None => {
            table.insert(path.to_owned(), value);
        }
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(without_nulls).collect(),
        Value::Object(fields) => {
            let given = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        other => other.clone(),
    }
}

/// Reads variables, one `NAME=value` a line. Faults name the variables that were given.
pub(crate) fn variables(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let named = text.lines().filter_map(|line| line.split_once('='));
    // Files of this machine are not read.
    let environment: Environment = named.filter(|(name, _)| *name != "JAVA_HOME").collect();
    let loaded = Settings::from_layers(Layer::default(), &Flags::default(), &environment, Vec::new());
    let Err(faults) = loaded else { return };
    assert!(!faults.list().is_empty());
    for fault in faults.list() {
        if let Origin::Variable(name) = &fault.origin {
            assert!(text.contains(name.split('[').next().unwrap_or_default()), "{fault}");
        }
    }
}

/// Reads a mapping. It is the same when it is written and read again.
pub(crate) fn mapping(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match adopt::parse(text) {
        Ok(mapping) => {
            let written = toml_edit::ser::to_string(&mapping).expect("a mapping");
            assert_eq!(adopt::parse(&written), Ok(mapping), "{written}");
        }
        Err(why) => assert!(!why.is_empty()),
    }
}

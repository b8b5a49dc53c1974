//! Lists of tables, such as `[[relation.pinned]]`: what each field may be, and the check of all of them.
//!
//! A list comes as tables of a TOML or YAML file, where every field has a place of its own, or as a JSON array in a
//! variable, the form in which the documents write decay policies. All faults of a list are told at once.
//!
//! A list whose tables have an id is merged over the layers by that id, so that a variable can replace one policy of a
//! file and leave the others; any other list is replaced as a whole, like every value.

use super::fault::{Fault, Origin};
use super::kind::{Kind, Raw, Shown, Table, Tables};
use super::knobs::{KNOBS, closest};
use super::layers::{Given, Layer};
use config::{Map, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;

impl Tables {
    /// The list for the structs, and the same for people; what is wrong with it becomes faults.
    pub(super) fn check(
        &self,
        key: &str,
        raw: Raw,
        origin: &Origin,
        faults: &mut Vec<Fault>,
    ) -> Option<(Value, Shown)> {
        let told = faults.len();
        let tables = match raw {
            Raw::Tables(tables) => tables,
            Raw::Toml(toml_edit::Value::Array(list)) if list.is_empty() => Vec::new(),
            Raw::Text(text) => of_json(&text, key, origin, faults),
            other => {
                let what = format!("`{key}` is {other}; it must be a list of tables, such as [[{key}]]");
                faults.push(Fault { origin: origin.clone(), what });
                Vec::new()
            }
        };
        let mut ids = BTreeMap::new();
        let (mut values, mut shown) = (Vec::new(), Vec::new());
        for table in tables {
            let place = table.origin.clone();
            let (value, fields) = self.table(key, table, faults);
            if let Some(id) = self.id.and_then(|id| fields.get(id)).map(ToString::to_string) {
                if let Some(first) = ids.get(&id) {
                    let what = format!("`{key}` holds \"{id}\" twice; it stands at {first} too");
                    faults.push(Fault { origin: place, what });
                    continue;
                }
                ids.insert(id, place);
            }
            values.push(Value::from(value));
            shown.push(Shown::Table(fields));
        }
        (faults.len() == told).then(|| (Value::from(values), Shown::List(shown)))
    }

    fn table(
        &self,
        key: &str,
        table: Table,
        faults: &mut Vec<Fault>,
    ) -> (Map<String, Value>, BTreeMap<&'static str, Shown>) {
        let (mut values, mut shown) = (Map::new(), BTreeMap::new());
        let told = faults.len();
        let mut named = Vec::new();
        let mut places: BTreeMap<&str, Origin> = BTreeMap::new();
        for (name, raw, origin) in table.fields {
            let Some((field, kind)) = self.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(&name))
            else {
                let names = self.fields.iter().map(|(field, _)| (*field, *field));
                let what = match closest(names, &name.to_ascii_lowercase(), 0.6) {
                    Some(nearest) => {
                        format!("unknown field `{name}` of `{key}`; the nearest name is `{nearest}`")
                    }
                    None => format!("unknown field `{name}` of `{key}`; its fields are {}", self.names()),
                };
                faults.push(Fault { origin, what });
                continue;
            };
            if named.contains(field) {
                faults.push(Fault { origin, what: format!("`{key}.{field}` is given twice") });
                continue;
            }
            named.push(field);
            places.insert(field, origin.clone());
            match kind.check(&raw) {
                Ok((value, text)) => {
                    values.insert((*field).to_owned(), value);
                    shown.insert(*field, text);
                }
                Err(rule) => faults.push(Fault { origin, what: format!("`{key}.{field}` is {raw}; {rule}") }),
            }
        }
        for missing in self.required.iter().filter(|field| !named.contains(field)) {
            let what = format!("`{key}`: a table has no `{missing}`; its fields are {}", self.names());
            faults.push(Fault { origin: table.origin.clone(), what });
        }
        let wrong = self.rule.filter(|_| faults.len() == told).map(|rule| rule(&shown)).unwrap_or_default();
        faults.extend(wrong.into_iter().map(|(field, what)| Fault {
            origin: places.get(field.as_str()).unwrap_or(&table.origin).clone(),
            what: format!("`{key}.{field}` {what}"),
        }));
        (values, shown)
    }

    fn names(&self) -> String {
        self.fields.iter().map(|(field, _)| *field).collect::<Vec<_>>().join(", ")
    }
}

/// The tables of a JSON array. A field that is null is one that is not given.
fn of_json(text: &str, key: &str, origin: &Origin, faults: &mut Vec<Fault>) -> Vec<Table> {
    let objects: Vec<serde_json::Map<String, Json>> = match serde_json::from_str(text) {
        Ok(objects) => objects,
        Err(why) => {
            let what = format!("`{key}` must be a JSON array of objects: {why}");
            faults.push(Fault { origin: origin.clone(), what });
            return Vec::new();
        }
    };
    let table = |(n, object): (usize, serde_json::Map<String, Json>)| {
        let origin = match origin {
            Origin::Variable(name) => Origin::Variable(format!("{name}[{n}]")),
            other => other.clone(),
        };
        let field = |(name, value)| Some((name, raw(value)?, origin.clone()));
        Table { fields: object.into_iter().filter_map(field).collect(), origin }
    };
    objects.into_iter().enumerate().map(table).collect()
}

fn raw(value: Json) -> Option<Raw> {
    Some(Raw::Toml(match value {
        Json::Null => return None,
        Json::Bool(on) => on.into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or(f64::INFINITY).into(),
        },
        Json::String(text) => text.into(),
        Json::Array(list) => {
            let mut array = toml_edit::Array::new();
            for item in list {
                match raw(item) {
                    Some(Raw::Toml(value)) => array.push(value),
                    _ => return Some(Raw::Other("a list of what are no values")),
                }
            }
            toml_edit::Value::Array(array)
        }
        Json::Object(_) => return Some(Raw::Other("an object")),
    }))
}

/// Makes one of what the layers say of each list that has ids: a later table replaces the earlier one of its id, in its
/// place. `layers` from the lowest to the highest.
pub(super) fn merge(layers: &mut [Layer]) {
    for knob in KNOBS.iter() {
        let Kind::Tables(Tables { id: Some(id), .. }) = &knob.kind else { continue };
        let mut merged: Vec<(Value, Shown)> = Vec::new();
        let mut last = None;
        for given in layers.iter().flat_map(|layer| &layer.0).filter(|given| given.key == knob.key) {
            let values = given.value.clone().into_array().unwrap_or_default();
            let Shown::List(shown) = &given.shown else { continue };
            for (value, shown) in values.into_iter().zip(shown) {
                match merged.iter_mut().find(|(_, known)| known.field(id) == shown.field(id)) {
                    Some(known) => *known = (value, shown.clone()),
                    None => merged.push((value, shown.clone())),
                }
            }
            last = Some(given.clone());
        }
        let (Some(last), Some(highest)) = (last, layers.len().checked_sub(1)) else { continue };
        layers.iter_mut().for_each(|layer| layer.0.retain(|given| given.key != knob.key));
        let (values, shown): (Vec<Value>, Vec<Shown>) = merged.into_iter().unzip();
        layers[highest].0.push(Given { value: Value::from(values), shown: Shown::List(shown), ..last });
    }
}

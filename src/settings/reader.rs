//! Reads one value through the type of its field, and describes fields by their types.
//!
//! Deserialising the settings as a whole would stop at the first fault and could not report its line. So each value is
//! read alone: the settings are deserialised along one path, from a map that contains nothing else. The other fields
//! are missing, which fails the whole, but only after the one field was read; its result is kept. The same procedure
//! with a value that no field accepts yields the keys of a section and the rule of a field.
//!
//! # Design notes
//! A value in a file has a type; a variable or a flag is plain text. A number in quotes is a mistake in a file, but the
//! only way to write one in a variable. The reader accepts both, and keeps the typed value, from which the layers are
//! merged and which `config show` prints.

use super::Settings;
use super::fault::Origin;
use super::raw::{Data, Raw};
use config::{Map, Value, ValueKind};
use serde::Deserialize;
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};

/// The rule that a value breaks, as the end of a sentence; it contains no value that may be secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Rule(pub(super) String);

impl Error for Rule {
    fn custom<T: std::fmt::Display>(rule: T) -> Self {
        Self(rule.to_string())
    }
}

/// How much of a value may be printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Privacy {
    /// Every value.
    #[default]
    Open,
    /// Valid values only.
    Guarded,
    /// No value.
    Secret,
}

/// A field of the settings, described by its type.
#[derive(Debug, Default)]
pub(super) struct Field {
    /// The keys of the section, or of each table of a list.
    pub(super) keys: Option<&'static [&'static str]>,
    pub(super) is_list: bool,
    pub(super) is_optional: bool,
    pub(super) privacy: Privacy,
    /// The rule that the value breaks.
    pub(super) broken: Option<Rule>,
}

/// Reads a value through the type of the field at `path`.
pub(super) fn read(path: &[&'static str], raw: &Raw) -> Result<Value, Rule> {
    let (field, value) = walk(path, raw);
    field.broken.map_or_else(|| Ok(Value::new(None, value)), Err)
}

/// The field at `path`, with the rule for its value.
pub(super) fn describe(path: &[&'static str]) -> Field {
    walk(path, &Raw { data: Data::Other(String::new()), origin: Origin::Default }).0
}

fn walk(path: &[&'static str], raw: &Raw) -> (Field, ValueKind) {
    let (mut field, mut value) = (Field::default(), ValueKind::Nil);
    drop(Settings::deserialize(Reader { path, raw, mark: "", field: &mut field, value: &mut value }));
    (field, value)
}

struct Reader<'a> {
    path: &'a [&'static str],
    raw: &'a Raw,
    /// Name of the newtype around the value: see `values`.
    mark: &'static str,
    field: &'a mut Field,
    value: &'a mut ValueKind,
}

impl Reader<'_> {
    fn text(&self) -> Option<&str> {
        match &self.raw.data {
            Data::Text(text) | Data::Bare(text) => Some(text.as_str()).filter(|text| !text.trim().is_empty()),
            _ => None,
        }
    }

    fn whole(&self) -> Option<i64> {
        let units = [("KiB", 1_i64 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("B", 1)];
        match &self.raw.data {
            Data::Whole(number) => return Some(*number),
            Data::Bare(text) if let Ok(number) = text.trim().parse() => return Some(number),
            _ if self.mark != "Bytes" => return None,
            _ => {}
        }
        let text = self.text()?.trim();
        let strip = |(unit, size)| Some((text.strip_suffix(unit)?.trim_end(), size));
        let (number, size) = units.into_iter().find_map(strip)?;
        number.parse::<i64>().ok()?.checked_mul(size)
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Rule;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Rule> {
        if self.path.is_empty() {
            self.field.keys = Some(keys);
            return Err(Rule("it must be a table".to_owned()));
        }
        visitor.visit_map(Step(Some(self)))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rule> {
        let on = match &self.raw.data {
            Data::Switch(on) => Some(*on),
            Data::Bare(text) => text.to_ascii_lowercase().parse().ok(),
            _ => None,
        };
        let on = on.ok_or_else(|| Rule("it must be true or false".to_owned()))?;
        *self.value = ValueKind::Boolean(on);
        visitor.visit_bool(on)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rule> {
        let number = self.whole().ok_or_else(|| Rule("it must be a whole number".to_owned()))?;
        *self.value = ValueKind::I64(number);
        visitor.visit_i64(number)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rule> {
        if self.whole().is_some() {
            return self.deserialize_i64(visitor);
        }
        let number = match &self.raw.data {
            Data::Number(number) => Some(*number),
            Data::Bare(text) => text.trim().parse().ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| Rule("it must be a number".to_owned()))?;
        *self.value = ValueKind::Float(number);
        visitor.visit_f64(number)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rule> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rule> {
        let text = self.text().ok_or_else(|| Rule("it must be text, not empty".to_owned()))?.to_owned();
        *self.value = ValueKind::String(text.clone());
        visitor.visit_string(text)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rule> {
        self.deserialize_string(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Rule> {
        let given = self.text().unwrap_or_default();
        let Some(word) = words.iter().find(|word| word.eq_ignore_ascii_case(given)) else {
            return Err(Rule(format!("it must be \"{}\"", words.join("\" or \""))));
        };
        *self.value = ValueKind::String((*word).to_owned());
        let word: StrDeserializer<'_, Rule> = word.into_deserializer();
        visitor.visit_enum(word)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rule> {
        self.field.is_optional |= self.path.is_empty();
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        mark: &'static str,
        visitor: V,
    ) -> Result<V::Value, Rule> {
        match mark {
            "Secret" => self.field.privacy = Privacy::Secret,
            "Guarded" => self.field.privacy = Privacy::Guarded,
            _ => {}
        }
        visitor.visit_newtype_struct(Reader { mark, ..self })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rule> {
        self.field.is_list = true;
        if !self.path.is_empty() {
            return visitor.visit_seq(Step(Some(self)));
        }
        let separator = if self.mark == "Groups" { ';' } else { ',' };
        let bare =
            |text: &str| Raw { data: Data::Bare(text.trim().to_owned()), origin: self.raw.origin.clone() };
        let split: Vec<Raw>;
        let items = match &self.raw.data {
            // A dummy item, which yields the description of the items.
            Data::Other(_) => std::slice::from_ref(self.raw),
            Data::List(items) => items,
            Data::Bare(text) => {
                split = text.split(separator).map(bare).collect();
                &split
            }
            _ => return Err(Rule("it must be a list".to_owned())),
        };
        let mut values = Vec::new();
        let list = visitor.visit_seq(Items { items, field: self.field, values: &mut values })?;
        *self.value = ValueKind::Array(values);
        Ok(list)
    }

    /// For fields that accept values of any type, and check them later.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Rule> {
        match &self.raw.data {
            Data::Switch(_) => self.deserialize_bool(visitor),
            Data::Whole(_) | Data::Number(_) => self.deserialize_f64(visitor),
            Data::Text(text) | Data::Bare(text) => {
                *self.value = ValueKind::String(text.clone());
                visitor.visit_str(text)
            }
            Data::List(_) => self.deserialize_seq(visitor),
            Data::Table(_) | Data::Other(_) => {
                *self.value = ValueKind::Table(Map::new());
                visitor.visit_map(MapDeserializer::new(std::iter::empty::<(&str, &str)>()))
            }
        }
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u64 u128 char bytes byte_buf unit unit_struct tuple tuple_struct map identifier ignored_any
    }
}

/// A map that contains only the first name of a path, or a list of the one table on the path.
struct Step<'a>(Option<Reader<'a>>);

impl<'de> MapAccess<'de> for Step<'_> {
    type Error = Rule;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Rule> {
        let Some(name) = self.0.as_ref().and_then(|reader| reader.path.first()) else { return Ok(None) };
        let name: StrDeserializer<'_, Rule> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Rule> {
        let Some(Reader { path, raw, field, value, .. }) = self.0.take() else {
            return Err(Rule::custom("a value is read once"));
        };
        let path = path.get(1..).unwrap_or_default();
        let read = seed.deserialize(Reader { path, raw, mark: "", field, value });
        if path.is_empty() {
            field.broken = read.as_ref().err().cloned();
        }
        read
    }
}

impl<'de> SeqAccess<'de> for Step<'_> {
    type Error = Rule;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Rule> {
        self.0.take().map(|reader| seed.deserialize(reader)).transpose()
    }
}

/// The items of a list.
struct Items<'a> {
    items: &'a [Raw],
    field: &'a mut Field,
    values: &'a mut Vec<Value>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Rule;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Rule> {
        let Some((raw, rest)) = self.items.split_first() else { return Ok(None) };
        self.items = rest;
        let mut value = ValueKind::Nil;
        let reader = Reader { path: &[], raw, mark: "", field: self.field, value: &mut value };
        let item = seed.deserialize(reader)?;
        self.values.push(Value::new(None, value));
        Ok(Some(item))
    }
}

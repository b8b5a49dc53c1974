//! Fields of nodes, of provenance and of edges, with the range of each value.

use super::{Fields, Object, Reading};
use crate::graph::Error;
use crate::graph::codec::EXACT_MS;
use crate::graph::columns::NodeRow;
use crate::graph::kinds::{EdgeDirection, NodeType};
use crate::graph::metadata::Metadata;
use crate::graph::provenance::Provenance;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use std::fmt;

pub(super) struct NodeFields(pub(super) NodeRow);

impl Default for NodeFields {
    fn default() -> Self {
        Self(NodeRow::new("", "", NodeType::Concept))
    }
}

impl Fields for NodeFields {
    const NAMES: &'static [&'static str] = &[
        "external_id",
        "label",
        "node_type",
        "tags",
        "change_frequency",
        "last_modified",
        "provenance",
        "metadata",
    ];
    const NEEDED: usize = 5;

    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        name: &'static str,
        map: &mut A,
        reading: &mut Reading,
    ) -> Result<(), A::Error> {
        let Self(row) = self;
        match name {
            "external_id" => row.external_id = map.next_value()?,
            "label" => row.label = map.next_value()?,
            "node_type" => row.node_type = map.next_value_seed(Type)?,
            "tags" => row.tags = map.next_value()?,
            "change_frequency" => row.change_frequency = number(name, f32::MAX, map, reading)?,
            "last_modified" => match map.next_value()? {
                Some(Milliseconds(ms)) => row.last_modified = Some(ms),
                None => return Err(reading.refuse_null(name)),
            },
            "metadata" => row.metadata = Metadata::unchecked(map.next_value()?),
            _ => {
                let Origin(known) = map.next_value_seed(Object { reading, fields: Origin::default() })?;
                row.provenance = known;
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Origin(Provenance);

impl Fields for Origin {
    const NAMES: &'static [&'static str] =
        &["canonical", "source_path", "line_start", "line_end", "excerpt", "namespace"];
    const NEEDED: usize = 1;

    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        name: &'static str,
        map: &mut A,
        _: &mut Reading,
    ) -> Result<(), A::Error> {
        let Self(known) = self;
        match name {
            "canonical" => known.canonical = map.next_value()?,
            "source_path" => known.source_path = Some(map.next_value()?),
            "line_start" => known.line_start = Some(line(map)?),
            "line_end" => known.line_end = Some(line(map)?),
            "excerpt" => known.excerpt = Some(map.next_value()?),
            _ => known.namespace = Some(map.next_value()?),
        }
        Ok(())
    }
}

fn line<'de, A: MapAccess<'de>>(map: &mut A) -> Result<u32, A::Error> {
    let line = map.next_value()?;
    if line == 0 { Err(A::Error::custom("line numbers start at 1")) } else { Ok(line) }
}

/// Fields of an edge that are not in [`Reading`].
#[derive(Default)]
pub(super) struct EdgeFields {
    pub(super) half: bool,
}

impl Fields for EdgeFields {
    const NAMES: &'static [&'static str] = &[
        "source_id",
        "target_id",
        "relation",
        "weight",
        "direction",
        "inhibitory",
        "causal_strength",
        "half",
    ];
    const NEEDED: usize = 7;

    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        name: &'static str,
        map: &mut A,
        reading: &mut Reading,
    ) -> Result<(), A::Error> {
        match name {
            "source_id" => map.next_value_seed(Text(&mut reading.edge.source))?,
            "target_id" => map.next_value_seed(Text(&mut reading.edge.target))?,
            "relation" => map.next_value_seed(Text(&mut reading.edge.relation))?,
            "weight" => reading.edge.weight = number(name, f32::MAX, map, reading)?,
            "direction" => {
                reading.edge.direction = match map.next_value::<u8>()? {
                    0 => EdgeDirection::Forward,
                    1 => EdgeDirection::Bidirectional,
                    other => return Err(A::Error::custom(format!("{other} is not 0 or 1"))),
                }
            }
            "inhibitory" => reading.edge.inhibitory = map.next_value()?,
            "causal_strength" => reading.edge.causal = Some([number(name, 1.0, map, reading)?; 2]),
            _ => self.half = map.next_value()?,
        }
        Ok(())
    }
}

/// A number, `0 ..= max`.
fn number<'de, A: MapAccess<'de>>(
    name: &'static str,
    max: f32,
    map: &mut A,
    reading: &mut Reading,
) -> Result<f32, A::Error> {
    match map.next_value::<Option<f32>>()? {
        None => Err(reading.refuse_null(name)),
        Some(value) if (0.0..=max).contains(&value) => Ok(value),
        Some(value) => Err(A::Error::custom(format!("{value} is not 0 to {max:e}"))),
    }
}

impl Reading {
    /// Stops reading at a number that is `null`, which some programs write for NaN.
    fn refuse_null<E: serde::de::Error>(&mut self, field: &'static str) -> E {
        self.path.pop();
        let owner = self.path();
        self.refuse(Error::NonFinite { field, owner })
    }
}

/// A string that reuses the buffer of the one before.
struct Text<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.clear();
        self.0.push_str(text);
        Ok(())
    }
}

/// The version of a file as text.
pub(super) struct Version(pub(super) String);

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Version;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a version")
            }

            fn visit_u64<E>(self, version: u64) -> Result<Version, E> {
                Ok(Version(version.to_string()))
            }

            fn visit_i64<E>(self, version: i64) -> Result<Version, E> {
                Ok(Version(version.to_string()))
            }

            fn visit_f64<E>(self, version: f64) -> Result<Version, E> {
                Ok(Version(format!("{version:?}")))
            }

            fn visit_str<E>(self, version: &str) -> Result<Version, E> {
                Ok(Version(format!("{:?}", version.chars().take(40).collect::<String>())))
            }
        }
        from.deserialize_any(Any)
    }
}

/// The type of a node: a number, or `"custom:N"`.
struct Type;

impl<'de> DeserializeSeed<'de> for Type {
    type Value = NodeType;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<NodeType, D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for Type {
    type Value = NodeType;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0 to 16, 100 to 255 or \"custom:N\"")
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<NodeType, E> {
        let read = match u16::try_from(number) {
            Ok(code @ 0..=16) => NodeType::of_code(code),
            Ok(old @ 100..=255) => u8::try_from(old - 100).ok().map(NodeType::Custom),
            _ => None,
        };
        read.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Unsigned(number), &self))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<NodeType, E> {
        let number = text.strip_prefix("custom:").and_then(|number| number.parse().ok());
        // Each number has one spelling: no sign, no leading zeros.
        let number = number.filter(|number: &u8| text[7..] == number.to_string());
        number.map(NodeType::Custom).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

/// An instant: seconds in the file, milliseconds here.
struct Milliseconds(i64);

impl<'de> Deserialize<'de> for Milliseconds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Seconds;
        impl Visitor<'_> for Seconds {
            type Value = Milliseconds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "seconds since 1970")
            }

            fn visit_i64<E: serde::de::Error>(self, seconds: i64) -> Result<Milliseconds, E> {
                let ms = seconds.checked_mul(1_000);
                ms.map(Milliseconds).ok_or_else(|| E::custom(format!("{seconds} s is out of range")))
            }

            fn visit_u64<E: serde::de::Error>(self, seconds: u64) -> Result<Milliseconds, E> {
                let whole = i64::try_from(seconds);
                whole
                    .map_err(|_| E::custom(format!("{seconds} s is out of range")))
                    .and_then(|s| self.visit_i64(s))
            }

            #[expect(clippy::cast_possible_truncation, reason = "within 2^63")]
            #[expect(clippy::cast_precision_loss, reason = "2^50 is a number of either sort")]
            fn visit_f64<E: serde::de::Error>(self, seconds: f64) -> Result<Milliseconds, E> {
                let ms = (seconds * 1_000.0).round();
                if ms.abs() <= EXACT_MS as f64 {
                    return Ok(Milliseconds(ms as i64));
                }
                if seconds.abs() > 9e15 {
                    return Err(E::custom(format!("{seconds} s is out of range")));
                }
                self.visit_i64(seconds as i64)
            }
        }
        from.deserialize_f64(Seconds)
    }
}

//! Reads a graph: each node and edge goes to the builder as it is read, and the first error ends it.
//!
//! Errors name their path, such as `edges[12].weight`. The path is kept while the reader descends, and left as it is where
//! reading fails.

use super::checksum::SummedReader;
use super::{PARTS, SNAPSHOT_VERSION, refusal};
use crate::graph::Error;
use crate::graph::builder::{EdgeRow, GraphBuilder, WeightRange};
use crate::graph::kinds::{EdgeDirection, Kinds};
use crate::graph::snapshot::Snapshot;
use fields::{EdgeFields, NodeFields, Version};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::fmt::{self, Write as _};
use std::io::Read;

mod fields;

/// Reads a graph of generation 0 with effective weights in `range`, without PageRank. `kinds` is used by later batches;
/// the content of the file decides for itself.
///
/// # Errors
/// [`Error::CorruptSnapshot`] and [`Error::NonFinite`] for an invalid file, with the path of the fault;
/// [`Error::UnsupportedVersion`], [`Error::DuplicateNode`], [`Error::DanglingEdge`], and the errors of a graph that is too
/// large; [`Error::UnreadableSnapshot`] for I/O errors.
pub fn read(from: impl Read, kinds: Kinds, range: WeightRange) -> Result<Snapshot, Error> {
    read_with_checksum(from, kinds, range).map(|(snapshot, _)| snapshot)
}

/// As [`read`], and whether the file had a (valid) checksum.
///
/// # Errors
/// As [`read`].
pub fn read_with_checksum(
    from: impl Read,
    kinds: Kinds,
    range: WeightRange,
) -> Result<(Snapshot, bool), Error> {
    let mut bytes = SummedReader::new(from);
    let mut reading = Reading {
        builder: GraphBuilder::new(kinds, range.checked()?),
        path: Vec::new(),
        refused: None,
        checksum: None,
        edge: EdgeRow::default(),
    };
    let mut json = serde_json::Deserializer::from_reader(&mut bytes);
    let end = File(&mut reading).deserialize(&mut json).and_then(|()| json.end());
    end.map_err(|why| refusal(reading.refused.take(), reading.path(), &why))?;
    if let Some(given) = &reading.checksum {
        bytes.check(given)?;
    }
    let graph = reading.builder.finalize()?;
    Ok((Snapshot::from(graph), reading.checksum.is_some()))
}

/// State of the reader.
struct Reading {
    builder: GraphBuilder,
    path: Vec<Step>,
    /// The typed reason why reading stopped.
    refused: Option<Error>,
    checksum: Option<String>,
    /// The current edge: its strings are reused for the next one.
    edge: EdgeRow,
}

#[derive(Clone, Copy)]
enum Step {
    Field(&'static str),
    Place(usize),
}

impl Reading {
    fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.path {
            let wrote = match step {
                Step::Field(name) if path.is_empty() => write!(path, "{name}"),
                Step::Field(name) => write!(path, ".{name}"),
                Step::Place(at) => write!(path, "[{at}]"),
            };
            debug_assert!(wrote.is_ok(), "a string takes all");
        }
        if path.is_empty() { "the file".to_owned() } else { path }
    }

    /// Stops reading with a typed error.
    fn refuse<E: serde::de::Error>(&mut self, why: Error) -> E {
        self.refused = Some(why);
        E::custom("refused")
    }
}

/// The fields of an object.
trait Fields: Default {
    /// Names of all fields, the required ones first.
    const NAMES: &'static [&'static str];
    /// Number of required fields.
    const NEEDED: usize;

    /// Reads the value of one field.
    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        name: &'static str,
        map: &mut A,
        reading: &mut Reading,
    ) -> Result<(), A::Error>;
}

/// The four parts, in their order.
struct File<'r>(&'r mut Reading);

impl<'de> DeserializeSeed<'de> for File<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for File<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a snapshot")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(reading) = self;
        let mut next = 0;
        while let Some(at) = map.next_key_seed(Name(&PARTS))? {
            if at < next {
                return Err(A::Error::custom(format!("{} is a duplicate or out of order", PARTS[at])));
            }
            if at > next {
                return Err(A::Error::custom(format!("{} comes before {}", PARTS[at], PARTS[next])));
            }
            next += 1;
            reading.path.push(Step::Field(PARTS[at]));
            match at {
                0 => {
                    let Version(found) = map.next_value()?;
                    if found != SNAPSHOT_VERSION.to_string() {
                        let supported = SNAPSHOT_VERSION;
                        return Err(reading.refuse(Error::UnsupportedVersion { found, supported }));
                    }
                }
                1 => map.next_value_seed(List { reading, each: node })?,
                2 => map.next_value_seed(List { reading, each: edge })?,
                _ => reading.checksum = Some(map.next_value()?),
            }
            reading.path.pop();
        }
        // Only the checksum may be missing.
        match PARTS[..3].get(next) {
            Some(missing) => Err(A::Error::custom(format!("{missing} is missing"))),
            None => Ok(()),
        }
    }
}

/// A list of objects. `each` consumes the fields of one.
struct List<'r, F> {
    reading: &'r mut Reading,
    each: fn(F, &mut Reading) -> Result<(), Error>,
}

impl<'de, F: Fields> DeserializeSeed<'de> for List<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, F: Fields> Visitor<'de> for List<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { reading, each } = self;
        for at in 0.. {
            reading.path.push(Step::Place(at));
            let object = Object { reading: &mut *reading, fields: F::default() };
            let Some(fields) = list.next_element_seed(object)? else { break };
            each(fields, reading).map_err(|why| reading.refuse(why))?;
            reading.path.pop();
        }
        reading.path.pop();
        Ok(())
    }
}

/// An object with fields.
struct Object<'r, F> {
    reading: &'r mut Reading,
    fields: F,
}

impl<'de, F: Fields> DeserializeSeed<'de> for Object<'_, F> {
    type Value = F;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<F, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, F: Fields> Visitor<'de> for Object<'_, F> {
    type Value = F;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<F, A::Error> {
        let Self { reading, mut fields } = self;
        let mut there = 0_u32;
        while let Some(at) = map.next_key_seed(Name(F::NAMES))? {
            reading.path.push(Step::Field(F::NAMES[at]));
            if there >> at & 1 == 1 {
                return Err(A::Error::custom("duplicate field"));
            }
            there |= 1 << at;
            fields.read(F::NAMES[at], &mut map, reading)?;
            reading.path.pop();
        }
        match F::NAMES[..F::NEEDED].get(there.trailing_ones() as usize) {
            Some(missing) => Err(A::Error::custom(format!("{missing} is missing"))),
            None => Ok(fields),
        }
    }
}

/// Reads one of several names as its index.
struct Name(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<usize, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a field")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<usize, E> {
        let place = self.0.iter().position(|known| *known == name);
        place.ok_or_else(|| E::unknown_field(name, self.0))
    }
}

fn node(NodeFields(row): NodeFields, reading: &mut Reading) -> Result<(), Error> {
    reading.builder.add_node(row).map(drop)
}

fn edge(EdgeFields { half }: EdgeFields, reading: &mut Reading) -> Result<(), Error> {
    if !half {
        return reading.builder.add_edge(&reading.edge);
    }
    if reading.edge.direction == EdgeDirection::Bidirectional {
        let reason = "a half has direction 0".to_owned();
        return Err(Error::CorruptSnapshot { path: reading.path(), reason });
    }
    reading.edge.direction = EdgeDirection::Bidirectional;
    reading.builder.add_slot(&reading.edge)
}

//! File of learned weights, beside the snapshot file of the graph: JSON, exact, and rejected as a whole at the first error.
//!
//! ```json
//! {"generation":7,"tick":12,"synapses":[
//! {"source_id":"herbert","relation":"MENTIONS","target_id":"m1","original_weight":0.5,"current_weight":0.732,"delta":0.082,"perm":0.15,"strengthen_count":6,"weaken_count":0,"ltp_applied":true,"ltd_applied":false}
//! ]}
//! ```
//!
//! | field | meaning |
//! |---|---|
//! | `generation`, `tick` | generation of the graph, and number of learned outcomes |
//! | `original_weight` | the base weight, at least 0 |
//! | `current_weight` | the effective weight, at least 0 |
//! | `delta` | the part of the learned weight that decays, at least 0 |
//! | `perm` | the permanent part |
//! | `strengthen_count`, `weaken_count` | length of the current run |
//! | `ltp_applied`, `ltd_applied` | whether the permanent bonus and the permanent penalty were applied, each once |
//! | `checksum` | as in the snapshot file; always written, verified if present |
//!
//! The parts come in this order. Every field but the checksum is required, exactly once, and unknown fields are rejected,
//! as are duplicate slots.
//!
//! Invariants: reading restores what was written (held by `written_state_is_read_back`); a file with a checksum that
//! differs in any byte is rejected (held by `flips_and_cuts_are_refused`).

use super::checksum::{SummedReader, SummedWriter};
use super::refusal;
use crate::graph::Error;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, BufWriter, Read, Write};

#[cfg(test)]
mod tests;

/// The parts of a file, in their order.
const PARTS: [&str; 4] = ["generation", "tick", "synapses", "checksum"];

/// Learned weights by external ids, which outlive a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SynapticState {
    /// Generation of the graph.
    pub generation: u64,
    /// Number of learned outcomes.
    pub tick: u64,
    /// One row for each slot with a record.
    pub synapses: Vec<SynapticRow>,
}

/// Learned weight of one slot. A number that is `null` deserializes as NaN, which [`read`] rejects.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SynapticRow {
    /// External id of the source.
    pub source_id: String,
    /// Relationship type.
    pub relation: String,
    /// External id of the target.
    pub target_id: String,
    /// Base weight, at least 0.
    #[serde(deserialize_with = "nullable")]
    pub original_weight: f32,
    /// Effective weight, at least 0.
    #[serde(deserialize_with = "nullable")]
    pub current_weight: f32,
    /// The part that decays, at least 0.
    #[serde(deserialize_with = "nullable")]
    pub delta: f32,
    /// The permanent part.
    #[serde(deserialize_with = "nullable")]
    pub perm: f32,
    /// Strengthenings in a row.
    pub strengthen_count: u32,
    /// Weakenings in a row.
    pub weaken_count: u32,
    /// Whether the permanent bonus was applied.
    pub ltp_applied: bool,
    /// Whether the permanent penalty was applied.
    pub ltd_applied: bool,
}

/// Writes learned weights. Same content, same bytes.
///
/// # Errors
/// I/O errors, and [`io::ErrorKind::InvalidData`] for a number that is not finite. An incomplete file is rejected when
/// read.
pub fn write(state: &SynapticState, into: impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 * 1024, SummedWriter::new(into));
    write!(out, "{{\"generation\":{},\"tick\":{},\"synapses\":[", state.generation, state.tick)?;
    let mut separator = "\n";
    for (at, row) in state.synapses.iter().enumerate() {
        let numbers = [row.original_weight, row.current_weight, row.delta, row.perm];
        if !numbers.iter().all(|number| number.is_finite()) {
            let reason = format!("synapses[{at}] has a number that is not finite");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        out.write_all(separator.as_bytes())?;
        serde_json::to_writer(&mut out, row)?;
        separator = ",\n";
    }
    SummedWriter::finish(out)
}

/// Reads learned weights.
///
/// # Errors
/// [`Error::CorruptSnapshot`] and [`Error::NonFinite`] for an invalid file, with the path of the fault;
/// [`Error::UnreadableSnapshot`] for I/O errors.
pub fn read(from: impl Read) -> Result<SynapticState, Error> {
    let mut bytes = SummedReader::new(from);
    let mut reading = Reading::default();
    let mut json = serde_json::Deserializer::from_reader(&mut bytes);
    let end = File(&mut reading).deserialize(&mut json).and_then(|()| json.end());
    end.map_err(|why| refusal(reading.refused.take(), reading.path(), &why))?;
    if let Some(given) = &reading.checksum {
        bytes.check(given)?;
    }
    let mut slots: Vec<_> =
        reading.state.synapses.iter().map(|row| (&row.source_id, &row.relation, &row.target_id)).collect();
    slots.sort_unstable();
    if let Some(duplicate) = slots.windows(2).find(|two| two[0] == two[1]) {
        let (source, relation, target) = duplicate[0];
        let reason = format!("duplicate slot {source} -{relation}-> {target}");
        return Err(Error::CorruptSnapshot { path: "synapses".to_owned(), reason });
    }
    Ok(reading.state)
}

/// State of the reader.
#[derive(Default)]
struct Reading {
    state: SynapticState,
    checksum: Option<String>,
    /// The part that is being read.
    part: Option<&'static str>,
    /// The typed reason why reading stopped.
    refused: Option<Error>,
}

impl Reading {
    fn path(&self) -> String {
        match self.part {
            None => "the file".to_owned(),
            Some("synapses") => format!("synapses[{}]", self.state.synapses.len()),
            Some(part) => part.to_owned(),
        }
    }
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
        write!(f, "learned weights")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(reading) = self;
        for part in PARTS {
            match map.next_key::<String>()? {
                Some(name) if name == part => {}
                Some(name) => return Err(A::Error::custom(format!("{name} found instead of {part}"))),
                // Only the checksum may be missing.
                None if part == "checksum" => return Ok(()),
                None => return Err(A::Error::custom(format!("{part} is missing"))),
            }
            reading.part = Some(part);
            match part {
                "generation" => reading.state.generation = map.next_value()?,
                "tick" => reading.state.tick = map.next_value()?,
                "synapses" => map.next_value_seed(Rows(&mut *reading))?,
                _ => reading.checksum = Some(map.next_value()?),
            }
            reading.part = None;
        }
        match map.next_key::<String>()? {
            Some(name) => Err(A::Error::custom(format!("{name} found after the checksum"))),
            None => Ok(()),
        }
    }
}

/// Deserializes the list of rows.
struct Rows<'r>(&'r mut Reading);

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self(reading) = self;
        while let Some(row) = list.next_element::<SynapticRow>()? {
            match row.checked(reading.state.synapses.len()) {
                Ok(row) => reading.state.synapses.push(row),
                Err(why) => {
                    reading.refused = Some(why);
                    return Err(A::Error::custom("refused"));
                }
            }
        }
        Ok(())
    }
}

/// A number, or NaN for the `null` that some programs write for it.
fn nullable<'de, D: Deserializer<'de>>(from: D) -> Result<f32, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f32::NAN))
}

impl SynapticRow {
    /// Checks the numbers of a row that was read; `at` is its index.
    fn checked(mut self, at: usize) -> Result<Self, Error> {
        for (field, value, min) in [
            ("original_weight", &mut self.original_weight, 0.0),
            ("current_weight", &mut self.current_weight, 0.0),
            ("delta", &mut self.delta, 0.0),
            ("perm", &mut self.perm, f32::MIN),
        ] {
            if value.is_nan() {
                return Err(Error::NonFinite { field, owner: format!("synapses[{at}]") });
            }
            if !(min..=f32::MAX).contains(value) {
                let reason = format!("{value} is not {min:e} to {:e}", f32::MAX);
                return Err(Error::CorruptSnapshot { path: format!("synapses[{at}].{field}"), reason });
            }
            // Normalise -0.0.
            *value += 0.0;
        }
        Ok(self)
    }
}

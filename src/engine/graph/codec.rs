//! Snapshot file of a graph, JSON version 3: streamed, exact, and rejected as a whole at the first error.
//!
//! ```json
//! {"version":3,"nodes":[
//! {"external_id":"herbert","label":"Herbert","node_type":9,"tags":[],"change_frequency":0.0,"provenance":{"canonical":true}},
//! {"external_id":"m1","label":"Dune","node_type":"custom:0","tags":["book"],"last_modified":1700000000.25,"change_frequency":0.5}
//! ],"edges":[
//! {"source_id":"herbert","target_id":"m1","relation":"MENTIONS","weight":0.5,"direction":1,"inhibitory":false,"causal_strength":0.0}
//! ],"checksum":"e50c127e11ce4774"}
//! ```
//!
//! | field | meaning |
//! |---|---|
//! | `node_type` | 0 to 16, or `"custom:N"`; 100 to 255 are read as N + 100 |
//! | `last_modified` | seconds since 1970, negative before; omitted if unknown |
//! | `change_frequency` | changes per day, at least 0 |
//! | `provenance` | any of `source_path`, `line_start`, `line_end`, `excerpt`, `namespace`, and `canonical` |
//! | `metadata` | an object: see [`metadata`](super::metadata); omitted if there is none |
//! | `weight` | the base weight, at least 0; above the cap it is read as the cap |
//! | `direction` | 1: two equal slots, one each way; 0: this slot only |
//! | `half` | `true` with direction 0: one slot of a relationship that can be traversed both ways; else omitted |
//! | `causal_strength` | 0 to 1 |
//! | `checksum` | xxh3-64 of all bytes before its quotation mark, sixteen digits; verified if present |
//!
//! The four parts come in this order, since edges need their nodes and the checksum covers the rest. Lists may be in any
//! order, and are written in the order of external ids, then of relations: same content, same bytes. Every field that is
//! not called optional here is required, exactly once, and unknown fields are rejected.
//!
//! The file is an export: it has no tier, session and `partial` of nodes, no PageRank, no learned weights, no generation
//! and no instant. All else is restored bit for bit.
//!
//! Invariants: reading restores what was written (held by `snap_roundtrip`), whatever the order of its lists (held by
//! `snap_order_free`); a file with a checksum that differs in any byte is rejected (held by `snap_flips_and_cuts`).
//!
//! # Design notes
//! *Two slots.* A relationship that can be traversed both ways is two slots, written as one edge. If its slots differ (one
//! was merged with a heavier one, removed or replaced), each is written alone with direction 0, or a reader would double
//! it. Direction 0 by itself is a forward slot, whatever the table of kinds has for its type: the stored direction wins.
//! So `half` is a separate field. A reader that does not know it reads a forward slot, which conducts the same.
//!
//! *Milliseconds.* Seconds carry them as a fraction, exact for instants within 2^50 ms (some 35,000 years) of 1970. Others
//! are written as whole seconds, rounded towards 1970.
//!
//! *Numbers.* Floats are the shortest text that reads back as the same bits. `null`, which some programs write for NaN, is
//! an error.

mod checksum;
pub mod plasticity;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use read::{read, read_with_checksum};
pub use write::write;

use super::Error;

/// Version of the file format.
pub const SNAPSHOT_VERSION: u32 = 3;

/// The parts of a file, in their order.
const PARTS: [&str; 4] = ["version", "nodes", "edges", "checksum"];

/// The error of a JSON reader: the typed reason if there is one, else the message and the path at which reading stopped.
fn refusal(refused: Option<Error>, path: String, why: &serde_json::Error) -> Error {
    let reason = why.to_string();
    match (refused, why.io_error_kind()) {
        (Some(refused), _) => refused,
        (None, Some(kind)) => Error::UnreadableSnapshot { kind, reason },
        (None, None) => Error::CorruptSnapshot { path, reason },
    }
}

/// Instants nearer to 1970 than this keep their milliseconds.
const EXACT_MS: u64 = 1 << 50;

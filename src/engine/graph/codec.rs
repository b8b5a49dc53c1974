//! A graph as a file, JSON version 3: written and read as a stream, exact, and refused as a whole if anything is wrong.
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
//! | field | what it says |
//! |---|---|
//! | `node_type` | 0 to 16, or `"custom:N"`; 100 to 255 are read as N + 100 |
//! | `last_modified` | seconds since 1970, negative before; left out where nobody knows |
//! | `change_frequency` | times a day, at least 0 |
//! | `provenance` | what is known of it: `source_path`, `line_start`, `line_end`, `excerpt`, `namespace`, and `canonical` |
//! | `weight` | the base weight, at least 0; above the cap it is read as the cap |
//! | `direction` | 1: both slots, which are alike; 0: this slot alone |
//! | `half` | `true` with direction 0: one slot of a relationship that can be walked both ways; else left out |
//! | `causal_strength` | 0 to 1 |
//! | `checksum` | xxh3-64 of all bytes before its quotation mark, sixteen digits; checked if it is there |
//!
//! The four parts come in this order, since edges need their nodes and the sum what it sums. Inside the lists any order
//! is read, and what is written is in the order of external ids, then of relations: same content, same bytes. Every field
//! that is not called optional here must be there, once, and no other may be.
//!
//! It is an export: of a node's tier, session and whether it is partial, of standing and of what was learned it holds
//! nothing, nor of generation and instant. All else comes back bit by bit.
//!
//! Invariants: what is read is what was written (held by `snap_roundtrip`), whatever the order of its lists (held by
//! `snap_order_free`); a file with a checksum that differs in any byte is refused (held by `snap_flips_and_cuts`).
//!
//! # Design notes
//! *Both ways.* A both-way relationship is two slots, and the file says it once. If its slots came to differ (one was
//! merged with a heavier one, removed or replaced), each is written alone with direction 0, or a reader would double it.
//! Direction 0 by itself is a forward slot, whatever its relation is elsewhere: the stored direction wins over the table
//! of kinds. That such a slot is a half of a both-way relationship is thus a word of its own. Whoever does not know it
//! reads a forward slot, which conducts the same.
//!
//! *Milliseconds.* Seconds carry them as a fraction, exact for instants within 2^50 ms (some 35,000 years) of 1970. Further
//! ones are written as whole seconds, rounded towards it.
//!
//! *Numbers.* Floats are the shortest text that reads back as the same bits. `null`, which others write for NaN, is an
//! error.

mod checksum;
pub mod plasticity;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use read::{read, read_summed};
pub use write::write;

use super::Error;

/// The version that is written, and the only one that is read.
pub const SNAPSHOT_VERSION: u32 = 3;

/// The parts of a file, in their order.
const PARTS: [&str; 4] = ["version", "nodes", "edges", "checksum"];

/// What a reader of JSON says that is told: what it was refused for where that has a name of its own, else why and at which
/// path it could not go on.
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

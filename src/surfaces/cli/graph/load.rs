//! `ebb graph load`: what a snapshot file holds, read as strictly as whoever asks it does.

use super::{Learned, LoadArgs, learned};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use ebb_core::service::mirrors::Contents;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a file holds.
#[derive(Debug, Serialize)]
struct Loaded {
    file: String,
    /// Bytes on the disk, and ready to be asked.
    file_bytes: u64,
    bytes: usize,
    /// Whether it has a checksum; one that is wrong is refused.
    checksum: bool,
    nodes: usize,
    slots: usize,
    /// Nodes by what they are.
    kinds: BTreeMap<String, usize>,
    /// Slots by the type of their relationships.
    relations: BTreeMap<String, usize>,
    /// What was learned on it, if that stands beside it.
    learned: Option<Learned>,
}

/// Says what was read of a file.
pub fn load(args: &LoadArgs, contents: Contents, output: &Output) -> Result<(), CliError> {
    let Contents { nodes, slots, kinds, relations, bytes, summed, learned } = contents;
    let loaded = Loaded {
        file: args.file.display().to_string(),
        file_bytes: std::fs::metadata(&args.file).map_or(0, |file| file.len()),
        bytes,
        checksum: summed,
        nodes,
        slots,
        kinds,
        relations,
        learned: learned.map(Learned::from),
    };
    output.emit("graph.load", &loaded, |page| lay_out(&loaded, page))
}

fn lay_out(loaded: &Loaded, page: &mut Page) {
    page.fields(&[
        ("file", format!("{} ({} bytes)", loaded.file, loaded.file_bytes)),
        (
            "checksum",
            if loaded.checksum { "right" } else { "none: bytes that changed may not be noticed" }.to_owned(),
        ),
        ("nodes", loaded.nodes.to_string()),
        ("relationships, each way", loaded.slots.to_string()),
        ("bytes in memory", loaded.bytes.to_string()),
    ]);
    if let Some(of) = &loaded.learned {
        page.fields(&[
            ("learned", learned(of.slots, of.tick)),
            ("learned, in", of.file.clone()),
            ("learned, of what is not there", of.unmatched.to_string()),
        ]);
    }
    for (heading, counts) in [("KIND", &loaded.kinds), ("RELATIONSHIP", &loaded.relations)] {
        if !counts.is_empty() {
            page.line("");
            let row = |(name, count): (&String, &usize)| [name.clone(), count.to_string()];
            page.table(&[Column::left(heading), Column::right("HOW MANY")], counts.iter().map(row));
        }
    }
}

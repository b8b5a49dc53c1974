//! `ebb graph load`: the contents of a snapshot file, read as strictly as a recall reads it.

use super::learned;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use ebb_core::service::mirrors::Contents;
use serde::Serialize;
use std::path::Path;

/// Contents of a file.
#[derive(Debug, Serialize)]
struct LoadReport {
    file: String,
    /// Bytes on the disk.
    file_bytes: u64,
    #[serde(flatten)]
    contents: Contents,
}

/// Prints the contents of a snapshot file.
pub fn load(file: &Path, contents: Contents, output: &Output) -> Result<(), CliError> {
    let loaded = LoadReport {
        file: file.display().to_string(),
        file_bytes: std::fs::metadata(file).map_or(0, |file| file.len()),
        contents,
    };
    output.emit("graph.load", &loaded, |page| lay_out(&loaded, page))
}

fn lay_out(loaded: &LoadReport, page: &mut Page) {
    page.fields(&[
        ("file", format!("{} ({} bytes)", loaded.file, loaded.file_bytes)),
        (
            "checksum",
            if loaded.contents.checksum { "valid" } else { "none: damage may go unnoticed" }.to_owned(),
        ),
        ("nodes", loaded.contents.nodes.to_string()),
        ("relationships, in each direction", loaded.contents.slots.to_string()),
        ("bytes in memory", loaded.contents.bytes.to_string()),
    ]);
    if let Some(of) = &loaded.contents.learned {
        page.fields(&[
            ("learned", learned(of.matched, of.tick)),
            ("learned weights in", of.file.display().to_string()),
            ("learned, without a relationship", of.unmatched.to_string()),
        ]);
    }
    for (heading, counts) in [("KIND", &loaded.contents.kinds), ("RELATIONSHIP", &loaded.contents.relations)]
    {
        if !counts.is_empty() {
            page.line("");
            let row = |(name, count): (&String, &usize)| [name.clone(), count.to_string()];
            page.table(&[Column::left(heading), Column::right("COUNT")], counts.iter().map(row));
        }
    }
}

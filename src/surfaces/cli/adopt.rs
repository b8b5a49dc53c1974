//! `ebb adopt`: detection of the graphs of other libraries, and their presets.

use super::exit::CliError;
use super::output::{Format, Output};
use super::page::{Column, Page};
use super::unknown;
use clap::Args;
use ebb_core::api::layout::{Detection, Layout, LayoutState, UnknownLabel, counted};
use ebb_core::service::Service;

/// `ebb adopt`
#[derive(Debug, Clone, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Detection reads and never writes, and needs no `ebb init`. It recognises a layout by labels and properties, and proposes
only those whose rows have what the preset reads. A preset is printed without a database, to begin a mapping of your own.

Examples:
  ebb adopt --detect
  ebb adopt --detect --json
  ebb adopt --preset graphiti > mine.toml"
)]
pub struct Adopt {
    /// Show which known layouts are in the database, and the list `[[adopt]]` that reads them
    #[arg(long, required_unless_present = "preset")]
    pub detect: bool,
    /// Print the file of a preset
    #[arg(long, value_name = "NAME", conflicts_with = "detect")]
    pub preset: Option<String>,
    /// Print JSON: `--output json`
    #[arg(long, requires = "detect")]
    pub json: bool,
}

/// Runs `ebb adopt --detect`.
pub async fn detect(args: &Adopt, service: &Service, output: &Output) -> Result<(), CliError> {
    let detection = service.detect().await?;
    as_json(args.json, output).emit("adopt.detect", &detection, |page| lay_out(&detection, page))
}

/// Runs `ebb adopt --preset`; `known` are the presets: name and file.
pub fn preset(name: &str, known: &[(&'static str, &'static str)], output: &Output) -> Result<(), CliError> {
    match known.iter().find(|(one, _)| *one == name) {
        Some((_, text)) => output.raw(text.as_bytes()),
        None => {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let list = format!("ebb adopt --preset {}", names.first().unwrap_or(&"NAME"));
            let error = unknown("preset", name, known.iter().map(|(name, _)| *name), &list);
            Err(error.why(format!("presets are {}", names.join(", "))))
        }
    }
}

/// The output, as JSON if the verb's own flag asks for it.
pub(super) fn as_json(json: bool, output: &Output) -> Output {
    let mut output = output.clone();
    if json {
        output.format = Format::Json;
    }
    output
}

fn lay_out(detection: &Detection, page: &mut Page) {
    if detection.layouts.is_empty() {
        page.line("No known layout is in this database.");
    } else {
        let columns = [Column::left("LIBRARY"), Column::left("ROWS"), Column::left("STATE")];
        page.table(
            &columns,
            detection.layouts.iter().map(|row| [row.library.clone(), row.summary(), state(row)]),
        );
    }
    for layout in &detection.layouts {
        for problem in &layout.problems {
            page.line(&format!("{}: {problem}", layout.library));
        }
        for vector in &layout.vectors {
            let (of, property, dimensions) = (&vector.of, &vector.property, vector.dimensions);
            page.line(&format!("{}: {of}.{property} has {dimensions} dimensions", layout.library));
        }
        let unscoped = layout.groups.as_ref().filter(|groups| groups.unscoped > 0);
        if let Some(groups) = unscoped {
            let rows = counted(groups.unscoped, "node", "nodes");
            let (property, default) = (&groups.property, &groups.default);
            page.line(&format!("{}: {rows} without {property}, read as the scope {default}", layout.library));
        }
    }
    if detection.layouts.iter().any(|layout| layout.state == LayoutState::UnknownVersion) {
        page.line("");
        page.paragraph(
            "A layout of an unknown version is not proposed: facts would be read with wrong instants or texts. Print its \
             preset with `ebb adopt --preset NAME`, change it, and name the file in [[adopt]].",
        );
    }
    unknown_labels(&detection.unknown, page);
    detection.notes.iter().for_each(|note| page.line(&format!("Note: {note}.")));
    if !detection.adopt.is_empty() {
        page.line("");
        page.line("Put this into ebb.toml to read these graphs where they are:");
        page.line("");
        detection.adopt.lines().for_each(|line| page.line(line));
    }
}

/// Nodes that nothing explains.
pub(super) fn unknown_labels(unknown: &[UnknownLabel], page: &mut Page) {
    if unknown.is_empty() {
        return;
    }
    let one = |row: &UnknownLabel| match row.nodes {
        Some(nodes) => format!("{} ({})", row.label, counted(nodes, "node", "nodes")),
        None => format!("{:?} (not counted)", row.label),
    };
    page.line("");
    page.paragraph(&format!(
        "Unknown, and not read: {}",
        unknown.iter().map(one).collect::<Vec<_>>().join(", ")
    ));
}

/// The state of a layout in words.
pub(super) fn state(layout: &Layout) -> String {
    let state = match layout.state {
        LayoutState::Known => "",
        LayoutState::UnknownVersion => "unknown version",
        LayoutState::Ambiguous => "ambiguous",
    };
    match (layout.adopted, state) {
        (true, "") => "adopted".to_owned(),
        (true, state) => format!("adopted, {state}"),
        (false, "") => "not read".to_owned(),
        (false, state) => state.to_owned(),
    }
}

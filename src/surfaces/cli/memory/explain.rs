//! `ebb memory explain`: the energy curve, the fields, the history, and the reason for the current tier.

use super::key;
use super::layout::card;
use crate::surfaces::cli::ReadOptions;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::{about, between, readable};
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use crate::surfaces::cli::plot::energy::{EnergyPlot, Mark, MarkKind, Segment, Threshold};
use ebb_core::api::memory::{Event, Explained, Memory};
use ebb_core::domain::memory::Crossing;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::Service;
use ebb_core::service::explain::Explanation;

pub(super) async fn explain(
    id: &str,
    when: &ReadOptions,
    service: &Service,
    output: &Output,
) -> Result<(), CliError> {
    let at = when.instant(service).await?;
    let explanation = service.explain(&key(id, service)?, at).await?;
    let drawn = energy_plot(&explanation);
    let explained = explanation.explained;
    output.emit("memory.explain", &explained, |page| {
        page.paragraph(&explained.because);
        page.line("");
        page.picture(&drawn.terminal(page.width(), page.color()));
        page.line("");
        card(&explained.memory, page);
        if let Some(hours) = explained.half_life_hours {
            page.line(&format!("Half-life: {}.", hours_text(hours)));
        }
        page.line("");
        tables(page, &explained, at);
    })
}

fn tables(page: &mut Page, explained: &Explained, at: Timestamp) {
    if !explained.crossings.is_empty() {
        page.heading("Forecast without an access");
        let row = |crossing: &Crossing| {
            let ahead = format!("in {}", about(between(crossing.at, at)));
            [readable(crossing.at), ahead, falls(crossing.name, crossing.threshold)]
        };
        let columns = [Column::left("WHEN (UTC)"), Column::left("FROM NOW"), Column::cut("EVENT")];
        page.table(&columns, explained.crossings.iter().map(row));
        page.line("");
    }
    page.heading("History, latest first");
    let columns = [
        Column::left("WHEN (UTC)"),
        Column::left("EVENT"),
        Column::right("ENERGY"),
        Column::right("TIMES"),
        Column::cut("SESSION"),
    ];
    let row = |event: &Event| {
        let energy = event.energy.map(|energy| format!("{energy:.3}"));
        [
            readable(event.at),
            event.what.to_owned(),
            energy.unwrap_or_default(),
            event.count.filter(|count| *count > 1).map(|count| count.to_string()).unwrap_or_default(),
            event.session.clone().unwrap_or_default(),
        ]
    };
    let (shown, more) = explained.history.split_at(explained.history.len().min(ROWS));
    page.table(&columns, shown.iter().map(row));
    if !more.is_empty() {
        page.line(&format!(
            "and {} more before that: -o json has all promotions, and the latest 400 accesses and changes",
            more.len()
        ));
    }
}

/// Rows of history in a table.
const ROWS: usize = 15;

/// The curve of a memory, with what is known of its past, and what lies ahead.
///
/// The past takes at most two thirds of the picture, so that what is ahead stays readable. Of a memory that rests, the
/// picture shows how it came to rest: from then on nothing happens.
pub(crate) fn energy_plot(explanation: &Explanation) -> EnergyPlot {
    let Memory { id, at, energy, tier, pinned, created, .. } = &explanation.explained.memory;
    let rests = tier.is_some_and(|tier| !tier.is_live());
    let begun = created.map_or(*at, |created| created.min(*at));
    let end = explanation.curve.last().map_or(*at, |(end, _)| *end);
    let anchor = explanation.curve.first().map_or(*at, |(anchor, _)| *anchor);
    let from = if rests { begun } else { begun.max(earlier(*at, 2.0 * end.since(*at))).min(anchor) };
    let until = if rests { anchor.after(0.5 * anchor.since(from)).min(end) } else { end };

    let known = |points: &[(Timestamp, f64)]| -> Vec<(Timestamp, f64)> {
        points.iter().filter(|(at, _)| (from..=until).contains(at)).copied().collect()
    };
    let mut segments: Vec<Segment> = explanation
        .past
        .iter()
        .map(|points| Segment { points: known(points), ahead: false, joined: true })
        .collect();
    let gap = segments.is_empty();
    if gap {
        // Accesses are missing from the record; the energies of promotions are not.
        let mut promotions: Vec<_> = (explanation.explained.history.iter())
            .filter(|event| event.what != "expired")
            .filter_map(|event| Some((event.at, event.energy?)))
            .collect();
        promotions.sort_by_key(|(at, _)| *at);
        segments.extend(promotions.into_iter().map(|point| Segment {
            points: known(&[point]),
            ahead: false,
            joined: false,
        }));
    }
    let now = (*at, energy.unwrap_or(0.0));
    let (mut behind, ahead): (Vec<_>, Vec<_>) =
        known(&explanation.curve).into_iter().partition(|(point, _)| point < at);
    if now.0 <= until {
        behind.push(now);
    }
    segments.push(Segment { points: behind, ahead: false, joined: !gap });
    if now.0 <= until {
        let points = std::iter::once(now).chain(ahead).collect();
        segments.push(Segment { points, ahead: true, joined: true });
    }
    let label = |name: &str, value: f64| match name {
        "expiry" => format!("expires below {value}"),
        _ => format!("promoted above {value}"),
    };
    let threshold = |(name, value): &(&str, f64)| Threshold { value: *value, label: label(name, *value) };
    let state = match tier {
        Some(tier) if *pinned == Some(true) => format!("{tier}, pinned"),
        Some(tier) => tier.to_string(),
        None => "quarantined".to_owned(),
    };
    EnergyPlot {
        title: format!("Energy of {id} ({state})"),
        from: Some(from),
        segments,
        thresholds: explanation.thresholds.iter().map(threshold).collect(),
        marks: marks(explanation),
    }
}

/// The instant `ms` milliseconds earlier.
fn earlier(at: Timestamp, ms: f64) -> Timestamp {
    at.after(-ms)
}

fn marks(explanation: &Explanation) -> Vec<Mark> {
    let mark = |at, kind, label: String| Mark { at, kind, label };
    let event = |event: &Event| match event.what {
        "accessed" | "created" => mark(event.at, MarkKind::Access, String::new()),
        "expired" => mark(event.at, MarkKind::Crossing, "expired".to_owned()),
        what => {
            let energy =
                event.energy.map(|energy| format!(", energy by then {energy:.3}")).unwrap_or_default();
            mark(event.at, MarkKind::Promotion, format!("{what}{energy}"))
        }
    };
    let mut marks: Vec<Mark> = explanation.explained.history.iter().map(event).collect();
    marks.extend(
        explanation
            .explained
            .crossings
            .iter()
            .map(|crossing| mark(crossing.at, MarkKind::Crossing, falls(crossing.name, crossing.threshold))),
    );
    marks.push(mark(explanation.explained.memory.at, MarkKind::Now, String::new()));
    marks
}

fn falls(name: &str, threshold: f64) -> String {
    match name {
        "expiry" => format!("falls below {threshold} and expires"),
        _ => format!("falls below {threshold}, the energy of promotion"),
    }
}

fn hours_text(hours: f64) -> String {
    if hours < 48.0 { format!("{hours:.1} hours") } else { format!("{:.1} days", hours / 24.0) }
}

//! `ebb memory explain`: the curve as a picture, the fields, what happened, and why the memory is where it is.

use super::shown::Shown;
use super::{Show, memory_id};
use crate::domain::memory::Crossing;
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::service::explain::Explanation;
use crate::service::{Happened, Service};
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::{Rfc3339, about, between, readable};
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use crate::surfaces::cli::plot::energy::{EnergyPlot, Mark, MarkKind, Segment, Threshold};
use serde::Serialize;

#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    memory: Shown,
    half_life_hours: Option<f64>,
    crossings: Vec<Ahead>,
    history: Vec<Event>,
    because: String,
}

/// A threshold that will be crossed.
#[derive(Serialize)]
struct Ahead {
    threshold: f64,
    name: &'static str,
    at: Rfc3339,
}

/// Something that happened.
#[derive(Serialize)]
struct Event {
    at: Rfc3339,
    what: &'static str,
    energy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i64>,
}

pub(super) async fn explain(args: &Show, service: &Service, output: &Output) -> Result<(), CliError> {
    let at = args.when.instant(service).await?;
    let explanation = service.explain(&memory_id(&args.id)?, at).await?;
    let drawn = picture(&explanation);
    let explained = Explained {
        half_life_hours: explanation.half_life_hours,
        crossings: explanation.crossings.iter().map(ahead).collect(),
        history: history(&explanation),
        because: explanation.because,
        memory: explanation.memory.into(),
    };
    output.emit("memory.explain", &explained, |page| {
        page.paragraph(&explained.because);
        page.line("");
        page.picture(&drawn.terminal(page.width(), page.color()));
        page.line("");
        explained.memory.card(page);
        if let Some(hours) = explained.half_life_hours {
            page.line(&format!("Half of its energy is gone every {}.", hours_text(hours)));
        }
        page.line("");
        tables(page, &explained, at);
    })
}

fn tables(page: &mut Page, explained: &Explained, at: Timestamp) {
    if !explained.crossings.is_empty() {
        page.heading("Ahead, if nothing happens");
        let row = |crossing: &Ahead| {
            let ahead = format!("in {}", about(between(crossing.at.0, at)));
            [readable(crossing.at.0), ahead, falls(crossing.name, crossing.threshold)]
        };
        let columns = [Column::left("WHEN (UTC)"), Column::left("FROM NOW"), Column::cut("WHAT")];
        page.table(&columns, explained.crossings.iter().map(row));
        page.line("");
    }
    page.heading("What happened, latest first");
    let columns =
        [Column::left("WHEN (UTC)"), Column::left("WHAT"), Column::right("ENERGY"), Column::cut("WHERE")];
    let row = |event: &Event| {
        let times =
            event.count.filter(|count| *count > 1).map(|count| format!(", {count} times, this the last"));
        let place = event.session.as_ref().map(|session| format!("session {session}"));
        let energy = event.energy.map(|energy| format!("{energy:.3}"));
        let place = format!("{}{}", place.unwrap_or_default(), times.unwrap_or_default());
        [readable(event.at.0), event.what.to_owned(), energy.unwrap_or_default(), place]
    };
    page.table(&columns, explained.history.iter().map(row));
}

/// What is on record, latest first: accesses by session, promotions, the last expiry, the creation.
fn history(explanation: &Explanation) -> Vec<Event> {
    let event = |at, what, energy| Event { at: Rfc3339(at), what, energy, session: None, count: None };
    let record = &explanation.memory.record;
    let mut events: Vec<Event> = explanation
        .history
        .iter()
        .map(|happened: &Happened| match happened.what.as_str() {
            "PROMOTED_TO" => event(happened.at, "promoted to shortTerm", happened.energy),
            "CRYSTALLIZED_INTO" => event(happened.at, "crystallised into longTerm", happened.energy),
            _ => Event {
                session: happened.detail.clone(),
                count: Some(happened.count),
                ..event(happened.at, "accessed", None)
            },
        })
        .collect();
    if let Ok(life) = &record.life {
        let expired = life.vital.tier == Tier::ExpiredWorking;
        let energy = expired.then(|| life.vital.energy.value());
        events.extend(record.last_expired.map(|at| event(at, "expired", energy)));
        // An access outside any session, or before the session's last.
        if events.iter().all(|event| event.at.0 != life.vital.last_accessed) {
            events.push(event(life.vital.last_accessed, "accessed", None));
        }
        events.retain(|event| event.what != "accessed" || event.at.0 != life.created);
        events.push(Event { session: life.session.clone(), ..event(life.created, "created", None) });
    }
    events.sort_by_key(|event| std::cmp::Reverse(event.at.0));
    events
}

/// The curve of a memory, with what is known of its past, and what lies ahead.
pub(crate) fn picture(explanation: &Explanation) -> EnergyPlot {
    let memory = &explanation.memory;
    let (at, energy) = (memory.at, memory.energy.map_or(0.0, |energy| energy.value()));
    let mut segments: Vec<Segment> =
        explanation.past.iter().map(|points| Segment { points: points.clone(), ahead: false }).collect();
    let (mut behind, ahead): (Vec<_>, Vec<_>) = explanation.curve.iter().partition(|(point, _)| *point < at);
    behind.push((at, energy));
    let ahead = std::iter::once((at, energy)).chain(ahead).collect();
    segments.push(Segment { points: behind, ahead: false });
    segments.push(Segment { points: ahead, ahead: true });
    let thresholds = explanation
        .thresholds
        .iter()
        .map(|(name, value)| Threshold {
            value: *value,
            label: match *name {
                "expiry" => format!("expires below {value}"),
                _ => format!("promoted above {value}"),
            },
        })
        .collect();
    let tier = memory.record.life.as_ref().map_or("set aside", |life| life.vital.tier.name());
    EnergyPlot {
        title: format!("Energy of {} ({tier})", memory.record.id),
        segments,
        thresholds,
        marks: marks(explanation),
    }
}

fn marks(explanation: &Explanation) -> Vec<Mark> {
    let mark = |at, kind, label: String| Mark { at, kind, label };
    let event = |event: Event| match event.what {
        "accessed" | "created" => mark(event.at.0, MarkKind::Access, String::new()),
        "expired" => mark(event.at.0, MarkKind::Crossing, "expired".to_owned()),
        what => {
            let energy =
                event.energy.map(|energy| format!(" with an energy of {energy:.3}")).unwrap_or_default();
            mark(event.at.0, MarkKind::Promotion, format!("{what}{energy}"))
        }
    };
    let mut marks: Vec<Mark> = history(explanation).into_iter().map(event).collect();
    marks.extend(
        explanation
            .crossings
            .iter()
            .map(|crossing| mark(crossing.at, MarkKind::Crossing, falls(crossing.name, crossing.threshold))),
    );
    marks.push(mark(explanation.memory.at, MarkKind::Now, String::new()));
    marks
}

fn ahead(crossing: &Crossing) -> Ahead {
    Ahead { threshold: crossing.threshold, name: crossing.name, at: Rfc3339(crossing.at) }
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

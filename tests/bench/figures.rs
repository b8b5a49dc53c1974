//! The page of figures: tables of the files of results, the newest first, between two marks. Nobody types them.

use crate::record::{Record, State, TARGETS, Target, Verdict};

const BEGIN: &str = "<!-- figures: EBB_UPDATE=1 cargo test --test gates writes what stands here -->\n";
const END: &str = "<!-- end of the figures -->\n";

/// The page with its figures: each target as the newest file says that measured it.
pub(crate) fn in_page(page: &str, records: &[(String, Record)]) -> String {
    let (before, rest) = page.split_once(BEGIN).expect("the mark that begins the figures");
    let (_, after) = rest.split_once(END).expect("the mark that ends them");
    let (mut told, mut tables): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    for (name, record) in records.iter().rev() {
        let is_new = |(target, verdict): &(&Target, &Verdict)| {
            verdict.state != State::NotRun && !told.contains(&target.id)
        };
        let verdicts: Vec<(&Target, &Verdict)> =
            record.verdicts.iter().filter_map(of_target).filter(is_new).collect();
        if !verdicts.is_empty() {
            tables.push(table(name, record, &verdicts));
            told.extend(verdicts.iter().map(|(target, _)| target.id));
        }
    }
    let left: Vec<&str> = TARGETS.iter().map(|target| target.id).filter(|id| !told.contains(id)).collect();
    if !left.is_empty() {
        tables.push(format!("Not measured: {}.\n", left.join(", ")));
    }
    [before, BEGIN, &tables.join("\n"), END, after].concat()
}

/// A verdict with its target; `None` for one that is no target any more.
fn of_target(verdict: &Verdict) -> Option<(&'static Target, &Verdict)> {
    Some((TARGETS.iter().find(|target| target.id == verdict.target)?, verdict))
}

fn table(name: &str, record: &Record, verdicts: &[(&Target, &Verdict)]) -> String {
    let machine = &record.machine;
    let mut text = format!(
        "Of {}, commit {}, on {} ({} cores, {}), one thread. Ratios, by the bad-side quartile of interleaved pairs:\n\n",
        name.get(..10).unwrap_or(name),
        record.commit.get(..10).unwrap_or_default(),
        machine.cpu,
        machine.cores,
        if machine.kind == "vm" { "virtual" } else { "bare" },
    );
    text.push_str("| | | must be | is | |\n|---|---|---|---|---|\n");
    for (target, verdict) in verdicts {
        let sign = if target.more_is_better { "≥" } else { "≤" };
        let state = match verdict.state {
            State::Pass => "met",
            State::AtRisk => "at risk",
            State::Fail | State::NotRun => "missed",
        };
        let is = verdict.value.unwrap_or_default();
        text.push_str(&format!(
            "| {} | {} | {sign} {} | {} | {state} |\n",
            target.id,
            target.what,
            verdict.must,
            short(is)
        ));
    }
    text
}

/// Three digits of a number.
fn short(value: f64) -> String {
    match value.abs() {
        0.0..1.0 => format!("{value:.3}"),
        1.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

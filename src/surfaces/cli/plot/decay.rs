//! Weights of relations: a bar for each, with the minimum, and the curve of one.
//!
//! Bars stand in the order of their weight, the lightest last, because the relations about to be lost, with the date, matter most. A weight falls as an energy does, so the curve of one relation is
//! drawn as that of a memory.

use super::canvas::{self, place};
use super::energy::{EnergyPlot, Mark, MarkKind, Segment, Threshold};
use super::svg::{self, Frame};
use super::{Ink, axis};
use crate::surfaces::cli::page::harmless;
use ebb_core::domain::relation::{Fading, RelationState};
use ebb_core::domain::units::Timestamp;
use unicode_width::UnicodeWidthStr;

/// The weights of relations at an instant.
#[derive(Debug, Clone)]
pub struct DecayPlot {
    /// Title.
    pub title: String,
    /// One for each relation.
    pub bars: Vec<Bar>,
    /// Below this a relation is not retrieved, `0 ..= 1`.
    pub minimum: f64,
    /// Remark about relations that are not drawn; may be empty.
    pub remark: String,
}

/// The weight of one relation.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Name.
    pub name: String,
    /// Weight, `0 ..= 1`.
    pub weight: f64,
    /// Whether and when it falls below the minimum.
    pub outlook: Outlook,
}

/// Whether and when a relation falls below the minimum, if it is not observed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// It does not fade.
    Pinned,
    /// It falls below the minimum then.
    Falls(Timestamp),
    /// It has been below the minimum since then.
    Fallen(Timestamp),
    /// It falls below no minimum.
    Stays,
}

impl Outlook {
    /// Of a relation as it is at `now`.
    #[must_use]
    pub fn of(state: &RelationState, now: Timestamp, fading: &Fading) -> Self {
        match state.falls(fading) {
            _ if state.pinned => Self::Pinned,
            None => Self::Stays,
            Some(at) if state.is_retrievable(now, fading) => Self::Falls(at),
            Some(at) => Self::Fallen(at),
        }
    }

    const fn ink(self) -> Ink {
        match self {
            Self::Pinned => Ink::Blue,
            Self::Falls(_) | Self::Stays => Ink::Green,
            Self::Fallen(_) => Ink::Grey,
        }
    }

    fn note(self) -> String {
        match self {
            Self::Pinned => "pinned".to_owned(),
            Self::Falls(at) => format!("until {}", axis::day(at.millis())),
            Self::Fallen(at) => format!("gone {}", axis::day(at.millis())),
            Self::Stays => String::new(),
        }
    }
}

/// Characters of a weight, such as `0.866`.
const WEIGHT: usize = 5;
/// The longest name in a terminal.
const NAME: usize = 40;

impl DecayPlot {
    /// The picture in characters, `width` columns at most (at least 40 are taken), one line break after each row.
    #[must_use]
    pub fn terminal(&self, width: usize, color: bool) -> String {
        let mut text = format!("{}\n", harmless(&self.title));
        if self.bars.is_empty() && self.remark.is_empty() {
            return text + "no relations\n";
        }
        let width = width.max(40);
        let notes: Vec<String> = self.bars.iter().map(|bar| bar.outlook.note()).collect();
        let note = notes.iter().map(|note| note.chars().count()).max().unwrap_or(0);
        let longest = self.bars.iter().map(|bar| harmless(&bar.name).width()).max().unwrap_or(0);
        // What is left for name and bar: a third for the bar at least.
        let room = width.saturating_sub(WEIGHT + note + 6);
        let name = longest.min(NAME).min(room * 2 / 3);
        let columns = room - name;
        let least = place(self.minimum, 0.0, 1.0, columns);
        for (bar, note) in self.bars.iter().zip(notes) {
            let eighths = place(bar.weight, 0.0, 1.0, columns * 8 + 1);
            let drawn = canvas::bar(eighths);
            let long = drawn.chars().count();
            let rest = columns.saturating_sub(long);
            // The minimum shows where no bar covers it.
            let rest = if self.minimum > 0.0 && least >= long {
                let (before, after) = (" ".repeat(least - long), " ".repeat(columns - least - 1));
                format!("{before}{}{after}", canvas::inked("┊", Ink::Red, color))
            } else {
                " ".repeat(rest)
            };
            let label = canvas::fitted(&harmless(&bar.name), name);
            let drawn = canvas::inked(&drawn, bar.outlook.ink(), color);
            text += format!("{label}  {:<WEIGHT$.3}  {drawn}{rest}  {note}", bar.weight).trim_end();
            text.push('\n');
        }
        if self.minimum > 0.0 && !self.bars.is_empty() {
            let mark = canvas::inked("╵", Ink::Red, color);
            let (at, label) = (name + WEIGHT + 4 + least, format!("{}, the minimum", self.minimum));
            // Left of its mark where there is no room to the right.
            let beside = at + 2 + label.chars().count() <= width;
            text += &if beside {
                format!("{}{mark} {label}\n", " ".repeat(at))
            } else {
                format!("{label:>left$} {mark}\n", left = at - 1)
            };
        }
        text + &self.said()
    }

    fn said(&self) -> String {
        if self.remark.is_empty() { String::new() } else { format!("{}\n", harmless(&self.remark)) }
    }

    /// The picture as a document of its own, 800 units wide, 24 for each relation.
    #[must_use]
    pub fn svg(&self) -> String {
        const ROW: f64 = 24.0;
        let rows = self.bars.iter().fold(0.0, |rows, _| rows + ROW);
        let frame = Frame { left: 290.0, top: 52.0, width: 340.0, height: rows };
        let x = |weight: f64| frame.x(weight, 0.0, 1.0);
        let mut body = String::new();
        for (value, label) in axis::values(1.0, 4) {
            body += &svg::rule((x(value), frame.top), (x(value), frame.bottom()), "grid");
            body += &svg::text((x(value), frame.bottom() + 18.0), "tick middle", &label);
        }
        let mut top = frame.top;
        for bar in &self.bars {
            let ink = bar.outlook.ink().class();
            let (middle, end) = (top + ROW / 2.0 + 4.0, x(bar.weight));
            let label = canvas::fitted(&harmless(&bar.name), NAME);
            body += &svg::text((frame.left - 10.0, middle), "name end", label.trim_end());
            body += &svg::bar((frame.left, top + 4.0), (end - frame.left, ROW - 8.0), ink);
            body +=
                &svg::text((end + 6.0, middle), &format!("letter {ink}-text"), &format!("{:.3}", bar.weight));
            body += &svg::text((frame.right() + 52.0, middle), "tick", &bar.outlook.note());
            top += ROW;
        }
        if self.minimum > 0.0 {
            let at = x(self.minimum);
            body += &svg::rule((at, frame.top - 6.0), (at, frame.bottom()), "threshold");
            let label = format!("not retrieved below {}", self.minimum);
            body += &svg::text((at, frame.top - 10.0), "tick red-text", &label);
        }
        body += &svg::text((24.0, frame.bottom() + 38.0), "tick", &harmless(&self.remark));
        svg::document(&harmless(&self.title), frame.bottom() + 54.0, &body)
    }
}

/// The curve of one relation: from when it began to fade, over `now`, until it is lost. Of one that is pinned, under no
/// minimum, or `adopted`, as long again as it has been: a fact of another library weighs the minimum at least.
#[must_use]
pub fn curve(
    name: &str,
    state: &RelationState,
    adopted: bool,
    now: Timestamp,
    fading: &Fading,
) -> EnergyPlot {
    let begun = state.weight_at.min(state.last_observed).min(now);
    let known = now.since(begun).max(fading.half_life_ms() / 10.0);
    let falls = state.falls(fading).filter(|_| !adopted);
    let ahead = falls.filter(|fall| *fall > now);
    let end = ahead.map_or_else(|| now.after(known), |fall| fall.after(0.08 * fall.since(begun)));
    let minimum = fading.minimum().value();
    let least = if adopted { minimum } else { 0.0 };
    let weight = |at: Timestamp| state.weight(at, fading).value().max(least);
    let mark = |at, kind, label: String| Mark { at, kind, label };
    let mut marks = vec![
        mark(state.last_observed, MarkKind::Promotion, "observed for the last time".to_owned()),
        mark(now, MarkKind::Now, "now".to_owned()),
    ];
    marks.extend(falls.map(|at| mark(at, MarkKind::Crossing, format!("falls below {minimum}"))));
    let floor = Threshold { value: minimum, label: format!("not retrieved below {minimum}") };
    let pinned = if state.pinned { " (pinned)" } else { "" };
    EnergyPlot {
        title: format!("Weight of {name}{pinned}"),
        from: None,
        segments: vec![Segment::sampled(begun, now, false, weight), Segment::sampled(now, end, true, weight)],
        thresholds: if minimum > 0.0 && !adopted { vec![floor] } else { Vec::new() },
        marks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ebb_core::domain::relation::Observation;
    use ebb_core::domain::units::Weight;

    fn at(days: i64) -> Timestamp {
        Timestamp::from_millis(1_772_409_600_000 + days * 86_400_000).unwrap() // 2026-03-02 and on
    }

    fn fading() -> Fading {
        Fading::new(90.0, 0.10).unwrap()
    }

    fn state(days: i64, weight: f64, pinned: bool) -> RelationState {
        let weight = Some(Weight::new(weight).unwrap());
        RelationState::new(Observation { at: at(days), weight, pinned: Some(pinned) })
    }

    fn weights() -> DecayPlot {
        let bar = |name: &str, state: RelationState| Bar {
            name: name.to_owned(),
            weight: state.weight(at(30), &fading()).value(),
            outlook: Outlook::of(&state, at(30), &fading()),
        };
        DecayPlot {
            title: "Relations on 2026-04-01, lightest last".to_owned(),
            bars: vec![
                bar("relay publishes_to RabbitMQ", state(2, 1.0, true)),
                bar("Kestrel waits_for ORD-2217", state(29, 1.0, false)),
                bar("Tomasz operates Postgres", state(11, 1.0, false)),
                bar("a customer whose name is very long waits_for something longer", state(0, 0.5, false)),
                bar("ORD-2121 may_move_to Redis", state(4, 0.12, false)),
            ],
            minimum: 0.1,
            remark: "Not drawn: 52 heavier.".to_owned(),
        }
    }

    #[test]
    fn the_bars_at_80_columns() {
        let drawn = weights().terminal(80, false);
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn the_bars_at_40_columns() {
        let drawn = weights().terminal(40, false);
        assert!(drawn.lines().all(|line| line.chars().count() <= 40), "{drawn}");
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut wide = weights();
        wide.bars[1].name = "記憶 waits_for 薄れる".to_owned();
        wide.bars[2].name = "顧客は待っている".repeat(4);
        let drawn = wide.terminal(80, false);
        assert!(drawn.lines().all(|line| line.width() <= 80), "{drawn}");
        let ends =
            |line: &str| line.find("  0.").or_else(|| line.find("  1.")).map(|end| line[..end].width());
        let ends: Vec<usize> = drawn.lines().skip(1).filter_map(ends).collect();
        assert_eq!(ends, [35; 5], "{drawn}");
    }

    #[test]
    fn the_bars_as_svg() {
        insta::assert_snapshot!(weights().svg());
    }

    #[test]
    fn the_curve_of_one_relation() {
        let drawn = curve("Tomasz operates Postgres", &state(11, 1.0, false), false, at(30), &fading());
        insta::assert_snapshot!(drawn.terminal(80, false));
        assert!(drawn.svg_of("weight").contains(">weight</text>"));
    }

    #[test]
    fn a_fact_of_another_library_is_never_lost() {
        for read_at in [at(30), at(400)] {
            let drawn = curve("Ann works_at Acme", &state(0, 1.0, false), true, read_at, &fading());
            assert!(drawn.thresholds.is_empty());
            assert!(drawn.marks.iter().all(|mark| mark.kind != MarkKind::Crossing));
            let weights =
                drawn.segments.iter().flat_map(|segment| &segment.points).map(|(_, weight)| *weight);
            assert!(weights.fold(1.0, f64::min) >= 0.1, "at {read_at:?}");
        }
    }

    #[test]
    fn odd_input_is_drawn_without_fuss() {
        let none = DecayPlot { bars: vec![], minimum: 0.0, remark: String::new(), ..weights() };
        assert_eq!(none.terminal(0, true).lines().nth(1), Some("no relations"));
        assert!(none.svg().contains("</svg>"));
        let mut odd = weights();
        odd.bars[0].weight = f64::NAN;
        odd.bars[1].weight = 7.0;
        odd.minimum = 1.0;
        assert!(odd.terminal(40, false).lines().all(|line| line.chars().count() <= 40));
        let free = Fading::new(90.0, 0.0).unwrap();
        assert_eq!(Outlook::of(&state(0, 0.0, false), at(9), &free), Outlook::Stays);
        for (state, now) in
            [(state(0, 0.05, false), at(9)), (state(9, 1.0, true), at(0)), (state(9, 1.0, false), at(9))]
        {
            assert!(curve("x", &state, false, now, &fading()).terminal(80, true).lines().count() > 14);
            assert!(curve("x", &state, false, now, &free).svg_of("weight").contains("</svg>"));
        }
    }
}

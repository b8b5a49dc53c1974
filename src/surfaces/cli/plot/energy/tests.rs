//! The curve of one memory, drawn in each way, against golden files.

use super::terminal::ROWS;
use super::*;
use ebb_core::domain::units::Timestamp;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(1_772_359_200_000 + minutes * 60_000).unwrap() // 2026-03-01T10:00Z and on
}

fn faded(from: Timestamp, energy: f64, rate: f64) -> impl Fn(Timestamp) -> f64 {
    move |now| energy * (-rate * now.since(from) / 3_600_000.0).exp()
}

/// Made at 10:00, accessed at 10:50 and 11:20 (then above 2), promoted at 11:30, looked at 12:00.
fn memory() -> EnergyPlot {
    let mark = |at, kind, label: &str| Mark { at, kind, label: label.to_owned() };
    EnergyPlot {
        title: "Energy of m1 (shortTerm)".to_owned(),
        from: None,
        segments: vec![
            Segment::sampled(at(0), at(50), false, faded(at(0), 1.0, 0.5)),
            Segment::sampled(at(50), at(80), false, faded(at(50), 1.659, 0.5)),
            Segment::sampled(at(80), at(90), false, faded(at(80), 2.292, 0.5)),
            Segment::sampled(at(90), at(120), false, faded(at(90), 2.109, 0.05)),
            Segment::sampled(at(120), at(300), true, faded(at(120), 2.057, 0.05)),
        ],
        thresholds: vec![
            Threshold { value: 2.0, label: "promoted above 2".to_owned() },
            Threshold { value: 0.1, label: "expires below 0.1".to_owned() },
        ],
        marks: vec![
            mark(at(50), MarkKind::Access, ""),
            mark(at(80), MarkKind::Access, ""),
            mark(at(90), MarkKind::Promotion, "promoted to shortTerm"),
            mark(at(154), MarkKind::Crossing, "falls below 2"),
            mark(at(120), MarkKind::Now, "now"),
        ],
    }
}

#[test]
fn the_curve_at_80_columns() {
    let drawn = memory().terminal(80, false);
    assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
    insta::assert_snapshot!(drawn);
}

#[test]
fn the_curve_at_40_columns_names_its_thresholds_below() {
    let drawn = memory().terminal(40, false);
    assert!(drawn.lines().all(|line| line.chars().count() <= 40), "{drawn}");
    insta::assert_snapshot!(drawn);
}

#[test]
fn marks_of_one_column_stand_side_by_side() {
    let mark =
        |minutes, label: &str| Mark { at: at(minutes), kind: MarkKind::Promotion, label: label.to_owned() };
    let marks =
        [mark(90, "first"), mark(90, "second"), mark(120, "third"), mark(300, "fourth"), mark(300, "fifth")];
    let crowded = EnergyPlot { marks: memory().marks.into_iter().chain(marks).collect(), ..memory() };
    let drawn = crowded.terminal(80, false);
    let row = drawn.lines().find(|line| line.trim_start().starts_with('|')).unwrap();
    let signs: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(signs, ["|", "|", "abc", "▲d", "e", "gf"], "{drawn}");
}

#[test]
fn colour_changes_nothing_but_colour() {
    let mut plain = String::new();
    let mut escaped = false;
    for c in memory().terminal(80, true).chars() {
        match c {
            '\x1b' => escaped = true,
            'm' if escaped => escaped = false,
            c if !escaped => plain.push(c),
            _ => {}
        }
    }
    let trimmed: Vec<&str> = plain.lines().map(str::trim_end).collect();
    assert_eq!(trimmed, memory().terminal(80, false).lines().collect::<Vec<_>>());
}

#[test]
fn the_curve_as_svg() {
    insta::assert_snapshot!(memory().svg());
}

#[test]
fn odd_input_is_drawn_without_fuss() {
    let empty = EnergyPlot {
        title: "<&>\u{1b}".to_owned(),
        from: None,
        segments: vec![],
        thresholds: vec![],
        marks: vec![],
    };
    assert_eq!(empty.terminal(80, true), "nothing to draw\n");
    assert!(empty.svg().contains("&lt;&amp;&gt;\u{fffd}"));
    let point = Segment { points: vec![(at(0), 1.0), (at(0), f64::NAN)], ahead: false, joined: true };
    let one = EnergyPlot { segments: vec![point], ..empty };
    assert_eq!(one.terminal(0, false).lines().filter(|line| line.contains(['│', '┤'])).count(), ROWS);
}

#[test]
fn nothing_is_drawn_where_nothing_is_known() {
    let point =
        |minutes, energy| Segment { points: vec![(at(minutes), energy)], ahead: false, joined: false };
    let now = Segment { joined: false, ..Segment::sampled(at(90), at(120), false, faded(at(90), 2.0, 0.05)) };
    let gaps = EnergyPlot { from: Some(at(-30)), segments: vec![point(0, 1.0), now], ..memory() };
    let drawn = gaps.terminal(80, false);
    let dots = |line: &str| line.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
    assert_eq!(drawn.lines().filter(|line| dots(line) == 1).count(), 1, "the point alone: {drawn}");
    assert!(gaps.svg().contains("</svg>"));
}

//! How many memories each tier holds: over time, a panel for each tier, and right now, a bar for each.

use super::canvas::{self, Canvas, HIGH, WIDE, place};
use super::svg::{self, Frame};
use super::{Ink, axis};
use crate::surfaces::cli::page::harmless;
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::Timestamp;

/// Counts over time.
#[derive(Debug, Clone)]
pub struct TiersPlot {
    /// Title.
    pub title: String,
    /// When the counts were taken, in order of time.
    pub times: Vec<Timestamp>,
    /// One for each tier; as many counts as there are times.
    pub series: Vec<Series>,
}

/// The counts of one tier.
#[derive(Debug, Clone)]
pub struct Series {
    /// Name.
    pub name: String,
    /// Its colour.
    pub ink: Ink,
    /// The counts.
    pub counts: Vec<u64>,
}

impl Series {
    /// The counts of a tier, in the colour that tier has everywhere.
    #[must_use]
    pub fn of(tier: Tier, counts: Vec<u64>) -> Self {
        let ink = match tier {
            Tier::Working => Ink::Amber,
            Tier::ShortTerm => Ink::Blue,
            Tier::LongTerm => Ink::Green,
            _ => Ink::Grey,
        };
        Self { name: tier.name().to_owned(), ink, counts }
    }

    fn peak(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    fn last(&self) -> u64 {
        self.counts.last().copied().unwrap_or(0)
    }
}

/// Rows of a panel in a terminal.
const ROWS: usize = 3;

impl TiersPlot {
    /// First and last instant; an hour around a single one. `None` without any.
    fn span(&self) -> Option<(f64, f64)> {
        let (from, to) = (ms(*self.times.first()?), ms(*self.times.last()?));
        Some(if to > from { (from, to) } else { (from - 1_800_000.0, from + 1_800_000.0) })
    }

    /// The picture in characters, `width` columns at most (at least 50 are taken), one line break after each row.
    #[must_use]
    pub fn terminal(&self, width: usize, color: bool) -> String {
        let Some(span) = self.span() else { return "nothing to draw\n".to_owned() };
        let name_wide = self.series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
        let count_wide = self.series.iter().map(|s| axis::count(s.peak()).len()).max().unwrap_or(1);
        let gutter = name_wide + 2 + count_wide;
        let columns = width.max(50).saturating_sub(gutter + count_wide + 2).max(10);
        let mut text = format!("{}\n", harmless(&self.title));
        for series in &self.series {
            let rows = self.panel(series, span, columns).rows(color);
            let scale = [axis::count(series.peak()), String::new(), "0".to_owned()];
            for (row, (drawn, scale)) in rows.iter().zip(scale).enumerate() {
                let name = if row == ROWS / 2 { harmless(&series.name) } else { String::new() };
                let pad = " ".repeat(name_wide - name.chars().count());
                let name = if color && !name.is_empty() {
                    format!("{}{name}\x1b[0m", series.ink.ansi())
                } else {
                    name
                };
                let rule = if scale.is_empty() { '│' } else { '┤' };
                // The last count, right of the middle row.
                let last = if row == ROWS / 2 { axis::count(series.last()) } else { String::new() };
                text += format!("{name}{pad}  {scale:>count_wide$}{rule}{drawn} {last}").trim_end();
                text.push('\n');
            }
        }
        text + &self.foot(span, gutter, columns)
    }

    /// One tier as a filled area: at each column of dots the count that held then.
    fn panel(&self, series: &Series, (from, to): (f64, f64), columns: usize) -> Canvas {
        let mut canvas = Canvas::new(columns, ROWS);
        let peak = series.peak();
        for x in 0..columns * WIDE {
            let held = self
                .times
                .iter()
                .zip(&series.counts)
                .take_while(|(at, _)| place(ms(**at), from, to, columns * WIDE) <= x)
                .last();
            if let Some((_, held)) = held.filter(|(_, held)| **held > 0) {
                // Any memory at all is at least one dot.
                let high = place(whole(*held), 0.0, whole(peak), ROWS * HIGH + 1).max(1);
                (0..high).for_each(|y| canvas.dot(x, ROWS * HIGH - 1 - y, series.ink));
            }
        }
        canvas
    }

    fn foot(&self, (from, to): (f64, f64), gutter: usize, columns: usize) -> String {
        let times = self.ticks(columns / 10);
        let at = |tick: i64| place(whole_ms(tick), from, to, columns);
        let ticks: Vec<(usize, &str)> = times.iter().map(|(ms, label)| (at(*ms), label.as_str())).collect();
        let rule = |column| if ticks.iter().any(|(tick, _)| *tick == column) { '┬' } else { '─' };
        let rules: String = (0..columns).map(rule).collect();
        let labels = format!("{}{}", " ".repeat(gutter + 1), canvas::labels(&ticks, columns));
        format!("{}└{rules}\n{}\n", " ".repeat(gutter), labels.trim_end())
    }

    fn ticks(&self, most: usize) -> Vec<(i64, String)> {
        let ends = self.times.first().zip(self.times.last());
        ends.map_or_else(Vec::new, |(from, to)| axis::times(from.millis(), to.millis(), most))
    }

    /// The picture as a document of its own, 800 units wide, 72 for each tier.
    #[must_use]
    pub fn svg(&self) -> String {
        let title = harmless(&self.title);
        let Some((from, to)) = self.span() else { return svg::document(&title, 60.0, "") };
        let (left, width, high, gap) = (150.0, 560.0, 52.0, 20.0);
        let x = |tick: f64| left + width * (tick - from) / (to - from);
        let mut body = String::new();
        let mut top = 56.0;
        for series in &self.series {
            let frame = Frame { left, top, width, height: high };
            let peak = whole(series.peak().max(1));
            let counts = self.times.iter().zip(&series.counts);
            let mut points: Vec<(f64, f64)> = Vec::new();
            for (at, count) in counts {
                let (x, y) = (x(ms(*at)), frame.y(whole(*count), peak));
                // A count holds until the next one: steps, not slopes.
                points.extend(points.last().map(|(_, before)| (x, *before)));
                points.push((x, y));
            }
            body += &svg::rule((left, frame.bottom()), (frame.right(), frame.bottom()), "grid");
            body += &svg::area(&points, frame.bottom(), &format!("area {}", series.ink.class()));
            body += &svg::path(&points, &format!("line {}", series.ink.class()));
            body += &svg::text((left - 10.0, top + high / 2.0 + 4.0), "name end", &harmless(&series.name));
            let last = axis::count(series.last());
            let y = points.last().map_or(frame.bottom(), |(_, y)| *y);
            body += &svg::text(
                (frame.right() + 8.0, y + 4.0),
                &format!("letter {}-text", series.ink.class()),
                &last,
            );
            if series.peak() > series.last() {
                let peak = format!("peak {}", axis::count(series.peak()));
                body += &svg::text((left - 10.0, top + high / 2.0 + 20.0), "tick end", &peak);
            }
            top += high + gap;
        }
        let frame = Frame { left, top: 56.0, width, height: top - gap - 56.0 };
        body += &svg::time_axis(&frame, &self.ticks(8), &|tick| x(whole_ms(tick)));
        svg::document(&title, frame.bottom() + 40.0, &body)
    }
}

/// A bar for each row, the longest as wide as there is room; one line break after each.
#[must_use]
pub fn bars(rows: &[Series], width: usize, color: bool) -> String {
    let name_wide = rows.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
    let counts: Vec<String> = rows.iter().map(|s| axis::count(s.last())).collect();
    let count_wide = counts.iter().map(String::len).max().unwrap_or(0);
    let room = width.max(40).saturating_sub(name_wide + count_wide + 4).max(8);
    let most = rows.iter().map(Series::last).max().unwrap_or(0).max(1);
    let mut text = String::new();
    for (series, count) in rows.iter().zip(counts) {
        // Any memory at all is at least an eighth of a cell.
        let least = usize::from(series.last() > 0);
        let eighths = place(whole(series.last()), 0.0, whole(most), room * 8 + 1).max(least);
        let bar = canvas::inked(&canvas::bar(eighths), series.ink, color);
        let name = harmless(&series.name);
        text += format!("{name:<name_wide$}  {count:>count_wide$}  {bar}").trim_end();
        text.push('\n');
    }
    text
}

fn ms(at: Timestamp) -> f64 {
    whole_ms(at.millis())
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of the years 1 to 9999 are exact in f64")]
const fn whole_ms(ms: i64) -> f64 {
    ms as f64
}

#[expect(clippy::cast_precision_loss, reason = "a count of memories is far below 2^53")]
const fn whole(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixty days of a made-up agent, a sample each six hours.
    pub(super) fn two_months() -> TiersPlot {
        let samples: Vec<u64> = (0..=240).collect();
        let at = |i: &u64| {
            Timestamp::from_millis(1_772_323_200_000 + i64::try_from(*i).unwrap() * 21_600_000).unwrap()
        };
        let each = |f: fn(u64) -> u64| samples.iter().map(|i| f(*i)).collect();
        TiersPlot {
            title: "Memories by tier".to_owned(),
            times: samples.iter().map(at).collect(),
            series: vec![
                Series::of(Tier::Working, each(|i| 40 + 8 * (i % 28) + i / 2)),
                Series::of(Tier::ShortTerm, each(|i| i / 3 - (i / 40) * 4)),
                Series::of(Tier::LongTerm, each(|i| i.saturating_sub(60) / 6)),
                Series::of(Tier::ExpiredWorking, each(|i| i * i / 7)),
            ],
        }
    }

    #[test]
    fn the_panels_at_80_columns() {
        let drawn = two_months().terminal(80, false);
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn the_panels_as_svg() {
        let mut few = two_months();
        few.times.truncate(9);
        few.series.iter_mut().for_each(|series| series.counts.truncate(9));
        insta::assert_snapshot!(few.svg());
    }

    #[test]
    fn a_bar_for_each_tier() {
        let counts = [
            (Tier::Working, 1_260),
            (Tier::ShortTerm, 70),
            (Tier::LongTerm, 1),
            (Tier::ExpiredWorking, 8_400),
            (Tier::ArchivedWorking, 0),
        ];
        let rows = counts.map(|(tier, count)| Series::of(tier, vec![count]));
        let drawn = bars(&rows, 80, false);
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn odd_input_is_drawn_without_fuss() {
        let empty = TiersPlot { title: String::new(), times: vec![], series: vec![] };
        assert_eq!(empty.terminal(80, false), "nothing to draw\n");
        let mut one = two_months();
        one.times.truncate(1);
        one.series.iter_mut().for_each(|series| series.counts.truncate(1));
        assert!(one.terminal(0, true).lines().count() > 4 * ROWS && one.svg().contains("</svg>"));
        assert_eq!(bars(&[], 80, true), "");
    }
}

//! Shares of an evaluation: for each way a bar at each number of hits, with its interval.

use super::svg::{self, Frame};
use super::{Ink, axis};
use crate::surfaces::cli::page::harmless;
use ebb_core::service::evaluation::metrics::Estimate;

/// The shares of several ways.
#[derive(Debug, Clone)]
pub struct RecallPlot {
    /// Title.
    pub title: String,
    /// Numbers of hits.
    pub top: Vec<usize>,
    /// One for each way.
    pub rows: Vec<Row>,
}

/// The shares of one way.
#[derive(Debug, Clone)]
pub struct Row {
    /// Name.
    pub name: String,
    /// A share, `0 ..= 1`, for each number of hits.
    pub shares: Vec<Estimate>,
}

/// The colours of the numbers of hits, the smallest first.
const INKS: [Ink; 4] = [Ink::Blue, Ink::Green, Ink::Amber, Ink::Grey];
/// Height of a bar, and of the space below those of a way.
const BAR: f64 = 13.0;
const GAP: f64 = 13.0;
/// Half the height of the ends of an interval.
const CAP: f64 = 3.0;

impl RecallPlot {
    /// The picture as a document of its own, 800 units wide.
    #[must_use]
    pub fn svg(&self) -> String {
        let each = self.top.iter().fold(GAP, |height, _| height + BAR);
        let height = self.rows.iter().fold(0.0, |height, _| height + each);
        let frame = Frame { left: 160.0, top: 64.0, width: 560.0, height };
        let x = |share: f64| frame.x(share, 0.0, 1.0);
        let mut body = String::new();
        let mut left = frame.left;
        for (k, ink) in self.top.iter().zip(INKS) {
            body += &svg::text((left, 48.0), &format!("letter {}-text", ink.class()), &format!("first {k}"));
            left += 80.0;
        }
        for (share, _) in axis::values(1.0, 5) {
            body += &svg::rule((x(share), frame.top), (x(share), frame.bottom()), "grid");
            let label = format!("{:.0} %", 100.0 * share);
            body += &svg::text((x(share), frame.bottom() + 18.0), "tick middle", &label);
        }
        let mut top = frame.top + GAP / 2.0;
        for row in &self.rows {
            let middle = top + (each - GAP) / 2.0 + 4.0;
            body += &svg::text((frame.left - 10.0, middle), "name end", &harmless(&row.name));
            for (share, ink) in row.shares.iter().zip(INKS) {
                body +=
                    &svg::bar((frame.left, top + 1.0), (x(share.mean) - frame.left, BAR - 2.0), ink.class());
                body += &whisker(x(share.low), x(share.high), top + BAR / 2.0, ink);
                let label = format!("{:.1}", 100.0 * share.mean);
                let at = (x(share.high) + 6.0, top + BAR / 2.0 + 4.0);
                body += &svg::text(at, &format!("tick {}-text", ink.class()), &label);
                top += BAR;
            }
            top += GAP;
        }
        svg::document(&harmless(&self.title), frame.bottom() + 34.0, &body)
    }
}

/// An interval as a line with two ends.
fn whisker(low: f64, high: f64, y: f64, ink: Ink) -> String {
    let class = format!("line {}", ink.class());
    let end = |x: f64| svg::rule((x, y - CAP), (x, y + CAP), &class);
    svg::rule((low, y), (high, y), &class) + &end(low) + &end(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_as_svg() {
        let share = |mean: f64| Estimate { mean, low: mean - 0.05, high: (mean + 0.05).min(1.0) };
        let row =
            |name: &str, shares: [f64; 2]| Row { name: name.to_owned(), shares: shares.map(share).into() };
        let plot = RecallPlot {
            title: "Share of gold memories among the first hits".to_owned(),
            top: vec![5, 10],
            rows: vec![row("words alone (BM25)", [0.4, 0.55]), row("Ebb", [0.7, 0.98])],
        };
        insta::assert_snapshot!(plot.svg());
    }
}

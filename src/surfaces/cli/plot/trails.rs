//! The hottest edges of trails, a bar each.
//!
//! Success and traversal make one bar, since what ranks an edge is their sum; recency, which is 1 at most, is a column of
//! eight steps, and the cost is shown with its base cost.

use super::Ink;
use super::canvas::{self, place};
use super::svg::{self, Frame};
use crate::surfaces::cli::page::harmless;
use unicode_width::UnicodeWidthStr;

/// Edges, in the order in which they are to be drawn.
#[derive(Debug, Clone)]
pub struct TrailsPlot {
    /// Title.
    pub title: String,
    /// One row each.
    pub edges: Vec<Edge>,
}

/// The pheromones and the cost of an edge.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Name, such as `api HAS_ROOM outbox`.
    pub name: String,
    /// "Led to good outcomes", 0 or more.
    pub success: f64,
    /// "Often walked", 0 or more.
    pub traversal: f64,
    /// "Walked lately", `0 ..= 1`.
    pub recency: f64,
    /// Current cost, `0 ..= 10`.
    pub cost: f64,
    /// Base cost, `0 ..= 10`.
    pub base: f64,
}

/// The longest name in a terminal.
const NAME: usize = 44;
/// Characters of the numbers right of a bar.
const NUMBERS: usize = 31;

impl TrailsPlot {
    fn hottest(&self) -> f64 {
        self.edges.iter().map(|edge| edge.success + edge.traversal).fold(0.0, f64::max)
    }

    /// The picture in characters, `width` columns at most (at least 60 are taken), one line break after each row.
    #[must_use]
    pub fn terminal(&self, width: usize, color: bool) -> String {
        let mut text = format!("{}\n", harmless(&self.title));
        if self.edges.is_empty() {
            return text + "no trails\n";
        }
        let room = width.max(60) - NUMBERS;
        let longest = self.edges.iter().map(|edge| harmless(&edge.name).width()).max().unwrap_or(0);
        let name = longest.min(NAME).min(room * 2 / 3);
        let columns = room - name - 2;
        let signs = ("█", "▒", "▁▂▃▄▅▆▇█");
        let inked = |sign: &str, ink| canvas::inked(sign, ink, color);
        let legend =
            format!("{} success  {} traversal", inked(signs.0, Ink::Green), inked(signs.1, Ink::Amber));
        let gap = " ".repeat((name + 2 + columns).saturating_sub("█ success  ▒ traversal".chars().count()));
        text += &format!("{legend}{gap}     sum  recent  cost\n");
        let hottest = self.hottest();
        for edge in &self.edges {
            let heat = edge.success + edge.traversal;
            // Whatever was walked is at least one cell.
            let long = place(heat, 0.0, hottest, columns + 1).max(usize::from(heat > 0.0));
            let success = place(edge.success, 0.0, heat, long + 1);
            let bar = inked(&signs.0.repeat(success), Ink::Green)
                + &inked(&signs.1.repeat(long - success), Ink::Amber)
                + &" ".repeat(columns - long);
            let step = place(edge.recency, 0.0, 1.0, 8);
            let lately: String =
                signs.2.chars().nth(step).filter(|_| edge.recency > 0.0).into_iter().collect();
            let lately = if lately.is_empty() { " ".to_owned() } else { inked(&lately, Ink::Blue) };
            let label = canvas::fitted(&harmless(&edge.name), name);
            text += &format!(
                "{label}  {bar}  {heat:>6.2}  {lately} {:.2}  {:.3} of {:.2}\n",
                edge.recency, edge.cost, edge.base
            );
        }
        text
    }

    /// The picture as a document of its own, 800 units wide, 24 for each edge.
    #[must_use]
    pub fn svg(&self) -> String {
        const ROW: f64 = 24.0;
        let rows = self.edges.iter().fold(0.0, |rows, _| rows + ROW);
        let frame = Frame { left: 300.0, top: 64.0, width: 270.0, height: rows };
        let hottest = self.hottest().max(f64::MIN_POSITIVE);
        let mut body = String::new();
        for (at, ink, what) in [(300.0, "green", "success"), (370.0, "amber", "traversal")] {
            body += &svg::text((at, frame.top - 12.0), &format!("letter {ink}-text"), what);
        }
        body += &svg::text((640.0, frame.top - 12.0), "letter blue-text middle", "recency");
        body += &svg::text((776.0, frame.top - 12.0), "tick end", "cost, of base");
        let mut top = frame.top;
        for edge in &self.edges {
            let (middle, high) = (top + ROW / 2.0 + 4.0, ROW - 8.0);
            let x = |heat: f64| frame.x(heat, 0.0, hottest);
            let (walked, heat) = (x(edge.success), edge.success + edge.traversal);
            let label = canvas::fitted(&harmless(&edge.name), NAME);
            body += &svg::text((frame.left - 10.0, middle), "name end", label.trim_end());
            body += &svg::bar((frame.left, top + 4.0), (walked - frame.left, high), "green");
            body += &svg::bar((walked, top + 4.0), (x(heat) - walked, high), "amber");
            body += &svg::text((x(heat) + 6.0, middle), "tick", &format!("{heat:.2}"));
            let lately = 40.0 * edge.recency.clamp(0.0, 1.0);
            body += &svg::bar((620.0, top + 4.0), (lately, high), "blue");
            body += &svg::text((776.0, middle), "tick end", &format!("{:.3} of {:.2}", edge.cost, edge.base));
            top += ROW;
        }
        svg::document(&harmless(&self.title), frame.bottom() + 24.0, &body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hot() -> TrailsPlot {
        let edge = |name: &str, success, traversal, recency, cost, base| Edge {
            name: name.to_owned(),
            success,
            traversal,
            recency,
            cost,
            base,
        };
        TrailsPlot {
            title: "Hottest trails in cycle 492,456".to_owned(),
            edges: vec![
                edge("api HAS_ROOM webhooks", 4.2, 0.61, 0.478, 0.161, 0.3),
                edge("webhooks HAS_CLOSET webhooks/rules", 1.1, 0.42, 0.478, 0.187, 0.3),
                edge("a wing with a very long name of its own HAS_ROOM another", 0.4, 0.2, 0.0, 0.264, 0.3),
                edge("queue HAS_ROOM outbox", 0.002, 0.0, 0.0, 0.3, 0.3),
            ],
        }
    }

    #[test]
    fn the_hottest_at_80_columns() {
        let drawn = hot().terminal(80, false);
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut wide = hot();
        wide.edges[0].name = "記憶 HAS_ROOM 薄れる".to_owned();
        wide.edges[1].name = "顧客は待っている".repeat(4);
        let drawn = wide.terminal(80, false);
        let widths: Vec<usize> = drawn.lines().skip(2).map(UnicodeWidthStr::width).collect();
        assert_eq!(widths, [80; 4], "{drawn}");
    }

    #[test]
    fn the_hottest_as_svg() {
        insta::assert_snapshot!(hot().svg());
    }

    #[test]
    fn odd_input_is_drawn_without_fuss() {
        let none = TrailsPlot { edges: vec![], ..hot() };
        assert!(none.terminal(80, true).contains("no trails") && none.svg().contains("</svg>"));
        let mut odd = hot();
        odd.edges[0].success = f64::NAN;
        odd.edges[1] = Edge { success: 0.0, traversal: 0.0, recency: 0.0, ..odd.edges[1].clone() };
        assert_eq!(odd.terminal(0, false).lines().count(), 6);
    }
}

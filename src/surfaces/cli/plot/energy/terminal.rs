//! The curve in a terminal: braille dots, thresholds named beside their lines, letters under the axis.

use super::super::canvas::{self, Canvas, HIGH, WIDE, place};
use super::super::{Ink, axis};
use super::{EnergyPlot, Mark, MarkKind, Scene, ms_f64};
use crate::surfaces::cli::page::harmless;
use ebb_core::domain::units::Timestamp;

/// Rows of the curve.
pub(super) const ROWS: usize = 14;

impl EnergyPlot {
    /// The picture in characters, `width` columns at most (at least 40 are taken), one line break after each row.
    #[must_use]
    pub fn terminal(&self, width: usize, color: bool) -> String {
        let Some(scene) = self.scene() else { return "nothing to draw\n".to_owned() };
        let gutter = scene.ticks.iter().map(|(_, label)| label.len()).max().unwrap_or(1) + 1;
        let labels: Vec<String> = self.thresholds.iter().map(|t| harmless(&t.label)).collect();
        let longest = labels.iter().map(|label| label.chars().count() + 1).max().unwrap_or(0);
        let columns = width.max(40) - gutter - 1;
        // Names beside their lines, unless they would take half of the picture.
        let beside = longest * 2 < columns;
        let columns = if beside { columns - longest } else { columns };

        let rows = self.draw(&scene, columns).rows(color);
        let mut text = format!("{}\n", harmless(&self.title));
        let names = self.names_by_row(&scene, &labels);
        for (row, drawn) in rows.iter().enumerate() {
            let tick = scene.ticks.iter().find(|(value, _)| row_of(*value, scene.top) == row);
            let (label, rule) = tick.map_or(("", '│'), |(_, label)| (label.as_str(), '┤'));
            let name = names[row].as_deref().filter(|_| beside).unwrap_or_default();
            let name = if color && !name.is_empty() {
                format!("{}{name}\x1b[0m", Ink::Red.ansi())
            } else {
                name.to_owned()
            };
            text += format!("{label:>width$}{rule}{drawn} {name}", width = gutter).trim_end();
            text.push('\n');
        }
        text += &Self::foot(&scene, gutter, columns, color);
        text += &Self::legend(&scene, width.max(40));
        if !beside {
            labels.iter().for_each(|label| text += &format!("  ╌ {label}\n"));
        }
        text
    }

    fn draw(&self, scene: &Scene<'_>, columns: usize) -> Canvas {
        let mut canvas = Canvas::new(columns, ROWS);
        for threshold in &self.thresholds {
            let row = row_of(threshold.value, scene.top);
            (0..columns).for_each(|column| canvas.put(column, row, '╌', Some(Ink::Red)));
        }
        let column = |mark: &Mark| x_of(scene, mark.at, columns * WIDE) / WIDE;
        for mark in scene.marks.iter().filter(|mark| mark.kind == MarkKind::Now) {
            (0..ROWS).for_each(|row| canvas.put(column(mark), row, '┊', Some(Ink::Grey)));
        }
        let mut before = None;
        for segment in &self.segments {
            for (i, (at, energy)) in
                segment.points.iter().filter(|(_, energy)| energy.is_finite()).enumerate()
            {
                let to = (
                    x_of(scene, *at, columns * WIDE),
                    ROWS * HIGH - 1 - place(*energy, 0.0, scene.top, ROWS * HIGH),
                );
                // A jump is drawn upright at its instant.
                match before {
                    Some((_, y)) if i == 0 && segment.joined => {
                        canvas.line((to.0, y), to, segment.ahead, Ink::Amber);
                    }
                    Some(from) if i > 0 => canvas.line(from, to, segment.ahead, Ink::Amber),
                    _ => canvas.dot(to.0, to.1, Ink::Amber),
                }
                before = Some(to);
            }
        }
        canvas
    }

    /// The name of a threshold for each row; where two share one, the lower goes a row down if that is free.
    fn names_by_row(&self, scene: &Scene<'_>, labels: &[String]) -> Vec<Option<String>> {
        let mut names = vec![None; ROWS];
        for (threshold, label) in self.thresholds.iter().zip(labels) {
            let row = row_of(threshold.value, scene.top);
            let free = (row..ROWS).chain((0..row).rev()).find(|row| names[*row].is_none());
            if let Some(row) = free {
                names[row] = Some(label.clone());
            }
        }
        names
    }

    /// The time axis with its ticks, and the marks below it.
    fn foot(scene: &Scene<'_>, gutter: usize, columns: usize, color: bool) -> String {
        let times = axis::times(scene.from, scene.to, columns / 8);
        let at = |ms: i64| place(ms_f64(ms), ms_f64(scene.from), ms_f64(scene.to), columns);
        let ticks: Vec<(usize, &str)> = times.iter().map(|(ms, label)| (at(*ms), label.as_str())).collect();
        let rule = |column| if ticks.iter().any(|(tick, _)| *tick == column) { '┬' } else { '─' };
        let indent = " ".repeat(gutter + 1);
        let mut text = format!("{}└{}\n", " ".repeat(gutter), (0..columns).map(rule).collect::<String>());
        text += format!("{indent}{}", canvas::labels(&ticks, columns)).trim_end();
        text.push('\n');

        let mut marks = Canvas::new(columns, 1);
        let column = |mark: &Mark| at(mark.at.millis());
        for mark in &scene.marks {
            match mark.kind {
                MarkKind::Access => marks.put(column(mark), 0, '|', Some(Ink::Blue)),
                MarkKind::Now => marks.put(column(mark), 0, '▲', Some(Ink::Grey)),
                _ => {}
            }
        }
        let now = scene.marks.iter().filter(|mark| mark.kind == MarkKind::Now);
        let mut taken: Vec<usize> = now.map(|mark| column(mark)).collect();
        for (letter, mark) in &scene.named {
            let wanted = column(mark);
            // To the right, where later ones are, and to the left at the end.
            let free = (wanted..columns).chain((0..wanted).rev()).find(|place| !taken.contains(place));
            let place = free.unwrap_or(wanted);
            taken.push(place);
            marks.put(place, 0, *letter, Some(mark.kind.ink()));
        }
        let row = marks.rows(color).join("");
        if !row.trim().is_empty() {
            text += format!("{indent}{row}").trim_end();
            text.push('\n');
        }
        text
    }

    fn legend(scene: &Scene<'_>, width: usize) -> String {
        let mut text = String::new();
        for (sign, _, what) in scene.legend() {
            let line = format!("  {sign} {what}");
            let end = line.char_indices().nth(width).map_or(line.len(), |(end, _)| end);
            text += &line[..end];
            text.push('\n');
        }
        text
    }
}

/// The row of an energy in a terminal, the first at the top.
fn row_of(energy: f64, top: f64) -> usize {
    (ROWS * HIGH - 1 - place(energy, 0.0, top, ROWS * HIGH)) / HIGH
}

/// How far right an instant lies, in dots.
fn x_of(scene: &Scene<'_>, at: Timestamp, dots: usize) -> usize {
    place(ms_f64(at.millis()), ms_f64(scene.from), ms_f64(scene.to), dots)
}

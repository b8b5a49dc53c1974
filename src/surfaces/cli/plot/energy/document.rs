//! The curve as an SVG document.

use super::super::axis;
use super::super::svg::{self, Frame};
use super::{EnergyPlot, MarkKind, Scene, Threshold, ms_f64};
use crate::surfaces::cli::page::harmless;

impl EnergyPlot {
    /// The picture as a document of its own, 800 by about 400 units.
    #[must_use]
    pub fn svg(&self) -> String {
        self.svg_of("energy")
    }

    /// The same of another quantity that fades, named beside its axis.
    #[must_use]
    pub fn svg_of(&self, quantity: &str) -> String {
        let title = harmless(&self.title);
        let Some(scene) = self.scene() else { return svg::document(&title, 60.0, "") };
        let frame = Frame { left: 64.0, top: 64.0, width: 560.0, height: 260.0 };
        let x = |ms: i64| frame.x(ms_f64(ms), ms_f64(scene.from), ms_f64(scene.to));
        let y = |energy: f64| frame.y(energy, scene.top);
        let mut body = String::new();
        for (value, label) in &scene.ticks {
            body += &svg::rule((frame.left, y(*value)), (frame.right(), y(*value)), "grid");
            body += &svg::text((frame.left - 8.0, y(*value) + 4.0), "tick end", label);
        }
        body += &svg::text((frame.left - 8.0, frame.top - 10.0), "tick end", quantity);
        body += &svg::time_axis(&frame, &axis::times(scene.from, scene.to, 8), &x);

        body += &self.threshold_lines(&frame, &y);
        body += &mark_lines(&scene, &frame, &x);
        body += &self.curves(&x, &y);
        let mut line = frame.bottom() + 52.0;
        // What is now says so at its line already.
        for (sign, kind, what) in scene.legend().iter().filter(|(_, kind, _)| *kind != MarkKind::Now) {
            let class = format!("letter {}-text", kind.ink().class());
            body += &svg::text((frame.left, line), &class, &sign.to_string());
            body += &svg::text((frame.left + 18.0, line), "name", what);
            line += 18.0;
        }
        svg::document(&title, line, &body)
    }

    /// A line for each threshold, its name at the right end; names that would touch move down.
    fn threshold_lines(&self, frame: &Frame, y: &dyn Fn(f64) -> f64) -> String {
        let mut body = String::new();
        let mut lowest_name = f64::MIN;
        let mut by_height: Vec<&Threshold> = self.thresholds.iter().collect();
        by_height.sort_by(|a, b| b.value.total_cmp(&a.value));
        for threshold in by_height {
            let at = y(threshold.value);
            body += &svg::rule((frame.left, at), (frame.right(), at), "threshold");
            lowest_name = (at + 4.0).max(lowest_name + 15.0);
            body +=
                &svg::text((frame.right() + 8.0, lowest_name), "name red-text", &harmless(&threshold.label));
        }
        body
    }

    /// The stretches as lines, each joined upright to the one it goes on from; a point alone as a dot.
    fn curves(&self, x: &dyn Fn(i64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
        let mut body = String::new();
        let mut before: Option<f64> = None;
        for segment in &self.segments {
            let points = segment.points.iter().filter(|(_, energy)| energy.is_finite());
            let mut points: Vec<(f64, f64)> =
                points.map(|(at, energy)| (x(at.millis()), y(*energy))).collect();
            let first = points.first().copied().filter(|_| segment.joined);
            if let (Some(from), Some((at, _))) = (before, first) {
                points.insert(0, (at, from));
            } else if let [(at, y)] = points[..] {
                points.insert(0, (at - 1.5, y));
                points.push((at + 1.5, y));
            }
            before = points.last().map(|(_, y)| *y).or(before);
            body += &svg::path(&points, if segment.ahead { "curve ahead" } else { "curve" });
        }
        body
    }
}

/// Room of a letter above the picture.
const LETTER: f64 = 11.0;

/// A tick for each access, a line for what is now, a line with a letter for what has a name.
fn mark_lines(scene: &Scene<'_>, frame: &Frame, x: &dyn Fn(i64) -> f64) -> String {
    let mut body = String::new();
    for mark in &scene.marks {
        let at = x(mark.at.millis());
        match mark.kind {
            MarkKind::Access => {
                body += &svg::rule((at, frame.bottom()), (at, frame.bottom() - 7.0), "access")
            }
            MarkKind::Now => {
                body += &svg::rule((at, frame.top), (at, frame.bottom()), "now");
                body += &svg::text((at, frame.top - 10.0), "tick middle", "now");
            }
            _ => {}
        }
    }
    let mut last = frame.left;
    for (letter, mark) in &scene.named {
        let (at, ink) = (x(mark.at.millis()), mark.kind.ink().class());
        body += &svg::rule((at, frame.top), (at, frame.bottom()), &format!("event {ink}"));
        // Letters that would touch each other, or the name of the axis, move right.
        last = at.max(last + LETTER);
        let class = format!("letter middle {ink}-text");
        body += &svg::text((last, frame.top - 10.0), &class, &letter.to_string());
    }
    body
}

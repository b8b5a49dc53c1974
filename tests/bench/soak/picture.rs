//! The picture of a soak: a panel for each curve, with the line of its trend over the second half. SVG, for light and dark pages.

use crate::samples::{COLUMNS, Samples};
use std::fmt::Write as _;

/// Curves in the order of the panels, from left to right.
const PANELS: [&str; 12] = [
    "p50_ms",
    "p99_ms",
    "status_5xx",
    "rss_mib",
    "descriptors",
    "threads",
    "ebb_requests",
    "ebb_runs",
    "ebb_journal",
    "memories",
    "nodes",
    "heap_mib",
];
const ACROSS: usize = 3;
const WIDTH: f64 = 270.0;
const HEIGHT: f64 = 150.0;
/// Space of a panel that the curve does not use.
const LEFT: f64 = 14.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 22.0;
const TITLE: f64 = 34.0;

const STYLE: &str = "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px;fill:#1f2937}\
.title{font-size:16px;font-weight:600}.small{font-size:11px;fill:#6b7280}.end{text-anchor:end}.paper{fill:#ffffff}.axis{stroke:#e5e7eb}\
.curve{fill:none;stroke:#1d6fd1;stroke-width:1.4;stroke-linejoin:round}.trend{stroke:#c2620a;stroke-width:1.6;stroke-dasharray:5 4}\
@media (prefers-color-scheme:dark){text{fill:#e6e9ef}.small{fill:#9aa4b2}.paper{fill:#14181f}.axis{stroke:#2b323d}\
.curve{stroke:#6cb2ff}.trend{stroke:#f0a04b}}";

/// All panels.
pub(crate) fn draw(samples: &Samples) -> String {
    let hours = samples.curve("seconds").last().map_or(0.0, |point| point.1 / 3_600.0);
    let rate = samples.trend("requests_s").map_or(0.0, |trend| trend.mean);
    let (width, height) = (ACROSS as f64 * WIDTH, TITLE + PANELS.len().div_ceil(ACROSS) as f64 * HEIGHT);
    let title = format!("Soak of {hours:.1} hours at {rate:.0} requests a second");
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>{title}</title>\n<style>\n{STYLE}\n</style>\n<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"22\">{title}</text>\n"
    );
    for (place, name) in PANELS.iter().enumerate() {
        let (column, row) = ((place % ACROSS) as f64, (place / ACROSS) as f64);
        _ = writeln!(text, "<g transform=\"translate({} {})\">", column * WIDTH, TITLE + row * HEIGHT);
        text += &panel(samples, name);
        text += "</g>\n";
    }
    text + "</svg>\n"
}

fn panel(samples: &Samples, name: &str) -> String {
    let column = COLUMNS.iter().find(|column| column.name == name).expect("a column");
    let points = samples.curve(name);
    let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let end = points.last().map_or(1.0, |point| point.0).max(1.0);
    let bottom = HEIGHT - BOTTOM;
    let x = |seconds: f64| LEFT + seconds / end * (WIDTH - LEFT - RIGHT);
    // Each begins at zero, so that a slope looks as steep as it is.
    let y = |value: f64| bottom - value / if most > 0.0 { most * 1.05 } else { 1.0 } * (bottom - TOP);
    let right = WIDTH - RIGHT;
    let mut text = format!("<text x=\"{LEFT}\" y=\"14\">{}</text>\n", column.title);
    let trend = samples.trend(name);
    let (mean, slope) =
        trend.map_or((0.0, String::new()), |trend| (trend.mean, format!("{:+.1} % an hour", trend.percent)));
    _ = writeln!(
        text,
        "<text class=\"small\" x=\"{LEFT}\" y=\"29\">mean {}, most {}</text>",
        short(mean),
        short(most)
    );
    _ = writeln!(text, "<text class=\"small end\" x=\"{right}\" y=\"29\">{slope}</text>");
    _ = writeln!(text, "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{bottom}\"/>");
    _ = writeln!(text, "<text class=\"small\" x=\"{LEFT}\" y=\"{:.0}\">0 h</text>", bottom + 14.0);
    _ = writeln!(
        text,
        "<text class=\"small end\" x=\"{right}\" y=\"{:.0}\">{:.1} h</text>",
        bottom + 14.0,
        end / 3_600.0
    );
    let path: Vec<String> =
        points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
    _ = writeln!(text, "<polyline class=\"curve\" points=\"{}\"/>", path.join(" "));
    if let Some(trend) = trend {
        let at = |seconds: f64| trend.mean + trend.slope * (seconds - f64::midpoint(trend.from, trend.to));
        let [a, b] = [trend.from, trend.to].map(|seconds| (x(seconds), y(at(seconds).max(0.0))));
        _ = writeln!(
            text,
            "<line class=\"trend\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            a.0, a.1, b.0, b.1
        );
    }
    text
}

/// A number in a few letters.
fn short(value: f64) -> String {
    match value.abs() {
        0.0..1_000.0 => format!("{value:.1}"),
        1_000.0..10_000.0 => format!("{value:.0}"),
        _ => format!("{:.0} k", value / 1e3),
    }
}

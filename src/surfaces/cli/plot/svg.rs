//! Documents in SVG: one style sheet, and the few shapes that the pictures are made of.
//!
//! A document is self-contained: no script, no font of its own, a background of its own, and colours that follow the
//! reader's light or dark setting, so that it can be put into a report or a page as it is.

use std::fmt::Write;

/// Width of every document, in its own units.
const WIDTH: f64 = 800.0;

const SHAPES: &str = "\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px}\
.title{font-size:16px;font-weight:600}.tick{font-size:11px}.letter{font-weight:600}\
.end{text-anchor:end}.middle{text-anchor:middle}.threshold{stroke-dasharray:5 4;opacity:.75}\
.now,.event{stroke-dasharray:2 3}.event{opacity:.7}.access{stroke-width:1.5}\
.curve{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}.ahead{stroke-dasharray:6 5;opacity:.8}\
.line{fill:none;stroke-width:1.6;stroke-linejoin:round}.area{stroke:none;opacity:.22}";

/// The colours of a paper. Written out twice, since half of the programs that show SVG know no CSS variables.
struct Paper {
    paper: &'static str,
    ink: &'static str,
    soft: &'static str,
    faint: &'static str,
    inks: [(&'static str, &'static str); 5],
}

const LIGHT: Paper = Paper {
    paper: "#ffffff",
    ink: "#1f2937",
    soft: "#6b7280",
    faint: "#e5e7eb",
    inks: [
        ("amber", "#c2620a"),
        ("blue", "#1d6fd1"),
        ("green", "#0b8457"),
        ("grey", "#7b8494"),
        ("red", "#c92a2a"),
    ],
};
const DARK: Paper = Paper {
    paper: "#14181f",
    ink: "#e6e9ef",
    soft: "#9aa4b2",
    faint: "#2b323d",
    inks: [
        ("amber", "#f0a04b"),
        ("blue", "#6cb2ff"),
        ("green", "#4cc38a"),
        ("grey", "#8b95a5"),
        ("red", "#ff7b72"),
    ],
};

impl Paper {
    fn rules(&self) -> String {
        let Self { paper, ink, soft, faint, inks } = self;
        let mut rules = format!(
            "text{{fill:{ink}}}.paper{{fill:{paper}}}.tick{{fill:{soft}}}.grid{{stroke:{faint}}}.axis,.now{{stroke:{soft}}}"
        );
        for (name, color) in inks {
            rules += &format!(
                ".line.{name},.event.{name}{{stroke:{color}}}.area.{name}{{fill:{color}}}.{name}-text{{fill:{color}}}"
            );
            rules += match *name {
                "amber" => ".curve",
                "blue" => ".access",
                "red" => ".threshold",
                _ => continue,
            };
            rules += &format!("{{stroke:{color}}}");
        }
        rules
    }
}

/// The area of a document for values.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Across: a value between `from` and `to`; outside it stays at the edge.
    pub(super) fn x(&self, value: f64, from: f64, to: f64) -> f64 {
        self.left + self.width * ((value - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// Up: a value between 0 and `top`; outside it stays at the edge.
    pub(super) fn y(&self, value: f64, top: f64) -> f64 {
        self.bottom() - self.height * (value / top).clamp(0.0, 1.0)
    }
}

/// A whole document of this height. The title must be harmless text.
pub(super) fn document(title: &str, height: f64, body: &str) -> String {
    let title = escaped(title);
    let (light, dark) = (LIGHT.rules(), DARK.rules());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
         height=\"{height:.0}\" role=\"img\">\n<title>{title}</title>\n<style>\n{SHAPES}\n{light}\n@media (prefers-color-scheme:dark){{{dark}}}\n</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"24\" y=\"24\">{title}</text>\n{body}</svg>\n"
    )
}

/// A straight line.
pub(super) fn rule(from: (f64, f64), to: (f64, f64), class: &str) -> String {
    format!(
        "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>\n",
        from.0, from.1, to.0, to.1
    )
}

/// Text that begins, ends or is centred at a point, as its class says.
pub(super) fn text(at: (f64, f64), class: &str, text: &str) -> String {
    format!("<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n", at.0, at.1, escaped(text))
}

/// A bar from its top left corner, filled faintly and closed by a line.
pub(super) fn bar(at: (f64, f64), size: (f64, f64), ink: &str) -> String {
    let (left, top, right, bottom) = (at.0, at.1, at.0 + size.0, at.1 + size.1);
    let corners = [(left, top), (right, top)];
    area(&corners, bottom, &format!("area {ink}"))
        + &rule((right, top), (right, bottom), &format!("line {ink}"))
}

/// A line through points; nothing through none.
pub(super) fn path(points: &[(f64, f64)], class: &str) -> String {
    if points.is_empty() {
        return String::new();
    }
    format!("<path class=\"{class}\" d=\"{}\"/>\n", through(points))
}

/// The area between points and a base line.
pub(super) fn area(points: &[(f64, f64)], base: f64, class: &str) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let line = through(points);
    format!("<path class=\"{class}\" d=\"{line}L{:.1} {base:.1}L{:.1} {base:.1}Z\"/>\n", last.0, first.0)
}

/// The time axis below a frame, with its ticks.
pub(super) fn time_axis(frame: &Frame, ticks: &[(i64, String)], x: &dyn Fn(i64) -> f64) -> String {
    let y = frame.bottom();
    let mut body = rule((frame.left, y), (frame.right(), y), "axis");
    for (at, label) in ticks {
        body += &rule((x(*at), y), (x(*at), y + 5.0), "axis");
        body += &text((x(*at), y + 20.0), "tick middle", label);
    }
    body
}

/// A path through points, without those too near to the one before to be visible.
fn through(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let mut go_to = |(x, y): (f64, f64)| {
        let command = if path.is_empty() { 'M' } else { 'L' };
        // Writing into a String cannot fail.
        let _ = write!(path, "{command}{x:.1} {y:.1}");
    };
    let mut drawn: Option<(f64, f64)> = None;
    let mut left_out: Option<(f64, f64)> = None;
    for (i, (x, y)) in points.iter().copied().enumerate() {
        let near = drawn.is_some_and(|(dx, dy)| (x - dx).abs() < 2.0 && (y - dy).abs() < 1.0);
        if near && i + 1 < points.len() {
            left_out = Some((x, y));
            continue;
        }
        // A long stretch begins where the last one ended, not at a point near to it.
        left_out.take().filter(|(lx, _)| x - lx > 8.0).into_iter().for_each(&mut go_to);
        go_to((x, y));
        drawn = Some((x, y));
    }
    path
}

/// Text without markup, and without the two characters that `harmless` passes and XML does not allow.
pub(in crate::surfaces::cli) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_makes_a_document_ill_formed() {
        assert_eq!(
            escaped("<a> & \"b\" \u{fffe}\u{ffff}\u{fffd}"),
            "&lt;a&gt; &amp; &quot;b&quot; \u{fffd}\u{fffd}\u{fffd}"
        );
    }
}

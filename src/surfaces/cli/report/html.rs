//! A report as one HTML page: no script, nothing from elsewhere, and every text of the database escaped.

use super::day;
use crate::surfaces::cli::adopt::state;
use crate::surfaces::cli::instant::rfc3339;
use crate::surfaces::cli::page::harmless;
use ebb_core::api::layout::thousands;
use ebb_core::api::report::{FindingLevel, GraphFinding, GraphReport, Growth, LayoutReport, Period};
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");

/// A text of the database as text of HTML.
fn text(text: &str) -> String {
    escaped(&harmless(text))
}

/// A text as text of HTML.
pub(in crate::surfaces) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The page.
pub(super) fn page(report: &GraphReport) -> String {
    let mut body = String::new();
    for layout in &report.layouts {
        layout_section(layout, &mut body);
    }
    if report.layouts.is_empty() {
        body.push_str("<section><p>No known layout is in this database.</p></section>\n");
    }
    let mut notes: Vec<String> = report.notes.iter().map(|note| text(note)).collect();
    notes.extend(report.unknown.iter().map(|row| {
        let nodes =
            row.nodes.map_or_else(|| "not counted".to_owned(), |nodes| format!("{} nodes", thousands(nodes)));
        format!("unknown, and not read: {} ({nodes})", text(&row.label))
    }));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Ebb report</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Report</h1>\n\
         <p class=\"soft\">{at}. Nothing was written.</p>\n{body}<section><h2>Notes</h2>\n{notes}</section>\n\
         </main>\n</body>\n</html>\n",
        at = rfc3339(report.at),
        notes = list(&notes),
    )
}

/// A list of texts that are escaped already.
fn list(items: &[String]) -> String {
    let items: String = items.iter().map(|item| format!("<li>{item}</li>\n")).collect();
    format!("<ul>\n{items}</ul>\n")
}

// Writing into a String cannot fail, so results of `write!` below are dropped.

fn layout_section(report: &LayoutReport, to: &mut String) {
    let layout = &report.layout;
    let _ = write!(
        to,
        "<section>\n<h2>{}</h2>\n<p>{} <span class=\"soft\">({})</span></p>\n",
        text(&layout.library),
        text(&layout.summary()),
        text(&state(layout))
    );
    layout.problems.iter().for_each(|problem| {
        let _ = writeln!(to, "<p class=\"warning\">{}</p>", text(problem));
    });
    to.push_str("<table>\n<tr><th>label or type</th><th>role</th><th class=\"n\">rows</th></tr>\n");
    let nodes = layout.nodes.iter().map(|row| (row.label.as_str(), row.role, row.nodes));
    let types = layout
        .relationships
        .iter()
        .map(|row| (row.kind.as_deref().unwrap_or("other types"), row.role, row.relationships));
    for (name, role, rows) in nodes.chain(types) {
        let _ = writeln!(
            to,
            "<tr><td>{}</td><td>{role}</td><td class=\"n\">{}</td></tr>",
            text(name),
            thousands(rows)
        );
    }
    to.push_str("</table>\n");
    if let Some(growth) = &report.growth {
        growth_part(growth, to);
    }
    report.findings.iter().for_each(|finding| finding_part(finding, to));
    if report.growth.is_some() && !report.clean.is_empty() {
        let clean = report.clean.join(", ").replace('_', " ");
        let _ = writeln!(to, "<p class=\"soft\">Without a finding: {clean}</p>");
    }
    to.push_str("</section>\n");
}

fn growth_part(growth: &Growth, to: &mut String) {
    if growth.by.is_empty() {
        to.push_str("<p>Growth is not known, since this layout has no instants.</p>\n");
        return;
    }
    let _ = writeln!(
        to,
        "<p>{:.1} rows a day in the last 30 days, {:.1} of them facts (by {})</p>",
        growth.rows_per_day,
        growth.facts_per_day,
        text(&growth.by.join(", "))
    );
    bars("Rows by week", &growth.weeks, to);
    bars("Rows by day, last 30 days", &growth.days, to);
    if growth.undated > 0 {
        let _ = writeln!(to, "<p>Without a usable instant: {} rows</p>", thousands(growth.undated));
    }
}

/// A bar for each period.
#[expect(clippy::cast_precision_loss, reason = "a picture")]
fn bars(title: &str, periods: &[Period], to: &mut String) {
    const HEIGHT: f64 = 60.0;
    let (Some(first), Some(last)) = (periods.first(), periods.last()) else { return };
    let most = periods.iter().map(|period| period.rows).max().unwrap_or(1).max(1);
    let _ = write!(
        to,
        "<h3>{title}</h3>\n<svg width=\"640\" height=\"84\" viewBox=\"0 0 640 84\" role=\"img\" aria-label=\"{title}\">\n"
    );
    for (index, period) in periods.iter().enumerate() {
        let height = (period.rows as f64 / most as f64 * HEIGHT).max(1.0);
        let _ = writeln!(
            to,
            "<rect x=\"{}\" y=\"{:.1}\" width=\"10\" height=\"{height:.1}\"><title>{}: {}</title></rect>",
            index * 12,
            HEIGHT + 4.0 - height,
            day(period.start),
            thousands(period.rows)
        );
    }
    let _ = write!(
        to,
        "<text x=\"0\" y=\"80\">{} to {}, at most {}</text>\n</svg>\n",
        day(first.start),
        day(last.start),
        thousands(most)
    );
}

fn finding_part(finding: &GraphFinding, to: &mut String) {
    let class = match finding.level {
        FindingLevel::Warning => "finding warning",
        FindingLevel::Note => "finding",
    };
    let _ = write!(
        to,
        "<div class=\"{class}\">\n<h3>{}</h3>\n<p>{}</p>\n<p>{}</p>\n",
        text(&finding.found),
        text(finding.why),
        text(&finding.fix)
    );
    if !finding.examples.is_empty() {
        to.push_str(&list(&finding.examples.iter().map(|example| text(example)).collect::<Vec<_>>()));
    }
    for statement in &finding.statements {
        let _ = writeln!(to, "<pre><code>{};</code></pre>", text(statement));
    }
    to.push_str("</div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_usable_instant_are_counted() {
        let page = |undated| {
            let growth = Growth { by: vec!["created_at".to_owned()], undated, ..Growth::default() };
            let mut page = String::new();
            growth_part(&growth, &mut page);
            page
        };
        assert!(page(1_200).contains("<p>Without a usable instant: 1,200 rows</p>"), "{}", page(1_200));
        assert!(!page(0).contains("usable"));
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(text("<b a='1'>\"&\"\u{1b}"), "&lt;b a=&#39;1&#39;&gt;&quot;&amp;&quot;\u{fffd}");
    }
}

//! The in-memory graph as one page: its hottest nodes and what connects them, as SVG.
//!
//! # Design notes
//! A colour alone is no mark: it is lost in print. So shapes say what a node is, and the sizes of memories their energy. There is no
//! style that follows the reader's light or dark setting, since a page of paper is light.

use super::labels;
use super::layout::places;
use crate::surfaces::cli::page::harmless;
use crate::surfaces::cli::plot::svg::escaped;
use ebb_core::domain::ids::Scope;
use ebb_core::service::recall::{Energies, HotNode, Tie, View, hottest};
use std::fmt::Write;

/// Most nodes of a page.
const NODES_MAX: usize = 60;
/// The page, and its margins: left, top, right, bottom. A4, landscape, at 96 dots an inch.
const PAGE: (f64, f64) = (1_123.0, 794.0);
const MARGINS: [f64; 4] = [70.0, 80.0, 150.0, 70.0];
/// Characters of a label.
const LABEL_CHARS: usize = 26;

const STYLE: &str = "text{font-family:system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:10px;fill:#111827}\
.label{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}.title{font-size:16px;font-weight:600}\
.note{font-size:11px;fill:#4b5563}.tie{stroke:#9ca3af}.inhibits{stroke-dasharray:4 3}.node{stroke:#1f2937;stroke-width:1.2}\
.working{fill:#f59e0b}.shortTerm{fill:#60a5fa}.longTerm{fill:#1d4ed8}.expiredWorking{fill:#fff;stroke-dasharray:2 2}\
.entity{fill:#34d399}.other{fill:#d1d5db}";

/// A node of the picture.
struct Drawn {
    /// Its label, cut for the page, and whole.
    label: String,
    title: String,
    class: &'static str,
    /// Radius, or half of the side.
    size: f64,
}

/// The classes with their names in the legend, in its order.
const CLASSES: [(&str, &str); 6] = [
    ("working", "working memory"),
    ("shortTerm", "short-term memory"),
    ("longTerm", "long-term memory"),
    ("expiredWorking", "expired memory"),
    ("entity", "entity"),
    ("other", "other node"),
];

/// Draws the hottest nodes, at most `nodes_max` and [`NODES_MAX`].
pub(super) fn svg(view: &View, energies: &Energies, scope: &Scope, nodes_max: usize) -> String {
    let part = hottest(view, energies, nodes_max.min(NODES_MAX));
    let most = energies.values().copied().fold(1.0, f64::max);
    let drawn: Vec<Drawn> = part.nodes.iter().map(|node| Drawn::of(node, most)).collect();
    let [left, top, right, bottom] = MARGINS;
    let pairs: Vec<(usize, usize)> = part.ties.iter().map(|tie| tie.ends).collect();
    let places = places(drawn.len(), &pairs, (PAGE.0 - left - right, PAGE.1 - top - bottom));
    let places: Vec<(f64, f64)> = places.into_iter().map(|(x, y)| (x + left, y + top)).collect();
    let mut body = String::new();
    for tie in &part.ties {
        line((places[tie.ends.0], places[tie.ends.1]), tie, &mut body);
    }
    for (one, place) in drawn.iter().zip(&places) {
        node(one, *place, &mut body);
    }
    let labelled: Vec<((f64, f64), f64, &str)> =
        drawn.iter().zip(&places).map(|(one, place)| (*place, one.size, one.label.as_str())).collect();
    let labels = labels::places(&labelled, (PAGE.0, PAGE.1 - bottom));
    for (one, place) in drawn.iter().zip(&labels) {
        let Some((x, y)) = place else { continue };
        let label = escaped(&one.label);
        put(&mut body, format_args!("<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\">{label}</text>\n"));
    }
    legend(&drawn, labels.contains(&None), &mut body);
    let scope = escaped(&harmless(scope.as_str()));
    let title = format!("Scope {scope}: the {} hottest of {} nodes", drawn.len(), part.of);
    let (width, height) = PAGE;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text class=\"title\" x=\"24\" y=\"34\">{title}</text>\n{body}</svg>\n"
    )
}

impl Drawn {
    /// A node of a picture whose greatest energy is `most`.
    fn of(node: &HotNode, most: f64) -> Self {
        let title = harmless(&node.label);
        Self {
            label: shortened(&title),
            title,
            class: class(&node.kind, node.tier.as_deref()),
            size: 5.0 + 7.0 * (node.energy.unwrap_or(0.0).max(0.0) / most).sqrt(),
        }
    }
}

fn class(kind: &str, tier: Option<&str>) -> &'static str {
    let known = |name: &str| CLASSES.iter().map(|(class, _)| *class).find(|class| *class == name);
    match (kind, tier.and_then(known)) {
        ("Memory", Some(tier)) => tier,
        ("Entity", _) => "entity",
        _ => "other",
    }
}

fn line((from, to): ((f64, f64), (f64, f64)), tie: &Tie, body: &mut String) {
    let class = if tie.inhibits { "tie inhibits" } else { "tie" };
    let width = 0.6 + 1.8 * f64::from(tie.weight.clamp(0.0, 1.0));
    let ends = format!("x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"", from.0, from.1, to.0, to.1);
    put(body, format_args!("<line class=\"{class}\" {ends} stroke-width=\"{width:.1}\"/>\n"));
}

/// A memory is a circle, an entity a square, any other node a diamond. Under the pointer it shows its whole label.
fn node(one: &Drawn, (x, y): (f64, f64), body: &mut String) {
    let Drawn { class, size, title, .. } = one;
    put(body, format_args!("<g><title>{}</title>", escaped(title)));
    match *class {
        "entity" => put(
            body,
            format_args!(
                "<rect class=\"node {class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\n",
                x - size,
                y - size,
                2.0 * size,
                2.0 * size
            ),
        ),
        "other" => put(
            body,
            format_args!(
                "<path class=\"node {class}\" d=\"M{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}Z\"/>\n",
                y - size,
                x + size,
                y + size,
                x - size
            ),
        ),
        _ => put(
            body,
            format_args!("<circle class=\"node {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size:.1}\"/>\n"),
        ),
    }
    put(body, format_args!("</g>\n"));
}

/// The classes that the picture has, with their numbers of nodes; and whether some labels had no room.
fn legend(drawn: &[Drawn], lacks_labels: bool, body: &mut String) {
    let count = |class: &str| drawn.iter().filter(|one| one.class == class).count();
    let present = CLASSES.into_iter().filter(|(class, _)| count(class) > 0);
    let (mut x, y) = (30.0, PAGE.1 - 26.0);
    for (class, name) in present {
        node(&Drawn { label: String::new(), title: name.to_owned(), class, size: 6.0 }, (x, y - 4.0), body);
        let text = format!("{name} ({})", count(class));
        put(body, format_args!("<text class=\"note\" x=\"{:.1}\" y=\"{y:.1}\">{text}</text>\n", x + 11.0));
        x += 30.0 + 6.2 * f64::from(u32::try_from(text.len()).unwrap_or(0));
    }
    let room = if lacks_labels { " Labels without room are left out: point at a node." } else { "" };
    let note = "Size: energy. Line width: weight; dashed: inhibits.";
    put(body, format_args!("<text class=\"note\" x=\"24\" y=\"54\">{note}{room}</text>\n"));
}

fn put(body: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = body.write_fmt(text);
}

fn shortened(label: &str) -> String {
    match label.char_indices().nth(LABEL_CHARS) {
        Some((end, _)) => format!("{}…", label[..end].trim_end()),
        None => label.to_owned(),
    }
}

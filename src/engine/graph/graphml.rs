//! Export as GraphML 1.0, streamed.
//!
//! | key | of | meaning |
//! |---|---|---|
//! | `external_id` | nodes | external id |
//! | `label` | nodes | text for people |
//! | `kind` | nodes | name of the type: `Memory`, `Entity`, `Room` |
//! | `tier` | nodes | tier, if it is known |
//! | `energy` | nodes | energy, if it is known |
//! | `created`, `last_used` | nodes | dates of the creation and of the last use, if they are known |
//! | `relation` | edges | relationship type |
//! | `weight` | edges | base weight, at least 0 |
//! | `inhibitory` | edges | whether it inhibits instead of exciting |
//!
//! Every slot is an edge, from its source to its target, so a relationship that can be traversed both ways is two edges.
//! Nodes are sorted by external id and edges by their ends and relations: same content, same bytes.
//!
//! # Design notes
//! The format does not allow blanks and brackets in node names, so nodes are `n0`, `n1` and so on, and their external ids
//! are data. Characters that XML forbids, control characters above all, become U+FFFD: a reader would reject the whole
//! file.
//!
//! Invariant: an XML reader finds the nodes, the slots and their texts again (held by `a_reader_of_xml_finds_the_graph`).

use super::Graph;
use super::index::{EdgeIdx, NodeId};
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
<key id="external_id" for="node" attr.name="external_id" attr.type="string"/>
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="kind" for="node" attr.name="kind" attr.type="string"/>
<key id="tier" for="node" attr.name="tier" attr.type="string"/>
<key id="energy" for="node" attr.name="energy" attr.type="double"/>
<key id="created" for="node" attr.name="created" attr.type="string"/>
<key id="last_used" for="node" attr.name="last_used" attr.type="string"/>
<key id="relation" for="edge" attr.name="relation" attr.type="string"/>
<key id="weight" for="edge" attr.name="weight" attr.type="float"/>
<key id="inhibitory" for="edge" attr.name="inhibitory" attr.type="boolean"/>
<graph id="G" edgedefault="directed">
"#;

/// Data of a node beside its id and its label.
#[derive(Debug, Clone)]
pub struct NodeData<'a> {
    /// Name of its type.
    pub kind: Cow<'a, str>,
    /// Tier.
    pub tier: Option<&'a str>,
    /// Energy.
    pub energy: Option<f64>,
    /// Date of its creation.
    pub created: Option<String>,
    /// Date of its last use.
    pub last_used: Option<String>,
}

/// Writes a graph; `data_of` gives the data of each node.
pub fn write<'a>(
    graph: &Graph,
    data_of: impl Fn(NodeId) -> NodeData<'a>,
    into: impl Write,
) -> io::Result<()> {
    let mut out = BufWriter::new(into);
    out.write_all(HEAD.as_bytes())?;
    for node in graph.by_rank() {
        let NodeData { kind, tier, energy, created, last_used } = data_of(node);
        let [id, label, kind] = [graph.external_id(node), graph.label(node), &*kind].map(escaped);
        let n = graph.rank(node);
        write!(
            out,
            r#"<node id="n{n}"><data key="external_id">{id}</data><data key="label">{label}</data><data key="kind">{kind}</data>"#
        )?;
        let energy = energy.map(|energy| energy.to_string());
        let known = [
            ("tier", tier),
            ("energy", energy.as_deref()),
            ("created", created.as_deref()),
            ("last_used", last_used.as_deref()),
        ];
        for (key, value) in known.into_iter().filter_map(|(key, value)| Some((key, escaped(value?)))) {
            write!(out, r#"<data key="{key}">{value}</data>"#)?;
        }
        writeln!(out, "</node>")?;
    }
    let mut row: Vec<EdgeIdx> = Vec::new();
    for source in graph.by_rank() {
        row.clear();
        row.extend(graph.slots(source));
        row.sort_unstable_by_key(|slot| (graph.rank(graph.target(*slot)), graph.relation(*slot)));
        for slot in &row {
            let (from, to) = (graph.rank(source), graph.rank(graph.target(*slot)));
            let (relation, weight) = (escaped(graph.relation(*slot)), graph.base(*slot));
            let inhibitory = graph.kind(*slot).inhibitory;
            writeln!(
                out,
                r#"<edge source="n{from}" target="n{to}"><data key="relation">{relation}</data><data key="weight">{weight}</data><data key="inhibitory">{inhibitory}</data></edge>"#
            )?;
        }
    }
    out.write_all(b"</graph>\n</graphml>\n")?;
    out.flush()
}

/// Escapes a text for XML: markup and white space as references, forbidden characters as U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            // "]]>" is forbidden in text.
            '>' => escaped.push_str("&gt;"),
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::columns::NodeRow;
    use crate::graph::kinds::NodeType;
    use crate::graph::tests::{Content, build, content};
    use proptest::prelude::*;
    use roxmltree::{Document, Node};
    use std::collections::BTreeSet;

    fn kind_of(graph: &Graph) -> impl Fn(NodeId) -> Cow<'static, str> {
        move |node| graph.node_type(node).name().unwrap_or("a <kind> & more").into()
    }

    fn written(graph: &Graph) -> String {
        let mut bytes = Vec::new();
        let kind = kind_of(graph);
        let data = |node| NodeData {
            kind: kind(node),
            tier: graph.tier(node),
            energy: (graph.rank(node) == 0).then_some(0.5),
            created: None,
            last_used: graph.last_modified(node).map(|at| at.to_string()),
        };
        write(graph, data, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn data<'d>(of: Node<'d, '_>, key: &str) -> &'d str {
        let found = of.children().find(|data| data.attribute("key") == Some(key)).unwrap();
        found.text().unwrap_or_default()
    }

    fn named<'d, 'i>(document: &'d Document<'i>, name: &'static str) -> impl Iterator<Item = Node<'d, 'i>> {
        document.descendants().filter(move |node| node.has_tag_name(name))
    }

    fn nodes(document: &Document<'_>) -> BTreeSet<[String; 3]> {
        let row = |node| ["external_id", "label", "kind"].map(|key| data(node, key).to_owned());
        named(document, "node").map(row).collect()
    }

    proptest! {
        #[test]
        fn a_reader_of_xml_finds_the_graph(content in content(12, 60)) {
            let graph = build(&content);
            let text = written(&graph);
            let document = Document::parse(&text).unwrap();
            let kind = kind_of(&graph);
            let told = |node| [graph.external_id(node), graph.label(node), &*kind(node)].map(str::to_owned);
            prop_assert_eq!(nodes(&document), graph.nodes().map(told).collect());
            prop_assert_eq!(named(&document, "node").count(), graph.node_count());
            for (rank, node) in named(&document, "node").enumerate() {
                let held = graph.find(data(node, "external_id")).unwrap();
                let known = |key| node.children().find(|data| data.attribute("key") == Some(key)).and_then(|data| data.text());
                prop_assert_eq!(known("tier"), graph.tier(held).filter(|tier| !tier.is_empty()));
                prop_assert_eq!(known("energy"), (rank == 0).then_some("0.5"));
                prop_assert_eq!(known("created"), None);
                let used = graph.last_modified(held).map(|at| at.to_string());
                prop_assert_eq!(known("last_used"), used.as_deref());
            }
            prop_assert_eq!(named(&document, "edge").count(), graph.slot_count());
            let id = |name: Option<&str>| {
                let node = named(&document, "node").find(|node| node.attribute("id") == name).unwrap();
                data(node, "external_id").to_owned()
            };
            for edge in named(&document, "edge") {
                let [source, target] = ["source", "target"].map(|end| graph.find(&id(edge.attribute(end))).unwrap());
                let slot = graph.slot(source, data(edge, "relation"), target).unwrap();
                prop_assert_eq!(data(edge, "weight").parse::<f32>().unwrap().to_bits(), graph.base(slot).to_bits());
                prop_assert_eq!(data(edge, "inhibitory").parse(), Ok(graph.kind(slot).inhibitory));
            }
        }

        #[test]
        fn text_roundtrips_except_characters_invalid_in_xml(text in any::<String>(), id in "\\PC+") {
            let nodes = vec![NodeRow::new(id.as_str(), text.as_str(), NodeType::Concept)];
            let written = written(&build(&Content { nodes, edges: Vec::new() }));
            let document = Document::parse(&written).unwrap();
            let node = named(&document, "node").next().unwrap();
            let held = |c: char| match c {
                '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'.. => c,
                _ => '\u{fffd}',
            };
            prop_assert_eq!(data(node, "label"), text.chars().map(held).collect::<String>());
            prop_assert_eq!(data(node, "external_id"), id);
        }
    }

    #[test]
    fn markup_and_invalid_characters_are_escaped() {
        let label = "</data>]]><x a=\"'\">&amp;\u{0}\u{1b}\u{b}\r\n\t\u{fffe}\u{ffff}\u{85}\u{1f9ed}";
        let nodes = vec![NodeRow::new("a b<&", label, NodeType::MEMORY)];
        let text = written(&build(&Content { nodes, edges: Vec::new() }));
        let document = Document::parse(&text).unwrap();
        let node = named(&document, "node").next().unwrap();
        assert_eq!(node.attribute("id"), Some("n0"));
        assert_eq!(data(node, "external_id"), "a b<&");
        let told = "</data>]]><x a=\"'\">&amp;\u{fffd}\u{fffd}\u{fffd}\r\n\t\u{fffd}\u{fffd}\u{85}\u{1f9ed}";
        assert_eq!(data(node, "label"), told);
        assert!(!text.contains('\u{1b}'));
    }
}

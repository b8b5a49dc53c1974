//! An index of labels and tags: by name, prefix, substring, tag and spelling.
//!
//! The first [200 bytes](crate::semantic::trigram::TEXT_BYTES_MAX) of the folded label are indexed: as written, and as
//! words joined by spaces, by which a name is found in a sentence.
//!
//! # Design notes
//! A token has only letters and digits, so it occurs in a label inside one word: only the words of all labels and their
//! suffixes are searched, and matches need no verification. That holds for pairs of characters, too: a token has one pair at most.
//!
//! Names and tags are compared as they are written, from the beginning of a word to the end of one, so that pairs are adjacent:
//! 東京都 is in 東京都に, and not in 東京、京都, which has the same pairs.
//!
//! Labels of memories are apart from those of other nodes. Most tokens occur in more memories than are examined, and where memories
//! are not wanted they must not count in that number; and what a query reads has no bound if it must leave them out one by one.

use super::dictionary::{Dictionary, Gathered, Suffixes};
use super::lowest::Lowest;
use crate::graph::index::NodeId;
use crate::graph::kinds::NodeType;
use crate::graph::{Graph, Lineage};
use crate::semantic::trigram::{CharNgramIndex, TEXT_BYTES_MAX};
use crate::text::fold::{cut, fold};
use crate::text::words::{phrase, places, words};
use std::ops::Range;
use std::sync::Arc;

/// Number of nodes that a token finds at one level; the best connected ones come first.
pub const CANDIDATES_MAX: usize = 4_096;
/// Nodes from which on spelling is indexed in a thread of its own.
const APART_MIN: usize = 1_000;
/// Least similarity of spelling.
pub const TRIGRAM_MIN: f64 = 0.3;

/// Share of altered labels from which on the index is built anew.
const ANEW: usize = 4;

/// Index of the labels and tags of one graph.
#[derive(Debug, Clone)]
pub struct Labels {
    known: Dictionaries,
    /// Of the words of each part.
    suffixes: [Suffixes; 2],
    ngrams: CharNgramIndex,
}

#[derive(Debug, Clone)]
struct Dictionaries {
    /// Of the nodes that are no memories, and of memories.
    parts: [Part; 2],
    /// Tags without a leading `#`, of all nodes.
    tags: Dictionary,
}

/// The labels of some nodes.
#[derive(Debug, Clone)]
struct Part {
    labels: Dictionary,
    /// The [phrase] of each label, where that is not the label itself.
    phrases: Dictionary,
    words: Dictionary,
}

/// Nodes whose labels are searched.
#[derive(Debug, Clone, Copy)]
pub(super) enum LabelPart {
    All,
    /// Those that are no memories.
    Names,
    Memories,
}

impl LabelPart {
    /// Indexes of the parts.
    const fn parts(self) -> Range<usize> {
        match self {
            Self::All => 0..2,
            Self::Names => 0..1,
            Self::Memories => 1..2,
        }
    }
}

/// The nodes of a graph that have another label, type or tags than in the graph before it.
#[derive(Debug)]
pub(crate) struct Altered<'a> {
    lineage: &'a Lineage,
    /// New ones among them.
    nodes: Vec<NodeId>,
    /// Number of nodes that were removed.
    removed: usize,
}

impl<'a> Altered<'a> {
    /// Compares two graphs; `lineage` is that of the second.
    pub(crate) fn between(before: &Graph, graph: &Graph, lineage: &'a Lineage) -> Self {
        let is_alike = |one: NodeId, other: NodeId| {
            before.label(one) == graph.label(other)
                && before.node_type(one) == graph.node_type(other)
                && before.tags(one).eq(graph.tags(other))
        };
        // One that was removed and added again has lost its place, whatever its label is.
        let stays = |one: NodeId, node: NodeId| lineage.places[one.at()] == node.0;
        let is_known = |node: &NodeId| {
            let one = before.find(graph.external_id(*node));
            one.is_some_and(|one| stays(one, *node) && is_alike(one, *node))
        };
        let nodes = lineage.given.iter().copied().filter(|node| !is_known(node)).collect();
        let removed = lineage.places.iter().filter(|place| **place == Lineage::REMOVED).count();
        Self { lineage, nodes, removed }
    }

    /// For each node of a graph whether it is one of these.
    pub(crate) fn by_node(&self, graph: &Graph) -> Vec<bool> {
        let mut by_node = vec![false; graph.node_count()];
        self.nodes.iter().for_each(|node| by_node[node.at()] = true);
        by_node
    }

    /// Whether all labels are as before.
    pub(crate) fn is_none(&self) -> bool {
        self.nodes.is_empty() && self.removed == 0
    }
}

/// The indexed part of a label.
fn seen(label: &str) -> String {
    let mut folded = fold(label);
    folded.truncate(cut(&folded, TEXT_BYTES_MAX).len());
    folded
}

impl Dictionaries {
    /// The labels and tags of some nodes.
    fn of(graph: &Graph, nodes: impl Iterator<Item = NodeId>) -> Self {
        let mut parts = [(); 2].map(|()| [(); 3].map(|()| Gathered::default()));
        let mut tags = Gathered::default();
        for node in nodes {
            let [labels, phrases, spoken] = &mut parts[usize::from(!is_name(graph, node))];
            let label = seen(graph.label(node));
            if label.is_empty() {
                // A label without letters or digits is not found by name, nor by tag.
                continue;
            }
            labels.push(&label, node.0);
            let phrase = phrase(&label);
            if phrase != label {
                phrases.push(&phrase, node.0);
            }
            words(&label).for_each(|word| spoken.push(word, node.0));
            for tag in graph.tags(node) {
                let tag = fold(tag);
                tags.push(tag.strip_prefix('#').unwrap_or(&tag), node.0);
            }
        }
        let parts = parts.map(|part| {
            let [labels, phrases, words] = part.map(Gathered::into_dictionary);
            Part { labels, phrases, words }
        });
        Self { parts, tags: tags.into_dictionary() }
    }
}

impl Labels {
    /// Builds the index of a graph. Spelling is half of the work, and is indexed in a thread of its own if there is much.
    #[must_use]
    pub fn build(graph: &Graph) -> Self {
        let (ngrams, (known, suffixes)) = beside(
            graph,
            || spelling(graph),
            || {
                let known = Dictionaries::of(graph, graph.nodes());
                let suffixes = known.parts.each_ref().map(|part| Suffixes::of(&part.words));
                (known, suffixes)
            },
        );
        Self { known, suffixes, ngrams }
    }

    /// The index of the next graph. Without altered labels it is shared, or all but its ids; with few, dictionaries are merged
    /// with those of the altered nodes, and the postings of spelling get their new places.
    pub(crate) fn next(this: &Arc<Self>, graph: &Graph, altered: &Altered<'_>) -> Arc<Self> {
        if altered.is_none() {
            return match altered.lineage.keeps_ids {
                true => Arc::clone(this),
                false => Arc::new(this.renumbered(&altered.lineage.places)),
            };
        }
        if altered.nodes.len() + altered.removed > graph.node_count() / ANEW {
            return Arc::new(Self::build(graph));
        }
        let is_altered = altered.by_node(graph);
        let place = |node: u32| {
            let place = altered.lineage.places[node as usize];
            (place != Lineage::REMOVED && !is_altered[place as usize]).then_some(place)
        };
        let respelt = || {
            let added = altered.nodes.iter().map(|node| (node.0, graph.label(*node), is_name(graph, *node)));
            this.ngrams.changed(place, added)
        };
        let (ngrams, (known, suffixes)) = beside(graph, respelt, || {
            this.merged(place, &Dictionaries::of(graph, altered.nodes.iter().copied()))
        });
        Arc::new(Self { known, suffixes, ngrams })
    }

    fn renumbered(&self, places: &[u32]) -> Self {
        let parts = self.known.parts.each_ref().map(|Part { labels, phrases, words }| {
            let [labels, phrases, words] = [labels, phrases, words].map(|of| of.renumbered(places));
            Part { labels, phrases, words }
        });
        let known = Dictionaries { parts, tags: self.known.tags.renumbered(places) };
        Self { known, suffixes: self.suffixes.clone(), ngrams: self.ngrams.renumbered(places) }
    }

    /// The dictionaries and suffixes of the next graph: with the new ids of the nodes that keep their labels, and the labels of the
    /// others.
    fn merged(
        &self,
        place: impl Fn(u32) -> Option<u32>,
        added: &Dictionaries,
    ) -> (Dictionaries, [Suffixes; 2]) {
        let merged = |of: usize| {
            let (known, added) = (&self.known.parts[of], &added.parts[of]);
            let (words, suffixes) = known.words.renewed_with(&self.suffixes[of], &place, &added.words);
            let labels = known.labels.renewed(&place, &added.labels);
            let phrases = known.phrases.renewed(&place, &added.phrases);
            (Part { labels, phrases, words }, suffixes)
        };
        let [(names, of_names), (memories, of_memories)] = [0, 1].map(merged);
        let tags = self.known.tags.renewed(&place, &added.tags);
        (Dictionaries { parts: [names, memories], tags }, [of_names, of_memories])
    }

    /// Index of the trigrams of labels, by node.
    #[must_use]
    pub const fn ngrams(&self) -> &CharNgramIndex {
        &self.ngrams
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let Dictionaries { parts, tags } = &self.known;
        let of_part =
            |Part { labels, phrases, words }: &Part| labels.bytes() + phrases.bytes() + words.bytes();
        let dictionaries = parts.iter().map(of_part).sum::<usize>() + tags.bytes();
        dictionaries + self.suffixes.iter().map(Suffixes::bytes).sum::<usize>() + self.ngrams.bytes()
    }

    /// Reads a folded query from left to right and calls `found` with the longest run of words that are all words of a label,
    /// and with the nodes of that label; reading continues after the run.
    pub(super) fn names(&self, query: &str, mut found: impl FnMut(&str, &[u32])) {
        let query = phrase(query);
        let places: Vec<Range<usize>> = places(&query).collect();
        let [names, memories] = &self.known.parts;
        let all = [&names.labels, &names.phrases, &memories.labels, &memories.phrases];
        let mut rest = &places[..];
        while let Some(first) = rest.first() {
            // Each added word narrows the labels that begin so; one that equals the run is the first of them. A label that equals
            // it is its own phrase.
            let mut within = all.map(|of| 0..of.len());
            let mut longest = None;
            for last in rest {
                let name = &query[first.start..last.end];
                within = [0, 1, 2, 3].map(|of| all[of].starting(within[of].clone(), name));
                if within.iter().all(Range::is_empty) {
                    break;
                }
                let equal = [0, 1, 2, 3].map(|of| {
                    let at = within[of].start;
                    (!within[of].is_empty() && all[of].get(at).len() == name.len()).then_some(at)
                });
                if equal != [None; 4] {
                    longest = Some((last.end, equal));
                }
            }
            let Some((end, equal)) = longest else {
                rest = &rest[1..];
                continue;
            };
            let name = &query[first.start..end];
            let lists = (0..).zip(equal).filter_map(|(of, at): (usize, _)| Some(all[of].nodes(at?)));
            match lists.collect::<Vec<_>>().as_slice() {
                [one] => found(name, one),
                several => {
                    let mut nodes = several.concat();
                    nodes.sort_unstable();
                    found(name, &nodes);
                }
            }
            // The pairs that the end of the name is within are part of it.
            rest = &rest[rest.partition_point(|place| place.start < end)..];
        }
    }

    /// The nodes whose folded labels equal a string, in lists in order.
    pub(super) fn whole(&self, folded: &str) -> Vec<&[u32]> {
        self.equal(folded, LabelPart::All).collect()
    }

    /// The nodes whose labels equal a token.
    pub(super) fn exact(&self, token: &str, among: LabelPart) -> (Vec<u32>, bool) {
        lowest(self.equal(token, among))
    }

    fn equal(&self, folded: &str, among: LabelPart) -> impl Iterator<Item = &[u32]> {
        self.known.parts[among.parts()].iter().map(|part| part.labels.equal(cut(folded, TEXT_BYTES_MAX)))
    }

    /// The nodes whose labels begin with a token.
    pub(super) fn starting(&self, token: &str, among: LabelPart) -> (Vec<u32>, bool) {
        lowest(self.known.parts[among.parts()].iter().flat_map(|Part { labels, .. }| {
            labels.starting(0..labels.len(), token).map(|at| labels.nodes(at))
        }))
    }

    /// The nodes whose labels contain a token.
    pub(super) fn containing(&self, token: &str, among: LabelPart) -> (Vec<u32>, bool) {
        lowest(among.parts().flat_map(|of| {
            let words = &self.known.parts[of].words;
            self.suffixes[of].containing(words, token).map(|at| words.nodes(at))
        }))
    }

    /// The nodes that have a token as a tag.
    pub(super) fn tagged(&self, token: &str) -> &[u32] {
        self.known.tags.equal(token)
    }

    /// Calls `found` with each tag of several words between which a folded query has nothing, such as 東京都, and with the places
    /// of its words and its nodes.
    pub(super) fn tags_within<'q>(
        &self,
        query: &'q str,
        mut found: impl FnMut(&'q str, &[Range<usize>], &[u32]),
    ) {
        let tags = &self.known.tags;
        let places: Vec<Range<usize>> = places(query).collect();
        for at in 0..places.len() {
            let mut within = 0..tags.len();
            let touches = |next: &usize| places[*next].start <= places[next - 1].end;
            for last in (at + 1..places.len()).take_while(touches) {
                let tag = &query[places[at].start..places[last].end];
                within = tags.starting(within, tag);
                if within.is_empty() {
                    break;
                }
                if tags.get(within.start) == tag {
                    found(tag, &places[at..=last], tags.nodes(within.start));
                }
            }
        }
    }

    /// The nodes whose labels are spelt like a token, memories or not, ascending, with the similarity.
    pub(super) fn like(&self, token: &str, with_memories: bool) -> (Vec<(u32, f32)>, bool) {
        let query = self.ngrams.query(token);
        let found = match with_memories {
            true => query.search(TRIGRAM_MIN, usize::MAX),
            false => query.search_names(TRIGRAM_MIN, usize::MAX),
        };
        let found = found.matches;
        let mut like: Vec<(u32, f32)> = found.into_iter().map(|like| (like.text, like.score)).collect();
        like.sort_unstable_by_key(|(node, _)| *node);
        let truncated = like.len() > CANDIDATES_MAX;
        like.truncate(CANDIDATES_MAX);
        (like, truncated)
    }
}

/// The results of two works: beside each other if there is much to do.
fn beside<A: Send, B>(graph: &Graph, one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    if graph.node_count() < APART_MIN {
        return (one(), other());
    }
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    })
}

/// Index of the spelling of the labels of a graph.
fn spelling(graph: &Graph) -> CharNgramIndex {
    CharNgramIndex::build_with_texts(graph.nodes().map(|node| (graph.label(node), is_name(graph, node))))
}

fn is_name(graph: &Graph, node: NodeId) -> bool {
    graph.node_type(node) != NodeType::MEMORY
}

fn lowest<'a>(lists: impl Iterator<Item = &'a [u32]>) -> (Vec<u32>, bool) {
    let mut lowest = Lowest::new(CANDIDATES_MAX);
    lists.for_each(|list| lowest.take(list));
    lowest.into_nodes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builder::{Batch, EdgeRow, GraphBuilder};
    use crate::graph::columns::NodeRow;

    fn row(n: usize) -> NodeRow {
        let kind = if n.is_multiple_of(3) { NodeType::Concept } else { NodeType::MEMORY };
        let tags = (0..n % 3).map(|tag| format!("#tag {tag}")).collect();
        NodeRow { tags, ..NodeRow::new(format!("n{n}"), format!("note {}, part_{}", n % 400, n % 7), kind) }
    }

    /// More nodes than are indexed in one thread.
    fn graph() -> Graph {
        let mut builder = GraphBuilder::default();
        (0..APART_MIN + 200).for_each(|n| _ = builder.add_node(row(n)).unwrap());
        (0..APART_MIN).for_each(|n| builder.relate(&format!("n{n}"), "MENTIONS", "n0", 0.5).unwrap());
        builder.finalize().unwrap()
    }

    /// The index after a batch, and one of the same graph that is built anew.
    fn after(batch: &Batch) -> (Arc<Labels>, Arc<Labels>, Labels) {
        let before = graph();
        let mut next = before.apply(batch).unwrap();
        let lineage = next.take_lineage().unwrap();
        let known = Arc::new(Labels::build(&before));
        let labels = Labels::next(&known, &next, &Altered::between(&before, &next, &lineage));
        (known, labels, Labels::build(&next))
    }

    #[test]
    fn after_a_batch_it_is_as_if_built_anew() {
        let text = |labels: &Labels| format!("{labels:?}");
        let altered =
            NodeRow { label: "another label, with tags".to_owned(), tags: vec!["new".to_owned()], ..row(5) };
        let retyped = NodeRow { node_type: NodeType::Concept, ..row(7) };
        let gone = vec!["n9".to_owned(), "n10".to_owned()];
        for batch in [
            Batch {
                nodes: vec![NodeRow::new("added", "note 7, part_9", NodeType::MEMORY)],
                ..Batch::default()
            },
            Batch { nodes: vec![altered], ..Batch::default() },
            Batch { nodes: vec![retyped], ..Batch::default() },
            Batch { removed_nodes: gone.clone(), ..Batch::default() },
            Batch { removed_nodes: gone, nodes: vec![row(9)], ..Batch::default() },
            Batch {
                nodes: (0..700)
                    .map(|n| row(n + 1))
                    .map(|row| NodeRow { external_id: row.external_id + "x", ..row })
                    .collect(),
                ..Batch::default()
            },
        ] {
            let (_, labels, anew) = after(&batch);
            assert!(text(&labels) == text(&anew), "{:?}", batch.removed_nodes);
        }
    }

    #[test]
    fn where_only_ids_change_strings_are_shared() {
        let edge = EdgeRow {
            source: "n1".to_owned(),
            target: "n2".to_owned(),
            relation: "MENTIONS".to_owned(),
            weight: 0.5,
            ..EdgeRow::default()
        };
        let (_, labels, anew) = after(&Batch { edges: vec![edge], ..Batch::default() });
        let text = |labels: &Labels| format!("{:?} {:?}", labels.known, labels.suffixes);
        assert!(text(&labels) == text(&anew));
        for query in ["note 3", "part_5", "not"] {
            assert_eq!(labels.like(query, true), anew.like(query, true));
            assert_eq!(labels.like(query, false), anew.like(query, false));
        }
        let (known, labels, _) =
            after(&Batch { nodes: vec![NodeRow { last_modified: Some(1), ..row(4) }], ..Batch::default() });
        assert!(Arc::ptr_eq(&known, &labels), "an access changes no label");
    }
}

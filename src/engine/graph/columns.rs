//! Attributes of nodes, as a struct of arrays in the order of node ids.
//!
//! *Hot*: PageRank, out-strength, degree and rank, which algorithms read. *Warm*: in-strength, which learning reads.
//! *Cold*: attributes that only results show or filters read. Strings are shared by graphs in which they are the same.
//!
//! # Design notes
//! The source document keeps four columns of activation per node. They would be mutable state that all queries share, so
//! each query has cells of its own instead.

use super::Error;
use super::index::InternedStr;
use super::interner::StringInterner;
use super::kinds::NodeType;
use super::metadata::Metadata;
use super::number::check_amount;
use super::provenance::{Provenance, fields};
use std::ops::Range;
use std::sync::Arc;

/// Greatest number of tags of a node.
pub const TAGS_MAX: usize = 256;

/// A node to add to a graph.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NodeRow {
    /// External id, unique in a graph.
    pub external_id: String,
    /// Text for people.
    pub label: String,
    /// Type.
    pub node_type: NodeType,
    /// Tags; duplicates count once.
    pub tags: Vec<String>,
    /// Time of the last change, epoch milliseconds.
    pub last_modified: Option<i64>,
    /// Changes per day, at least 0.
    pub change_frequency: f32,
    /// Tier.
    pub tier: Option<String>,
    /// Session in which it was last used.
    pub session: Option<String>,
    /// Whether it lacks relationships because their other ends were not loaded.
    pub partial: bool,
    /// Source of the node.
    #[serde(with = "fields")]
    pub provenance: Provenance,
    /// Fields that its writer gave it.
    pub metadata: Option<Metadata>,
}

impl NodeRow {
    /// A node with these attributes and defaults for all others.
    #[must_use]
    pub fn new(external_id: impl Into<String>, label: impl Into<String>, node_type: NodeType) -> Self {
        Self {
            external_id: external_id.into(),
            label: label.into(),
            node_type,
            tags: Vec::new(),
            last_modified: None,
            change_frequency: 0.0,
            tier: None,
            session: None,
            partial: false,
            provenance: Provenance::default(),
            metadata: None,
        }
    }

    pub(super) fn checked(mut self) -> Result<Self, Error> {
        let owner = &self.external_id;
        let frequency = f64::from(self.change_frequency);
        check_amount("change_frequency", || owner.clone(), frequency, f64::from(f32::MAX))?;
        self.provenance = self.provenance.checked(owner)?;
        self.change_frequency += 0.0;
        self.tags.sort_unstable();
        self.tags.dedup();
        self.tags.truncate(TAGS_MAX);
        Ok(self)
    }
}

/// A column of strings that are mostly distinct.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StringColumn {
    bytes: String,
    ends: Vec<u32>,
}

impl StringColumn {
    /// An empty column with room for the ends of so many strings.
    pub(crate) fn with_room(count: usize) -> Self {
        Self { bytes: String::new(), ends: Vec::with_capacity(count) }
    }

    pub(crate) fn push(&mut self, text: &str) -> Result<(), Error> {
        let end = u32::try_from(self.bytes.len() + text.len()).map_err(|_| Error::InternerFull)?;
        self.bytes.push_str(text);
        self.ends.push(end);
        Ok(())
    }

    /// The same column with other texts at some places, which ascend.
    fn replaced<'a>(&self, texts: impl Iterator<Item = (usize, &'a str)>) -> Result<Self, Error> {
        let (bytes, ends) = (String::with_capacity(self.bytes.len()), Vec::with_capacity(self.ends.len()));
        let (mut column, mut from) = (Self { bytes, ends }, 0);
        for (at, text) in texts {
            column.append(self, from..at)?;
            column.push(text)?;
            from = at + 1;
        }
        column.append(self, from..self.ends.len())?;
        column.shrink_to_fit();
        Ok(column)
    }

    /// Adds a range of another column.
    fn append(&mut self, other: &Self, range: Range<usize>) -> Result<(), Error> {
        let [begin, end] = [range.start, range.end].map(|at| other.begin(at));
        let first = self.bytes.len();
        u32::try_from(first + end - begin).map_err(|_| Error::InternerFull)?;
        self.bytes.push_str(&other.bytes[begin..end]);
        let shift = len_of(first).wrapping_sub(len_of(begin));
        self.ends.extend(other.ends[range].iter().map(|end| end.wrapping_add(shift)));
        Ok(())
    }

    fn begin(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.ends[at - 1] as usize }
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(crate) fn get(&self, at: usize) -> &str {
        &self.bytes[self.begin(at)..self.ends[at] as usize]
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.capacity() + 4 * self.ends.capacity()
    }
}

/// A length or position in a column, which is below 4 GiB.
fn len_of(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A column of tags, of which most nodes have few or none.
#[derive(Debug, Clone, Default)]
pub(super) struct TagColumn {
    handles: Vec<InternedStr>,
    ends: Vec<u32>,
}

impl TagColumn {
    fn push(&mut self, tags: impl Iterator<Item = InternedStr>) -> Result<(), Error> {
        self.handles.extend(tags);
        self.ends.push(u32::try_from(self.handles.len()).map_err(|_| Error::InternerFull)?);
        Ok(())
    }

    /// The same column with other tags at some places, which ascend.
    fn replaced<T: Iterator<Item = InternedStr>>(
        &self,
        tags: impl Iterator<Item = (usize, T)>,
    ) -> Result<Self, Error> {
        let ends = Vec::with_capacity(self.ends.len());
        let (mut column, mut from) = (Self { handles: Vec::with_capacity(self.handles.len()), ends }, 0);
        for (at, own) in tags {
            (from..at).try_for_each(|at| column.push(self.get(at).iter().copied()))?;
            column.push(own)?;
            from = at + 1;
        }
        (from..self.ends.len()).try_for_each(|at| column.push(self.get(at).iter().copied()))?;
        Ok(column)
    }

    fn get(&self, at: usize) -> &[InternedStr] {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.handles[begin..self.ends[at] as usize]
    }

    fn bytes(&self) -> usize {
        4 * (self.handles.capacity() + self.ends.capacity())
    }
}

/// All columns, in the order of node ids.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    pub(super) pagerank: Vec<f32>,
    /// Sum of the clamped base weights of excitatory outgoing slots.
    pub(super) out_strength: Vec<f32>,
    /// Number of neighbours in the undirected view.
    pub(super) degree: Vec<u32>,
    /// Position in the order of external ids.
    pub(super) rank: Vec<u32>,
    /// Nodes by rank.
    pub(super) by_rank: Vec<u32>,
    /// Sum of the clamped base weights of excitatory incoming slots.
    pub(super) in_strength: Vec<f64>,
    pub(super) external_id: Arc<StringColumn>,
    pub(super) label: Arc<StringColumn>,
    pub(super) node_type: Vec<u16>,
    pub(super) tags: TagColumn,
    /// `i64::MIN` if unknown.
    pub(super) last_modified: Vec<i64>,
    pub(super) change_frequency: Vec<f32>,
    /// `InternedStr(u32::MAX)` if there is none; likewise for sessions.
    pub(super) tier: Vec<InternedStr>,
    pub(super) session: Vec<InternedStr>,
    pub(super) partial: Vec<bool>,
    pub(super) origin: Vec<Option<Arc<Origin>>>,
    /// Empty if there is none.
    pub(super) metadata: Arc<StringColumn>,
    pub(super) strings: StringInterner,
}

/// The provenance of a node. Many nodes share a file and a namespace, so these are handles, [`NONE`] where unknown.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    source_path: InternedStr,
    namespace: InternedStr,
    line_start: Option<u32>,
    line_end: Option<u32>,
    excerpt: Option<Box<str>>,
    canonical: bool,
}

impl Origin {
    /// The origin with the handles of other strings.
    fn renamed(&self, handle: impl Fn(&InternedStr) -> InternedStr) -> Self {
        let [source_path, namespace] = [handle(&self.source_path), handle(&self.namespace)];
        Self { source_path, namespace, ..self.clone() }
    }

    fn of(row: &Provenance, handle: impl Fn(&String) -> InternedStr) -> Option<Self> {
        let named = |text: &Option<String>| text.as_ref().map_or(NONE, &handle);
        (!row.is_empty()).then(|| Self {
            source_path: named(&row.source_path),
            namespace: named(&row.namespace),
            line_start: row.line_start,
            line_end: row.line_end,
            excerpt: row.excerpt.as_deref().map(Box::from),
            canonical: row.canonical,
        })
    }

    fn told(&self, strings: &StringInterner) -> Provenance {
        Provenance {
            source_path: named(strings, self.source_path).map(str::to_owned),
            namespace: named(strings, self.namespace).map(str::to_owned),
            line_start: self.line_start,
            line_end: self.line_end,
            excerpt: self.excerpt.as_deref().map(str::to_owned),
            canonical: self.canonical,
        }
    }
}

/// The string of a handle, if it is not [`NONE`].
fn named(strings: &StringInterner, handle: InternedStr) -> Option<&str> {
    (handle != NONE).then(|| strings.resolve(handle))
}

const NONE: InternedStr = InternedStr(u32::MAX);
const NEVER: i64 = i64::MIN;

/// Interned strings of all rows, in the order of their bytes, and the new handle of each old one.
pub(super) struct Shared {
    strings: StringInterner,
    renamed: Vec<InternedStr>,
}

/// Interns the strings of rows. Old ones are all of one graph.
pub(super) fn shared<'a>(rows: impl Iterator<Item = RowView<'a>>) -> Result<Shared, Error> {
    let mut seen = StringInterner::default();
    let (mut before, mut used): (Option<&Columns>, Vec<bool>) = (None, Vec::new());
    for row in rows {
        match row {
            RowView::New(row) => {
                let Provenance { source_path, namespace, .. } = &row.provenance;
                let named = [&row.tier, &row.session, source_path, namespace];
                for text in row.tags.iter().chain(named.into_iter().flatten()) {
                    seen.intern(text)?;
                }
            }
            RowView::Old(columns, at) => {
                before = Some(columns);
                used.resize(columns.strings.len(), false);
                let origin = columns.origin[at].as_deref();
                let named = origin.into_iter().flat_map(|known| [&known.source_path, &known.namespace]);
                let own = columns.tags.get(at).iter().chain([&columns.tier[at], &columns.session[at]]);
                own.chain(named)
                    .filter(|handle| **handle != NONE)
                    .for_each(|handle| used[handle.at()] = true);
            }
        }
    }
    let held = before.into_iter().flat_map(|columns| columns.strings.iter().zip(&used));
    let held = held.filter(|(_, used)| **used).map(|(text, _)| text);
    let mut texts: Vec<&str> = seen.iter().chain(held).collect();
    texts.sort_unstable();
    let mut strings = StringInterner::default();
    for text in texts {
        strings.intern(text)?;
    }
    let now = |text: &str| strings.find(text).unwrap_or(NONE);
    let renamed = before.map_or_else(Vec::new, |columns| columns.strings.iter().map(now).collect());
    Ok(Shared { strings, renamed })
}

impl Columns {
    /// Builds columns from rows with these interned strings.
    pub(super) fn of<'a>(
        shared: Shared,
        rows: impl ExactSizeIterator<Item = RowView<'a>>,
    ) -> Result<Self, Error> {
        let mut columns = Self::with_room(rows.len());
        let mut texts = [(); 3].map(|()| StringColumn::with_room(rows.len()));
        let Shared { strings, renamed } = shared;
        for row in rows {
            columns.push(row, &strings, &renamed)?;
            let own = [row.external_id(), row.label(), row.metadata().unwrap_or_default()];
            texts.iter_mut().zip(own).try_for_each(|(column, text)| column.push(text))?;
        }
        texts.iter_mut().for_each(StringColumn::shrink_to_fit);
        let [external_id, label, metadata] = texts.map(Arc::new);
        Ok(Self { external_id, label, metadata, strings, ..columns })
    }

    /// As [`Self::of`], one column after the other: rows of a graph are mostly in the order of its columns.
    pub(super) fn by_column<'a, I: ExactSizeIterator<Item = RowView<'a>>>(
        shared: Shared,
        rows: impl Fn() -> I,
    ) -> Result<Self, Error> {
        let Shared { strings, renamed } = shared;
        let texts = |text: fn(RowView<'a>) -> &'a str| -> Result<Arc<StringColumn>, Error> {
            let mut column = StringColumn::with_room(rows().len());
            rows().try_for_each(|row| column.push(text(row)))?;
            column.shrink_to_fit();
            Ok(Arc::new(column))
        };
        let new = |text: &String| strings.find(text).unwrap_or(NONE);
        let old = |handle: InternedStr| renamed.get(handle.at()).copied().unwrap_or(NONE);
        let mut tags = TagColumn { handles: Vec::new(), ends: Vec::with_capacity(rows().len()) };
        rows().try_for_each(|row| match row {
            RowView::New(row) => tags.push(row.tags.iter().map(new)),
            RowView::Old(columns, at) => tags.push(columns.tags.get(at).iter().copied().map(old)),
        })?;
        let tier = rows().map(|row| match row {
            RowView::New(row) => row.tier.as_ref().map_or(NONE, new),
            RowView::Old(columns, at) => old(columns.tier[at]),
        });
        let session = rows().map(|row| match row {
            RowView::New(row) => row.session.as_ref().map_or(NONE, new),
            RowView::Old(columns, at) => old(columns.session[at]),
        });
        let origin = rows().map(|row| match row {
            RowView::New(row) => Origin::of(&row.provenance, new).map(Arc::new),
            RowView::Old(columns, at) => {
                columns.origin[at].as_deref().map(|known| Arc::new(known.renamed(|handle| old(*handle))))
            }
        });
        Ok(Self {
            external_id: texts(RowView::external_id)?,
            label: texts(RowView::label)?,
            metadata: texts(|row| row.metadata().unwrap_or_default())?,
            node_type: rows().map(|row| row.node_type().code()).collect(),
            tags,
            last_modified: rows().map(|row| row.last_modified().unwrap_or(NEVER)).collect(),
            change_frequency: rows().map(RowView::change_frequency).collect(),
            tier: tier.collect(),
            session: session.collect(),
            partial: rows().map(RowView::partial).collect(),
            origin: origin.collect(),
            strings,
            ..Self::default()
        })
    }

    /// The columns of the same nodes, some with other attributes: rows in the order of ids.
    pub(super) fn after<'a>(
        before: &Self,
        shared: Shared,
        given: impl Iterator<Item = (usize, &'a NodeRow)> + Clone,
    ) -> Result<Self, Error> {
        let Shared { strings, renamed } = shared;
        let mut columns = Self { strings, ..before.clone() };
        columns.rename(&renamed);
        let texts = |column: &Arc<StringColumn>, text: fn(&'a NodeRow) -> &'a str| {
            let texts = given.clone().map(|(at, row)| (at, text(row)));
            let is_same = texts.clone().all(|(at, text)| column.get(at) == text);
            if is_same { Ok(Arc::clone(column)) } else { column.replaced(texts).map(Arc::new) }
        };
        columns.label = texts(&before.label, |row| &row.label)?;
        columns.metadata = texts(&before.metadata, |row| RowView::New(row).metadata().unwrap_or_default())?;
        let handle = |text: &String| columns.strings.find(text).unwrap_or(NONE);
        columns.tags =
            columns.tags.replaced(given.clone().map(|(at, row)| (at, row.tags.iter().map(handle))))?;
        for (at, row) in given {
            columns.node_type[at] = row.node_type.code();
            columns.last_modified[at] = row.last_modified.unwrap_or(NEVER);
            columns.change_frequency[at] = row.change_frequency;
            columns.tier[at] = row.tier.as_ref().map_or(NONE, handle);
            columns.session[at] = row.session.as_ref().map_or(NONE, handle);
            columns.partial[at] = row.partial;
            columns.origin[at] = Origin::of(&row.provenance, handle).map(Arc::new);
        }
        Ok(columns)
    }

    /// Sets the new handles of interned strings, if any is another.
    fn rename(&mut self, renamed: &[InternedStr]) {
        if renamed.iter().enumerate().all(|(at, handle)| at == handle.at()) {
            return;
        }
        let now = |handle: &InternedStr| renamed.get(handle.at()).copied().unwrap_or(NONE);
        let handles = self.tags.handles.iter_mut().chain(&mut self.tier).chain(&mut self.session);
        handles.for_each(|handle| *handle = now(handle));
        for origin in self.origin.iter_mut().flatten() {
            *origin = Arc::new(origin.renamed(now));
        }
    }

    /// Empty columns with this capacity.
    fn with_room(count: usize) -> Self {
        Self {
            node_type: Vec::with_capacity(count),
            tags: TagColumn { handles: Vec::new(), ends: Vec::with_capacity(count) },
            last_modified: Vec::with_capacity(count),
            change_frequency: Vec::with_capacity(count),
            tier: Vec::with_capacity(count),
            session: Vec::with_capacity(count),
            partial: Vec::with_capacity(count),
            origin: Vec::with_capacity(count),
            ..Self::default()
        }
    }

    fn push(
        &mut self,
        row: RowView<'_>,
        strings: &StringInterner,
        renamed: &[InternedStr],
    ) -> Result<(), Error> {
        match row {
            RowView::New(row) => {
                let handle = |text: &String| strings.find(text).unwrap_or(NONE);
                self.tier.push(row.tier.as_ref().map_or(NONE, handle));
                self.session.push(row.session.as_ref().map_or(NONE, handle));
                self.tags.push(row.tags.iter().map(handle))?;
                self.origin.push(Origin::of(&row.provenance, handle).map(Arc::new));
            }
            RowView::Old(columns, at) => {
                let handle = |before: &InternedStr| renamed.get(before.at()).copied().unwrap_or(NONE);
                self.tier.push(handle(&columns.tier[at]));
                self.session.push(handle(&columns.session[at]));
                self.tags.push(columns.tags.get(at).iter().map(handle))?;
                let origin = columns.origin[at].as_deref();
                self.origin.push(origin.map(|known| Arc::new(known.renamed(handle))));
            }
        }
        self.node_type.push(row.node_type().code());
        self.last_modified.push(row.last_modified().unwrap_or(NEVER));
        self.change_frequency.push(row.change_frequency());
        self.partial.push(row.partial());
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.node_type.len()
    }

    /// Size in bytes, with strings.
    pub(super) fn bytes(&self) -> usize {
        let origins = self.origin.iter().flatten();
        let origins: usize =
            origins.map(|known| size_of::<Origin>() + known.excerpt.as_deref().map_or(0, str::len)).sum();
        let fixed = 4 * 5 + 8 + 2 + 8 + 4 + 4 + 4 + 1 + 8;
        self.len() * fixed
            + self.tags.bytes()
            + origins
            + self.external_id.bytes()
            + self.label.bytes()
            + self.metadata.bytes()
            + self.strings.bytes()
    }
}

/// A row of a node: new, or of an existing graph.
#[derive(Clone, Copy)]
pub(super) enum RowView<'a> {
    New(&'a NodeRow),
    Old(&'a Columns, usize),
}

impl<'a> RowView<'a> {
    pub(super) fn external_id(self) -> &'a str {
        match self {
            Self::New(row) => &row.external_id,
            Self::Old(columns, at) => columns.external_id.get(at),
        }
    }

    pub(super) fn label(self) -> &'a str {
        match self {
            Self::New(row) => &row.label,
            Self::Old(columns, at) => columns.label.get(at),
        }
    }

    pub(super) fn node_type(self) -> NodeType {
        match self {
            Self::New(row) => row.node_type,
            Self::Old(columns, at) => NodeType::of_code(columns.node_type[at]).unwrap_or(NodeType::Concept),
        }
    }

    pub(super) fn tags(self) -> impl Iterator<Item = &'a str> {
        let (new, old) = match self {
            Self::New(row) => (Some(row), None),
            Self::Old(columns, at) => (None, Some((columns, at))),
        };
        let new = new.into_iter().flat_map(|row| row.tags.iter().map(String::as_str));
        let old = old.into_iter();
        new.chain(
            old.flat_map(|(columns, at)| {
                columns.tags.get(at).iter().map(|tag| columns.strings.resolve(*tag))
            }),
        )
    }

    pub(super) fn last_modified(self) -> Option<i64> {
        match self {
            Self::New(row) => row.last_modified,
            Self::Old(columns, at) => Some(columns.last_modified[at]).filter(|ms| *ms != NEVER),
        }
    }

    pub(super) fn change_frequency(self) -> f32 {
        match self {
            Self::New(row) => row.change_frequency,
            Self::Old(columns, at) => columns.change_frequency[at],
        }
    }

    pub(super) fn tier(self) -> Option<&'a str> {
        match self {
            Self::New(row) => row.tier.as_deref(),
            Self::Old(columns, at) => named(&columns.strings, columns.tier[at]),
        }
    }

    pub(super) fn session(self) -> Option<&'a str> {
        match self {
            Self::New(row) => row.session.as_deref(),
            Self::Old(columns, at) => named(&columns.strings, columns.session[at]),
        }
    }

    pub(super) fn partial(self) -> bool {
        match self {
            Self::New(row) => row.partial,
            Self::Old(columns, at) => columns.partial[at],
        }
    }

    /// `None` if nothing is known.
    pub(super) fn provenance(self) -> Option<Provenance> {
        match self {
            Self::New(row) => Some(row.provenance.clone()).filter(|known| !known.is_empty()),
            Self::Old(columns, at) => columns.origin[at].as_deref().map(|known| known.told(&columns.strings)),
        }
    }

    /// Canonical JSON.
    pub(super) fn metadata(self) -> Option<&'a str> {
        match self {
            Self::New(row) => row.metadata.as_ref().map(Metadata::as_str),
            Self::Old(columns, at) => Some(columns.metadata.get(at)).filter(|text| !text.is_empty()),
        }
    }

    /// Copies it to an owned row.
    pub(super) fn to_row(self) -> NodeRow {
        NodeRow {
            external_id: self.external_id().to_owned(),
            label: self.label().to_owned(),
            node_type: self.node_type(),
            tags: self.tags().map(str::to_owned).collect(),
            last_modified: self.last_modified(),
            change_frequency: self.change_frequency(),
            tier: self.tier().map(str::to_owned),
            session: self.session().map(str::to_owned),
            partial: self.partial(),
            provenance: self.provenance().unwrap_or_default(),
            metadata: self.metadata().map(Metadata::canonical),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_tags_is_kept() {
        let row = |n: usize| NodeRow {
            tags: (0..n).rev().map(|i| format!("t{i}")).collect(),
            ..NodeRow::new(format!("n{n}"), "l", NodeType::Concept)
        };
        let rows: Vec<NodeRow> = [0, 6, 7].map(|n| row(n).checked().unwrap()).to_vec();
        let views = || rows.iter().map(RowView::New);
        let columns = Columns::of(shared(views()).unwrap(), views()).unwrap();
        assert_eq!((0..3).map(|at| columns.tags.get(at).len()).collect::<Vec<_>>(), [0, 6, 7]);
        for (at, row) in rows.iter().enumerate() {
            assert_eq!(RowView::Old(&columns, at).to_row(), *row);
        }
    }

    #[test]
    fn columns_bytes() {
        let rows: Vec<NodeRow> =
            (0..1_000).map(|i| NodeRow::new(format!("n{i}"), "label", NodeType::MEMORY)).collect();
        let views = || rows.iter().map(RowView::New);
        let columns = Columns::of(shared(views()).unwrap(), views()).unwrap();
        assert_eq!(columns.len(), 1_000);
        let lengths = [
            columns.tags.ends.len(),
            columns.last_modified.len(),
            columns.change_frequency.len(),
            columns.tier.len(),
            columns.session.len(),
            columns.partial.len(),
            columns.origin.len(),
        ];
        assert!(lengths.iter().all(|len| *len == 1_000));
        assert!((70..100).contains(&(columns.bytes() / 1_000)), "{}", columns.bytes());
    }

    #[test]
    fn invalid_frequencies_are_reported_by_name() {
        for bad in [f32::NAN, f32::INFINITY, -1.0] {
            let row = NodeRow { change_frequency: bad, ..NodeRow::new("n1", "l", NodeType::Concept) };
            assert!(row.checked().unwrap_err().to_string().contains("n1"));
        }
    }
}

//! Annotations of a memory: its tags, its metadata, and the source of its text.
//!
//! A memory that is stored again keeps what it has: its tags are those of both requests, fields of the later metadata are
//! added where it has none of their name, and its provenance is merged as by [`Provenance::merged`].
//!
//! Invariant: the order of requests does not change the tags, nor the lines (held by `merging_is_a_union`).

use ebb_engine::graph::columns;
pub use ebb_engine::graph::metadata::{Fields, METADATA_BYTES_MAX, Metadata, MetadataError, MetadataFilter};
pub use ebb_engine::graph::provenance::{NAMESPACE_CHARS_MAX, Provenance, TEXT_CHARS_MAX};
use std::collections::BTreeSet;

/// Most tags of one memory.
pub const TAGS_MAX: usize = columns::TAGS_MAX;
/// Longest tag, in characters.
pub const TAG_CHARS_MAX: usize = 256;

/// Tags, metadata and provenance, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    tags: BTreeSet<String>,
    metadata: Option<Metadata>,
    /// Boxed: most events have none.
    provenance: Box<Provenance>,
}

/// Annotations that cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationError {
    #[error("{0} is empty")]
    Empty(&'static str),
    #[error("{what} has {count} characters; at most {max} are kept")]
    TooLong { what: &'static str, count: usize, max: usize },
    #[error("{what} contains the control character U+{code:04X}")]
    Control { what: &'static str, code: u32 },
    /// Too many tags, after a merge with those of the memory.
    #[error("the memory would have {0} tags; at most {TAGS_MAX} are kept")]
    TooManyTags(usize),
    #[error("{0} is 0; lines count from 1")]
    LineZero(&'static str),
    #[error("line_end is {0}, and line_start is missing")]
    NoStart(u32),
    #[error("line_start is {start}, after line_end, {end}")]
    Reversed { start: u32, end: u32 },
    #[error(transparent)]
    Metadata(#[from] MetadataError),
}

/// Checks a text and removes the blanks around it.
fn text(what: &'static str, given: &str, max: usize) -> Result<String, AnnotationError> {
    let trimmed = given.trim();
    let count = trimmed.chars().count();
    if count == 0 {
        return Err(AnnotationError::Empty(what));
    }
    if count > max {
        return Err(AnnotationError::TooLong { what, count, max });
    }
    Ok(trimmed.to_owned())
}

/// [`text`] on one line.
fn line(what: &'static str, given: &str, max: usize) -> Result<String, AnnotationError> {
    let checked = text(what, given, max)?;
    match checked.chars().find(|c| c.is_control()) {
        Some(c) => Err(AnnotationError::Control { what, code: u32::from(c) }),
        None => Ok(checked),
    }
}

impl Annotations {
    /// Checks tags and a provenance: texts that are not blank and not too long, without control characters except in the
    /// excerpt; lines from 1 in their order, a last one only with a first. Repeated tags count once.
    pub fn new(tags: &[String], given: Provenance) -> Result<Self, AnnotationError> {
        let tags = checked_tags(tags)?;
        for (name, number) in [("line_start", given.line_start), ("line_end", given.line_end)] {
            if number == Some(0) {
                return Err(AnnotationError::LineZero(name));
            }
        }
        match (given.line_start, given.line_end) {
            (None, Some(end)) => return Err(AnnotationError::NoStart(end)),
            (Some(start), Some(end)) if start > end => return Err(AnnotationError::Reversed { start, end }),
            _ => {}
        }
        type Check = fn(&'static str, &str, usize) -> Result<String, AnnotationError>;
        let checked = |check: Check, what, given: Option<String>, max| {
            given.map(|given| check(what, &given, max)).transpose()
        };
        let provenance = Provenance {
            source_path: checked(line, "the source path", given.source_path, TEXT_CHARS_MAX)?,
            excerpt: checked(text, "the excerpt", given.excerpt, TEXT_CHARS_MAX)?,
            namespace: checked(line, "the namespace", given.namespace, NAMESPACE_CHARS_MAX)?,
            ..given
        };
        Self { tags, metadata: None, provenance: Box::new(provenance) }.within_bounds()
    }

    /// These with metadata.
    #[must_use]
    pub fn with_metadata(self, metadata: Option<Metadata>) -> Self {
        Self { metadata, ..self }
    }

    /// Annotations as they are stored, by whichever writer.
    #[must_use]
    pub fn stored(tags: Vec<String>, metadata: Option<Metadata>, provenance: Provenance) -> Self {
        Self { tags: tags.into_iter().collect(), metadata, provenance: Box::new(provenance) }
    }

    /// These with other tags and metadata; `None` leaves the tags, and an empty patch the metadata.
    ///
    /// # Errors
    /// Tags or metadata that cannot be stored.
    pub fn updated(&self, tags: Option<&[String]>, patch: &Fields) -> Result<Self, AnnotationError> {
        let metadata = Metadata::patched(self.metadata(), patch)?;
        let tags = tags.map(checked_tags).transpose()?;
        let is_given = tags.is_some();
        let updated = Self {
            tags: tags.unwrap_or_else(|| self.tags.clone()),
            metadata,
            provenance: self.provenance.clone(),
        };
        if is_given { updated.within_bounds() } else { Ok(updated) }
    }

    fn within_bounds(self) -> Result<Self, AnnotationError> {
        if self.tags.len() > TAGS_MAX {
            return Err(AnnotationError::TooManyTags(self.tags.len()));
        }
        Ok(self)
    }

    /// The tags, in order.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().map(String::as_str)
    }

    /// The metadata.
    #[must_use]
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// The source of the text.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.metadata.is_none() && self.provenance.is_empty()
    }

    /// The same without the source.
    #[must_use]
    pub fn without_provenance(self) -> Self {
        Self { provenance: Box::default(), ..self }
    }

    /// Merges those of a memory with those of a later request.
    ///
    /// # Errors
    /// [`AnnotationError::TooManyTags`], and metadata that is too long. A memory to which another writer gave more tags keeps
    /// them as long as none is added.
    pub fn merged(&self, later: &Self) -> Result<Self, AnnotationError> {
        let provenance = self.provenance().clone().merged(later.provenance().clone());
        let tags: BTreeSet<String> = self.tags.union(&later.tags).cloned().collect();
        let adds = tags.len() > self.tags.len();
        let metadata = Metadata::merged(self.metadata(), later.metadata())?;
        let merged = Self { tags, metadata, provenance: Box::new(provenance) };
        if adds { merged.within_bounds() } else { Ok(merged) }
    }

    /// Approximate size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let Provenance { source_path, excerpt, namespace, .. } = self.provenance();
        let texts = [source_path, excerpt, namespace].into_iter().flatten();
        let metadata = self.metadata().map_or(0, |known| known.as_str().len());
        self.tags.iter().chain(texts).map(|text| text.len() + 5).sum::<usize>() + metadata + 16
    }
}

fn checked_tags(tags: &[String]) -> Result<BTreeSet<String>, AnnotationError> {
    tags.iter().map(|tag| line("a tag", tag, TAG_CHARS_MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;

    fn tags(tags: &[&str]) -> Result<Annotations, AnnotationError> {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        Annotations::new(&tags, Provenance::default())
    }

    fn origin(provenance: Provenance) -> Result<Annotations, AnnotationError> {
        Annotations::new(&[], provenance)
    }

    /// Few different values, so that they coincide, as a request may give them.
    fn few() -> impl Strategy<Value = Annotations> {
        let lines = of((1_u32..9, of(0_u32..9)));
        let texts = [of("[ab]"), of("[ab]"), of("[ab]")];
        let fields = proptest::collection::btree_map("[a-c]", 0_i64..3, 0..3);
        (vec("[a-f]", 0..5), lines, texts, any::<bool>(), fields).prop_map(
            |(tags, lines, texts, canonical, fields)| {
                let [source_path, excerpt, namespace] = texts;
                let line_start = lines.map(|(start, _)| start);
                let line_end = lines.and_then(|(start, more)| Some(start + more?));
                let given = Provenance { source_path, line_start, line_end, excerpt, namespace, canonical };
                let fields = fields.into_iter().map(|(name, value)| (name, value.into())).collect();
                Annotations::new(&tags, given).unwrap().with_metadata(Metadata::new(fields).unwrap())
            },
        )
    }

    proptest! {
        #[test]
        fn merging_is_a_union(a in few(), b in few(), c in few()) {
            let merged = |one: &Annotations, other: &Annotations| one.merged(other).unwrap();
            prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
            prop_assert_eq!(&merged(&a, &a), &a);
            prop_assert_eq!(&merged(&merged(&a, &b), &b), &merged(&a, &b));
            prop_assert_eq!(&merged(&a, &Annotations::default()), &a);
            let (one, other) = (merged(&a, &b), merged(&b, &a));
            prop_assert_eq!(&one.tags, &other.tags);
            let lines = |of: &Annotations| (of.provenance.line_start, of.provenance.line_end);
            prop_assert_eq!(lines(&one), lines(&other));
            // What a merge leaves could be requested.
            let tags: Vec<String> = one.tags().map(str::to_owned).collect();
            let again = Annotations::new(&tags, one.provenance().clone()).unwrap();
            prop_assert_eq!(again.with_metadata(one.metadata().cloned()), one);
        }
    }

    #[test]
    fn tags_are_trimmed_and_each_is_kept_once() {
        let kept = tags(&[" b ", "a", "b", "#b"]).unwrap();
        assert_eq!(kept.tags().collect::<Vec<_>>(), ["#b", "a", "b"]);
        assert!(tags(&[]).unwrap().is_empty());
        assert_eq!(tags(&["a", " "]).unwrap_err().to_string(), "a tag is empty");
        assert_eq!(
            tags(&["a\u{7}b"]).unwrap_err().to_string(),
            "a tag contains the control character U+0007"
        );
        let longest = "ü".repeat(TAG_CHARS_MAX);
        assert!(tags(&[&longest]).is_ok());
        let why = tags(&[&format!("{longest}.")]).unwrap_err().to_string();
        assert_eq!(why, "a tag has 257 characters; at most 256 are kept");
    }

    #[test]
    fn a_merge_beyond_the_bound_is_refused_unless_it_adds_nothing() {
        let numbered = |range: std::ops::Range<usize>| range.map(|n| n.to_string()).collect::<Vec<_>>();
        let new = |range| Annotations::new(&numbered(range), Provenance::default());
        let full = new(0..TAGS_MAX).unwrap();
        assert_eq!(new(0..TAGS_MAX + 1), Err(AnnotationError::TooManyTags(TAGS_MAX + 1)));
        assert_eq!(full.merged(&new(5..9).unwrap()), Ok(full.clone()));
        assert_eq!(
            full.merged(&new(300..302).unwrap()),
            Err(AnnotationError::TooManyTags(TAGS_MAX + 2)),
            "256 tags and two more"
        );
        let others = Annotations::stored(numbered(0..300), None, Provenance::default());
        assert_eq!(others.merged(&new(5..9).unwrap()), Ok(others.clone()));
        assert!(others.merged(&new(300..301).unwrap()).is_err());
    }

    #[test]
    fn lines_and_texts_of_a_source_are_checked() {
        let lines =
            |line_start, line_end| origin(Provenance { line_start, line_end, ..Provenance::default() });
        assert!(lines(Some(3), Some(3)).is_ok() && lines(Some(3), None).is_ok());
        let fault = |given: Result<Annotations, AnnotationError>| given.unwrap_err().to_string();
        assert_eq!(fault(lines(Some(0), Some(3))), "line_start is 0; lines count from 1");
        assert_eq!(fault(lines(Some(1), Some(0))), "line_end is 0; lines count from 1");
        assert_eq!(fault(lines(None, Some(3))), "line_end is 3, and line_start is missing");
        assert_eq!(fault(lines(Some(4), Some(3))), "line_start is 4, after line_end, 3");
        let path =
            |path: &str| origin(Provenance { source_path: Some(path.to_owned()), ..Provenance::default() });
        assert_eq!(path(" a.md ").unwrap().provenance().source_path.as_deref(), Some("a.md"));
        assert_eq!(fault(path("")), "the source path is empty");
        assert!(fault(path("a\nb")).ends_with("U+000A"));
        let excerpt = |of: String| origin(Provenance { excerpt: Some(of), ..Provenance::default() });
        assert!(excerpt("two\nlines".to_owned()).is_ok());
        assert!(fault(excerpt("x".repeat(TEXT_CHARS_MAX + 1))).starts_with("the excerpt has 4097"));
    }
}

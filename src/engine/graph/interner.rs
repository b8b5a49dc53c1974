//! String interner: one arena of bytes, its offsets, and a hash table of handles.
//!
//! For strings that many nodes or slots share: relationship types, tags, sessions, namespaces. Handles are given in the
//! order of insertion, so they never decide an order; a finished graph interns its strings in the order of their bytes, so
//! that the same content gives the same arrays.

use super::Error;
use super::index::InternedStr;
use std::hash::{BuildHasher, RandomState};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Interned strings and their handles.
#[derive(Debug, Clone)]
pub struct StringInterner {
    bytes: String,
    ends: Vec<u32>,
    /// Open addressing by the hash of the string; `u32::MAX` marks a free cell.
    table: Vec<u32>,
    /// Chosen anew for each interner, so that nobody chooses strings by their cells.
    seed: u64,
}

const FREE: u32 = u32::MAX;

impl Default for StringInterner {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(FREE);
        Self { bytes: String::new(), ends: Vec::new(), table: vec![FREE; 16], seed }
    }
}

impl StringInterner {
    /// Number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it has no strings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The handle of a string, which is added if it is new.
    ///
    /// # Errors
    /// [`Error::InternerFull`] beyond 4 GiB of text or 2^32 strings.
    pub fn intern(&mut self, text: &str) -> Result<InternedStr, Error> {
        let place = self.place(text);
        if self.table[place] != FREE {
            return Ok(InternedStr(self.table[place]));
        }
        let handle = u32::try_from(self.ends.len()).ok().filter(|handle| *handle != FREE);
        let end = u32::try_from(self.bytes.len() + text.len()).ok();
        let (Some(handle), Some(end)) = (handle, end) else { return Err(Error::InternerFull) };
        self.bytes.push_str(text);
        self.ends.push(end);
        self.table[place] = handle;
        if self.ends.len() * 2 > self.table.len() {
            self.grow();
        }
        Ok(InternedStr(handle))
    }

    /// The handle of a string, if it was interned.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<InternedStr> {
        Some(self.table[self.place(text)]).filter(|handle| *handle != FREE).map(InternedStr)
    }

    /// The string of a handle; empty for a handle of another interner.
    #[must_use]
    pub fn resolve(&self, handle: InternedStr) -> &str {
        let at = handle.at();
        let begin = if at == 0 { 0 } else { self.ends.get(at - 1).map_or(0, |end| *end as usize) };
        self.ends.get(at).and_then(|end| self.bytes.get(begin..*end as usize)).unwrap_or_default()
    }

    /// All strings, in the order of their handles.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.resolve(InternedStr(u32::try_from(at).unwrap_or(FREE))))
    }

    /// The cell of a string in the table, or the free cell where it would be.
    fn place(&self, text: &str) -> usize {
        let mask = self.table.len() - 1;
        let hash = xxh3_64_with_seed(text.as_bytes(), self.seed);
        let mut place = usize::try_from(hash & (mask as u64)).unwrap_or(0);
        while self.table[place] != FREE && self.resolve(InternedStr(self.table[place])) != text {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        self.table = vec![FREE; self.table.len() * 2];
        for handle in 0..u32::try_from(self.ends.len()).unwrap_or(FREE) {
            let place = self.place(self.resolve(InternedStr(handle)));
            self.table[place] = handle;
        }
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.capacity() + 4 * (self.ends.capacity() + self.table.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn interner_model(texts in proptest::collection::vec(".{0,12}", 0..200)) {
            let (mut interner, mut model) = (StringInterner::default(), BTreeMap::new());
            for text in &texts {
                let handle = interner.intern(text).unwrap();
                let known = model.entry(text.clone()).or_insert(handle);
                prop_assert_eq!(*known, handle);
                prop_assert_eq!(interner.find(text), Some(handle));
            }
            prop_assert_eq!(interner.len(), model.len());
            for (text, handle) in &model {
                prop_assert_eq!(interner.resolve(*handle), text);
            }
        }
    }

    #[test]
    fn a_million_strings_and_no_more_room_on_repeat() {
        let mut interner = StringInterner::default();
        for i in 0..1_000_000 {
            assert_eq!(interner.intern(&format!("s{i}")).unwrap().at(), i);
        }
        let bytes = interner.bytes();
        for i in (0..1_000_000).step_by(7) {
            assert_eq!(interner.intern(&format!("s{i}")).unwrap().at(), i);
        }
        assert_eq!(interner.bytes(), bytes);
        assert_eq!(interner.resolve(InternedStr(2_000_000)), "");
        assert_eq!(interner.find("s1000000"), None);
    }
}

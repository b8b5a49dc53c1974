//! Each string once: one arena of bytes, where each begins, and a table of handles for look-up.
//!
//! For what many nodes or slots share: names of relations, tags, sessions, namespaces. A handle says which string came
//! when, so it never decides an order; a finished graph holds its strings in the order of their bytes, so that the same
//! content is the same arrays.

use super::Error;
use super::index::InternedStr;
use std::hash::{BuildHasher, RandomState};

/// Strings and their handles.
#[derive(Debug, Clone)]
pub struct StringInterner {
    bytes: String,
    ends: Vec<u32>,
    /// Open addressing by the hash of the string; `u32::MAX` is free.
    table: Vec<u32>,
    state: RandomState,
}

const FREE: u32 = u32::MAX;

impl Default for StringInterner {
    fn default() -> Self {
        Self { bytes: String::new(), ends: Vec::new(), table: vec![FREE; 16], state: RandomState::new() }
    }
}

impl StringInterner {
    /// How many strings it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The handle of a string, which is kept if it is new.
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

    /// The handle of a string that is held.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<InternedStr> {
        Some(self.table[self.place(text)]).filter(|handle| *handle != FREE).map(InternedStr)
    }

    /// The string of a handle of this interner; empty for that of another.
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

    /// Where a string stands in the table, or would.
    fn place(&self, text: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut place = usize::try_from(self.state.hash_one(text) & (mask as u64)).unwrap_or(0);
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

    /// Bytes it takes in memory.
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

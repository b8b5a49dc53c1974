//! The keys that a transaction changes, recorded when it commits (see `change`).

use std::collections::BTreeSet;

/// Above this number of keys a change is recorded as "everything": reading so many one by one costs more than a full
/// load.
const KEYS_MAX: usize = 50_000;

/// A node that changed, or of which some relationships changed; without a label all of a scope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Touched {
    pub label: String,
    /// Scope; empty in records from before ids were unique per scope.
    pub scope: String,
    /// `id`, or `name` of an entity.
    pub key: String,
    /// Type of the relationships that were added, removed or changed, in either direction; empty if the node itself
    /// changed.
    pub kind: String,
}

/// The scopes that a change concerns; `None` if that may be any.
pub(super) fn scopes<'t>(
    everything: bool,
    touched: impl IntoIterator<Item = &'t Touched>,
) -> Option<BTreeSet<&'t str>> {
    let scopes: BTreeSet<&str> = touched.into_iter().map(|one| one.scope.as_str()).collect();
    Some(scopes).filter(|scopes| !everything && !scopes.contains(""))
}

/// The response to a request, recorded with what the transaction changed.
#[derive(Debug)]
pub(super) struct Receipt {
    pub(super) request: String,
    /// Hash of its contents; `None` where its id is new, so that nobody can repeat it.
    pub(super) hash: Option<String>,
    pub(super) by: String,
    /// Seed of the ids that it created.
    pub(super) seed: Option<String>,
    pub(super) answer: String,
    pub(super) unlearned: Option<Unlearned>,
}

/// Bytes of a part of a response.
const ANSWER_PART: usize = 6_000;
/// Most bytes of a response that is sent in parts. Each part is stored with all before it once more, so to send a larger
/// one at once takes less time, though the driver delays that request (see `encode`).
const ANSWER_IN_PARTS: usize = 16 * ANSWER_PART;

impl Receipt {
    /// Approximate bytes of it, without later parts of its response, in a request to the server.
    pub(super) fn bytes(&self) -> usize {
        let active = self.unlearned.iter().flat_map(|one| &one.active).map(|id| id.len() + 3);
        let texts = [&self.hash, &self.seed].into_iter().flatten().map(String::len);
        let answer = self.answer.len().min(self.part());
        self.request.len() + self.by.len() + answer + active.chain(texts).sum::<usize>() + 24
    }

    /// Bytes of a part of its response.
    fn part(&self) -> usize {
        if self.answer.len() > ANSWER_IN_PARTS { self.answer.len() } else { ANSWER_PART }
    }

    /// The response in parts: that of some hundred items would make a request that the driver delays (see `encode`).
    pub(super) fn answer_parts(&self) -> impl Iterator<Item = &str> {
        let (mut rest, part) = (self.answer.as_str(), self.part());
        std::iter::from_fn(move || {
            let mut end = rest.len().min(part);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (part, later) = rest.split_at(end);
            rest = later;
            (!part.is_empty()).then_some(part)
        })
    }
}

/// An outcome that waits on its request to be learned.
#[derive(Debug)]
pub(super) struct Unlearned {
    /// The learner's.
    pub(super) scope: String,
    pub(super) active: Vec<String>,
    pub(super) reward: f64,
}

/// Changes of a transaction so far.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether more changed than is named.
    pub(super) everything: bool,
    pub(super) touched: BTreeSet<Touched>,
    /// Caller of the change; `None` for a job.
    pub(super) by: Option<String>,
    /// Whether an earlier request made it.
    pub(super) is_repeated: bool,
    /// Seed of the ids that the request creates.
    pub(super) seed: Option<String>,
    pub(super) unlearned: Option<Unlearned>,
    /// The responses to its requests, once they are known.
    pub(super) receipts: Vec<Receipt>,
}

impl Changes {
    /// Records a change of a node or, with a `kind`, of some of its relationships of that type.
    pub(super) fn touch(&mut self, label: &str, scope: &str, key: &str, kind: &str) {
        if self.touched.len() >= KEYS_MAX {
            self.touch_everything();
        }
        if !self.everything {
            let [label, scope, key, kind] = [label, scope, key, kind].map(str::to_owned);
            self.touched.insert(Touched { label, scope, key, kind });
        }
    }

    /// Records that more of a scope changed than can be named.
    pub(super) fn touch_scope(&mut self, scope: &str) {
        self.touch("", scope, "", "");
    }

    /// Records that more changed than can be named.
    pub(super) fn touch_everything(&mut self) {
        self.everything = true;
        self.touched.clear();
    }

    /// The scopes of which something changed; `None` if that may be any.
    pub(super) fn scopes(&self) -> Option<BTreeSet<&str>> {
        scopes(self.everything, &self.touched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(answer: String) -> Receipt {
        let request = "a request".to_owned();
        Receipt { request, hash: None, by: "a test".to_owned(), seed: None, answer, unlearned: None }
    }

    #[test]
    fn a_response_is_the_sum_of_its_parts_and_a_large_one_is_whole() {
        for length in
            [0, 1, ANSWER_PART - 1, ANSWER_PART, ANSWER_PART + 1, ANSWER_IN_PARTS - 4, ANSWER_IN_PARTS + 1]
        {
            // A character of several bytes may lie across the end of a part.
            for text in ["a", "é", "a😀"] {
                let one = receipt(text.repeat(length / text.len()));
                let parts: Vec<&str> = one.answer_parts().collect();
                assert_eq!(parts.concat(), one.answer, "{length} bytes of {text}");
                assert!(
                    one.answer.len() > ANSWER_IN_PARTS || parts.iter().all(|part| part.len() <= ANSWER_PART)
                );
                assert!(one.bytes() < 8_000 || parts.len() == 1);
            }
        }
    }
}

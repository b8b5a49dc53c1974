//! Stop words: English and Portuguese, folded.

/// Including the pieces of contractions (`don't` is `don` and `t`).
#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "between", "both", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "don", "down",
    "during", "each", "few", "for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "hers", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "ll", "m", "me", "more", "most", "my", "no", "nor",
    "not", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own", "re", "s", "same", "she",
    "should", "so", "some", "such", "t", "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they",
    "this", "those", "through", "to", "too", "under", "until", "up", "ve", "very", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

#[rustfmt::skip]
const PORTUGUESE: &[&str] = &[
    "a", "ao", "aos", "aquela", "aquele", "aquilo", "as", "até", "com", "como", "da", "das", "de", "dela", "dele", "deles",
    "depois", "do", "dos", "e", "ela", "elas", "ele", "eles", "em", "entre", "era", "essa", "esse", "esta", "este", "está",
    "estão", "eu", "foi", "foram", "há", "isso", "isto", "já", "lhe", "mais", "mas", "me", "mesmo", "meu", "minha", "muito",
    "na", "nas", "nem", "no", "nos", "nossa", "nosso", "num", "numa", "não", "nós", "o", "onde", "os", "ou", "para", "pela",
    "pelas", "pelo", "pelos", "por", "porque", "quais", "qual", "quando", "que", "quem", "se", "sem", "ser", "seu", "seus",
    "sua", "suas", "são", "só", "também", "te", "tem", "teu", "tua", "têm", "um", "uma", "umas", "uns", "você", "vocês",
    "à", "às", "é",
];

/// All stop words, some of them twice.
pub fn stop_words() -> impl Iterator<Item = &'static str> {
    ENGLISH.iter().chain(PORTUGUESE).copied()
}

/// Whether a folded word is a stop word.
#[must_use]
pub fn is_stop(word: &str) -> bool {
    ENGLISH.binary_search(&word).is_ok() || PORTUGUESE.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold::fold;

    #[test]
    fn the_lists_are_folded_and_in_order() {
        for list in [ENGLISH, PORTUGUESE] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
            assert!(list.iter().all(|word| fold(word) == *word));
        }
        assert!(is_stop("the") && is_stop("você") && !is_stop("dune") && !is_stop(""));
    }
}

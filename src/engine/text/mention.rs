//! Whether a text names what it is said to mention.
//!
//! A mention may come from elsewhere: a guess of a model, a topic, a user who is mentioned by everything. Such a mention says less
//! about the text than one that can be read in it, and conducts a tenth.
//!
//! # Design notes
//! Two mentions at random in each memory cost 5 points of what is found on passages (R@5) where all mentions weigh the same, and less
//! than 1 with this rule, which changes nothing on the passages as they are (`cargo bench --bench recall`).
//!
//! The mirror reads it from the database, in `cypher/mirror/edges.cypher` and `around.cypher`, since a relationship is read without
//! the text of its memory: so it is made of what both have. A part of a word counts, so that a plural is no other name. Mentions
//! of mapped rows of other libraries conduct alike, since they are read without texts.

use super::stop::is_stop;

/// Least length of a word that identifies a name by itself, in characters; that of one in Chinese, Japanese or Korean, whose
/// characters begin at [`IDEOGRAPHS`].
const WORD_MIN: usize = 3;
const IDEOGRAPHS_MIN: usize = 2;
const IDEOGRAPHS: &str = "\u{2e80}";

/// Whether a text has a name, or a word of it of at least three letters that is no stop word, in any case.
#[must_use]
pub fn names(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let least = |word: &str| if word >= IDEOGRAPHS { IDEOGRAPHS_MIN } else { WORD_MIN };
    let tells = |word: &&str| word.chars().count() >= least(word) && !is_stop(word);
    text.contains(&name) || name.split(' ').filter(tells).any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn a_name_in_a_text_is_named_and_more_text_takes_nothing_back(
            before in "[a-cA-C é]{0,6}", name in "[a-cA-C é]{0,6}", after in "[a-cA-C é]{0,6}"
        ) {
            prop_assert!(names(&[before.as_str(), &name, &after].concat(), &name));
            let longer = names(&[before.as_str(), &after].join(" "), &name);
            prop_assert!(longer || !names(&before, &name) && !names(&after, &name));
            prop_assert_eq!(names(&before.to_uppercase(), &name), names(&before, &name.to_uppercase()));
        }
    }

    #[test]
    fn a_word_of_the_name_is_enough_and_its_case_does_not_count() {
        assert!(names("Dana's build broke", "dana"));
        assert!(names("they met Herbert", "Frank Herbert"));
        assert!(names("in the CITIES", "Citi Bank"));
        assert!(names("東京に行く", "東京"));
        assert!(names("田中さんに会った", "田中 太郎"));
        assert!(!names("太い木", "田中 太") && !names("em é", "é à"));
        assert!(names("anything", ""));
        assert!(!names("prefers tea", "Dana"));
        assert!(!names("it is so", "Is He Of"));
        assert!(!names("the cat and the dog", "The Hague and Delft"));
        assert!(!names("", "Dana"));
    }
}

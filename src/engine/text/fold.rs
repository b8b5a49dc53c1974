//! Normal form of text: composed characters (NFC), then lower case.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// The normal form of a text.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { composed(text).to_lowercase() }
}

/// The text in composed characters.
#[must_use]
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// A prefix of a text of at most `bytes_max` bytes, cut between characters.
#[must_use]
pub fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn composed_and_decomposed_fold_alike() {
        assert_eq!(fold("Mem\u{f3}ria"), "memória");
        assert_eq!(fold("MEMO\u{301}RIA"), "memória");
        assert_eq!(fold("ÇÃO Z"), fold(&"ÇÃO Z".nfd().collect::<String>()));
    }

    proptest! {
        #[test]
        fn a_cut_text_is_a_beginning(text in "\\PC{0,40}", most in 0_usize..60) {
            let seen = cut(&text, most);
            prop_assert!(text.starts_with(seen) && seen.len() <= most);
            prop_assert!(seen.len() == text.len() || seen.len() + 4 > most);
        }

        #[test]
        fn the_short_way_for_ascii_is_the_long_way(text in "[ -~]{0,40}") {
            prop_assert_eq!(fold(&text), text.nfc().collect::<String>().to_lowercase());
        }
    }
}

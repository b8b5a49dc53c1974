//! Normal form of text: composed characters (NFC), then lower case, in which the Turkish İ is i.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// The normal form of a text.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = composed(text).to_lowercase();
    if lower.contains(DOTTED) { without_dots(&lower) } else { lower }
}

/// The lower case of İ: an i with a combining dot.
const DOTTED: &str = "i\u{307}";

/// Drops dots above i.
fn without_dots(lower: &str) -> String {
    let mut before = ' ';
    let kept = lower.chars().filter(|c| {
        let is_dot = before == 'i' && *c == '\u{307}';
        before = if is_dot { before } else { *c };
        !is_dot
    });
    // A mark that the dot was in the way of.
    kept.nfc().collect()
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

    #[test]
    fn a_dotted_capital_i_is_an_i() {
        for name in ["İstanbul", "I\u{307}stanbul", "istanbul", "ISTANBUL", "i\u{307}\u{307}stanbul"] {
            assert_eq!(fold(name), "istanbul");
        }
        assert_eq!([fold("i\u{307}\u{301}"), fold("Żi\u{307}")], ["í", "żi"]);
        assert_ne!(fold("ısı"), fold("isi"), "the dotless i is another letter");
    }

    proptest! {
        #[test]
        fn a_folded_text_stays_as_it_is(text in "[iIİıaÉé\u{301}\u{307}\u{323}. ]{0,12}") {
            prop_assert_eq!(fold(&fold(&text)), fold(&text));
        }

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

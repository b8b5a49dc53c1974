//! The estimate of tokens.

/// Letters of a word that are one token, and of each further one.
const LETTERS_OF_FIRST: usize = 7;
const LETTERS_OF_NEXT: usize = 5;
/// Spaces in a row that are a token.
const SPACES: usize = 4;
/// Letters back from a cut within which a word begins.
const WORD_LETTERS: usize = 24;
/// Bytes of a token at most: a word of seven letters and the spaces before it.
pub(super) const BYTES_MAX: usize = LETTERS_OF_FIRST + SPACES;

/// The estimated number of tokens of a text.
pub(super) fn tokens(text: &str) -> usize {
    let mut count = Count::default();
    text.chars().for_each(|c| count.add(c));
    count.tokens
}

/// A prefix of at most so many tokens, cut before a word if one begins near its end.
pub(super) fn cut(text: &str, tokens_max: usize) -> &str {
    let mut count = Count::default();
    let end = text.char_indices().find(|(_, c)| {
        count.add(*c);
        count.tokens > tokens_max
    });
    let Some((end, next)) = end else { return text };
    let kept = &text[..end];
    // Scripts without spaces have letters of three bytes.
    if !next.is_alphanumeric() || next.len_utf8() > 2 {
        return kept;
    }
    let near = kept.char_indices().rev().take(WORD_LETTERS).find(|(_, c)| c.is_whitespace());
    near.map_or(kept, |(at, _)| &kept[..at])
}

#[derive(Default)]
struct Count {
    tokens: usize,
    /// Letters of the present word, and whether the last one is small.
    letters: usize,
    is_small: bool,
    /// Spaces in a row.
    spaces: usize,
}

impl Count {
    fn add(&mut self, c: char) {
        if c == ' ' {
            self.spaces += 1;
            self.letters = 0;
            self.tokens += usize::from(self.spaces.is_multiple_of(SPACES));
            return;
        }
        self.spaces = 0;
        if !c.is_ascii_alphabetic() {
            self.letters = 0;
            self.tokens += c.len_utf8().saturating_sub(1).max(1);
            return;
        }
        let begins_word = c.is_ascii_uppercase() && self.is_small;
        self.letters = if begins_word { 1 } else { self.letters + 1 };
        self.is_small = c.is_ascii_lowercase();
        let begins_token = self.letters == 1
            || self.letters > LETTERS_OF_FIRST && (self.letters - LETTERS_OF_FIRST) % LETTERS_OF_NEXT == 1;
        self.tokens += usize::from(begins_token);
    }
}

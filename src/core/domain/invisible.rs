//! Characters of a text that a model reads but a person does not see: control characters, overrides of direction, zero-width
//! characters and tags. Text for models is given without them; the stored text is unchanged.

/// Whether a character is a control character, a mark or override of direction, or has no width. Line feeds and tabs are not.
#[must_use]
pub fn is_invisible(letter: char) -> bool {
    let is_line = matches!(letter, '\n' | '\t');
    letter.is_control() && !is_line
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// The characters of a text for models: without invisible ones, but with those by which words of Persian and Indic scripts and
/// emoji are spelled. A variation selector of emoji (U+FE0E, U+FE0F) is kept after a visible character, a joiner (U+200C, U+200D)
/// after one or its selector. So no more than two stand in a row, which say nothing by themselves.
pub fn visible(letters: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    let mut last = ' ';
    letters.filter(move |letter| {
        let is_kept = match *letter {
            '\u{fe0e}' | '\u{fe0f}' => !last.is_whitespace() && !is_invisible(last),
            '\u{200c}' | '\u{200d}' => !last.is_whitespace() && !matches!(last, '\u{200c}' | '\u{200d}'),
            other => !is_invisible(other),
        };
        if is_kept {
            last = *letter;
        }
        is_kept
    })
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn joiners_and_selectors_stay_where_they_spell_a_character() {
        let seen = |text: &str| visible(text.chars()).collect::<String>();
        for text in [
            "کتاب\u{200c}ها",
            "ශ්\u{200d}රී",
            "👩\u{200d}🚀",
            "❤\u{fe0f}\u{200d}🔥",
            "🤷\u{200d}♂\u{fe0f}",
            "☎\u{fe0e}",
        ] {
            assert_eq!(seen(text), text);
        }
        assert_eq!(seen("a\u{200d}\u{200c}\u{200d}\u{200d}b"), "a\u{200d}b", "a run");
        assert_eq!(seen("a\u{fe0f}\u{fe0e}\u{fe0f}\u{200d}\u{fe0f}b"), "a\u{fe0f}\u{200d}b", "a run of both");
        assert_eq!(seen("\u{200d}a \u{fe0f}\n\u{200c}b"), "a \nb", "without a character before it");
        assert_eq!(seen("a\u{200b}\u{feff}\u{fe00}\u{202e}\u{e0041}b"), "ab");
        let kept = seen("a\u{200b}\u{200d}\u{fe0f}b");
        assert_eq!(seen(&kept), kept);
    }
}

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

//! Sanitises untrusted text for models: cuts it, and removes invisible characters.
//!
//! A memory can contain text that a model reads but a person does not see: bidirectional overrides, zero-width
//! characters, terminal control characters. They are removed from every string of a result. Line feeds and tabs are
//! kept. The stored text is unchanged, and HTTP and Neo4j show all of it.

use serde_json::Value;

/// Maximum number of bytes in a string.
const TEXT_BYTES_MAX: usize = 4_096;

/// Sanitises every string of a result. Names of fields are kept: they are Ebb's own, or keys.
pub(super) fn value(value: Value) -> Value {
    match value {
        Value::String(raw) => Value::String(text(&raw)),
        Value::Array(all) => Value::Array(all.into_iter().map(self::value).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, one)| (name, self::value(one))).collect())
        }
        other => other,
    }
}

/// Sanitises a text.
pub(super) fn text(raw: &str) -> String {
    let fits = |(at, letter): &(usize, char)| at + letter.len_utf8() <= TEXT_BYTES_MAX;
    let letters = raw.char_indices().take_while(fits).map(|(_, letter)| letter);
    letters.filter(|letter| !is_invisible(*letter)).collect()
}

/// Whether a character is a control character, a mark or override of direction, or has no width.
fn is_invisible(letter: char) -> bool {
    let is_line = matches!(letter, '\n' | '\t');
    letter.is_control() && !is_line
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn invisible_characters_are_removed() {
        let hidden = "a\u{202e}b\u{200b}c\u{0}\u{1b}[31md\u{e0041}\u{feff}e\u{9b}\n\tf é 日本";
        assert_eq!(text(hidden), "abc[31mde\n\tf é 日本");
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert_eq!(text(&long).len(), TEXT_BYTES_MAX);
        let answer = json!({"hits": [{"label": "x\u{2066}y", "score": 0.5}], "n": null, "ok": true});
        assert_eq!(value(answer), json!({"hits": [{"label": "xy", "score": 0.5}], "n": null, "ok": true}));
    }
}

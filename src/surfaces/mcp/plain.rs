//! What others wrote, as a model may read it: cut, and without characters that a person would not see.
//!
//! A memory can hold text that is meant for the model and hidden from whoever looks on: characters that turn the direction
//! of writing round, that have no width, that control a terminal. They are taken out of every string of an answer. Line
//! feeds and tabs stay, since a text has lines. What is stored is as it was; HTTP and Neo4j show all of it.

use serde_json::Value;

/// Bytes of a string at most.
const TEXT_BYTES_MAX: usize = 4_096;

/// Every string of an answer as it may be read. Names of fields are ours, or keys by which something is found.
pub(super) fn value(value: Value) -> Value {
    match value {
        Value::String(said) => Value::String(text(&said)),
        Value::Array(all) => Value::Array(all.into_iter().map(self::value).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, one)| (name, self::value(one))).collect())
        }
        other => other,
    }
}

/// A text as it may be read.
pub(super) fn text(said: &str) -> String {
    let fits = |(at, letter): &(usize, char)| at + letter.len_utf8() <= TEXT_BYTES_MAX;
    let letters = said.char_indices().take_while(fits).map(|(_, letter)| letter);
    letters.filter(|letter| !is_unseen(*letter)).collect()
}

/// Control characters, marks and overrides of direction, and what has no width.
fn is_unseen(letter: char) -> bool {
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
    fn what_nobody_sees_is_taken_out() {
        let hidden = "a\u{202e}b\u{200b}c\u{0}\u{1b}[31md\u{e0041}\u{feff}e\u{9b}\n\tf é 日本";
        assert_eq!(text(hidden), "abc[31mde\n\tf é 日本");
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert_eq!(text(&long).len(), TEXT_BYTES_MAX);
        let answer = json!({"hits": [{"label": "x\u{2066}y", "score": 0.5}], "n": null, "ok": true});
        assert_eq!(value(answer), json!({"hits": [{"label": "xy", "score": 0.5}], "n": null, "ok": true}));
    }
}

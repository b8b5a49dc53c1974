//! Sanitises untrusted text for models: cuts it, and removes invisible characters.
//!
//! A memory can contain text that a model reads but a person does not see: bidirectional overrides, zero-width
//! characters, terminal control characters. They are removed from every string of a result. Line feeds and tabs are
//! kept. The stored text is unchanged, and HTTP and Neo4j show all of it.

use ebb_core::domain::invisible::is_invisible;
use serde_json::Value;

/// Sanitises every string of a result, of at most so many bytes. Names of fields are kept: they are Ebb's own, or keys.
pub(super) fn value(value: Value, bytes_max: usize) -> Value {
    let plain = |value| self::value(value, bytes_max);
    match value {
        Value::String(raw) => Value::String(text(&raw, bytes_max)),
        Value::Array(all) => Value::Array(all.into_iter().map(plain).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, one)| (name, plain(one))).collect())
        }
        other => other,
    }
}

/// Sanitises a text of at most so many bytes.
pub(super) fn text(raw: &str, bytes_max: usize) -> String {
    let fits = |(at, letter): &(usize, char)| at + letter.len_utf8() <= bytes_max;
    let letters = raw.char_indices().take_while(fits).map(|(_, letter)| letter);
    letters.filter(|letter| !is_invisible(*letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surfaces::operation::tool::TEXT_BYTES_MAX;
    use serde_json::json;

    #[test]
    fn invisible_characters_are_removed() {
        let hidden = "a\u{202e}b\u{200b}c\u{0}\u{1b}[31md\u{e0041}\u{feff}e\u{9b}\n\tf é 日本";
        assert_eq!(text(hidden, TEXT_BYTES_MAX), "abc[31mde\n\tf é 日本");
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert_eq!([10, TEXT_BYTES_MAX].map(|bytes_max| text(&long, bytes_max).len()), [10, TEXT_BYTES_MAX]);
        let answer = json!({"hits": [{"label": "x\u{2066}y", "score": 0.5}], "n": null, "ok": true});
        assert_eq!(
            value(answer, TEXT_BYTES_MAX),
            json!({"hits": [{"label": "xy", "score": 0.5}], "n": null, "ok": true})
        );
    }
}

//! Sanitises untrusted text for models: cuts it, and removes invisible characters.
//!
//! A memory can contain text that a model reads but a person does not see: bidirectional overrides, zero-width
//! characters, terminal control characters. They are removed from every string of a result. Line feeds and tabs are
//! kept, and single characters that spell words and emoji, so that an id or a name is that of its row. A string that is cut ends with [`CUT`], so that nobody takes the part for the whole. The stored text is unchanged,
//! and HTTP and Neo4j show all of it.

use ebb_core::domain::invisible::visible;
use serde_json::Value;

/// The end of a string that was cut.
const CUT: &str = " … [cut]";

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

/// Sanitises a text of at most so many bytes, which are no fewer than [`CUT`] has.
pub(super) fn text(raw: &str, bytes_max: usize) -> String {
    let (kept_max, end) =
        if raw.len() <= bytes_max { (bytes_max, "") } else { (bytes_max.saturating_sub(CUT.len()), CUT) };
    let fits = |(at, letter): &(usize, char)| at + letter.len_utf8() <= kept_max;
    let letters = raw.char_indices().take_while(fits).map(|(_, letter)| letter);
    visible(letters).chain(end.chars()).collect()
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
        assert_eq!(
            text("کتاب\u{200c}ها ❤\u{fe0f}\u{200d}🔥", TEXT_BYTES_MAX),
            "کتاب\u{200c}ها ❤\u{fe0f}\u{200d}🔥"
        );
        let answer = json!({"hits": [{"label": "x\u{2066}y", "score": 0.5}], "n": null, "ok": true});
        assert_eq!(
            value(answer, TEXT_BYTES_MAX),
            json!({"hits": [{"label": "xy", "score": 0.5}], "n": null, "ok": true})
        );
    }

    #[test]
    fn a_cut_is_marked_and_within_the_limit() {
        let whole = "é".repeat(10);
        assert_eq!(text(&whole, 20), whole);
        assert_eq!(text(&whole, 19), "éééé … [cut]");
        assert_eq!(text(&"é".repeat(TEXT_BYTES_MAX), TEXT_BYTES_MAX).len(), TEXT_BYTES_MAX);
    }
}

//! Situation of a text: who speaks in it, and whether it speaks of time.
//!
//! Turns of a dialogue are stored as `Name: text`. A question that names the speaker, or asks when, means such turns more than
//! others.

use super::fold::fold;
use super::words::{hash, is_mark, is_unspaced, phrase, places, words};
use std::ops::Range;

/// Letters within which the colon after a speaker stands.
const SPEAKER_LETTERS: usize = 41;
/// The colon of Chinese and Japanese texts.
const WIDE_COLON: char = '：';
/// Runs of the name of a speaker at most, and words: a run without spaces is several.
const SPEAKER_RUNS_MAX: usize = 4;
const SPEAKER_WORDS_MAX: usize = 12;

/// Words that are an instant by themselves, sorted.
#[rustfmt::skip]
const INSTANTS: &[&str] = &[
    "abril", "agosto", "amanhã", "april", "august", "december", "dezembro", "domingo", "february", "fevereiro",
    "friday", "hoje", "janeiro", "january", "julho", "july", "june", "junho", "maio", "março", "monday", "november",
    "novembro", "october", "ontem", "outubro", "recently", "saturday", "segunda", "september", "setembro", "sunday",
    "sábado", "thursday", "today", "tomorrow", "tonight", "tuesday", "wednesday", "yesterday",
];
/// Words that are an instant after one of [`BEFORE_SPAN`], or before one of [`AFTER_SPAN`].
const SPANS: &[&str] = &[
    "day", "days", "week", "weeks", "weekend", "month", "months", "year", "years", "night", "hour", "hours",
    "summer", "winter", "spring", "fall", "autumn", "dia", "dias", "semana", "semanas", "mês", "meses",
    "ano", "anos",
];
const BEFORE_SPAN: &[&str] =
    &["last", "next", "this", "past", "previous", "coming", "passado", "próxima", "próximo", "há"];
const AFTER_SPAN: &[&str] = &["ago", "later", "before", "atrás", "depois", "passada", "passado"];

/// Words that ask when, alone or with one of [`SPANS`] or of [`DATES`] after them.
const WHEN: &[&str] = &["when", "quando"];
const WHICH: &[&str] = &["what", "which", "que", "qual"];
const DATES: &[&str] = &["date", "day", "month", "year", "time", "data", "dia", "mês", "ano", "hora"];

/// The words of the speaker of a text: those before its first colon, if they are few and stand at its beginning.
#[must_use]
pub fn speaker(text: &str) -> Option<String> {
    let mut beginning = text.char_indices().take(SPEAKER_LETTERS + 1);
    let (at, colon) = beginning.find(|(_, c)| matches!(*c, ':' | WIDE_COLON))?;
    let (name, rest) = (&text[..at], &text[at + colon.len_utf8()..]);
    let is_name = |c: char| {
        c.is_alphanumeric()
            || is_mark(c)
            || matches!(c, ' ' | '.' | '-' | '_' | '\'' | '’')
            || matches!(c, '・' | '·') && name.contains(is_unspaced)
    };
    // Where words are not apart, nothing is between the colon and the next one.
    let is_apart = colon == WIDE_COLON || rest.starts_with(|c: char| c.is_whitespace() || is_unspaced(c));
    if !is_apart || !name.chars().all(is_name) {
        return None;
    }
    let name = phrase(&fold(name));
    (1..=SPEAKER_WORDS_MAX).contains(&places(&name).count()).then_some(name).filter(|name| is_short(name))
}

/// Hashes of all that a folded question has in the form of a [speaker], sorted.
#[must_use]
pub fn possible_speakers(folded: &str) -> Vec<u64> {
    let phrase = phrase(folded);
    let places: Vec<Range<usize>> = places(&phrase).collect();
    let beginning = |words: &[Range<usize>]| {
        let ends = words.iter().take(SPEAKER_WORDS_MAX).map(|last| last.end);
        ends.map(|end| &phrase[words[0].start..end]).take_while(|name| is_short(name)).map(hash).collect()
    };
    let mut all: Vec<u64> =
        (0..places.len()).flat_map(|at| -> Vec<u64> { beginning(&places[at..]) }).collect();
    all.sort_unstable();
    all
}

/// Whether a phrase has few runs.
fn is_short(phrase: &str) -> bool {
    phrase.matches(' ').count() < SPEAKER_RUNS_MAX
}

/// Whether a folded text speaks of time: a date, a weekday, "last week", "two years ago".
#[must_use]
pub fn speaks_of_time(folded: &str) -> bool {
    let (mut before, mut earlier) = ("", "");
    for word in words(folded) {
        let is_span = SPANS.contains(&word);
        if INSTANTS.binary_search(&word).is_ok()
            || is_year(word)
            || is_span && (BEFORE_SPAN.contains(&before) || BEFORE_SPAN.contains(&earlier))
            || AFTER_SPAN.contains(&word) && SPANS.contains(&before)
        {
            return true;
        }
        (before, earlier) = (word, before);
    }
    false
}

fn is_year(word: &str) -> bool {
    word.len() == 4
        && (word.starts_with("19") || word.starts_with("20"))
        && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a folded question asks when.
#[must_use]
pub fn asks_when(folded: &str) -> bool {
    let mut before = "";
    for word in words(folded) {
        let is_long = before == "how" && word == "long";
        if WHEN.contains(&word) || is_long || WHICH.contains(&before) && DATES.contains(&word) {
            return true;
        }
        before = word;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speaker_stands_before_the_first_colon() {
        assert_eq!(speaker("Ann-Marie O'Neil: hello: you").as_deref(), Some("ann marie o neil"));
        assert_eq!(speaker("assistant: It is 10:30").as_deref(), Some("assistant"));
        for none in [
            "no colon",
            ": empty",
            "https://example.org",
            "a (b): c",
            "The meeting, as agreed: no",
            "a b c d e: f",
        ] {
            assert_eq!(speaker(none), None, "{none}");
        }
        assert_eq!(speaker(&format!("{}: x", "a".repeat(42))), None);
    }

    #[test]
    fn a_speaker_is_named_in_scripts_without_spaces() {
        for (text, name, question) in [
            ("张三：我喜欢喝茶", "张三", "张三喜欢什么"),
            ("张三:我喜欢喝茶", "张三", "茶是张三喜欢的吗"),
            ("アンナ・スミス：こんにちは", "アンナ スミス", "アンナ・スミスは何と言いましたか"),
            ("卡尔·马克思：你好", "卡尔 马克思", "谁是卡尔·马克思"),
            ("สมชาย: สวัสดี", "สมชาย", "ที่สมชายพูดคืออะไร"),
            ("शर्मा: नमस्ते", "शर्मा", "शर्मा क्या करते हैं"),
            ("Li 明: 你好", "li 明", "what did Li 明 say"),
        ] {
            assert_eq!(speaker(text).as_deref(), Some(name));
            assert!(possible_speakers(&fold(question)).binary_search(&hash(name)).is_ok(), "{question}");
        }
        assert_eq!(speaker("今天下午我们在会议室里讨论了预算：没有结果"), None, "a clause is no name");
        assert!(possible_speakers(&fold("东京、京都")).binary_search(&hash("东京都")).is_err());
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(INSTANTS.is_sorted());
    }

    #[test]
    fn a_text_speaks_of_time_and_a_question_asks_for_it() {
        for text in [
            "we met last week",
            "two years ago",
            "on friday",
            "in 2023",
            "the past few days",
            "há dois dias",
            "this summer",
        ] {
            assert!(speaks_of_time(text), "{text}");
        }
        for text in ["this is a test", "at last", "room 1234", "an hour", "before we go", "may i"] {
            assert!(!speaks_of_time(text), "{text}");
        }
        for question in
            ["when did she go", "what year was it", "how long have they", "quando foi", "which month"]
        {
            assert!(asks_when(question), "{question}");
        }
        for question in ["what did she do", "how many", "which book", "where"] {
            assert!(!asks_when(question), "{question}");
        }
    }
}

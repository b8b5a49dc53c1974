//! Splits texts into words and queries into tokens.
//!
//! *Words* are maximal runs of letters and digits of a folded text. A run of characters of a script that is written without
//! spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), or with endings joined to them (Korean), gives its
//! pairs of adjacent characters in place of itself: 東京都 is 東京 and 京都. A single one is a word. Combining marks belong to the
//! character before them.
//!
//! *Tokens* are the search terms of a query: distinct words in their order, also split where the case changes, so that
//! `chatHandler` gives both halves; without stop words unless nothing else is left.
//!
//! # Design notes
//! Pairs need no dictionary, and each word of two characters or more in a text is among its pairs: as in Lucene's `CJKAnalyzer`,
//! here for scripts of South-East Asia too. What they find by chance is common, and so counts little in a ranking.

use super::fold::{composed, fold};
use super::stop::is_stop;
use std::collections::HashSet;
use std::ops::Range;
use unicode_normalization::char::is_combining_mark;
use xxhash_rust::xxh3::xxh3_64;

/// Indexed part of the content of a memory, in bytes.
pub const CONTENT_BYTES_MAX: usize = 64 * 1024;

/// The words of a folded text.
pub fn words(folded: &str) -> impl Iterator<Item = &str> {
    places(folded).map(|place| &folded[place])
}

/// The places of the words of a folded text, in bytes. Those of pairs of one run overlap.
pub fn places(folded: &str) -> impl Iterator<Item = Range<usize>> {
    let (mut run, mut read) = (0..0, 0);
    std::iter::from_fn(move || {
        if run.is_empty() {
            let (next, part) = next_run(folded, read)?;
            read = next.end;
            if part == Part::Letter {
                return Some(next);
            }
            run = next;
        }
        let second = character_end(folded, run.clone());
        let end = character_end(folded, second..run.end);
        let pair = run.start..end;
        // The last character of a run begins no pair.
        run = if end == run.end { 0..0 } else { second..run.end };
        Some(pair)
    })
}

/// The runs of a folded text, joined by spaces. It has the same words; what they join is a name only if they are adjacent in a
/// run or a space is between them.
#[must_use]
pub fn phrase(folded: &str) -> String {
    let (mut phrase, mut read) = (String::new(), 0);
    while let Some((run, _)) = next_run(folded, read) {
        read = run.end;
        if !phrase.is_empty() {
            phrase.push(' ');
        }
        phrase.push_str(&folded[run]);
    }
    phrase
}

/// What a character is in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A letter or digit.
    Letter,
    /// A letter of a script without spaces between words.
    Unspaced,
    /// Belongs to the character before it.
    Mark,
    /// Invisible, and decides how the characters around it are drawn.
    Joiner,
    Other,
}

impl Part {
    fn of(c: char) -> Self {
        match c {
            '\0'..='\u{7f}' if c.is_ascii_alphanumeric() => Self::Letter,
            '\0'..='\u{7f}' => Self::Other,
            '\u{200c}' | '\u{200d}' => Self::Joiner,
            // All of these are letters, which needs no search in a table.
            '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => Self::Unspaced,
            _ if !is_unspaced(c) && c.is_alphanumeric() => Self::Letter,
            _ if is_mark(c) => Self::Mark,
            _ if c.is_alphanumeric() => Self::Unspaced,
            _ => Self::Other,
        }
    }
}

/// Whether a letter is of a script that is written without spaces between words, or with endings joined to them: Han, Hiragana,
/// Katakana, Hangul, Thai, Lao, Khmer and Myanmar in Unicode 17.0, without their digits.
#[must_use]
pub const fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{e01}'..='\u{e4f}' // Thai
        | '\u{e81}'..='\u{ecf}' | '\u{edc}'..='\u{edf}' // Lao
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109f}' // Myanmar
        | '\u{1100}'..='\u{11ff}' // Hangul
        | '\u{1780}'..='\u{17df}' // Khmer
        | '\u{3005}'..='\u{303c}' // Han
        | '\u{3041}'..='\u{30ff}' // Hiragana, Katakana
        | '\u{3131}'..='\u{318e}' // Hangul
        | '\u{31f0}'..='\u{31ff}' // Katakana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // Han
        | '\u{a960}'..='\u{a97f}' // Hangul
        | '\u{a9e0}'..='\u{a9ef}' | '\u{a9fa}'..='\u{a9fe}' | '\u{aa60}'..='\u{aa7f}' // Myanmar
        | '\u{ac00}'..='\u{d7ff}' // Hangul
        | '\u{f900}'..='\u{faff}' // Han
        | '\u{ff66}'..='\u{ffdc}' // Katakana and Hangul, half as wide
        | '\u{1aff0}'..='\u{1b16f}' // Hiragana, Katakana
        | '\u{20000}'..='\u{3ffff}' // Han
    )
}

/// Whether a character belongs to the word before it. Those that choose a picture or enclose a symbol, such as a keycap, do not.
#[must_use]
pub fn is_mark(c: char) -> bool {
    is_combining_mark(c) && !matches!(c, '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}')
}

/// The first run of letters and digits from a place on, and what it begins with.
fn next_run(text: &str, from: usize) -> Option<(Range<usize>, Part)> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric();
    let bytes = &text.as_bytes()[from..];
    let begin = bytes.iter().position(|byte| is_letter(byte) || !byte.is_ascii())?;
    let length = bytes[begin..].iter().position(|byte| !is_letter(byte)).unwrap_or(bytes.len() - begin);
    let from = from + begin;
    if length > 0 && bytes.get(begin + length).is_none_or(u8::is_ascii) {
        return Some((from..from + length, Part::Letter));
    }
    let mut parts = text[from..].char_indices().map(|(at, c)| (from + at, Part::of(c)));
    let (begin, kind) = parts.find(|(_, part)| matches!(part, Part::Letter | Part::Unspaced))?;
    // Persian writes a joiner where words could be apart; scripts of India, after a mark.
    let mut is_marked = false;
    let end = parts.find(|(_, part)| {
        let is_mark = *part == Part::Mark || *part == Part::Joiner && is_marked;
        is_marked = is_mark;
        *part != kind && !is_mark
    });
    Some((begin..end.map_or(text.len(), |(end, _)| end), kind))
}

/// The end of the first character of a part of a run, with its marks.
fn character_end(text: &str, within: Range<usize>) -> usize {
    let mut characters = text[within.clone()].char_indices().skip(1);
    let next = characters.find(|(_, c)| Part::of(*c) == Part::Unspaced);
    next.map_or(within.end, |(at, _)| within.start + at)
}

/// Hash of a word: xxh3-64 of its UTF-8.
#[must_use]
pub fn hash(word: &str) -> u64 {
    xxh3_64(word.as_bytes())
}

/// The tokens of a query.
#[must_use]
pub fn tokens(query: &str) -> Vec<String> {
    let (mut all, mut known): (Vec<String>, HashSet<String>) = (Vec::new(), HashSet::new());
    for word in words(&composed(query)) {
        each_piece(word, |piece| {
            let token = fold(piece);
            if known.insert(token.clone()) {
                all.push(token);
            }
        });
    }
    if all.iter().any(|token| !is_stop(token)) {
        all.retain(|token| !is_stop(token));
    }
    all
}

/// Splits a word where the case changes: before a capital after a small letter, and before the last of several capitals if
/// a small letter follows (`HTTPServer` is `HTTP` and `Server`).
fn each_piece(word: &str, mut name: impl FnMut(&str)) {
    let mut begin = 0;
    let mut before: Option<char> = None;
    let mut rest = word.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map(|(_, c)| *c);
        let rises = before.is_some_and(char::is_lowercase) && c.is_uppercase();
        let ends = before.is_some_and(char::is_uppercase)
            && c.is_uppercase()
            && after.is_some_and(char::is_lowercase);
        if rises || ends {
            name(&word[begin..at]);
            begin = at;
        }
        before = Some(c);
    }
    name(&word[begin..]);
}

/// Drops the plural s of a word; short words and those that end in ss are unchanged.
#[must_use]
pub fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.chars().nth(2).is_some() && !stem.ends_with('s') => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(text: &str) -> Vec<String> {
        words(&fold(text)).map(str::to_owned).collect()
    }

    #[test]
    fn scripts_without_spaces_give_pairs_of_characters() {
        for (text, wanted) in [
            ("张三住在哪里？", "张三 三住 住在 在哪 哪里"),
            ("東京都に住む", "東京 京都 都に に住 住む"),
            ("スーパー・カー", "スー ーパ パー カー"),
            ("時々、人", "時々 人"),
            ("서울에 살아요", "서울 울에 살아 아요"),
            ("서울에", "서울 울에"),
            ("𠮷野家", "𠮷野 野家"),
            // A consonant with its vowel and tone is one character.
            ("ที่บ้าน", "ที่บ้ บ้า าน"),
            ("ສະບາຍ", "ສະ ະບ ບາ າຍ"),
            ("ខ្មែរ", "ខ្មែ មែរ"),
            ("မြန်မာ", "မြန် န်မာ"),
            ("GPT模型v2", "gpt 模型 v2"),
            ("2023年5月7日", "2023 年 5 月 7 日"),
            ("ปี๒๕๖๗", "ปี ๒๕๖๗"),
            ("用Rust写，好", "用 rust 写 好"),
        ] {
            assert_eq!(said(text).join(" "), wanted, "{text}");
        }
        assert_eq!(tokens("张三用chatHandler吗"), ["张三", "三用", "chat", "handler", "吗"]);
        assert_eq!(phrase("用rust写，东京都"), "用 rust 写 东京都");
    }

    #[test]
    fn marks_belong_to_the_character_before_them() {
        for (text, wanted) in [
            ("हिन्दी की पुस्तक", "हिन्दी की पुस्तक"),
            ("தமிழ் மொழி", "தமிழ் மொழி"),
            ("مُحَمَّد في القاهرة", "مُحَمَّد في القاهرة"),
            ("ẹ̀kọ́ Yorùbá", "ẹ̀kọ́ yorùbá"),
            // A joiner is within a word only where it is part of a character.
            ("ශ්\u{200d}රී", "ශ්\u{200d}රී"),
            ("کتاب\u{200c}ها", "کتاب ها"),
            // Pictures are no words, and what encloses a digit is not part of it.
            ("👩\u{200d}🚀 go 🇯🇵 2\u{fe0f}\u{20e3} ❤\u{fe0f}", "go 2"),
            ("\u{301} \u{e48}", ""),
            ("İstanbul ISTANBUL", "istanbul istanbul"),
        ] {
            assert_eq!(said(text), said(wanted), "{text}");
            assert_eq!(said(text).join(" "), fold(wanted), "{text}");
        }
    }

    /// Texts of several scripts, with what is between them.
    fn mixed() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[a-cA-Cé2İ]{1,4}",
            "[东京都张]{1,5}",
            "[かなーガ]{1,4}",
            "[서울에]{1,4}",
            "[กท]{1}[ิ่้]{0,2}[นา]{0,3}",
            "[कत][्िा]{0,2}",
            "[ \u{200d}\u{200c}\u{301}\u{fe0f}、.👩·]{1,2}",
            "\\PC{1,3}",
        ];
        prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn places_are_in_order_and_hold_all_letters(text in mixed()) {
            let folded = fold(&text);
            let places: Vec<Range<usize>> = places(&folded).collect();
            prop_assert!(places.iter().all(|place| folded.get(place.clone()).is_some_and(|word| !word.is_empty())));
            prop_assert!(places.is_sorted_by(|a, b| a.start < b.start && a.end < b.end));
            for pair in places.windows(2).filter(|pair| pair[1].start < pair[0].end) {
                let shared = &folded[pair[1].start..pair[0].end];
                prop_assert_eq!(shared.chars().filter(|c| !is_mark(*c) && !"\u{200c}\u{200d}".contains(*c)).count(), 1);
            }
            for (at, _) in folded.char_indices().filter(|(_, c)| c.is_alphanumeric() && !is_mark(*c)) {
                prop_assert!(places.iter().any(|place| place.contains(&at)), "{} of {:?}", at, folded);
            }
            let all: Vec<&str> = words(&folded).collect();
            let phrase = phrase(&folded);
            prop_assert_eq!(words(&phrase).collect::<Vec<_>>(), all);
        }

        #[test]
        fn words_of_texts_are_those_of_the_texts_together(one in mixed(), other in mixed()) {
            let [one, other] = [fold(&one), fold(&other)];
            let both = format!("{one}, {other}");
            prop_assert_eq!(words(&both).collect::<Vec<_>>(), words(&one).chain(words(&other)).collect::<Vec<_>>());
        }

        #[test]
        fn words_of_a_part_of_a_clause_are_words_of_the_clause(before in "[东京ーな]{0,3}", part in "[东京ーな]{2,5}", after in "[东京ーな]{0,3}") {
            let whole = [before.as_str(), &part, &after].concat();
            let all: Vec<&str> = words(&whole).collect();
            prop_assert!(words(&part).all(|word| all.contains(&word)));
        }

        #[test]
        fn words_without_marks_and_pairs_are_runs(text in "[a-zé0-9çСя ._'🙂-]{0,30}") {
            let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            prop_assert!(words(&text).eq(runs));
        }

        #[test]
        fn tokens_are_words_where_no_case_changes(text in "[a-cé东京都กา่ .]{0,20}") {
            let all = said(&text);
            prop_assert!(tokens(&text).iter().all(|token| all.contains(token)));
        }
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let said = fold("Dana's café-bar, no. 42_b!");
        assert_eq!(words(&said).collect::<Vec<_>>(), ["dana", "s", "café", "bar", "no", "42", "b"]);
        assert_eq!(words(" .,- ").count(), 0);
    }

    #[test]
    fn tokens_split_at_case_changes_before_they_are_folded() {
        assert_eq!(
            tokens("chatHandler HTTPServer sha256Sum"),
            ["chat", "handler", "http", "server", "sha256sum"]
        );
        assert_eq!(tokens("CHAT chat Chat"), ["chat"]);
        assert_eq!(tokens("3F2A9B"), ["3f2a9b"]);
        assert_eq!(tokens("açãoÚnica"), ["ação", "única"]);
    }

    #[test]
    fn stop_words_go_unless_nothing_else_is_left() {
        assert_eq!(tokens("who wrote the Dune Messiah"), ["wrote", "dune", "messiah"]);
        assert_eq!(tokens("qual é a capital"), ["capital"]);
        assert_eq!(tokens("The Who"), ["the", "who"]);
        assert!(tokens("?!").is_empty());
    }

    #[test]
    fn a_plural_loses_its_s() {
        let all = ["books", "book", "class", "bus", "gas", "dates", "ações", "s", "ss"];
        assert_eq!(all.map(singular), ["book", "book", "class", "bus", "gas", "date", "açõe", "s", "ss"]);
    }

    #[test]
    fn hash_vectors() {
        assert_eq!(hash(""), 0x2d06_8005_38d3_94c2);
    }
}

//! Similarity against the cosine by its definition, and early termination against full scans.

use super::*;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

/// Every text, compared by itself.
fn exhaustive(index: &CharNgramIndex, query: &str, least: f64, most: usize) -> Vec<NgramMatch> {
    let query = index.query(query);
    let mut like: Vec<NgramMatch> = (0..u32::try_from(index.texts()).unwrap())
        .map(|text| NgramMatch { text, score: query.score(text) })
        .filter(|like| f64::from(like.score) > least)
        .collect();
    like.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.text.cmp(&b.text)));
    like.truncate(most);
    like
}

/// Postings of all windows of a query.
fn postings(index: &CharNgramIndex, query: &str) -> u64 {
    let mut windows = Vec::new();
    each_window(query, |window| windows.push(window));
    windows.sort_unstable();
    windows.dedup();
    let of = |window: &u32| {
        index.windows.binary_search(window).map_or(0, |at| index.starts[at + 1] - index.starts[at])
    };
    windows.iter().map(of).sum::<usize>() as u64
}

/// Labels as code and people write them: one to four words of a vocabulary in which some are common.
fn labels(count: usize) -> Vec<String> {
    let mut state = 11_u64;
    let mut draw = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let onsets: Vec<&str> = "b c d f g h j l m n p r s t v br cr st tr pl ch sh th gr".split(' ').collect();
    let vowels = ["a", "e", "i", "o", "u", "ea", "io", "ou"];
    let codas = ["", "", "", "n", "r", "s", "t", "l", "m", "nd", "st", "ck"];
    let mut vocabulary: Vec<String> = Vec::new();
    for _ in 0..3_000 {
        let mut word = String::new();
        for _ in 0..2 + draw(2) {
            for part in [onsets[draw(24)], vowels[draw(8)], codas[draw(12)]] {
                word.push_str(part);
            }
        }
        vocabulary.push(word);
    }
    let common = ["handler", "service", "manager", "index", "memory"];
    let mut labels = Vec::new();
    for _ in 0..count {
        let mut words: Vec<&str> = Vec::new();
        for _ in 0..=draw(4) {
            words.push(match draw(4) {
                0 => common[draw(5)],
                _ => &vocabulary[draw(55) * draw(55)],
            });
        }
        labels.push(words.join(if draw(2) == 0 { "_" } else { " " }));
    }
    labels
}

fn built(labels: &[String]) -> CharNgramIndex {
    CharNgramIndex::build(labels.iter().map(String::as_str))
}

/// The numbers of the engine's worked example 4.10.
#[test]
fn worked_example() {
    let index = CharNgramIndex::build(["chat_handler", "handler", "chat_room"]);
    let cases = [("handler", [0.633_491, 1.0, 0.0]), ("chat", [0.400_655, 0.0, 0.409_644])];
    for (text, wanted) in cases {
        let query = index.query(text);
        for (other, wanted) in (0..).zip(wanted) {
            assert!(
                (f64::from(query.score(other)) - wanted).abs() < 1e-6,
                "{text} {other} {}",
                query.score(other)
            );
        }
    }
    assert!(index.query("chat").score(3).abs() < f32::EPSILON);
}

#[test]
fn early_termination_changes_no_result() {
    let labels = labels(4_000);
    let index = built(&labels);
    for (n, label) in labels.iter().enumerate().step_by(97) {
        let misspelt: String = label.chars().enumerate().filter(|(at, _)| *at != 3).map(|(_, c)| c).collect();
        let longer = format!("{label} and {}", labels[n / 2]);
        let page = labels[n..].iter().take(12).cloned().collect::<Vec<_>>().join(" ");
        for query in [label, &misspelt, &longer, &page, &label[..label.len().min(5)]] {
            for (least, most) in [
                (SCORE_MIN, 1),
                (SCORE_MIN, 10),
                (SCORE_MIN, 200),
                (0.3, usize::MAX),
                (0.6, 7),
                (SCORE_MIN, 0),
            ] {
                let found = index.query(query).search(least, most);
                assert_eq!(found.matches, exhaustive(&index, query, least, most), "{query} {least} {most}");
            }
        }
    }
}

#[test]
fn a_score_is_whole_or_certainly_below_the_least() {
    let labels = labels(1_000);
    let index = built(&labels);
    let mut skipped = 0;
    for label in labels.iter().step_by(97) {
        let query = index.query(label);
        for text in 0..1_000 {
            let score = query.score(text);
            for least in [0.05, 0.2, 0.5, f64::from(score)] {
                let bounded = query.score_from(text, least);
                let is_skipped = bounded.to_bits() != score.to_bits();
                assert!(!is_skipped || bounded <= 0.0 && f64::from(score) < least, "{label} {text} {least}");
                skipped += u32::from(is_skipped);
            }
        }
    }
    assert!(skipped > 10_000, "{skipped}");
}

#[test]
fn a_selective_query_reads_few_of_its_postings() {
    let labels = labels(20_000);
    let index = built(&labels);
    let (mut shares, mut read, mut all) = (Vec::new(), 0, 0);
    for label in labels.iter().step_by(199).filter(|label| label.len() > 12) {
        let misspelt: String = label.chars().enumerate().filter(|(at, _)| *at != 4).map(|(_, c)| c).collect();
        let beginning: String = label.chars().take(10).collect();
        for query in [label, &misspelt, &beginning] {
            let found = index.query(query).search(SCORE_MIN, 10);
            assert_eq!(found.matches.len(), 10);
            let whole = postings(&index, query);
            shares.push(found.postings_read as f64 / whole as f64);
            (read, all) = (read + found.postings_read, all + whole);
        }
    }
    shares.sort_by(f64::total_cmp);
    let (median, worst) = (shares[shares.len() / 2], shares[shares.len() - 1]);
    println!(
        "{} queries: {:.3} of postings read, median {median:.3}, worst {worst:.3}",
        shares.len(),
        read as f64 / all as f64
    );
    assert!(median <= 0.3 && read as f64 <= 0.3 * all as f64, "{median} {worst} {read} {all}");
}

#[test]
fn fnv_vectors() {
    assert_eq!([hash(b"cha"), hash(b"han"), hash(b"ab")], [8_754_941, 12_519_428, 2_426_314]);
}

/// The cosine of two texts over all texts, from the definition.
fn cosine(texts: &[String], a: &str, b: &str) -> f64 {
    let grams = |text: &str| -> Vec<String> {
        let mut lower: String = text.nfc().collect::<String>().to_lowercase();
        while lower.len() > TEXT_BYTES_MAX {
            lower.pop();
        }
        let chars: Vec<char> = lower.chars().collect();
        match chars.len() {
            0 => Vec::new(),
            1..=2 => vec![lower],
            _ => chars.windows(3).map(|window| window.iter().collect()).collect(),
        }
    };
    let all: Vec<Vec<String>> = texts.iter().map(|text| grams(text)).collect();
    let vector = |text: &str| -> Vec<(String, f64)> {
        let own = grams(text);
        let mut distinct = own.clone();
        distinct.sort();
        distinct.dedup();
        let weighed: Vec<(String, f64)> = distinct
            .into_iter()
            .map(|gram| {
                let spread = all.iter().filter(|other| other.contains(&gram)).count().max(1);
                let count = own.iter().filter(|other| **other == gram).count();
                let weight = count as f64 * ((texts.len() as f64 / spread as f64).ln() + 1.0);
                (gram, weight)
            })
            .collect();
        let length = weighed.iter().map(|(_, w)| w * w).sum::<f64>().sqrt();
        weighed.into_iter().map(|(gram, w)| (gram, w / length)).collect()
    };
    let (a, b) = (vector(a), vector(b));
    a.iter().flat_map(|(g, x)| b.iter().filter(move |(h, _)| g == h).map(move |(_, y)| x * y)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn trigram_oracle(texts in prop::collection::vec("[abcA-Cé ]{0,14}", 1..20), query in "[abcA-Cé ]{0,14}") {
        let index = CharNgramIndex::build(texts.iter().map(String::as_str));
        let found = index.most_similar(&query, usize::MAX);
        for (place, text) in texts.iter().enumerate() {
            let wanted = cosine(&texts, &query, text);
            let score = found.iter().find(|like| like.text as usize == place).map_or(0.0, |like| f64::from(like.score));
            prop_assert!((wanted - score).abs() < 1e-5 || (wanted < SCORE_MIN + 1e-5 && score == 0.0), "{wanted} {score}");
        }
        prop_assert!(found.is_sorted_by(|a, b| (b.score, a.text) <= (a.score, b.text) || a.score > b.score));
    }

    #[test]
    fn composed_and_decomposed_are_the_same_text(text in "[aeiouçãé ]{3,40}") {
        let decomposed: String = text.nfd().collect();
        let windows = |text: &str| {
            let mut named = Vec::new();
            each_window(text, |window| named.push(window));
            named
        };
        prop_assert_eq!(windows(&text), windows(&decomposed));
    }
}

#[test]
fn equal_texts_have_similarity_1_and_empty_texts_0() {
    let index = CharNgramIndex::build(["The build needs JAVA_HOME", "Dana prefers small changes", ""]);
    let found = index.most_similar("the build needs java_home", 5);
    assert_eq!((found[0].text, found.len()), (0, 1));
    assert!((found[0].score - 1.0).abs() < 1e-6);
    assert!(index.most_similar("", 5).is_empty());
    // More windows than a word has bits.
    let long = labels(40).join(" ");
    let found = CharNgramIndex::build([long.as_str(), "chat handler"]).most_similar(&long, 5);
    assert!((found[0].score - 1.0).abs() < 1e-6 && found[0].text == 0, "{found:?}");
    assert!(CharNgramIndex::build([]).most_similar("anything", 5).is_empty());
}

#[test]
fn names_are_found_beside_texts_with_the_scores_they_have_among_them() {
    let texts = ["chat handler", "the chat handler answers each chat", "chat room", "a room", "chats"];
    let index =
        CharNgramIndex::build_with_texts(texts.iter().enumerate().map(|(n, text)| (*text, n % 2 == 0)));
    let query = index.query("chat");
    let mut all = query.search(SCORE_MIN, 10).matches;
    assert_eq!(all, CharNgramIndex::build(texts).query("chat").search(SCORE_MIN, 10).matches);
    all.retain(|found| found.text % 2 == 0);
    assert_eq!(query.search_names(SCORE_MIN, 10).matches, all);
    assert_eq!(all.len(), 3);
}

#[test]
fn renumbered_texts_are_found_as_in_an_index_of_that_order() {
    let labels = labels(600);
    // Every text changes its number, and some are equal.
    let places: Vec<u32> = (0..600).map(|text| (text * 7 + 3) % 600).collect();
    let mut moved = vec![String::new(); 600];
    for (label, place) in labels.iter().zip(&places) {
        moved[*place as usize].clone_from(label);
    }
    let (renumbered, anew) = (built(&labels).renumbered(&places), built(&moved));
    for label in labels.iter().step_by(7) {
        for most in [1, 10, 600] {
            let found = |index: &CharNgramIndex| index.query(label).search(SCORE_MIN, most).matches;
            assert_eq!(found(&renumbered), found(&anew), "{label}");
        }
        let scores = |index: &CharNgramIndex| {
            (0..600).map(|n| index.query(label).score(n).to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(scores(&renumbered), scores(&anew), "{label}");
    }
}

#[test]
fn after_a_change_an_index_is_as_if_built_anew() {
    let before = labels(900);
    let texts: Vec<(&str, bool)> =
        before.iter().enumerate().map(|(n, label)| (label.as_str(), n % 3 == 0)).collect();
    let index = CharNgramIndex::build_with_texts(texts.iter().copied());
    let more = labels(1_000).split_off(900);
    // One in `gone` is removed, the others change their order, and these are added behind them.
    for (gone, added) in [(2, 100), (50, 3), (1_000, 1), (900, 0), (3, 0), (1, 5)] {
        let mut stay: Vec<usize> = (0..900).filter(|n| gone > 1 && n % gone != 1).collect();
        let turn = added.min(stay.len());
        stay.rotate_left(turn);
        let mut number = vec![None; 900];
        (0..).zip(&stay).for_each(|(now, n)| number[*n] = Some(now));
        let next: Vec<(&str, bool)> = more[..added].iter().map(|label| (label.as_str(), true)).collect();
        let first = u32::try_from(stay.len()).unwrap();
        let numbered = (first..).zip(&next).map(|(number, (label, is_name))| (number, *label, *is_name));
        let changed = index.changed(|text| number[text as usize], numbered.clone().collect::<Vec<_>>());
        let anew =
            CharNgramIndex::build_with_texts(stay.iter().map(|n| texts[*n]).chain(next.iter().copied()));
        assert!(format!("{changed:?}") == format!("{anew:?}"), "{gone} {added}");
    }
}

//! What a text for a prompt keeps: its limit, its order, and a line of its own for each memory.

use super::*;
use proptest::prelude::*;

const DAY_MS: i64 = 86_400_000;

fn candidate(id: &str, content: &str, day: Option<i64>, rank: Option<usize>) -> Candidate {
    let created = day.map(|day| Timestamp::from_millis(1_772_323_200_000 + day * DAY_MS).unwrap());
    let memory = ContextMemory {
        id: id.to_owned(),
        created,
        session: None,
        rank,
        score: rank.map(|_| 1.0),
        path: Vec::new(),
        duplicates: Vec::new(),
        is_cut: false,
    };
    Candidate { memory, content: content.to_owned() }
}

fn options(max_tokens: usize, order: ContextOrder) -> ContextOptions {
    ContextOptions { max_tokens, order }
}

#[test]
fn memories_are_lines_in_order_of_time_or_of_rank() {
    let hits = || {
        vec![
            candidate("new", "Ann moved to Porto", Some(3), Some(1)),
            candidate("undated", "Ann likes tea", None, Some(2)),
            candidate("old", "Ann lives in Faro.\n\nSince 2019", Some(0), Some(3)),
        ]
    };
    let composed = compose(hits(), Vec::new(), options(1_000, ContextOrder::Time));
    let text = "2026-03-01T00:00Z [old] Ann lives in Faro.\n  Since 2019\n2026-03-04T00:00Z [new] Ann moved to Porto\n\
                [undated] Ann likes tea";
    assert_eq!((composed.text.as_str(), composed.omitted), (text, 0));
    assert_eq!(composed.memories.iter().map(|one| one.rank).collect::<Vec<_>>(), [Some(3), Some(1), Some(2)]);
    let by_rank = compose(hits(), Vec::new(), options(1_000, ContextOrder::Rank));
    assert_eq!(by_rank.memories.iter().map(|one| &*one.id).collect::<Vec<_>>(), ["new", "undated", "old"]);
    assert_eq!(by_rank.tokens, composed.tokens);
}

#[test]
fn equal_texts_are_folded_and_those_that_differ_in_a_sign_are_not() {
    let contents = ["Paid  10 EUR", "paid 10 eur.", "Paid -10 EUR", "Paid 10 EUR?"];
    let hits =
        contents.iter().zip(1..).map(|(text, rank)| candidate(&format!("m{rank}"), text, None, Some(rank)));
    let composed = compose(hits.collect(), Vec::new(), options(1_000, ContextOrder::Rank));
    let text = "[m1] Paid  10 EUR (and 1 with the same text)\n[m3] Paid -10 EUR\n[m4] Paid 10 EUR?";
    assert_eq!(composed.text, text);
    assert_eq!(composed.memories[0].duplicates, ["m2"]);
}

#[test]
fn a_memory_between_hits_is_added_if_both_were_selected() {
    let hits = || {
        vec![
            candidate("a", "Where do you live?", Some(0), Some(1)),
            candidate("c", "Nice!", Some(2), Some(2)),
        ]
    };
    let between =
        |content: &str| vec![(candidate("b", content, Some(1), None), ["a".to_owned(), "c".to_owned()])];
    let ids = |max: usize, content: &str| -> Vec<String> {
        let composed = compose(hits(), between(content), options(max, ContextOrder::Time));
        composed.memories.into_iter().map(|one| one.id).collect()
    };
    assert_eq!(ids(1_000, "In Porto"), ["a", "b", "c"]);
    assert_eq!(ids(1_000, "nice!"), ["a", "c"], "the same text as a hit");
    let of_both = compose(hits(), Vec::new(), options(1_000, ContextOrder::Time)).tokens;
    assert_eq!(ids(of_both, "In Porto"), ["a", "c"]);
    assert_eq!(ids(of_both - 1, "x"), ["a"], "an end was not selected");
}

#[test]
fn the_best_hit_is_cut_if_it_does_not_fit() {
    let hits = vec![
        candidate("a", "one two three four five six", None, Some(1)),
        candidate("b", "x", None, Some(2)),
    ];
    let composed = compose(hits, Vec::new(), options(9, ContextOrder::Rank));
    assert_eq!((composed.text.as_str(), composed.omitted), ("[a] one two three four…", 1));
    assert!(composed.memories[0].is_cut);
    let nothing =
        compose(vec![candidate("a", "one two", None, Some(1))], Vec::new(), options(4, ContextOrder::Rank));
    assert_eq!(nothing, Composed { omitted: 1, ..Composed::default() });
}

#[test]
fn tokens_are_estimated_by_character() {
    for (text, count) in
        [("", 0), ("Porto", 1), ("settings", 2), ("internationally", 3), ("10.5 é", 5), ("a\nb  c", 4)]
    {
        assert_eq!(tokens(text), count, "{text:?}");
    }
}

proptest! {
    #[test]
    fn a_text_keeps_its_limit_and_a_line_for_each_memory(
        contents in prop::collection::vec("[a-c0-9 \n.\u{2028}é]{0,40}", 0..12),
        max_tokens in 1_usize..200,
        is_by_time: bool,
    ) {
        let order = if is_by_time { ContextOrder::Time } else { ContextOrder::Rank };
        let candidates = contents.iter().zip(1..).map(|(text, rank)| {
            candidate(&format!("m{rank}"), text, Some(7 - i64::try_from(rank % 5).unwrap()), Some(rank))
        });
        let composed = compose(candidates.collect(), Vec::new(), options(max_tokens, order));
        prop_assert!(composed.tokens <= max_tokens);
        prop_assert!(tokens(&composed.text) <= composed.tokens);
        let starts = composed.text.lines().filter(|line| line.starts_with("2026-03-")).count();
        prop_assert_eq!(starts, composed.memories.len());
        let folded: usize = composed.memories.iter().map(|one| one.duplicates.len()).sum();
        prop_assert!(composed.memories.len() + folded + composed.omitted <= contents.len());
    }
}

//! Relevance by hand and by its properties.

use super::*;
use proptest::prelude::*;

/// Relevance of a memory with these words, by the numbers of memories that have each.
fn by_words(memories: u32, frequencies: &[u32], words: u64) -> f32 {
    Relevance::of_counts(memories, frequencies).of(words, None).unwrap()
}

/// The first words of a list.
const fn first(count: usize) -> u64 {
    (1 << count) - 1
}

#[test]
fn two_words_by_hand() {
    // 4 / 1000 for one of 900 memories, with one word of two that 9 memories have: q = 0.0095.
    let odds = 0.004 * f64::powf((0.2 + 0.8 * 0.0095) / 0.0095 * 0.8, 0.6);
    let relevance = f64::from(by_words(900, &[9, 9], 0b01));
    assert!((relevance - odds / (1.0 + odds)).abs() < 1e-6, "{relevance}");
    assert_eq!(Relevance::of_counts(900, &[]).of(0, None), None, "nothing was asked");
}

#[test]
fn more_rare_words_are_likely_to_be_relevant_and_none_is_not() {
    let of = |count| by_words(2_000, &[5, 5, 5], first(count));
    assert!(of(0) < 0.01 && of(1) < 0.1 && of(2) > 0.1 && of(3) > 0.7, "{:?}", [0, 1, 2, 3].map(of));
    // A word that all have says nothing.
    let [with, without] = [0b11, 0b01].map(|words| by_words(2_000, &[5, 2_000], words));
    assert!(with - without < 0.02, "{with} {without}");
}

proptest! {
    #[test]
    fn it_is_a_probability_that_grows_with_each_word(
        memories in 0_u32..5_000_000,
        shares in prop::collection::vec(0_f64..=1.0, 1..64),
        words in any::<u64>(),
    ) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of memories")]
        let frequencies: Vec<u32> = shares.iter().map(|share| (share * f64::from(memories)) as u32).collect();
        let relevance = by_words(memories, &frequencies, words);
        prop_assert!((0.0..=1.0).contains(&relevance));
        for bit in 0..frequencies.len() {
            prop_assert!(by_words(memories, &frequencies, words | 1 << bit) >= relevance);
        }
        let mut counted = Relevance::of_counts(memories, &frequencies);
        counted.gains.reverse();
        let reversed = (words.reverse_bits()) >> (64 - frequencies.len());
        let other = counted.of(reversed, None).unwrap();
        prop_assert!((relevance - other).abs() < 1e-5, "{} {}", relevance, other);
    }

    #[test]
    fn it_grows_with_the_similarity(
        all in prop::collection::vec(-1_f32..=1.0, 2..200),
        one in -1_f32..=1.0,
        more in 0_f32..=1.0,
        words in any::<u64>(),
    ) {
        let mut relevance = Relevance::of_counts(200, &[1, 20, 200]);
        all.iter().for_each(|similarity| relevance.similarities.add(*similarity));
        let [low, high] = [one, (one + more).min(1.0)].map(|similarity| relevance.of(words, Some(similarity)).unwrap());
        prop_assert!((0.0..=1.0).contains(&low) && low <= high, "{} {}", low, high);
    }
}

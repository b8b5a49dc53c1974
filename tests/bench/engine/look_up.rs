//! Seeds by trigrams, beside a random gather and beside a scorer that reads every posting.

use crate::measure::{Pairs, counted, run, seconds, with};
use crate::probes::Gather;
use crate::record::{Part, Run};
use crate::reference::Trigrams;
use crate::sets;
use ebb_engine::semantic::trigram::{CharNgramIndex, SCORE_MIN};
use std::hint::black_box;

/// Bytes of the array of the probe, and how many texts are wanted.
const GATHER: usize = 4 << 20;
const MOST: usize = 10;

/// Over so many thousand labels.
pub(crate) fn labels(thousands: usize) -> Part {
    let labels = sets::labels(thousands * 1_000);
    let name = format!("labels-{thousands}k");
    let index = CharNgramIndex::build(labels.iter().map(String::as_str));
    let textbook = Trigrams::build(&labels);
    let cues = sets::cues(&labels);
    let (mut read, mut all, mut correct) = (0, 0, true);
    for cue in &cues {
        let found = index.query(cue).search(SCORE_MIN, MOST);
        let (wanted, postings) = textbook.like(cue, MOST);
        (read, all) = (read + found.postings_read, all + postings);
        let is_near = |(like, wanted): (&ebb_engine::semantic::trigram::NgramMatch, &(u32, f64))| {
            (f64::from(like.score) - wanted.1).abs() < 1e-5
        };
        correct &= found.matches.len() == wanted.len() && found.matches.iter().zip(&wanted).all(is_near);
    }
    let ours = || {
        seconds(|| {
            for cue in &cues {
                black_box(index.query(cue).search(SCORE_MIN, MOST));
            }
        })
    };
    let exhaustive = || seconds(|| cues.iter().for_each(|cue| drop(black_box(textbook.like(cue, MOST)))));
    let (probe, gather) = (Gather::new(GATHER), Gather::new(GATHER));
    let pairs = Pairs::of(|| probe.run(), || ours() / read as f64, || gather.run());
    let figure = run(Some("T16 time"), "a posting read over P1", &name, "");
    let beside = [
        ("ns_per_posting", pairs.a() * 1e9),
        ("p1_ns", pairs.b() * 1e9),
        ("us_per_look_up", ours() * 1e6 / cues.len() as f64),
        ("exhaustive_us_per_look_up", exhaustive() * 1e6 / cues.len() as f64),
    ];
    let time = Run { correct, ..with(pairs.a_over_b(figure), beside) };
    let share = counted(
        Some("T16 share"),
        "postings read over all of the asked windows",
        &name,
        read as f64 / all as f64,
    );
    Part { runs: vec![time, Run { correct, ..share }], ..Part::default() }
}

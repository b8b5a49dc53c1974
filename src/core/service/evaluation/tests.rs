//! Metrics, files of questions, ways to rank, and comparisons, on small examples.

use super::comparison::{Comparison, SavedAnswer, State};
use super::metrics::{Estimate, Ranks, mean, percentile};
use super::ways::{Part, Way};
use super::*;
use crate::domain::similarity::Similarity;
use crate::domain::trail::Allowed;
use crate::service::events::in_memory::{FileEvents, documented_rules};
use std::io::Write;

const EVENTS: &str = r#"{"at":"2026-03-01T08:00:00Z","kind":"memory","id":"tea","content":"Ann likes green tea","mentions":["Ann"]}
{"at":"2026-03-01T08:01:00Z","kind":"memory","id":"boat","content":"the boat is painted red","mentions":["Bob"]}

{"at":"2026-03-01T08:02:00Z","kind":"memory","id":"key","content":"the spare one hangs behind the door","mentions":["Ann"]}
{"at":"2026-03-01T08:02:00Z","kind":"memory","id":"key","content":"stored again","mentions":["Ann"]}
{"at":"2026-03-01T08:03:00Z","kind":"access","id":"tea"}
{"at":"2026-03-01T08:04:00Z","kind":"memory","id":"far","content":"the boat sank","scope":"team"}"#;

fn similarity() -> Similarity {
    Similarity { dimensions: Some(2), text_threshold: 0.5, model: None }
}

fn written(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn views() -> Views {
    let allowed = Allowed::new(&Allowed::LABELS, &Allowed::TYPES).unwrap();
    let file = written(EVENTS);
    let read = FileEvents::read(file.path(), &Scope::local(), &similarity(), allowed).unwrap();
    assert_eq!(read.left_out, 2, "a repeated memory and an access");
    read.views(&documented_rules()).unwrap()
}

fn read(text: &str) -> Result<Vec<Question>, String> {
    let file = written(text);
    questions(file.path(), &Scope::local(), &similarity()).map_err(|why| {
        let why = why.to_string();
        why.rsplit_once('/').map_or(why.clone(), |(_, rest)| rest.split_once(':').unwrap().1.to_owned())
    })
}

#[test]
fn shares_and_ranks_of_a_known_example() {
    let ranks = Ranks(vec![Some(3), None, Some(7), Some(1)]);
    let shares = [1, 2, 3, 7].map(|k| ranks.recall(k));
    assert_eq!(shares.map(|share| 4.0 * share).map(f64::to_bits), [1.0, 1.0, 2.0, 3.0].map(f64::to_bits));
    assert!((ranks.reciprocal(10) - 1.0).abs() < 1e-12);
    let later = Ranks(vec![Some(4), Some(8)]);
    assert!((later.reciprocal(4) - 0.25).abs() < 1e-12 && later.reciprocal(3) == 0.0);
    assert!(Ranks(vec![None]).reciprocal(10) == 0.0 && Ranks(vec![]).recall(5) == 0.0);
    assert!((mean([1.0, 0.0, 0.5].into_iter()) - 0.5).abs() < 1e-12);
    let sorted: Vec<u32> = (0..200).collect();
    assert_eq!([percentile(&sorted, 50), percentile(&sorted, 99), percentile(&[], 50)], [100, 198, 0]);
}

#[test]
fn an_interval_holds_the_mean_and_is_the_same_each_time() {
    let values: Vec<f64> = (0..100).map(|at| f64::from(at % 4) / 3.0).collect();
    let found = Estimate::of(&values, 2_000);
    assert_eq!(found, Estimate::of(&values, 2_000));
    assert!(
        (found.mean - 0.5).abs() < 1e-12 && found.low < found.mean && found.mean < found.high,
        "{found:?}"
    );
    // The standard error of the mean is 0.037, so 95 % of the means lie within 0.073.
    assert!((found.low - 0.427).abs() < 0.01 && (found.high - 0.573).abs() < 0.01, "{found:?}");
    let few = Estimate::of(&values[..10], 2_000);
    assert!(few.high - few.low > found.high - found.low, "{few:?}");
    assert_eq!(Estimate::of(&[0.25; 7], 500), Estimate { mean: 0.25, low: 0.25, high: 0.25 });
    assert_eq!(Estimate::of(&[], 10), Estimate { mean: 0.0, low: 0.0, high: 0.0 });
}

#[test]
fn questions_are_read_and_faults_have_their_place() {
    let all = read(
        "{\"question\":\"who\",\"gold\":[\"a\",\"b\",\"a\"],\"id\":7}\n\n{\"question\":\"when\",\"gold\":[\"c\"],\"class\":\"time\",\"scope\":\"team\",\"embedding\":[1,0]}\n",
    )
    .unwrap();
    assert_eq!(all[0].gold.len(), 2, "a repeated id counts once");
    assert_eq!((all[0].scope.as_str(), all[1].scope.as_str()), ("local", "team"));
    assert_eq!((all[1].class.as_deref(), all[1].embedding.as_ref().map(Vec::len)), (Some("time"), Some(2)));
    for (text, why) in [
        ("", "1: the file has no question"),
        ("{\"question\":\"who\",\"gold\":[\"a\"]}\n{\"question\":\"who\"}", "2: missing field `gold`"),
        ("{\"question\":\"who\",\"gold\":[]}", "1: the number of ids in gold is 0; it must be 1 to 1000"),
        ("{\"question\":\" \",\"gold\":[\"a\"]}", "1: the number of bytes of question is 0"),
        ("{\"question\":\"who\",\"gold\":[\"a\"],\"embedding\":[1]}", "1: the embedding has 1 numbers, and"),
        ("{\"question\":\"who\",\"gold\":[\"a\"],\"embedding\":[0,0]}", "1: the embedding is all zeros"),
        (
            "{\"question\":\"who\",\"gold\":[\"a\"],\"embedding\":[3e38,3e38]}",
            "1: the embedding contains a number that is not",
        ),
        (
            "{\"question\":\"who\",\"gold\":[\"a\"]}\n\n{\"question\":\"who\",\"gold\":[\"b\"]}",
            "3: the question is that of line 1, in the same scope",
        ),
        ("who", "1: expected value"),
    ] {
        let found = read(text).unwrap_err();
        assert!(found.starts_with(why), "{found}");
    }
}

#[test]
fn each_way_finds_what_it_can() {
    let views = views();
    let all = read(
        r#"{"question":"what does Ann drink, green tea","gold":["tea"]}
{"question":"where does Ann keep it","gold":["key","nowhere"]}
{"question":"boat","gold":["far"],"scope":"team"}
{"question":"boat","gold":["boat"],"scope":"empty"}"#,
    )
    .unwrap();
    assert_eq!(missing_gold(&all, &views), 2, "an unknown id, and one of a scope without memories");
    let local = &views[&Scope::local()];
    let entity = local.graph().nodes().find(|node| local.kind(*node) == "Entity").unwrap();
    assert_eq!(held(local, local.graph().external_id(entity)), None, "an entity is no answer");
    let shares = |way: Way| {
        let answers = ask(way, &all, &views, &RecallConfig::default(), 10).unwrap();
        answers.ranks.iter().map(|ranks| ranks.recall(10)).collect::<Vec<_>>()
    };
    assert_eq!(shares(Way::Words), [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(shares(Way::Ebb), [1.0, 0.5, 1.0, 0.0], "the key is found by the link to Ann");
    assert_eq!(shares(Way::Without(Part::Links)), [1.0, 0.0, 1.0, 0.0]);
    let ways = Way::all(&Part::ALL, &all);
    assert!(ways.len() == 7 && !ways.contains(&Way::Vectors), "no question has an embedding: {ways:?}");
}

#[test]
fn what_a_later_evaluation_lost_is_named() {
    let views = views();
    let answer = |question: &str, gold: &[(&str, Option<u32>)]| SavedAnswer {
        question: question.to_owned(),
        scope: Scope::local(),
        class: None,
        gold: gold.iter().map(|(id, rank)| ((*id).to_owned(), *rank)).collect(),
    };
    let before = [answer("a", &[("tea", Some(1)), ("gone", Some(2))]), answer("b", &[("key", Some(11))])];
    let now = [answer("a", &[("tea", Some(12)), ("gone", None)]), answer("c", &[("tea", Some(1))])];
    let found = Comparison::of(&before, &now, &views).unwrap();
    assert_eq!((found.questions, found.left_out), (1, 2));
    assert_eq!((found.before, found.now, found.loss), (1.0, 0.0, 1.0));
    let lost: Vec<_> =
        found.lost[0].memories.iter().map(|one| (one.id.as_str(), one.before, one.now, one.state)).collect();
    assert_eq!(lost, [("gone", 2, None, State::NotHeld), ("tea", 1, Some(12), State::Held)]);
    let better = Comparison::of(&now[..1], &before[..1], &views).unwrap();
    assert!(better.loss == 0.0 && better.lost.is_empty(), "a gain is no loss");
    assert_eq!(Comparison::of(&before[1..], &now[1..], &views), None);
    let other_gold = [answer("a", &[("tea", Some(1))]), now[1].clone()];
    assert_eq!(
        Comparison::of(&before, &other_gold, &views),
        None,
        "shares of other memories are not compared"
    );
    let both = Comparison::of(&other_gold, &now, &views).unwrap();
    assert_eq!((both.questions, both.left_out), (1, 1));
}

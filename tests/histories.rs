//! The checker on histories written by hand: a round that keeps every promise, and for each promise rounds that break it.
//!
//! The round lies in `fixtures/round/`: five memories (one used twice and promoted, one pinned, one forgotten, one with an
//! access of unknown outcome, one that expires), a promotion whose first worker was killed after its claim, and a sweep whose
//! first worker was killed at its commit. Each broken round is that one with a few words changed.

#[path = "kill"]
mod kill {
    pub(crate) mod checker;
    pub(crate) mod graph;
    pub(crate) mod history;
    pub(crate) mod report;
}

use kill::checker::{Invariant, Verdict, check};
use kill::history::{Known, Line, What};
use kill::report::{distribution, retakes};
use std::path::Path;

const HISTORY: &str = include_str!("fixtures/round/history.ndjson");
const GRAPH: &str = include_str!("fixtures/round/graph.json");

/// The verdict on the round with these words changed, each of which must be there: in the graph, or else in the history.
fn changed(words: &[(&str, &str)]) -> Verdict {
    let (mut history, mut graph) = (HISTORY.to_owned(), GRAPH.to_owned());
    for (from, to) in words {
        let text = if graph.contains(from) { &mut graph } else { &mut history };
        assert_eq!(text.matches(from).count(), 1, "in the round once: {from}");
        *text = text.replace(from, to);
    }
    let history: Vec<_> = history
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")))
        .collect();
    check(&history, &serde_json::from_str(&graph).expect("a graph"))
}

fn broken(verdict: &Verdict, which: Invariant) -> bool {
    verdict.violations.iter().any(|(broken, _)| *broken == which)
}

/// Asserts that these words break this promise and no other.
#[track_caller]
fn breaks(which: Invariant, words: &[(&str, &str)], says: &str) {
    let verdict = changed(words);
    assert!(broken(&verdict, which), "{which} holds: {:?}", verdict.violations);
    let others: Vec<_> = verdict.violations.iter().filter(|(broken, _)| *broken != which).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(verdict.violations.iter().any(|(_, why)| why.contains(says)), "{:?}", verdict.violations);
}

/// Asserts that these words break nothing.
#[track_caller]
fn keeps(words: &[(&str, &str)]) {
    let verdict = changed(words);
    assert!(verdict.is_good(), "{:?} {:?}", verdict.violations, verdict.inconclusive);
}

#[test]
fn a_round_that_keeps_every_promise() {
    keeps(&[]);
    let judged = changed(&[]).judged;
    assert_eq!((judged.memories, judged.promotions, judged.deposits), (4, 1, 7));
    assert_eq!((judged.commits, judged.takes, judged.unknown), (4, 4, 2));
}

#[test]
fn a_folder_is_read_as_one_history() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/round");
    let lines = kill::history::read(&folder).expect("a history");
    assert_eq!(lines.len(), HISTORY.lines().count());
    assert!(lines.is_sorted_by_key(|line| line.at));
}

#[test]
fn i1_an_acknowledged_memory_that_is_gone() {
    breaks(
        Invariant::Memories,
        &[(
            r#""id": "u", "content": "content of u", "tier""#,
            r#""id": "v", "content": "content of u", "tier""#,
        )],
        "u was acknowledged and is lost",
    );
    breaks(
        Invariant::Memories,
        &[(r#""id": "u", "content": "content of u", "tier""#, r#""id": "u", "content": "else", "tier""#)],
        "was made to say",
    );
    // Who forgets a memory leaves a tombstone, and nobody else does.
    let tombstone = "df9c19386d1505c2223b0bcfd7a1a99ddd24a6f1380df16cbb4323f8935358c7";
    breaks(Invariant::Memories, &[(tombstone, "")], "f was forgotten on request and has no tombstone");
    // What was never acknowledged need not be there.
    let unknown = r#""at": 36, "process": "client-1", "op": 4, "known": "ok""#;
    keeps(&[(unknown, r#""at": 36, "process": "client-1", "op": 4, "known": "info""#)]);
}

#[test]
fn i2_a_tier_step_without_its_stub_or_with_two() {
    let stub = r#"{"key": "a->shortTerm", "memory": "a", "#;
    let twice = format!(
        r#"{stub}"at": 3600000, "energy": 2.6065306597126334, "last_accessed": 3600000, "access_count": 3}}, {stub}"#
    );
    breaks(Invariant::Stubs, &[(stub, &twice)], "2 stubs of a->shortTerm");
    breaks(
        Invariant::Stubs,
        &[(r#""key": "a->shortTerm", "memory": "a""#, r#""key": "a->shortTerm", "memory": null"#)],
        "leads to nothing",
    );
    let verdict = changed(&[(r#""a->shortTerm""#, r#""u->shortTerm""#)]);
    assert!(broken(&verdict, Invariant::Stubs), "a stub of a memory that did not rise");
}

/// What the graph says of the memory u, one of whose accesses has an unknown outcome.
fn life_of_u() -> &'static str {
    let seen = GRAPH.lines().find(|line| line.contains(r#""id": "u""#)).expect("the memory u");
    &seen[seen.find(r#""energy": "#).expect("an energy")..seen.find(r#", "pinned""#).expect("its end")]
}

#[test]
fn i3_a_deposit_that_is_lost_or_counts_twice() {
    breaks(Invariant::Energy, &[(r#""energy": 2.134046809947373"#, r#""energy": 2.134046800"#)], "a is");
    // The access of unknown outcome counts once or not at all, and not twice.
    let counted = r#""energy": 0.21742, "energy_at": 18000000, "last_accessed": 3600000, "access_count": 2"#;
    let from = life_of_u();
    breaks(Invariant::Energy, &[(from, counted)], "u is");
    let uncounted = format!(
        r#""energy": {}, "energy_at": 18000000, "last_accessed": 0, "access_count": 1"#,
        (-2.5_f64).exp()
    );
    keeps(&[(from, &uncounted)]);
}

#[test]
fn i3_an_access_of_unknown_outcome_may_count_after_the_next_one() {
    // The next one finds the memory expired, which it would not have been after the first.
    let last = HISTORY.lines().last().expect("a line");
    let next = |known, revived| {
        format!(
            r#"{{"at": 19800050, "process": "client-1", "op": 90, "known": "{known}", "what": "access", "id": "u", "now": 19800000, "revived": {revived}}}"#
        )
    };
    let history = format!("{last}\n{}\n{}", next("invoke", false), next("ok", true));
    let left = |energy: f64, accesses: i64| {
        format!(
            r#""energy": {energy}, "energy_at": 19800000, "last_accessed": 19800000, "access_count": {accesses}"#
        )
    };
    let (revived, late) = (1.0 + (-2.75_f64).exp(), (-2.25_f64).exp());
    for sound in [left(revived, 2), left(revived + late, 3)] {
        keeps(&[(last, &history), (life_of_u(), &sound)]);
    }
    for unsound in [left(1.0, 2), left(revived, 3), left(revived + late, 2), left(revived + 2.0 * late, 4)] {
        breaks(Invariant::Energy, &[(last, &history), (life_of_u(), &unsound)], "u is");
    }
}

#[test]
fn i3_too_many_unknown_outcomes_decide_nothing() {
    let unknown: String = (0..10)
        .map(|n| format!("{{\"at\": {}, \"process\": \"client-2\", \"op\": {n}, \"known\": \"invoke\", \"what\": \"access\", \"id\": \"u\", \"now\": 3600000}}\n", 3_600_200 + n))
        .collect();
    let first = HISTORY.lines().next().expect("a line");
    let verdict = changed(&[(first, &format!("{unknown}{first}"))]);
    assert!(verdict.violations.is_empty(), "{:?}", verdict.violations);
    assert_eq!(verdict.inconclusive.len(), 1);
    assert!(!verdict.is_good());
}

#[test]
fn i4_a_state_that_goes_back() {
    breaks(
        Invariant::States,
        &[(
            r#""attempts": [{"id": "t1", "state": "expired"}], "doubly_marked""#,
            r#""attempts": [{"id": "t1", "state": "done"}], "doubly_marked""#,
        )],
        "went from done to expired",
    );
    breaks(
        Invariant::States,
        &[(r#""state": "open", "fence": 2, "batch": 1"#, r#""state": "failed", "fence": 2, "batch": 1"#)],
        "went from",
    );
}

#[test]
fn i5_what_is_written_under_an_old_fence_or_by_an_attempt_that_is_over() {
    let apply = r#""tx": "attempt.apply", "job": "promote", "occurrence": "one", "fence": 2, "holder": "worker-b", "batch": 3, "attempt": "t2"}"#;
    let known = format!(r#""known": "ok", "what": "commit", {apply}"#);
    breaks(
        Invariant::Fences,
        &[(&known, &known.replace(r#""fence": 2"#, r#""fence": 1"#))],
        "after 2 was taken",
    );
    breaks(
        Invariant::Fences,
        &[(&known, &known.replace("t2", "t1"))],
        "t1 is expired and its work was committed",
    );
    let take = r#""known": "ok", "what": "take", "job": "decay", "occurrence": "two", "fence": 2"#;
    let verdict = changed(&[(take, &take.replace(r#""fence": 2"#, r#""fence": 1"#))]);
    assert!(broken(&verdict, Invariant::Fences), "a take that does not raise the fence");
}

#[test]
fn i6_a_memory_under_two_attempts() {
    let look = r#""attempts": [{"id": "t1", "state": "claimed"}], "doubly_marked": []"#;
    breaks(Invariant::Marks, &[(look, &look.replace("[]", r#"["a"]"#))], "a was under two attempts");
}

#[test]
fn i7_a_pinned_memory_that_fades() {
    let verdict = changed(&[(
        r#""id": "p", "content": "content of p", "tier": "working", "energy": 0.6065306597126334, "energy_at": 3600000"#,
        r#""id": "p", "content": "content of p", "tier": "working", "energy": 0.0820849986238988, "energy_at": 18000000"#,
    )]);
    assert!(broken(&verdict, Invariant::Pinned), "{:?}", verdict.violations);
}

#[test]
fn i8_a_dry_run_that_writes() {
    breaks(Invariant::DryRuns, &[(r#""after": "71c4""#, r#""after": "0b5e""#)], "a dry run of decay");
}

#[test]
fn i9_a_gap_a_repeat_and_a_second_end() {
    breaks(
        Invariant::Batches,
        &[(r#""state": "done", "fence": 2, "batch": 3"#, r#""state": "done", "fence": 2, "batch": 4"#)],
        "batch 4 of promote one was committed by nobody",
    );
    let claim = r#""known": "ok", "what": "commit", "tx": "attempt.claim", "job": "promote", "occurrence": "one", "fence": 2, "holder": "worker-b", "batch": 2"#;
    let verdict = changed(&[(claim, &claim.replace(r#""batch": 2"#, r#""batch": 1"#))]);
    assert!(broken(&verdict, Invariant::Batches), "two commits of one number");
    let close = r#"{"at": 18003025, "process": "worker-c", "op": 3, "known": "ok", "what": "close""#;
    let line = HISTORY.lines().find(|line| line.starts_with(close)).expect("the end of the sweep");
    let second = line.replace("18003025", "18003030").replace(r#""op": 3"#, r#""op": 4"#);
    breaks(Invariant::Batches, &[(line, &format!("{line}\n{second}"))], "was closed 2 times");
}

#[test]
fn i10_what_is_left_at_rest() {
    breaks(
        Invariant::Rest,
        &[(r#""marks": []"#, r#""marks": [["a", "t2"]]"#)],
        "a is marked by the attempt t2",
    );
    let verdict = changed(&[(
        r#""attempts": [{"id": "t1", "state": "expired"}, {"id""#,
        r#""attempts": [{"id": "t1", "state": "claimed"}, {"id""#,
    )]);
    assert!(broken(&verdict, Invariant::Rest), "an attempt that nobody ended");
    let verdict = changed(&[(
        r#""state": "done", "fence": 2, "batch": 2"#,
        r#""state": "open", "fence": 2, "batch": 2"#,
    )]);
    assert!(broken(&verdict, Invariant::Rest), "a run that nobody ended");
    breaks(
        Invariant::Rest,
        &[(
            r#""id": "x", "content": "content of x", "tier": "expiredWorking", "energy": 0.0820849986238988, "energy_at": 18000000, "last_accessed": 0, "access_count": 1, "pinned": false, "due_at": null"#,
            r#""id": "x", "content": "content of x", "tier": "working", "energy": 1.0, "energy_at": 0, "last_accessed": 0, "access_count": 1, "pinned": false, "due_at": 0"#,
        )],
        "x was due",
    );
}

#[test]
fn i11_an_outcome_that_is_lost_or_learned_twice() {
    let learned = r#""ticks": 1, "strengthened": 1"#;
    breaks(
        Invariant::Outcomes,
        &[(learned, r#""ticks": 2, "strengthened": 2"#)],
        "2 outcomes were learned, of 1 to 1",
    );
    breaks(
        Invariant::Outcomes,
        &[(learned, r#""ticks": 0, "strengthened": 0"#)],
        "0 outcomes were learned, of 1 to 1",
    );
    breaks(Invariant::Outcomes, &[(learned, r#""ticks": 1, "strengthened": 2"#)], "strengthened");
    breaks(
        Invariant::Outcomes,
        &[(
            r#""waiting": 0, "ticks": 1, "strengthened": 1"#,
            r#""waiting": 1, "ticks": 0, "strengthened": 0"#,
        )],
        "1 outcomes were not learned",
    );
    // One of which nobody knows whether it was filed counts once or not at all.
    let filed = r#""op": 5, "known": "ok", "what": "outcome""#;
    for seen in [learned, r#""ticks": 0, "strengthened": 0"#] {
        keeps(&[(filed, r#""op": 5, "known": "info", "what": "outcome""#), (learned, seen)]);
    }
}

#[test]
fn a_take_that_landed_unseen_counts_before_its_holder_is_hurt_too() {
    let take = |at, process: &str, known, fence| Line {
        why: None,
        at,
        process: process.to_owned(),
        op: 1,
        known,
        what: What::Take { job: "decay".into(), occurrence: "o".into(), fence, holder: process.to_owned() },
    };
    let hurt = |at, victim: &str| Line {
        why: None,
        at,
        process: "harness".to_owned(),
        op: 1,
        known: Known::Ok,
        what: What::Hurt { victim: victim.to_owned(), how: "kill".to_owned() },
    };
    let first = [take(0, "a", Known::Ok, 1), hurt(10, "a"), take(25, "b", Known::Info, 2), hurt(26, "b")];
    let landed = [first.as_slice(), &[take(40, "c", Known::Ok, 3)]].concat();
    assert_eq!(retakes(&landed), [14, 15]);
    let lost = [first.as_slice(), &[take(40, "c", Known::Ok, 2)]].concat();
    assert_eq!(retakes(&lost), [30]);
    assert!(distribution(&[14, 15, 30]).contains("p50 15, p90 30, p99 30"));
}

#[test]
fn i12_a_row_of_another_program_that_is_lost_changed_or_made() {
    let end = r#""learned": {"#;
    let there = |rows: &str| format!(r#""others": [{rows}], {end}"#);
    let outcome = r#""op": 5, "known": "ok", "what": "outcome", "id": "outcome-1"}"#;
    let left = format!(
        "{outcome}\n{}",
        r#"{"at": 18004020, "process": "harness", "op": 6, "known": "ok", "what": "leave", "rows": ["o1", "o2"]}"#
    );
    let (one, other) = (r#"{"row": "o1", "same": true}"#, r#"{"row": "o2", "same": true}"#);
    let both = there(&format!("{one}, {other}"));
    keeps(&[(end, &both), (outcome, &left)]);
    breaks(Invariant::Others, &[(end, &there(one)), (outcome, &left)], "1 rows of o1 are lost");
    breaks(Invariant::Others, &[(outcome, &left)], "2 rows of o1 are lost");
    breaks(Invariant::Others, &[(end, &both)], "nobody wrote it");
    let twice = there(&format!("{one}, {one}, {other}"));
    breaks(Invariant::Others, &[(end, &twice), (outcome, &left)], "is there 2 times");
    let changed = both.replace(r#""o2", "same": true"#, r#""o2", "same": false"#);
    breaks(
        Invariant::Others,
        &[(end, &changed), (outcome, &left)],
        "o2 of another program says something else",
    );
    // A write of unknown outcome left all or nothing.
    let unknown = left.replace(r#""known": "ok", "what": "leave""#, r#""known": "info", "what": "leave""#);
    keeps(&[(outcome, &unknown)]);
    keeps(&[(end, &both), (outcome, &unknown)]);
    breaks(Invariant::Others, &[(end, &there(one)), (outcome, &unknown)], "1 rows of o1 are lost");
}

#[test]
fn i13_a_run_or_a_memory_that_is_dated_ahead() {
    let run = r#""occurrence": "one", "state": "done", "fence": 2, "batch": 3, "now": 3600000"#;
    breaks(Invariant::Dates, &[(run, &run.replace("3600000", "18065000"))], "the run one of promote");
    let pinned = r#""last_accessed": 0, "access_count": 1, "pinned": true"#;
    let verdict = changed(&[(pinned, &pinned.replace(": 0,", ": 3155760000000,"))]);
    assert!(broken(&verdict, Invariant::Dates), "{:?}", verdict.violations);
}

#[test]
fn i14_an_access_of_an_adopted_row_that_is_lost_or_counted_twice() {
    let end = r#""learned": {"#;
    let counted = |accesses: u8| format!(r#""states": [{{"row": "n1", "accesses": {accesses}}}], {end}"#);
    let outcome = r#""op": 5, "known": "ok", "what": "outcome", "id": "outcome-1"}"#;
    let access = |op: u8, known: &str| {
        format!(
            r#"{{"at": 1800402{op}, "process": "client-1", "op": 9{op}, "known": "{known}", "what": "access_row", "row": "n1"}}"#
        )
    };
    let twice = format!("{outcome}\n{}\n{}", access(1, "ok"), access(2, "ok"));
    keeps(&[(end, &counted(2)), (outcome, &twice)]);
    breaks(Invariant::Adopted, &[(outcome, &twice)], "0 accesses of n1 are counted, of 2 to 2");
    breaks(Invariant::Adopted, &[(end, &counted(3)), (outcome, &twice)], "3 accesses of n1 are counted");
    breaks(Invariant::Adopted, &[(end, &counted(1))], "1 accesses of n1 are counted, of 0 to 0");
    let unknown = format!("{outcome}\n{}\n{}", access(1, "ok"), access(2, "info"));
    for accesses in [1, 2] {
        keeps(&[(end, &counted(accesses)), (outcome, &unknown)]);
    }
    let refused = format!("{outcome}\n{}\n{}", access(1, "ok"), access(2, "fail"));
    keeps(&[(end, &counted(1)), (outcome, &refused)]);
}

#[test]
fn what_a_server_acknowledged_while_it_was_stopped_is_unknown() {
    let outcome = r#""op": 5, "known": "ok", "what": "outcome", "id": "outcome-1"}"#;
    let learned = r#""ticks": 1, "strengthened": 1"#;
    let none = r#""ticks": 0, "strengthened": 0"#;
    breaks(Invariant::Outcomes, &[(learned, none)], "outcome");
    let stopped = format!(
        "{outcome}\n{}",
        r#"{"at": 18004030, "process": "harness", "op": 6, "known": "ok", "what": "stopped", "from": 18004012, "until": 18004030}"#
    );
    keeps(&[(learned, none), (outcome, &stopped)]);
    keeps(&[(outcome, &stopped)]);
}

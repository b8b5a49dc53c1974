//! Policies: their checks, the choice of the deciding one, and the response of a sweep.

use super::*;
use crate::domain::fact::{Origin, Speaker};
use proptest::prelude::*;

fn drafts(json: &str) -> Vec<Draft> {
    serde_json::from_str(json).unwrap()
}

fn policies(json: &str) -> Policies {
    Policies::check(&drafts(json)).unwrap()
}

fn faults(json: &str) -> Vec<String> {
    Policies::check(&drafts(json)).unwrap_err().iter().map(ToString::to_string).collect()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000).unwrap()
}

fn head(confidence: f64, seconds: i64) -> Head {
    let confidence = Confidence::new(confidence).unwrap();
    Head {
        confidence,
        origin: Origin { confidence, at: at(seconds) },
        valid_until: None,
        speaker: Speaker::Agent,
    }
}

fn counted(rules: &Rules, heads: &[(&str, Head)], now: i64) -> Counters {
    let mut judge = rules.judge(at(now), 0.05);
    for (relation, head) in heads {
        judge.judge(relation, head);
    }
    judge.counters()
}

fn swept(policies: &Policies, asked: Option<Mode>, heads: &[(&str, Head)], now: i64) -> Summary {
    let rules = policies.rules(FactScope::Company, asked, None);
    rules.summary(&counted(&rules, heads, now))
}

const DOCUMENTED: &str = r#"[
    {"id": "memory-context-decay", "relation": "memory:*", "scope": "company", "mode": "confidence",
     "half_life_s": 604800, "min_confidence": 0.1},
    {"id": "stale-roadmap-retract", "relation": "roadmap:status", "scope": "company", "mode": "retract",
     "ttl_s": 2592000}]"#;

#[test]
fn the_documented_policies_are_read_and_written_alike() {
    let read = policies(DOCUMENTED);
    assert_eq!(read.all().len(), 2);
    assert_eq!(read.all()[0].measure, Measure::HalfLifeS(604_800.0));
    let again: Vec<Draft> = read.all().iter().map(Draft::from).collect();
    assert_eq!(Policies::check(&again).unwrap(), read);
}

#[test]
fn every_fault_of_every_policy_is_named_at_once() {
    let found = faults(
        r#"[{"id": "a", "relation": "x", "scope": "local", "mode": "retract", "ttl_s": 0},
            {"id": "a", "relation": "x", "scope": "everywhere", "mode": "confidence", "ttl_s": 5},
            {"id": "c", "relation": "x", "scope": "*", "mode": "dry_run", "ttl_s": 5, "half_life_s": 5},
            {"id": "d", "scope": "*", "mode": "confidence", "half_life_s": "soon", "min_confidence": 1.5, "ttl": 3},
            {"id": "e", "relation": "", "scope": 7, "mode": "forget", "exempt_relations": ["x", 3]},
            {"id": "f", "relation": "x", "scope": "team", "mode": "retract", "half_life_s": -1}]"#,
    );
    assert_eq!(
        found,
        [
            "policies[0] (a).ttl_s is 0; it is a number of seconds above 0",
            "policies[1] (a).scope is \"everywhere\"; it is local, team, company, public or *",
            "policies[1] (a).half_life_s is missing; mode confidence needs it, not ttl_s",
            "policies[1] (a).id is \"a\", as that of an earlier policy; ids are unique",
            "policies[2] (c).half_life_s is given beside ttl_s; a policy has one of them",
            "policies[3] (d).ttl is unknown; the fields are id, relation, scope, mode, ttl_s, half_life_s, \
             min_confidence, exempt_relations",
            "policies[3] (d).relation is missing; it is a relation, or a pattern such as memory:*",
            "policies[3] (d).min_confidence is 1.5; it is from 0 to 1",
            "policies[3] (d).half_life_s is \"soon\"; it is a number",
            "policies[4] (e).relation is no pattern: the relation of a fact is empty",
            "policies[4] (e).scope is 7; it is local, team, company, public or *",
            "policies[4] (e).mode is \"forget\"; it is retract, confidence or dry_run",
            "policies[4] (e).exempt_relations holds 3; it is a list of relations or patterns",
            "policies[5] (f).half_life_s is -1; it is a number of seconds above 0",
            "policies[5] (f).ttl_s is missing; mode retract needs it, not half_life_s",
        ]
    );
}

#[test]
fn the_most_specific_decides_and_an_exemption_leaves_it_to_the_next() {
    let all = policies(
        r#"[{"id": "any", "relation": "*", "scope": "*", "mode": "retract", "ttl_s": 9},
            {"id": "any-here", "relation": "*", "scope": "company", "mode": "retract", "ttl_s": 9},
            {"id": "short", "relation": "me*", "scope": "company", "mode": "retract", "ttl_s": 9},
            {"id": "long", "relation": "memory:*", "scope": "*", "mode": "retract", "ttl_s": 9,
             "exempt_relations": ["memory:private*"]},
            {"id": "end", "relation": "*:end", "scope": "company", "mode": "retract", "ttl_s": 9},
            {"id": "exact", "relation": "memory:x", "scope": "*", "mode": "retract", "ttl_s": 9},
            {"id": "exact-here", "relation": "memory:x", "scope": "company", "mode": "retract", "ttl_s": 9},
            {"id": "elsewhere", "relation": "memory:x", "scope": "team", "mode": "retract", "ttl_s": 9}]"#,
    );
    let rules = all.rules(FactScope::Company, None, None);
    let deciding = |relation| rules.deciding(relation).map(PolicyId::as_str);
    assert_eq!(deciding("memory:x"), Some("exact-here"));
    assert_eq!(deciding("memory:y"), Some("long"));
    assert_eq!(deciding("memory:private:y"), Some("short"), "exempt, so the next one matches");
    assert_eq!(deciding("a:end"), Some("end"), "a pattern of any kind before *");
    assert_eq!(deciding("other"), Some("any-here"));
    let alone = all.rules(FactScope::Company, None, Some("long"));
    let deciding = |relation| alone.deciding(relation).map(PolicyId::as_str);
    assert_eq!((deciding("memory:x"), deciding("memory:y")), (Some("exact-here"), Some("long")));
    let heads = [("memory:x", head(1.0, 0)), ("memory:y", head(1.0, 0)), ("other", head(1.0, 0))];
    let counters = counted(&alone, &heads, 60);
    assert_eq!((counters.evaluated, counters.retracted), (3, 1), "the facts of others stay");
    assert_eq!(alone.summary(&counters).applied, ["long"]);
}

const DAY: i64 = 86_400;

/// The numbers of retracted and reduced facts, and of those that would be.
fn effects(counters: &Counters) -> [i64; 4] {
    [counters.retracted, counters.reduced, counters.would_retract, counters.would_reduce]
}

#[test]
fn a_preview_of_a_policy_leaves_to_others_what_they_decide() {
    let with = |mode: &str| {
        let both = r#"[
            {"id": "roadmap", "relation": "roadmap:*", "scope": "*", "mode": "confidence", "half_life_s": 31536000},
            {"id": "old", "relation": "*", "scope": "*", "mode": "MODE", "ttl_s": 2592000}]"#;
        policies(&both.replace("MODE", mode))
    };
    let heads = [("roadmap:status", head(1.0, 0)), ("note", head(1.0, 0))];
    let of = |policies: &Policies, asked, only| {
        effects(&counted(&policies.rules(FactScope::Company, asked, only), &heads, 60 * DAY))
    };
    assert_eq!(of(&with("dry_run"), None, Some("old")), [0, 0, 1, 0], "the preview");
    assert_eq!(of(&with("retract"), Some(Mode::DryRun), Some("old")), [0, 0, 1, 0]);
    assert_eq!(of(&with("retract"), None, Some("old")), [1, 0, 0, 0], "by hand");
    assert_eq!(of(&with("retract"), None, None), [1, 1, 0, 0], "the job");
    assert_eq!(of(&with("retract"), Some(Mode::Retract), None), [1, 0, 0, 0], "that one is skipped");
    assert_eq!(of(&with("dry_run"), Some(Mode::Retract), Some("old")), [1, 0, 0, 0], "made to act");
    assert_eq!(of(&with("dry_run"), None, None), [0, 1, 1, 0]);
}

#[test]
fn a_policy_that_only_counts_is_counted_beside_the_one_that_acts() {
    let both = policies(
        r#"[{"id": "notes", "relation": "note:*", "scope": "*", "mode": "retract", "ttl_s": 7776000},
            {"id": "todo", "relation": "note:todo", "scope": "*", "mode": "dry_run", "ttl_s": 2592000},
            {"id": "behind", "relation": "*", "scope": "*", "mode": "dry_run", "ttl_s": 60}]"#,
    );
    let heads = [("note:todo", head(1.0, 0)), ("note:todo", head(1.0, 60 * DAY)), ("note:x", head(1.0, 0))];
    let of = |asked| counted(&both.rules(FactScope::Company, asked, None), &heads, 100 * DAY);
    assert_eq!(effects(&of(None)), [2, 0, 2, 0], "an old one is retracted, and counted for the other");
    assert!(!of(None).matched.contains("behind"), "it would decide nothing");
    assert_eq!(effects(&of(Some(Mode::DryRun))), [0, 0, 3, 0], "each fact once");
}

#[test]
fn a_policy_in_its_first_dry_run_keeps_facts_only_if_its_former_version_did() {
    let all = policies(
        r#"[{"id": "any", "relation": "*", "scope": "*", "mode": "retract", "ttl_s": 2592000},
            {"id": "roadmap", "relation": "roadmap:*", "scope": "*", "mode": "retract", "ttl_s": 5184000}]"#,
    );
    let heads = [("roadmap:status", head(1.0, 0)), ("roadmap:status", head(1.0, 40 * DAY))];
    let on_trial = |is_later: bool| {
        let policies = all.clone().on_trial(|policy| policy.id.as_str() == "roadmap", |_| is_later);
        let counters = counted(&policies.rules(FactScope::Company, None, None), &heads, 80 * DAY);
        effects(&counters)
    };
    assert_eq!(on_trial(false), [2, 0, 1, 0], "the other goes on as before");
    assert_eq!(on_trial(true), [0, 0, 1, 0]);
}

#[test]
fn the_counters_are_those_of_the_wire_format() {
    let all = policies(
        r#"[{"id": "r", "relation": "r", "scope": "*", "mode": "retract", "ttl_s": 60},
            {"id": "c", "relation": "c", "scope": "*", "mode": "confidence", "half_life_s": 60},
            {"id": "d", "relation": "d", "scope": "*", "mode": "dry_run", "ttl_s": 60},
            {"id": "idle", "relation": "nothing", "scope": "*", "mode": "retract", "ttl_s": 60}]"#,
    );
    let heads = [
        ("r", head(1.0, 0)),
        ("c", head(1.0, 0)),
        ("d", head(1.0, 0)),
        ("unmatched", head(1.0, 0)),
        ("rel:x", head(1.0, 0)),
        ("r", head(0.0, 0)),
    ];
    let counts = |s: &Summary| (s.evaluated, s.retracted, s.reduced, s.would_retract, s.would_reduce);
    let own = swept(&all, None, &heads, 3_600);
    assert_eq!((own.mode, counts(&own)), (Mode::Retract, (4, 1, 1, 0, 0)));
    assert_eq!(own.applied, ["r", "c", "d"], "policies that matched, in the order of the configuration");
    let dry = swept(&all, Some(Mode::DryRun), &heads, 3_600);
    assert_eq!((dry.mode, counts(&dry)), (Mode::DryRun, (4, 0, 0, 2, 1)));
    let retract = swept(&all, Some(Mode::Retract), &heads, 3_600);
    assert_eq!((retract.mode, counts(&retract)), (Mode::Retract, (4, 2, 0, 0, 0)));
    assert_eq!(retract.applied, ["r", "d"], "a policy without the parameter is skipped");
    let confidence = swept(&all, Some(Mode::Confidence), &heads, 3_600);
    assert_eq!((confidence.mode, counts(&confidence)), (Mode::Confidence, (4, 0, 1, 0, 0)));
    let young = swept(&all, None, &[("d", head(1.0, 0))], 3_600);
    assert_eq!(
        (young.mode, counts(&young)),
        (Mode::DryRun, (1, 0, 0, 1, 0)),
        "the common mode of the policies that matched"
    );
    let nothing = swept(&Policies::default(), None, &heads, 3_600);
    assert_eq!((nothing.mode, counts(&nothing)), (Mode::Confidence, (4, 0, 0, 0, 0)));
}

#[test]
fn a_later_source_replaces_by_id_and_keeps_the_place() {
    let one = policies(DOCUMENTED);
    let other = policies(
        r#"[{"id": "new", "relation": "*", "scope": "*", "mode": "retract", "ttl_s": 1},
            {"id": "memory-context-decay", "relation": "memory:*", "scope": "*", "mode": "retract", "ttl_s": 2}]"#,
    );
    let both = one.overlaid(other);
    let ids: Vec<&str> = both.all().iter().map(|policy| policy.id.as_str()).collect();
    assert_eq!(ids, ["memory-context-decay", "stale-roadmap-retract", "new"]);
    assert_eq!(both.all()[0].measure, Measure::TtlS(2.0));
    assert!(both.has("new") && !both.has("old"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_order_of_the_configuration_decides_only_between_equals(
        globs in prop::collection::vec("[ab*]{1,4}", 1..6), turned in 0..6_usize, relation in "[ab]{1,5}"
    ) {
        let draft = |(n, glob): (usize, &String)| {
            let fields = [("id", format!("p{n}")), ("relation", glob.clone()), ("scope", "*".to_owned()),
                ("mode", "retract".to_owned())];
            let mut fields: BTreeMap<String, Given> =
                fields.into_iter().map(|(name, text)| (name.to_owned(), Given::Text(text))).collect();
            fields.insert("ttl_s".to_owned(), Given::Number(1.0));
            Draft(fields)
        };
        let mut all: Vec<Draft> = globs.iter().enumerate().map(draft).collect();
        let decided = |all: &[Draft]| {
            let policies = Policies::check(all).unwrap();
            let rules = policies.rules(FactScope::Local, None, None);
            let id = rules.deciding(&relation)?.as_str().to_owned();
            policies.all().iter().find(|policy| policy.id.as_str() == id).map(Policy::specificity)
        };
        let first = decided(&all);
        let turn = turned % all.len();
        all.rotate_left(turn);
        prop_assert_eq!(decided(&all), first);
    }
}

/// Policies for these patterns, of modes by number.
fn of_patterns(drawn: &[(String, usize)]) -> Vec<Draft> {
    let draft = |(n, (glob, mode)): (usize, &(String, usize))| {
        let mode = Mode::ALL[*mode];
        let fields = [
            ("id", format!("p{n}")),
            ("relation", glob.clone()),
            ("scope", "*".to_owned()),
            ("mode", mode.name().to_owned()),
        ];
        let mut fields: BTreeMap<String, Given> =
            fields.into_iter().map(|(name, text)| (name.to_owned(), Given::Text(text))).collect();
        let parameter = if mode == Mode::Confidence { "half_life_s" } else { "ttl_s" };
        fields.insert(parameter.to_owned(), Given::Number(60.0));
        Draft(fields)
    };
    drawn.iter().enumerate().map(draft).collect()
}

/// The change that a sweep by these rules writes for an old fact.
fn written(rules: &Rules, relation: &str) -> Fate {
    rules.judge(at(3_600), 0.05).judge(relation, &head(1.0, 0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_policy_alone_changes_what_it_changes_beside_the_others(
        drawn in prop::collection::vec(("[ab*]{1,4}", 0..3_usize), 1..6), relation in "[ab]{1,5}"
    ) {
        let all = Policies::check(&of_patterns(&drawn)).unwrap();
        let rules = all.rules(FactScope::Local, None, None);
        let deciding = rules.deciding(&relation).map(PolicyId::as_str);
        for policy in all.all() {
            let id = policy.id.as_str();
            let alone = written(&all.rules(FactScope::Local, None, Some(id)), &relation);
            let wanted = if deciding == Some(id) { written(&rules, &relation) } else { Fate::Stays };
            prop_assert_eq!(alone, wanted, "{}", id);
        }
    }

    #[test]
    fn policies_that_only_count_take_no_facts(
        drawn in prop::collection::vec(("[ab*]{1,4}", 0..3_usize), 1..6), relation in "[ab]{1,5}"
    ) {
        let is_acting = |(_, mode): &&(String, usize)| Mode::ALL[*mode] != Mode::DryRun;
        let acting: Vec<(String, usize)> = drawn.iter().filter(is_acting).cloned().collect();
        let of = |drawn: &[(String, usize)]| {
            let policies = Policies::check(&of_patterns(drawn)).unwrap();
            written(&policies.rules(FactScope::Local, None, None), &relation)
        };
        prop_assert_eq!(of(&drawn), of(&acting));
    }
}

#[test]
fn no_text_of_policies_makes_the_reader_fall() {
    let mut sound = 0;
    for text in crate::mutated::mutated(&[DOCUMENTED], 3).take(crate::mutated::MANY) {
        if let Ok(drafts) = serde_json::from_str::<Vec<Draft>>(&text) {
            match Policies::check(&drafts) {
                Ok(_) => sound += 1,
                Err(faults) => assert!(!faults.is_empty()),
            }
        }
    }
    assert!(sound > 50, "only {sound} were valid policies");
}

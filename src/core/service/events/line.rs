//! One line of an event file: JSON to a checked event. A line is a request of `api`, with its kind and its instant.

use crate::api::memory::{Access, NewMemory};
use crate::api::relation::ObservationRequest;
use crate::api::trail::{Deposit, Exploration, NewEdge, NewPlace};
use crate::clock::rfc3339;
use crate::domain::event::{Event, Observe, Trace, Walk};
use crate::domain::fact::{Assertion, FactScope, Tuple, Value};
use crate::domain::ids::{
    EntityName, FactRelation, InstanceId, MemoryId, Scope, SessionId, Source, Term, event_id,
};
use crate::domain::outcome::{USED_MAX, worth};
use crate::domain::similarity::Similarity;
use crate::domain::trail::Allowed;
use crate::domain::units::{Confidence, Timestamp};
use crate::service::check_range;
use crate::service::outcomes::JudgedQuestion;
use crate::service::recall::{RecallQuery, TEXT_BYTES_MAX, TOP_K_MAX};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A checked line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// An event of a memory.
    Event(Event),
    /// An observed relation.
    Observe(Observe),
    /// An asserted fact.
    Fact(Assertion),
    /// An event of a trail.
    Trace(Trace),
    /// A question with its useful hits.
    Outcome(OutcomeLine),
    /// The end of a session.
    SessionEnd(SessionEndLine),
}

/// A question with its useful hits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OutcomeLine {
    pub(super) judged: JudgedQuestion,
    /// Id of the request, derived from the place of the line: the outcome counts once.
    pub(super) request: String,
    /// The original line.
    pub(super) text: String,
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SessionEndLine {
    pub(super) at: Timestamp,
    pub(super) scope: Scope,
    pub(super) session: SessionId,
    /// The original line, written to the file of rejected lines if it is refused.
    pub(super) text: String,
}

impl Line {
    pub(super) fn at(&self) -> Timestamp {
        match self {
            Self::Event(event) => event.at(),
            Self::Observe(observe) => observe.seen.at,
            Self::Fact(fact) => fact.at,
            Self::Trace(trace) => trace.at,
            Self::Outcome(outcome) => outcome.judged.at,
            Self::SessionEnd(end) => end.at,
        }
    }

    /// Name of the scope whose rows it changes.
    pub(super) fn scope(&self) -> &str {
        match self {
            Self::Event(event) => event.scope().as_str(),
            Self::Observe(observe) => observe.tie.scope.as_str(),
            Self::Fact(fact) => fact.tuple.scope.name(),
            Self::Trace(trace) => trace.scope.as_str(),
            Self::Outcome(outcome) => outcome.judged.scope.as_str(),
            Self::SessionEnd(end) => end.scope.as_str(),
        }
    }
}

/// A line as written in the file.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Raw {
    Memory(NewMemory),
    Access(Access),
    Observe(ObservationRequest),
    Fact {
        at: Timestamp,
        entity: EntityName,
        relation: FactRelation,
        /// Read from the line once more, see [`Exact`].
        #[serde(rename = "value")]
        _value: IgnoredAny,
        confidence: Option<f64>,
        source: Source,
        scope: Option<Scope>,
        valid_until: Option<Timestamp>,
    },
    Node(NewPlace),
    Edge(NewEdge),
    Deposit(Deposit),
    Explore(Exploration),
    Outcome {
        at: Timestamp,
        query: String,
        top_k: usize,
        useful: Vec<Term>,
        reward: Option<f64>,
        scope: Option<Scope>,
    },
    SessionEnd {
        at: Timestamp,
        session: SessionId,
        #[serde(rename = "instance")]
        _instance: Option<InstanceId>,
        scope: Option<Scope>,
    },
}

/// The value of a fact, read separately: serde buffers a line while it looks for its kind, which rounds numbers.
#[derive(Deserialize)]
struct Exact {
    #[serde(deserialize_with = "crate::api::fact::exact_value")]
    value: Value,
}

/// Parameters for reading lines.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    /// The key of the file.
    pub(super) key: String,
    /// The default scope.
    pub(super) scope: Scope,
    /// The dimensions of embeddings.
    pub(super) similarity: Similarity,
    /// The labels and types that carry pheromones.
    pub(super) allowed: Allowed,
    /// Greatest instant of an event: one ahead of the server's clock would lie in the future.
    pub(super) latest: Option<Timestamp>,
}

/// Reads line `number` of a file.
pub(super) fn parse(text: &str, number: u64, reading: &Reading) -> Result<Line, String> {
    let line = read_line(text, number, reading)?;
    match reading.latest {
        Some(latest) if line.at() > latest => Err(format!(
            "at is {}, ahead of the server's clock; only a replay accepts future instants",
            rfc3339(line.at())
        )),
        _ => Ok(line),
    }
}

fn read_line(text: &str, number: u64, reading: &Reading) -> Result<Line, String> {
    let Reading { key, scope, similarity, allowed, .. } = reading;
    let raw: Raw = serde_json::from_str(text).map_err(|why| json_error(&why))?;
    let scoped = |own: Option<&Scope>| own.unwrap_or(scope).clone();
    let traced = |at: Option<Timestamp>, own: Option<&Scope>, what: Walk| {
        Ok::<_, String>(Line::Trace(Trace { at: stated(at)?, scope: scoped(own), what }))
    };
    Ok(match raw {
        Raw::Memory(new) => {
            let (at, scope) = (stated(new.at)?, scoped(new.scope.as_ref()));
            let id = new.id.clone().map_or_else(|| MemoryId::new(&event_id(key, number)), Ok);
            let id = id.map_err(|why| why.to_string())?;
            Line::Event(Event::Remember(new.event(id, scope, at, similarity)?))
        }
        Raw::Access(access) => {
            let (at, scope) = (stated(access.at)?, scoped(access.scope.as_ref()));
            Line::Event(Event::Access(access.event(scope, at)))
        }
        Raw::Observe(seen) => {
            let (at, scope) = (stated(seen.at)?, scoped(seen.scope.as_ref()));
            Line::Observe(seen.event(scope, at))
        }
        Raw::Fact { at, entity, relation, _value: _, confidence, source, scope: own, valid_until } => {
            let own = own.as_ref().unwrap_or(scope);
            let shared = FactScope::named(own.as_str())
                .ok_or_else(|| format!("facts have no scope {own}; it is local, team, company or public"))?;
            let Exact { value } = serde_json::from_str(text).map_err(|why| json_error(&why))?;
            let assertion = Assertion {
                at,
                id: event_id(key, number),
                tuple: Tuple { scope: shared, entity, relation, value },
                confidence: confidence
                    .map_or(Ok(Confidence::ONE), Confidence::new)
                    .map_err(|why| why.to_string())?,
                source,
                valid_until,
            };
            Line::Fact(assertion.checked().map_err(|why| why.to_string())?)
        }
        Raw::Node(place) => traced(place.at, place.scope.as_ref(), place.walk(allowed)?)?,
        Raw::Edge(edge) => traced(edge.at, edge.scope.as_ref(), edge.walk(allowed)?)?,
        Raw::Deposit(deposit) => traced(deposit.at, deposit.scope.as_ref(), deposit.walk(allowed)?)?,
        Raw::Explore(search) => traced(search.at, search.scope.as_ref(), search.walk(allowed)?)?,
        Raw::Outcome { at, query, top_k, useful, reward, scope: own } => {
            let judged = judged(scoped(own.as_ref()), at, (query, top_k), useful, reward)?;
            Line::Outcome(OutcomeLine { judged, request: event_id(key, number), text: text.to_owned() })
        }
        Raw::SessionEnd { at, session, _instance: _, scope: own } => Line::SessionEnd(SessionEndLine {
            at,
            scope: scoped(own.as_ref()),
            session,
            text: text.to_owned(),
        }),
    })
}

/// The instant of an event: optional in a request, required in a line.
fn stated(at: Option<Timestamp>) -> Result<Timestamp, String> {
    at.ok_or_else(|| "missing field `at`".to_owned())
}

/// A question with default parameters, and its useful hits.
fn judged(
    scope: Scope,
    at: Timestamp,
    (text, top_k): (String, usize),
    useful: Vec<Term>,
    reward: Option<f64>,
) -> Result<JudgedQuestion, String> {
    check_range("the number of bytes of query", text.len(), TEXT_BYTES_MAX)?;
    check_range("top_k", top_k, TOP_K_MAX)?;
    check_range("the number of ids in useful", useful.len(), USED_MAX)?;
    Ok(JudgedQuestion {
        scope,
        ask: RecallQuery { text, top_k, ..RecallQuery::default() },
        at,
        useful: useful.into_iter().map(Into::into).collect(),
        reward: worth(reward.unwrap_or(1.0)).map_err(|why| why.to_string())?.value(),
    })
}

/// The error in a line, without the line number of the parser, which sees one line and counts from 1.
fn json_error(why: &serde_json::Error) -> String {
    let text = why.to_string();
    text.split_once(" at line ")
        .map_or(text.clone(), |(what, _)| format!("{what}, at column {}", why.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> Reading {
        let similarity = Similarity { dimensions: Some(2), text_threshold: 0.5, model: None };
        let allowed = Allowed::new(&Allowed::LABELS, &Allowed::TYPES).unwrap();
        Reading { key: "k".to_owned(), scope: Scope::local(), similarity, allowed, latest: None }
    }

    fn say(text: &str) -> String {
        match parse(text, 7, &reading()) {
            Ok(line) => format!("{line:?}"),
            Err(why) => why,
        }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a line of each kind")]
    fn every_kind_is_read_and_every_fault_is_named() {
        let memory =
            r#"{"at":"2026-03-02T08:00:00+01:00","kind":"memory","content":"x","mentions":["b","a","b"]}"#;
        let Ok(Line::Event(Event::Remember(event))) = parse(memory, 7, &reading()) else { panic!() };
        assert_eq!(
            event.id.as_str(),
            event_id("k", 7),
            "an event without an id gets one that follows from its place"
        );
        assert_eq!(event.mentions.len(), 2);
        assert_eq!(event.at.millis() % 86_400_000, 7 * 3_600_000);
        let access = r#"{"at":"2026-03-02T08:00:00Z","kind":"access","id":"m","revive":false}"#;
        assert!(say(access).contains("revive: No"));
        assert!(
            say(r#"{"at":"2026-03-02T08:00:00Z","kind":"session_end","session":"s"}"#).contains("SessionEnd")
        );
        assert!(
            say(r#"{"at":"soon","kind":"access","id":"m"}"#).contains("\"soon\" is not an RFC 3339 instant")
        );
        assert!(say(r#"{"at":"2026-03-02T08:00:00Z","kind":"acess","id":"m"}"#).contains(
            "unknown variant `acess`, expected one of `memory`, `access`, `observe`, `fact`, `node`, `edge`, `deposit`, `explore`, `outcome`, `session_end`, at column 4"
        ));
        assert!(
            say(r#"{"at":"2026-03-02T08:00:00Z","kind":"access","id":"m","x":1}"#)
                .contains("unknown field `x`")
        );
        assert!(
            say(r#"{"at":"2026-03-02T08:00:00Z","kind":"access","id":" "}"#)
                .contains("the id of a memory is empty")
        );
        assert!(
            say(r#"{"at":"2026-03-02T08:00:00Z","kind":"memory","content":7}"#).contains("expected a string")
        );
        let at = |rest: &str| say(&format!(r#"{{"at":"2026-03-02T08:00:00Z",{rest}}}"#));
        assert!(at(r#""kind":"node","label":"Room","id":"r1","name":"Kitchen""#).contains("Node"));
        assert!(at(r#""kind":"node","label":"Ro`om","id":"r1""#).contains("is not in the list"));
        assert!(
            at(r#""kind":"edge","from":"Room:r1","to":{"label":"Room","id":"r2"},"type":"HALL""#)
                .contains("Edge")
        );
        assert!(
            at(r#""kind":"edge","from":"a","to":"b","type":"HALL","base_cost":11"#)
                .contains("it must be 0 to 10")
        );
        assert!(
            at(r#""kind":"deposit","path":["a",{"id":"b","via":"HALL"}],"reward":0.5"#)
                .contains("via: Some(\"HALL\")")
        );
        assert!(at(r#""kind":"deposit","path":["a"]"#).contains("this one has 1"));
        assert!(at(r#""kind":"deposit","path":["a","b"],"reward":0"#).contains("the reward is 0"));
        assert!(at(r#""kind":"explore","node":"a""#).contains("Explore"));
        let outcome = |rest: &str| at(&format!(r#""kind":"outcome",{rest}"#));
        assert!(outcome(r#""query":"q","top_k":5,"useful":["a"]"#).contains("reward: 1.0"));
        assert!(
            outcome(r#""query":"","top_k":5,"useful":["a"]"#).contains("bytes of query is 0; it must be 1")
        );
        assert!(
            outcome(r#""query":"q","top_k":0,"useful":["a"]"#).contains("top_k is 0; it must be 1 to 1000")
        );
        assert!(outcome(r#""query":"q","top_k":5,"useful":[]"#).contains("ids in useful is 0; it must be 1"));
        assert!(outcome(r#""query":"q","top_k":5,"useful":["a"],"reward":0"#).contains("reward is 0"));
        assert!(outcome(r#""query":"q","useful":["a"]"#).contains("missing field `top_k`"));
        let embedded = |numbers: &str| {
            say(&format!(
                r#"{{"at":"2026-03-02T08:00:00Z","kind":"memory","content":"x","embedding":[{numbers}]}}"#
            ))
        };
        assert!(embedded("1, 0.5").contains("Embedding([1.0, 0.5])"));
        assert!(embedded("1, 2, 3").contains("has 3 numbers, and embedding.dimensions is 2"));
        let fact = |more: &str| {
            say(&format!(
                r#"{{"at":"2026-03-02T08:00:00Z","kind":"fact","entity":"a","relation":"memory:x","value":true,{more}}}"#
            ))
        };
        let valued = |value: &str| {
            say(&format!(
                r#"{{"at":"2026-03-02T08:00:00Z","kind":"fact","entity":"a","relation":"memory:x","value":{value},"source":"s"}}"#
            ))
        };
        assert!(valued("9007199254740993").contains("Integer(9007199254740993)"));
        assert!(valued("1.0").contains("Number(1.0)"));
        assert!(valued("9223372036854775808").contains("assert it as text"));
        assert!(valued("[1]").contains("text, a number, or true or false"));
        assert!(fact(r#""source":"agent""#).contains("Truth(true)"));
        assert!(fact(r#""source":"system:x""#).contains("the source system:x is not allowed"));
        assert!(fact(r#""source":"agent","scope":"mars""#).contains("facts have no scope mars"));
        assert!(fact(r#""source":"agent","confidence":2"#).contains("confidence is 2, outside 0 ..= 1"));
        assert!(say("{").contains("EOF"));
    }

    #[test]
    fn no_line_makes_the_event_parser_panic() {
        let seeds = [
            r#"{"at":"2026-03-02T08:00:00+01:00","kind":"memory","id":"m","content":"x","mentions":["b","a"],"pinned":true}"#,
            r#"{"at":"2026-03-02T08:00:00Z","kind":"access","id":"m","session":"s","revive":false}"#,
            r#"{"at":"2026-03-02T08:00:00Z","kind":"observe","from":"a","type":"t","to":"b","weight":0.5}"#,
            r#"{"at":"2026-03-02T08:00:00Z","kind":"session_end","session":"s","scope":"team"}"#,
            r#"{"at":"2026-03-02T08:00:00Z","kind":"fact","entity":"a","relation":"memory:x","value":3,"source":"s","confidence":0.5}"#,
            r#"{"at":"2026-03-02T08:00:00Z","kind":"edge","from":"Room:a","to":{"label":"Room","id":"b"},"type":"HALL","base_cost":0.5}"#,
            r#"{"at":"2026-03-02T08:00:00Z","kind":"deposit","path":["a",{"id":"b","via":"HALL"}],"reward":0.5}"#,
            r#"{"at":"2026-03-02T08:00:00Z","kind":"outcome","query":"q","top_k":5,"useful":["a","b"],"reward":0.5}"#,
        ];
        let mut read = 0;
        for text in crate::mutated::mutated(&seeds, 2).take(crate::mutated::MANY) {
            match parse(&text, 7, &reading()) {
                Ok(line) => read += u32::from(line.at().millis() != 0),
                Err(why) => assert!(!why.is_empty()),
            }
        }
        assert!(read > 500, "{read} lines were events all the same");
    }
}

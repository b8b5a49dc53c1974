//! One line of an event file: JSON to a checked event.

use crate::clock::{parse_rfc3339, rfc3339};
use crate::domain::event::{Access, Event, Observe, Remember, Tie, Trace, Walk};
use crate::domain::fact::{Assertion, FactScope, Tuple, Value};
use crate::domain::ids::{
    EntityName, FactRelation, InstanceId, MemoryId, PlaceId, RelationType, Scope, SessionId, Source, Term,
    event_id,
};
use crate::domain::memory::Revive;
use crate::domain::outcome::{USED_MAX, worth};
use crate::domain::relation::Observation;
use crate::domain::similarity::{Embedding, Similarity};
use crate::domain::trail::Allowed;
use crate::domain::units::{Confidence, Timestamp, Weight};
use crate::service::outcomes::Judged;
use crate::service::recall::{RecallQuery, TEXT_BYTES_MAX, TOP_K_MAX};
use crate::service::trails::PlaceRef;
use crate::service::within;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A checked line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// Something that happened to a memory.
    Event(Event),
    /// A relation that was seen.
    Observe(Observe),
    /// A fact that was asserted.
    Fact(Assertion),
    /// Something that happened in the palace.
    Trace(Trace),
    /// A question, and what of its answer was of use.
    Outcome(Came),
    /// A session that ended.
    SessionEnd(SessionEnd),
}

/// A question, and what of its answer was of use.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Came {
    pub(super) judged: Judged,
    /// Under which request it counts once: it follows from its place.
    pub(super) request: String,
    /// The line as it came.
    pub(super) text: String,
}

/// A session that ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SessionEnd {
    pub(super) at: Timestamp,
    pub(super) scope: Scope,
    pub(super) session: SessionId,
    /// The line as it came, to set aside should it be refused.
    pub(super) text: String,
}

impl Line {
    pub(super) fn at(&self) -> Timestamp {
        match self {
            Self::Event(event) => event.at(),
            Self::Observe(observe) => observe.seen.at,
            Self::Fact(fact) => fact.at,
            Self::Trace(trace) => trace.at,
            Self::Outcome(came) => came.judged.at,
            Self::SessionEnd(end) => end.at,
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Raw {
    Memory {
        at: String,
        id: Option<String>,
        content: String,
        session: Option<SessionId>,
        instance: Option<InstanceId>,
        #[serde(default)]
        mentions: Vec<EntityName>,
        scope: Option<Scope>,
        #[serde(default)]
        pinned: bool,
        embedding: Option<Vec<f64>>,
    },
    Access {
        at: String,
        id: MemoryId,
        session: Option<SessionId>,
        #[serde(rename = "instance")]
        _instance: Option<InstanceId>,
        scope: Option<Scope>,
        revive: Option<bool>,
    },
    Observe {
        at: String,
        from: EntityName,
        #[serde(rename = "type")]
        kind: RelationType,
        to: EntityName,
        weight: Option<f64>,
        pinned: Option<bool>,
        scope: Option<Scope>,
    },
    Fact {
        at: String,
        entity: EntityName,
        relation: FactRelation,
        /// Read from the line once more, see [`Exact`].
        #[serde(rename = "value")]
        _value: IgnoredAny,
        confidence: Option<f64>,
        source: Source,
        scope: Option<Scope>,
        valid_until: Option<String>,
    },
    Node {
        at: String,
        label: Term,
        id: PlaceId,
        name: Option<String>,
        scope: Option<Scope>,
    },
    Edge {
        at: String,
        from: PlaceRef,
        to: PlaceRef,
        #[serde(rename = "type")]
        kind: Term,
        base_cost: Option<f64>,
        scope: Option<Scope>,
    },
    Deposit {
        at: String,
        path: Vec<PlaceRef>,
        reward: Option<f64>,
        scope: Option<Scope>,
    },
    Explore {
        at: String,
        node: PlaceRef,
        scope: Option<Scope>,
    },
    Outcome {
        at: String,
        query: String,
        top_k: usize,
        useful: Vec<Term>,
        reward: Option<f64>,
        scope: Option<Scope>,
    },
    SessionEnd {
        at: String,
        session: SessionId,
        #[serde(rename = "instance")]
        _instance: Option<InstanceId>,
        scope: Option<Scope>,
    },
}

/// The value of a fact: a line of many kinds is buffered while its kind is looked for, in which numbers are rounded.
#[derive(Deserialize)]
struct Exact {
    #[serde(deserialize_with = "crate::service::facts::value")]
    value: Value,
}

/// What a line is read by.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    /// Which file it stands in.
    pub(super) key: String,
    /// The scope of whatever names none.
    pub(super) scope: Scope,
    /// What an embedding must be.
    pub(super) similarity: Similarity,
    /// Which labels and types carry pheromones.
    pub(super) allowed: Allowed,
    /// The last instant that an event may have: one ahead of the server's clock would lie in a future that has not been.
    pub(super) latest: Option<Timestamp>,
}

/// Reads line `number` of a file.
pub(super) fn parse(text: &str, number: u64, reading: &Reading) -> Result<Line, String> {
    let line = read_line(text, number, reading)?;
    match reading.latest {
        Some(latest) if line.at() > latest => Err(format!(
            "at is {}, and that lies ahead of the server's clock: only a replay has a future",
            rfc3339(line.at())
        )),
        _ => Ok(line),
    }
}

fn read_line(text: &str, number: u64, reading: &Reading) -> Result<Line, String> {
    let Reading { key, scope, similarity, allowed, .. } = reading;
    let raw: Raw = serde_json::from_str(text).map_err(|why| json_error(&why))?;
    Ok(match raw {
        Raw::Memory { at, id, content, session, instance, mentions, scope: own, pinned, embedding } => {
            let id = id.unwrap_or_else(|| event_id(key, number));
            let id = MemoryId::new(&id).map_err(|why| why.to_string())?;
            let embedding = embedding.map(|numbers| Embedding::new(&id, numbers, similarity));
            let remember = Remember {
                at: parse_rfc3339(&at)?,
                embedding: embedding.transpose().map_err(|why| why.to_string())?,
                id,
                scope: own.unwrap_or_else(|| scope.clone()),
                content,
                session,
                instance,
                mentions,
                pinned,
            };
            Line::Event(Event::Remember(remember.checked().map_err(|why| why.to_string())?))
        }
        Raw::Access { at, id, session, _instance: _, scope: own, revive } => {
            let revive = if revive == Some(false) { Revive::No } else { Revive::Yes };
            let (at, scope) = (parse_rfc3339(&at)?, own.unwrap_or_else(|| scope.clone()));
            Line::Event(Event::Access(Access { at, id, scope, session, revive }))
        }
        Raw::Observe { at, from, kind, to, weight, pinned, scope: own } => Line::Observe(Observe {
            tie: Tie { scope: own.unwrap_or_else(|| scope.clone()), from, kind, to },
            seen: Observation {
                at: parse_rfc3339(&at)?,
                weight: weight.map(Weight::new).transpose().map_err(|why| why.to_string())?,
                pinned,
            },
        }),
        Raw::Fact { at, entity, relation, _value: _, confidence, source, scope: own, valid_until } => {
            let own = own.as_ref().unwrap_or(scope);
            let shared = FactScope::named(own.as_str())
                .ok_or_else(|| format!("facts have no scope {own}; it is local, team, company or public"))?;
            let Exact { value } = serde_json::from_str(text).map_err(|why| json_error(&why))?;
            let assertion = Assertion {
                at: parse_rfc3339(&at)?,
                id: event_id(key, number),
                tuple: Tuple { scope: shared, entity, relation, value },
                confidence: confidence
                    .map_or(Ok(Confidence::ONE), Confidence::new)
                    .map_err(|why| why.to_string())?,
                source,
                valid_until: valid_until.as_deref().map(parse_rfc3339).transpose()?,
            };
            Line::Fact(assertion.checked().map_err(|why| why.to_string())?)
        }
        Raw::Node { at, label, id, name, scope: own } => {
            let label = allowed.label(label.as_str()).map_err(|why| why.to_string())?.clone();
            traced(&at, own, scope, Walk::node(label, id, name).map_err(|why| why.to_string())?)?
        }
        Raw::Edge { at, from, to, kind, base_cost, scope: own } => {
            let kind = allowed.kind(kind.as_str()).map_err(|why| why.to_string())?.clone();
            let walk = Walk::edge(from.place(allowed)?, to.place(allowed)?, kind, base_cost);
            traced(&at, own, scope, walk.map_err(|why| why.to_string())?)?
        }
        Raw::Deposit { at, path, reward, scope: own } => {
            let path = path.into_iter().map(|place| place.step(allowed)).collect::<Result<_, _>>()?;
            let walk = Walk::deposit(path, reward.unwrap_or(1.0)).map_err(|why| why.to_string())?;
            traced(&at, own, scope, walk)?
        }
        Raw::Explore { at, node, scope: own } => {
            traced(&at, own, scope, Walk::Explore { place: node.place(allowed)? })?
        }
        Raw::Outcome { at, query, top_k, useful, reward, scope: own } => {
            let judged = judged(own.unwrap_or_else(|| scope.clone()), &at, (query, top_k), useful, reward)?;
            Line::Outcome(Came { judged, request: event_id(key, number), text: text.to_owned() })
        }
        Raw::SessionEnd { at, session, _instance: _, scope: own } => Line::SessionEnd(SessionEnd {
            at: parse_rfc3339(&at)?,
            scope: own.unwrap_or_else(|| scope.clone()),
            session,
            text: text.to_owned(),
        }),
    })
}

fn traced(at: &str, own: Option<Scope>, scope: &Scope, what: Walk) -> Result<Line, String> {
    Ok(Line::Trace(Trace { at: parse_rfc3339(at)?, scope: own.unwrap_or_else(|| scope.clone()), what }))
}

/// A question as it is asked where nobody says more, and what of its answer was of use.
fn judged(
    scope: Scope,
    at: &str,
    (text, top_k): (String, usize),
    useful: Vec<Term>,
    reward: Option<f64>,
) -> Result<Judged, String> {
    within("the number of bytes of query", text.len(), TEXT_BYTES_MAX)?;
    within("top_k", top_k, TOP_K_MAX)?;
    within("the number of ids in useful", useful.len(), USED_MAX)?;
    Ok(Judged {
        scope,
        ask: RecallQuery { text, top_k, ..RecallQuery::default() },
        at: parse_rfc3339(at)?,
        useful: useful.into_iter().map(Into::into).collect(),
        reward: worth(reward.unwrap_or(1.0)).map_err(|why| why.to_string())?.value(),
    })
}

/// What is wrong with a line. The parser has seen one line and counts from 1; which one it is, the caller says.
fn json_error(why: &serde_json::Error) -> String {
    let text = why.to_string();
    text.split_once(" at line ")
        .map_or(text.clone(), |(what, _)| format!("{what}, at column {}", why.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> Reading {
        let similarity = Similarity { dimensions: Some(2), text_threshold: 0.5 };
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
        assert!(embedded("1, 2, 3").contains("has 3 numbers, and similarity.embedding_dimensions is 2"));
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
    fn no_line_makes_the_reader_of_events_fall() {
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

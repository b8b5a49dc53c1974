//! What came back to mind, and why.

use crate::domain::units::Timestamp;
use crate::service::engine::{Field, Found, Scored};
use crate::service::mirrors::Held;
use crate::service::recall::{Answered, Dimensions as Heard, Evidence, Freshness, Hit, MatchKind};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// An answer of the mirror.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recall {
    /// A name for it, the same for the same question to the same state; nothing is kept under it.
    pub recall_id: String,
    /// Which state of the mirror was asked.
    pub generation: u64,
    /// How many outcomes had been learned when the question was begun.
    pub tick_start: u64,
    /// How many when it was done: another number says that weights moved meanwhile.
    pub tick_end: u64,
    /// The instant up to which the graph was seen.
    pub as_of: Option<Timestamp>,
    /// Milliseconds since the graph was last looked at.
    pub stale_ms: u64,
    /// Whether that is longer than is configured.
    pub stale: bool,
    /// Whether everything that may be held is; else only the hottest nodes were searched.
    pub whole: bool,
    /// Nodes that are held divided by nodes that may be, 1 where all are.
    pub held_share: f64,
    /// Whether something was cut short: which flag ends in truncated says what.
    pub truncated: bool,
    /// What was found, the best first.
    pub hits: Vec<Recollection>,
    /// Where the search began, the strongest first.
    pub seeds: Vec<RecallSeed>,
    /// With priming: what joined them because it came together with them in earlier questions, the strongest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub primed: Vec<PrimedNode>,
    /// Seeds of the question that are not in the mirror.
    pub unknown_seeds: Vec<String>,
    /// With xlr: what was contrasted with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anti_seeds: Vec<String>,
    /// What was cut short, or was still moving when it was taken.
    pub flags: Vec<&'static str>,
    /// What finding took.
    pub counters: RecallCounters,
}

/// A hit.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
pub struct Recollection {
    /// Its id; of an entity its name.
    pub id: String,
    /// What people read: the name, or the first 200 bytes of a memory.
    pub label: String,
    /// Its label in the graph.
    pub kind: String,
    /// By what hits are ordered; comparable inside one answer only.
    pub score: f32,
    /// How it does by each kind of evidence, 0 to 1.
    pub dimensions: Dimensions,
    /// What agreement of several kinds of evidence multiplied its score by.
    pub bonus: f32,
    /// The strongest way from a seed to it, by ids; empty where its words alone speak for it.
    pub path: Vec<String>,
    /// With why: the relationships of that way, and what they weigh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<PathStep>>,
    /// Its place among memories by their words, from 1.
    pub text_rank: Option<u32>,
    /// With xlr: what contrast says of it, if waves reached it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contrast: Option<Contrast>,
    /// With content: what the memory says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Where it comes from, if anybody said.
    pub provenance: Option<Provenance>,
    /// Whether it lacks relationships because there was no room for their other ends.
    pub partial: bool,
}

/// How a hit does by each kind of evidence, 0 to 1.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Dimensions {
    /// What joins it to the seeds.
    pub structural: f32,
    /// How like the question it is called, or what stands with it.
    pub semantic: f32,
    /// How fresh it is for what it is worth, or how it changes with the seeds.
    pub temporal: f32,
    /// How the seeds lead to it as causes, or it to them.
    pub causal: f32,
}

impl From<Heard> for Dimensions {
    fn from(heard: Heard) -> Self {
        let Heard { structural, semantic, temporal, causal, .. } = heard;
        Self { structural, semantic, temporal, causal }
    }
}

/// What contrast says of a hit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Contrast {
    /// What the wave from the seeds left there.
    pub hot: f32,
    /// What the wave from elsewhere left there.
    pub cold: f32,
    /// How alike and in step the two are, 0 to 1.
    pub overlap: f32,
    /// How well connected it is beside the mean, 0.3 to 2.
    pub density: f32,
    /// Whether it is too near a seed to be damped.
    pub immune: bool,
    /// What is left of hot, beside the greatest of it or 1; below 0 where cold takes more than there is.
    pub net: f32,
    /// By what its structural score is multiplied, 0 to 1, where contrast gates.
    pub gate: f32,
}

impl From<Field> for Contrast {
    fn from(field: Field) -> Self {
        let Field { hot, cold, overlap, density, immune, net, gate, .. } = field;
        Self { hot, cold, overlap, density, immune, net, gate }
    }
}

/// A relationship of a way.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PathStep {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it weighs.
    pub weight: f32,
}

/// Where something comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Provenance {
    /// In which source.
    pub source_path: Option<String>,
    /// From which line on.
    pub line_start: Option<u32>,
    /// To which line.
    pub line_end: Option<u32>,
    /// Some of it.
    pub excerpt: Option<String>,
    /// In which namespace.
    pub namespace: Option<String>,
    /// Whether it is the original.
    pub canonical: bool,
}

/// Where the search began.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecallSeed {
    /// Its id.
    pub id: String,
    /// What people read.
    pub label: String,
    /// Above 0, up to 1.
    pub score: f32,
    /// With why: what speaks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<SeedEvidence>>,
}

/// What joined the seeds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PrimedNode {
    /// Its id.
    pub id: String,
    /// Above 0, up to a tenth of the strongest seed.
    pub score: f32,
}

/// What speaks for a seed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SeedEvidence {
    /// How it was found: name, exact, prefix, contains, tag, spelling, fact, external or text.
    pub ground: &'static str,
    /// By what: a word of the question, or the other end of a fact.
    pub of: String,
    /// What that alone would give it.
    pub score: f32,
}

/// What finding took.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecallCounters {
    /// Relationships that were read, each way by itself.
    pub slots_read: u64,
    /// Of these, how many carried something.
    pub useful_slots: u64,
    /// Nodes that passed something on.
    pub rows_touched: u64,
    /// Nodes that were reached.
    pub nodes_touched: u64,
    /// Of these, how many lack relationships for want of room.
    pub partial_nodes: u64,
    /// Places of words that were looked at.
    pub postings_read: u64,
}

const fn ground(ground: MatchKind) -> &'static str {
    match ground {
        MatchKind::Name => "name",
        MatchKind::Exact => "exact",
        MatchKind::Prefix => "prefix",
        MatchKind::Contains => "contains",
        MatchKind::Tag => "tag",
        MatchKind::Trigram => "spelling",
        MatchKind::Fact => "fact",
        MatchKind::External => "external",
        MatchKind::Text => "text",
    }
}

impl Recall {
    /// As it is told, with reasons where they are asked for.
    #[must_use]
    pub fn of(answered: Answered, why: bool) -> Self {
        let Answered { recalled, mut contents, mut steps, freshness } = answered;
        let hit = |hit: Hit| {
            let steps = steps.remove(&hit.id).filter(|_| why);
            Recollection {
                content: contents.remove(&hit.id),
                steps: steps
                    .map(|steps| steps.into_iter().map(|(kind, weight)| PathStep { kind, weight }).collect()),
                id: hit.id,
                label: hit.label,
                kind: hit.kind,
                score: hit.score,
                dimensions: hit.dimensions.into(),
                bonus: hit.bonus,
                path: hit.route.map_or_else(Vec::new, |route| route.ids),
                text_rank: hit.text_rank,
                contrast: hit.contrast.map(Contrast::from),
                provenance: hit.provenance.map(|from| Provenance {
                    source_path: from.source_path,
                    line_start: from.line_start,
                    line_end: from.line_end,
                    excerpt: from.excerpt,
                    namespace: from.namespace,
                    canonical: from.canonical,
                }),
                partial: hit.partial,
            }
        };
        let speaks =
            |one: Evidence| SeedEvidence { ground: ground(one.ground), of: one.of, score: one.score };
        let counters = recalled.counters;
        let flags: Vec<&'static str> = recalled.flags.names().collect();
        Self {
            recall_id: recalled.id,
            generation: recalled.generation.0,
            tick_start: freshness.tick_start,
            tick_end: freshness.tick_end,
            as_of: freshness.as_of,
            stale_ms: milliseconds(&freshness),
            stale: freshness.stale,
            whole: freshness.whole,
            held_share: freshness.held_share,
            truncated: cut_short(&flags),
            hits: recalled.hits.into_iter().map(hit).collect(),
            seeds: recalled
                .seeds
                .into_iter()
                .map(|seed| RecallSeed {
                    id: seed.id,
                    label: seed.label,
                    score: seed.score,
                    evidence: why.then(|| seed.evidence.into_iter().map(speaks).collect()),
                })
                .collect(),
            primed: recalled
                .primed
                .into_iter()
                .map(|one| PrimedNode { id: one.id, score: one.score })
                .collect(),
            unknown_seeds: recalled.unknown,
            anti_seeds: recalled.anti_seeds,
            flags,
            counters: RecallCounters {
                slots_read: counters.slots_read,
                useful_slots: counters.useful_slots,
                rows_touched: counters.rows_touched,
                nodes_touched: counters.nodes_touched,
                partial_nodes: counters.partial_nodes,
                postings_read: counters.postings_read,
            },
        }
    }
}

pub(super) fn cut_short(flags: &[&str]) -> bool {
    flags.iter().any(|flag| flag.ends_with("_truncated"))
}

pub(super) fn milliseconds(freshness: &Freshness) -> u64 {
    u64::try_from(freshness.age.as_millis()).unwrap_or(u64::MAX)
}

/// What a mechanism of the engine found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineAnswer {
    /// Which state was asked.
    pub generation: u64,
    /// How many outcomes had been learned when the question was begun.
    pub tick_start: u64,
    /// How many when it was done: another number says that weights moved meanwhile.
    pub tick_end: u64,
    /// The instant up to which the graph was seen.
    pub as_of: Option<Timestamp>,
    /// Milliseconds since the graph was last looked at.
    pub stale_ms: u64,
    /// Whether that is longer than is configured.
    pub stale: bool,
    /// Whether everything that may be held is; else only the hottest nodes were searched.
    pub whole: bool,
    /// Nodes that are held divided by nodes that may be, 1 where all are.
    pub held_share: f64,
    /// Whether something was cut short: which flag ends in truncated says what.
    pub truncated: bool,
    /// What was found, the best first.
    pub hits: Vec<EngineHit>,
    /// Seeds that are not there.
    pub unknown_seeds: Vec<String>,
    /// What was cut short, or was still moving when it was taken.
    pub flags: Vec<&'static str>,
    /// Relationships that were read, each way by itself.
    pub slots_read: u64,
    /// Nodes that were reached.
    pub nodes_touched: u64,
}

/// A node and how it does.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineHit {
    /// Its id; of an entity its name.
    pub id: String,
    /// What people read.
    pub label: String,
    /// Its label in the graph.
    pub kind: String,
    /// How strongly it is lit, or how well it stands.
    pub score: f32,
}

impl EngineAnswer {
    /// As it is told.
    #[must_use]
    pub fn of(found: Found, freshness: &Freshness) -> Self {
        let hit = |one: Scored| EngineHit { id: one.id, label: one.label, kind: one.kind, score: one.score };
        Self {
            generation: found.generation,
            tick_start: freshness.tick_start,
            tick_end: freshness.tick_end,
            as_of: freshness.as_of,
            stale_ms: milliseconds(freshness),
            stale: freshness.stale,
            whole: freshness.whole,
            held_share: freshness.held_share,
            truncated: cut_short(&found.flags),
            hits: found.nodes.into_iter().map(hit).collect(),
            unknown_seeds: found.unknown,
            flags: found.flags,
            slots_read: found.work.0,
            nodes_touched: found.work.1,
        }
    }
}

/// What is held of a scope in memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Mirror {
    /// Whose.
    pub scope: String,
    /// Whether it was loaded yet.
    pub loaded: bool,
    /// Which state.
    pub generation: Option<u64>,
    /// The instant up to which the graph was seen.
    pub as_of: Option<Timestamp>,
    /// Milliseconds since the graph was last looked at.
    pub stale_ms: Option<u64>,
    /// Whether that is longer than is configured.
    pub stale: bool,
    /// Whether everything that may be held is.
    pub whole: Option<bool>,
    /// Nodes that are held divided by nodes that may be, 1 where all are.
    pub held_share: Option<f64>,
    /// Nodes.
    pub nodes: Option<usize>,
    /// Relationships, each way by itself.
    pub slots: Option<usize>,
    /// Bytes.
    pub bytes: Option<usize>,
    /// How many outcomes it has learned.
    pub tick: Option<u64>,
    /// For how many relationships, each way by itself, something was learned.
    pub learned: Option<usize>,
    /// What could not be held, since some property is none of its kind: nodes and relationships.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Which state was saved last as a file, if mirror.folder says where.
    pub saved_generation: Option<u64>,
    /// How many saves failed since the process began.
    pub save_failures: u64,
    /// How often what was learned was not saved, since the graph it was learned on could not be.
    pub learned_saves_skipped: u64,
}

impl From<Held> for Mirror {
    fn from(held: Held) -> Self {
        let state = held.state;
        let skipped = state.map_or_else(BTreeMap::new, |state| {
            BTreeMap::from([("nodes", state.skipped.0), ("relationships", state.skipped.1)])
        });
        Self {
            scope: held.scope.to_string(),
            loaded: state.is_some(),
            generation: state.map(|state| state.generation),
            as_of: state.and_then(|state| state.freshness.as_of),
            stale_ms: state.map(|state| milliseconds(&state.freshness)),
            stale: state.is_some_and(|state| state.freshness.stale),
            whole: state.map(|state| state.freshness.whole),
            held_share: state.map(|state| state.freshness.held_share),
            nodes: state.map(|state| state.nodes),
            slots: state.map(|state| state.slots),
            bytes: state.map(|state| state.bytes),
            tick: state.map(|state| state.freshness.tick_end),
            learned: state.map(|state| state.learned),
            skipped,
            saved_generation: held.saves.and_then(|saves| saves.generation),
            save_failures: held.saves.map_or(0, |saves| saves.failures),
            learned_saves_skipped: held.saves.map_or(0, |saves| saves.skipped),
        }
    }
}

//! What mechanisms of the engine say, each on its own.
//!
//! Every answer has hits with an id, a label, a kind and the score by which they are ordered, whatever else a mechanism says
//! of them.

use super::recall::{Contrast, cut_short, milliseconds};
use crate::domain::units::Timestamp;
use crate::service::engine as found;
use crate::service::recall::Freshness;
use schemars::JsonSchema;
use serde::Serialize;

/// Which state was asked, and what is to be known of the answer as a whole.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineState {
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
    /// What was cut short, left out, or still moving when it was taken.
    pub flags: Vec<&'static str>,
    /// What was named in the question and is not there.
    pub unknown_seeds: Vec<String>,
}

impl EngineState {
    fn of(generation: u64, flags: Vec<&'static str>, unknown: Vec<String>, freshness: &Freshness) -> Self {
        Self {
            generation,
            tick_start: freshness.tick_start,
            tick_end: freshness.tick_end,
            as_of: freshness.as_of,
            stale_ms: milliseconds(freshness),
            stale: freshness.stale,
            whole: freshness.whole,
            held_share: freshness.held_share,
            truncated: cut_short(&flags),
            flags,
            unknown_seeds: unknown,
        }
    }
}

/// A node.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EngineNode {
    /// Its id; of an entity its name.
    pub id: String,
    /// What people read.
    pub label: String,
    /// Its label in the graph.
    pub kind: String,
}

impl From<found::Node> for EngineNode {
    fn from(node: found::Node) -> Self {
        Self { id: node.id, label: node.label, kind: node.kind }
    }
}

/// What contrast made of what seeds light up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct XlrAnswer {
    /// Of which state.
    #[serde(flatten)]
    pub state: EngineState,
    /// What is lit, by what is left of it; of nodes that are left with as much, what was lit more comes first.
    pub hits: Vec<XlrHit>,
    /// What was contrasted with.
    pub anti_seeds: Vec<String>,
    /// Relationships that were read to light it up, each way by itself.
    pub slots_read: u64,
    /// Nodes that were reached.
    pub nodes_touched: u64,
    /// Pulses of both waves.
    pub pulses: u64,
}

/// A node that is lit, and what contrast makes of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct XlrHit {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// What contrast left of its activation.
    pub score: f32,
    /// How strongly it is lit.
    pub activation: f32,
    /// Its place by that alone, from 1.
    pub was: usize,
    /// What contrast says of it; null where the wave from the seeds did not come, which leaves it as it is.
    pub contrast: Option<Contrast>,
}

impl XlrAnswer {
    /// As it is told.
    #[must_use]
    pub fn of(found: found::Contrasted, freshness: &Freshness) -> Self {
        let hit = |one: found::Gated| XlrHit {
            node: one.node.into(),
            score: one.after,
            activation: one.before,
            was: one.was,
            contrast: one.field.map(Contrast::from),
        };
        Self {
            state: EngineState::of(found.generation, found.flags, found.unknown, freshness),
            hits: found.nodes.into_iter().map(hit).collect(),
            anti_seeds: found.anti_seeds,
            slots_read: found.work.0,
            nodes_touched: found.work.1,
            pulses: found.pulses,
        }
    }
}

/// What waves make of the nodes they came to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResonateAnswer {
    /// Of which state.
    #[serde(flatten)]
    pub state: EngineState,
    /// By amplitude, the largest first.
    pub hits: Vec<ResonateHit>,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f64,
    /// With sympathetic: what swings along far from every seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sympathetic: Option<Sympathy>,
    /// How the waves ran.
    #[serde(flatten)]
    pub waves: WavesRun,
}

/// How a node swings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResonateHit {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Its amplitude.
    pub score: f32,
    /// How far it swings.
    pub amplitude: f32,
    /// Where in its turn it is, 0 to 2 pi.
    pub phase: f64,
    /// How much of what came is in step, 0 to 1.
    pub coherence: f32,
    /// Whether it swings at least half as far as the node that swings farthest.
    pub antinode: bool,
    /// Whether much came and next to nothing is left of it.
    pub quiet: bool,
}

/// What swings along far from every seed: more than two relationships away.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sympathy {
    /// By amplitude, the largest first.
    pub hits: Vec<Sympathetic>,
    /// How many there are beside these.
    pub left_out: usize,
    /// How many nodes no wave came to.
    pub unreached: usize,
}

/// A node that swings along.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sympathetic {
    /// How it swings.
    #[serde(flatten)]
    pub swing: ResonateHit,
    /// Whether its community is that of no seed.
    pub cross_region: bool,
}

/// How waves ran.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WavesRun {
    /// Nodes that something came to.
    pub nodes_touched: usize,
    /// Pulses that were followed.
    pub pulses: u64,
    /// Sum of the squared amplitudes of pulses that were dropped for want of budget.
    pub dropped_energy: f64,
}

impl ResonateAnswer {
    /// As it is told.
    #[must_use]
    pub fn of(found: found::Swings, freshness: &Freshness) -> Self {
        let (waves, unknown, flags) = WavesRun::of(found.run);
        Self {
            state: EngineState::of(found.generation, flags, unknown, freshness),
            hits: found.nodes.into_iter().map(ResonateHit::from).collect(),
            energy: found.energy,
            sympathetic: found.sympathy.map(|found| Sympathy {
                hits: found
                    .nodes
                    .into_iter()
                    .map(|(swing, cross_region)| Sympathetic { swing: swing.into(), cross_region })
                    .collect(),
                left_out: found.left_out,
                unreached: found.unreached,
            }),
            waves,
        }
    }
}

impl From<found::Swing> for ResonateHit {
    fn from(one: found::Swing) -> Self {
        Self {
            node: one.node.into(),
            score: one.amplitude,
            amplitude: one.amplitude,
            phase: one.phase,
            coherence: one.coherence,
            antinode: one.antinode,
            quiet: one.quiet,
        }
    }
}

impl WavesRun {
    /// With the seeds that are not there, and the flags.
    fn of(run: found::Run) -> (Self, Vec<String>, Vec<&'static str>) {
        let found::Run { unknown, flags, reached, pulses, dropped_energy } = run;
        (Self { nodes_touched: reached, pulses, dropped_energy }, unknown, flags)
    }
}

/// At which frequencies nodes swing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HarmonicsAnswer {
    /// Of which state.
    #[serde(flatten)]
    pub state: EngineState,
    /// The harmonics there are, at most five: no relationship makes more than half a turn.
    pub harmonics: Vec<Harmonic>,
    /// Who answers most to each, by harmonic, then by amplitude.
    pub hits: Vec<HarmonicsHit>,
    /// All frequencies there are: what lies beyond is their mirror image.
    pub sweep: Vec<SweepStep>,
    /// How the waves ran.
    #[serde(flatten)]
    pub waves: WavesRun,
}

/// A multiple of the frequency that was asked about.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Harmonic {
    /// Which multiple, from 1.
    pub harmonic: u8,
    /// The frequency itself.
    pub frequency: f64,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f64,
    /// How many nodes answer most to it, of equal ones to the lower.
    pub nodes: usize,
}

/// How a node answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HarmonicsHit {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// How far it swings at its harmonic.
    pub score: f32,
    /// The harmonic it answers most to.
    pub harmonic: u8,
    /// How far it swings at each.
    pub amplitudes: Vec<f32>,
}

/// A frequency of a sweep.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepStep {
    /// Which.
    pub frequency: f64,
    /// How many relationships a whole turn takes; null at frequency 0, where nothing turns.
    pub period: Option<f64>,
    /// Sum of the squared amplitudes of all nodes.
    pub energy: f32,
    /// Whether that is above what it is just below and just above this frequency.
    pub resonant: bool,
}

impl HarmonicsAnswer {
    /// As it is told.
    #[must_use]
    pub fn of(found: found::Spectrum, freshness: &Freshness) -> Self {
        let (waves, unknown, flags) = WavesRun::of(found.run);
        let harmonic = |one: found::Harmonic| Harmonic {
            harmonic: one.harmonic,
            frequency: one.frequency,
            energy: one.energy,
            nodes: one.nodes,
        };
        let hit = |one: found::Response| HarmonicsHit {
            node: one.node.into(),
            score: one.amplitude,
            harmonic: one.harmonic,
            amplitudes: one.amplitudes,
        };
        let step = |one: found::Step| SweepStep {
            frequency: one.frequency,
            period: one.period,
            energy: one.energy,
            resonant: one.resonant,
        };
        Self {
            state: EngineState::of(found.generation, flags, unknown, freshness),
            harmonics: found.harmonics.into_iter().map(harmonic).collect(),
            hits: found.nodes.into_iter().map(hit).collect(),
            sweep: found.sweep.into_iter().map(step).collect(),
            waves,
        }
    }
}

/// Who belongs together.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommunitiesAnswer {
    /// Of which state.
    #[serde(flatten)]
    pub state: EngineState,
    /// How much more is joined inside communities than chance would have it: at resolution 1 from -0.5 to 1, and 0 where
    /// nobody is joined to anybody.
    pub modularity: f64,
    /// How many communities there are.
    pub count: usize,
    /// How many of them are of one node.
    pub alone: usize,
    /// How many levels it took.
    pub levels: u32,
    /// Those that are told, the largest first.
    pub communities: Vec<Community>,
    /// Members of these, by community, those that stand best first.
    pub hits: Vec<CommunitiesHit>,
    /// How many nodes are not among them: of the one community that was asked about, else of all.
    pub left_out: usize,
    /// Who joins communities to each other most; or the one node that was asked about.
    pub bridges: Vec<Bridge>,
}

/// A community.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Community {
    /// Its number: 0 is the largest.
    pub community: u32,
    /// How many nodes belong to it.
    pub size: usize,
}

/// A node and the community it belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommunitiesHit {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// How well it stands in the whole graph.
    pub score: f32,
    /// Its community.
    pub community: u32,
}

/// A node that is joined to communities.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bridge {
    /// Which.
    #[serde(flatten)]
    pub node: EngineNode,
    /// Its own community.
    pub community: u32,
    /// What joins it to others of its own: the weights of relationships, each way by itself.
    pub inside: f64,
    /// What joins it to all other communities.
    pub outside: f64,
    /// What joins it to each of these, the most first.
    pub ties: Vec<CommunityTie>,
}

/// What joins a node to a community.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommunityTie {
    /// Which one.
    pub community: u32,
    /// The weights of the relationships that do.
    pub weight: f64,
}

impl CommunitiesAnswer {
    /// As it is told.
    #[must_use]
    pub fn of(found: found::Divided, freshness: &Freshness) -> Self {
        let member = |one: found::Member| CommunitiesHit {
            node: one.node.into(),
            score: one.standing,
            community: one.community.0,
        };
        let tie = |one: found::Tie| CommunityTie { community: one.community.0, weight: one.weight };
        let bridge = |one: found::Bridge| Bridge {
            node: one.node.into(),
            community: one.community.0,
            inside: one.inside,
            outside: one.outside,
            ties: one.ties.into_iter().map(tie).collect(),
        };
        let told = found.communities.into_iter();
        Self {
            state: EngineState::of(found.generation, found.flags, found.unknown, freshness),
            modularity: found.modularity,
            count: found.count,
            alone: found.alone,
            levels: found.levels,
            communities: told.map(|(of, size)| Community { community: of.0, size }).collect(),
            hits: found.members.into_iter().map(member).collect(),
            left_out: found.left_out,
            bridges: found.bridges.into_iter().map(bridge).collect(),
        }
    }
}

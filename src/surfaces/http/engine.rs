//! Contrast, waves and communities, over HTTP: mechanisms of the engine, each on its own.

use super::input::Nothing;
use super::problem::Problem;
use super::recall::{GivenSeed, given, top_k};
use super::route::{Answer, Call, Needs, Route};
use ebb_core::api::engine::{CommunitiesAnswer, HarmonicsAnswer, ResonateAnswer, XlrAnswer};
use ebb_core::domain::ids::{Scope, Term};
use ebb_core::domain::key::Right;
use ebb_core::service::engine::{Contrast, Divide, Waves};
use schemars::JsonSchema;
use serde::Deserialize;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/engine/xlr", Needs::InScope(Right::Read), xlr)
            .says("Say what lights up from seeds, and what of it would light up for any question")
            .also(&[404])
            .reads_much()
            .note("Spreads by the rule of recall. score is what contrast leaves of activation."),
        Route::post("/v1/engine/resonate", Needs::InScope(Right::Read), resonate)
            .says("Say what seeds make swing, and what swings along far from them")
            .also(&[404])
            .reads_much()
            .note(
                "With sympathetic the communities of the whole graph are worked out, once for each state of it: \
                 seconds where there are a million nodes.",
            ),
        Route::post("/v1/engine/harmonics", Needs::InScope(Right::Read), harmonics)
            .says("Say at which frequencies nodes swing: multiples of one, and all there are")
            .also(&[404])
            .reads_much(),
        Route::post("/v1/engine/communities", Needs::InScope(Right::Read), communities)
            .says("Say who belongs together, and who joins communities to each other")
            .also(&[404])
            .reads_much()
            .note(
                "Costs the whole graph: seconds where there are a million nodes. At resolution 1 the answer is kept \
                 until the graph changes. At most 10,000 members are told together; left_out says how many are not.",
            ),
    ]
}

/// What is to be contrasted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct XlrRequest {
    /// Ids to begin at.
    #[schemars(length(max = 200))]
    seeds: Vec<GivenSeed>,
    /// How many nodes at most.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    top_k: usize,
    /// Whose data.
    scope: Option<Scope>,
}

/// Waves that are to be read at one frequency.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResonateRequest {
    /// Ids that waves set out from, each with its amplitude.
    #[schemars(length(max = 200))]
    seeds: Vec<GivenSeed>,
    /// At which frequency they are read, above 0.
    #[serde(default = "once")]
    #[schemars(range(min = 0.0))]
    frequency: f32,
    /// How many relationships lie from crest to crest at frequency 1, above 0; 16 where nothing is said.
    #[schemars(range(min = 0.0))]
    wavelength: Option<f32>,
    /// How many relationships a wave crosses at most.
    #[serde(default = "hops")]
    #[schemars(range(min = 1, max = 10))]
    hops: u8,
    /// How many pulses are followed at most; 50,000 where nothing is said.
    #[schemars(range(min = 1, max = 1_000_000))]
    pulses: Option<u32>,
    /// Whether to say what swings along far from every seed.
    #[serde(default)]
    sympathetic: bool,
    /// How many nodes at most, of each list.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    top_k: usize,
    /// Whose data.
    scope: Option<Scope>,
}

/// Waves that are to be read at all frequencies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HarmonicsRequest {
    /// Ids that waves set out from, each with its amplitude.
    #[schemars(length(max = 200))]
    seeds: Vec<GivenSeed>,
    /// The frequency whose multiples are read, above 0.
    #[serde(default = "once")]
    #[schemars(range(min = 0.0))]
    frequency: f32,
    /// How many relationships lie from crest to crest at frequency 1, above 0; 16 where nothing is said.
    #[schemars(range(min = 0.0))]
    wavelength: Option<f32>,
    /// How many relationships a wave crosses at most.
    #[serde(default = "hops")]
    #[schemars(range(min = 1, max = 10))]
    hops: u8,
    /// How many pulses are followed at most; 50,000 where nothing is said.
    #[schemars(range(min = 1, max = 1_000_000))]
    pulses: Option<u32>,
    /// How many nodes at most, of each harmonic.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    top_k: usize,
    /// Whose data.
    scope: Option<Scope>,
}

/// How a graph is to be divided.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CommunitiesRequest {
    /// Above 0; above 1 communities get smaller.
    #[serde(default = "once")]
    #[schemars(range(min = 0.0))]
    resolution: f32,
    /// Only the community of this id, and how it is joined to others.
    node: Option<Term>,
    /// How many communities at most.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    top_k: usize,
    /// How many members of each at most; 5 where nothing is said, and 20 of the community of a node.
    #[schemars(range(min = 1, max = 1_000))]
    members: Option<usize>,
    /// Whose data.
    scope: Option<Scope>,
}

const fn once() -> f32 {
    1.0
}

const fn hops() -> u8 {
    10
}

async fn xlr(call: Call<Nothing, Nothing, XlrRequest>) -> Result<Answer<XlrAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let asked = Contrast { seeds: given(&call.body.seeds), top_k: call.body.top_k };
    let (found, freshness) = call.service().contrast(&scope, asked).await?;
    Ok(Answer::ok(XlrAnswer::of(found, &freshness)))
}

async fn resonate(call: Call<Nothing, Nothing, ResonateRequest>) -> Result<Answer<ResonateAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let ResonateRequest { seeds, frequency, wavelength, hops, pulses, sympathetic, top_k, .. } = &call.body;
    let asked = Waves {
        seeds: given(seeds),
        frequency: *frequency,
        wavelength: *wavelength,
        hops: *hops,
        pulses: *pulses,
        top_k: *top_k,
    };
    let (found, freshness) = call.service().resonate(&scope, asked, *sympathetic).await?;
    Ok(Answer::ok(ResonateAnswer::of(found, &freshness)))
}

async fn harmonics(
    call: Call<Nothing, Nothing, HarmonicsRequest>,
) -> Result<Answer<HarmonicsAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let HarmonicsRequest { seeds, frequency, wavelength, hops, pulses, top_k, .. } = &call.body;
    let asked = Waves {
        seeds: given(seeds),
        frequency: *frequency,
        wavelength: *wavelength,
        hops: *hops,
        pulses: *pulses,
        top_k: *top_k,
    };
    let (found, freshness) = call.service().harmonics(&scope, asked).await?;
    Ok(Answer::ok(HarmonicsAnswer::of(found, &freshness)))
}

async fn communities(
    call: Call<Nothing, Nothing, CommunitiesRequest>,
) -> Result<Answer<CommunitiesAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let CommunitiesRequest { resolution, node, top_k, members, .. } = &call.body;
    let asked = Divide {
        resolution: *resolution,
        node: node.clone().map(Into::into),
        top_k: Some(*top_k),
        members: *members,
    };
    let (found, freshness) = call.service().communities(&scope, asked).await?;
    Ok(Answer::ok(CommunitiesAnswer::of(found, &freshness)))
}

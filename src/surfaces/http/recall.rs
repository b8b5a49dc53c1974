//! Recall, over HTTP.

use super::input::Nothing;
use super::problem::Problem;
use super::route::{Answer, Call, Needs, Route};
use ebb_core::api::recall::{EngineAnswer, Mirror, Recall};
use ebb_core::domain::ids::{Scope, Term};
use ebb_core::domain::key::Right;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::engine::{Activate, Rank};
use ebb_core::service::recall::{
    Ask, Dimension, Error, Filter, Fusion, Profile, Refused, SeedMass, Spread, Xlr,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/recall", Needs::InScope(Right::Read), recall)
            .says("Say what a question reminds of")
            .also(&[404])
            .note(
                "From memory, where the hot part of the graph is held: it writes nothing, but for what it teaches where every \
                 recall is learned from. The first question after a start waits until it is loaded. stale_ms says how old what \
                 was asked is, held_share how much of the scope is held. 503 where nothing of it \
                 fits. What was of use is reported to /v1/outcomes, with the path to it.",
            ),
        Route::post("/v1/engine/activate", Needs::InScope(Right::Read), activate)
            .says("Say what lights up from seeds, without words")
            .also(&[404]),
        Route::post("/v1/engine/pagerank", Needs::InScope(Right::Read), rank)
            .says("Say who stands well, for everybody or for a reader who begins at seeds")
            .also(&[404]),
        Route::get("/v1/mirror", Needs::InScope(Right::Read), mirror)
            .says("Say what is held in memory of a scope, and how current it is")
            .also(&[404]),
    ]
}

/// A question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecallRequest {
    /// The question, in words.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    text: String,
    /// Ids to begin at, such as what a vector index found.
    #[serde(default)]
    #[schemars(length(max = 200))]
    seeds: Vec<GivenSeed>,
    /// How many hits at most.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    top_k: usize,
    /// Only nodes of these labels, such as Memory.
    #[serde(default)]
    #[schemars(length(max = 64))]
    kinds: Vec<Term>,
    /// Only memories of these tiers.
    #[serde(default)]
    #[schemars(length(max = 64))]
    tiers: Vec<Term>,
    /// Only what was used since.
    since: Option<Timestamp>,
    /// Only memories made in this session.
    session: Option<Term>,
    /// Whose data.
    scope: Option<Scope>,
    /// By which rule signals spread.
    #[serde(default)]
    profile: ProfileName,
    /// What it means to be joined to the seeds.
    #[serde(default)]
    spread: SpreadName,
    /// Which kinds of evidence are heard; those of engine.dimensions where nothing is said.
    #[schemars(length(max = 4))]
    dimensions: Option<Vec<DimensionName>>,
    /// What contrast with other places of the graph does; engine.xlr where nothing is said.
    xlr: Option<XlrModeName>,
    /// Whether nodes join that came with the seeds in earlier questions; engine.priming where nothing is said.
    priming: Option<bool>,
    /// Whether a seed keeps the value it begins with.
    #[serde(default)]
    seed_mass: SeedMassName,
    /// Whether the words of memories count.
    #[serde(default = "yes")]
    words: bool,
    /// Whether to say what speaks for each seed, and by which relationships each hit was reached.
    #[serde(default)]
    why: bool,
    /// Whether to read what memories say; without it the answer comes from memory alone.
    #[serde(default = "yes")]
    content: bool,
}

const fn yes() -> bool {
    true
}

pub(super) const fn top_k() -> usize {
    20
}

/// A kind of evidence.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum DimensionName {
    /// What joins a node to the seeds.
    Structural,
    /// How like the question it is called, or what stands with it.
    Semantic,
    /// How fresh it is for what it is worth, or how it changes with the seeds.
    Temporal,
    /// How the seeds lead to it as causes, or it to them.
    Causal,
}

impl From<DimensionName> for Dimension {
    fn from(heard: DimensionName) -> Self {
        match heard {
            DimensionName::Structural => Self::Structural,
            DimensionName::Semantic => Self::Semantic,
            DimensionName::Temporal => Self::Temporal,
            DimensionName::Causal => Self::Causal,
        }
    }
}

/// What contrast with other places of the graph does.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum XlrModeName {
    /// Nothing: it is not worked out.
    Off,
    /// What would light up for any question counts for less.
    Gate,
    /// It is told of each hit, and changes nothing.
    Report,
}

impl From<XlrModeName> for Xlr {
    fn from(contrast: XlrModeName) -> Self {
        match contrast {
            XlrModeName::Off => Self::Off,
            XlrModeName::Gate => Self::Gate,
            XlrModeName::Report => Self::Report,
        }
    }
}

/// What becomes of the value that a seed begins with.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum SeedMassName {
    /// It counts.
    #[default]
    Keep,
    /// It is taken off again: a seed counts for what comes back to it.
    Subtract,
}

impl From<SeedMassName> for SeedMass {
    fn from(mass: SeedMassName) -> Self {
        match mass {
            SeedMassName::Keep => Self::Keep,
            SeedMassName::Subtract => Self::Subtract,
        }
    }
}

/// An id to begin at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GivenSeed {
    /// Its id; of an entity its name.
    id: Term,
    /// How much it counts, above 0 and up to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    score: f32,
}

/// By which rule signals spread.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum ProfileName {
    /// Evidence adds up, and neighbours share.
    #[default]
    Recall,
    /// The strongest signal alone counts.
    Reference,
}

impl From<ProfileName> for Profile {
    fn from(profile: ProfileName) -> Self {
        match profile {
            ProfileName::Recall => Self::Recall,
            ProfileName::Reference => Self::Reference,
        }
    }
}

/// What it means to be joined to the seeds.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum SpreadName {
    /// To be lit by them.
    #[default]
    Activation,
    /// To be met by a reader who starts at them again and again; costs the whole graph.
    Ppr,
}

async fn recall(call: Call<Nothing, Nothing, RecallRequest>) -> Result<Answer<Recall>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let (asked, usual) = (&call.body, call.service().usual());
    let heard = |heard: &Vec<DimensionName>| -> BTreeSet<Dimension> {
        heard.iter().map(|one| (*one).into()).collect()
    };
    let ask = Ask {
        text: asked.text.clone(),
        seeds: given(&asked.seeds),
        top_k: asked.top_k,
        filter: Filter {
            kinds: texts(&asked.kinds),
            tiers: texts(&asked.tiers),
            since: asked.since.map(|at| at.millis()),
            session: asked.session.clone().map(Into::into),
        },
        profile: asked.profile.into(),
        spread: match asked.spread {
            SpreadName::Activation => Spread::Activation,
            SpreadName::Ppr => Spread::PersonalPageRank,
        },
        fusion: if asked.words { Fusion::Text } else { Fusion::Off },
        dimensions: asked.dimensions.as_ref().map_or(usual.dimensions, heard),
        now_ms: None,
        xlr: asked.xlr.map_or(usual.xlr, Into::into),
        seed_mass: asked.seed_mass.into(),
        priming: asked.priming.unwrap_or(usual.priming),
    };
    let answered = call.service().recall(&scope, ask, asked.content).await?;
    Ok(Answer::ok(Recall::of(answered, asked.why)))
}

/// What is to be lit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ActivateRequest {
    /// Ids to begin at.
    #[schemars(length(max = 200))]
    seeds: Vec<GivenSeed>,
    /// By which rule signals spread.
    #[serde(default = "reference")]
    profile: ProfileName,
    /// Hops at most; that of the profile where nothing is said.
    #[schemars(range(min = 1, max = 20))]
    depth: Option<u8>,
    /// How many nodes at most.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    top_k: usize,
    /// Whose data.
    scope: Option<Scope>,
}

const fn reference() -> ProfileName {
    ProfileName::Reference
}

/// Who is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PageRankRequest {
    /// Ids at which a reader begins again and again; none for everybody's standing.
    #[serde(default)]
    #[schemars(length(max = 200))]
    seeds: Vec<GivenSeed>,
    /// How many nodes at most.
    #[serde(default = "top_k")]
    #[schemars(range(min = 1, max = 1_000))]
    top_k: usize,
    /// Whose data.
    scope: Option<Scope>,
}

fn texts(terms: &[Term]) -> Vec<String> {
    terms.iter().cloned().map(Into::into).collect()
}

pub(super) fn given(seeds: &[GivenSeed]) -> Vec<(String, f32)> {
    seeds.iter().map(|seed| (seed.id.clone().into(), seed.score)).collect()
}

async fn activate(call: Call<Nothing, Nothing, ActivateRequest>) -> Result<Answer<EngineAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let ActivateRequest { seeds, profile, depth, top_k, .. } = &call.body;
    let asked = Activate { seeds: given(seeds), profile: (*profile).into(), depth: *depth, top_k: *top_k };
    let (found, freshness) = call.service().activate(&scope, asked).await?;
    Ok(Answer::ok(EngineAnswer::of(found, &freshness)))
}

async fn rank(call: Call<Nothing, Nothing, PageRankRequest>) -> Result<Answer<EngineAnswer>, Problem> {
    let scope = call.scope(call.body.scope.as_ref())?;
    let asked = Rank { seeds: given(&call.body.seeds), top_k: call.body.top_k };
    let (found, freshness) = call.service().rank(&scope, asked).await?;
    Ok(Answer::ok(EngineAnswer::of(found, &freshness)))
}

/// Of which scope.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScopeQuery {
    /// Whose data.
    scope: Option<Scope>,
}

async fn mirror(call: Call<Nothing, ScopeQuery>) -> Result<Answer<Mirror>, Problem> {
    let scope = call.scope(call.query.scope.as_ref())?;
    Ok(Answer::ok(call.service().mirrored(&scope)?.into()))
}

impl From<Error> for Problem {
    fn from(why: Error) -> Self {
        match why {
            Error::Store(why) => why.into(),
            Error::Invalid(why) => Self::validation(why),
            Error::NotMirrored(why) => Self::not_found(why),
            // Nothing changes before the configuration or the graph does, and the graph is looked at each half minute.
            why @ Error::Busy(Refused::NoRoom { .. }) => Self::unavailable(why.to_string(), 30),
            why @ Error::Busy(_) => Self::unavailable(why.to_string(), 1),
            why => Self::own_fault(why),
        }
    }
}

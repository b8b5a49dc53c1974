//! Recall: a question answered from the mirror of a scope, with the freshness of the answer.
//!
//! The graph is searched in memory; only the texts of the hits are read from the store, once, and only if requested. A
//! memory that was deleted from the store meanwhile is then removed from the answer. Without texts only the ids are looked for,
//! and only if the mirror is older than a second or known to lack a change.
//!
//! # Design notes
//! Each process keeps the last questions of each scope that it answered, whether they requested priming or not, since
//! priming follows all questions. They are not stored. Their lock is taken twice by a question, to prime and to record
//! it, and not while signals spread. A graph from a file has no questions.
//!
//! Outcomes change the weights of a graph while it is read. So an answer states how many had been learned before its
//! first weight was read and after its last: if equal, no outcome was learned meanwhile.

mod export;
mod stored;
mod texts;

use super::Service;
use crate::api::recall::{Freshness, Hit, PathStep, Recall, RecallRequest, RecallSeed};
use crate::domain::annotations::{Metadata, MetadataFilter};
use crate::domain::ids::{Scope, Term};
use crate::domain::units::Timestamp;
use crate::mirror::persist::{self, Files};
use crate::mirror::{self, Current};
use crate::store;
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::codec::plasticity;
use ebb_engine::graph::index::NodeId;
use ebb_engine::graph::kinds::Kinds;
use ebb_engine::graph::provenance::Provenance;
use ebb_engine::plasticity::{PlasticityConfig, QueryHistory, Synapses, prime};
use ebb_engine::recall::{self as engine, recall, recall_primed};
use ebb_engine::scratch::Scratch;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stored::StoredHits;

pub(super) use stored::{OutsideMemories, by_score, stored_hits};
pub(super) use texts::StoredText;

pub use crate::mirror::compute::Refused;
pub use ebb_engine::View;
pub use ebb_engine::graph::kinds::Dimension;
pub use ebb_engine::recall::{
    Filter, Fusion, Profile, RecallConfig, RecallQuery, RecallResult, SeedMass, Spread, TEXT_BYTES_MAX,
    TOP_K_MAX, XlrMode,
};
pub use export::{Energies, HotNode, HottestPart, Tie, dot, export, export_graphml, hottest};

/// Why a recall has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value of the request is outside its range.
    #[error("{0}")]
    Invalid(String),
    /// Too many requests at once.
    #[error(transparent)]
    Busy(#[from] Refused),
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A fault of the mirror itself.
    #[error("{0}")]
    Fault(String),
}

impl From<mirror::Error> for Error {
    fn from(why: mirror::Error) -> Self {
        match why {
            mirror::Error::Store(why) => Self::Store(why),
            mirror::Error::Refused(why) => Self::Busy(why),
            other => Self::Fault(other.to_string()),
        }
    }
}

/// Flag of a recall whose words could not be embedded in time: it was answered by words and links alone.
const NO_EMBEDDING: &str = "embedding_unavailable";
/// Flag of a recall without a hit of the least relevance that was requested.
const NOTHING_RELEVANT: &str = "nothing_relevant";
/// The flag of a result that does not include the write which it was asked to include.
const NOT_REACHED: &str = "change_not_reached";
/// Longest wait for a write.
const WAIT_MS_MAX: u32 = 5_000;

/// What was found for a question.
pub(super) struct Found {
    pub(super) recalled: RecallResult,
    /// Hits that the mirror has no room for.
    pub(super) stored: Vec<Hit>,
    pub(super) texts: BTreeMap<String, StoredText>,
    pub(super) freshness: Freshness,
    /// Flags of a result that is not all it could be.
    pub(super) flags: Vec<&'static str>,
}

/// A question that was checked, with what its search needs.
pub(super) struct Prepared {
    pub(super) current: Current,
    pub(super) query: RecallQuery,
    pub(super) outside: OutsideMemories,
    /// Flags of what it lacks.
    pub(super) flags: Vec<&'static str>,
}

pub(super) fn open(memory: &Mutex<QueryHistory>) -> MutexGuard<'_, QueryHistory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A search of a view, with the last questions of its scope and the instant.
pub(super) type SearchFn = fn(
    &View,
    &RecallQuery,
    &RecallConfig,
    (&Mutex<QueryHistory>, Timestamp),
    &mut Scratch,
) -> Result<RecallResult, ebb_engine::Error>;

/// Answers a question, primed by earlier ones, and records it among them.
fn recall_after(
    view: &View,
    query: &RecallQuery,
    rules: &RecallConfig,
    (memory, now): (&Mutex<QueryHistory>, Timestamp),
    scratch: &mut Scratch,
) -> Result<RecallResult, ebb_engine::Error> {
    let primes = |seeds: &[(NodeId, f32)]| prime(view.graph(), &open(memory), seeds);
    let recalled = recall_primed(view, query, rules, primes, scratch)?;
    recalled.record_in(view.graph(), query, now.millis(), &mut open(memory));
    Ok(recalled)
}

/// The file of learned weights beside that of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LearnedFile {
    /// Path of the file.
    pub file: PathBuf,
    /// Number of learned outcomes.
    pub tick: u64,
    /// Slots of the graph that have a learned weight.
    #[serde(rename = "slots")]
    pub matched: usize,
    /// Learned weights of slots that do not exist in the graph.
    pub unmatched: usize,
}

/// The view of a snapshot file, JSON version 3, with its learned weights, if their file exists beside it.
pub fn view_of_file(path: &Path, range: WeightRange) -> Result<(View, Option<LearnedFile>), Error> {
    read_file(path, range).map(|(view, learned, _)| (view, learned))
}

/// The view of a snapshot file, its learned weights, and whether the file has a checksum.
pub(super) fn read_file(path: &Path, range: WeightRange) -> Result<(View, Option<LearnedFile>, bool), Error> {
    let invalid = |why: mirror::Error| Error::Invalid(with_cause(&why));
    let (snapshot, summed) = persist::read_summed(path, Kinds::default(), range).map_err(invalid)?;
    let view = View::from_labels(snapshot).map_err(|why| Error::Invalid(why.to_string()))?;
    let files = Files::beside(path.to_owned());
    let Some(state) = files.read_learned().map_err(invalid)? else { return Ok((view, None, summed)) };
    let file = files.learned;
    let unusable =
        |why: ebb_engine::Error| Error::Invalid(format!("{} cannot be used: {why}", file.display()));
    // A file is loaded without decay.
    let mut synapses =
        Synapses::import(view.graph(), PlasticityConfig::default(), state).map_err(unusable)?;
    synapses.write_weights(view.graph()).map_err(unusable)?;
    let (tick, matched, unmatched) = (synapses.ticks(), synapses.len(), synapses.unmatched());
    Ok((view.with_tick(tick), Some(LearnedFile { file, tick, matched, unmatched }), summed))
}

/// An error of the mirror, with its cause.
fn with_cause(why: &mirror::Error) -> String {
    let cause = std::error::Error::source(why).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{why}{cause}")
}

/// Answers a question at `now` from a view that is not a mirror's.
pub fn recall_in(
    view: &View,
    request: &RecallRequest,
    rules: &RecallConfig,
    now: Timestamp,
) -> Result<Recall, Error> {
    if request.embedding.is_some() {
        return Err(Error::Invalid("a graph from a file has no embeddings to compare with".to_owned()));
    }
    let mut query = request.to_query(rules.default_query())?;
    query.now_ms = Some(now.millis()).filter(|_| query.dimensions.contains(&Dimension::Temporal));
    query.asked_ms = Some(now.millis());
    check_kinds(view, &query.filter)?;
    let recalled = recall(view, &query, rules, &mut Scratch::default())
        .map_err(|why| Error::Invalid(why.to_string()))?;
    let freshness = Freshness::of_file(view.ticks().at_start());
    let is_empty = recalled.hits.is_empty();
    let flags = recalled.flags.names().chain(nothing_relevant(request, is_empty)).collect();
    let found = Found { recalled, stored: Vec::new(), texts: BTreeMap::new(), freshness, flags };
    Ok(answer(view, found, request))
}

/// The flag of a request for relevant hits that has none.
fn nothing_relevant(request: &RecallRequest, is_empty: bool) -> Option<&'static str> {
    (is_empty && request.min_relevance.is_some()).then_some(NOTHING_RELEVANT)
}

/// Checks that a filter names kinds of nodes that a view can have.
fn check_kinds(view: &View, filter: &Filter) -> Result<(), Error> {
    let Some(unknown) = filter.kinds.iter().find(|kind| view.node_type(kind).is_none()) else {
        return Ok(());
    };
    let known: Vec<&str> = view.kind_names().collect();
    Err(Error::Invalid(format!("kinds: no node is a {unknown:?}; the kinds are {}", known.join(", "))))
}

impl RecallRequest {
    /// Converts the request for the engine, with defaults for omitted values.
    ///
    /// # Errors
    /// [`Error::Invalid`] for conditions that cannot be used, and for a least relevance that is not from 0 to 1.
    pub(super) fn to_query(&self, usual: &RecallQuery) -> Result<RecallQuery, Error> {
        if let Some(least) = self.min_relevance.filter(|least| !(0.0..=1.0).contains(least)) {
            return Err(Error::Invalid(format!("min_relevance is {least}; it must be from 0 to 1")));
        }
        if self.min_relevance.is_some() && self.text.trim().is_empty() && self.embedding.is_none() {
            return Err(Error::Invalid(
                "min_relevance needs a text or an embedding: nothing is relevant to seeds alone".to_owned(),
            ));
        }
        let chosen = |dimensions: &Vec<Dimension>| dimensions.iter().copied().collect();
        Ok(RecallQuery {
            text: self.text.clone(),
            vector: self.embedding.clone(),
            outside: Vec::new(),
            seeds: self.seeds.iter().map(|seed| (seed.id.as_str().to_owned(), seed.score)).collect(),
            top_k: self.top_k,
            min_relevance: self.min_relevance,
            relevance: usual.relevance,
            filter: self.filter()?,
            profile: self.profile,
            spread: self.spread,
            fusion: if self.words { Fusion::Text } else { Fusion::Off },
            dimensions: self.dimensions.as_ref().map_or_else(|| usual.dimensions.clone(), chosen),
            now_ms: None,
            asked_ms: None,
            xlr: self.xlr.unwrap_or(usual.xlr),
            seed_mass: self.seed_mass,
            priming: self.priming.unwrap_or(usual.priming),
        })
    }

    /// The filter of the hits.
    fn filter(&self) -> Result<Filter, Error> {
        let texts = |terms: &[Term]| terms.iter().map(|term| term.as_str().to_owned()).collect();
        let metadata = MetadataFilter::new(&self.metadata);
        Ok(Filter {
            kinds: texts(&self.kinds),
            tiers: self.tiers.iter().map(|tier| tier.name().to_owned()).collect(),
            since: self.since.map(Timestamp::millis),
            session: self.session.as_ref().map(|session| session.as_str().to_owned()),
            tags: texts(&self.tags),
            metadata: metadata.map_err(|why| Error::Invalid(format!("metadata: {why}")))?,
            has_text: false,
        })
    }
}

/// The response of a recall: with the texts of memories by id, and with reasons and excerpts if requested.
fn answer(view: &View, found: Found, request: &RecallRequest) -> Recall {
    let Found { recalled, stored, texts: mut contents, freshness, flags } = found;
    let why = request.why;
    let excerpt = |text: String| request.content.then_some(text);
    let source = |known: Provenance| Provenance { excerpt: known.excerpt.and_then(excerpt), ..known };
    let mut content = |id: &str| contents.remove(id).and_then(|text| text.content);
    let held = |hit: engine::Hit| Hit {
        steps: why.then(|| steps(view, &hit)),
        content: content(&hit.id),
        id: hit.id,
        label: hit.label,
        kind: hit.kind,
        score: hit.score,
        relevance: hit.relevance,
        dimensions: hit.dimensions,
        bonus: hit.bonus,
        path: hit.route.map_or_else(Vec::new, |route| route.ids),
        text_rank: hit.text_rank,
        similarity: hit.similarity,
        contrast: hit.contrast,
        tags: hit.tags,
        metadata: hit.metadata.as_ref().map(Metadata::fields),
        provenance: hit.provenance.map(source).filter(|known| !known.is_empty()),
        partial: hit.partial,
        from_database: false,
    };
    let mut hits: Vec<Hit> = recalled.hits.into_iter().map(held).collect();
    hits.extend(stored.into_iter().map(|hit| Hit {
        steps: why.then(Vec::new),
        content: content(&hit.id),
        provenance: hit.provenance.map(source).filter(|known| !known.is_empty()),
        ..hit
    }));
    hits.sort_by(|a, b| by_score((a.score, &a.id), (b.score, &b.id)));
    let seed = |seed: engine::Seed| RecallSeed {
        id: seed.id,
        label: seed.label,
        score: seed.score,
        evidence: why.then_some(seed.evidence),
    };
    Recall {
        recall_id: recalled.id,
        generation: recalled.generation.0,
        freshness,
        truncated: flags.iter().any(|flag| flag.ends_with("_truncated")),
        hits,
        seeds: recalled.seeds.into_iter().map(seed).collect(),
        primed: recalled.primed,
        unknown_seeds: recalled.unknown,
        anti_seeds: recalled.anti_seeds,
        flags,
        counters: recalled.counters,
    }
}

impl Service {
    /// Saves the mirror of a scope: its graph as a snapshot file, JSON version 3, and its learned weights as another
    /// beside it. Each is written whole or not at all. Returns the learned weights.
    pub async fn save_mirror(&self, scope: &Scope, path: &Path) -> Result<LearnedFile, Error> {
        self.ready(scope).await?;
        let (view, learned) = self.mirror.content(scope, self.instant(None).await?).await?;
        let files = Files::beside(path.to_owned());
        let saved = files.save(Some(view.snapshot()), |into| plasticity::write(&learned, into));
        saved.map_err(|why| Error::Fault(with_cause(&why)))?;
        let (tick, matched) = (learned.tick, learned.synapses.len());
        Ok(LearnedFile { file: files.learned, tick, matched, unmatched: 0 })
    }

    /// Answers a question from the mirror of a scope, which the first one loads. Where every recall is learned from,
    /// this one is recorded as an outcome before it is answered.
    pub async fn recall(&self, scope: &Scope, request: RecallRequest) -> Result<Recall, Error> {
        let query = request.to_query(self.config.engine.default_query())?;
        let (view, found) = Box::pin(self.find(scope, &request, query)).await?;
        Ok(answer(&view, found, &request))
    }

    /// Finds what answers a question, with texts if requested, and the view in which it was found.
    pub(super) async fn find(
        &self,
        scope: &Scope,
        request: &RecallRequest,
        query: RecallQuery,
    ) -> Result<(Arc<View>, Found), Error> {
        let Prepared { current, query, outside, flags: lacks } = self.prepare(scope, request, query).await?;
        let (top_k, least) = (query.top_k, query.min_relevance);
        // Hits from the database are chosen beside all others: a minimum only leaves out.
        let min_relevance = least.filter(|_| query.outside.is_empty());
        let mut recalled = self.recalled(scope, &current, RecallQuery { min_relevance, ..query }).await?;
        let stored = stored_hits(outside, top_k, &mut recalled);
        let StoredHits { hits: stored, texts: mut stored_texts } =
            self.with_relevance(stored, recalled.relevance.clone(), least).await?;
        let is_relevant = |own: Option<f32>| least.is_none_or(|least| own.is_some_and(|own| own >= least));
        recalled.hits.retain(|hit| is_relevant(hit.relevance));
        let texts = match request.content {
            true => {
                stored_texts.extend(self.contents(scope, &current.view, &mut recalled).await?);
                stored_texts
            }
            false => {
                Box::pin(self.leave_out_deleted(scope, &current, &mut recalled)).await?;
                BTreeMap::new()
            }
        };
        let freshness = self.freshness(&current);
        Box::pin(self.file(scope, &recalled)).await;
        let mut flags: Vec<&'static str> = recalled.flags.names().collect();
        flags.extend(lacks);
        flags.extend(nothing_relevant(request, recalled.hits.is_empty() && stored.is_empty()));
        Ok((current.view, Found { recalled, stored, texts, freshness, flags }))
    }

    /// Checks a question, and gathers what its search needs.
    pub(super) async fn prepare(
        &self,
        scope: &Scope,
        request: &RecallRequest,
        mut query: RecallQuery,
    ) -> Result<Prepared, Error> {
        self.check_embedding(request)?;
        let (current, is_reached) = match &request.at_least {
            None => (self.ready(scope).await?, true),
            Some(_) if request.wait_ms > WAIT_MS_MAX => {
                return Err(Error::Invalid(format!(
                    "wait_ms is {}, and {WAIT_MS_MAX} at most",
                    request.wait_ms
                )));
            }
            Some(change) => {
                self.reached(scope, (change, Duration::from_millis(request.wait_ms.into()))).await?
            }
        };
        check_kinds(&current.view, &query.filter)?;
        let is_complete = self.embed_words(&current, &mut query).await;
        let outside = self.outside(scope, &current, &query).await?;
        query.outside = outside.similarities();
        let flags = (!is_complete).then_some(NO_EMBEDDING).into_iter().chain(outside.flag);
        let flags = flags.chain((!is_reached).then_some(NOT_REACHED)).collect();
        Ok(Prepared { current, query, outside, flags })
    }

    /// Embeds the words of a question without an embedding, if there is an embedder and something to compare with. Returns
    /// whether the question has what it needs.
    async fn embed_words(&self, current: &Current, query: &mut RecallQuery) -> bool {
        let has_words =
            query.fusion == Fusion::Text && query.vector.is_none() && !query.text.trim().is_empty();
        let has_vectors = !current.is_whole() || current.view.texts().has_vectors();
        let Some(embedder) = self.embedder().filter(|_| has_words && has_vectors) else { return true };
        query.vector = embedder.question(&query.text).await.map(|vector| vector.to_vec());
        query.vector.is_some()
    }

    /// Checks that an embedding can be compared with those of the memories.
    fn check_embedding(&self, request: &RecallRequest) -> Result<(), Error> {
        let Some(found) = request.embedding.as_ref().map(Vec::len) else { return Ok(()) };
        if !request.words {
            return Err(Error::Invalid(
                "an embedding is compared beside words: leave out words = false".to_owned(),
            ));
        }
        match self.store.similarity().dimensions {
            Some(wanted) if wanted == found => Ok(()),
            Some(wanted) => Err(Error::Invalid(format!(
                "the embedding has {found} numbers, and embedding.dimensions is {wanted}"
            ))),
            None => Err(Error::Invalid(format!(
                "there is an embedding of {found} numbers, and embedding.dimensions is not set: set it to \
                 the number that your model gives"
            ))),
        }
    }

    /// Runs a recall on the view of a scope.
    pub(super) async fn recalled(
        &self,
        scope: &Scope,
        current: &Current,
        query: RecallQuery,
    ) -> Result<RecallResult, Error> {
        let recalled = self.search(scope, current, query, recall_after).await?;
        self.mirror.recalled(scope, &current.view);
        Ok(recalled)
    }

    /// Searches the view of a scope on a thread for queries, with the last questions of the scope.
    pub(super) async fn search(
        &self,
        scope: &Scope,
        current: &Current,
        query: RecallQuery,
        search: SearchFn,
    ) -> Result<RecallResult, Error> {
        let (view, rules) = (Arc::clone(&current.view), self.config.engine.clone());
        let (memory, now) = (self.mirror.questions(scope), self.asked_at());
        let query = RecallQuery { asked_ms: Some(now.millis()), ..query };
        let work = move |scratch: &mut Scratch| search(&view, &query, &rules, (&memory, now), scratch);
        self.compute.run(work).await?.map_err(|why| Error::Invalid(why.to_string()))
    }
}

/// The relationships of the path to a hit, from its seed on.
pub(super) fn steps(view: &View, hit: &engine::Hit) -> Vec<PathStep> {
    let graph = view.graph();
    let slots = hit.route.iter().flat_map(|route| route.path.slots.iter());
    slots
        .map(|slot| PathStep { kind: graph.relation(*slot).to_owned(), weight: graph.weight(*slot) })
        .collect()
}

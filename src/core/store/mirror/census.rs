//! The census of a mirror: every candidate, with what decides whether it is held. It is read in pages, each a transaction of its
//! own, so that none grows with the graph: a server may end one that takes long. What changes meanwhile is read with the changes that
//! follow every load.

use super::super::Store;
use super::super::catalogue::MIRROR_CENSUS;
use super::super::error::Error;
use super::super::evaporate::is_in_use;
use super::super::trail::cycle::Counter;
use super::super::tx::{Mode, Tx};
use super::{MirrorQuery, READ_MAX};
use crate::domain::tier::Tier;
use crate::domain::trail::{Cycles, Place, Trails};
use crate::domain::tunables::Tunables;
use crate::domain::units::{Energy, Pheromone, Timestamp};
use serde::Deserialize;
use std::cmp::Ordering;

/// Nodes of a page.
const PAGE: usize = 10_000;
/// Characters that a word of an expired memory counts as, beside its own.
const WORD_CHARS: u64 = 20;

/// A candidate for the mirror.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorCandidate {
    /// Index of its label.
    pub label: usize,
    pub key: String,
    /// Its present element id; where rows of another library share a key, those of all, separated by spaces.
    pub elements: Box<str>,
    /// Rank for selection.
    pub heat: Heat,
    /// Characters of its key and its content, as far as they are read.
    pub bytes: u64,
    /// Number of its relationships in both directions, of any type.
    pub degree: u64,
    /// Numbers of the embedding that each of its relationships may have.
    pub numbers: u64,
}

/// Order of selection: pinned nodes, then by present energy, last expired memories by what they are worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Heat {
    Pinned,
    /// Any other node: energy of a memory, exploitation of others, at the instant of the census.
    Alive(f64),
    /// An expired memory, with its worth.
    Expired(f64),
}

impl Heat {
    /// An expired memory with a text of so many characters and words, and so many accesses. Little of its energy is left, so it is
    /// worth as much as its text tells, which grows with its words and their length, times the square root of its accesses,
    /// since each proves less than the one before. Characters count, too, because not every script has spaces.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an order, of numbers that are exact far beyond any text")]
    pub fn expired(chars: u64, words: u64, accesses: i64) -> Self {
        let text = chars.saturating_add(words.saturating_mul(WORD_CHARS));
        Self::Expired(text as f64 * (accesses.max(1) as f64).sqrt())
    }
}

impl MirrorCandidate {
    /// Hotter nodes first; of equals the lower label and key.
    #[must_use]
    pub fn by_heat(a: &Self, b: &Self) -> Ordering {
        let heat = match (a.heat, b.heat) {
            (Heat::Pinned, Heat::Pinned) => Ordering::Equal,
            (Heat::Pinned, _) => Ordering::Less,
            (_, Heat::Pinned) => Ordering::Greater,
            (Heat::Alive(_), Heat::Expired(_)) => Ordering::Less,
            (Heat::Expired(_), Heat::Alive(_)) => Ordering::Greater,
            (Heat::Alive(a), Heat::Alive(b)) | (Heat::Expired(a), Heat::Expired(b)) => b.total_cmp(&a),
        };
        heat.then_with(|| (&a.key, a.label).cmp(&(&b.key, b.label)))
    }
}

/// The hottest candidates, at most the requested number, and the number of all. Rows beyond the limit are dropped as
/// they arrive, so the memory of a census depends on the limit, not on the number of nodes.
#[derive(Debug, Default)]
pub struct Census {
    /// The hottest, by label and key: neighbours in the order of keys are adjacent in the store.
    pub hottest: Vec<MirrorCandidate>,
    /// Number of all candidates.
    pub count: u64,
    /// Number of candidates that are too large by themselves.
    pub too_large: u64,
}

impl Census {
    fn take(&mut self, one: MirrorCandidate, (most, bytes_max): (usize, u64)) {
        self.count += 1;
        if one.bytes > bytes_max {
            self.too_large += 1;
            return;
        }
        self.hottest.push(one);
        if self.hottest.len() > most.saturating_add(most / 4 + 256) {
            self.cut(most);
        }
    }

    fn cut(&mut self, most: usize) {
        if self.hottest.len() > most {
            self.hottest.select_nth_unstable_by(most, MirrorCandidate::by_heat);
            self.hottest.truncate(most);
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CensusRow {
    key: String,
    element: Box<str>,
    tier: Option<String>,
    energy: Option<f64>,
    energy_at: Option<i64>,
    last_accessed: Option<i64>,
    accesses: Option<i64>,
    pinned: bool,
    exploitation: Option<f64>,
    cycle: Option<i64>,
    words: u64,
    bytes: u64,
    degree: u64,
    eligible: bool,
}

/// A page of a census.
#[derive(Default)]
struct CensusPage {
    found: Vec<MirrorCandidate>,
    rows: usize,
    last: String,
}

impl CensusRow {
    /// Characters that are read.
    fn chars(&self) -> u64 {
        self.bytes.min(READ_MAX)
    }

    fn heat(&self, now: Timestamp, tunables: &Tunables, trails: &Trails, cycles: &Cycles) -> Heat {
        let Some(tier) = self.tier.as_deref().and_then(Tier::named) else {
            let exploitation = self.exploitation.and_then(|amount| Pheromone::new(amount).ok());
            let place = Place { exploitation, cycle: self.cycle.unwrap_or(0), ..Place::default() };
            let now = place.evaporated(cycles.at(now), &trails.evaporation);
            return Heat::Alive(now.exploitation.map_or(0.0, Pheromone::value));
        };
        if self.pinned {
            return Heat::Pinned;
        }
        let Some(curve) = tunables.curve(tier) else {
            return Heat::expired(self.chars(), self.words, self.accesses.unwrap_or(1));
        };
        let accessed = self.last_accessed.unwrap_or(0);
        let anchor = self.energy_at.unwrap_or(accessed).max(accessed);
        let energy = self.energy.and_then(|energy| Energy::new(energy).ok());
        let since = Timestamp::from_millis(anchor).map_or(now, |anchor| anchor);
        Heat::Alive(energy.map_or(0.0, |energy| energy.faded(curve.factor(now.since(since))).value()))
    }
}

impl Store {
    /// Those of Ebb's own labels that any node has: a census is a long statement, which the server plans for each label.
    async fn own_labels_in_use(&self, asked: &MirrorQuery) -> Result<Vec<usize>, Error> {
        self.transactions
            .run("mirror.labels", Mode::Read, async |tx: &mut Tx| {
                let mut used = Vec::new();
                for (label, name) in asked.own().iter().enumerate() {
                    if is_in_use(tx, name).await? {
                        used.push(label);
                    }
                }
                Ok(used)
            })
            .await
    }

    /// The candidates with their heat at `now`: the `most` hottest of those with at most `bytes_max` characters.
    pub async fn census(
        &self,
        asked: &MirrorQuery,
        now: Timestamp,
        (tunables, counter): (&Tunables, &Counter),
        (most, bytes_max): (usize, u64),
    ) -> Result<Census, Error> {
        let mut all = Census::default();
        for label in self.own_labels_in_use(asked).await? {
            let candidate = |row: CensusRow| MirrorCandidate {
                label,
                heat: row.heat(now, tunables, &self.trails, &counter.cycles),
                bytes: row.chars(),
                key: row.key,
                elements: row.element,
                degree: row.degree,
                numbers: 0,
            };
            let mut after = String::new();
            loop {
                let call = asked.of(MIRROR_CENSUS.about(&asked.own()[label..=label], &[]), label);
                let call = call.set("after", after.as_str()).set("limit", PAGE as i64);
                let page = self
                    .transactions
                    .run("mirror.census", Mode::Read, async |tx: &mut Tx| {
                        let mut page = CensusPage::default();
                        tx.each(call.clone(), |row: CensusRow| {
                            page.rows += 1;
                            page.last.clone_from(&row.key);
                            if row.eligible {
                                page.found.push(candidate(row));
                            }
                        })
                        .await?;
                        Ok(page)
                    })
                    .await?;
                page.found.into_iter().for_each(|one| all.take(one, (most, bytes_max)));
                if page.rows < PAGE {
                    break;
                }
                after = page.last;
            }
            all.cut(most);
        }
        for label in asked.own_labels()..asked.label_count() {
            for one in self.adopted_census(asked, label, now).await? {
                all.take(one, (most, bytes_max));
            }
            all.cut(most);
        }
        all.hottest.sort_unstable_by(|a, b| (a.label, &a.key).cmp(&(b.label, &b.key)));
        all.hottest.shrink_to_fit();
        Ok(all)
    }
}

//! Decoding of rows of the mirror's statements, which contain values of any type.

use super::super::cells::{columns, flag, items, number, text, whole};
use super::{Amount, FadingRelation, MirroredEnd, MirroredNode, OutgoingRelation};
use crate::domain::annotations::{Metadata, Provenance};
use crate::domain::relation::RelationState;
use crate::domain::units::{Timestamp, Weight};
use neo4rs::BoltType;

/// Default weight of a relation.
const PLAIN: f64 = 0.5;

pub(super) fn node(label: usize, row: Vec<BoltType>) -> MirroredNode {
    let [
        key,
        name,
        content,
        tier,
        session,
        last_accessed,
        created,
        access_count,
        tags,
        metadata,
        provenance,
        embedding,
    ] = columns(row);
    MirroredNode {
        label,
        key: text(key).unwrap_or_default(),
        name: text(name),
        content: text(content),
        tier: text(tier),
        session: text(session),
        last_accessed: whole(&last_accessed),
        created: whole(&created),
        access_count: whole(&access_count),
        tags: items(tags).into_iter().filter_map(text).collect(),
        metadata: text(metadata).and_then(|json| Metadata::stored(&json)),
        provenance: source(provenance),
        embedding: vector(embedding),
    }
}

/// The numbers of a list; none if it is no list of numbers.
pub(super) fn vector(list: BoltType) -> Option<Vec<f32>> {
    #[expect(clippy::cast_possible_truncation, reason = "an embedding is compared as f32")]
    let numbers = |list: Vec<BoltType>| list.iter().map(|value| Some(number(value)? as f32)).collect();
    Some(items(list)).filter(|list| !list.is_empty()).and_then(numbers)
}

/// A provenance; a line that is no line number is left out.
fn source(list: BoltType) -> Provenance {
    let [source_path, line_start, line_end, excerpt, namespace, canonical] = columns(items(list));
    let line =
        |value: &BoltType| whole(value).and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0);
    Provenance {
        source_path: text(source_path),
        line_start: line(&line_start),
        line_end: line(&line_end),
        excerpt: text(excerpt),
        namespace: text(namespace),
        canonical: flag(&canonical),
    }
}

/// Groups values by key.
pub(super) fn keyed<T>(rows: Vec<Vec<BoltType>>, has: impl Fn(BoltType) -> T) -> Vec<(String, T)> {
    let one = |row| {
        let [key, of] = columns(row);
        (text(key).unwrap_or_default(), has(of))
    };
    rows.into_iter().map(one).collect()
}

pub(super) fn ends(edges: BoltType) -> Vec<MirroredEnd> {
    let end = |edge: BoltType| {
        let [kind, label, key, amount, begins, causal] = columns(items(edge));
        let (amount, causal) = amount_of(amount, &causal);
        Some(MirroredEnd {
            kind: text(kind)?,
            label: usize::try_from(whole(&label)?).ok()?,
            key: text(key)?,
            amount,
            causal,
            begins: flag(&begins),
            embedded: None,
        })
    };
    items(edges).into_iter().filter_map(end).collect()
}

pub(super) fn begun(edges: BoltType) -> Vec<OutgoingRelation> {
    let edge = |edge: BoltType| {
        let [kind, to, amount, causal] = columns(items(edge));
        let (amount, causal) = amount_of(amount, &causal);
        Some(OutgoingRelation { kind: text(kind)?, to: text(to)?, amount, causal, embedded: None })
    };
    items(edges).into_iter().filter_map(edge).collect()
}

/// The amount of a relationship and its own causal strength. An invalid strength makes it unusable.
fn amount_of(value: BoltType, causal: &BoltType) -> (Amount, Option<f32>) {
    let own = match causal {
        BoltType::Null(_) => None,
        given => match number(given).filter(|given| (0.0..=1.0).contains(given)) {
            #[expect(clippy::cast_possible_truncation, reason = "a share, rounded once")]
            Some(given) => Some(given as f32),
            None => return (Amount::Unusable, None),
        },
    };
    let amount = match value {
        BoltType::Null(_) => Amount::None,
        BoltType::List(_) => tied(items(value), own),
        value => number(&value).map_or(Amount::Unusable, Amount::Number),
    };
    (amount, own)
}

/// A relation from a row. One that is not adopted yet has no anchor: its weight is the stored one, or follows from its
/// cost, or is one half, and it does not decay.
fn tied(list: Vec<BoltType>, causal: Option<f32>) -> Amount {
    let [kind, base, pinned, confidence, weight_at, last_observed, cost, weight] = columns(list);
    let instant = |value: &BoltType| whole(value).and_then(|ms| Timestamp::from_millis(ms).ok());
    let confidence = match number(&confidence) {
        None if !matches!(confidence, BoltType::Null(_)) => return Amount::Unusable,
        confidence => confidence,
    };
    let (at, observed) = (instant(&weight_at), instant(&last_observed));
    let foreign = || number(&weight).or_else(|| number(&cost).map(|cost| (-cost).exp())).unwrap_or(PLAIN);
    let anchored = at.zip(observed);
    let base = if anchored.is_some() { number(&base) } else { Some(foreign()) };
    let Some(base) = base.and_then(|base| Weight::new(base).ok()) else { return Amount::Unusable };
    let pinned = flag(&pinned);
    let bond = match anchored {
        Some((at, observed)) => RelationState::stored(base, at, observed, pinned),
        None => RelationState {
            base,
            weight_at: Timestamp::EPOCH,
            last_observed: observed.unwrap_or(Timestamp::EPOCH),
            pinned: true,
        },
    };
    Amount::Relation(FadingRelation {
        kind: text(kind).unwrap_or_default(),
        bond,
        confidence,
        causal,
        until: None,
        is_adopted: false,
    })
}

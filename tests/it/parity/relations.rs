//! `relation/fade` and `relation/list` against `domain::relation`.

use crate::harness::neo4j::{at, fresh};
use crate::harness::random::Random;
use crate::harness::rows::{list, map};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::relation::{Fading, RelationState};
use ebb_core::domain::units::{Timestamp, Weight};
use ebb_core::jobs::JobName;
use ebb_core::store::RelationFilter;
use neo4rs::BoltType;
use serde::Deserialize;
use std::collections::BTreeMap;

const ROWS: usize = 10_000;
const DAY: i64 = 24 * 3_600_000;

#[derive(Debug)]
struct StoredRow {
    key: String,
    base: f64,
    weight_at: i64,
    last_observed: i64,
    pinned: Option<bool>,
    stored: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct WrittenRow {
    key: String,
    weight: f64,
    base: f64,
    weight_at: i64,
    last_observed: i64,
}

impl StoredRow {
    fn drawn(random: &mut Random, n: usize, now: Timestamp) -> Self {
        let weight_at = match random.below(20) {
            0 => now.millis(),
            1 => now.millis() + random.whole(30 * DAY),
            2 => now.millis() - random.whole(20 * 365 * DAY),
            _ => now.millis() - random.whole(500 * DAY),
        };
        let last_observed = match random.below(4) {
            0 => weight_at - random.whole(90 * DAY),
            1 => weight_at + random.whole(90 * DAY) + 1,
            _ => weight_at,
        };
        let base = match random.below(4) {
            0 => random.pick(&[0.0, 1.0, 0.1, 0.099_999_999_999, 5e-324, 1e-300]),
            _ => random.unit(),
        };
        Self {
            key: format!("k-{n:05}"),
            base,
            weight_at,
            last_observed,
            pinned: random.pick(&[None, Some(false), Some(false), Some(true)]),
            stored: random.unless_once_in(10, base),
        }
    }

    fn bond(&self) -> RelationState {
        let instant = |ms| Timestamp::from_millis(ms).unwrap();
        let base = Weight::new(self.base).unwrap();
        RelationState::stored(
            base,
            instant(self.weight_at),
            instant(self.last_observed),
            self.pinned.unwrap_or(false),
        )
    }

    fn params(&self) -> BoltType {
        map([
            ("key", self.key.as_str().into()),
            ("base", self.base.into()),
            ("weightAt", self.weight_at.into()),
            ("lastObserved", self.last_observed.into()),
            ("pinned", self.pinned.into()),
            ("stored", self.stored.into()),
        ])
    }
}

fn close(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-9 * wanted + f64::MIN_POSITIVE
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_in_cypher_is_the_law_in_rust() {
    let db = fresh().await;
    let now = at(1_000.0);
    let fading = Fading::new(90.0, 0.10).unwrap();
    let mut random = Random::seeded(0xebb_0003);
    let rows: Vec<StoredRow> = (0..ROWS).map(|n| StoredRow::drawn(&mut random, n, now)).collect();
    db.client
        .run("CREATE (:Entity {scope: 'local', name: 'a'}), (:Entity {scope: 'local', name: 'b'})", &[])
        .await;
    for rows in rows.chunks(2_500) {
        let text = "MATCH (a:Entity {name: 'a'}), (b:Entity {name: 'b'}) UNWIND $rows AS r
            CREATE (a)-[:RELATES_TO {ebbKey: r.key, type: 't', weight: r.stored, baseWeight: r.base, pinned: r.pinned,
              weightAt: datetime({epochMillis: r.weightAt}), lastObserved: datetime({epochMillis: r.lastObserved})}]->(b)";
        db.client.run(text, &[("rows", list(rows.iter().map(StoredRow::params)))]).await;
    }

    let mut wanted = BTreeMap::new();
    let (mut below, mut pinned, mut lowered) = (0, 0, 0);
    for row in &rows {
        let (bond, is_foreign) = (row.bond(), row.bond().weight_at.millis() != row.weight_at);
        let weight = bond.weight(now, &fading).value();
        below += i64::from(!bond.is_retrievable(now, &fading));
        pinned += i64::from(bond.pinned);
        let falls = row.stored.is_none_or(|stored| stored - weight > 1e-9);
        lowered += i64::from(falls && !bond.pinned && !is_foreign);
        wanted.insert(row.key.clone(), (bond, weight));
    }
    let mut listed = 0;
    for which in [RelationFilter::Retrievable, RelationFilter::Decayed] {
        for one in db.store.relations(&Scope::local(), which, now, "", ROWS).await.unwrap() {
            let (bond, weight) = wanted[&one.key];
            assert!(close(one.weight, weight), "{one:?} weighs {weight} in Rust");
            assert_eq!(bond.is_retrievable(now, &fading), which == RelationFilter::Retrievable, "{one:?}");
            listed += 1;
        }
    }
    assert_eq!(listed, ROWS);

    let did = db.run(JobName::Fade, 1_000.0).await.tally;
    let text = "MATCH ()-[r:RELATES_TO]->() RETURN r.ebbKey AS key, r.weight AS weight, r.baseWeight AS base,
        r.weightAt.epochMillis AS weight_at, r.lastObserved.epochMillis AS last_observed ORDER BY key";
    let all: Vec<WrittenRow> = db.client.rows(text, &[]).await;
    assert_eq!(all.len(), ROWS);
    for (left, row) in all.iter().zip(&rows) {
        let (bond, weight) = wanted[&left.key];
        assert!(close(left.weight, weight), "{left:?} weighs {weight} in Rust: {row:?}");
        assert_eq!(left.base.to_bits(), bond.base.value().to_bits(), "{row:?}");
        assert_eq!(
            (left.weight_at, left.last_observed),
            (bond.weight_at.millis(), row.last_observed),
            "{row:?}"
        );
    }
    assert_eq!((did.scanned, did.below, did.pinned, did.changed), (10_000, below, pinned, lowered));
    assert!(below > 1_000 && pinned > 1_000 && lowered > 1_000, "the rows stretch the law");
}

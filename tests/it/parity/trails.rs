//! `trail/evaporate_places` and `trail/evaporate_edges` against `domain::trail`.

use crate::harness::neo4j::{at, fresh, trails};
use crate::harness::random::Random;
use crate::harness::rows::{list, map};
use ebb_core::domain::trail::{Edge, Place, base_cost};
use ebb_core::domain::units::Pheromone;
use ebb_core::jobs::JobName;
use neo4rs::BoltType;
use serde::Deserialize;

const ROWS: usize = 5_000;

/// Three values, a cycle and a base cost, as they are stored.
struct StoredRow {
    values: [Option<f64>; 3],
    cycle: i64,
    base: Option<f64>,
    similarity: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct WrittenRow {
    n: i64,
    a: Option<f64>,
    b: Option<f64>,
    c: Option<f64>,
    cycle: Option<i64>,
    base: Option<f64>,
    cost: Option<f64>,
}

impl StoredRow {
    fn drawn(random: &mut Random, now: i64) -> Self {
        let mut value = || match random.below(6) {
            0 => None,
            1 => Some(random.pick(&[0.0, 0.001, 0.000_999, 1.0, 1e6, 5e-324, 0.002])),
            2 => Some(100.0 * random.unit()),
            _ => Some(random.unit()),
        };
        let values = [value(), value(), value()];
        let cycle = match random.below(8) {
            0 => now,
            1 => now + random.whole(50),
            2 => now - random.whole(100_000),
            _ => now - random.whole(600),
        };
        let base = (!random.once_in(5)).then(|| 12.0 * random.unit());
        let similarity = (!random.once_in(3)).then(|| 1.4 * random.unit() - 0.2);
        // The cosine of a vector of zeros.
        let similarity = if random.once_in(20) { Some(f64::NAN) } else { similarity };
        Self { values, cycle, base, similarity }
    }

    fn params(&self, n: usize) -> BoltType {
        let [a, b, c] = self.values;
        map([
            ("n", i64::try_from(n).unwrap().into()),
            ("a", a.into()),
            ("b", b.into()),
            ("c", c.into()),
            ("cycle", self.cycle.into()),
            ("base", self.base.into()),
            ("similarity", self.similarity.into()),
        ])
    }

    fn pheromones(&self) -> [Option<Pheromone>; 3] {
        self.values.map(|value| value.map(|value| Pheromone::new(value).unwrap()))
    }
}

fn same(found: Option<f64>, wanted: Option<Pheromone>, what: &str) {
    let wanted = wanted.map(Pheromone::value);
    let close = match (found, wanted) {
        (Some(found), Some(wanted)) => (found - wanted).abs() <= 1e-9 * wanted,
        (found, wanted) => found.is_none() && wanted.is_none(),
    };
    assert!(close, "{what}: {found:?} in Cypher, {wanted:?} in Rust");
}

#[tokio::test(flavor = "multi_thread")]
async fn evaporation_in_cypher_is_the_law_in_rust() {
    let db = fresh().await;
    let (trails, hours) = (trails(), 1_000.0);
    let now = db.store.cycles().await.unwrap().cycles.at(at(hours));
    let mut random = Random::seeded(0xebb_0004);
    let rows: Vec<StoredRow> = (0..ROWS).map(|_| StoredRow::drawn(&mut random, now)).collect();
    for (page, chunk) in rows.chunks(1_250).enumerate() {
        let params = list(chunk.iter().enumerate().map(|(n, row)| row.params(page * 1_250 + n)));
        let text = "UNWIND $rows AS r
            CREATE (a:Room {id: 'r' + r.n, n: r.n, exploitation_pheromone: r.a, exploration_pheromone: r.b, pheromone_cycle: r.cycle})
            CREATE (a)-[:HALL {n: r.n, success_pheromone: r.a, traversal_pheromone: r.b, recency_pheromone: r.c,
              pheromone_cycle: r.cycle, base_cost: r.base}]->(a)
            CREATE (a)-[:SIMILAR_TO {n: r.n, success_pheromone: r.a, traversal_pheromone: r.b, recency_pheromone: r.c,
              pheromone_cycle: r.cycle, base_cost: CASE WHEN r.n % 2 = 0 THEN r.base END, similarity: r.similarity}]->(a)";
        db.client.run(text, &[("rows", params)]).await;
    }
    let did = db.run(JobName::Evaporate, hours).await.tally;
    let pending = rows.iter().filter(|row| row.cycle < now).count();
    assert_eq!((did.changed, did.quarantined), (i64::try_from(3 * pending).unwrap(), 0));

    let (mut silent, mut cut) = (0, 0);
    let text = "MATCH (n:Room) RETURN n.n AS n, n.exploitation_pheromone AS a, n.exploration_pheromone AS b, null AS c,
        n.pheromone_cycle AS cycle, null AS base, null AS cost ORDER BY n.n";
    for left in db.client.rows::<WrittenRow>(text, &[]).await {
        let row = &rows[usize::try_from(left.n).unwrap()];
        let [exploitation, exploration, _] = row.pheromones();
        let place = Place { exploitation, exploration, cycle: row.cycle };
        let wanted = place.evaporated(now, &trails.evaporation);
        same(left.a, wanted.exploitation, "exploitation");
        same(left.b, wanted.exploration, "exploration");
        let gone = row.cycle < now && wanted.is_silent();
        silent += i64::from(gone);
        assert_eq!(left.cycle, (!gone).then_some(wanted.cycle), "{left:?}");
    }
    for kind in ["HALL", "SIMILAR_TO"] {
        let text = format!("MATCH ()-[r:{kind}]->() RETURN r.n AS n, r.success_pheromone AS a, r.traversal_pheromone AS b,
            r.recency_pheromone AS c, r.pheromone_cycle AS cycle, r.base_cost AS base, r.current_cost AS cost ORDER BY r.n");
        for left in db.client.rows::<WrittenRow>(&text, &[]).await {
            let row = &rows[usize::try_from(left.n).unwrap()];
            let [success, traversal, recency] = row.pheromones();
            let edge = Edge { success, traversal, recency, cycle: row.cycle };
            let wanted = edge.evaporated(now, &trails.evaporation);
            same(left.a, wanted.success, "success");
            same(left.b, wanted.traversal, "traversal");
            same(left.c, wanted.recency, "recency");
            let gone = row.cycle < now && wanted.is_silent();
            silent += i64::from(gone);
            assert_eq!(left.cycle, (!gone).then_some(wanted.cycle), "{left:?}");
            if row.cycle < now {
                let own = if kind == "HALL" || left.n % 2 == 0 { row.base } else { None };
                let similarity = row.similarity.filter(|_| kind == "SIMILAR_TO");
                let base = own.unwrap_or_else(|| base_cost(kind, similarity));
                let (cost, found) = (wanted.cost(base), left.cost.unwrap());
                assert!((left.base.unwrap() - base).abs() <= 1e-9 * base, "{left:?}: base {base}");
                assert!((found - cost).abs() <= 1e-9 * cost, "{left:?} costs {cost} in Rust");
                cut += u32::from(base > 10.0);
            }
        }
    }
    assert_eq!(did.silenced, silent);
    assert!(silent > 500 && cut > 100, "the rows stretch the law: {silent}, {cut}");
}

//! The laws that run in Cypher, against the same laws in Rust.
//!
//! `memory/decay` and `memory/adopt` are each written twice, in a statement and in `domain::memory`. Random rows that
//! stretch every branch of both go through the product's own jobs, in its own pages, and every property that comes back
//! is compared: energies to 1e-9 of themselves, instants to the millisecond, the rest exactly.

mod protocol;
mod relations;
mod trails;

use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::random::Random;
use crate::harness::rows::{list, map};
use ebb_core::domain::attempt::{Right, RunState};
use ebb_core::domain::memory::{Decayed, ForeignMemory, MemoryState, adopted, decayed};
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::{Energy, Timestamp};
use ebb_core::jobs::JobName;
use ebb_core::store::{OpenedRun, PageMode};
use neo4rs::BoltType;
use serde::Deserialize;

const ROWS: usize = 10_000;
const ZONES: [&str; 5] = ["Z", "+05:30", "-09:00", "Europe/Berlin", "America/New_York"];
/// Energies on which a law turns, and those that arithmetic may stumble over.
const EDGES: [f64; 12] =
    [0.0, 0.001, 0.1, 1.5, 2.0, 5.0, 1e12, 5e-324, f64::MIN_POSITIVE, 1e-300, 2.000_000_000_000_000_4, 1.0];

/// A memory as it is stored before a law is applied.
#[derive(Debug)]
struct StoredRow {
    id: String,
    tier: Option<Tier>,
    energy: Option<f64>,
    /// The energy, where it is stored as a whole number.
    whole: Option<i64>,
    energy_at: Option<i64>,
    accessed: Option<i64>,
    created: Option<i64>,
    count: Option<i64>,
    ripe: Option<i64>,
    due: Option<i64>,
    pinned: Option<bool>,
    scope: Option<&'static str>,
    session: Option<String>,
    zone: &'static str,
    /// Nanoseconds on top of the milliseconds of the access, as a server's clock writes them.
    nanos: i64,
}

/// A memory as it is stored after.
#[derive(Debug, Deserialize, PartialEq)]
struct WrittenRow {
    id: String,
    tier: Option<String>,
    energy: Option<f64>,
    energy_at: Option<i64>,
    accessed: Option<i64>,
    created: Option<i64>,
    count: Option<i64>,
    ripe: Option<i64>,
    due: Option<i64>,
    pinned: Option<bool>,
    scope: Option<String>,
    session: Option<String>,
    joined: i64,
    expired: Option<i64>,
    stamped: bool,
    quarantined: bool,
}

fn energy(random: &mut Random) -> (f64, Option<i64>) {
    match random.below(4) {
        0 => (random.pick(&EDGES), None),
        1 => {
            let whole = u32::try_from(random.below(9)).unwrap();
            (f64::from(whole), Some(whole.into()))
        }
        _ => (random.unit() * 8.0, None),
    }
}

/// An instant up to that many hours before `now`, or a little after it, or exactly then.
fn around(random: &mut Random, now: Timestamp, hours: i64) -> i64 {
    match random.below(20) {
        0 => now.millis(),
        1 => now.millis() + random.whole(100 * 3_600_000) + 1,
        2 => now.millis() - random.whole(20 * 365 * 24 * 3_600_000),
        _ => now.millis() - random.whole(hours * 3_600_000),
    }
}

impl StoredRow {
    fn stamped(random: &mut Random, n: usize, now: Timestamp) -> Self {
        let tiers = if random.once_in(5) { 6 } else { 3 };
        let tier = random.pick(&Tier::ALL[..tiers]);
        let (energy, whole) = energy(random);
        let hours = random.pick(&[1, 12, 100, 3_000]);
        let energy_at = around(random, now, hours);
        let accessed = match random.below(3) {
            0 => energy_at,
            1 => energy_at - random.whole(50 * 3_600_000),
            _ => energy_at + random.whole(50 * 3_600_000) + 1,
        };
        let due = match random.below(10) {
            0 => None,
            1 => Some(now.millis() + 1 + random.whole(1_000_000)),
            2 => Some(now.millis()),
            _ => Some(now.millis() - random.whole(40) * 60_000),
        };
        // The server orders two names of one instant by their zones, so an instant that is exactly now is written as now.
        let meets = energy_at == now.millis() || accessed == now.millis();
        Self {
            id: format!("m-{n:05}"),
            tier: Some(tier),
            energy: Some(energy),
            whole,
            energy_at: Some(energy_at),
            accessed: Some(accessed),
            created: Some(accessed - random.whole(1_000_000_000)),
            count: Some(random.whole(50) + 1),
            ripe: random.once_in(5).then(|| accessed - random.whole(3_600_000)),
            due,
            pinned: random.pick(&[None, None, None, None, Some(false), Some(true)]),
            scope: Some("local"),
            session: None,
            zone: if meets { "Z" } else { random.pick(&ZONES) },
            // Within the millisecond of Ebb's own write the two clocks of the twins differ, so such a row is not drawn.
            nanos: if random.once_in(3) && accessed != energy_at { random.whole(999_999) } else { 0 },
        }
    }

    fn foreign(random: &mut Random, n: usize, now: Timestamp) -> Self {
        let row = Self::stamped(random, n, now);
        let session = format!("s-{}", random.below(40));
        let tier = row.tier.and_then(|tier| random.unless_once_in(5, tier));
        Self {
            tier,
            // A row without both is of another library.
            energy: row
                .energy
                .and_then(|energy| random.unless_once_in(5, energy).or(tier.is_none().then_some(energy))),
            energy_at: row.energy_at.filter(|_| random.once_in(4)),
            accessed: row.accessed.and_then(|accessed| random.unless_once_in(5, accessed)),
            created: row.created.and_then(|created| random.unless_once_in(5, created)),
            count: row.count.and_then(|count| random.unless_once_in(5, count)),
            ripe: row.ripe.filter(|_| random.once_in(2)),
            due: None,
            scope: random.pick(&[None, None, Some("local"), Some("team")]),
            session: random.unless_once_in(2, session),
            nanos: 0,
            ..row
        }
    }

    fn state(&self) -> MemoryState {
        MemoryState {
            tier: self.tier.unwrap(),
            energy: Energy::new(self.energy.unwrap()).unwrap(),
            energy_at: instant(self.energy_at.unwrap()),
            last_accessed: instant(self.accessed.unwrap()),
            access_count: self.count.unwrap(),
            ripe_at: self.ripe.map(instant),
            due_at: self.due.map(instant),
            pinned: self.pinned.unwrap_or(false),
        }
    }

    fn found(&self) -> ForeignMemory {
        ForeignMemory {
            tier: self.tier,
            energy: self.energy.map(|energy| Energy::new(energy).unwrap()),
            energy_at: self.energy_at.map(instant),
            last_accessed: self.accessed.map(instant),
            created: self.created.map(instant),
            access_count: self.count,
            ripe_at: self.ripe.map(instant),
            pinned: self.pinned.unwrap_or(false),
        }
    }

    fn params(&self) -> BoltType {
        let energy = match (self.energy, self.whole) {
            (Some(_), Some(whole)) => whole.into(),
            (energy, _) => energy.into(),
        };
        map([
            ("id", self.id.as_str().into()),
            ("tier", self.tier.map(Tier::name).into()),
            ("energy", energy),
            ("energyAt", self.energy_at.into()),
            ("accessed", self.accessed.into()),
            ("created", self.created.into()),
            ("count", self.count.into()),
            ("ripe", self.ripe.into()),
            ("due", self.due.into()),
            ("pinned", self.pinned.into()),
            ("scope", self.scope.into()),
            ("session", self.session.as_deref().into()),
            ("zone", self.zone.into()),
            ("nanos", self.nanos.into()),
        ])
    }
}

fn instant(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms).unwrap()
}

async fn lay(db: &Fresh, rows: &[StoredRow], stamped: bool) {
    const TEXT: &str = "UNWIND $rows AS r
        CREATE (m:Memory {id: r.id, tier: r.tier, energy: r.energy, accessCount: r.count, pinned: r.pinned,
          scope: r.scope, sessionId: r.session, content: 'c',
          energyAt: CASE WHEN r.energyAt IS NOT NULL THEN datetime({epochMillis: r.energyAt, timezone: r.zone}) END,
          lastAccessed: CASE WHEN r.accessed IS NOT NULL
            THEN datetime({epochMillis: r.accessed, timezone: r.zone}) + duration({nanoseconds: r.nanos}) END,
          created: CASE WHEN r.created IS NOT NULL THEN datetime({epochMillis: r.created, timezone: r.zone}) END,
          ripeAt: CASE WHEN r.ripe IS NOT NULL THEN datetime({epochMillis: r.ripe, timezone: r.zone}) END,
          dueAt: CASE WHEN r.due IS NOT NULL THEN datetime({epochMillis: r.due}) END})
        FOREACH (_ IN CASE WHEN $stamped THEN [1] ELSE [] END | SET m:EbbMemory)";
    for rows in rows.chunks(2_500) {
        let rows = list(rows.iter().map(StoredRow::params));
        db.client.run(TEXT, &[("rows", rows), ("stamped", stamped.into())]).await;
    }
}

async fn left(db: &Fresh) -> Vec<WrittenRow> {
    const TEXT: &str = "MATCH (m:Memory)
        RETURN m.id AS id, m.tier AS tier, toFloat(m.energy) AS energy, m.energyAt.epochMillis AS energy_at,
          m.lastAccessed.epochMillis AS accessed, m.created.epochMillis AS created, m.accessCount AS count,
          m.ripeAt.epochMillis AS ripe, m.dueAt.epochMillis AS due, m.pinned AS pinned, m.scope AS scope,
          m.sessionId AS session, m.lastExpired.epochMillis AS expired, m:EbbMemory AS stamped,
          m:EbbQuarantined AS quarantined,
          COUNT { (m)-[a:ACCESSED_IN]->(s:Session {scope: m.scope, id: m.sessionId})
            WHERE a.at = m.lastAccessed AND a.count = m.accessCount AND a.counted = false } AS joined
        ORDER BY id";
    db.client.rows(TEXT, &[]).await
}

/// Compares a row with what the law in Rust makes of it; energies are compared by the second argument.
fn compare(found: &WrittenRow, wanted: &WrittenRow, exactly: bool) {
    let (a, b) = (found.energy, wanted.energy);
    let close = match (a, b) {
        (Some(a), Some(b)) if !exactly => (a - b).abs() <= 1e-9 * b + f64::MIN_POSITIVE,
        (a, b) => a.map(f64::to_bits) == b.map(f64::to_bits),
    };
    assert!(close, "energy of {}: {a:?} in Cypher, {b:?} in Rust", found.id);
    assert_eq!(&WrittenRow { energy: b, ..copy(found) }, wanted, "{}", found.id);
}

fn copy(row: &WrittenRow) -> WrittenRow {
    WrittenRow {
        id: row.id.clone(),
        tier: row.tier.clone(),
        scope: row.scope.clone(),
        session: row.session.clone(),
        ..*row
    }
}

fn ms(at: Timestamp) -> Option<i64> {
    Some(at.millis())
}

#[tokio::test(flavor = "multi_thread")]
async fn decay_in_cypher_is_decay_in_rust() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let now = at(1_000.0);
    let mut random = Random::seeded(0xebb_0001);
    let rows: Vec<StoredRow> = (0..ROWS).map(|n| StoredRow::stamped(&mut random, n, now)).collect();
    lay(&db, &rows, true).await;

    let report = db.run(JobName::Decay, 1_000.0).await;

    let all = left(&db).await;
    assert_eq!(all.len(), ROWS);
    let (mut changed, mut expired) = (0, 0);
    for (row, found) in rows.iter().zip(&all) {
        let before = row.state();
        let (after, what) = decayed(before, now, &tunables);
        let moved = what != Decayed::Unchanged;
        changed += i64::from(moved);
        expired += i64::from(what == Decayed::Expired);
        let wanted = WrittenRow {
            id: row.id.clone(),
            tier: Some(after.tier.name().to_owned()),
            energy: Some(after.energy.value()),
            energy_at: ms(after.energy_at),
            accessed: row.accessed,
            created: row.created,
            count: row.count,
            ripe: after.ripe_at.map(Timestamp::millis),
            due: after.due_at.map(Timestamp::millis),
            pinned: row.pinned,
            scope: Some("local".to_owned()),
            session: None,
            joined: 0,
            expired: (what == Decayed::Expired).then_some(now.millis()),
            stamped: true,
            quarantined: false,
        };
        compare(found, &wanted, !moved);
    }
    let due = rows.iter().filter(|row| row.due.is_some_and(|due| due <= now.millis())).count();
    assert_eq!(report.tally.scanned, i64::try_from(due).unwrap());
    assert_eq!((report.tally.changed, report.tally.expired), (changed, expired));
    assert!(
        changed > 4_000 && expired > 500,
        "the rows stretch the law: {changed} changed, {expired} expired"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_expiry_in_cypher_is_that_of_the_law() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let now = at(1_000.0);
    let mut random = Random::seeded(0xebb_0003);
    let row = |n| {
        let row = StoredRow::stamped(&mut random, n, now);
        // As Ebb itself leaves one; that of another writer who accessed it may come too soon, and is looked at then.
        StoredRow { accessed: row.energy_at, due: row.energy_at, nanos: 0, ..row }
    };
    let rows: Vec<StoredRow> = (0..500).map(row).collect();
    lay(&db, &rows, true).await;
    let expiry = |state: MemoryState| {
        let waits = state.tier == Tier::Working && !state.pinned && state.ripe_at.is_none();
        let curve = tunables.curve(state.tier).filter(|_| waits)?;
        let after = curve.crossing(state.energy.value(), tunables.config().expiry_threshold)?;
        Some(state.anchor().after(after))
    };
    let of_row = |row: &'_ StoredRow| expiry(row.state()).map(|at| (at, row.id.clone()));
    let mut all: Vec<(Timestamp, String)> = rows.iter().filter_map(of_row).collect();
    all.sort_unstable();
    assert!(all.len() > 50, "the rows stretch the law: {}", all.len());
    for (wanted, id) in all {
        let found = db.store.backlog(&tunables).await.unwrap().expires.unwrap();
        let early = wanted.millis() - found.millis();
        assert!((0..=2).contains(&early), "{id}: {found:?} in Cypher, {wanted:?} in Rust");
        db.client.run("MATCH (m:Memory {id: $id}) DELETE m", &[("id", id.as_str().into())]).await;
    }
    assert_eq!(db.store.backlog(&tunables).await.unwrap().expires, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adoption_in_cypher_is_an_adoption_in_rust() {
    let db = fresh().await;
    let tunables = db.tunables().await;
    let now = at(1_000.0);
    let mut random = Random::seeded(0xebb_0002);
    let rows: Vec<StoredRow> = (0..ROWS).map(|n| StoredRow::foreign(&mut random, n, now)).collect();
    lay(&db, &rows, false).await;

    let opened = db.store.open_run("decay", "manual/parity", now, "manual", Right::Lease).await.unwrap();
    let OpenedRun::Ours(mut run) = opened else { panic!("{opened:?}") };
    while db.store.adopt(&mut run, &tunables, PageMode::Rows(1_000)).await.unwrap() > 0 {}
    let tally = db.store.close_run(&run, RunState::Done, false, None).await.unwrap();
    assert_eq!((tally.adopted, tally.quarantined), (i64::try_from(ROWS).unwrap(), 0));

    let all = left(&db).await;
    let mut lives = Vec::with_capacity(ROWS);
    for (row, found) in rows.iter().zip(&all) {
        let state = adopted(row.found(), now, &tunables);
        let untouched = WrittenRow {
            id: row.id.clone(),
            tier: row.tier.map(|tier| tier.name().to_owned()),
            energy: row.energy,
            energy_at: row.energy_at,
            accessed: row.accessed,
            created: row.created,
            count: row.count,
            ripe: row.ripe,
            due: None,
            pinned: row.pinned,
            scope: Some(row.scope.unwrap_or("local").to_owned()),
            session: row.session.clone(),
            joined: 0,
            expired: None,
            stamped: true,
            quarantined: false,
        };
        let wanted = match state {
            None => untouched,
            Some(state) => WrittenRow {
                tier: Some(state.tier.name().to_owned()),
                energy: Some(state.energy.value()),
                energy_at: ms(state.energy_at),
                accessed: ms(state.last_accessed),
                created: row.created.or(ms(state.last_accessed)),
                count: Some(state.access_count),
                ripe: state.ripe_at.map(Timestamp::millis),
                due: state.due_at.map(Timestamp::millis),
                joined: i64::from(row.session.is_some()),
                ..untouched
            },
        };
        compare(found, &wanted, true);
        lives.push(state);
    }

    // And a decay pass of what was adopted is that of the adopted life.
    let later = at(1_200.0);
    db.run(JobName::Decay, 1_200.0).await;
    for (found, state) in left(&db).await.iter().zip(lives) {
        let Some(state) = state else { continue };
        let (after, what) = decayed(state, later, &tunables);
        let wanted = WrittenRow {
            tier: Some(after.tier.name().to_owned()),
            energy: Some(after.energy.value()),
            energy_at: ms(after.energy_at),
            ripe: after.ripe_at.map(Timestamp::millis),
            due: after.due_at.map(Timestamp::millis),
            expired: (what == Decayed::Expired).then_some(later.millis()),
            ..copy(found)
        };
        compare(found, &wanted, what == Decayed::Unchanged);
    }
}

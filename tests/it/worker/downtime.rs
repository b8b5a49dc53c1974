//! What a schedule's gaps do to memories: nothing but when it is done.

use super::hand::{Hand, beside, job, ledger};
use crate::harness::ebb::{access, close, key, remember, session};
use crate::harness::neo4j::{Fresh, at, fresh};
use crate::harness::random::Random;
use crate::harness::rows::{Row, row};
use ebb_core::clock::parse_rfc3339;
use ebb_core::domain::event::{Access, Event, Remember};
use ebb_core::jobs::JobName;
use ebb_core::scheduler::calendar::{Pattern, Zone};
use ebb_core::scheduler::due::Rhythm;
use ebb_core::scheduler::{Config, JobConfig};
use std::collections::BTreeMap;

const HOUR_MS: f64 = 3_600_000.0;
const MEMORIES: usize = 40;
/// Memories of either older tier that are there before.
const OLD: usize = 12;
/// Hours between two runs of each job.
const STEP: u32 = 24;
/// Hours until the workers go, until they are back, and at the end.
const LEAVE: u32 = 24;
const BACK: u32 = LEAVE + 7 * 24;
const END: u32 = BACK + STEP;

/// The night in which clocks change: three hours before to three hours after, each half-hour an occurrence that runs
/// once, and a daily one that the night has none of, two of, or a shifted one.
#[tokio::test(flavor = "multi_thread")]
async fn a_night_of_changing_clocks_in_three_zones() {
    let nights = [
        // 02:00 to 03:00 is left out: what is meant for 02:15 runs when the clocks have changed.
        ("Europe/Berlin", "15 2 * * *", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00.000Z"),
        // 01:00 to 02:00 comes twice: what is meant for 01:15 runs the first time.
        ("America/New_York", "15 1 * * *", "2026-11-01T06:00:00Z", "2026-11-01T05:15:00.000Z"),
        // Half an hour, 02:00 to 02:30, is left out.
        ("Australia/Lord_Howe", "15 2 * * *", "2026-10-03T15:30:00Z", "2026-10-03T15:30:00.000Z"),
    ];
    for (zone, daily, change, once) in nights {
        let db = fresh().await;
        db.put(&[row("m", "longTerm", 8.0)]).await;
        let cron = |pattern: &str| {
            let zone = Zone::named(zone).unwrap();
            job(Some(Rhythm::Cron(Box::new(Pattern::parse(pattern).unwrap()), zone)))
        };
        let mut jobs = [(); JobName::ALL.len()].map(|()| JobConfig { enabled: false, ..job(None) });
        jobs[JobName::Decay as usize] = cron(daily);
        jobs[JobName::Promote as usize] = cron("*/30 * * * *");
        let (hand, dispatcher) = Hand::over(&db, Config(jobs));
        let change = parse_rfc3339(change).unwrap().since(at(0.0)) / HOUR_MS;
        beside(
            &hand,
            dispatcher,
            Box::pin(async {
                for (runs, halves) in (1..).zip(-6_i32..=6) {
                    hand.until(&db, change + f64::from(halves) / 2.0, "promote", runs).await;
                }
                hand.until(&db, change + 3.0, "decay", 2).await;
            }),
        )
        .await;
        let decay = ledger(&db, "decay").await;
        assert_eq!(decay.len(), 2, "{zone}: the last one before the night, and one in it: {decay:?}");
        assert_eq!(decay[0].0, once, "{zone}");
        assert_eq!(ledger(&db, "promote").await.len(), 13, "{zone}");
        let state = db.state("m").await;
        close(state.energy.value(), 8.0 * (-0.001 * state.energy_at.since(at(0.0)) / HOUR_MS).exp());
    }
}

/// What a history comes to, by memory.
struct Outcome {
    /// At the end: an old memory is rewritten once a week only.
    energies: BTreeMap<String, f64>,
    /// Memories that never left the tier they were made in.
    stayed: Vec<String>,
    risen: Vec<String>,
    ripe: i64,
    weights: Vec<String>,
    clusters: Vec<String>,
    /// Occurrences of each job.
    runs: Vec<usize>,
}

/// Eight days of accesses: every memory made on the first day, most of them used again now and then, some often.
fn history() -> Vec<(f64, Event)> {
    let mut random = Random::seeded(42);
    let mut all = Vec::new();
    for n in 0..MEMORIES {
        let name = format!("m{n}");
        let made = random.unit() * 12.0;
        let home = Remember { session: Some(session(&format!("s{}", n % 8))), ..remember(&name, made) };
        all.push((made, Event::Remember(home)));
        let uses = [0, 1, 3, 12, 40][n % 5];
        for _ in 0..uses {
            let day = random.whole(7);
            let hours = made + 0.1 + f64::from(i32::try_from(day).unwrap()) * 24.0 + random.unit() * 20.0;
            let used_in = session(&format!("s{}-{day}", n % 8));
            all.push((hours, Event::Access(Access { session: Some(used_in), ..access(&name, hours) })));
        }
        // A burst that ripens one of three.
        if n % 3 == 0 {
            let hours = 13.0 + random.unit() * 150.0;
            all.extend(
                [0.0, 0.1, 0.2].map(|later| (hours + later, Event::Access(access(&name, hours + later)))),
            );
        }
    }
    for n in 0..OLD {
        for tier in ["shortTerm", "longTerm"] {
            for _ in 0..n % 4 {
                let hours = random.unit() * f64::from(BACK);
                all.push((hours, Event::Access(access(&format!("{tier}{n}"), hours))));
            }
        }
    }
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    all
}

/// Plays the history; the workers look at each step, but for the week in which they are `away`.
async fn play(db: &Fresh, away: bool) -> Outcome {
    db.client
        .run(
            "MATCH (c:ConsolidationConfig) SET c.decayIntervalMinutes = 1440, c.promotionIntervalMinutes = 1440, \
             c.clusteringIntervalMinutes = 1440, c.coactivationThreshold = 1",
            &[],
        )
        .await;
    let old = |n: usize, tier| Row { due: None, ..row(&format!("{tier}{n}"), tier, 0.3 + n as f64 / 10.0) };
    db.put(&(0..OLD).flat_map(|n| [old(n, "shortTerm"), old(n, "longTerm")]).collect::<Vec<_>>()).await;
    // Strengthening is done at the instant of its run, so it is left out: when it is done is part of what it does.
    let jobs = JobName::ALL
        .map(|name| JobConfig { enabled: !matches!(name, JobName::Audit | JobName::Reinforce), ..job(None) });
    let (hand, dispatcher) = Hand::over(db, Config(jobs));
    let mut events = history().into_iter().peekable();
    beside(
        &hand,
        dispatcher,
        Box::pin(async {
            let mut runs = 0;
            for hours in (0..=END).step_by(STEP as usize) {
                let mut batch = Vec::new();
                while let Some((_, event)) = events.next_if(|(at, _)| *at < f64::from(hours)) {
                    batch.push(event);
                }
                db.apply(&batch).await;
                if away && hours > LEAVE && hours <= BACK {
                    continue;
                }
                runs += 1;
                for job in ["decay", "coactivate", "cluster", "promote"] {
                    hand.until(db, f64::from(hours), job, runs).await;
                }
            }
        }),
    )
    .await;
    assert!(events.next().is_none());
    let column = async |text: &str| db.client.column::<String>(text).await;
    let ids = column("MATCH (m:Memory) WHERE m.promotionKey IS NULL RETURN m.id AS id").await;
    let keys: Vec<_> = ids.iter().map(|id| key(id)).collect();
    let memories = db.store.memories(&keys).await.unwrap();
    let mut ledgers = Vec::new();
    for job in ["decay", "coactivate", "cluster", "promote"] {
        ledgers.push(ledger(db, job).await.len());
    }
    Outcome {
        energies: memories
            .iter()
            .map(|memory| {
                let state = memory.life.as_ref().unwrap().state;
                let rate = [("working", 0.5), ("shortTerm", 0.05), ("longTerm", 0.001)]
                    .into_iter()
                    .find_map(|(tier, rate)| (tier == state.tier.name()).then_some(rate));
                let hours = at(f64::from(END)).since(state.energy_at) / HOUR_MS;
                (memory.id.clone(), state.energy.value() * (-rate.unwrap_or(0.0) * hours).exp())
            })
            .collect(),
        stayed: column(
            "MATCH (m:Memory) WHERE m.lastExpired IS NULL AND m.promotedFrom IS NULL AND m.promotionKey IS NULL \
             RETURN m.id AS id ORDER BY id",
        )
        .await,
        risen: column("MATCH (m:Memory) WHERE m.promotedFrom IS NOT NULL RETURN m.id AS id ORDER BY id").await,
        ripe: db.client.value("MATCH (m:Memory) WHERE m.ripeAt IS NOT NULL RETURN count(m)").await,
        weights: column(
            "MATCH (a:Memory)-[c:COACTIVATED]->(b:Memory) \
             RETURN a.id + '-' + b.id + ' ' + toString(c.weight) AS pair ORDER BY pair",
        )
        .await,
        clusters: column(
            "MATCH (m:Memory)-[:BELONGS_TO]->(c:SemanticCluster) WITH c, m ORDER BY m.id \
             WITH c, collect(m.id) AS ids RETURN reduce(all = '', id IN ids | all + ' ' + id) AS ids ORDER BY ids",
        )
        .await,
        runs: ledgers,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_week_of_downtime_changes_nothing_but_when() {
    let steady = play(&fresh().await, false).await;
    let away = play(&fresh().await, true).await;
    let (before, whole) = (1 + (LEAVE / STEP) as usize, 1 + (END / STEP) as usize);
    assert_eq!(steady.runs, [whole; 4]);
    assert_eq!(away.runs, [before + 1; 4], "one run of each job makes up for a week");
    assert_eq!(away.weights, steady.weights);
    assert!(!steady.weights.is_empty() && !steady.clusters.is_empty());
    assert_eq!((steady.ripe, away.ripe), (0, 0), "nothing that was ripe is still waiting");
    let lost: Vec<&String> = steady.risen.iter().filter(|id| !away.risen.contains(id)).collect();
    assert!(lost.is_empty() && steady.risen.len() > 5, "ripe and lost: {lost:?} of {}", steady.risen.len());
    let both: Vec<&String> = steady.stayed.iter().filter(|id| away.stayed.contains(id)).collect();
    assert!(both.len() >= 2 * OLD, "{both:?}");
    for id in both {
        close(away.energies[id], steady.energies[id]);
    }
}

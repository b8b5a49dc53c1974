//! What a run did, in words.

use ebb_core::api::job::{JobRun, PastRun};
use ebb_core::service::JobName;
use std::collections::BTreeMap;

/// The counts of a run.
pub(super) struct Counts<'a> {
    changed: i64,
    adopted: i64,
    expired: i64,
    promoted: i64,
    quarantined: i64,
    conflicts: i64,
    own: &'a BTreeMap<&'static str, i64>,
}

macro_rules! counts_of {
    ($($run:ty),+) => {$(
        impl<'a> From<&'a $run> for Counts<'a> {
            fn from(run: &'a $run) -> Self {
                Self {
                    changed: run.changed,
                    adopted: run.adopted,
                    expired: run.expired,
                    promoted: run.promoted,
                    quarantined: run.quarantined,
                    conflicts: run.conflicts,
                    own: &run.own,
                }
            }
        }
    )+};
}

counts_of!(JobRun, PastRun);

/// The effects of a run of a job, in a few words.
pub(super) fn effects(job: JobName, counts: &Counts<'_>) -> String {
    let many = |count: i64, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {several}")),
    };
    let own = |name: &str| counts.own.get(name).copied().unwrap_or(0);
    // What the other jobs write has names of its own.
    let swept = if job == JobName::Decay { counts.changed } else { 0 };
    let faded = if job == JobName::Fade { counts.changed } else { 0 };
    let evaporated = if job == JobName::Evaporate { counts.changed } else { 0 };
    let (one, several) = match job {
        JobName::Fade => ("relation", "relations"),
        JobName::Evaporate => ("place or edge", "places and edges"),
        JobName::Sweep => ("fact", "facts"),
        _ => ("memory", "memories"),
    };
    let quarantined = "quarantined (see: ebb inspect quarantine)";
    let cut = "of which only the most recent memories count";
    let most = "of which only the memories of most energy were compared";
    let parts: Vec<String> = [
        many(
            counts.adopted,
            &format!("{one} of another writer adopted"),
            &format!("{several} of other writers adopted"),
        ),
        many(faded, "relation lowered", "relations lowered"),
        many(evaporated, "place or edge updated", "places and edges updated"),
        many(own("silenced"), "fallen to 0", "fallen to 0"),
        many(own("retracted"), "fact retracted", "facts retracted"),
        many(own("reduced"), "fact reduced", "facts reduced"),
        many(
            own("only_counted"),
            "counted by a policy that only counts",
            "counted by policies that only count",
        ),
        many(swept, "memory updated", "memories updated"),
        many(counts.expired, "expired", "expired"),
        many(own("released"), "row released from quarantine", "rows released from quarantine"),
        many(own("mended"), "memory with repaired dates", "memories with repaired dates"),
        many(own("sessions"), "session counted", "sessions counted"),
        many(own("sessions_cut"), &format!("session {cut}"), &format!("sessions {cut}")),
        many(own("pairs"), "pair strengthened", "pairs strengthened"),
        many(own("formed"), "cluster formed", "clusters formed"),
        many(own("dissolved"), "cluster dissolved", "clusters dissolved"),
        many(own("joined"), "memory joined", "memories joined"),
        many(own("left"), "memory left", "memories left"),
        many(own("embedded"), "memory embedded", "memories embedded"),
        many(own("not_embedded"), "memory without an embedding", "memories without an embedding"),
        many(own("new"), "new memory compared", "new memories compared"),
        many(own("corpora_cut"), &format!("scope {most}"), &format!("scopes {most}")),
        many(own("reinforced"), "strengthened", "strengthened"),
        many(own("below_minimum"), "below the minimum", "below the minimum"),
        many(own("pinned"), "pinned", "pinned"),
        many(counts.promoted, "promoted", "promoted"),
        many(own("outcomes"), "outcome learned", "outcomes learned"),
        many(own("synapses"), "relationship changed", "relationships changed"),
        many(own("unknown"), "unknown node", "unknown nodes"),
        many(counts.quarantined, quarantined, quarantined),
        many(counts.conflicts, "conflict", "conflicts"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") }
}

//! What befalls a worker, drawn from seed and round.

use super::random::Random;
use std::fmt;
use std::time::Duration;

/// A kind of round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Kill,
    Pause,
    Partition,
    Server,
}

impl Kind {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match name {
            "kill" => Ok(Self::Kill),
            "pause" => Ok(Self::Pause),
            "partition" => Ok(Self::Partition),
            "server" => Ok(Self::Server),
            other => {
                Err(format!("there is no kind of round {other}; there are: kill, pause, partition, server"))
            }
        }
    }
}

/// The stop points of the store.
const POINTS: [&str; 8] = [
    "before_claim",
    "after_claim",
    "after_guard",
    "after_work",
    "before_commit",
    "after_commit",
    "before_receipt_read",
    "before_release",
];

/// What will befall a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Doom {
    /// It stops itself so at the n-th time that it comes to a point.
    Point { point: &'static str, hit: usize, action: &'static str },
    /// It is killed so long after it began.
    Kill(Duration),
    /// It is paused so long after it began.
    Pause(Duration),
    /// Its connections fall silent with a statement in flight, the n-th, and it is gone; the server does not hear of it.
    Partition { statement: usize },
    /// Nothing.
    None,
}

impl Doom {
    /// That of a round. Every stop point has its turn, and one round in nine a kill at any time.
    pub(crate) fn of(seed: u64, round: u64, kind: Kind) -> Self {
        let mut random =
            Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ round.wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.bits();
        let turn = usize::try_from(round).unwrap_or(0) % (POINTS.len() + 1);
        let soon = |random: &mut Random| Duration::from_millis(300 + random.bits() % 3_000);
        match kind {
            Kind::Kill => match POINTS.get(turn) {
                Some(point) => Self::Point { point, hit: 1 + random.below(3), action: "kill" },
                None => Self::Kill(soon(&mut random)),
            },
            Kind::Pause if random.once_in(4) => Self::Pause(soon(&mut random)),
            Kind::Pause => {
                let point = random.pick(&[
                    "before_claim",
                    "after_claim",
                    "after_guard",
                    "after_work",
                    "before_commit",
                ]);
                Self::Point { point, hit: 1 + random.below(3), action: "stop" }
            }
            Kind::Partition => Self::Partition { statement: 20 + random.below(60) },
            Kind::Server => Self::None,
        }
    }
}

impl fmt::Display for Doom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point { point, hit, action } => write!(f, "{action} at {point} {hit}"),
            Self::Kill(after) => write!(f, "kill after {} ms", after.as_millis()),
            Self::Pause(after) => write!(f, "pause after {} ms", after.as_millis()),
            Self::Partition { statement } => write!(f, "silent at statement {statement}"),
            Self::None => f.write_str("nothing"),
        }
    }
}

//! The faults of a campaign: which there are, and which one a round has, drawn from seed and round.

use super::random::Random;
use std::fmt;
use std::time::Duration;

/// A kind of round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A worker is killed.
    Kill,
    /// An API process is killed.
    Api,
    /// A worker is paused.
    Pause,
    /// A worker is cut off.
    Partition,
    /// A worker's clock is wrong, until it is killed.
    Skew,
    /// A worker that serves HTTP has clients that do not read or send a byte now and then, until it is killed.
    Slow,
    /// The server is killed.
    Server,
    /// The server's disk is full, until it is killed.
    Full,
    /// The server takes no writes, until it is started again.
    ReadOnly,
    /// Another program writes rows of its own.
    Foreign,
    /// Another program writes values that no law can use.
    Poison,
}

/// Every kind, by its name on the command line.
const KINDS: [(&str, Kind); 11] = [
    ("kill", Kind::Kill),
    ("api", Kind::Api),
    ("pause", Kind::Pause),
    ("partition", Kind::Partition),
    ("skew", Kind::Skew),
    ("slow", Kind::Slow),
    ("server", Kind::Server),
    ("full", Kind::Full),
    ("readonly", Kind::ReadOnly),
    ("foreign", Kind::Foreign),
    ("poison", Kind::Poison),
];

impl Kind {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let found = KINDS.iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
            format!("there is no kind of round {name}; there are: {}", names.join(", "))
        })
    }

    /// Whether it is the server that suffers: no worker does meanwhile.
    pub(crate) fn is_of_server(self) -> bool {
        matches!(self, Self::Server | Self::Full | Self::ReadOnly)
    }

    /// Whether it concerns no worker and is over at once.
    pub(crate) fn is_immediate(self) -> bool {
        matches!(self, Self::Api | Self::Foreign | Self::Poison)
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

const DAY_MS: i64 = 86_400_000;
/// How long a worker with a fault that does not end it is there at least: it needs two seconds to begin.
const LIVES: Duration = Duration::from_secs(5);

/// What will befall a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Disruption {
    /// It stops itself so at the n-th time that it comes to a point.
    Point { point: &'static str, hit: usize, action: &'static str },
    /// It is killed so long after it began.
    Kill(Duration),
    /// It is paused so long after it began.
    Pause(Duration),
    /// Its connections fall silent with a statement in flight, the n-th, and it is gone; the server does not hear of it.
    Partition { statement: usize },
    /// Its clock is wrong by so many milliseconds, and it is killed so long after it began.
    Skew { ms: i64, lives: Duration },
    /// Slow clients occupy it, and it is killed so long after it began.
    Slow { lives: Duration },
    /// Nothing.
    None,
}

impl Disruption {
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
            Kind::Skew => {
                let ms = random.pick(&[-DAY_MS, 2 * DAY_MS, 50 * 365 * DAY_MS]);
                Self::Skew { ms, lives: soon(&mut random) + LIVES }
            }
            Kind::Slow => Self::Slow { lives: soon(&mut random) + LIVES },
            Kind::Api | Kind::Server | Kind::Full | Kind::ReadOnly | Kind::Foreign | Kind::Poison => {
                Self::None
            }
        }
    }
}

impl fmt::Display for Disruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point { point, hit, action } => write!(f, "{action} at {point} {hit}"),
            Self::Kill(after) => write!(f, "kill after {} ms", after.as_millis()),
            Self::Pause(after) => write!(f, "pause after {} ms", after.as_millis()),
            Self::Partition { statement } => write!(f, "silent at statement {statement}"),
            Self::Skew { ms, lives } => {
                write!(f, "clock wrong by {} h, killed after {} ms", ms / 3_600_000, lives.as_millis())
            }
            Self::Slow { lives } => write!(f, "slow clients, killed after {} ms", lives.as_millis()),
            Self::None => f.write_str("nothing"),
        }
    }
}

//! The energy of a memory over time: the curve, the thresholds it meets, and what happened when.
//!
//! The past is drawn solid, what is ahead dashed. Events with a name get a letter on the axis and a line in the legend;
//! accesses are many and get a tick each.

mod document;
mod terminal;
#[cfg(test)]
mod tests;

use super::{Ink, axis};
use crate::surfaces::cli::page::harmless;
use ebb_core::domain::units::Timestamp;

/// The picture of one memory.
#[derive(Debug, Clone)]
pub struct EnergyPlot {
    /// Title.
    pub title: String,
    /// Start of the time axis, if before the first point.
    pub from: Option<Timestamp>,
    /// Stretches of smooth fading in order of time.
    pub segments: Vec<Segment>,
    /// Energies that decide something; the axis reaches all of them.
    pub thresholds: Vec<Threshold>,
    /// Events of the past and the forecast.
    pub marks: Vec<Mark>,
}

/// A stretch of smooth fading.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Instants and energies, in order of time.
    pub points: Vec<(Timestamp, f64)>,
    /// Whether it is a forecast.
    pub ahead: bool,
    /// Whether it goes on from the one before, with a jump of the energy between them. If not, what lies between is
    /// not known, and nothing is drawn there.
    pub joined: bool,
}

/// An energy that decides something.
#[derive(Debug, Clone)]
pub struct Threshold {
    /// The energy.
    pub value: f64,
    /// Label, such as `expires below 0.1`; about 20 characters fit.
    pub label: String,
}

/// Something with a date.
#[derive(Debug, Clone)]
pub struct Mark {
    /// When.
    pub at: Timestamp,
    /// Kind.
    pub kind: MarkKind,
    /// Line of the legend; accesses have none.
    pub label: String,
}

/// Kinds of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MarkKind {
    /// It was accessed or strengthened.
    Access,
    /// It rose a tier, or was revived.
    Promotion,
    /// It crosses a threshold, or expires.
    Crossing,
    /// The instant at which one looks.
    Now,
}

impl Segment {
    /// A curve from one instant to another, in `SAMPLES` steps.
    #[must_use]
    pub fn sampled(
        from: Timestamp,
        to: Timestamp,
        ahead: bool,
        energy_at: impl Fn(Timestamp) -> f64,
    ) -> Self {
        let step = to.since(from) / f64::from(SAMPLES);
        let at = |i: u32| from.after(step * f64::from(i)).min(to);
        let mut points: Vec<_> = (0..=SAMPLES).map(at).map(|at| (at, energy_at(at))).collect();
        points.dedup_by_key(|(at, _)| *at);
        Self { points, ahead, joined: true }
    }
}

/// Enough for an SVG to look smooth, and more than a terminal has dots.
const SAMPLES: u32 = 240;
/// Named events beyond these are left to the table below the picture.
const NAMED: usize = 12;

/// The picture in numbers: what both drawings share.
struct Scene<'a> {
    from: i64,
    to: i64,
    ticks: Vec<(f64, String)>,
    top: f64,
    /// The marks inside the picture, in order of time.
    marks: Vec<&'a Mark>,
    /// Those that have a letter.
    named: Vec<(char, &'a Mark)>,
}

impl EnergyPlot {
    /// `None` where there is not a single point.
    fn scene(&self) -> Option<Scene<'_>> {
        let points = || self.segments.iter().flat_map(|s| &s.points).filter(|(_, energy)| energy.is_finite());
        let from = points().map(|(at, _)| at.millis()).min()?;
        let from = self.from.map_or(from, |begins| from.min(begins.millis()));
        let to = points().map(|(at, _)| at.millis()).max()?;
        // One point alone gets an hour around it.
        let (from, to) = if from == to { (from - 1_800_000, to + 1_800_000) } else { (from, to) };
        let energies = points().map(|(_, energy)| *energy);
        let greatest = energies.chain(self.thresholds.iter().map(|t| t.value)).fold(0.0, f64::max);
        let ticks = axis::values(greatest, 5);
        let top = ticks.last().map_or(1.0, |(value, _)| *value);
        let inside = |mark: &&Mark| (from..=to).contains(&mark.at.millis());
        let mut marks: Vec<&Mark> = self.marks.iter().filter(inside).collect();
        marks.sort_by_key(|mark| mark.at);
        let has_letter = |mark: &&&Mark| !matches!(mark.kind, MarkKind::Access | MarkKind::Now);
        let named = ('a'..='z').zip(marks.iter().filter(has_letter).take(NAMED).copied()).collect();
        Some(Scene { from, to, ticks, top, marks, named })
    }
}

impl MarkKind {
    const fn ink(self) -> Ink {
        match self {
            Self::Promotion => Ink::Green,
            Self::Crossing => Ink::Red,
            Self::Access => Ink::Blue,
            Self::Now => Ink::Grey,
        }
    }
}

impl Scene<'_> {
    /// The legend: signs on the axis, in order of time.
    fn legend(&self) -> Vec<(char, MarkKind, String)> {
        let line = |(letter, mark): &(char, &Mark)| {
            let what = format!("{}  {}", axis::instant(mark.at.millis()), harmless(&mark.label));
            (*letter, mark.kind, what)
        };
        let accesses = self.marks.iter().filter(|mark| mark.kind == MarkKind::Access).count();
        let many = match accesses {
            0 => None,
            1 => Some("1 access".to_owned()),
            n => Some(format!("{} accesses", axis::count(n.try_into().unwrap_or(u64::MAX)))),
        };
        let now = self.marks.iter().find(|mark| mark.kind == MarkKind::Now);
        let now = now.map(|mark| ('▲', MarkKind::Now, format!("{}  now", axis::instant(mark.at.millis()))));
        let accesses = many.map(|many| ('|', MarkKind::Access, many));
        self.named.iter().map(line).chain(now).chain(accesses).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of the years 1 to 9999 are exact in f64")]
const fn ms_f64(ms: i64) -> f64 {
    ms as f64
}

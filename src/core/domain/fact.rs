//! Facts: assertions of agents about entities, and how sweeps reduce or retract old ones.
//!
//! A fact never changes. The facts of one tuple (entity, relation, scope, value) are its lineage, and the fact that
//! counts is its head: the latest by [`Rank`]. A sweep only adds to a lineage: a new head of the same tuple with less
//! confidence, which records the confidence and the instant of the *origin*. Confidence is always computed from that
//! origin, so the schedule does not affect it, and a second sweep at one instant has nothing to write. Nor does the
//! schedule affect which assertion counts: a derived fact has the rank of its origin.
//!
//! | head | [`Decay::Ttl`] | [`Decay::HalfLife`] |
//! |---|---|---|
//! | younger than that | stays | `max(floor, c0 * 2^(-age / half-life))`, written if lower by epsilon or by half, or at the floor |
//! | older | retracted: confidence 0 | the same |
//! | confidence 0, or past `validUntil` | skipped | skipped |
//!
//! Exempt from every policy: relations in the namespaces `stigmem:` and `rel:`, and facts with a source that begins
//! with `system:`, except those written by a sweep.
//!
//! Source: the decay semantics document (section 15). Its prose, that each sweep halves, contradicts its own formula
//! and test vector; Ebb follows the formula.
//!
//! # Design notes
//! Age is that of the origin also after a sweep has reduced a fact that is to be retracted: otherwise every reduction
//! would delay the retraction, and the schedule would decide. For the same reason a derived fact ranks by its origin: by
//! the sweep's instant it would outrank an assertion that was made before the sweep and arrives after it, as by an
//! import of yesterday's events, and a fact that is asserted daily would fade.
//!
//! Of facts of one instant a derived one ranks after assertions: else its own origin, adopted again, would replace it.
//! An assertion of the very millisecond of the origin that arrives after the sweep thus changes nothing.
//!
//! Invariant: no sweep increases a confidence (held by `never_rises`).
//! Invariant: a second sweep at one instant writes nothing (held by `twice_is_once`).
//! Invariant: the order in which assertions arrive and sweeps run does not affect the confidence (held by
//! `a_late_assertion_counts_as_a_punctual_one`).

use super::decay::Curve;
use super::ids::{CONTENT_BYTES_MAX, EntityName, FactRelation, Source, lineage_key};
use super::units::{Confidence, Timestamp};
use serde::{Deserialize, Serialize};

/// Source of facts written by a sweep.
pub const DECAY_SOURCE: &str = "system:stigmem:decay";
/// Prefix of system sources; no client may use it.
pub const SYSTEM_SOURCES: &str = "system:";
/// Prefixes of relations that are exempt from policies.
const EXEMPT_NAMESPACES: [&str; 2] = ["stigmem:", "rel:"];

/// Confidences below this are reduced to a floor only: further facts would carry no information.
const NEGLIGIBLE: f64 = 0.001;

/// Scope of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactScope {
    Local,
    Team,
    Company,
    Public,
}

impl FactScope {
    /// All scopes, in the order in which they are swept.
    pub const ALL: [Self; 4] = [Self::Local, Self::Team, Self::Company, Self::Public];

    /// Documented name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Team => "team",
            Self::Company => "company",
            Self::Public => "public",
        }
    }

    /// The scope with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

impl std::fmt::Display for FactScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Value of a fact, with the types of the database. Written as JSON, but not parsed as JSON: a JSON parser would round
/// numbers, so surfaces parse the text of a number with [`Value::number`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Truth(bool),
    /// A 64-bit integer.
    Integer(i64),
    /// A finite number.
    Number(f64),
    /// Text, at most [`CONTENT_BYTES_MAX`] bytes.
    Text(String),
}

impl Value {
    /// Name of the type in the graph.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Truth(_) => "boolean",
            Self::Integer(_) | Self::Number(_) => "number",
            Self::Text(_) => "string",
        }
    }

    /// Parses a decimal: an integer without point or exponent, else a 64-bit float.
    pub fn number(decimal: &str) -> Result<Self, FactError> {
        let shown = || decimal.chars().take(SHOWN_MAX).collect::<String>();
        let is_whole = !decimal.contains(['.', 'e', 'E']);
        let number: f64 = decimal
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
            .then(|| decimal.parse().ok())
            .flatten()
            .ok_or_else(|| FactError::NoNumber(shown()))?;
        let exact = if is_whole {
            decimal.parse().ok().map(Self::Integer)
        } else {
            says(number, decimal).then_some(Self::Number(number))
        };
        exact.ok_or_else(|| FactError::Digits(shown()))
    }

    /// Canonical form in a lineage. `1` and `1.0` are one value of two types, and share a lineage as far as every
    /// integer is a float; a greater integer has a lineage of its own.
    fn name(&self) -> String {
        match self {
            Self::Truth(truth) => format!("boolean:{truth}"),
            Self::Integer(whole) if whole.unsigned_abs() > FLOAT_WHOLE_MAX => format!("integer:{whole}"),
            Self::Integer(whole) => format!("number:{whole}"),
            // One zero only: -0.0 is 0.0.
            Self::Number(number) => format!("number:{}", number + 0.0),
            Self::Text(text) => format!("string:{text}"),
        }
    }
}

/// Up to here every integer is a float.
const FLOAT_WHOLE_MAX: u64 = 1 << 53;
/// Significant digits that identify every float.
const DIGITS_MAX: usize = 17;
/// Characters of a number that an error shows.
const SHOWN_MAX: usize = 40;

/// Whether a float is written as that decimal: with as many digits as the decimal has, or with the fewest that identify
/// it. These two differ only if the float lies midway between two decimals, where one rounds up and the other to even.
fn says(number: f64, decimal: &str) -> bool {
    let (mantissa, exponent) = decimal.split_once(['e', 'E']).unwrap_or((decimal, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (whole, is_negative) = match whole.strip_prefix('-') {
        Some(whole) => (whole, true),
        None => (whole.strip_prefix('+').unwrap_or(whole), false),
    };
    let all = format!("{whole}{part}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0');
    if digits.is_empty() {
        return number == 0.0;
    }
    if digits.len() > DIGITS_MAX || !number.is_finite() {
        return false;
    }
    // Exponent of the first digit; an exponent too long for a float was zero or infinite above.
    let Ok(exponent) = exponent.parse::<i64>() else { return false };
    let before = i64::try_from(whole.len()).unwrap_or(i64::MAX) - i64::try_from(leading).unwrap_or(0) - 1;
    let number_is = |written: String| {
        let (own, own_exponent) = written.split_once('e').unwrap_or((&written, "0"));
        own.replace('.', "") == digits && own_exponent.parse() == Ok(exponent.saturating_add(before))
    };
    (number_is(format!("{:.*e}", digits.len() - 1, number.abs())) || number_is(format!("{:e}", number.abs())))
        && number.is_sign_negative() == is_negative
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Truth(truth) => truth.fmt(f),
            Self::Integer(whole) => whole.fmt(f),
            // With its point, which distinguishes it from an integer.
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Tuple of a lineage.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuple {
    /// Scope of the fact.
    pub scope: FactScope,
    pub entity: EntityName,
    pub relation: FactRelation,
    pub value: Value,
}

impl Tuple {
    /// Unique key of the lineage.
    #[must_use]
    pub fn key(&self) -> String {
        lineage_key(self.scope.name(), self.entity.as_str(), self.relation.as_str(), &self.value.name())
    }
}

impl std::fmt::Display for Tuple {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.entity, self.relation, self.value)
    }
}

/// An assertion of a fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    pub at: Timestamp,
    pub id: String,
    pub tuple: Tuple,
    pub confidence: Confidence,
    pub source: Source,
    /// End of its validity, if known.
    pub valid_until: Option<Timestamp>,
}

/// An invalid assertion.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FactError {
    #[error("the value of a fact is empty")]
    Empty,
    #[error("the value of a fact has {0} bytes; at most {CONTENT_BYTES_MAX} are kept")]
    TooLong(usize),
    #[error("the value of a fact is {0}, not a finite number")]
    NotFinite(f64),
    #[error("the value of a fact is {0:?}, not a number; assert it as text")]
    NoNumber(String),
    /// A number that would not be returned exactly as asserted.
    #[error(
        "the value of a fact is {0}, which 64 bits do not hold digit by digit: a whole number is at most \
         9223372036854775807 either way, another has at most {DIGITS_MAX} digits, up to 1.7e308; assert it as text"
    )]
    Digits(String),
    /// Reserved for Ebb itself.
    #[error("the source {0} is not allowed: sources that begin {SYSTEM_SOURCES} are reserved")]
    Reserved(String),
}

impl Assertion {
    /// Checks the value and the source.
    pub fn checked(self) -> Result<Self, FactError> {
        match &self.tuple.value {
            Value::Text(text) if text.is_empty() => return Err(FactError::Empty),
            Value::Text(text) if text.len() > CONTENT_BYTES_MAX => {
                return Err(FactError::TooLong(text.len()));
            }
            Value::Number(number) if !number.is_finite() => return Err(FactError::NotFinite(*number)),
            _ => {}
        }
        if self.source.as_str().starts_with(SYSTEM_SOURCES) {
            return Err(FactError::Reserved(self.source.to_string()));
        }
        Ok(self)
    }
}

/// Order of the facts of a lineage: the greatest is its head.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// Instant of the assertion; of a derived fact, that of its origin.
    at: Timestamp,
    /// Instant of the sweep that derived it.
    derived_at: Option<Timestamp>,
    id: String,
}

impl Rank {
    /// The rank of a fact by its instant and, if a sweep derived it, that of its origin.
    #[must_use]
    pub fn new(asserted_at: Timestamp, origin_at: Option<Timestamp>, id: String) -> Self {
        match origin_at {
            Some(at) => Self { at, derived_at: Some(asserted_at), id },
            None => Self { at: asserted_at, derived_at: None, id },
        }
    }

    /// Id of the fact.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// Kind of the source of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// An agent, or a person.
    Agent,
    /// A system, exempt from sweeps.
    System,
    Sweep,
}

impl Speaker {
    /// The kind of a source.
    #[must_use]
    pub fn of(source: &str) -> Self {
        match source {
            DECAY_SOURCE => Self::Sweep,
            source if source.starts_with(SYSTEM_SOURCES) => Self::System,
            _ => Self::Agent,
        }
    }
}

/// Original confidence and its instant: the start of decay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Origin {
    pub confidence: Confidence,
    pub at: Timestamp,
}

/// The head of a lineage, as far as decay needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Head {
    pub confidence: Confidence,
    /// Origin: its own confidence and instant, unless a sweep wrote it.
    pub origin: Origin,
    pub valid_until: Option<Timestamp>,
    pub speaker: Speaker,
}

/// Rule of a policy for a head. Build it with the checked constructors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decay {
    /// Retracts heads that are older.
    Ttl(Curve),
    /// Halves confidence, down to a floor.
    HalfLife {
        curve: Curve,
        /// Floor of the confidence.
        floor: Confidence,
    },
}

/// Result of a sweep for a head.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    /// Unchanged.
    Stays,
    /// Replaced by a head with less confidence.
    Reduced(Confidence),
    /// Replaced by a head of confidence 0.
    Retracted,
}

impl Head {
    /// Whether a sweep examines it: its confidence is above 0 and it is still valid.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.confidence > Confidence::ZERO && self.valid_until.is_none_or(|until| now <= until)
    }

    /// Whether it is exempt from every policy.
    #[must_use]
    pub fn is_exempt(&self, relation: &str) -> bool {
        self.speaker == Speaker::System
            || EXEMPT_NAMESPACES.iter().any(|namespace| relation.starts_with(namespace))
    }

    /// The result at `now`. `epsilon`, `0 ..= 1`: a smaller reduction is written only if it halves the confidence, so that small
    /// confidences decay too, with one fact for each half-life, until they are below 0.001.
    #[must_use]
    pub fn fate(&self, now: Timestamp, decay: &Decay, epsilon: f64) -> Fate {
        let age = now.since(self.origin.at);
        match decay {
            Decay::Ttl(curve) if curve.factor(age) > 0.0 => Fate::Stays,
            Decay::Ttl(_) => Fate::Retracted,
            Decay::HalfLife { curve, floor } => {
                let faded = self.origin.confidence.faded(curve.factor(age));
                let target = if faded > *floor { faded } else { *floor };
                let falls = self.confidence.value() - target.value();
                let halved = self.confidence.value() >= NEGLIGIBLE && falls >= self.confidence.value() / 2.0;
                if falls > 0.0 && (falls >= epsilon || halved || target == *floor) {
                    Fate::Reduced(target)
                } else {
                    Fate::Stays
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms).unwrap()
    }

    fn sure(value: f64) -> Confidence {
        Confidence::new(value).unwrap()
    }

    fn said(confidence: f64, ms: i64) -> Head {
        let confidence = sure(confidence);
        let origin = Origin { confidence, at: at(ms) };
        Head { confidence, origin, valid_until: None, speaker: Speaker::Agent }
    }

    fn half_life(seconds: f64, floor: f64) -> Decay {
        Decay::HalfLife { curve: Curve::HalfLife(seconds * 1_000.0).unwrap(), floor: sure(floor) }
    }

    fn ttl(seconds: f64) -> Decay {
        Decay::Ttl(Curve::Ttl(seconds * 1_000.0).unwrap())
    }

    /// The head after a sweep at `now`.
    fn swept(head: Head, now: Timestamp, decay: &Decay, epsilon: f64) -> Head {
        let confidence = match head.fate(now, decay, epsilon) {
            Fate::Stays => return head,
            Fate::Reduced(confidence) => confidence,
            Fate::Retracted => Confidence::ZERO,
        };
        Head { confidence, speaker: Speaker::Sweep, ..head }
    }

    fn any_decay() -> impl Strategy<Value = Decay> {
        prop_oneof![
            (1.0..1e6_f64).prop_map(ttl),
            (1.0..1e6_f64, 0.0..=1.0_f64).prop_map(|(h, f)| half_life(h, f))
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn never_rises(c in 0.0..=1.0_f64, now in 0..4_000_000_000_i64, decay in any_decay(), epsilon in 0.0..=1.0_f64) {
            let head = said(c, 1_000_000);
            let after = swept(head, at(now), &decay, epsilon);
            prop_assert!(after.confidence <= head.confidence);
            prop_assert!((0.0..=1.0).contains(&after.confidence.value()));
            prop_assert_eq!(after.origin, head.origin);
        }

        #[test]
        fn twice_is_once(c in 0.0..=1.0_f64, now in 0..4_000_000_000_i64, decay in any_decay(), epsilon in 0.0..=1.0_f64) {
            let once = swept(said(c, 0), at(now), &decay, epsilon);
            let again = once.fate(at(now), &decay, epsilon);
            // A retraction appears later only as a head of confidence 0, which is skipped.
            prop_assert!(again == Fate::Stays || !once.is_live(at(now)), "{again:?}");
        }

        #[test]
        fn the_schedule_leaves_no_trace_in_what_is_said(
            c in 0.0..=1.0_f64, days in prop::collection::vec(1..40_i64, 1..8), floor in 0.0..0.5_f64
        ) {
            let decay = half_life(604_800.0, floor);
            let mut head = said(c, 0);
            let mut now = 0;
            for more in days {
                now += more * 86_400_000;
                head = swept(head, at(now), &decay, 0.0);
            }
            prop_assert_eq!(head.confidence, swept(said(c, 0), at(now), &decay, 0.0).confidence);
        }

        #[test]
        fn within_epsilon_of_the_law(c in 0.0..=1.0_f64, now in 0..2_000_000_000_i32, epsilon in 0.0..0.5_f64) {
            let head = swept(said(c, 0), at(i64::from(now)), &half_life(3_600.0, 0.0), epsilon);
            let exact = c * (-f64::from(now) / 3_600_000.0).exp2();
            prop_assert!(head.confidence.value() - exact <= epsilon + 1e-12);
            prop_assert!(head.confidence.value() >= exact);
        }

        #[test]
        fn small_confidences_decay_once_for_each_half_life(c in 0.001..0.05_f64, half_lives in 0_u8..40) {
            let decay = half_life(3_600.0, 0.0);
            let (mut head, mut written) = (said(c, 0), 0_u8);
            for half_life in 1..=half_lives {
                let before = head.confidence;
                head = swept(head, at(3_600_000 * i64::from(half_life)), &decay, 0.05);
                written += u8::from(head.confidence < before);
            }
            let exact = c * (-f64::from(half_lives)).exp2();
            prop_assert!(head.confidence.value() <= (2.0 * exact).max(NEGLIGIBLE));
            prop_assert!(written <= 7, "{written} facts");
        }

        #[test]
        fn every_number_of_64_bits_is_read_as_it_is_written(whole in any::<i64>(), number in prop::num::f64::NORMAL) {
            prop_assert_eq!(Value::number(&whole.to_string()), Ok(Value::Integer(whole)));
            for text in [format!("{number:?}"), format!("{number:e}"), format!("{number:.16e}")] {
                prop_assert_eq!(Value::number(&text), Ok(Value::Number(number)), "{}", text);
            }
        }

        #[test]
        fn numbers_share_a_lineage_only_if_they_are_equal(a in any::<i64>(), b in any::<i64>(), shift in 0..64_u32) {
            // Within float accuracy, and at the limit where floats are integers.
            let near = (a >> shift).wrapping_add(b % 3);
            for (one, other) in [(Value::Integer(a >> shift), Value::Integer(near)),
                (Value::Integer(near), Value::Number((a >> shift) as f64))] {
                #[expect(clippy::cast_possible_truncation, reason = "of a whole number within 64 bits")]
                let equal = match (&one, &other) {
                    (Value::Integer(one), Value::Integer(other)) => one == other,
                    (Value::Integer(one), Value::Number(other)) => i128::from(*one) == *other as i128,
                    _ => false,
                };
                prop_assert!(equal || one.name() != other.name(), "{one} {other}");
            }
        }

        #[test]
        fn a_derived_fact_ranks_right_after_its_origin(
            ids in prop::array::uniform3("[a-f0-9]{8}"), ms in 0..1_000_i64, swept in 0..1_000_i64, more in 1..1_000_i64
        ) {
            let asserted = |id: &String, ms| Rank::new(at(ms), None, id.clone());
            let derived = |id: &String, now| Rank::new(at(now), Some(at(ms)), id.clone());
            let [a, b, c] = &ids;
            prop_assert!(asserted(a, ms) < derived(b, ms + swept));
            prop_assert!(derived(b, ms + swept) < derived(c, ms + swept + more));
            prop_assert!(derived(b, ms + swept) < asserted(a, ms + more), "however late the sweep");
        }

        #[test]
        fn a_late_assertion_counts_as_a_punctual_one(
            steps in prop::collection::vec(prop::option::of((0..1_000_000_i64, 0.0..=1.0_f64)), 1..12),
            decay in any_decay()
        ) {
            // An assertion at an instant of its own, or a sweep later than all of them.
            let mut kept: Option<(Rank, Head)> = None;
            let mut latest: Option<(i64, f64)> = None;
            for (n, step) in (0..).zip(&steps) {
                let now = at(20_000_000 + n);
                let next = match (step, &kept) {
                    (Some((ms, c)), _) => {
                        let ms = ms * 16 + n;
                        latest = latest.filter(|(known, _)| *known > ms).or(Some((ms, *c)));
                        (Rank::new(at(ms), None, n.to_string()), said(*c, ms))
                    }
                    (None, Some((_, head))) => {
                        let next = swept(*head, now, &decay, 0.0);
                        if next.confidence == head.confidence {
                            continue;
                        }
                        (Rank::new(now, Some(next.origin.at), n.to_string()), next)
                    }
                    (None, None) => continue,
                };
                if kept.as_ref().is_none_or(|(rank, _)| *rank < next.0) {
                    kept = Some(next);
                }
            }
            let end = at(21_000_000);
            let confidence = |head: Head| swept(head, end, &decay, 0.0).confidence;
            let punctual = latest.map(|(ms, c)| confidence(said(c, ms)));
            prop_assert_eq!(kept.map(|(_, head)| confidence(head)), punctual);
        }
    }

    #[test]
    fn the_published_vectors() {
        let hour = 3_600_000;
        assert_eq!(
            said(1.0, 0).fate(at(2 * hour), &half_life(3_600.0, 0.0), 0.05),
            Fate::Reduced(sure(0.25))
        );
        assert_eq!(said(1.0, 0).fate(at(2 * hour), &ttl(3_600.0), 0.05), Fate::Retracted);
        assert!(said(1.0, 0).is_exempt("stigmem:received_from"));
    }

    #[test]
    fn old_is_strictly_older() {
        assert_eq!(said(1.0, 0).fate(at(60_000), &ttl(60.0), 0.05), Fate::Stays);
        assert_eq!(said(1.0, 0).fate(at(60_001), &ttl(60.0), 0.05), Fate::Retracted);
        assert_eq!(
            said(1.0, 90_000).fate(at(60_001), &ttl(1.0), 0.05),
            Fate::Stays,
            "a future fact is young"
        );
    }

    #[test]
    fn the_floor_is_reached_by_however_little() {
        let decay = half_life(3_600.0, 0.1);
        assert_eq!(said(0.12, 0).fate(at(10 * 3_600_000), &decay, 0.05), Fate::Reduced(sure(0.1)));
        assert_eq!(said(0.1, 0).fate(at(10 * 3_600_000), &decay, 0.05), Fate::Stays);
        assert_eq!(said(0.05, 0).fate(at(10 * 3_600_000), &decay, 0.05), Fate::Stays, "never raised to it");
    }

    #[test]
    fn exempt_is_the_namespace_and_the_system_but_not_a_sweep() {
        let head = said(1.0, 0);
        assert!(head.is_exempt("rel:part_of") && head.is_exempt("stigmem:x"));
        assert!(!head.is_exempt("release:date") && !head.is_exempt("memory:rel:x"));
        let by = |source| Head { speaker: Speaker::of(source), ..head };
        assert!(by("system:stigmem:lint").is_exempt("memory:x"));
        assert!(!by(DECAY_SOURCE).is_exempt("memory:x") && by(DECAY_SOURCE).is_exempt("rel:x"));
        assert!(!by("System:x").is_exempt("memory:x"));
    }

    #[test]
    fn what_says_nothing_or_no_longer_holds_is_not_looked_at() {
        assert!(!said(0.0, 0).is_live(at(1)));
        let until = Head { valid_until: Some(at(5)), ..said(1.0, 0) };
        assert!(until.is_live(at(5)) && !until.is_live(at(6)));
    }

    #[test]
    fn a_fact_that_cannot_be_is_refused_and_hostile_text_is_data() {
        let assertion = |value: Value, source: &str| Assertion {
            at: at(0),
            id: "f".to_owned(),
            tuple: Tuple {
                scope: FactScope::Local,
                entity: EntityName::new("`) DETACH DELETE n //").unwrap(),
                relation: FactRelation::new("memory:x").unwrap(),
                value,
            },
            confidence: Confidence::ONE,
            source: Source::new(source).unwrap(),
            valid_until: None,
        };
        let text = |text: &str| Value::Text(text.to_owned());
        assert!(assertion(text("' OR 1 = 1"), "agent").checked().is_ok());
        let reserved = assertion(text("x"), DECAY_SOURCE).checked().unwrap_err();
        assert!(matches!(reserved, FactError::Reserved(_)), "{reserved}");
        assert_eq!(assertion(text(""), "a").checked().unwrap_err(), FactError::Empty);
        assert!(assertion(text(&"x".repeat(CONTENT_BYTES_MAX + 1)), "a").checked().is_err());
        assert!(assertion(Value::Number(f64::NAN), "a").checked().is_err());
        let key = |value| assertion(value, "a").checked().unwrap().tuple.key();
        assert_eq!(key(Value::Number(0.0)), key(Value::Number(-0.0)));
        assert_ne!(key(Value::Number(5.0)), key(text("5")), "a number is not its name");
        // As in graphs where every number was a float.
        let known = |value: &str| lineage_key("local", "`) DETACH DELETE n //", "memory:x", value);
        assert_eq!(key(Value::Integer(5)), known("number:5"));
        assert_eq!(key(Value::Number(5.0)), known("number:5"));
        assert_eq!(key(Value::Number(0.5)), known("number:0.5"));
        assert_eq!(key(text("5")), known("string:5"));
        assert_eq!(key(Value::Truth(true)), known("boolean:true"));
        let large = 1_152_921_504_606_847_000;
        assert_ne!(
            key(Value::Integer(large)),
            key(Value::Number(2.0_f64.powi(60))),
            "written alike, not alike"
        );
    }

    #[test]
    fn a_number_keeps_its_digits_or_is_refused() {
        let said =
            |text: &str| Value::number(text).map(|value| value.to_string()).map_err(|why| why.to_string());
        for (text, shown) in [
            ("1", "1"),
            ("1.0", "1.0"),
            ("-1", "-1"),
            ("9007199254740993", "9007199254740993"),
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("0.1", "0.1"),
            ("0.10000000000000001", "0.1"),
            ("1.10", "1.1"),
            ("-0.0", "-0.0"),
            ("0e5", "0.0"),
            ("1e2", "100.0"),
            ("0.00012E+3", "0.12"),
            // Midway between two decimals of that many digits: the shortest is shown for both.
            ("1826227483327268.3", "1826227483327268.3"),
            ("1826227483327268.2", "1826227483327268.3"),
            ("1e300", "1e300"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e308"),
        ] {
            assert_eq!(said(text), Ok(shown.to_owned()), "{text}");
        }
        for text in [
            "9223372036854775808",
            "-9223372036854775809",
            "123456789012345678901234567890",
            "12345678901234567890.0",
            "9007199254740993.0",
            "0.10000000000000000555",
            "1.0000000000000001",
            "1e309",
            "1e-400",
            "1e99999999999999999999",
        ] {
            assert!(said(text).unwrap_err().contains("assert it as text"), "{text}");
        }
        for text in ["", "x", "inf", "NaN", "1_000", "--1", "1e", "."] {
            assert!(said(text).unwrap_err().contains("not a number"), "{text}");
        }
        assert!(said(&"7".repeat(1 << 20)).unwrap_err().len() < 400);
    }
}

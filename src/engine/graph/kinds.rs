//! Types of nodes and of relationships, and how well relationships conduct signals.
//!
//! A relationship has a cost, a count or a strength, by its type. The rule of the type says which of these gives its
//! conductance, which becomes its base weight. Rules are tried in order, and the first whose properties are set applies.
//! Its causal strength is a share of this weight, by the [causal relations](CausalTable), or a property of its own.

mod causal;

pub use causal::{CAUSED_BY, CAUSES, CausalRule, CausalTable};

use super::Error;
use super::number::check_amount;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Type of a node. The first seventeen are those of the source document; memories and places are custom types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum NodeType {
    File,
    Directory,
    Function,
    Class,
    Struct,
    Enum,
    Type,
    Module,
    Reference,
    Concept,
    Material,
    Process,
    Product,
    Supplier,
    Regulatory,
    System,
    Cost,
    /// Any other type.
    Custom(u8),
}

impl NodeType {
    const NAMED: [Self; 17] = [
        Self::File,
        Self::Directory,
        Self::Function,
        Self::Class,
        Self::Struct,
        Self::Enum,
        Self::Type,
        Self::Module,
        Self::Reference,
        Self::Concept,
        Self::Material,
        Self::Process,
        Self::Product,
        Self::Supplier,
        Self::Regulatory,
        Self::System,
        Self::Cost,
    ];
    /// Names of the first seventeen; a concept has the label `Entity` in Neo4j.
    #[rustfmt::skip]
    const NAMES: [&str; 17] = [
        "File", "Directory", "Function", "Class", "Struct", "Enum", "Type", "Module", "Reference", "Entity", "Material",
        "Process", "Product", "Supplier", "Regulatory", "System", "Cost",
    ];
    /// Neo4j labels of the first custom types; more can be configured after them.
    pub const LABELS: [&str; 6] = ["Memory", "SemanticCluster", "Wing", "Room", "Closet", "Drawer"];
    /// Type of a memory.
    pub const MEMORY: Self = Self::Custom(0);
    /// Number of types with a name.
    pub const NAMED_COUNT: usize = Self::NAMED.len() + Self::LABELS.len();

    /// All types with a name, in the order of their codes.
    pub fn named() -> impl Iterator<Item = Self> {
        let labels = (0..).zip(Self::LABELS).map(|(n, _)| Self::Custom(n));
        Self::NAMED.into_iter().chain(labels)
    }

    /// Index among the types with a name.
    #[must_use]
    pub fn place(self) -> Option<usize> {
        match self {
            Self::Custom(n) => Some(Self::NAMED.len() + usize::from(n)).filter(|at| *at < Self::NAMED_COUNT),
            named => Self::NAMED.iter().position(|one| *one == named),
        }
    }

    /// Numeric code: 0 to 16, and from 256 on for custom types.
    #[must_use]
    pub fn code(self) -> u16 {
        match self {
            Self::Custom(n) => 256 + u16::from(n),
            named => {
                Self::NAMED.iter().position(|one| *one == named).map_or(0, |at| at.try_into().unwrap_or(0))
            }
        }
    }

    /// The type with a code.
    #[must_use]
    pub fn of_code(code: u16) -> Option<Self> {
        match Self::NAMED.get(usize::from(code)) {
            Some(named) => Some(*named),
            None => code.checked_sub(256).and_then(|n| u8::try_from(n).ok()).map(Self::Custom),
        }
    }

    /// Name of the type, its Neo4j label where it has one; `None` for custom types after [`Self::LABELS`].
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Custom(n) => Self::LABELS.get(usize::from(n)).copied(),
            named => Self::NAMES.get(usize::from(named.code())).copied(),
        }
    }

    /// The type with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let custom = || Self::LABELS.iter().position(|label| *label == name);
        match Self::NAMES.iter().position(|other| *other == name) {
            Some(named) => Some(Self::NAMED[named]),
            None => custom().and_then(|n| u8::try_from(n).ok()).map(Self::Custom),
        }
    }
}

/// Directions in which a relationship can be traversed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
pub enum EdgeDirection {
    /// From source to target.
    #[default]
    Forward,
    /// In both directions.
    Bidirectional,
}

/// A kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
pub enum Dimension {
    /// Connection to the seeds.
    Structural,
    /// Similarity of its label or its context to the query.
    Semantic,
    /// Freshness, weighted by relevance, or change together with the seeds.
    Temporal,
    /// Causal chains from the seeds to it, or from it to them.
    Causal,
}

impl Dimension {
    /// All dimensions, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Structural, Self::Semantic, Self::Temporal, Self::Causal];
}

/// Properties of a relationship that can give its conductance.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Properties {
    /// Present cost, at least 0.
    pub current_cost: Option<f64>,
    /// Cost without any deposit, at least 0.
    pub base_cost: Option<f64>,
    /// A weight or a count, at least 0; for a relation, as it is at the instant of the graph.
    pub weight: Option<f64>,
    /// Confidence, `0 ..= 1`.
    pub confidence: Option<f64>,
    /// Strength of support or of a mention, at least 0.
    pub strength: Option<f64>,
}

/// A formula for conductance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Conductance {
    /// `exp(-cost)`, with the present cost or else the base cost.
    Cost,
    /// Weight times confidence, which defaults to 1.
    Relation,
    /// `1 - 2^(-n/3)` for a count `n`.
    Coactivation,
    /// The strength.
    Strength,
    /// The weight.
    Weight,
    /// A constant.
    Fixed(f64),
}

/// Rule for all relationships of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct KindRule {
    /// Directions in which they can be traversed.
    pub direction: EdgeDirection,
    /// Whether they inhibit instead of exciting.
    pub inhibitory: bool,
    /// Causal shares of the weight, `0 ..= 1`: in the direction of the relationship, and against it.
    pub causal: [f32; 2],
    /// Formulas for the conductance; the first that applies is used.
    pub conductance: Vec<Conductance>,
}

/// The rules of all relationship types.
#[derive(Debug, Clone, PartialEq)]
pub struct Kinds(Arc<Tables>);

#[derive(Debug, PartialEq)]
struct Tables {
    rules: BTreeMap<String, KindRule>,
    /// Rules of the other causal types, by folded name.
    causal_rules: BTreeMap<String, KindRule>,
    other: KindRule,
    causal: CausalTable,
}

/// Types that are never loaded: sessions would join everything, and the others are bookkeeping.
pub const NEVER_MIRRORED: [&str; 4] = ["ACCESSED_IN", "CONSOLIDATING", "PROMOTED_TO", "CRYSTALLIZED_INTO"];

/// Conductance if no formula applies.
const PLAIN: f64 = 0.5;
/// Strength of a mention that the text does not bear out: see [`mention`](crate::text::mention).
pub const UNNAMED: f64 = PLAIN / 10.0;

impl Default for Kinds {
    fn default() -> Self {
        Self::new(CausalTable::default())
    }
}

impl Kinds {
    /// The rules, with these causal relations. Those from an effect to its cause can be traversed both ways, so that there is
    /// a slot from the cause to its effect.
    #[must_use]
    pub fn new(causal: CausalTable) -> Self {
        use Conductance::{Coactivation, Cost, Fixed, Relation, Strength, Weight};
        use EdgeDirection::{Bidirectional, Forward};
        let rule = |direction, conductance: &[Conductance]| KindRule {
            direction,
            inhibitory: false,
            causal: [0.0; 2],
            conductance: conductance.to_vec(),
        };
        let mut rules = BTreeMap::new();
        let mut put = |types: &[&str], rule: KindRule| {
            rules.extend(types.iter().map(|kind| ((*kind).to_owned(), rule.clone())));
        };
        put(
            &["HAS_ROOM", "HAS_CLOSET", "HAS_DRAWER", "HALL", "TUNNEL", "REFERENCES", "SIMILAR_TO"],
            rule(Bidirectional, &[Cost, Fixed(PLAIN)]),
        );
        put(&["RELATES_TO"], rule(Bidirectional, &[Relation, Cost, Fixed(PLAIN)]));
        put(&["COACTIVATED"], rule(Bidirectional, &[Coactivation, Fixed(PLAIN)]));
        put(&["REINFORCES"], rule(Forward, &[Strength, Fixed(0.7)]));
        put(&["BELONGS_TO", "HAS_MEMBER"], rule(Bidirectional, &[Fixed(PLAIN)]));
        put(&["MENTIONS"], rule(Bidirectional, &[Strength, Fixed(PLAIN)]));
        let other = rule(Forward, &[Weight, Fixed(PLAIN)]);
        put(&["CONTRADICTS", "INHIBITS", "SUPERSEDES"], KindRule { inhibitory: true, ..other.clone() });
        for (kind, rule) in &mut rules {
            if let Some(of) = causal.of(kind) {
                *rule = of.apply_to(rule);
            }
        }
        let causal_rules = causal.iter().map(|(name, of)| (name.to_owned(), of.apply_to(&other))).collect();
        Self(Arc::new(Tables { rules, causal_rules, other, causal }))
    }

    /// The rule of a type.
    #[must_use]
    pub fn of(&self, relation: &str) -> &KindRule {
        let causal = || self.0.causal_rules.get(&causal::fold(relation));
        self.0.rules.get(relation).or_else(causal).unwrap_or(&self.0.other)
    }

    /// Causal strengths of a relation of this type, predicate and weight, in its direction and against it; the predicate
    /// decides before the type. A strength of its own, `0 ..= 1`, replaces the share of the weight.
    #[must_use]
    pub fn causal(&self, relation: &str, predicate: &str, weight: f32, own: Option<f32>) -> [f32; 2] {
        let rule = self.0.causal.of(predicate).or_else(|| self.0.causal.of(relation));
        strengths(rule.map_or([0.0; 2], |rule| rule.shares()), weight, own)
    }

    /// The types whose conductance is a cost first.
    pub fn costed(&self) -> impl Iterator<Item = &str> {
        self.0.rules.iter().filter(|(_, rule)| rule.is_costed()).map(|(kind, _)| kind.as_str())
    }
}

/// Causal strengths of a weight by shares; or by a strength of its own, in the direction of the shares, which is from
/// source to target if there are none.
fn strengths(shares: [f32; 2], weight: f32, own: Option<f32>) -> [f32; 2] {
    match own {
        Some(own) if shares[1] > 0.0 => [0.0, own],
        Some(own) => [own, 0.0],
        None => shares.map(|share| (weight * share).min(1.0)),
    }
}

impl CausalRule {
    fn apply_to(self, rule: &KindRule) -> KindRule {
        let direction = if self.backward { EdgeDirection::Bidirectional } else { rule.direction };
        KindRule { direction, causal: self.shares(), ..rule.clone() }
    }
}

impl KindRule {
    /// Whether the first formula of the conductance is a cost.
    #[must_use]
    pub fn is_costed(&self) -> bool {
        self.conductance.first() == Some(&Conductance::Cost)
    }

    /// Causal strengths of a relationship of this weight, as in [`Kinds::causal`].
    #[must_use]
    pub fn causal(&self, weight: f32, own: Option<f32>) -> [f32; 2] {
        strengths(self.causal, weight, own)
    }

    /// The causal share that both slots of a relationship have; 0 if they differ.
    pub(crate) fn causal_share(&self, direction: EdgeDirection) -> f32 {
        let [along, against] = self.causal;
        let is_shared = direction == EdgeDirection::Forward || along.to_bits() == against.to_bits();
        if is_shared { along } else { 0.0 }
    }

    /// The conductance of a relationship with these properties, `0 ..= 3.4e38`; `owner` names it in errors.
    ///
    /// # Errors
    /// [`Error::NonFinite`] and [`Error::ParameterOutOfRange`] for an invalid property.
    pub fn of(&self, owner: &str, of: &Properties) -> Result<f32, Error> {
        let least = |name: &'static str, value: Option<f64>, max: f64| {
            value.map(|value| check_amount(name, || owner.to_owned(), value, max).map(|()| value)).transpose()
        };
        let most = f64::from(f32::MAX);
        let current = least("current_cost", of.current_cost, most)?;
        let base = least("base_cost", of.base_cost, most)?;
        let weight = least("weight", of.weight, most)?;
        let confidence = least("confidence", of.confidence, 1.0)?;
        let strength = least("strength", of.strength, most)?;
        let found = self.conductance.iter().find_map(|rule| match rule {
            Conductance::Cost => current.or(base).map(|cost| libm::exp(-cost)),
            Conductance::Relation => weight.map(|weight| weight * confidence.unwrap_or(1.0)),
            Conductance::Coactivation => weight.map(|count| 1.0 - libm::exp2(-count / 3.0)),
            Conductance::Strength => strength,
            Conductance::Weight => weight,
            Conductance::Fixed(value) => Some(*value),
        });
        #[expect(clippy::cast_possible_truncation, reason = "within the range of f32, rounded once")]
        Ok(found.unwrap_or(PLAIN) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conducts(relation: &str, of: Properties) -> f64 {
        f64::from(Kinds::default().of(relation).of("r", &of).unwrap())
    }

    #[track_caller]
    fn near(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-6, "{got} is not {want}");
    }

    #[test]
    fn kinds_roundtrip() {
        for code in 0..=700_u16 {
            match NodeType::of_code(code) {
                Some(kind) => assert_eq!(kind.code(), code),
                None => assert!((17..256).contains(&code) || code > 511),
            }
        }
        assert_eq!(NodeType::Concept.code(), 9);
        assert_eq!(NodeType::Cost.code(), 16);
        for kind in (0..=262).filter_map(NodeType::of_code) {
            let name = kind.name();
            assert_eq!(name.and_then(NodeType::of_name), Some(kind).filter(|_| name.is_some()));
        }
        assert_eq!(
            [NodeType::Concept, NodeType::MEMORY].map(NodeType::name),
            [Some("Entity"), Some("Memory")]
        );
        assert_eq!((NodeType::Custom(6).name(), NodeType::of_name("entity")), (None, None));
        let named: Vec<NodeType> = NodeType::named().collect();
        assert_eq!((named.len(), NodeType::Custom(6).place()), (NodeType::NAMED_COUNT, None));
        assert!(named.iter().enumerate().all(|(at, kind)| kind.place() == Some(at) && kind.name().is_some()));
        let default = Kinds::default();
        assert_eq!(default.of("Caused by").direction, EdgeDirection::Bidirectional);
        assert_eq!(default.of("RELATES_TO").direction, EdgeDirection::Bidirectional);
        assert_eq!(default.of("CALLS").direction, EdgeDirection::Forward);
        assert_eq!(
            default.of("unheard of"),
            &KindRule {
                direction: EdgeDirection::Forward,
                inhibitory: false,
                causal: [0.0; 2],
                conductance: vec![Conductance::Weight, Conductance::Fixed(0.5)],
            }
        );
        assert!(default.of("SUPERSEDES").inhibitory && !default.of("CALLS").inhibitory);
    }

    /// The numbers of the engine's worked example 4.8.
    #[test]
    fn conductance_by_kind() {
        let cost =
            |current, base| Properties { current_cost: current, base_cost: base, ..Properties::default() };
        near(conducts("HALL", cost(Some(0.3), Some(9.0))), 0.740_818);
        near(conducts("TUNNEL", cost(None, Some(0.15))), 0.860_708);
        near(conducts("HAS_ROOM", cost(Some(10.0), None)), 0.000_045);
        let weight = |weight: f64| Properties { weight: Some(weight), ..Properties::default() };
        for (n, want) in [(1.0, 0.206_299), (3.0, 0.5), (4.0, 0.603_150), (6.0, 0.75), (9.0, 0.875)] {
            near(conducts("COACTIVATED", weight(n)), want);
        }
        let faded = 0.5_f64.sqrt();
        let sure = Properties { weight: Some(faded), confidence: Some(0.8), ..cost(Some(1.0), None) };
        near(conducts("RELATES_TO", sure), 0.565_685);
        near(conducts("RELATES_TO", weight(faded)), faded);
        near(conducts("RELATES_TO", cost(Some(0.3), None)), 0.740_818);
        near(conducts("REINFORCES", Properties { strength: Some(0.9), ..weight(0.1) }), 0.9);
        near(conducts("REINFORCES", weight(0.1)), 0.7);
        near(conducts("MENTIONS", weight(9.0)), 0.5);
        near(conducts("MENTIONS", Properties { strength: Some(UNNAMED), ..weight(9.0) }), 0.05);
        near(conducts("CALLS", weight(1.25)), 1.25);
        near(conducts("CALLS", Properties::default()), 0.5);
        near(conducts("whatever", weight(17.0)), 17.0);
    }

    #[test]
    fn causal_strengths_by_type_predicate_and_property() {
        let kinds = Kinds::default();
        let of = |kind: &str, own| kinds.of(kind).causal(0.5, own);
        let by = |predicate: &str, own| kinds.causal("RELATES_TO", predicate, 0.5, own);
        let check = |got: [f32; 2], want: [f32; 2]| assert_eq!(got.map(f32::to_bits), want.map(f32::to_bits));
        for kind in ["CALLS", "REINFORCES", "CAUSES", "leads_to"] {
            check(of(kind, None), [0.5, 0.0]);
        }
        check(of("ENABLES", None), [0.25, 0.0]);
        check(of("CAUSED_BY", None), [0.0, 0.5]);
        check(by("caused by", None), [0.0, 0.5]);
        for plain in ["likes", "RELATES_TO", "MENTIONS"] {
            check(of(plain, None), [0.0; 2]);
            check(by(plain, None), [0.0; 2]);
            check(by(plain, Some(0.75)), [0.75, 0.0]);
        }
        check(of("CAUSES", Some(0.125)), [0.125, 0.0]);
        check(by("due to", Some(0.125)), [0.0, 0.125]);
        // At most 1, and none where the table is empty.
        check(kinds.of("CAUSES").causal(3.0, None), [1.0, 0.0]);
        let none = Kinds::new(CausalTable::new::<&str>(&[], &[]).unwrap());
        check(none.of("CALLS").causal(1.0, None), [0.0; 2]);
        check(none.causal("RELATES_TO", "causes", 1.0, None), [0.0; 2]);
        // A type in the table gives relations without a causal predicate its direction.
        let related = Kinds::new(CausalTable::new(&["Sparks=0.5"], &["RELATES_TO"]).unwrap());
        check(related.causal("RELATES_TO", "likes", 1.0, None), [0.0, 1.0]);
        check(related.causal("RELATES_TO", "sparks", 1.0, None), [0.5, 0.0]);
    }

    #[test]
    fn invalid_properties_are_reported_by_name() {
        let kinds = Kinds::default();
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            for of in [
                Properties { current_cost: Some(bad), ..Properties::default() },
                Properties { base_cost: Some(bad), ..Properties::default() },
                Properties { weight: Some(bad), ..Properties::default() },
                Properties { confidence: Some(bad), ..Properties::default() },
                Properties { strength: Some(bad), ..Properties::default() },
            ] {
                let why = kinds.of("HALL").of("a -HALL-> b", &of).unwrap_err();
                assert!(why.to_string().contains("a -HALL-> b"), "{why}");
            }
        }
        let unsure = Properties { confidence: Some(1.1), ..Properties::default() };
        assert!(kinds.of("RELATES_TO").of("r", &unsure).is_err());
    }
}

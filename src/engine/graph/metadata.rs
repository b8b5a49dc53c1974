//! Metadata of a node: fields that its writer gave it, and conditions on them.
//!
//! A filter is an object of conditions, all of which must hold. The key is the name of a field, or its path: `a.b` for the field
//! `b` of the object `a`:
//!
//! | condition | holds if the field |
//! |---|---|
//! | a text, a number, true or false | equals it |
//! | `null` | is missing or null |
//! | `{"$gte": x, "$lt": y}`, also `$gt` and `$lte` | is within the bounds, which are two numbers or two texts |
//!
//! A list fulfils a condition if one of its items does. Numbers are compared by value (`1` equals `1.0`), texts by code points,
//! so that dates as in RFC 3339 with one zone are in their order.
//!
//! # Design notes
//! Metadata is kept as canonical JSON: keys in order, no blanks. A filter knows texts that such JSON contains wherever it
//! holds ([`MetadataFilter::fragments`]), so most nodes are left out by a search for bytes, here and in the database.
//!
//! Invariant: JSON for which a filter holds contains its fragments (held by `fragments_are_necessary`).

use serde_json::{Map, Number, Value};
use std::cmp::Ordering;
use std::fmt;

/// Most bytes of the JSON of a node's metadata.
pub const METADATA_BYTES_MAX: usize = 4_096;
/// Most objects and lists within each other.
pub const METADATA_DEPTH_MAX: usize = 8;
/// Most conditions of a filter.
pub const CONDITIONS_MAX: usize = 16;

/// Fields of metadata, by name.
pub type Fields = Map<String, Value>;

/// Metadata, as canonical JSON of an object with at least one field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Metadata(Box<str>);

/// Metadata or a filter that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MetadataError {
    #[error("metadata is not a JSON object: {0}")]
    NoObject(String),
    #[error("metadata has {0} bytes as JSON; at most {METADATA_BYTES_MAX} are kept")]
    TooLong(usize),
    #[error("metadata has objects or lists nested more than {METADATA_DEPTH_MAX} deep")]
    TooDeep,
    #[error("a field of metadata has an empty name")]
    EmptyName,
    #[error("the filter has {0} conditions; at most {CONDITIONS_MAX} are allowed")]
    TooManyConditions(usize),
    #[error(
        "the condition on {field} is {found}; it is a text, a number, true, false, null, or bounds such as {{\"$gte\": 1}}"
    )]
    Condition { field: String, found: String },
    #[error("the condition on {field} has {found:?}; bounds are $gt, $gte, $lt and $lte")]
    Bound { field: String, found: String },
    #[error("the bounds on {field} are numbers or texts, and of one kind")]
    BoundKind { field: String },
}

impl Metadata {
    /// Checks fields; `None` if there are none.
    ///
    /// # Errors
    /// Too long, too deep, or a field without a name.
    pub fn new(fields: Map<String, Value>) -> Result<Option<Self>, MetadataError> {
        if fields.is_empty() {
            return Ok(None);
        }
        let value = Value::Object(fields);
        check(&value, 1)?;
        let text = value.to_string();
        if text.len() > METADATA_BYTES_MAX {
            return Err(MetadataError::TooLong(text.len()));
        }
        Ok(Some(Self(text.into())))
    }

    /// Metadata as it is stored, by whichever writer; `None` for what is no object with fields.
    #[must_use]
    pub fn stored(text: &str) -> Option<Self> {
        Self::unchecked(serde_json::from_str(text).ok()?)
    }

    /// Fields of whichever size; `None` if there are none.
    pub(super) fn unchecked(fields: Map<String, Value>) -> Option<Self> {
        (!fields.is_empty()).then(|| Self(Value::Object(fields).to_string().into()))
    }

    /// Metadata from JSON that [`Metadata::as_str`] gave.
    pub(crate) fn canonical(text: &str) -> Self {
        Self(text.into())
    }

    /// The JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The fields.
    #[must_use]
    pub fn fields(&self) -> Map<String, Value> {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// These fields and those of another that are not among them.
    ///
    /// # Errors
    /// [`MetadataError::TooLong`].
    pub fn merged(this: Option<&Self>, other: Option<&Self>) -> Result<Option<Self>, MetadataError> {
        let (Some(own), Some(more)) = (this, other) else { return Ok(this.or(other).cloned()) };
        let mut fields = more.fields();
        fields.extend(own.fields());
        Self::new(fields)
    }

    /// The fields after a merge patch (RFC 7396): a null removes a field, an object is merged, any other value replaces.
    ///
    /// # Errors
    /// As [`Metadata::new`].
    pub fn patched(this: Option<&Self>, patch: &Map<String, Value>) -> Result<Option<Self>, MetadataError> {
        if patch.is_empty() {
            return Ok(this.cloned());
        }
        let mut fields = this.map(Self::fields).unwrap_or_default();
        merge_patch(&mut fields, patch);
        Self::new(fields)
    }
}

fn merge_patch(fields: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (name, value) in patch {
        match value {
            Value::Null => drop(fields.remove(name)),
            Value::Object(inner) => {
                let slot = fields.entry(name.clone()).or_insert(Value::Null);
                let mut own = slot.as_object().cloned().unwrap_or_default();
                merge_patch(&mut own, inner);
                *slot = Value::Object(own);
            }
            other => drop(fields.insert(name.clone(), other.clone())),
        }
    }
}

fn check(value: &Value, depth: usize) -> Result<(), MetadataError> {
    let nested: Vec<&Value> = match value {
        Value::Object(fields) if fields.keys().any(|name| name.trim().is_empty()) => {
            return Err(MetadataError::EmptyName);
        }
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => return Ok(()),
    };
    if depth > METADATA_DEPTH_MAX {
        return Err(MetadataError::TooDeep);
    }
    nested.into_iter().try_for_each(|inner| check(inner, depth + 1))
}

impl fmt::Display for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Conditions on metadata, all of which must hold; without any it holds for every node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetadataFilter {
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
struct Condition {
    path: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Missing,
    Equals(Value),
    Within(Vec<(Side, Value)>),
}

/// A side of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Above,
    From,
    Below,
    UpTo,
}

impl Side {
    const ALL: [Self; 4] = [Self::Above, Self::From, Self::Below, Self::UpTo];

    fn name(self) -> &'static str {
        match self {
            Self::Above => "$gt",
            Self::From => "$gte",
            Self::Below => "$lt",
            Self::UpTo => "$lte",
        }
    }

    fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Above => order.is_gt(),
            Self::From => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::UpTo => order.is_le(),
        }
    }
}

impl MetadataFilter {
    /// Reads the conditions of an object.
    ///
    /// # Errors
    /// Names the condition that cannot be used.
    pub fn new(conditions: &Map<String, Value>) -> Result<Self, MetadataError> {
        if conditions.len() > CONDITIONS_MAX {
            return Err(MetadataError::TooManyConditions(conditions.len()));
        }
        let read = |(path, value): (&String, &Value)| {
            if path.split('.').any(|name| name.trim().is_empty()) {
                return Err(MetadataError::EmptyName);
            }
            Ok(Condition { path: path.clone(), test: Test::read(path, value)? })
        };
        Ok(Self { conditions: conditions.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Reads the conditions of a JSON text.
    ///
    /// # Errors
    /// As [`MetadataFilter::new`], and for what is no object.
    pub fn parse(text: &str) -> Result<Self, MetadataError> {
        let read = serde_json::from_str(text).map_err(|why| MetadataError::NoObject(why.to_string()));
        Self::new(&read?)
    }

    /// Whether it has no condition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Texts that the JSON of any metadata contains for which this holds.
    #[must_use]
    pub fn fragments(&self) -> Vec<String> {
        let mut fragments = Vec::new();
        for Condition { path, test } in &self.conditions {
            if *test == Test::Missing {
                continue;
            }
            // The end of the name of the field: `a.b` is one, or `b` of `a`.
            let name = Value::from(path.rsplit('.').next().unwrap_or_default()).to_string();
            fragments.push(format!("{}:", &name[1..]));
            // A number can be written in several ways.
            if let Test::Equals(value @ (Value::String(_) | Value::Bool(_))) = test {
                fragments.push(value.to_string());
            }
        }
        fragments
    }

    /// Whether it holds for the metadata of a node.
    #[must_use]
    pub fn holds(&self, metadata: Option<&Metadata>) -> bool {
        self.holds_in(metadata.map(Metadata::as_str), &self.fragments())
    }

    /// [`MetadataFilter::holds`] for canonical JSON, with the fragments of the filter.
    pub(crate) fn holds_in(&self, metadata: Option<&str>, fragments: &[String]) -> bool {
        let text = metadata.unwrap_or("{}");
        fragments.iter().all(|fragment| text.contains(fragment.as_str()))
            && serde_json::from_str(text)
                .is_ok_and(|fields| self.conditions.iter().all(|condition| condition.holds(&fields)))
    }
}

/// The conditions as [`MetadataFilter::parse`] reads them.
impl fmt::Display for MetadataFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions = self.conditions.iter();
        let all: Map<String, Value> = conditions.map(|one| (one.path.clone(), one.test.to_value())).collect();
        write!(f, "{}", Value::Object(all))
    }
}

impl Condition {
    fn holds(&self, fields: &Value) -> bool {
        let by_path = || self.path.split('.').try_fold(fields, |value, name| value.get(name));
        let found = fields.get(&self.path).or_else(by_path);
        match (&self.test, found) {
            (Test::Missing, found) => found.is_none_or(Value::is_null),
            (_, None) => false,
            (test, Some(Value::Array(items))) => items.iter().any(|item| test.holds(item)),
            (test, Some(value)) => test.holds(value),
        }
    }
}

impl Test {
    fn read(field: &str, value: &Value) -> Result<Self, MetadataError> {
        let bounds = match value {
            Value::Null => return Ok(Self::Missing),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => return Ok(Self::Equals(value.clone())),
            Value::Object(bounds) if !bounds.is_empty() => bounds,
            other => {
                return Err(MetadataError::Condition { field: field.to_owned(), found: other.to_string() });
            }
        };
        let side = |(name, value): (&String, &Value)| {
            let known = Side::ALL.into_iter().find(|side| side.name() == name);
            let fault = || MetadataError::Bound { field: field.to_owned(), found: name.clone() };
            Ok((known.ok_or_else(fault)?, value.clone()))
        };
        let bounds: Vec<(Side, Value)> = bounds.iter().map(side).collect::<Result<_, _>>()?;
        let is_one_kind = bounds.iter().all(|(_, value)| value.is_number())
            || bounds.iter().all(|(_, value)| value.is_string());
        if !is_one_kind {
            return Err(MetadataError::BoundKind { field: field.to_owned() });
        }
        Ok(Self::Within(bounds))
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Missing => Value::Null,
            Self::Equals(value) => value.clone(),
            Self::Within(bounds) => {
                let bound = |(side, value): &(Side, Value)| (side.name().to_owned(), value.clone());
                Value::Object(bounds.iter().map(bound).collect())
            }
        }
    }

    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Missing => value.is_null(),
            Self::Equals(wanted) => wanted == value || order(value, wanted) == Some(Ordering::Equal),
            Self::Within(bounds) => {
                bounds.iter().all(|(side, bound)| order(value, bound).is_some_and(|order| side.allows(order)))
            }
        }
    }
}

/// The order of two numbers or two texts.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers(a, b),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Whole numbers exactly, others as they are read.
fn numbers(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use serde_json::json;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn metadata(value: &Value) -> Option<Metadata> {
        Metadata::new(object(value)).unwrap()
    }

    fn holds(conditions: &Value, of: &Value) -> bool {
        MetadataFilter::new(&object(conditions)).unwrap().holds(metadata(of).as_ref())
    }

    #[test]
    fn conditions_are_equality_bounds_and_absence() {
        let of = json!({"topic": "travel", "year": 2024, "score": 0.5, "open": true, "none": null,
            "tags": ["a", 7], "user": {"age": 31, "name": "Ada \"B\""}, "a.b": 7});
        for holding in [
            json!({}),
            json!({"topic": "travel", "open": true}),
            json!({"year": 2024.0}),
            json!({"year": {"$gte": 2024, "$lt": 2025}}),
            json!({"score": {"$gt": 0, "$lte": 0.5}}),
            json!({"topic": {"$gte": "tr", "$lt": "ts"}}),
            json!({"tags": "a"}),
            json!({"tags": {"$gt": 6}}),
            json!({"user.age": {"$gt": 30}}),
            json!({"user.name": "Ada \"B\""}),
            json!({"missing": null, "none": null}),
            json!({"a.b": 7}),
        ] {
            assert!(holds(&holding, &of), "{holding}");
        }
        for failing in [
            json!({"topic": "Travel"}),
            json!({"topic": "travel", "open": false}),
            json!({"year": "2024"}),
            json!({"year": {"$gt": 2024}}),
            json!({"topic": {"$gt": "travel"}}),
            json!({"year": {"$gte": "2024"}}),
            json!({"topic": null}),
            json!({"user": "Ada"}),
            json!({"age": 31}),
            json!({"none": "x"}),
        ] {
            assert!(!holds(&failing, &of), "{failing}");
        }
        assert!(MetadataFilter::default().holds(None));
        assert!(MetadataFilter::parse(r#"{"a": null}"#).unwrap().holds(None));
        assert!(!MetadataFilter::parse(r#"{"a": 1}"#).unwrap().holds(None));
    }

    #[test]
    fn faults_name_the_condition() {
        let why = |conditions: Value| MetadataFilter::new(&object(&conditions)).unwrap_err().to_string();
        assert!(why(json!({"a": []})).starts_with("the condition on a is []"));
        assert!(why(json!({"a": {}})).starts_with("the condition on a is {}"));
        assert!(why(json!({"a": {"gte": 1}})).contains("\"gte\"; bounds are $gt"));
        assert!(why(json!({"a": {"$gte": true}})).contains("numbers or texts"));
        assert!(why(json!({"a": {"$gte": 1, "$lt": "x"}})).contains("of one kind"));
        assert!(why(json!({"a..b": 1})).contains("empty name"));
        assert!(MetadataFilter::parse("[1]").unwrap_err().to_string().contains("not a JSON object"));
        let many: Map<String, Value> = (0..17).map(|n| (n.to_string(), json!(1))).collect();
        assert_eq!(MetadataFilter::new(&many), Err(MetadataError::TooManyConditions(17)));
    }

    #[test]
    fn metadata_has_bounds() {
        assert_eq!(Metadata::new(Map::new()), Ok(None));
        let deep = |n: usize| (0..n).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert!(Metadata::new(object(&deep(METADATA_DEPTH_MAX))).is_ok());
        assert_eq!(Metadata::new(object(&deep(METADATA_DEPTH_MAX + 1))), Err(MetadataError::TooDeep));
        let long = |n: usize| Metadata::new(object(&json!({ "a": "x".repeat(n) })));
        assert!(long(METADATA_BYTES_MAX - 8).is_ok());
        assert_eq!(long(METADATA_BYTES_MAX - 7), Err(MetadataError::TooLong(METADATA_BYTES_MAX + 1)));
        assert_eq!(Metadata::new(object(&json!({"a": {" ": 1}}))), Err(MetadataError::EmptyName));
        assert_eq!(Metadata::stored("{ \"b\": 1, \"a\": 2 }").unwrap().as_str(), r#"{"a":2,"b":1}"#);
        assert_eq!(Metadata::stored("{}"), None);
        assert_eq!(Metadata::stored("no JSON"), None);
    }

    #[test]
    fn a_patch_is_a_merge_patch() {
        let of = metadata(&json!({"a": 1, "b": {"c": 1, "d": 2}, "e": "x"}));
        let patch = json!({"a": null, "b": {"c": null, "f": 3}, "e": ["y"], "g": {"h": null, "i": 4}});
        let patched = Metadata::patched(of.as_ref(), &object(&patch)).unwrap().unwrap();
        assert_eq!(
            Value::Object(patched.fields()),
            json!({"b": {"d": 2, "f": 3}, "e": ["y"], "g": {"i": 4}})
        );
        assert_eq!(
            Metadata::patched(of.as_ref(), &object(&json!({"a": null, "b": null, "e": null}))),
            Ok(None)
        );
        let merged = Metadata::merged(of.as_ref(), metadata(&json!({"a": 2, "z": 9})).as_ref()).unwrap();
        assert_eq!(merged.unwrap().as_str(), r#"{"a":1,"b":{"c":1,"d":2},"e":"x","z":9}"#);
    }

    fn scalar() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3_i64..3).prop_map(Value::from),
            (-3_i32..3).prop_map(|half| Value::from(f64::from(half) / 2.0)),
            "[ab\"\\\\é]{0,3}".prop_map(Value::from),
        ]
    }

    fn fields() -> impl Strategy<Value = Map<String, Value>> {
        let value = prop_oneof![
            scalar(),
            vec(scalar(), 0..3).prop_map(Value::from),
            btree_map("[ab\"]", scalar(), 0..3).prop_map(|inner| Value::Object(inner.into_iter().collect())),
        ];
        btree_map("[ab\"](\\.[ab\"])?", value, 0..4).prop_map(|fields| fields.into_iter().collect())
    }

    proptest! {
        #[test]
        fn fragments_are_necessary(of in fields(), paths in vec("[ab\"](\\.[ab\"])?", 1..3), values in vec(scalar(), 2)) {
            let conditions: Map<String, Value> = paths.into_iter().zip(values).collect();
            let filter = MetadataFilter::new(&conditions).unwrap();
            let known = Metadata::new(of.clone()).unwrap();
            let all = filter.conditions.iter().all(|one| one.holds(&Value::Object(of.clone())));
            prop_assert_eq!(filter.holds(known.as_ref()), all);
        }
    }
}

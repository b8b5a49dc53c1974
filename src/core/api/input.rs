//! Parts that requests of several nouns share: nothing at all, a scope, an instant, the items of a batch, the size of a page.

use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::marker::PhantomData;

/// Items of a batch at most.
pub const ITEMS_MAX: usize = 10_000;
/// Items of one page at most.
const PAGE_MAX: u32 = 10_000;

/// A part of a request that has no fields.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// The instant of a question about the database as a whole.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtQuery {
    /// As of this instant.
    pub at: Option<Timestamp>,
}

/// The scope of a question or of something to remove.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScopeQuery {
    /// Whose data.
    pub scope: Option<Scope>,
}

/// The scope and the instant of a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScopeAtQuery {
    /// Whose data.
    pub scope: Option<Scope>,
    /// As of this instant.
    pub at: Option<Timestamp>,
}

/// The items of a batch: 1 to [`ITEMS_MAX`].
#[derive(Debug)]
pub struct Items<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Counting<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Counting<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "an array of 1 to {ITEMS_MAX} items")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = from.next_element()? {
                    if items.len() == ITEMS_MAX {
                        return Err(serde::de::Error::invalid_length(ITEMS_MAX + 1, &self));
                    }
                    items.push(item);
                }
                if items.is_empty() {
                    return Err(serde::de::Error::invalid_length(0, &self));
                }
                Ok(items)
            }
        }
        from.deserialize_seq(Counting(PhantomData)).map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for Items<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}Items", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({"type": "array", "items": items, "minItems": 1, "maxItems": ITEMS_MAX})
    }
}

/// Reads the field `limit` of a query.
pub(super) fn page_size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let size = u32::deserialize(from)?;
    if (1..=PAGE_MAX).contains(&size) {
        return Ok(Some(size));
    }
    Err(serde::de::Error::custom(format!("a page has 1 to {PAGE_MAX} items")))
}

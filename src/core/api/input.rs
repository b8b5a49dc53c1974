//! Parts that several requests share: an empty part, a scope, an instant, the items of a batch, the size of a page.

use crate::domain::ids::Scope;
use crate::domain::units::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::marker::PhantomData;

/// Maximum number of items in a batch.
pub const ITEMS_MAX: usize = 10_000;
/// Maximum number of items in a page.
const PAGE_MAX: u32 = 10_000;

/// A part of a request that has no fields.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Instant of a query over the whole database.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtQuery {
    /// Instant to evaluate at; default now.
    pub at: Option<Timestamp>,
}

/// Scope of a query or of a removal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScopeQuery {
    /// Scope of the data.
    pub scope: Option<Scope>,
}

/// Scope and instant of a query.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScopeAtQuery {
    /// Scope of the data.
    pub scope: Option<Scope>,
    /// Instant to evaluate at; default now.
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

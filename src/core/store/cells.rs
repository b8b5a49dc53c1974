//! Values of any type, as the driver has them: cells of rows that are decoded one by one, so that one of a wrong type costs
//! that cell and never a page.

use neo4rs::{BoltNull, BoltType};

/// A row as so many columns, null where it has fewer.
pub(super) fn columns<const N: usize>(row: Vec<BoltType>) -> [BoltType; N] {
    let mut row = row.into_iter();
    std::array::from_fn(|_| row.next().unwrap_or(BoltType::Null(BoltNull)))
}

pub(super) fn items(value: BoltType) -> Vec<BoltType> {
    match value {
        BoltType::List(list) => list.value,
        _ => Vec::new(),
    }
}

pub(super) fn text(value: BoltType) -> Option<String> {
    match value {
        BoltType::String(text) => Some(text.value),
        _ => None,
    }
}

pub(super) fn flag(value: &BoltType) -> bool {
    matches!(value, BoltType::Boolean(flag) if flag.value)
}

pub(super) fn whole(value: &BoltType) -> Option<i64> {
    match value {
        BoltType::Integer(whole) => Some(whole.value),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a weight that is a whole number is small")]
pub(super) fn number(value: &BoltType) -> Option<f64> {
    match value {
        BoltType::Float(number) => Some(number.value),
        BoltType::Integer(whole) => Some(whole.value as f64),
        _ => None,
    }
}

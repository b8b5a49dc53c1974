//! Values of rows of other libraries: of any type, by the names of their properties.

use super::super::super::cells::{items, text};
use crate::clock::parse_lenient;
use crate::domain::mapping::{Name, instant_of_number};
use crate::domain::units::Timestamp;
use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime};
use neo4rs::BoltType;
use std::collections::HashMap;

/// Values of a row by the names of their properties.
pub(super) struct Values<'n>(HashMap<&'n Name, BoltType>);

impl<'n> Values<'n> {
    pub(super) fn new(names: &[&'n Name], values: BoltType) -> Self {
        Self(names.iter().copied().zip(items(values)).collect())
    }

    pub(super) fn get(&self, name: &Name) -> Option<&BoltType> {
        self.0.get(name)
    }

    pub(super) fn text(&self, name: &Name) -> Option<String> {
        text(self.get(name)?.clone()).filter(|text| !text.trim().is_empty())
    }

    /// A text, or those of a list.
    pub(super) fn texts(&self, name: &Name) -> Vec<String> {
        match self.get(name) {
            Some(BoltType::List(list)) => list.value.iter().cloned().filter_map(text).collect(),
            _ => self.text(name).into_iter().collect(),
        }
    }

    pub(super) fn instant(&self, name: &Name) -> Option<i64> {
        instant(self.get(name)?)
    }

    pub(super) fn first_instant(&self, names: &[Name]) -> Option<i64> {
        names.iter().find_map(|name| self.instant(name))
    }

    /// The earliest of these instants.
    pub(super) fn earliest(&self, names: &[Name]) -> Option<i64> {
        names.iter().filter_map(|name| self.instant(name)).min()
    }
}

/// An instant of any type in which libraries store one, epoch milliseconds.
pub(super) fn instant(value: &BoltType) -> Option<i64> {
    let utc = |at: NaiveDateTime| at.and_utc().timestamp_millis();
    let ms = match value {
        BoltType::DateTime(at) => DateTime::<FixedOffset>::try_from(at).ok()?.timestamp_millis(),
        BoltType::DateTimeZoneId(at) => DateTime::<FixedOffset>::try_from(at).ok()?.timestamp_millis(),
        BoltType::LocalDateTime(at) => utc(NaiveDateTime::try_from(at).ok()?),
        BoltType::Date(at) => utc(NaiveDate::try_from(at).ok()?.and_hms_opt(0, 0, 0)?),
        BoltType::Integer(number) => return instant_of_number(number.value),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "seconds or milliseconds, with a fraction of one"
        )]
        BoltType::Float(number) if number.value.is_finite() => {
            return instant_of_number(number.value as i64);
        }
        BoltType::String(text) => return parse_lenient(&text.value).map(Timestamp::millis),
        _ => return None,
    };
    Timestamp::from_millis(ms).ok().map(Timestamp::millis)
}

//! Rows as another program could write them: properties of any key, each with a usable value, an instant in one of the forms that
//! libraries use, or any value of any type.

use super::random::Random;
use super::rows::{list, map};
use neo4rs::{BoltString, BoltType};

/// The values, as Cypher writes them. One that no index takes, as a text of a megabyte, no writer can leave there either.
pub(crate) const VALUES: [&str; 46] = [
    "''",
    "' '",
    "'a\\u0000b\\u0001\\u202e\\uFFFF'",
    "'2026-01-01'",
    "'1.5'",
    "reduce(s = 'abcdefghij', i IN range(1, 8) | s + s)",
    "3",
    "-1",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "-0.0",
    "0.5",
    "0.0 / 0.0",
    "1.0 / 0.0",
    "-1.0 / 0.0",
    "1e308",
    "-1e308",
    "4.9e-324",
    "true",
    "false",
    "[]",
    "['a', 'b']",
    "[1, -9223372036854775807]",
    "[0.5, 0.0 / 0.0]",
    "[datetime('+999999999-12-31T23:59:59Z')]",
    "point({x: 1e308, y: -1e308, z: 0.0})",
    "point({longitude: 1.0, latitude: 2.0})",
    "duration({seconds: 9223372036854775807})",
    "duration({months: 9223372036, days: -5})",
    "date('+999999999-12-31')",
    "date('-999999999-01-01')",
    "localdatetime('+999999999-12-31T23:59:59.999999999')",
    "time('23:59:59.999999999+18:00')",
    "localtime('00:00')",
    "datetime('+999999999-12-31T23:59:59.999999999Z')",
    "datetime('+999999999-12-31T23:59:59.999999999-18:00')",
    "datetime('-999999999-01-01T00:00:00+18:00')",
    "datetime('+292278994-08-17T07:12:55.807Z')",
    "datetime('+10000-01-01T00:00Z')",
    "datetime('9999-12-31T23:59:59.999999999Z')",
    "datetime('0000-12-31T23:59:59Z')",
    "datetime('2076-01-01T00:00Z')",
    "datetime('2026-03-29T02:30[Europe/Berlin]')",
    "datetime('+999999999-12-31T10:00[Europe/Berlin]')",
    "date('2026-01-01')",
    "null",
];

/// Sets the properties of `r` on `n`; `values` are those of [`VALUES`].
pub(crate) const SET: &str = "FOREACH (p IN r.sound | SET n[p.key] = p.value)
    FOREACH (p IN r.odd | SET n[p.key] = values[p.value])
    FOREACH (p IN r.instants | SET n[p.key] = CASE p.form
      WHEN 'DateTime' THEN datetime({epochMillis: p.value})
      WHEN 'Local' THEN localdatetime(datetime({epochMillis: p.value}))
      WHEN 'Text' THEN toString(datetime({epochMillis: p.value}))
      WHEN 'Seconds' THEN p.value / 1000
      ELSE p.value END)";

/// A form of instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    DateTime,
    Local,
    Text,
    Seconds,
    Milliseconds,
}

/// Random properties: those with a usable value, those with one of [`VALUES`] by its place, and instants in milliseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct RandomRow {
    pub(crate) sound: Vec<(String, BoltType)>,
    odd: Vec<(String, i64)>,
    pub(crate) instants: Vec<(String, i64, Form)>,
}

impl RandomRow {
    /// Gives a property any value of any type.
    pub(crate) fn odd(&mut self, random: &mut Random, key: String) {
        self.odd.push((key, random.whole(i64::try_from(VALUES.len()).unwrap())));
    }

    /// Leaves these properties as they are.
    pub(crate) fn without(&mut self, keys: &[&str]) {
        self.sound.retain(|(key, _)| !keys.contains(&key.as_str()));
        self.odd.retain(|(key, _)| !keys.contains(&key.as_str()));
        self.instants.retain(|(key, ..)| !keys.contains(&key.as_str()));
    }

    /// The row as one of a parameter, with more of its own.
    pub(crate) fn param(self, mut more: Vec<(&str, BoltType)>) -> BoltType {
        let pair = |key: String, value: BoltType| [("key", key.into()), ("value", value)];
        let instant = |(key, at, form): (String, i64, Form)| {
            let [key, at] = pair(key, at.into());
            map([key, at, ("form", format!("{form:?}").into())])
        };
        more.extend([
            ("sound", list(self.sound.into_iter().map(|(key, value)| map(pair(key, value))))),
            ("odd", list(self.odd.into_iter().map(|(key, value)| map(pair(key, value.into()))))),
            ("instants", list(self.instants.into_iter().map(instant))),
        ]);
        BoltType::Map(more.into_iter().map(|(key, value)| (BoltString::from(key), value)).collect())
    }
}

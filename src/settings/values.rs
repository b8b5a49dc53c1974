//! The kinds of values: functions that read one field of a section and check it, for `#[serde(deserialize_with)]`.
//!
//! Each error is the rule that the value breaks, as the end of a sentence ("it must be …"): faults quote it, and the
//! reference page lists it.

use ebb_core::domain::ids::Scope;
use ebb_core::embedder;
use ebb_core::scheduler::calendar::{Pattern, Zone};
use secrecy::SecretString;
use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::time::Duration;

/// Milliseconds, for the bounds of [`span`].
pub(super) const SECOND: u64 = 1_000;
pub(super) const MINUTE: u64 = 60 * SECOND;
pub(super) const HOUR: u64 = 60 * MINUTE;
pub(super) const DAY: u64 = 24 * HOUR;

/// The longest retention: ten years.
pub(super) const KEPT_MAX: u64 = 10 * 366 * DAY;

/// Text that is never printed. The reader identifies this type, and the three below, by its name.
#[derive(Deserialize)]
pub(super) struct Secret(SecretString);
/// Text that may contain a secret by mistake: printed if it is valid, but not in a fault.
#[derive(Deserialize)]
pub(super) struct Guarded(String);
/// Lists of texts; in a variable separated by semicolons.
#[derive(Deserialize)]
pub(super) struct Groups(Vec<Vec<String>>);
/// A number with an optional unit of bytes.
#[derive(Deserialize)]
pub(super) struct Bytes(i64);

/// A value of the type `G` that `accept` accepts; otherwise the rule.
fn checked<'de, G: Deserialize<'de>, T, D: Deserializer<'de>>(
    from: D,
    rule: impl FnOnce() -> String,
    accept: impl FnOnce(G) -> Option<T>,
) -> Result<T, D::Error> {
    G::deserialize(from).ok().and_then(accept).ok_or_else(|| Error::custom(rule()))
}

/// Text that `read` accepts; otherwise the rule that it returns, or `rule` if it is not text.
fn text<'de, T, D: Deserializer<'de>>(
    from: D,
    rule: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    let given = String::deserialize(from).map_err(|_| Error::custom(rule))?;
    read(given.trim()).map_err(Error::custom)
}

pub(super) fn whole<'de, T: TryFrom<u32>, D: Deserializer<'de>>(
    from: D,
    least: u32,
    greatest: u32,
    unit: &str,
) -> Result<T, D::Error> {
    let rule = || format!("it must be a whole number in {least} ..= {greatest} ({unit})");
    let within = |number: &u32| (least..=greatest).contains(number);
    checked(from, rule, |given: i64| T::try_from(u32::try_from(given).ok().filter(within)?).ok())
}

pub(super) fn connections<'de, const MAX: u32, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    whole(from, 1, MAX, "connections")
}

pub(super) fn mebibytes<'de, const LEAST: u32, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    whole(from, LEAST, 1 << 20, "MiB")
}

pub(super) fn port<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
    whole(from, 0, u16::MAX.into(), "a port; 0 takes a free one")
}

pub(super) fn ratio<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let within = |given: f64| (0.0..=1.0).contains(&given).then_some(given);
    checked(from, || "it must be a number in 0 ..= 1".to_owned(), within)
}

/// A duration with a unit, optional or not.
pub(super) fn span<'de, const LEAST: u64, const GREATEST: u64, T: From<Duration>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    let [least, greatest] = [LEAST, GREATEST].map(Duration::from_millis);
    let rule = || {
        let [least, greatest] = [least, greatest].map(humantime::format_duration);
        format!("it must be a duration with a unit, such as \"10m\", in {least} ..= {greatest}")
    };
    checked(from, rule, |given: String| {
        let given = humantime::parse_duration(given.trim()).ok()?;
        (least..=greatest).contains(&given).then(|| T::from(given))
    })
}

pub(super) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let rule = "it must be a number of bytes, such as \"512 MiB\" or \"1 GiB\", from 1 MiB to 1 TiB";
    let within = |bytes: &u64| (1 << 20..=1 << 40).contains(bytes);
    checked(from, || rule.to_owned(), |Bytes(given)| u64::try_from(given).ok().filter(within))
}

pub(super) fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    Secret::deserialize(from).map(|Secret(text)| Some(text))
}

pub(super) fn uri<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    const SCHEMES: [&str; 6] = ["bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"];
    let given = Guarded::deserialize(from).map(|Guarded(text)| text.trim().to_owned()).unwrap_or_default();
    match given.split_once("://").filter(|(scheme, _)| SCHEMES.contains(scheme)) {
        Some((_, rest)) if rest.contains('@') => Err(Error::custom(
            "it must not contain a user or password; set neo4j.username and neo4j.password_file, or \
             NEO4J_USERNAME and NEO4J_PASSWORD",
        )),
        Some((_, rest)) if !rest.is_empty() && !rest.contains(char::is_whitespace) => Ok(Some(given)),
        _ => Err(Error::custom(format!(
            "it must be a scheme and a host, such as bolt://localhost:7687; schemes are {}",
            SCHEMES.join(", ")
        ))),
    }
}

/// The base address of an embedder.
pub(super) fn embedder<'de, D: Deserializer<'de>>(from: D) -> Result<Option<embedder::Address>, D::Error> {
    let given = Guarded::deserialize(from).map(|Guarded(text)| text).unwrap_or_default();
    embedder::Address::parse(&given).map(Some).map_err(Error::custom)
}

pub(super) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let rule = "it must be a name, such as nomic-embed-text, of 256 bytes at most";
    let is_name = |name: &&str| (1..=256).contains(&name.len()) && !name.contains(char::is_control);
    text(from, rule, |given| {
        Some(given).filter(is_name).map(|name| Some(name.to_owned())).ok_or_else(|| rule.to_owned())
    })
}

pub(super) fn address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    let rule = "it must be an address and a port, such as \"127.0.0.1:8322\"";
    text(from, rule, |given| given.parse().map(Some).map_err(|_| rule.to_owned()))
}

/// Origins of web pages, separated by commas.
pub(super) fn origins<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let rule = "it must be origins with commas between, such as \"https://app.example.org\", without a path";
    let is_origin = |text: &&str| {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        host.is_some_and(|host| !host.is_empty() && !host.contains(|c: char| c == '/' || c.is_whitespace()))
    };
    checked(
        from,
        || rule.to_owned(),
        |given: String| {
            let one = |text: &str| Some(text.trim()).filter(is_origin).map(str::to_owned);
            given.split(',').map(one).collect()
        },
    )
}

pub(super) fn pattern<'de, T: From<Box<Pattern>>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    text(
        from,
        "it must be a cron pattern of five fields",
        |given| Ok(Box::new(Pattern::parse(given)?).into()),
    )
}

pub(super) fn zone<'de, D: Deserializer<'de>>(from: D) -> Result<Zone, D::Error> {
    let rule = Zone::named("").err().unwrap_or_default();
    text(from, &rule, Zone::named)
}

/// Labels and types of relationships. The law checks that they are valid in a statement and not repeated.
pub(super) fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let rule = "it must be a list of names, none twice: letters, digits and underscores, beginning with no digit, 64 at most";
    checked(from, || rule.to_owned(), Some)
}

pub(super) fn scopes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Scope>, D::Error> {
    let rule = || "it must be a list of texts, none empty, none twice".to_owned();
    let names = checked(from, rule, |given: Vec<String>| (!has_twins(&given)).then_some(given))?;
    let scope = |name: &String| Scope::new(name).map_err(|why| Error::custom(format!("{name:?}: {why}")));
    names.iter().map(scope).collect()
}

/// Lists of texts.
pub(super) fn groups<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<String>>, D::Error> {
    let rule = || "it must be a list of lists of texts, none empty".to_owned();
    checked(from, rule, |Groups(given)| Some(given))
}

pub(super) fn has_twins<T: PartialEq>(given: &[T]) -> bool {
    given.iter().enumerate().any(|(n, one)| given[..n].contains(one))
}

/// A map with known keys, so that they are listed like the fields of a struct.
pub(super) fn map_of<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
    keys: &'static [&'static str],
) -> Result<T, D::Error> {
    struct AsMap<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for AsMap<T> {
        type Value = T;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a table")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }
    from.deserialize_struct("map", keys, AsMap(PhantomData))
}

//! What a value may be: the shapes of knobs, and the check of one value against its shape.
//!
//! A value comes from a file with a type, or from a variable or flag as bare text; a number written in quotes in a file
//! is a mistake, in a variable it is the only way. [`Kind::check`] knows both and answers with the value as the structs
//! want it, or with the rule that it breaks.

use super::fault::Origin;
use config::Value;
use ebb_core::scheduler::calendar::{Pattern, Zone};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// The shape of a knob's value. Bounds are inclusive.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Text that is not empty.
    Text,
    /// Text that is never shown.
    Secret,
    /// Where a server answers, without user or password.
    Uri,
    /// true or false.
    Switch,
    /// A whole number.
    Whole { least: u32, greatest: u32, unit: &'static str },
    /// Any number; the laws have their say later.
    Number,
    /// A share of something.
    Ratio,
    /// A number of bytes, with a unit or without.
    Bytes,
    /// A duration with units.
    Span { least_ms: u64, greatest_ms: u64 },
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A cron pattern of five fields.
    Cron,
    /// A zone of the IANA database.
    Zone,
    /// Address and port to listen on, on this machine.
    Listen,
    /// Address and port to listen on.
    Address,
    /// Origins of web pages, with commas between.
    Origins,
    /// Levels of what is logged, by target.
    Filter,
    /// Texts, none empty, none twice.
    Texts,
    /// Some of these words, at least one, none twice.
    Words(&'static [&'static str]),
    /// Lists of texts, none empty.
    Groups,
    /// Names that may stand in a statement: labels and types of relationships. None twice, at least one.
    Names,
    /// A list of tables.
    Tables(&'static Tables),
}

/// What the tables of a list hold.
#[derive(Debug)]
pub(super) struct Tables {
    /// Names and shapes of their fields.
    pub(super) fields: &'static [(&'static str, Kind)],
    /// The fields that each must have.
    pub(super) required: &'static [&'static str],
    /// The field by which tables of several layers are merged, and which no two may share.
    pub(super) id: Option<&'static str>,
    /// What the fields of a table must agree on, once each is sound alone: fields and what is wrong with them.
    pub(super) rule: Option<Rule>,
}

/// See [`Tables::rule`].
pub(super) type Rule = fn(&BTreeMap<&'static str, Shown>) -> Vec<(String, String)>;

/// A table as it was given.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) origin: Origin,
    pub(super) fields: Vec<(String, Raw, Origin)>,
}

/// A value as it was given.
#[derive(Debug, Clone)]
pub(super) enum Raw {
    /// In a file, with a type.
    Toml(toml_edit::Value),
    /// In a variable or a flag: text.
    Text(String),
    /// A list of tables.
    Tables(Vec<Table>),
    /// Something in a file that is no value at all, such as a table.
    Other(&'static str),
}

/// A value as `config show` prints it: a secret is stars.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Shown {
    /// true or false.
    Switch(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// Text, a duration or a word.
    Text(String),
    /// Several values.
    List(Vec<Shown>),
    /// A table of a list.
    Table(BTreeMap<&'static str, Shown>),
}

impl Shown {
    /// A field of a table.
    pub(super) fn field(&self, name: &str) -> Option<&Shown> {
        match self {
            Self::Table(fields) => fields.get(name),
            _ => None,
        }
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Switch(on) => on.fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::List(list) => {
                let inner = |one: &Self| match one {
                    Self::List(_) => format!("[{one}]"),
                    other => other.to_string(),
                };
                let texts: Vec<String> = list.iter().map(inner).collect();
                texts.join(", ").fmt(f)
            }
            Self::Table(fields) => {
                let texts: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                write!(f, "{{{}}}", texts.join(", "))
            }
        }
    }
}

/// What stands in the place of a secret.
pub(super) const STARS: &str = "********";
const SCHEMES: [&str; 6] = ["bolt://", "bolt+s://", "bolt+ssc://", "neo4j://", "neo4j+s://", "neo4j+ssc://"];
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

impl Kind {
    /// The value for the structs, and the same for people.
    ///
    /// # Errors
    /// What the value must be, as the end of a sentence; it holds no secret.
    pub(super) fn check(&self, raw: &Raw) -> Result<(Value, Shown), String> {
        match self {
            Self::Text => raw.text().map(text).ok_or_else(|| "it must be text, not empty".to_owned()),
            Self::Secret => raw
                .text()
                .map(|secret| (text(secret).0, Shown::Text(STARS.to_owned())))
                .ok_or_else(|| "it must be text, not empty".to_owned()),
            Self::Uri => uri(raw.text()).map(text),
            Self::Switch => raw
                .switch()
                .map(|on| (Value::from(on), Shown::Switch(on)))
                .ok_or_else(|| "it must be true or false".to_owned()),
            Self::Whole { least, greatest, unit } => raw
                .whole()
                .filter(|number| (i64::from(*least)..=i64::from(*greatest)).contains(number))
                .map(|number| (Value::from(number), Shown::Whole(number)))
                .ok_or_else(|| format!("it must be a whole number in {least} ..= {greatest} ({unit})")),
            Self::Bytes => raw
                .bytes()
                .map(|bytes| (Value::from(bytes), Shown::Whole(bytes)))
                .ok_or_else(|| "it must be a number of bytes, such as \"512 MiB\" or \"1 GiB\", from 1 MiB to 1 TiB".to_owned()),
            Self::Number => raw.number().ok_or_else(|| "it must be a number".to_owned()),
            Self::Ratio => raw
                .number()
                .filter(|(_, shown)| match shown {
                    Shown::Whole(number) => (0..=1).contains(number),
                    Shown::Number(number) => (0.0..=1.0).contains(number),
                    _ => false,
                })
                .ok_or_else(|| "it must be a number in 0 ..= 1".to_owned()),
            Self::Span { least_ms, greatest_ms } => span(raw.text(), *least_ms, *greatest_ms).map(text),
            Self::OneOf(words) => raw
                .text()
                .and_then(|given| words.iter().find(|word| word.eq_ignore_ascii_case(given)))
                .map(|word| text(word))
                .ok_or_else(|| format!("it must be \"{}\"", words.join("\" or \""))),
            Self::Cron => {
                let given =
                    raw.text().ok_or_else(|| "it must be a cron pattern of five fields".to_owned())?;
                Pattern::parse(given).map(|pattern| text(pattern.text()))
            }
            Self::Zone => Zone::named(raw.text().unwrap_or_default()).map(|zone| text(zone.name())),
            Self::Listen => listen(raw.text()).map(text),
            Self::Address => address(raw.text()).map(text),
            Self::Origins => origins(raw.text()).map(text),
            Self::Filter => raw.text().filter(|given| is_filter(given)).map(text).ok_or_else(|| {
                format!(
                    "it must be levels by target, such as \"warn,ebb=info\"; levels are {}",
                    LEVELS.join(", ")
                )
            }),
            Self::Texts => raw
                .texts()
                .filter(|given| !has_twins(given))
                .map(|given| texts(&given))
                .ok_or_else(|| "it must be a list of texts, none empty, none twice".to_owned()),
            Self::Words(words) => raw
                .texts()
                .and_then(|given| among(words, &given))
                .map(|given| texts(&given))
                .ok_or_else(|| format!("it must be a list of \"{}\", none twice", words.join("\" or \""))),
            Self::Groups => raw
                .groups()
                .map(|given| groups(&given))
                .ok_or_else(|| "it must be a list of lists of texts, none empty".to_owned()),
            Self::Names => raw
                .texts()
                .filter(|given| !given.is_empty() && given.iter().all(|name| is_name(name)) && !has_twins(given))
                .map(|given| texts(&given))
                .ok_or_else(|| {
                    "it must be a list of names, none twice: letters, digits and underscores, beginning with no digit, \
                     64 at most"
                        .to_owned()
                }),
            // A fault of a table has a place of its own, so lists of tables are checked where places are known.
            Self::Tables(_) => Err("it must be a list of tables".to_owned()),
        }
    }

    /// Whether the value must not be printed, not even in a fault.
    pub(super) const fn is_secret(&self) -> bool {
        // A URI that someone put a password into is a secret too.
        matches!(self, Self::Secret | Self::Uri)
    }
}

impl Raw {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Toml(value) => value.as_str(),
            Self::Text(text) => Some(text.as_str()),
            Self::Tables(_) | Self::Other(_) => None,
        }
        .filter(|text| !text.trim().is_empty())
    }

    fn switch(&self) -> Option<bool> {
        match self {
            Self::Toml(value) => value.as_bool(),
            Self::Text(text) => text.to_ascii_lowercase().parse().ok(),
            Self::Tables(_) | Self::Other(_) => None,
        }
    }

    fn whole(&self) -> Option<i64> {
        match self {
            Self::Toml(value) => value.as_integer(),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Tables(_) | Self::Other(_) => None,
        }
    }

    fn bytes(&self) -> Option<i64> {
        let units = [("KiB", 1_i64 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("B", 1)];
        let of_text = |text: &str| {
            let text = text.trim();
            let unit =
                units.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?.trim_end(), *size)));
            let (number, size) = unit?;
            number.parse::<i64>().ok()?.checked_mul(size)
        };
        let bytes = self.whole().or_else(|| of_text(self.text()?));
        bytes.filter(|bytes| (1 << 20..=1 << 40).contains(bytes))
    }

    fn number(&self) -> Option<(Value, Shown)> {
        if let Some(whole) = self.whole() {
            return Some((Value::from(whole), Shown::Whole(whole)));
        }
        let number = match self {
            Self::Toml(value) => value.as_float(),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Tables(_) | Self::Other(_) => None,
        }?;
        Some((Value::from(number), Shown::Number(number)))
    }

    /// Several texts: a list in a file, in a variable with commas between them.
    fn texts(&self) -> Option<Vec<String>> {
        let texts: Option<Vec<&str>> = match self {
            Self::Toml(value) => value.as_array()?.iter().map(toml_edit::Value::as_str).collect(),
            Self::Text(text) => Some(text.split(',').map(str::trim).collect()),
            Self::Tables(_) | Self::Other(_) => None,
        };
        let texts = texts?;
        texts
            .iter()
            .all(|text| !text.trim().is_empty())
            .then(|| texts.into_iter().map(str::to_owned).collect())
    }

    /// Several lists of texts: in a variable they have semicolons between them.
    fn groups(&self) -> Option<Vec<Vec<String>>> {
        match self {
            Self::Toml(value) => {
                value.as_array()?.iter().map(|group| Self::Toml(group.clone()).texts()).collect()
            }
            Self::Text(text) => text.split(';').map(|group| Self::Text(group.to_owned()).texts()).collect(),
            Self::Tables(_) | Self::Other(_) => None,
        }
    }
}

/// For faults: the value as it was written.
impl std::fmt::Display for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Toml(value) => f.write_str(value.to_string().trim()),
            Self::Text(text) => write!(f, "\"{}\"", text.escape_debug()),
            Self::Tables(_) => f.write_str("a list of tables"),
            Self::Other(what) => f.write_str(what),
        }
    }
}

fn text(given: &str) -> (Value, Shown) {
    (Value::from(given), Shown::Text(given.to_owned()))
}

fn texts(given: &[String]) -> (Value, Shown) {
    let values: Vec<Value> = given.iter().map(|text| Value::from(text.as_str())).collect();
    (Value::from(values), Shown::List(given.iter().cloned().map(Shown::Text).collect()))
}

fn groups(given: &[Vec<String>]) -> (Value, Shown) {
    let (values, shown): (Vec<Value>, Vec<Shown>) = given.iter().map(|group| texts(group)).unzip();
    (Value::from(values), Shown::List(shown))
}

/// What is given as these words are written; nothing if it is empty, names one twice, or one that is none of these.
fn among(words: &[&str], given: &[String]) -> Option<Vec<String>> {
    let known = |one: &String| {
        words.iter().find(|word| word.eq_ignore_ascii_case(one)).map(|word| (*word).to_owned())
    };
    let named: Vec<String> = given.iter().map(known).collect::<Option<_>>()?;
    (!named.is_empty() && !has_twins(&named)).then_some(named)
}

fn has_twins(given: &[String]) -> bool {
    given.iter().enumerate().any(|(n, text)| given[..n].contains(text))
}

/// Whether a text may stand as a name in a statement.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && letters.all(|c| c.is_ascii_alphanumeric() || c == '_') && text.len() <= 64
}

fn uri(given: Option<&str>) -> Result<&str, String> {
    let given = given.map(str::trim).unwrap_or_default();
    let rest = SCHEMES.iter().find_map(|scheme| given.strip_prefix(scheme));
    match rest {
        Some(rest) if rest.contains('@') => Err("it must not hold a user or password; give them as \
             neo4j.username and neo4j.password_file, or NEO4J_USERNAME and NEO4J_PASSWORD"
            .to_owned()),
        Some(rest) if !rest.is_empty() && !rest.contains(char::is_whitespace) => Ok(given),
        _ => Err(format!("it must be a scheme and a host, such as bolt://localhost:7687; schemes are {}", {
            SCHEMES.map(|scheme| scheme.trim_end_matches("://")).join(", ")
        })),
    }
}

/// What is served there needs no key, so nobody else's machine may ask.
fn listen(given: Option<&str>) -> Result<&str, String> {
    let given = given.map(str::trim).unwrap_or_default();
    let own = |address: SocketAddr| address.ip().is_loopback();
    match given.parse().is_ok_and(own) {
        true => Ok(given),
        false => Err("it must be a loopback address and a port, such as \"127.0.0.1:9464\"".to_owned()),
    }
}

fn address(given: Option<&str>) -> Result<&str, String> {
    let given = given.map(str::trim).unwrap_or_default();
    match given.parse::<SocketAddr>() {
        Ok(_) => Ok(given),
        Err(_) => Err("it must be an address and a port, such as \"127.0.0.1:8322\"".to_owned()),
    }
}

fn origins(given: Option<&str>) -> Result<&str, String> {
    let is_origin = |text: &str| {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        host.is_some_and(|host| !host.is_empty() && !host.contains(|c: char| c == '/' || c.is_whitespace()))
    };
    given.filter(|given| given.split(',').map(str::trim).all(is_origin)).ok_or_else(|| {
        "it must be origins with commas between, such as \"https://app.example.org\", without a path"
            .to_owned()
    })
}

fn span(given: Option<&str>, least_ms: u64, greatest_ms: u64) -> Result<&str, String> {
    let bounds = Duration::from_millis(least_ms)..=Duration::from_millis(greatest_ms);
    let given = given.map(str::trim);
    let within = |text: &&str| humantime::parse_duration(text).is_ok_and(|span| bounds.contains(&span));
    given.filter(within).ok_or_else(|| {
        let [least, greatest] = [bounds.start(), bounds.end()].map(|end| humantime::format_duration(*end));
        format!("it must be a duration with a unit, such as \"10m\", in {least} ..= {greatest}")
    })
}

/// For the fields of sections: a duration that passed its check as text.
pub(super) fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    optional_duration(from)?.ok_or_else(|| serde::de::Error::custom("a duration is missing"))
}

/// For the fields of sections: a duration that passed its check as text, or none.
pub(super) fn optional_duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| humantime::parse_duration(&text).map_err(serde::de::Error::custom)).transpose()
}

/// Stricter than the subscriber's own parser, which takes a misspelt level for the name of a target.
fn is_filter(given: &str) -> bool {
    let is_level = |level: &str| LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level));
    let is_target = |target: &str| {
        !target.is_empty() && target.chars().all(|c| c.is_ascii_alphanumeric() || "_-:".contains(c))
    };
    given.split(',').map(str::trim).all(|part| match part.split_once('=') {
        Some((target, level)) => is_target(target) && is_level(level),
        None => is_level(part),
    })
}

//! Conditions and fields as they are typed: `--where 'year>=2020'`, `--metadata topic=travel`.

use super::tier_parser;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::Moment;
use clap::Args;
use ebb_core::domain::annotations::MetadataFilter;
use ebb_core::domain::tier::Tier;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::{Filter, Service};
use serde_json::{Map, Value, json};

/// Conditions on memories.
#[derive(Debug, Clone, Args)]
pub struct Conditions {
    /// Only this tier; may be repeated
    #[arg(long = "tier", value_name = "TIER", value_parser = tier_parser())]
    pub tiers: Vec<Tier>,
    /// Only memories created in this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only memories with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Only memories whose metadata fulfils this: topic=travel, 'year>=2020'; may be repeated
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition)]
    pub conditions: Vec<Condition>,
    /// Only memories whose content contains this, in any case
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// Only memories created since: RFC 3339, a date, or relative such as -3h
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub created_since: Option<Moment>,
    /// Only memories created before
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    pub created_before: Option<Moment>,
}

/// A condition on metadata: the path of a field, an operator of the filter (empty for equality), and a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    path: String,
    operator: &'static str,
    value: Value,
}

/// Operators, each before those that it begins with.
const OPERATORS: [(&str, &str); 5] = [(">=", "$gte"), ("<=", "$lte"), (">", "$gt"), ("<", "$lt"), ("=", "")];

/// Parses `year>=2020`.
pub(in crate::surfaces::cli) fn condition(text: &str) -> Result<Condition, String> {
    let at = text.find(['=', '<', '>']).ok_or_else(no_condition)?;
    let (path, rest) = text.split_at(at);
    let operator = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign));
    let (sign, operator) = operator.ok_or_else(no_condition)?;
    let value = &rest[sign.len()..];
    if path.trim().is_empty() || path.ends_with('!') || value.starts_with(['=', '<', '>']) {
        return Err(no_condition());
    }
    Ok(Condition { path: path.trim().to_owned(), operator, value: scalar(value) })
}

fn no_condition() -> String {
    "a condition is a field, one of = < <= > >=, and a value, such as topic=travel or 'year>=2020'".to_owned()
}

/// The fields that were typed as an object: `user.age` is the field `age` of `user`, as it is in conditions.
pub(super) fn object(fields: impl IntoIterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut object = Map::new();
    fields.into_iter().for_each(|(path, value)| put(&mut object, &path, value));
    object
}

fn put(object: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((name, rest)) = path.split_once('.') else {
        object.insert(path.to_owned(), value);
        return;
    };
    let slot = object.entry(name).or_insert(Value::Null);
    let mut inner = slot.as_object().cloned().unwrap_or_default();
    put(&mut inner, rest, value);
    *slot = Value::Object(inner);
}

/// Parses `topic=travel`.
pub(super) fn field(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value_of(value))),
        _ => Err("a field is a name, = and a value, such as topic=travel or 'steps=[1, 2]'".to_owned()),
    }
}

/// A number, true, false or null as such; anything else is a text, also in quotation marks.
fn scalar(text: &str) -> Value {
    match value_of(text) {
        Value::Array(_) | Value::Object(_) => Value::from(text.trim()),
        value => value,
    }
}

/// JSON as such; anything else is a text.
fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.trim()))
}

/// The conditions as an object of the filter.
pub(in crate::surfaces::cli) fn metadata(conditions: &[Condition]) -> Result<Map<String, Value>, CliError> {
    let mut object = Map::new();
    for Condition { path, operator, value } in conditions {
        let bound = || json!({ *operator: value });
        match object.get_mut(path) {
            None if operator.is_empty() => drop(object.insert(path.clone(), value.clone())),
            None => drop(object.insert(path.clone(), bound())),
            Some(Value::Object(bounds)) if !operator.is_empty() && !bounds.contains_key(*operator) => {
                bounds.insert((*operator).to_owned(), value.clone());
            }
            Some(_) => {
                return Err(CliError::usage(format!(
                    "--where has two conditions on {path} that exclude each other"
                ))
                .why("a field has one value, or one bound on each side"));
            }
        }
    }
    Ok(object)
}

impl Conditions {
    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        let Self { tiers, session, tags, conditions, text, created_since, created_before } = self;
        tiers.is_empty()
            && session.is_none()
            && tags.is_empty()
            && conditions.is_empty()
            && text.is_none()
            && created_since.is_none()
            && created_before.is_none()
    }

    /// The filter of the service.
    pub(super) async fn filter(&self, service: &Service) -> Result<Filter, CliError> {
        let metadata = MetadataFilter::new(&metadata(&self.conditions)?).map_err(CliError::usage)?;
        let texts = self.tags.iter().map(|tag| ("--tag", tag));
        let texts = texts.chain(self.text.iter().map(|text| ("--text", text)));
        for (name, text) in texts.chain(self.session.iter().map(|id| ("--session", id))) {
            // An empty text is contained in every one.
            if text.trim().is_empty() {
                return Err(CliError::usage(format!("{name} is empty")));
            }
        }
        Ok(Filter {
            tiers: self.tiers.clone(),
            session: self.session.clone(),
            tags: self.tags.clone(),
            text: self.text.clone(),
            metadata,
            created_since: instant(self.created_since, service).await?,
            created_before: instant(self.created_before, service).await?,
        })
    }
}

async fn instant(stated: Option<Moment>, service: &Service) -> Result<Option<Timestamp>, CliError> {
    let Some(stated) = stated else { return Ok(None) };
    let now = service.instant(None).await?;
    stated.resolve(now).map(Some).map_err(CliError::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_typed() {
        let all = [
            "year>=2020",
            "year<2024",
            "topic = travel",
            "open=true",
            "id=\"7\"",
            "at>2024-01-01",
            "none=null",
        ];
        let all: Vec<Condition> = all.iter().map(|text| condition(text).unwrap()).collect();
        assert_eq!(
            Value::Object(metadata(&all).unwrap()),
            json!({"year": {"$gte": 2020, "$lt": 2024}, "topic": "travel", "open": true, "id": "7",
                "at": {"$gt": "2024-01-01"}, "none": null})
        );
        for fault in ["year", "=7", "", "year!=7", "year==7", "year=>7", "year<>7"] {
            assert!(condition(fault).is_err(), "{fault}");
        }
        let twice = |a: &str, b: &str| metadata(&[condition(a).unwrap(), condition(b).unwrap()]).is_err();
        assert!(twice("a=1", "a=2") && twice("a>1", "a>2") && twice("a=1", "a>0") && !twice("a>1", "a<2"));
    }

    #[test]
    fn fields_are_json_or_text() {
        assert_eq!(field("a=1").unwrap(), ("a".to_owned(), json!(1)));
        assert_eq!(field("a=[1, 2]").unwrap().1, json!([1, 2]));
        assert_eq!(field("a=b=c").unwrap().1, json!("b=c"));
        assert_eq!(field("a=").unwrap().1, json!(""));
        assert!(field("a").is_err() && field("=a").is_err());
        let typed = ["a.b=1", "a.c=x", "d=2", "d.e=3"].map(|text| field(text).unwrap());
        assert_eq!(Value::Object(object(typed)), json!({"a": {"b": 1, "c": "x"}, "d": {"e": 3}}));
    }
}

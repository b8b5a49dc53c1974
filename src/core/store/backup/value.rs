//! Values of properties in a backup file: JSON, with the type beside the value where JSON has no such type.
//!
//! | type | in the file |
//! |---|---|
//! | boolean, string, integer, list | as in JSON |
//! | float | a number with a point or an exponent; `{"float": "NaN"}`, `"inf"`, `"-inf"` |
//! | zoned date-time | `{"datetime": "2026-03-01T10:00:00.5+01:00"}`, or with the name of its zone `{"datetime": ["2026-03-01T10:00:00", "Europe/Berlin"]}`, in local time |
//! | local date-time, date | `{"localdatetime": "2026-03-01T10:00:00"}`, `{"date": "2026-03-01"}` |
//! | time, local time | `{"time": ["10:00:00", 3600]}` with the offset in seconds, `{"localtime": "10:00:00"}` |
//! | point | `{"point": [7203, 1.0, 2.0]}`: reference system and coordinates |
//!
//! Durations and byte arrays are refused: the driver does not give them out exactly. An encoded value is decoded again
//! and compared, so what a file contains is what the database had (held by `every_value_comes_back`).

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat};
use neo4rs::{
    BoltDate, BoltDateTime, BoltDateTimeZoneId, BoltFloat, BoltInteger, BoltList, BoltLocalDateTime,
    BoltLocalTime, BoltMap, BoltPoint2D, BoltPoint3D, BoltString, BoltTime, BoltType,
};
use serde_json::{Map, Value, json};

/// Encodes the properties of a row.
///
/// # Errors
/// The name of a property whose value cannot be encoded, and why.
pub(super) fn encode_all(values: &BoltMap) -> Result<Map<String, Value>, String> {
    let entry = |(name, value): (&BoltString, &BoltType)| {
        let encoded = encode(value).and_then(|encoded| {
            let is_exact = decode(&encoded).is_ok_and(|decoded| is_same(&decoded, value));
            if is_exact { Ok(encoded) } else { Err("a value that cannot be written exactly".to_owned()) }
        });
        match encoded {
            Ok(encoded) => Ok((name.value.clone(), encoded)),
            Err(why) => Err(format!("its property {} has {why}", name.value)),
        }
    };
    values.value.iter().map(entry).collect()
}

/// Decodes the properties of a row.
///
/// # Errors
/// The name of a property whose value is none, and why.
pub(super) fn decode_all(values: &Map<String, Value>) -> Result<BoltMap, String> {
    let entry = |(name, value): (&String, &Value)| match decode(value) {
        Ok(value) => Ok((BoltString::from(name.as_str()), value)),
        Err(why) => Err(format!("its property {name} has {why}")),
    };
    values.iter().map(entry).collect()
}

fn encode(value: &BoltType) -> Result<Value, String> {
    let out_of_range = || "an instant out of range".to_owned();
    Ok(match value {
        BoltType::Boolean(value) => value.value.into(),
        BoltType::String(value) => value.value.as_str().into(),
        BoltType::Integer(value) => value.value.into(),
        BoltType::Float(BoltFloat { value }) if value.is_finite() => (*value).into(),
        BoltType::Float(BoltFloat { value }) => json!({ "float": value.to_string() }),
        BoltType::List(list) => Value::Array(list.value.iter().map(encode).collect::<Result<_, _>>()?),
        BoltType::DateTime(at) => {
            let at = DateTime::<FixedOffset>::try_from(at).map_err(|_| out_of_range())?;
            json!({ "datetime": at.to_rfc3339_opts(SecondsFormat::AutoSi, true) })
        }
        BoltType::DateTimeZoneId(at) => {
            // The driver gives out the local time alone: in a repeated hour that is two instants.
            let is_one = DateTime::<FixedOffset>::try_from(at).is_ok();
            if !is_one {
                return Err(
                    "an instant whose local time its zone has twice, or a zone that is not known".to_owned()
                );
            }
            let local = NaiveDateTime::try_from(at).map_err(|_| out_of_range())?;
            json!({ "datetime": [format!("{local:?}"), at.tz_id()] })
        }
        BoltType::LocalDateTime(at) => {
            let at = NaiveDateTime::try_from(at).map_err(|_| out_of_range())?;
            json!({ "localdatetime": format!("{at:?}") })
        }
        BoltType::Date(date) => {
            let date = NaiveDate::try_from(date).map_err(|_| out_of_range())?;
            json!({ "date": format!("{date:?}") })
        }
        BoltType::Time(time) => {
            let (time, offset) = <(NaiveTime, FixedOffset)>::from(time);
            json!({ "time": [format!("{time:?}"), offset.local_minus_utc()] })
        }
        BoltType::LocalTime(time) => json!({ "localtime": format!("{:?}", NaiveTime::from(time)) }),
        BoltType::Point2D(at) => json!({ "point": [at.sr_id.value, at.x.value, at.y.value] }),
        BoltType::Point3D(at) => json!({ "point": [at.sr_id.value, at.x.value, at.y.value, at.z.value] }),
        BoltType::Duration(_) => return Err("a duration, which a backup cannot hold".to_owned()),
        BoltType::Bytes(_) => return Err("a byte array, which a backup cannot hold".to_owned()),
        _ => return Err("a value of a type that a backup cannot hold".to_owned()),
    })
}

fn decode(value: &Value) -> Result<BoltType, String> {
    let unknown = || format!("a value that is none of a backup: {value}");
    Ok(match value {
        Value::Bool(value) => (*value).into(),
        Value::String(value) => value.as_str().into(),
        Value::Number(value) => match (value.as_i64(), value.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(number)) if value.is_f64() => number.into(),
            _ => return Err(unknown()),
        },
        Value::Array(list) => {
            let values = list.iter().map(decode).collect::<Result<Vec<BoltType>, _>>()?;
            BoltType::List(BoltList::from(values))
        }
        Value::Object(typed) => {
            let mut entries = typed.iter();
            let (Some((kind, value)), None) = (entries.next(), entries.next()) else { return Err(unknown()) };
            typed_value(kind, value).ok_or_else(unknown)?
        }
        Value::Null => return Err(unknown()),
    })
}

/// A value with its type beside it.
fn typed_value(kind: &str, value: &Value) -> Option<BoltType> {
    let parts = value.as_array().map_or(&[][..], Vec::as_slice);
    let text = || value.as_str();
    Some(match (kind, parts) {
        ("float", []) => {
            let number = text()?.parse::<f64>().ok().filter(|number| !number.is_finite())?;
            number.into()
        }
        ("datetime", []) => {
            BoltType::DateTime(BoltDateTime::from(text()?.parse::<DateTime<FixedOffset>>().ok()?))
        }
        ("datetime", [local, zone]) => {
            let local = local.as_str()?.parse::<NaiveDateTime>().ok()?;
            BoltType::DateTimeZoneId(BoltDateTimeZoneId::from((local, zone.as_str()?)))
        }
        ("localdatetime", []) => {
            BoltType::LocalDateTime(BoltLocalDateTime::from(text()?.parse::<NaiveDateTime>().ok()?))
        }
        ("date", []) => BoltType::Date(BoltDate::from(text()?.parse::<NaiveDate>().ok()?)),
        ("time", [time, offset]) => {
            let offset = FixedOffset::east_opt(i32::try_from(offset.as_i64()?).ok()?)?;
            BoltType::Time(BoltTime::from((time.as_str()?.parse::<NaiveTime>().ok()?, offset)))
        }
        ("localtime", []) => BoltType::LocalTime(BoltLocalTime::from(text()?.parse::<NaiveTime>().ok()?)),
        ("point", [system, x, y]) => {
            let [x, y] = [x, y].map(|at| at.as_f64().map(BoltFloat::new));
            BoltType::Point2D(BoltPoint2D { sr_id: BoltInteger::new(system.as_i64()?), x: x?, y: y? })
        }
        ("point", [system, x, y, z]) => {
            let [x, y, z] = [x, y, z].map(|at| at.as_f64().map(BoltFloat::new));
            let sr_id = BoltInteger::new(system.as_i64()?);
            BoltType::Point3D(BoltPoint3D { sr_id, x: x?, y: y?, z: z? })
        }
        _ => return None,
    })
}

/// Whether two values are one to the bit, except that all NaN are one.
pub(super) fn is_same(one: &BoltType, other: &BoltType) -> bool {
    match (one, other) {
        (BoltType::Float(one), BoltType::Float(other)) => {
            one.value.to_bits() == other.value.to_bits() || one.value.is_nan() && other.value.is_nan()
        }
        (BoltType::List(one), BoltType::List(other)) => {
            one.value.len() == other.value.len()
                && one.value.iter().zip(&other.value).all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use neo4rs::{BoltDuration, BoltNull};
    use proptest::prelude::*;

    fn through_text(value: &BoltType) -> BoltType {
        let values: BoltMap = [(BoltString::from("a"), value.clone())].into_iter().collect();
        let text = serde_json::to_string(&encode_all(&values).unwrap()).unwrap();
        let read: Map<String, Value> = serde_json::from_str(&text).unwrap();
        decode_all(&read).unwrap().value.remove("a").unwrap()
    }

    proptest! {
        #[test]
        fn every_value_comes_back(
            bits in any::<u64>(), whole in any::<i64>(), text in ".*", seconds in -90_000_000_000_i64..300_000_000_000,
            nanos in 0_u32..1_000_000_000, hours in -18_i32..=18
        ) {
            let utc = DateTime::from_timestamp(seconds, nanos).unwrap();
            let (local, offset) = (utc.naive_utc(), FixedOffset::east_opt(hours * 3_600).unwrap());
            let number = f64::from_bits(bits);
            let point = [1.0, number].map(BoltFloat::new);
            let [x, y] = if number.is_finite() { point } else { [1.0, 2.0].map(BoltFloat::new) };
            let values: Vec<BoltType> = vec![
                number.into(), f64::NAN.into(), (-0.0).into(), 1e300.into(), whole.into(), text.as_str().into(), true.into(),
                BoltType::DateTime(utc.with_timezone(&offset).into()),
                BoltType::DateTimeZoneId((local, "Europe/Berlin").into()),
                BoltType::LocalDateTime(local.into()),
                BoltType::Date(local.date().into()),
                BoltType::Time((local.time(), offset).into()),
                BoltType::LocalTime(local.time().into()),
                BoltType::Point2D(BoltPoint2D { sr_id: BoltInteger::new(7203), x, y }),
            ];
            for value in &values {
                prop_assert!(is_same(&through_text(value), value), "{value:?}");
            }
            let list = BoltType::List(BoltList::from(values));
            prop_assert!(is_same(&through_text(&list), &list));
        }
    }

    #[test]
    fn a_value_that_does_not_fit_is_named() {
        let second = BoltDuration::new(0.into(), 0.into(), 1.into(), 0.into());
        let values: BoltMap = [(BoltString::from("wait"), BoltType::Duration(second))].into_iter().collect();
        let why = encode_all(&values).unwrap_err();
        assert_eq!(why, "its property wait has a duration, which a backup cannot hold");
        assert!(encode(&BoltType::Null(BoltNull)).is_err());
        for text in ["null", "{}", r#"{"float":"1.5"}"#, r#"{"datetime":"soon"}"#, "18446744073709551615"] {
            assert!(decode(&serde_json::from_str(text).unwrap()).is_err(), "{text}");
        }
    }
}

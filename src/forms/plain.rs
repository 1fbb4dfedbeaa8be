//! Values in all forms: times, numbers that every reader can hold, and optional words.

use std::fmt;

use jiff::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::world::WallTime;

pub use crate::text::LARGEST;

/// A time in ISO 8601 and UTC, such as `2026-11-22T00:05:12.345Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonTime(Timestamp);

impl JsonTime {
    /// `None` for an unknown time and for one outside of the calendar.
    pub fn of(time: WallTime) -> Option<Self> {
        let millis = i64::try_from(time.millis()).ok().filter(|_| time.is_known())?;
        Timestamp::from_millisecond(millis).ok().map(Self)
    }

    pub fn wall(self) -> WallTime {
        WallTime::from_millis(u64::try_from(self.0.as_millisecond()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for JsonTime {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        String::deserialize(reader)?.parse().map(Self).map_err(D::Error::custom)
    }
}

impl Serialize for JsonTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.strftime("%FT%T%.3fZ"))
    }
}

/// A number of things; one that is too large for a reader is shown as the largest that is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u64")]
pub struct JsonNumber(u64);

impl JsonNumber {
    pub fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for JsonNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl From<u64> for JsonNumber {
    fn from(number: u64) -> Self {
        Self(number.min(LARGEST))
    }
}

/// `None` for an empty text.
pub fn words(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// For `#[serde(with)]`: null stands for an empty value or 0.
pub mod or_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Default + PartialEq + Serialize, S: Serializer>(
        value: &T,
        writer: S,
    ) -> Result<S::Ok, S::Error> {
        Some(value).filter(|value| **value != T::default()).serialize(writer)
    }

    /// Reads null as the empty value.
    pub fn deserialize<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
        reader: D,
    ) -> Result<T, D::Error> {
        Option::deserialize(reader).map(Option::unwrap_or_default)
    }
}

/// From millionths of a dollar; `None` for 0.
pub fn dollars(micros: u64) -> Option<f64> {
    (micros > 0).then_some(micros as f64 / 1e6)
}

#[cfg(test)]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{JsonNumber, JsonTime, LARGEST};

    impl JsonSchema for JsonTime {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            "JsonTime".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({"type": "string", "format": "date-time"})
        }
    }

    impl JsonSchema for JsonNumber {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            "JsonNumber".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({"type": "integer", "minimum": 0, "maximum": LARGEST})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_utc_or_none() {
        let time = JsonTime::of(WallTime::from_millis(1_795_305_912_007)).unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), "\"2026-11-22T00:05:12.007Z\"");
        for unknown in [0, u64::MAX] {
            assert_eq!(JsonTime::of(WallTime::from_millis(unknown)), None);
        }
    }

    #[test]
    fn numbers_stay_readable() {
        let shown = |number: u64| serde_json::to_string(&JsonNumber::from(number)).unwrap();
        assert_eq!((shown(7), shown(u64::MAX)), ("7".to_owned(), "9007199254740991".to_owned()));
    }
}

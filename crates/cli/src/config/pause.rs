//! Times as people write them: `500ms`, `2s`, `1h`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause(pub(crate) Duration);

impl FromStr for Pause {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed: Option<jiff::SignedDuration> = text.parse().ok();
        let time = parsed.and_then(|time| Duration::try_from(time).ok());
        time.map(Self).ok_or_else(|| "a time is a number and a unit, such as 0s, 30m or 1h".into())
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for Pause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pause {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_and_survives_being_written() {
        for text in ["0ns", "500ms", "2s", "1.5s"] {
            assert_eq!(text.parse::<Pause>().unwrap().to_string(), text);
        }
        assert_eq!("1h".parse::<Pause>().unwrap().0, Duration::from_secs(3600));
        for text in ["", "5", "-1s", "soon"] {
            assert!(text.parse::<Pause>().unwrap_err().contains("such as"), "{text}");
        }
    }
}

//! A limit as people write it: a number, or the word `none`.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use engine::Limits;
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer as _, Visitor};
use serde::{Serialize, Serializer};

use super::Size;

/// The word for no limit, which takes back what a weaker source or the sandbox itself says.
const NONE: &str = "none";

/// A limit that somebody spoke of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ceiling<T> {
    /// There is none.
    Unlimited,
    /// So much and no more.
    At(T),
}

/// What is said of the limits of a tree; what is absent is left as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitWish {
    /// The longest file.
    pub(crate) file_size: Option<Ceiling<Size>>,
    /// All files together.
    pub(crate) total_size: Option<Ceiling<Size>>,
    /// Files and directories together.
    pub(crate) nodes: Option<Ceiling<u64>>,
}

impl LimitWish {
    /// The limits after this wish, where `limits` hold now.
    pub(crate) fn over(self, limits: Limits) -> Limits {
        let size = |wish: Option<Ceiling<Size>>, now| wish.map_or(now, Ceiling::bytes);
        Limits {
            file_size: size(self.file_size, limits.file_size),
            total_size: size(self.total_size, limits.total_size),
            nodes: self.nodes.map_or(limits.nodes, Ceiling::count),
        }
    }
}

impl Ceiling<Size> {
    fn bytes(self) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::At(Size(bytes)) => Some(bytes),
        }
    }
}

impl Ceiling<u64> {
    fn count(self) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::At(count) => Some(count),
        }
    }
}

impl<T: FromStr<Err: fmt::Display>> FromStr for Ceiling<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == NONE {
            return Ok(Self::Unlimited);
        }
        text.parse().map(Self::At).map_err(|err: T::Err| format!("{err}; `none` lifts the limit"))
    }
}

impl<T: Serialize> Serialize for Ceiling<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unlimited => NONE.serialize(serializer),
            Self::At(limit) => limit.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ceiling<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CeilingVisitor(PhantomData))
    }
}

struct CeilingVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for CeilingVisitor<T> {
    type Value = Ceiling<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a limit, or \"none\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if text == NONE {
            return Ok(Ceiling::Unlimited);
        }
        T::deserialize(text.into_deserializer()).map(Ceiling::At)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        T::deserialize(number.into_deserializer()).map(Ceiling::At)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_or_the_word_none() {
        assert_eq!("2k".parse(), Ok(Ceiling::At(Size(2048))));
        assert_eq!("7".parse(), Ok(Ceiling::At(7_u64)));
        assert_eq!("none".parse::<Ceiling<Size>>(), Ok(Ceiling::Unlimited));
        assert!("many".parse::<Ceiling<u64>>().unwrap_err().contains("`none` lifts the limit"));
    }

    #[test]
    fn what_nobody_speaks_of_stays_as_it_is() {
        let limits = Limits { file_size: Some(1), total_size: Some(2), nodes: Some(3) };
        let wish = LimitWish {
            file_size: None,
            total_size: Some(Ceiling::At(Size(20))),
            nodes: Some(Ceiling::Unlimited),
        };
        let expected = Limits { file_size: Some(1), total_size: Some(20), nodes: None };
        assert_eq!(wish.over(limits), expected);
    }
}

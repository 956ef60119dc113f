//! How much a message may hold, looked at before anybody makes values of it.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The most values in one message. Each takes many times the memory of the two bytes that spell it.
const MOST_VALUES: usize = 200_000;

/// Refuses a text that is no JSON, has too many values, or says something twice in one object: which
/// of the two is meant nobody knows, and two readers may not agree.
pub(crate) fn check(text: &[u8]) -> serde_json::Result<()> {
    let left = Cell::new(MOST_VALUES);
    let mut input = serde_json::Deserializer::from_slice(text);
    Glance { left: &left }.deserialize(&mut input)?;
    input.end()
}

/// A value of which nothing is kept.
#[derive(Clone, Copy)]
struct Glance<'a> {
    left: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Glance<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| D::Error::custom("there are too many values"))?);
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Glance<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(Name(name)) = fields.next_key()? {
            fields.next_value_seed(self)?;
            if !names.insert(name) {
                return Err(A::Error::custom("a name is there twice in one object"));
            }
        }
        Ok(())
    }
}

/// A name, which is copied only if it is escaped.
#[derive(PartialEq, Eq, Hash, serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_says_is_let_through() {
        for text in
            [r#"{"id": 1, "params": {"id": [1, -2, 0.5, null, true, "id", {}]}}"#, "[]", " 7 "]
        {
            check(text.as_bytes()).unwrap();
        }
    }

    #[test]
    fn what_is_no_json_or_says_something_twice_is_refused() {
        for text in [
            "",
            "{",
            "{} {}",
            "\u{feff}{}",
            r#"{"a": 1, "a": 1}"#,
            r#"{"b": [{"a": 1, "\u0061": 2}]}"#,
        ] {
            assert!(check(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn many_small_values_and_deep_ones_are_refused() {
        let many = format!("[{}0]", "0,".repeat(MOST_VALUES));
        assert!(check(many.as_bytes()).unwrap_err().to_string().contains("too many"));
        assert!(check("[".repeat(100_000).as_bytes()).is_err());
    }
}

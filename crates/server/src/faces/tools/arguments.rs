//! The arguments of a call, gathered whole and within bounds.

use std::cell::Cell;
use std::fmt;

use axum::body::Body;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::app::App;
use crate::json_body::{expect_json, gather};
use crate::problem::Problem;

/// What there is room for beside the content of a file: steps of a batch and the like.
const ROOM: u64 = 1 << 20;
/// How often the longest file fits: as base64, or as text in which every character is escaped.
const TIMES: u64 = 2;
/// The most values in one call. Each takes many times the memory of the two bytes that spell it.
const MOST_VALUES: usize = 200_000;

/// Reads the arguments of a call, for files of at most so many bytes. No body means no arguments.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    app: &App,
    longest: u64,
) -> Result<Value, Problem> {
    if body.is_end_stream() {
        return Ok(Value::Object(Map::new()));
    }
    expect_json(headers)?;
    let most = longest.saturating_mul(TIMES).saturating_add(ROOM);
    let bytes = gather(body, app, usize::try_from(most).unwrap_or(usize::MAX)).await?;
    if bytes.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    parse(&bytes).map_err(|err| {
        let detail = format!("the arguments are not one JSON object: {err}");
        Problem::unreadable(StatusCode::BAD_REQUEST, detail)
            .hint("send the arguments as one JSON object, such as {\"path\": \"notes.txt\"}")
    })
}

fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    let left = Cell::new(MOST_VALUES);
    let mut input = serde_json::Deserializer::from_slice(bytes);
    let value = Bounded { left: &left, only_object: true }.deserialize(&mut input)?;
    input.end()?;
    Ok(value)
}

/// A value of which there is at most so much, and whose names are told once.
#[derive(Clone, Copy)]
struct Bounded<'a> {
    left: &'a Cell<usize>,
    only_object: bool,
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        let left = self.left.get().checked_sub(1);
        let left = left.ok_or_else(|| D::Error::custom("there are too many values"))?;
        self.left.set(left);
        match self.only_object {
            true => input.deserialize_map(self),
            false => input.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.only_object { "an object" } else { "a value" })
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_f64<E>(self, it: f64) -> Result<Value, E> {
        Ok(Number::from_f64(it).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_string<E>(self, it: String) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.inner())? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let value = fields.next_value_seed(self.inner())?;
            if map.contains_key(&name) {
                // Which one is meant nobody knows, and two readers may not agree.
                return Err(A::Error::custom(format_args!("`{name}` is there twice")));
            }
            map.insert(name, value);
        }
        Ok(map.into())
    }
}

impl Bounded<'_> {
    fn inner(self) -> Self {
        Self { only_object: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_read_as_they_are() {
        let text = r#"{"a": [1, -2, 0.5, null, true, "x"], "b": {"c": {}}}"#;
        let expected = json!({"a": [1, -2, 0.5, null, true, "x"], "b": {"c": {}}});
        assert_eq!(parse(text.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn what_is_no_object_or_more_than_one_is_refused() {
        for text in
            ["[]", "[\"a\"]", "null", "\"x\"", "1", "{} {}", "{", "", "{\"a\"}", "\u{feff}{}"]
        {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_that_is_there_twice_is_refused() {
        let refusal = parse(br#"{"path": "a", "path": "b"}"#).unwrap_err().to_string();
        assert!(refusal.contains("`path` is there twice"), "{refusal}");
    }

    #[test]
    fn many_small_values_and_deep_ones_are_refused() {
        let many = format!("{{\"a\": [{}0]}}", "0,".repeat(MOST_VALUES));
        assert!(parse(many.as_bytes()).unwrap_err().to_string().contains("too many"));
        let deep = format!("{{\"a\": {}", "[".repeat(100_000));
        assert!(parse(deep.as_bytes()).is_err());
    }
}

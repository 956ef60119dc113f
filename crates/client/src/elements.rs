//! The elements of a JSON array, one by one, while its bytes arrive.

use std::fmt;

use serde::de::IgnoredAny;

use crate::arriving::Split;

/// The longest element: an entry with a path of 4,096 bytes, every one escaped, and room to spare.
const LONGEST: usize = 256 << 10;

/// Splits a JSON array into its elements, whatever pieces it arrives in. Holds no more than one
/// element. It finds borders only: whether an element is right is seen when it is parsed.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    state: State,
    /// What must still come before the array, if it is a field of an object.
    lead: &'static [u8],
    /// What came behind such an array; none where nothing may.
    tail: Option<Vec<u8>>,
    element: Vec<u8>,
    /// How many brackets and braces of the element are open.
    depth: usize,
    /// Whether the last byte lies within a string, and whether it was a backslash there.
    string: Quoting,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the bracket that opens the array.
    #[default]
    Closed,
    /// Behind that bracket: an element or the end.
    Opened,
    /// Within an element, or before one that must come.
    Element,
    /// Behind the bracket that closes the array.
    Ended,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Quoting {
    #[default]
    Outside,
    Inside,
    Escaped,
}

/// Why the bytes are no array of elements.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// A byte stands where it cannot.
    Unexpected(u8),
    /// An element is far too long.
    TooLong,
    /// The bytes ended before the array did.
    Unfinished,
}

impl Elements {
    /// The elements of the array that is the first field of an object, which begins with `lead`.
    pub(crate) fn of_field(lead: &'static str) -> Self {
        Self { lead: lead.as_bytes(), tail: Some(Vec::new()), ..Self::default() }
    }

    /// Whether what follows the array makes the object whole.
    fn ends_well(&self) -> bool {
        let Some(tail) = &self.tail else { return true };
        let rest = tail.strip_prefix(b",").unwrap_or(tail);
        serde_json::from_slice::<IgnoredAny>(&[b"{", rest].concat()).is_ok()
    }

    fn take_tail(&mut self, byte: u8) -> Result<bool, Malformed> {
        match &mut self.tail {
            None => Err(Malformed::Unexpected(byte)),
            Some(tail) if tail.len() >= LONGEST => Err(Malformed::TooLong),
            Some(tail) => {
                tail.push(byte);
                Ok(false)
            }
        }
    }
}

impl Split for Elements {
    /// Takes bytes up to the end of the next element, if they reach it. `bytes` keeps the rest.
    fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
        while let Some((byte, rest)) = bytes.split_first() {
            *bytes = rest;
            if self.take(*byte)? {
                return Ok(Some(std::mem::take(&mut self.element)));
            }
        }
        Ok(None)
    }

    fn finish(&self) -> Result<(), Malformed> {
        let is_whole = self.state == State::Ended && self.ends_well();
        if is_whole { Ok(()) } else { Err(Malformed::Unfinished) }
    }
}

impl Elements {
    /// Takes one byte and says whether it ended an element.
    fn take(&mut self, byte: u8) -> Result<bool, Malformed> {
        if let Some((expected, rest)) = self.lead.split_first() {
            self.lead = rest;
            let fits = byte == *expected;
            return if fits { Ok(false) } else { Err(Malformed::Unexpected(byte)) };
        }
        match (self.state, byte) {
            (State::Closed, b'[') => self.state = State::Opened,
            (State::Opened, b']') => self.state = State::Ended,
            (State::Closed | State::Opened | State::Ended, b' ' | b'\t' | b'\r' | b'\n') => {}
            (State::Opened, b',') | (State::Closed, _) => return Err(Malformed::Unexpected(byte)),
            (State::Ended, _) => return self.take_tail(byte),
            (State::Opened, _) => {
                self.state = State::Element;
                return self.take_element(byte);
            }
            (State::Element, _) => return self.take_element(byte),
        }
        Ok(false)
    }

    fn take_element(&mut self, byte: u8) -> Result<bool, Malformed> {
        let outside = self.string == Quoting::Outside;
        if outside && self.depth == 0 && matches!(byte, b',' | b']') {
            return self.end_element(byte);
        }
        self.string = match (self.string, byte) {
            (Quoting::Outside, b'"') | (Quoting::Escaped, _) => Quoting::Inside,
            (Quoting::Outside, _) | (Quoting::Inside, b'"') => Quoting::Outside,
            (Quoting::Inside, b'\\') => Quoting::Escaped,
            (Quoting::Inside, _) => Quoting::Inside,
        };
        match byte {
            b'[' | b'{' if outside => self.depth += 1,
            // A bracket too many at depth 0 ended the element above; a brace is one here.
            b']' | b'}' if outside => {
                self.depth = self.depth.checked_sub(1).ok_or(Malformed::Unexpected(byte))?;
            }
            _ => {}
        }
        if self.element.len() >= LONGEST {
            return Err(Malformed::TooLong);
        }
        self.element.push(byte);
        Ok(false)
    }

    fn end_element(&mut self, byte: u8) -> Result<bool, Malformed> {
        if self.element.iter().all(u8::is_ascii_whitespace) {
            return Err(Malformed::Unexpected(byte));
        }
        if byte == b']' {
            self.state = State::Ended;
        }
        Ok(true)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected(byte) => write!(f, "unexpected `{}`", byte.escape_ascii()),
            Self::TooLong => f.write_str("an element is too long"),
            Self::Unfinished => f.write_str("the array ends early"),
        }
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// The elements of an array that arrives in pieces of these lengths, again and again.
    fn split(text: &[u8], lengths: &[usize]) -> Result<Vec<Value>, Malformed> {
        let (mut elements, mut found, mut rest) = (Elements::default(), Vec::new(), text);
        for length in lengths.iter().cycle() {
            let (mut piece, behind) = rest.split_at(rest.len().min(*length));
            while let Some(element) = elements.next(&mut piece)? {
                found.push(serde_json::from_slice(&element).unwrap());
            }
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        elements.finish().map(|()| found)
    }

    #[test]
    fn an_empty_array_has_no_elements() {
        assert_eq!(split(b"[]", &[1]).unwrap(), Vec::<Value>::new());
        assert_eq!(split(b" [ \n ] ", &[1]).unwrap(), Vec::<Value>::new());
    }

    #[test]
    fn brackets_and_commas_in_strings_are_no_borders() {
        let text = br#"[{"name":"],[\"}","n":[1,[2]]}, "\\", 3]"#;
        let expected = [json!({"name": "],[\"}", "n": [1, [2]]}), json!("\\"), json!(3)];
        assert_eq!(split(text, &[2]).unwrap(), expected);
    }

    #[test]
    fn an_array_that_ends_early_is_unfinished() {
        assert_eq!(split(b"[1,2", &[3]), Err(Malformed::Unfinished));
        assert_eq!(split(b"", &[3]), Err(Malformed::Unfinished));
    }

    #[test]
    fn what_is_no_array_is_refused() {
        for text in ["{}", "[,1]", "[1,,2]", "[1,]", "[1]2", "[}]", "x"] {
            assert!(
                matches!(split(text.as_bytes(), &[1]), Err(Malformed::Unexpected(_))),
                "{text}"
            );
        }
    }

    fn of_field(text: &str) -> Result<usize, Malformed> {
        let (mut elements, mut found) = (Elements::of_field("{\"entries\":"), 0);
        for byte in text.as_bytes() {
            found += usize::from(elements.next(&mut &[*byte][..])?.is_some());
        }
        elements.finish().map(|()| found)
    }

    #[test]
    fn an_array_may_be_the_first_field_of_an_object() {
        assert_eq!(of_field(r#"{"entries":[1,2],"total":2,"next_cursor":"]}"}"#), Ok(2));
        assert_eq!(of_field(r#"{"entries":[]}"#), Ok(0));
    }

    #[test]
    fn an_object_that_ends_early_or_begins_otherwise_is_refused() {
        assert_eq!(of_field(r#"{"entries":[1],"total":1"#), Err(Malformed::Unfinished));
        assert_eq!(of_field(r#"{"entries":[1]"#), Err(Malformed::Unfinished));
        assert_eq!(of_field(r#"{"total":[1]}"#), Err(Malformed::Unexpected(b't')));
    }

    #[test]
    fn an_endless_element_is_refused() {
        let text = [b"[\"".to_vec(), vec![b'x'; LONGEST + 1]].concat();
        assert_eq!(split(&text, &[4096]), Err(Malformed::TooLong));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            r#"[\]\[{}",\\ ]{0,8}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn elements_are_found_whatever_the_pieces(
            values in prop::collection::vec(values(), 0..6),
            lengths in prop::collection::vec(1_usize..9, 1..9),
        ) {
            let text = serde_json::to_vec(&values).unwrap();
            prop_assert_eq!(&split(&text, &lengths).unwrap(), &values);
            let pretty = serde_json::to_vec_pretty(&values).unwrap();
            prop_assert_eq!(&split(&pretty, &lengths).unwrap(), &values);
        }

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let (mut elements, mut rest) = (Elements::default(), &text[..]);
            while let Ok(Some(_)) = elements.next(&mut rest) {}
        }

        #[test]
        fn a_cut_array_is_never_whole(
            values in prop::collection::vec(values(), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let text = serde_json::to_vec(&values).unwrap();
            let text = &text[..cut.index(text.len())];
            let (mut elements, mut rest) = (Elements::default(), text);
            while let Ok(Some(_)) = elements.next(&mut rest) {}
            prop_assert!(elements.finish().is_err());
        }
    }
}

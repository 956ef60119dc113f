//! Names of host files as text, reversibly: no two names look alike, and none is lost.
//!
//! A byte that is not UTF-8 becomes one code point of a reserved range, U+10FE80 to U+10FEFF. A
//! name that really holds a code point of that range has its four bytes escaped the same way, so
//! that decoding what [`to_text`] made always gives the bytes back.

use std::borrow::Cow;

const FIRST: u32 = 0x10_FE80;
const LAST: u32 = 0x10_FEFF;

/// The text that stands for a host name.
pub(crate) fn to_text(name: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(name) {
        Ok(text) if !holds_reserved(text) => Cow::Borrowed(text),
        _ => Cow::Owned(escape(name)),
    }
}

/// The host name that a text stands for.
pub(crate) fn to_bytes(text: &str) -> Cow<'_, [u8]> {
    if !holds_reserved(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match escaped_byte(letter) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// The one spelling of a text that a client may have escaped more than it needs.
pub(crate) fn canonical(text: &str) -> Cow<'_, str> {
    if !holds_reserved(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(to_text(&to_bytes(text)).into_owned())
}

fn escape(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match escaped_byte(letter) {
                Some(_) => letter.encode_utf8(&mut [0; 4]).bytes().for_each(|b| push(&mut text, b)),
                None => text.push(letter),
            }
        }
        chunk.invalid().iter().for_each(|byte| push(&mut text, *byte));
    }
    text
}

fn push(text: &mut String, byte: u8) {
    // Only bytes of 0x80 and above are ever invalid UTF-8 or part of a reserved code point.
    text.extend(char::from_u32(FIRST - 0x80 + u32::from(byte)));
}

fn escaped_byte(letter: char) -> Option<u8> {
    let point = u32::from(letter);
    (FIRST..=LAST).contains(&point).then(|| (point - FIRST + 0x80) as u8)
}

fn holds_reserved(text: &str) -> bool {
    // Every code point of the range starts with these three bytes; few names hold the first.
    text.as_bytes().contains(&0xF4) && text.chars().any(|letter| escaped_byte(letter).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_names_are_shown_as_they_are() {
        assert_eq!(to_text("añ b\n😀".as_bytes()), "añ b\n😀");
    }

    #[test]
    fn two_broken_names_stay_two_names() {
        assert_ne!(to_text(b"a\xff"), to_text(b"a\xfe"));
    }

    #[test]
    fn a_name_that_really_holds_a_reserved_code_point_is_not_confused_with_an_escape() {
        let real = "\u{10FEFF}".as_bytes();
        assert_eq!(&*to_bytes(&to_text(real)), real);
        assert_ne!(to_text(real), to_text(b"\xff"));
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in proptest::collection::vec(any::<u8>(), 0..64)) {
            let text = to_text(&name).into_owned();
            prop_assert_eq!(&*to_bytes(&text), &name[..]);
        }

        #[test]
        fn a_canonical_text_names_what_the_text_named(text in any::<String>()) {
            let once = canonical(&text).into_owned();
            prop_assert_eq!(&*canonical(&once), &once[..]);
            prop_assert_eq!(&*to_bytes(&once), &*to_bytes(&text));
        }
    }
}

//! What a key is called, and who does something.

use std::fmt;

use crate::tree::{Damaged, Input};
use crate::{Error, ErrorKind, Result};

/// How many letters an id has.
pub(super) const LEN: usize = 12;

/// The part of a key that everybody may know: 12 lower-case letters and digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; LEN]);

/// Who does something: the server's own token, or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The token that the server was started with.
    Token,
    /// A key.
    Key(KeyId),
}

impl KeyId {
    /// The id that a text spells.
    pub fn parse(text: &str) -> Result<Self> {
        let id = text.as_bytes().try_into().ok().and_then(Self::of);
        id.ok_or_else(|| {
            let message = "a key id is 12 lower-case letters and digits";
            Error::new(ErrorKind::InvalidArgument, message)
        })
    }

    /// The id with these letters, if it is one.
    pub(super) fn of(letters: [u8; LEN]) -> Option<Self> {
        let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        letters.iter().all(plain).then_some(Self(letters))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        // They are ASCII, which the constructor looked at.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl Actor {
    /// Whether somebody has but a share of what there is for all. Whoever has the server's own token,
    /// or needs none, is the operator, and may have all of it.
    pub fn has_a_share(by: Option<Self>) -> bool {
        matches!(by, Some(Self::Key(_)))
    }

    /// The actor that a text names: a key's id, or `token`.
    pub fn parse(text: &str) -> Result<Self> {
        if text == TOKEN { Ok(Self::Token) } else { KeyId::parse(text).map(Self::Key) }
    }

    /// The actor as text: a key's id, or `token`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Token => TOKEN,
            Self::Key(id) => id.as_str(),
        }
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Token => out.push(0),
            Self::Key(KeyId(letters)) => {
                out.push(1);
                out.extend_from_slice(letters);
            }
        }
    }

    pub(crate) fn read(input: &mut Input) -> Result<Self, Damaged> {
        match input.byte()? {
            0 => Ok(Self::Token),
            1 => KeyId::of(input.array()?).map(Self::Key).ok_or(Damaged("a key id cannot be")),
            _ => Err(Damaged("it was written by a later version")),
        }
    }
}

/// No key id has five letters.
const TOKEN: &str = "token";

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyId").field(&self.as_str()).finish()
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_id_is_twelve_lower_case_letters_and_digits() {
        assert_eq!(KeyId::parse("abc0123456xz").unwrap().as_str(), "abc0123456xz");
        for text in ["", "token", "abc0123456x", "abc0123456xzz", "ABC0123456xz", "abc012345-xz"] {
            assert_eq!(KeyId::parse(text).unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
    }

    #[test]
    fn an_actor_is_read_as_it_is_written() {
        for text in ["token", "abc0123456xz"] {
            assert_eq!(Actor::parse(text).unwrap().as_str(), text);
        }
        assert!(Actor::parse("nobody").is_err());
    }
}

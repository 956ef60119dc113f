//! Values and the tokens that tell one write from another.

use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;

use crate::ObjectKey;

/// An opaque token of one stored value; changes with every write, even of equal bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Bytes);

/// The value of a ref, and the token of the write that put it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ref {
    /// What is stored.
    pub value: Bytes,
    /// Which write stored it.
    pub token: Token,
}

/// What a caller believes about a ref that it wants to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// There is no such ref.
    Absent,
    /// The ref still holds what this write put there.
    Token(Token),
}

/// How a change of a ref ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The ref holds the new value, under this token.
    Won(Token),
    /// The ref was not what the caller believed; it is this.
    Lost(Option<Ref>),
}

/// An object as a listing tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub key: ObjectKey,
    /// Which write stored it.
    pub token: Token,
    /// When it was written.
    pub written: SystemTime,
    /// How many bytes are stored for it.
    pub size: u64,
}

impl Token {
    /// The token that a backend tells by these bytes.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// A token that no write has had before.
    pub(crate) fn random() -> Self {
        let bytes: [u8; 16] = rand::random();
        Self(Bytes::copy_from_slice(&bytes))
    }

    /// The bytes by which the backend tells it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:x})", self.0)
    }
}

impl Expected {
    /// Whether the belief holds for what is there.
    pub fn matches(&self, current: Option<&Ref>) -> bool {
        match (self, current) {
            (Self::Absent, None) => true,
            (Self::Token(token), Some(current)) => *token == current.token,
            (Self::Absent, Some(_)) | (Self::Token(_), None) => false,
        }
    }
}

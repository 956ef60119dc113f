//! What names an object or a ref.

use std::borrow::Borrow;
use std::fmt;

use crate::{Error, ErrorKind, Result};

/// Whose objects are kept together: a sandbox and its forks. 16 random bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain(pub [u8; 16]);

/// The name of an object within its domain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub [u8; 32]);

/// The whole name of an object. Sorts by domain, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Whose object it is.
    pub domain: Domain,
    /// Which of them it is.
    pub id: ObjectId,
}

/// The name of a ref: segments of `[a-z0-9._-]` joined by `/`, at most 512 bytes.
///
/// ```
/// # use sandkeep_storage::RefKey;
/// assert_eq!(RefKey::new("s/demo/root").unwrap().as_str(), "s/demo/root");
/// assert!(RefKey::new("s//root").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefKey(String);

impl Domain {
    /// A domain that nobody has yet.
    pub fn random() -> Self {
        Self(rand::random())
    }
}

impl ObjectKey {
    pub(crate) const LEN: usize = 48;

    /// The key before which no key of the domain sorts, or none at all.
    pub(crate) fn first(domain: Option<Domain>) -> Self {
        Self { domain: domain.unwrap_or(Domain([0; 16])), id: ObjectId([0; 32]) }
    }

    /// Bytes that sort as the keys do.
    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let (domain, id) = bytes.split_at_mut(self.domain.0.len());
        domain.copy_from_slice(&self.domain.0);
        id.copy_from_slice(&self.id.0);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (domain, id) = bytes.split_first_chunk()?;
        Some(Self { domain: Domain(*domain), id: ObjectId(id.try_into().ok()?) })
    }
}

impl RefKey {
    /// How many bytes a key has at most.
    pub const MAX_LEN: usize = 512;

    /// The key, if it is one.
    pub fn new(key: &str) -> Result<Self> {
        if key.len() > Self::MAX_LEN {
            return Err(invalid("the key of a ref has more than 512 bytes"));
        }
        if !key.split('/').all(is_segment) {
            return Err(invalid("the key of a ref is not segments of [a-z0-9._-] joined by '/'"));
        }
        Ok(Self(key.to_owned()))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

// Keys sort as their text does, which lets a map be asked by text.
impl Borrow<str> for RefKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Whether a part of a key is one. `.` and `..` are not, for the sake of stores that keep paths.
fn is_segment(segment: &str) -> bool {
    let is_allowed = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    !matches!(segment, "" | "." | "..") && segment.bytes().all(is_allowed)
}

fn invalid(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidKey, message)
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0)
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.domain, self.id)
    }
}

impl fmt::Display for RefKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_segments_of_plain_letters() {
        for key in ["a", "s/demo/root", "s/demo/snap/v1.0_b-2", "...", &"x".repeat(512)] {
            assert_eq!(RefKey::new(key).unwrap().as_str(), key);
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let too_long = "x".repeat(513);
        for key in
            ["", "/", "/a", "a/", "a//b", ".", "a/../b", "A", "ä", "a b", "a\0", "a\\b", &too_long]
        {
            assert_eq!(RefKey::new(key).unwrap_err().kind(), ErrorKind::InvalidKey, "{key:?}");
        }
    }

    #[test]
    fn ids_read_as_hex() {
        let key = ObjectKey { domain: Domain([0xab; 16]), id: ObjectId([0x01; 32]) };
        assert_eq!(key.to_string(), format!("{}/{}", "ab".repeat(16), "01".repeat(32)));
        assert_eq!(format!("{:?}", key.domain), "ab".repeat(16));
    }

    #[test]
    fn an_object_key_survives_its_bytes() {
        let key = ObjectKey { domain: Domain::random(), id: ObjectId(rand::random()) };
        assert_eq!(ObjectKey::from_bytes(&key.to_bytes()), Some(key));
        assert_eq!(ObjectKey::from_bytes(&key.to_bytes()[1..]), None);
    }

    #[test]
    fn objects_sort_by_domain_then_by_id() {
        let key = |domain, id| ObjectKey { domain: Domain([domain; 16]), id: ObjectId([id; 32]) };
        assert!(key(1, 9) < key(2, 0) && key(2, 0) < key(2, 1));
    }
}

//! What a snapshot is called.

use std::fmt;

use crate::{Error, ErrorKind, Result, UnixTime};

/// 1 to 64 lower-case letters, digits, dots, underscores and hyphens; the first is a letter or
/// digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotId(String);

impl SnapshotId {
    /// The id that a text spells.
    pub fn parse(text: &str) -> Result<Self> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let right = (1..=64).contains(&text.len())
            && text.bytes().all(|byte| plain(byte) || b"._-".contains(&byte))
            && text.bytes().next().is_some_and(plain);
        if right {
            return Ok(Self(text.into()));
        }
        let message = "a snapshot id is 1 to 64 lower-case letters, digits, dots, underscores and hyphens, and begins with a letter or digit";
        Err(Error::new(ErrorKind::InvalidArgument, message))
    }

    /// An id that nobody uses and that sorts by time.
    pub(crate) fn new(now: UnixTime) -> Self {
        let millis = now.seconds.saturating_mul(1000) + i64::from(now.nanoseconds / 1_000_000);
        Self(format!("{millis:013}-{:08x}", rand::random::<u32>()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

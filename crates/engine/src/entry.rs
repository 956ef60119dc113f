//! What is known of a file or directory.

use std::fmt;

use crate::SandboxPath;

/// One file, directory, link or special file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub path: SandboxPath,
    /// What it is.
    pub kind: EntryKind,
    /// Length in bytes; what the host says for a directory or link.
    pub size: u64,
    /// Permission bits, where known.
    pub mode: Option<u32>,
    /// When it was made, where known.
    pub created: Option<UnixTime>,
    /// When its content last changed, where known.
    pub modified: Option<UnixTime>,
    /// A token of its state, where known.
    pub version: Option<Version>,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device node.
    Special,
}

/// Seconds and nanoseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime {
    /// Whole seconds, negative before 1970.
    pub seconds: i64,
    /// The rest, from 0 to 999,999,999.
    pub nanoseconds: u32,
}

impl UnixTime {
    /// The beginning of 1970.
    pub const EPOCH: Self = Self { seconds: 0, nanoseconds: 0 };
}

/// An opaque token of a file's state: equal tokens mean an unchanged file.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version(Token);

/// Most tokens are short, and every look at a file makes one.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Token {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<str>),
}

/// The longest token that needs no memory of its own.
const SHORT: usize = 30;

impl Version {
    /// A version from its token: visible ASCII without quotes.
    pub fn new(token: impl AsRef<str>) -> Self {
        let token = token.as_ref();
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..token.len()) {
            Some(place) => {
                place.copy_from_slice(token.as_bytes());
                Self(Token::Short { len: token.len() as u8, bytes })
            }
            None => Self(Token::Long(token.into())),
        }
    }

    /// A version from a token of digits.
    pub(crate) fn of(digits: [[u8; 8]; 3]) -> Self {
        let mut bytes = [0; SHORT];
        bytes.iter_mut().zip(digits.as_flattened()).for_each(|(place, digit)| *place = *digit);
        Self(Token::Short { len: digits.as_flattened().len() as u8, bytes })
    }

    /// The token.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Token::Short { len, bytes } => {
                let text = bytes.get(..usize::from(*len)).unwrap_or_default();
                std::str::from_utf8(text).unwrap_or_default()
            }
            Token::Long(text) => text,
        }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Version").field(&self.as_str()).finish()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much a tree holds, the root directory included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The lengths of all files, added up.
    pub bytes: u64,
    /// Everything that is not a directory.
    pub files: u64,
    /// Directories, the root among them.
    pub directories: u64,
}

impl Usage {
    /// Files and directories together.
    pub fn nodes(&self) -> u64 {
        self.files + self.directories
    }
}

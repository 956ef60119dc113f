//! Archives, in and out: tar, plain or compressed, and zip.
//!
//! - `pack`, `encode`: a tree becomes the members of an archive, and those its bytes
//! - `feed`, `unpack`, `members`: bytes become members, and those a tree that is not yet seen
//! - `names`: what a member may be called, and where a link may lead
//! - `tar/`, `zip/`: one folder a format

mod encode;
mod feed;
mod format;
mod members;
mod names;
mod pack;
mod tar;
mod unpack;
mod zip;

use std::borrow::Cow;
use std::io;

pub use format::ArchiveFormat;

pub(crate) use feed::{FeedReader, drive, feed};
pub(crate) use members::{Gauge, Members};
pub(crate) use pack::pack;
pub(crate) use unpack::unpack;

use crate::{Error, ErrorKind, Result, SandboxPath};

/// How much one archive may hold; what is absent is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// The content of all members, added up.
    pub bytes: Option<u64>,
    /// Members.
    pub entries: Option<u64>,
    /// Names in a member's path.
    pub depth: Option<u64>,
}

impl ArchiveLimits {
    /// Refuses an archive that holds so much.
    pub(crate) fn check(&self, bytes: u64, entries: u64, depth: u64) -> Result<()> {
        let limits = [
            (bytes, self.bytes, "bytes"),
            (entries, self.entries, "entries"),
            (depth, self.depth, "levels"),
        ];
        for (held, limit, what) in limits {
            if let Some(most) = limit.filter(|most| held > *most) {
                let message = format!("the archive holds more than {most} {what}");
                return Err(Error::new(ErrorKind::LimitExceeded, message));
            }
        }
        Ok(())
    }

    /// Whether there is any limit.
    pub(crate) fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// What an archive put in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// Where the members are, in the archive's order: the first 1,024 of them.
    pub paths: Vec<SandboxPath>,
    /// How many members there were.
    pub entries: u64,
}

fn bad(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::BadArchive, message)
}

/// What a failed read of the archive means: the body broke off, or it is no archive.
pub(crate) fn broken(err: io::Error) -> Error {
    match err.downcast::<Error>() {
        Ok(err) => err,
        Err(err) => bad("the archive is broken or cut off").because(err),
    }
}

//! Tar archives, in and out.

mod feed;
mod member;
mod pack;
mod unpack;

pub(crate) use feed::{FeedReader, drive, feed};
pub(crate) use pack::pack;
pub(crate) use unpack::{Members, broken, unpack};

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

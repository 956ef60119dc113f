//! Tar archives, in and out.

use crate::SandboxPath;

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

/// What an archive put in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// Where the members are, in the archive's order: the first 1,024 of them.
    pub paths: Vec<SandboxPath>,
    /// How many members there were.
    pub entries: u64,
}

//! How much a sandbox may hold.

/// Limits of one tree; what is absent is unlimited. A value equal to its limit is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The longest file, in bytes.
    pub file_size: Option<u64>,
    /// The lengths of all files, added up.
    pub total_size: Option<u64>,
    /// Files and directories, the root included.
    pub nodes: Option<u64>,
}

//! What is to be replaced, and what came of it.

use crate::{Encoding, Entry, If};

/// What is to be replaced in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced, in order: each in the outcome of the ones before.
    pub replacements: Vec<Replacement>,
    /// Whether the file stays as it is, and only the outcome is told.
    pub dry_run: bool,
    /// What the caller believes about the file.
    pub expected: If,
    /// How the bytes stand for text. Without it the byte order mark says so; UTF-8 if there is
    /// none.
    pub encoding: Option<Encoding>,
    /// How much may be edited and told.
    pub limits: EditLimits,
}

/// A text that another one takes the place of.
///
/// Every `\n` stands for the end of a line. In a file, or a part of one, whose lines end with
/// `\r\n` it means that in both texts. An `old` that itself holds a `\r` means exactly its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What is looked for. What overlaps counts once, from the beginning of the file.
    pub old: String,
    /// What takes its place.
    pub new: String,
    /// How often `old` must be there.
    pub count: ExpectedCount,
}

/// How often a text must be in a file to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedCount {
    /// So often, no more and no less.
    Exactly(u64),
    /// At least once; every one is replaced.
    All,
}

impl Default for ExpectedCount {
    fn default() -> Self {
        Self::Exactly(1)
    }
}

/// How much may be edited and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditLimits {
    /// How many bytes the file may have, before and after; at most [`EditLimits::MOST_BYTES`].
    pub file: u64,
    /// How many bytes of differences are told.
    pub diff: usize,
}

impl EditLimits {
    /// The largest file that is edited: it is held in memory, with where its letters begin.
    pub const MOST_BYTES: u64 = 1 << 30;
    /// The most replacements of one edit: each is a pass over the file.
    pub const MOST_REPLACEMENTS: usize = 1000;
}

impl Default for EditLimits {
    fn default() -> Self {
        Self { file: 16 << 20, diff: 64 << 10 }
    }
}

/// What an edit did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The file as it is now: unchanged after a dry run.
    pub entry: Entry,
    /// How often each replacement was made.
    pub replaced: Vec<u64>,
    /// The differences as a unified diff with three lines of context; empty if there are none.
    pub diff: String,
    /// Whether more differs than the diff tells. Its last line then says so.
    pub is_cut: bool,
}

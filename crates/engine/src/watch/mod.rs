//! What happens in a tree, told while it happens. docs/decisions/0014 has the reasons.

mod cursor;
mod ring;

use std::fmt;

use futures::stream::BoxStream;

pub use self::cursor::Cursor;
pub(crate) use self::cursor::{Mark, StateMark};
pub(crate) use self::ring::{Reader, Ring};
use crate::{EntryKind, Error, ErrorKind, SandboxPath};

/// How many streams may watch one tree at a time.
pub(crate) const MOST_STREAMS: usize = 256;

/// Notices as things happen. An error ends it.
pub type NoticeStream = BoxStream<'static, crate::Result<Notice>>;

/// What is to be watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Whether everything beneath the directory is meant, or only its own names.
    pub recursive: bool,
    /// Begin behind what a notice with this cursor told; without it, begin now.
    pub after: Option<Cursor>,
}

/// Something that happened.
///
/// Each notice says what is at a path, so that they can be applied to a listing that is younger than
/// they are. Whoever lists the tree after the first notice, or after a resync, and then applies all
/// others in their order, has the tree as it is as soon as he heard of everything. A change may be
/// told twice, and several changes as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where to go on after this notice.
    pub cursor: Cursor,
    /// What happened.
    pub kind: NoticeKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// Nothing; all that happened until now was told. It is the first notice unless that is a
    /// resync, and comes again when the tree has changed elsewhere, to give a younger cursor.
    Here,
    /// Something is there that may not have been. What is beneath a directory is told, too.
    Created {
        /// Where.
        path: SandboxPath,
        /// What it is, unless it is gone already.
        entry: Option<EntryKind>,
    },
    /// The content, mode or time of something is another.
    Modified {
        /// Where.
        path: SandboxPath,
        /// What it is, unless it is gone already.
        entry: Option<EntryKind>,
    },
    /// Something is gone, with everything that was beneath it.
    Removed {
        /// Where it was.
        path: SandboxPath,
        /// What it was, where that is still known.
        entry: Option<EntryKind>,
    },
    /// Something has another path. What was there is gone, and so is everything at the old path
    /// and beneath it. What is beneath a directory is told at its new path, as if it were new: a
    /// listing of a moment ago may have shown something else under either path.
    Renamed {
        /// Where it was.
        from: SandboxPath,
        /// Where it is.
        path: SandboxPath,
        /// What it is, unless it is gone already.
        entry: Option<EntryKind>,
    },
    /// Nobody knows what happened: the tree must be listed anew. What happens from now on is told.
    Resync {
        /// Why that is not known.
        why: Loss,
    },
}

/// Why it is not known what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The cursor is of another watch, or of one that is forgotten.
    UnknownCursor,
    /// More happened than is remembered.
    TooSlow,
    /// More happened at once than the machine could tell.
    Overflow,
    /// The directory is another one now, or things moved too fast to be followed.
    Confused,
}

impl Loss {
    /// The loss in one word, for those who speak to machines.
    pub fn word(self) -> &'static str {
        match self {
            Self::UnknownCursor => "unknown_cursor",
            Self::TooSlow => "too_slow",
            Self::Overflow => "overflow",
            Self::Confused => "confused",
        }
    }

    /// The loss that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::UnknownCursor, Self::TooSlow, Self::Overflow, Self::Confused];
        all.into_iter().find(|loss| loss.word() == word)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownCursor => "what was told before is not remembered",
            Self::TooSlow => "more happened than is remembered",
            Self::Overflow => "more happened at once than the machine could tell",
            Self::Confused => "things moved too fast to be followed",
        })
    }
}

/// A tree that is watched as often as it may be.
pub(crate) fn too_many() -> Error {
    Error::new(ErrorKind::LimitExceeded, "the sandbox is watched too often at a time")
}

/// The end of a watch whose directory went.
pub(crate) fn gone(dir: &SandboxPath) -> Error {
    Error::new(ErrorKind::NotFound, "the watched directory is gone").on(dir)
}

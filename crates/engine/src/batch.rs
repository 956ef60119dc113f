//! Many changes as one.

use bytes::Bytes;

use crate::{Depth, If, MetadataChange, Parents, SandboxPath, Target, WriteMode};

/// One step of a batch. All steps happen, in order, or none does; nobody sees a state between.
#[derive(Clone, Debug)]
pub enum Step {
    /// Puts a whole file in place, appends to one, or writes a part of it.
    Write {
        /// The file.
        file: SandboxPath,
        /// The bytes.
        content: Bytes,
        /// How what is there is treated.
        mode: WriteMode,
        /// Whether missing directories are made.
        parents: Parents,
        /// What the caller believes about the file.
        expected: If,
    },
    /// Makes a directory.
    CreateDir {
        /// The directory.
        dir: SandboxPath,
        /// Whether missing directories are made, and an existing one is a success.
        parents: Parents,
    },
    /// Makes a symbolic link.
    Symlink {
        /// The link.
        link: SandboxPath,
        /// What it holds.
        target: String,
    },
    /// Removes a file, a link itself, or a directory.
    Remove {
        /// What goes.
        path: SandboxPath,
        /// How much may go.
        depth: Depth,
        /// What the caller believes about it.
        expected: If,
    },
    /// Moves anything.
    Rename {
        /// Where it is.
        from: SandboxPath,
        /// Where it goes.
        to: SandboxPath,
        /// What may be there.
        target: Target,
    },
    /// Copies anything.
    Copy {
        /// What is copied.
        from: SandboxPath,
        /// Where the copy goes.
        to: SandboxPath,
        /// What may be there.
        target: Target,
    },
    /// Changes the mode or the time of a file or directory.
    SetMetadata {
        /// Of what.
        path: SandboxPath,
        /// To what.
        change: MetadataChange,
    },
    /// Changes nothing; fails when what is there is not as expected.
    Check {
        /// What is looked at, links followed.
        path: SandboxPath,
        /// What the caller believes about it.
        expected: If,
    },
}

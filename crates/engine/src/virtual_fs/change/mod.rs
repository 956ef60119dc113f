//! Changes of a tree, as a caller means them: they can be applied again to another state of it.

mod applied;
mod metadata;
mod names;
mod refusal;
mod relocate;
mod trees;
mod write;

use std::sync::Arc;

use crate::tree::{Draft, Extent, FEW, Node, Stop};
use crate::{
    Depth, Error, ErrorKind, If, Limits, MetadataChange, Parents, SandboxPath, Step, Target,
    WriteMode,
};

pub(crate) use self::applied::{Applied, Fate};
pub(super) use self::refusal::{
    check_file_size, check_growth, check_limits, is_a_directory, not_a_directory, not_found, on,
};
pub(crate) use self::relocate::Leave;
use self::relocate::relocate;
pub(super) use self::write::create_in_place;
use super::body::cut;
use super::handles::{At, Place};

/// One change of a tree.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Write {
        file: SandboxPath,
        content: Arc<[Extent]>,
        mode: WriteMode,
        parents: Parents,
        expected: If,
    },
    CreateDir {
        dir: SandboxPath,
        parents: Parents,
    },
    Symlink {
        link: SandboxPath,
        target: Arc<str>,
    },
    Remove {
        path: SandboxPath,
        depth: Depth,
        expected: If,
    },
    Rename {
        from: SandboxPath,
        to: SandboxPath,
        target: Target,
    },
    Copy {
        from: SandboxPath,
        to: SandboxPath,
        target: Target,
    },
    SetMetadata {
        path: SandboxPath,
        change: MetadataChange,
    },
    /// Nothing but a look: what is there must be as expected.
    Check {
        path: SandboxPath,
        expected: If,
    },
    /// Cuts a file or lengthens it with zeros.
    SetLen {
        file: SandboxPath,
        len: u64,
    },
    /// Pours a tree of new files into a directory, which is made.
    Graft {
        dir: SandboxPath,
        tree: Node,
    },
    /// Puts a node of another state of the tree at a path, or takes away what is there.
    Restore {
        path: SandboxPath,
        node: Option<Node>,
    },
    /// What the tree may hold from now on.
    SetLimits(Limits),
    /// A change of an open file, if it is still where the change believes it to be.
    Through {
        place: Arc<Place>,
        change: Box<Self>,
    },
    /// A change that may not lead out of a part of the tree.
    Within {
        floor: SandboxPath,
        change: Box<Self>,
    },
}

impl Change {
    /// The same change, confined to a part of the tree.
    pub(crate) fn within(self, floor: &SandboxPath) -> Self {
        if floor.is_root() {
            return self;
        }
        Self::Within { floor: floor.clone(), change: Box::new(self) }
    }

    /// What an error is about that says nothing closer.
    pub(super) fn path(&self) -> Option<&SandboxPath> {
        match self {
            Self::Write { file: path, .. }
            | Self::CreateDir { dir: path, .. }
            | Self::Symlink { link: path, .. }
            | Self::Remove { path, .. }
            | Self::Rename { from: path, .. }
            | Self::Copy { from: path, .. }
            | Self::SetMetadata { path, .. }
            | Self::Check { path, .. }
            | Self::SetLen { file: path, .. }
            | Self::Graft { dir: path, .. }
            | Self::Restore { path, .. } => Some(path),
            Self::SetLimits(_) | Self::Through { .. } => None,
            Self::Within { change, .. } => change.path(),
        }
    }

    /// The file that a change of one file is about.
    fn file(&self) -> Option<&SandboxPath> {
        if let Self::Write { file, .. } | Self::SetLen { file, .. } = self {
            return Some(file);
        }
        None
    }

    /// Whether this may be a new file that is quickly made.
    pub(super) fn is_small_new_file(&self) -> bool {
        if let Self::Within { change, .. } = self {
            return change.is_small_new_file();
        }
        let Self::Write { content, mode, expected: If::Always | If::Missing, .. } = self else {
            return false;
        };
        matches!(mode, WriteMode::Replace | WriteMode::CreateNew) && content.len() <= FEW
    }

    pub(super) fn is_through_handle(&self) -> bool {
        matches!(self, Self::Through { .. })
    }

    /// Whether open files may be elsewhere afterwards.
    pub(super) fn moves_names(&self) -> bool {
        match self {
            Self::Write { mode, .. } => matches!(mode, WriteMode::Replace | WriteMode::CreateNew),
            Self::Remove { .. }
            | Self::Rename { .. }
            | Self::Copy { .. }
            | Self::Graft { .. }
            | Self::Restore { .. } => true,
            Self::CreateDir { .. }
            | Self::Symlink { .. }
            | Self::SetMetadata { .. }
            | Self::Check { .. }
            | Self::SetLen { .. }
            | Self::SetLimits(_)
            | Self::Through { .. } => false,
            Self::Within { change, .. } => change.moves_names(),
        }
    }
}

impl From<Step> for Change {
    fn from(step: Step) -> Self {
        match step {
            Step::Write { file, content, mode, parents, expected } => {
                let content = cut(content).into();
                Self::Write { file, content, mode, parents, expected }
            }
            Step::CreateDir { dir, parents } => Self::CreateDir { dir, parents },
            Step::Symlink { link, target } => Self::Symlink { link, target: target.into() },
            Step::Remove { path, depth, expected } => Self::Remove { path, depth, expected },
            Step::Rename { from, to, target } => Self::Rename { from, to, target },
            Step::Copy { from, to, target } => Self::Copy { from, to, target },
            Step::SetMetadata { path, change } => Self::SetMetadata { path, change },
            Step::Check { path, expected } => Self::Check { path, expected },
        }
    }
}

/// Applies a change to a draft. Of the limits only the longest file is looked at: what the tree
/// holds in the end counts, not what it holds between the changes of a batch.
pub(crate) fn apply(
    draft: &mut Draft<'_>,
    change: &Change,
    limits: &Limits,
) -> Result<Applied, Stop> {
    let before = draft.root.clone();
    let mut applied = match change {
        Change::Write { file, content, mode, parents, expected } => {
            write::write(draft, file, content, (*mode, *parents), expected, limits)?
        }
        Change::CreateDir { dir, parents } => names::create_dir(draft, dir, *parents)?,
        Change::Symlink { link, target } => names::symlink(draft, link, target)?,
        Change::Remove { path, depth, expected } => names::remove(draft, path, *depth, expected)?,
        Change::Rename { from, to, target } => relocate(draft, from, to, *target, Leave::Nothing)?,
        Change::Copy { from, to, target } => relocate(draft, from, to, *target, Leave::Source)?,
        Change::SetMetadata { path, change } => metadata::set_metadata(draft, path, *change)?,
        Change::Check { path, expected } => metadata::check(draft, path, expected)?,
        Change::SetLen { file, len } => write::set_len(draft, file, *len, limits)?,
        Change::Graft { dir, tree } => trees::graft(draft, dir, tree)?,
        Change::Restore { path, node } => trees::restore(draft, path, node.as_ref())?,
        Change::SetLimits(_) => Applied::nothing(),
        Change::Through { place, change } => {
            let is_there =
                matches!((place.at(), change.file()), (At::Path(at), Some(path)) if at == *path);
            if !is_there {
                return Err(Error::new(ErrorKind::Busy, "the open file moved").into());
            }
            return apply(draft, change, limits);
        }
        Change::Within { floor, change } => {
            let above = std::mem::replace(&mut draft.floor, floor.clone());
            let outcome = apply(draft, change, limits);
            draft.floor = above;
            return outcome;
        }
    };
    if applied.fate.is_some() {
        applied.trees = Some(Box::new((before, draft.root.clone())));
    }
    Ok(applied)
}

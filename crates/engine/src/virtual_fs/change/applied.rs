//! What a change did, and what became of names.

use crate::tree::Node;
use crate::{Entry, Made, Result, SandboxPath, Written};

use super::super::entry::entry;
use super::refusal::not_found;
use super::relocate::Leave;

/// What a change did.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    /// What is at the path now; none after a removal.
    pub(crate) entry: Option<Entry>,
    pub(crate) created: bool,
    /// What became of names, for those who hold files open.
    pub(crate) fate: Option<Fate>,
    /// The root directory before and after, if there is a fate.
    pub(crate) trees: Option<Box<(Node, Node)>>,
}

/// What became of a name and everything beneath it. Paths are free of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stands for something else now, or for nothing.
    Gone(SandboxPath),
    /// It has another name now.
    Moved { from: SandboxPath, to: SandboxPath },
    /// It was poured over another name, and is still where it was if it was copied.
    Poured { from: SandboxPath, to: SandboxPath, leave: Leave },
    /// Parts of it may have either fate.
    Unknown(SandboxPath),
}

impl Applied {
    pub(super) fn at(path: &SandboxPath, node: &Node) -> Self {
        Self { entry: Some(entry(path.clone(), node)), ..Self::nothing() }
    }

    /// A change that leaves nothing to tell of.
    pub(super) fn nothing() -> Self {
        Self { entry: None, created: false, fate: None, trees: None }
    }

    /// What somebody else did to a tree, which nobody tells.
    pub(in crate::virtual_fs) fn by_others(before: Node, after: Node) -> Self {
        let fate = Some(Fate::Unknown(SandboxPath::root()));
        Self { fate, trees: Some(Box::new((before, after))), ..Self::nothing() }
    }

    /// The answer to a write.
    pub(crate) fn written(self, bytes: u64) -> Result<Written> {
        let (created, entry) = (self.created, self.entry()?);
        Ok(Written { entry, bytes, created, in_place: false })
    }

    /// The answer to making a directory.
    pub(crate) fn made(self) -> Result<Made> {
        let (created, entry) = (self.created, self.entry()?);
        Ok(Made { entry, created })
    }

    /// The entry that the change left.
    pub(crate) fn entry(self) -> Result<Entry> {
        self.entry.ok_or_else(not_found)
    }
}

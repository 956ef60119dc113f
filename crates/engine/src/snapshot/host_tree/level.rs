//! A directory that is being scanned, beside what the index knows of it.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use crate::host_fs::{Meaning as _, unix_time};
use crate::tree::{Body, Cursor, Directory, Item, Name, Node, Stamp};
use crate::{Result, name};

use super::keeper::Keeper;
use super::known_names::{KnownNames, is_odd};

/// A directory on the way from the root to where the scan is.
pub(super) struct Level {
    pub(super) name: Name,
    stat: host::Stat,
    /// What the index has here.
    known: Option<Arc<Item>>,
    known_names: KnownNames,
    /// The directory as it is put together: what the index has, with what changed.
    pub(super) held: Directory,
    names: Option<host::Names>,
    /// Which of them is next.
    position: usize,
    last: Option<OsString>,
}

/// A name in the directory, and what the index has under it.
pub(super) struct Found {
    pub(super) name: OsString,
    pub(super) text: Name,
    pub(super) known: Option<Arc<Item>>,
}

impl Level {
    pub(super) fn new(name: Name, stat: host::Stat, known: Option<Arc<Item>>) -> Self {
        let held = known.as_ref().and_then(|item| item.node.directory()).cloned();
        let held = held.unwrap_or_default();
        let known_names = KnownNames::of(held.clone());
        let (names, position, last) = (None, 0, None);
        Self { name, stat, known, known_names, held, names, position, last }
    }

    /// The next name in the directory. What the index has before it is gone, and forgotten.
    pub(super) fn next(
        &mut self,
        dir: &host::Listing,
        keeper: &mut Keeper,
    ) -> Result<Option<Found>> {
        let Some(name) = self.next_name(dir)? else {
            self.forget_rest(dir, keeper)?;
            return Ok(None);
        };
        let text: Name = name::to_text(name.as_bytes()).into();
        if !is_odd(&name, &text) {
            while let Some(gone) = self.known_names.before(&text, &keeper.reader)? {
                self.held = keeper.without(&self.held, &gone.name)?;
            }
        }
        let known = self.known_names.pass_to(&name, &text, &keeper.reader)?;
        Ok(Some(Found { name, text, known }))
    }

    /// How much memory it takes to go on where it is.
    pub(super) fn size(&self) -> usize {
        let names = self.names.as_ref().map_or(0, host::Names::size);
        names + self.known_names.size()
    }

    /// Lets go of that memory. The directory is listed again when its turn comes.
    pub(super) fn shrink(&mut self) {
        self.names = None;
        self.known_names.shrink();
    }

    /// The directory as a node, and whether it is what the index has.
    pub(super) fn close(self, stamp: Stamp) -> (Node, bool) {
        let node = node(&self.stat, stamp, Body::Directory(Box::new(self.held)));
        let is_known = self.known.is_some_and(|known| is_same(&known.node, &node));
        (node, is_known)
    }

    pub(super) fn stat(&self) -> &host::Stat {
        &self.stat
    }

    fn next_name(&mut self, dir: &host::Listing) -> Result<Option<OsString>> {
        loop {
            if let Some(names) = &self.names {
                if let Some(name) = names.nth(self.position) {
                    self.position += 1;
                    let name = name.to_owned();
                    self.last = Some(name.clone());
                    return Ok(Some(name));
                }
                if !names.more {
                    return Ok(None);
                }
            }
            self.names = Some(dir.names(self.last.as_deref(), usize::MAX).meaning()?);
            self.position = 0;
        }
    }

    /// Forgets what the index has behind the last name, and what it has under names that sort
    /// otherwise here than there, if they are gone.
    fn forget_rest(&mut self, dir: &host::Listing, keeper: &mut Keeper) -> Result<()> {
        while let Some(gone) = self.known_names.rest(&keeper.reader)? {
            self.held = keeper.without(&self.held, &gone.name)?;
        }
        if !self.known_names.has_odd {
            return Ok(());
        }
        let mut cursor = Cursor::after(&self.known_names.dir, None);
        while let Some(item) = keeper.reader.next(&mut cursor)? {
            if let Cow::Owned(odd) = name::to_bytes(&item.name)
                && dir.stat(OsStr::from_bytes(&odd)).meaning()?.is_none()
            {
                self.held = keeper.without(&self.held, &item.name)?;
            }
        }
        Ok(())
    }
}

/// The node of a host file.
pub(super) fn node(stat: &host::Stat, stamp: Stamp, body: Body) -> Node {
    let created = unix_time(stat.created.unwrap_or(stat.modified));
    let mode = (stat.mode & 0o777) as u16;
    Node { mode, created, modified: unix_time(stat.modified), stamp, body }
}

/// Whether two directories hold the same pages and look the same.
fn is_same(one: &Node, other: &Node) -> bool {
    let looks = |node: &Node| (node.mode, node.created, node.modified);
    let same_names = match (one.directory(), other.directory()) {
        (Some(one), Some(other)) => match (&one.top, &other.top) {
            (Some(one), Some(other)) => one.is_same(other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        },
        (Some(_) | None, _) => false,
    };
    same_names && looks(one) == looks(other)
}

//! What happens beneath a watched directory, told in the tree's own paths.
//!
//! What cannot be followed with certainty is not guessed: the scene is then set up anew, and those
//! who watch are told to look for themselves.
//!
//! - `growth`: directories are watched, and what is in them is found
//! - `events`: what the kernel told, one after the other

mod events;
mod growth;

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::Key;
use super::lane::Lane;
use super::nodes::{NodeId, Nodes};
use super::places::Places;
use super::post::Post;
use super::writing::Writing;
use crate::watch::Ring;
use crate::{Error, Loss, NoticeKind, SandboxPath, name};

/// How many notices are gathered before they are handed on.
const AT_ONCE: usize = 1024;
/// How long the kernel may take to tell where a directory went.
const ASTRAY: Duration = Duration::from_millis(250);

/// What is known of a watched directory and of all beneath it.
#[derive(Debug)]
pub(super) struct Scene {
    dir: SandboxPath,
    recursive: bool,
    /// Whether everything was set up once.
    is_standing: bool,
    nodes: Nodes,
    /// Directories that were not where they should be, and since when: they moved, which will be
    /// told.
    astray: HashMap<NodeId, Instant>,
    /// Names that went and may arrive elsewhere, and such that must be looked at later.
    moving: Vec<Moving>,
    writing: Writing,
    told: Vec<NoticeKind>,
}

/// A name in a directory.
type Spot = (NodeId, OsString);

#[derive(Debug)]
struct Moving {
    /// What the place has in common at which it arrives; none if it is known where that is.
    cookie: Option<u32>,
    from: Spot,
    is_dir: bool,
    since: Instant,
}

/// Where a scene is set.
pub(super) struct Stage<'a> {
    pub(super) root: &'a host::Dir,
    pub(super) places: &'a Arc<Places>,
    pub(super) lane: &'a Lane,
    pub(super) post: &'a Weak<Post>,
    pub(super) ring: &'a Ring,
}

/// Why a scene cannot go on as it is.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It must be set up anew.
    Lost(Loss),
    /// It is over.
    Over(Error),
}

/// Whether what is found is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    Quiet,
    Aloud,
}

impl Scene {
    pub(super) fn new(key: &Key) -> Self {
        Self::of(key.dir.clone(), key.recursive)
    }

    fn of(dir: SandboxPath, recursive: bool) -> Self {
        Self {
            dir,
            recursive,
            is_standing: false,
            nodes: Nodes::behind(0),
            astray: HashMap::new(),
            moving: Vec::new(),
            writing: Writing::default(),
            told: Vec::new(),
        }
    }

    /// Forgets everything; gives the watches that there are.
    pub(super) fn leave(&mut self) -> Vec<host::Watch> {
        let watches = self.nodes.remove(self.nodes.top());
        // Events that are still on their way must not be taken for those of new directories.
        let (is_standing, nodes) = (self.is_standing, Nodes::behind(self.nodes.last()));
        *self = Self { is_standing, nodes, ..Self::of(self.dir.clone(), self.recursive) };
        watches
    }

    /// Sets everything up: from here on, whatever happens will be told.
    pub(super) fn stand(&mut self, stage: &Stage<'_>) -> Result<(), Trouble> {
        stage.lane.remove(stage.post.as_ptr(), self.leave());
        self.grow(stage, self.nodes.top(), Voice::Quiet)?;
        self.is_standing = true;
        Ok(())
    }

    /// Whether something is to be told later.
    pub(super) fn is_restless(&self) -> bool {
        !self.moving.is_empty() || !self.writing.is_empty() || !self.astray.is_empty()
    }

    /// Hands on what was told.
    pub(super) fn flush(&mut self, stage: &Stage<'_>) {
        if !self.told.is_empty() {
            stage.ring.tell(self.told.drain(..));
        }
    }

    fn tell(&mut self, stage: &Stage<'_>, notice: NoticeKind) {
        self.told.push(notice);
        if self.told.len() >= AT_ONCE {
            self.flush(stage);
        }
    }

    /// The path of a directory.
    fn path(&self, node: NodeId) -> SandboxPath {
        let beneath = self.nodes.path(node);
        let names = beneath.as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        names.fold(self.dir.clone(), |path, name| path.child(&name::to_text(name)))
    }

    /// The path of a name in a directory.
    fn path_of(&self, dir: NodeId, name: &OsStr) -> SandboxPath {
        self.path(dir).child(&name::to_text(name.as_bytes()))
    }
}

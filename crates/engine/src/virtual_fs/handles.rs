//! Open files, and what becomes of them when names move or go.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use crate::tree::{Body, End, Extent, File, Need, Node, Source, Stop, resolve};
use crate::{
    Create, Entry, Error, ErrorKind, If, Links, OpenFile, OpenOptions, Parents, Part, Result,
    SandboxPath, WriteMode,
};

use super::VirtualFs;
use super::change::{Applied, Change, Fate, Leave, check_growth, is_a_directory, not_found};
use super::entry::entry;
use super::root::Root;
use super::trunk::{State, Trunk};

/// The most that one read gives.
const MOST: u64 = 4 << 20;

/// The files of a tree that somebody has open.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    /// Held while a state becomes the current one, so that whoever holds it sees a state and where
    /// the open files are in it.
    open: Mutex<Vec<Weak<Place>>>,
}

/// Where an open file is.
#[derive(Debug)]
pub(crate) struct Place {
    at: Mutex<At>,
}

#[derive(Clone, Debug)]
pub(crate) enum At {
    /// At a path that is free of links.
    Path(SandboxPath),
    /// Nowhere: its name is gone, or stands for something else.
    Nowhere(Arc<Orphan>),
}

/// A file without a name, for as long as somebody has it open.
#[derive(Debug)]
pub(crate) struct Orphan {
    /// As it was when it had one. What a store has of the file is in here; changes only add what
    /// no store has.
    first: Node,
    /// As it is now. Held while it is changed.
    now: AsyncMutex<Node>,
}

impl Orphan {
    fn new(node: Node) -> Arc<Self> {
        Arc::new(Self { first: node.clone(), now: AsyncMutex::new(node) })
    }
}

impl Place {
    fn new(at: At) -> Arc<Self> {
        Arc::new(Self { at: Mutex::new(at) })
    }

    pub(crate) fn at(&self) -> At {
        self.at.lock().clone()
    }
}

impl Trunk {
    /// Makes a state the current one. Open files follow what became of their names.
    pub(super) fn publish(
        &self,
        new: &Arc<State>,
        applied: &[Applied],
        source: &dyn Source,
    ) -> Result<(), Need> {
        let open = self.handles.open.lock();
        let mut moved: Vec<(Arc<Place>, At)> = Vec::new();
        if applied.iter().any(|applied| applied.fate.is_some()) {
            let places = open.iter().filter_map(Weak::upgrade);
            moved.extend(places.map(|place| (Arc::clone(&place), place.at())));
            applied.iter().try_for_each(|applied| settle(&mut moved, applied, source))?;
        }
        for (place, at) in moved {
            *place.at.lock() = at;
        }
        let old = self.state.replace(Arc::clone(new));
        drop(open);
        drop(old);
        self.watching.note();
        Ok(())
    }

    /// Where an open file is, and the state in which it is there.
    fn look(&self, place: &Place) -> (At, Arc<State>) {
        let open = self.handles.open.lock();
        let seen = (place.at(), self.state());
        drop(open);
        seen
    }

    /// A file that is at a path in a state, held open; none if the state is not the current one.
    fn hold(&self, state: &Arc<State>, path: SandboxPath) -> Option<Arc<Place>> {
        let mut open = self.handles.open.lock();
        if !Arc::ptr_eq(state, &self.state()) {
            return None;
        }
        Some(noted(&mut open, At::Path(path)))
    }

    /// A file of a state that does not change, held open.
    fn hold_orphan(&self, node: Node) -> Arc<Place> {
        noted(&mut self.handles.open.lock(), At::Nowhere(Orphan::new(node)))
    }

    /// The files without a name that somebody has open, as far as a store has them.
    pub(super) fn orphans(&self) -> Vec<Node> {
        let open = self.handles.open.lock();
        let places = open.iter().filter_map(Weak::upgrade).map(|place| place.at());
        let orphans = places.filter_map(|at| match at {
            At::Path(_) => None,
            At::Nowhere(orphan) => Some(orphan.first.clone()),
        });
        orphans.collect()
    }
}

fn noted(open: &mut Vec<Weak<Place>>, at: At) -> Arc<Place> {
    if open.len() == open.capacity() {
        open.retain(|place| place.strong_count() > 0);
    }
    let place = Place::new(at);
    open.push(Arc::downgrade(&place));
    place
}

/// Lets open files follow what one change did to names.
fn settle(
    places: &mut [(Arc<Place>, At)],
    applied: &Applied,
    source: &dyn Source,
) -> Result<(), Need> {
    let (Some(fate), Some(trees)) = (&applied.fate, &applied.trees) else {
        return Ok(());
    };
    let (before, after) = &**trees;
    // Two who have the same file open keep having the same.
    let mut orphans: HashMap<SandboxPath, Arc<Orphan>> = HashMap::new();
    for (_, at) in places {
        let At::Path(path) = &*at else { continue };
        if let Some(next) = followed(path, fate, (before, after), source)? {
            *at = At::Path(next);
        } else if let Some(orphan) = orphans.get(path) {
            *at = At::Nowhere(Arc::clone(orphan));
        } else if let Some(node) = node_at(before, path, source)? {
            let orphan = Orphan::new(node);
            orphans.insert(path.clone(), Arc::clone(&orphan));
            *at = At::Nowhere(orphan);
        }
    }
    Ok(())
}

/// Where a file that was at `path` is now; none for nowhere.
fn followed(
    path: &SandboxPath,
    fate: &Fate,
    (before, after): (&Node, &Node),
    source: &dyn Source,
) -> Result<Option<SandboxPath>, Need> {
    let stays = || Ok(Some(path.clone()));
    match fate {
        Fate::Moved { from, to } => match rebased(path, from, to) {
            None if path.starts_with(to) => Ok(None),
            None => stays(),
            next => Ok(next),
        },
        Fate::Poured { from, to, leave } => match rebased(path, from, to) {
            Some(next) if *leave == Leave::Nothing => Ok(Some(next)),
            _ => match rebased(path, to, from) {
                // What was poured over it took its name.
                Some(over) if is_there(before, &over, source)? => Ok(None),
                Some(_) | None => stays(),
            },
        },
        Fate::Gone(gone) if path.starts_with(gone) => Ok(None),
        Fate::Unknown(top) if path.starts_with(top) => {
            match (node_at(before, path, source)?, node_at(after, path, source)?) {
                // The time when it was made is all that tells one file from another.
                (Some(old), Some(new)) if old.created == new.created => stays(),
                _ => Ok(None),
            }
        }
        Fate::Gone(_) | Fate::Unknown(_) => stays(),
    }
}

/// What becomes of a path when a directory that it leads through is called otherwise.
fn rebased(path: &SandboxPath, from: &SandboxPath, to: &SandboxPath) -> Option<SandboxPath> {
    let names = path.strip(from)?.split('/').filter(|name| !name.is_empty());
    Some(names.fold(to.clone(), |path, name| path.child(name)))
}

/// Whether anything is at a path.
fn is_there(root: &Node, path: &SandboxPath, source: &dyn Source) -> Result<bool, Need> {
    match resolve(root, path, Links::Keep, source) {
        Ok(way) => Ok(!matches!(way.end, End::Missing(_))),
        Err(Stop::Need(need)) => Err(need),
        Err(Stop::Failed(_)) => Ok(false),
    }
}

/// The file at a path.
fn node_at(root: &Node, path: &SandboxPath, source: &dyn Source) -> Result<Option<Node>, Need> {
    match resolve(root, path, Links::Keep, source) {
        Ok(way) => {
            let file = way.item().filter(|item| item.node.file().is_some());
            Ok(file.map(|item| item.node.clone()))
        }
        Err(Stop::Need(need)) => Err(need),
        Err(Stop::Failed(_)) => Ok(None),
    }
}

/// An open file of a virtual tree.
#[derive(Debug)]
struct VirtualFile {
    trunk: Arc<Trunk>,
    place: Arc<Place>,
    /// What the caller called it.
    path: SandboxPath,
    writable: bool,
}

impl VirtualFs {
    /// Opens a file as asked.
    pub(super) async fn open_file(
        &self,
        path: &SandboxPath,
        options: OpenOptions,
    ) -> Result<Arc<dyn OpenFile>> {
        if let OpenOptions::Write(create) = options {
            self.writable()?;
            let mode = WriteMode::CreateNew;
            let made = Change::Write {
                file: path.clone(),
                content: Arc::default(),
                mode,
                parents: Parents::Create,
                expected: If::Always,
            };
            match create {
                Create::Never => {}
                Create::New => drop(self.change(made).await?),
                Create::IfMissing => match self.change(made).await {
                    Err(err) if err.kind() == ErrorKind::AlreadyExists => {}
                    outcome => drop(outcome?),
                },
            }
        }
        let place = loop {
            let state = self.state().await?;
            let (found, node) = self.find_file(&state, path).await?;
            if self.frozen.is_some() {
                break self.trunk.hold_orphan(node);
            }
            // It may be elsewhere since the look.
            if let Some(place) = self.trunk.hold(&state, found) {
                break place;
            }
        };
        let writable = matches!(options, OpenOptions::Write(_));
        let trunk = Arc::clone(&self.trunk);
        Ok(Arc::new(VirtualFile { trunk, place, path: path.clone(), writable }))
    }

    /// The file that a path leads to, and the path without the links on it.
    async fn find_file(&self, state: &State, path: &SandboxPath) -> Result<(SandboxPath, Node)> {
        let found = self.trunk.read(state, |root, source| {
            let way = self.way(root, path, Links::Follow, source)?;
            match way.item().map(|item| (item.node.file(), item)) {
                Some((Some(_), item)) => Ok((way.path(), item.node.clone())),
                Some((None, _)) => Err(is_a_directory().into()),
                None if way.path().is_root() => Err(is_a_directory().into()),
                None => Err(not_found().into()),
            }
        });
        found.await
    }
}

impl VirtualFile {
    /// The state in which the file can be read, and what it is there.
    async fn node(&self) -> Result<(Arc<State>, Node)> {
        self.trunk.fresh_state().await?;
        let (path, state) = match self.trunk.look(&self.place) {
            (At::Path(path), state) => (path, state),
            (At::Nowhere(orphan), state) => {
                let node = orphan.now.lock().await.clone();
                return Ok((state, node));
            }
        };
        let node = self.trunk.read(&state, |root, source| {
            let way = resolve(&root.tree, &path, Links::Keep, source)?;
            way.item().map(|item| item.node.clone()).ok_or_else(|| not_found().into())
        });
        let node = node.await?;
        Ok((state, node))
    }

    /// Changes the file where it is now; `here` is for one that is nowhere.
    async fn edit(
        &self,
        change: impl Fn(SandboxPath) -> Change,
        here: impl Fn(&File, &dyn Source) -> Result<File, Stop>,
    ) -> Result<()> {
        if !self.writable {
            let message = "the file is open for reading only";
            return Err(Error::new(ErrorKind::PermissionDenied, message));
        }
        let orphan = loop {
            let path = match self.place.at() {
                At::Path(path) => path,
                At::Nowhere(orphan) => break orphan,
            };
            let (place, change) = (Arc::clone(&self.place), Box::new(change(path.clone())));
            let outcome = self.trunk.change(Change::Through { place, change }).await;
            // Unless it went elsewhere between the look and the commit, that is the answer.
            let is_there = matches!(self.place.at(), At::Path(at) if at == path);
            match outcome {
                Err(err) if err.kind() == ErrorKind::Busy && !is_there => {}
                outcome => return outcome.map(drop),
            }
        };
        let mut node = orphan.now.lock().await;
        let held = node.file().ok_or_else(is_a_directory)?;
        let state = self.trunk.state();
        let edited = self.trunk.read(&state, |_, source| here(held, source)).await?;
        let stamp = self.trunk.own_stamp();
        let body = Body::File(edited);
        *node = Node { body, modified: super::shelf::now(), stamp, ..*node };
        Ok(())
    }

    fn limits(&self) -> crate::Limits {
        self.trunk.state().root.limits
    }
}

#[async_trait]
impl OpenFile for VirtualFile {
    async fn stat(&self) -> Result<Entry> {
        let (_, node) = self.node().await.map_err(|err| err.on(&self.path))?;
        Ok(entry(self.path.clone(), &node))
    }

    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let (state, node) = self.node().await.map_err(|err| err.on(&self.path))?;
        let file = node.file().ok_or_else(is_a_directory)?;
        let end = offset.saturating_add((len as u64).min(MOST)).min(file.len());
        if offset >= end {
            return Ok(Bytes::new());
        }
        let work = |_: &Root, source: &dyn Source| Ok(file.bytes(offset..end, source)?);
        self.trunk.read(&state, work).await.map_err(|err| err.on(&self.path))
    }

    async fn write_at(&self, offset: u64, bytes: Bytes) -> Result<()> {
        let (limits, end) = (self.limits(), offset.saturating_add(bytes.len() as u64));
        let mode = WriteMode::Part(Part { offset, total: None });
        let content: Arc<[Extent]> = super::body::cut(bytes).into();
        let change = |file| Change::Write {
            file,
            content: content.clone(),
            mode,
            parents: Parents::Require,
            expected: If::Exists,
        };
        let here = |held: &File, source: &dyn Source| {
            if content.is_empty() {
                return Ok(held.clone());
            }
            check_growth(&limits, held.len(), end)?;
            let gap = offset.checked_sub(held.len()).map(Extent::hole).filter(|gap| gap.len > 0);
            let pieces = gap.into_iter().chain(content.iter().cloned()).collect();
            Ok(held.written(offset.min(held.len()), pieces, source)?)
        };
        self.edit(change, here).await.map_err(|err| err.on(&self.path))
    }

    async fn set_len(&self, len: u64) -> Result<()> {
        let limits = self.limits();
        let here = |held: &File, source: &dyn Source| {
            check_growth(&limits, held.len(), len)?;
            Ok(held.resized(len, source)?)
        };
        let outcome = self.edit(|file| Change::SetLen { file, len }, here).await;
        outcome.map_err(|err| err.on(&self.path))
    }

    /// Every write is a commit, so there is nothing left to wait for.
    async fn sync(&self) -> Result<()> {
        Ok(())
    }
}

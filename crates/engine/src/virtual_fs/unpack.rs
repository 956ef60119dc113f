//! Archives unpacked into a tree of their own, which then appears at once.

use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use storage::{ObjectKey, frame};
use tokio::runtime::Handle;

use crate::archive::{self, ArchiveFormat, ArchiveLimits, FeedReader, Gauge, Members, Unpacked};
use crate::tree::{Body, Draft, Extent, File, Heights, Node, Objects, Stamp, Stop, Touch, flush};
use crate::{DotDot, Error, ErrorKind, Links, Result, SandboxPath, UnixTime, name};

use super::body::Intake;
use super::change::{Change, check_file_size};
use super::meaning::meaning;
use super::objects::{damaged, node_weight};
use super::root::Root;
use super::shelf::now;
use super::trunk::Trunk;

/// How many bytes are read from the archive at a time.
const STEP: usize = 256 << 10;
/// What a tree in a store has got so far is stored when it takes so many bytes.
const HELD: usize = 4 << 20;
/// How many bytes a member takes besides its content: its item, and its share of pages.
const MEMBER: usize = 1 << 10;

/// Unpacks an archive; gives the change that puts it in place. May block.
pub(super) fn unpack(
    trunk: &Arc<Trunk>,
    dir: &SandboxPath,
    archive: FeedReader,
    format: ArchiveFormat,
    limits: ArchiveLimits,
) -> Result<(Unpacked, Change)> {
    let state = trunk.state();
    let stamp = trunk.own_stamp();
    let mut staging = Staging {
        trunk,
        root: empty(stamp),
        stamp,
        heights: state.root.family.heights,
        held: 0,
        runtime: Handle::current(),
    };
    let unpacked = archive::unpack(archive, dir, format, limits, &mut staging)?;
    Ok((unpacked, Change::Graft { dir: dir.clone(), tree: staging.root }))
}

fn empty(stamp: Stamp) -> Node {
    let (now, body) = (now(), Body::Directory(Box::default()));
    Node { mode: 0o755, created: now, modified: now, stamp, body }
}

/// A tree that grows member by member and is in nobody's way.
struct Staging<'a> {
    trunk: &'a Arc<Trunk>,
    root: Node,
    /// Nothing but what this archive brings bears it.
    stamp: Stamp,
    heights: Heights,
    /// How many bytes were not stored yet.
    held: usize,
    runtime: Handle,
}

impl Staging<'_> {
    /// Does work on the tree, fetching what was stored of it.
    fn work<T>(
        &mut self,
        modified: UnixTime,
        work: impl Fn(&mut Draft<'_>) -> Result<T, Stop>,
    ) -> Result<T> {
        let mut view = self.trunk.shelf.cache.view();
        loop {
            let mut draft = Draft {
                root: self.root.clone(),
                heights: self.heights,
                source: &view,
                now: modified,
                stamp: self.stamp,
                floor: SandboxPath::root(),
            };
            match work(&mut draft) {
                Ok(outcome) => {
                    self.root = draft.root;
                    return Ok(outcome);
                }
                Err(Stop::Failed(err)) => return Err(err),
                Err(Stop::Need(need)) => {
                    let family = self.trunk.state().root.family;
                    self.runtime.block_on(view.fetch(&family, need))?;
                }
            }
        }
    }

    /// Puts a member where it belongs; what is there gives way, as far as it is of the same kind.
    fn put(&mut self, path: &Path, node: &Node) -> Result<()> {
        let path = inside(path)?;
        let modified = node.modified;
        self.work(modified, |draft| {
            let way = draft.resolve(&path, Links::Keep).map_err(crossed)?;
            // A directory keeps the time that the archive tells, whatever comes into it later.
            draft.now = way.dirs.last().map_or(draft.root.modified, |dir| dir.node.modified);
            let there = way.item().map(|item| item.node.directory());
            let node = match (there, node.directory()) {
                (Some(Some(held)), Some(_)) => {
                    Node { body: Body::Directory(Box::new(held.clone())), ..node.clone() }
                }
                (Some(Some(_)), None) | (Some(None), Some(_)) => return Err(contradiction().into()),
                (Some(None) | None, _) => node.clone(),
            };
            draft.put(&way, node, Touch::Nothing)
        })?;
        // No two members bear the same stamp, for they may change places later.
        self.stamp.time = self.stamp.time.saturating_add(1);
        self.held += MEMBER + node_weight(node);
        if self.held >= HELD { self.flush() } else { Ok(()) }
    }

    /// Stores what the tree has got so far, so that memory does not grow with the archive.
    fn flush(&mut self) -> Result<()> {
        self.held = 0;
        if self.trunk.shelf.is_resident() {
            return Ok(());
        }
        let family = self.trunk.state().root.family;
        let mut objects = Objects::default();
        let dir = self.root.directory().cloned().unwrap_or_default();
        let dir = flush(&dir, &family.ids, &mut objects).map_err(|err| damaged(err.0))?;
        let seal = |(id, plain): (_, Bytes)| (family.key(id), frame::seal(&plain));
        let sealed: Vec<(ObjectKey, Bytes)> = objects.new.into_iter().map(seal).collect();
        let storage = self.trunk.shelf.cache.storage();
        self.runtime.block_on(storage.put_many(sealed)).map_err(meaning)?;
        self.trunk.shelf.cache.keep(objects.pages);
        self.root = Node { body: Body::Directory(Box::new(dir)), ..self.root };
        Ok(())
    }

    fn node(&self, mode: u32, modified: UnixTime, body: Body) -> Node {
        let mode = (mode & 0o777) as u16;
        Node { mode, created: now(), modified, stamp: self.stamp, body }
    }

    /// A file that was taken.
    fn member(&mut self, path: &Path) -> Result<Node> {
        let path = inside(path)?;
        let no_file = || {
            let message = "a hard link names no file of the archive";
            Error::new(ErrorKind::BadArchive, message)
        };
        self.work(now(), |draft| {
            let way = draft.resolve(&path, Links::Keep).map_err(crossed)?;
            let file = way.item().filter(|item| item.node.file().is_some());
            Ok(file.ok_or_else(no_file)?.node.clone())
        })
    }

    fn take_in(&mut self, content: &mut dyn Read) -> Result<Vec<Extent>> {
        let mut intake = Intake::new();
        loop {
            let mut piece = vec![0; STEP];
            let len = content.read(&mut piece).map_err(archive::broken)?;
            if len == 0 {
                return self.runtime.block_on(intake.finish(self.trunk));
            }
            piece.truncate(len);
            if intake.take(piece.into()) {
                self.runtime.block_on(intake.store(self.trunk))?;
            }
        }
    }
}

impl<'a> Members<'a> for Staging<'a> {
    fn directory(&mut self, path: &Path, mode: u32, modified: UnixTime) -> Result<()> {
        let body = Body::Directory(Box::default());
        let node = self.node(mode, modified, body);
        self.put(path, &node)
    }

    fn file(
        &mut self,
        path: &Path,
        mode: u32,
        modified: UnixTime,
        content: &mut dyn Read,
    ) -> Result<()> {
        let extents = self.take_in(content)?;
        let file = self.work(modified, |draft| Ok(File::of(extents.clone(), draft.source)?))?;
        let node = self.node(mode, modified, Body::File(file));
        self.put(path, &node)
    }

    fn symlink(&mut self, path: &Path, target: &[u8], modified: UnixTime) -> Result<()> {
        let target = Arc::from(&*name::to_text(target));
        let node = self.node(0o777, modified, Body::Symlink(target));
        self.put(path, &node)
    }

    fn hard_link(&mut self, path: &Path, member: &Path) -> Result<()> {
        let node = self.member(member)?;
        self.put(path, &node)
    }

    fn set_mode(&mut self, path: &Path, mode: u32) -> Result<()> {
        let node = self.member(path)?;
        self.put(path, &Node { mode: (mode & 0o777) as u16, ..node })
    }

    fn content(&mut self, path: &Path, most: usize) -> Result<Option<Vec<u8>>> {
        let node = self.member(path)?;
        let Some(file) = node.file().filter(|file| file.len() <= most as u64) else {
            return Ok(None);
        };
        let whole = 0..file.len();
        let bytes =
            self.work(node.modified, |draft| Ok(file.bytes(whole.clone(), draft.source)?))?;
        Ok(Some(bytes.to_vec()))
    }

    fn gauge(&self) -> Gauge<'a> {
        let held = self.root.directory().map(|dir| dir.sum).unwrap_or_default();
        let (trunk, runtime) = (self.trunk, self.runtime.clone());
        Box::new(move |more| {
            let room = trunk.judge(|Root { limits, .. }, _| {
                check_file_size(limits, more)?;
                // Members may replace what is there, so that only what cannot fit alone is refused
                // by now.
                Ok(limits.check((0, 0), (held.bytes.saturating_add(more), held.nodes() + 1))?)
            });
            runtime.block_on(room)
        })
    }
}

fn inside(path: &Path) -> Result<SandboxPath> {
    SandboxPath::parse(&name::to_text(path.as_os_str().as_bytes()), DotDot::Refuse)
}

/// A member that lies beneath a file of the archive.
fn crossed(stop: Stop) -> Stop {
    match stop {
        Stop::Failed(err) if err.kind() == ErrorKind::NotADirectory => contradiction().into(),
        Stop::Failed(err) => Stop::Failed(err),
        Stop::Need(need) => Stop::Need(need),
    }
}

fn contradiction() -> Error {
    Error::new(ErrorKind::BadArchive, "a member is a file here and a directory there")
}

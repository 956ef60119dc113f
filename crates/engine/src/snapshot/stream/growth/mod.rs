//! Records as a tree, which nobody sees before the last of them was right.
//!
//! - `directories`: what records do to the directory that began last
//! - `files`: and to the file

mod directories;
mod files;

use std::sync::Arc;

use bytes::Bytes;
use storage::{ObjectKey, frame};

use super::block::Opened;
use super::head::Header;
use super::recent::Received;
use super::record::{About, Record};
use super::{CHUNKS_BACK, DIRECTORIES_BACK, broken};
use crate::tree::{
    Body, DEEPEST, Damaged, Directory, Extent, File, Node, Objects, Pages, Stamp, Sum, flush,
};
use crate::virtual_fs::{Family, Root, State, Trunk, damaged, meaning, now};
use crate::{Error, ErrorKind, Result, blocking};

use self::directories::Level;
use self::files::Growing;

/// So many bytes of pages are stored at a time.
const STORED_AT_ONCE: usize = 2 << 20;

/// A tree that grows record by record.
#[derive(Debug)]
pub(crate) struct Growth {
    trunk: Arc<Trunk>,
    family: Family,
    header: Header,
    /// The state that the stream is relative to.
    other: Option<Arc<State>>,
    /// The directories that began and did not end.
    levels: Vec<Level>,
    file: Option<Growing>,
    root: Option<Node>,
    pages: Pages,
    chunks: Received<Extent>,
    directories: Received<Directory>,
    /// What the next node is stamped with. Nothing else bears its salt.
    stamp: Stamp,
    /// What the records have brought so far.
    brought: Sum,
}

impl Growth {
    /// An empty tree, for the stream with this header.
    pub(crate) fn new(trunk: &Arc<Trunk>, header: Header, other: Option<Arc<State>>) -> Self {
        let family = trunk.state().root.family;
        let pages = if trunk.shelf.is_resident() {
            Pages::Fresh
        } else {
            Pages::Stored { key: family.ids, objects: Objects::default() }
        };
        Self {
            trunk: Arc::clone(trunk),
            family,
            header,
            other,
            levels: Vec::new(),
            file: None,
            root: None,
            pages,
            chunks: Received::within(CHUNKS_BACK),
            directories: Received::within(DIRECTORIES_BACK),
            stamp: trunk.own_stamp(),
            brought: Sum::default(),
        }
    }

    /// Takes in a block whose objects are stored.
    pub(crate) async fn take(&mut self, block: Opened) -> Result<()> {
        for record in block.records {
            self.record(record).await?;
        }
        self.store_if_many().await
    }

    /// The root of the tree when all blocks were taken.
    pub(crate) async fn finish(mut self) -> Result<Root> {
        self.store().await?;
        let tree = self.root.ok_or_else(|| refuse("it ends before its tree does"))?;
        let clock = self.header.clock;
        let (family, limits) = (self.family, self.trunk.state().root.limits);
        let (created, writers, lease) = (now(), Vec::new(), None);
        let root = Root { family, sequence: 0, clock, created, limits, writers, lease, tree };
        if root.sum() != self.header.sum {
            return Err(refuse("its tree does not add up to what it says"));
        }
        Ok(root)
    }

    async fn record(&mut self, record: Record) -> Result<()> {
        match record {
            Record::Root(about) => self.begin(about),
            Record::Directory(named) => self.enter(named),
            Record::Changed(named) => self.enter_changed(named).await,
            Record::Leave => self.leave().await,
            Record::SmallFile(named, bytes) => {
                self.put(named, Body::File(File::Inline(bytes))).await
            }
            Record::File(named, len) => self.begin_file(named, len).await,
            Record::Link(named, target) => self.put(named, Body::Symlink(target)).await,
            Record::Like(named, distance) => {
                let like = self.directories.back(distance).cloned();
                let like = like.ok_or_else(|| refuse("it repeats a directory that never came"))?;
                self.put(named, Body::Directory(Box::new(like))).await
            }
            Record::Kept(named, path) => self.keep(named, &path).await,
            Record::Removed(name) => self.remove(&name).await,
            Record::Chunk(extent) => {
                self.chunks.push(extent.clone());
                self.piece(extent).await
            }
            Record::Repeat(distance) => {
                let chunk = self.chunks.back(distance).cloned();
                self.piece(chunk.ok_or_else(|| refuse("it repeats a chunk that never came"))?).await
            }
            Record::Hole(len) => self.piece(Extent::hole(len)).await,
            Record::Same { offset, len } => self.same(offset, len).await,
        }
    }

    /// A node that nobody has seen yet.
    fn node(&mut self, about: About, body: Body) -> Node {
        // No two nodes bear the same stamp, for they may change places later.
        self.stamp.time = self.stamp.time.saturating_add(1);
        let (About { mode, created, modified }, stamp) = (about, self.stamp);
        Node { mode, created, modified, stamp, body }
    }

    /// Counts what a name brings, so that a false header is found before it did harm.
    fn count(&mut self, sum: Sum, depth: u64) -> Result<()> {
        self.brought += sum;
        let (brought, said) = (&self.brought, &self.header.sum);
        let fits = brought.bytes <= said.bytes
            && brought.files <= said.files
            && brought.directories <= said.directories
            && brought.links <= said.links
            && brought.largest <= said.largest;
        if !fits {
            return Err(refuse("its tree holds more than it says"));
        }
        let depth = depth.saturating_add(self.levels.len() as u64).saturating_sub(1);
        if depth > DEEPEST.min(said.depth) {
            return Err(refuse("its tree is deeper than it says"));
        }
        Ok(())
    }

    /// The directory with its fresh pages turned into objects, where they are stored.
    fn flushed(&mut self, dir: Directory) -> Result<Directory> {
        match &mut self.pages {
            Pages::Fresh => Ok(dir),
            Pages::Stored { key, objects } => {
                flush(&dir, key, objects).map_err(|err| damaged(err.0))
            }
        }
    }

    async fn store_if_many(&mut self) -> Result<()> {
        let waiting = match &self.pages {
            Pages::Stored { objects, .. } => objects.new.iter().map(|(_, page)| page.len()).sum(),
            Pages::Fresh => 0,
        };
        if waiting >= STORED_AT_ONCE { self.store().await } else { Ok(()) }
    }

    /// Stores the objects that wait.
    async fn store(&mut self) -> Result<()> {
        let Pages::Stored { objects, .. } = &mut self.pages else { return Ok(()) };
        let (Objects { new, pages }, family) = (std::mem::take(objects), self.family);
        if new.is_empty() {
            return Ok(());
        }
        let sealed: Vec<(ObjectKey, Bytes)> = blocking::run(move || {
            Ok(new.into_iter().map(|(id, plain)| (family.key(id), frame::seal(&plain))).collect())
        })
        .await?;
        let cache = &self.trunk.shelf.cache;
        cache.storage().put_many(sealed).await.map_err(meaning)?;
        cache.keep(pages);
        Ok(())
    }
}

fn refuse(what: &'static str) -> Error {
    broken(Damaged(what))
}

/// The error for a stream that does not fit the state that it is relative to.
fn unfit(what: &'static str) -> Error {
    let message = format!("the exported snapshot does not fit the one that it builds upon: {what}");
    Error::new(ErrorKind::BadArchive, message)
}

fn not_relative() -> Error {
    refuse("it changes a state that it does not name")
}

//! The pages and chunks that a scan makes, on their way into the store.

use std::sync::Arc;

use bytes::Bytes;
use storage::{ObjectKey, frame};

use crate::tree::{Directory, Extent, File, Item, MOST, Objects, Piece, flush, stored_file};
use crate::virtual_fs::{damaged, meaning};
use crate::{Error, ErrorKind, Result};

use super::reader::Reader;

/// So many entries are in memory before they are stored.
const MOST_ENTRIES: u64 = 4096;
/// So many bytes of small files are.
const MOST_BYTES: u64 = 4 << 20;

/// Keeps what a scan finds, with memory that does not grow.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) reader: Reader,
    entries: u64,
    bytes: u64,
}

impl Keeper {
    pub(super) fn new(reader: Reader) -> Self {
        Self { reader, entries: 0, bytes: 0 }
    }

    /// The directory with this item instead of what has its name.
    pub(super) fn with(&mut self, dir: &Directory, item: Item) -> Result<Directory> {
        self.entries += 1;
        let (item, heights) = (Arc::new(item), self.reader.family().heights);
        let dir =
            self.reader.work(|source| Ok(dir.with(Arc::clone(&item), &heights, source)?))?;
        if dir.sum.bytes.max(dir.sum.nodes()) < MOST {
            return Ok(dir);
        }
        Err(Error::new(ErrorKind::StorageFull, "the files are too long to be added up"))
    }

    /// The directory without what has that name.
    pub(super) fn without(&mut self, dir: &Directory, name: &str) -> Result<Directory> {
        self.entries += 1;
        let heights = self.reader.family().heights;
        self.reader.work(|source| Ok(dir.without(name, &heights, source)?))
    }

    /// The file with more at its end. What a long file consists of is stored at once.
    pub(super) fn appended(&mut self, file: &File, more: &[Extent]) -> Result<File> {
        let len = file.len();
        self.bytes += more.iter().map(in_memory).sum::<u64>();
        let file =
            self.reader.work(|source| Ok(file.spliced(len..len, more.to_vec(), source)?))?;
        if len == 0 || self.reader.trunk.shelf.is_resident() {
            return Ok(file);
        }
        let mut objects = Objects::default();
        let stored = stored_file(&file, &self.reader.family().ids, &mut objects);
        let stored = stored.map_err(|err| damaged(err.0))?;
        self.put(objects)?;
        Ok(stored.unwrap_or(file))
    }

    /// Whether it is time to store what is in memory.
    pub(super) fn is_full(&self) -> bool {
        let much = self.entries >= MOST_ENTRIES || self.bytes >= MOST_BYTES;
        much && !self.reader.trunk.shelf.is_resident()
    }

    /// Stores what is in memory of some directories.
    pub(super) fn store<'d>(
        &mut self,
        dirs: impl Iterator<Item = &'d mut Directory>,
    ) -> Result<()> {
        if self.reader.trunk.shelf.is_resident() {
            return Ok(());
        }
        let mut objects = Objects::default();
        for dir in dirs {
            let ids = self.reader.family().ids;
            *dir = flush(dir, &ids, &mut objects).map_err(|err| damaged(err.0))?;
        }
        (self.entries, self.bytes) = (0, 0);
        self.put(objects)
    }

    fn put(&self, objects: Objects) -> Result<()> {
        let Reader { trunk, runtime, .. } = &self.reader;
        let family = self.reader.family();
        let seal = |(id, plain): (_, Bytes)| (family.key(id), frame::seal(&plain));
        let sealed: Vec<(ObjectKey, Bytes)> = objects.new.into_iter().map(seal).collect();
        // The pages are not kept in the cache: nobody reads most of them again, and others need it.
        runtime.block_on(trunk.shelf.cache.storage().put_many(sealed)).map_err(meaning)
    }
}

/// How much memory an extent takes until it is stored.
fn in_memory(extent: &Extent) -> u64 {
    match &extent.piece {
        Piece::Fresh(bytes) => bytes.len() as u64,
        Piece::Stored(_) | Piece::Hole => 0,
    }
}

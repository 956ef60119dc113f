//! What the blocks of a stream say.

use std::sync::Arc;

use bytes::Bytes;

use super::LONGEST_CHUNK;
use crate::tree::{
    Damaged, Extent, INLINE, Input, Item, LARGEST_FILE, Name, Node, is_target, put_number,
    put_text, put_time,
};
use crate::{MAX_PATH, UnixTime};

const ROOT: u8 = 1;
const DIRECTORY: u8 = 2;
const CHANGED: u8 = 3;
const LEAVE: u8 = 4;
const SMALL_FILE: u8 = 5;
const FILE: u8 = 6;
const LINK: u8 = 7;
const LIKE: u8 = 8;
const KEPT: u8 = 9;
const REMOVED: u8 = 10;
const CHUNK: u8 = 16;
const REPEAT: u8 = 17;
const HOLE: u8 = 18;
const SAME: u8 = 19;

/// What is said of a node besides its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct About {
    pub(super) mode: u16,
    pub(super) created: UnixTime,
    pub(super) modified: UnixTime,
}

impl About {
    pub(super) fn of(node: &Node) -> Self {
        let Node { mode, created, modified, .. } = *node;
        Self { mode, created, modified }
    }
}

/// A name, and what is said of its node.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: Name,
    pub(super) about: About,
}

/// One record that was read.
#[derive(Debug)]
pub(super) enum Record {
    Root(About),
    Directory(Named),
    Changed(Named),
    Leave,
    SmallFile(Named, Bytes),
    File(Named, u64),
    Link(Named, Arc<str>),
    /// A directory with what is beneath the one that ended so many leaves ago.
    Like(Named, u64),
    /// What the other state has at that path.
    Kept(Named, Arc<str>),
    Removed(Name),
    Chunk(Extent),
    /// The chunk that was sent so many chunks ago.
    Repeat(u64),
    Hole(u64),
    /// A part of the file that the other state has here.
    Same {
        offset: u64,
        len: u64,
    },
}

/// Records that are being written.
#[derive(Debug, Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn root(&mut self, node: &Node) {
        self.0.push(ROOT);
        self.about(node);
    }

    pub(super) fn directory(&mut self, item: &Item) {
        self.named(DIRECTORY, item);
    }

    pub(super) fn changed(&mut self, item: &Item) {
        self.named(CHANGED, item);
    }

    pub(super) fn leave(&mut self) {
        self.0.push(LEAVE);
    }

    pub(super) fn small_file(&mut self, item: &Item, len: u64) {
        self.named(SMALL_FILE, item);
        put_number(&mut self.0, len);
    }

    pub(super) fn file(&mut self, item: &Item, len: u64) {
        self.named(FILE, item);
        put_number(&mut self.0, len);
    }

    pub(super) fn link(&mut self, item: &Item, target: &str) {
        self.named(LINK, item);
        put_text(&mut self.0, target);
    }

    pub(super) fn like(&mut self, item: &Item, distance: u64) {
        self.named(LIKE, item);
        put_number(&mut self.0, distance);
    }

    pub(super) fn kept(&mut self, item: &Item, path: &str) {
        self.named(KEPT, item);
        put_text(&mut self.0, path);
    }

    pub(super) fn removed(&mut self, name: &str) {
        self.0.push(REMOVED);
        put_text(&mut self.0, name);
    }

    pub(super) fn chunk(&mut self, len: u64) {
        self.numbers(CHUNK, &[len]);
    }

    pub(super) fn repeat(&mut self, distance: u64) {
        self.numbers(REPEAT, &[distance]);
    }

    pub(super) fn hole(&mut self, len: u64) {
        self.numbers(HOLE, &[len]);
    }

    pub(super) fn same(&mut self, offset: u64, len: u64) {
        self.numbers(SAME, &[offset, len]);
    }

    fn numbers(&mut self, kind: u8, numbers: &[u64]) {
        self.0.push(kind);
        for number in numbers {
            put_number(&mut self.0, *number);
        }
    }

    fn named(&mut self, kind: u8, item: &Item) {
        self.0.push(kind);
        put_text(&mut self.0, &item.name);
        self.about(&item.node);
    }

    fn about(&mut self, node: &Node) {
        put_number(&mut self.0, u64::from(node.mode));
        put_time(&mut self.0, node.created);
        put_time(&mut self.0, node.modified);
    }
}

/// The records of a block, and the content that they share out.
pub(super) struct Reader<'a, F> {
    pub(super) records: Input,
    pub(super) content: &'a [u8],
    /// What becomes of a chunk.
    pub(super) chunk: F,
}

impl<'a, F: FnMut(&[u8]) -> Extent> Reader<'a, F> {
    /// All of them. They use up all content.
    pub(super) fn all(mut self) -> Result<Vec<Record>, Damaged> {
        let mut records = Vec::with_capacity(self.records.0.len() / 32);
        while !self.records.0.is_empty() {
            records.push(self.next()?);
        }
        if !self.content.is_empty() {
            return Err(Damaged("a block has content that nothing uses"));
        }
        Ok(records)
    }

    fn next(&mut self) -> Result<Record, Damaged> {
        let kind = self.records.byte()?;
        Ok(match kind {
            ROOT => Record::Root(self.about()?),
            DIRECTORY => Record::Directory(self.named()?),
            CHANGED => Record::Changed(self.named()?),
            LEAVE => Record::Leave,
            SMALL_FILE => {
                let (named, len) = (self.named()?, self.number(0..=INLINE)?);
                Record::SmallFile(named, Bytes::copy_from_slice(self.content(len)?))
            }
            FILE => Record::File(self.named()?, self.number(INLINE + 1..=LARGEST_FILE)?),
            LINK => Record::Link(self.named()?, self.target()?),
            LIKE => Record::Like(self.named()?, self.records.number()?),
            KEPT => Record::Kept(self.named()?, self.records.text(MAX_PATH as u64)?),
            REMOVED => Record::Removed(self.records.name()?),
            CHUNK => {
                let len = self.number(1..=LONGEST_CHUNK)?;
                let content = self.content(len)?;
                Record::Chunk((self.chunk)(content))
            }
            REPEAT => Record::Repeat(self.records.number()?),
            HOLE => Record::Hole(self.number(1..=LARGEST_FILE)?),
            SAME => {
                let offset = self.number(0..=LARGEST_FILE)?;
                Record::Same { offset, len: self.number(1..=LARGEST_FILE)? }
            }
            _ => return Err(Damaged("a record is of an unknown kind")),
        })
    }

    fn named(&mut self) -> Result<Named, Damaged> {
        Ok(Named { name: self.records.name()?, about: self.about()? })
    }

    fn about(&mut self) -> Result<About, Damaged> {
        let mode = self.number(0..=0o777)? as u16;
        Ok(About { mode, created: self.records.time()?, modified: self.records.time()? })
    }

    fn target(&mut self) -> Result<Arc<str>, Damaged> {
        // A byte that is not UTF-8 is spelled with four.
        let target = self.records.text(4 * MAX_PATH as u64)?;
        if is_target(&target) { Ok(target) } else { Err(Damaged("a link's target cannot be")) }
    }

    fn number(&mut self, possible: std::ops::RangeInclusive<u64>) -> Result<u64, Damaged> {
        let number = self.records.number()?;
        if possible.contains(&number) { Ok(number) } else { Err(Damaged("a number cannot be")) }
    }

    fn content(&mut self, len: u64) -> Result<&'a [u8], Damaged> {
        let taken = self.content.split_off(..len as usize);
        taken.ok_or(Damaged("a block has less content than it says"))
    }
}

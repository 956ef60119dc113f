//! A file that entries are added to until it is full, and that is given up as a whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::ObjectKey;

use super::dir::Dir;
use super::entry::{HEAD, Head};
use super::notes::{self, NOTE, Note};

/// What a segment begins with; another format has another.
const BEGIN: &[u8; 8] = b"skcache1";

/// A file of the cache.
pub(super) struct Segment {
    pub(super) file: Arc<File>,
    /// Where the next entry goes.
    pub(super) end: u64,
    /// How many entries it has.
    entries: u64,
}

impl Segment {
    /// A new, empty one.
    pub(super) fn create(dir: &Dir, number: u32) -> io::Result<Self> {
        let file = dir.segment(number)?;
        file.set_len(0)?;
        file.write_all_at(BEGIN, 0)?;
        Ok(Self { file: Arc::new(file), end: BEGIN.len() as u64, entries: 0 })
    }

    /// One that is there, and what it holds; none if it is no segment of ours.
    pub(super) fn open(dir: &Dir, number: u32) -> io::Result<Option<(Self, Vec<Note>)>> {
        let file = dir.segment(number)?;
        let mut begin = [0; BEGIN.len()];
        if file.read_exact_at(&mut begin, 0).is_err() || begin != *BEGIN {
            return Ok(None);
        }
        let noted = dir.notes(number).ok().and_then(|bytes| notes::decode(&bytes));
        let notes = match noted {
            Some(notes) => notes,
            None => {
                let notes = read_through(&file)?;
                dir.write_notes(number, &notes::encode(&notes))?;
                notes
            }
        };
        let (end, entries) = (file.metadata()?.len(), notes.len() as u64);
        Ok(Some((Self { file: Arc::new(file), end, entries }, notes)))
    }

    /// How much of the disk it takes, with its notes.
    pub(super) fn size(&self) -> u64 {
        self.end + self.entries * NOTE as u64 + size_of::<u64>() as u64
    }

    /// How much more it takes when an object of so many bytes is added.
    pub(super) fn growth(len: usize) -> u64 {
        (HEAD + len + NOTE) as u64
    }

    /// Where an object of so many bytes goes.
    pub(super) fn reserve(&mut self, len: usize) -> u64 {
        let offset = self.end;
        self.end += (HEAD + len) as u64;
        self.entries += 1;
        offset
    }
}

/// The name of an object in notes.
pub(super) fn name(key: &ObjectKey) -> u64 {
    xxh3_64(&key.to_bytes())
}

/// The entries of a segment that has no notes, up to the first that is not whole.
fn read_through(file: &File) -> io::Result<Vec<Note>> {
    let (mut notes, mut at, end) = (Vec::new(), BEGIN.len() as u64, file.metadata()?.len());
    let mut head = [0; HEAD];
    while file.read_exact_at(&mut head, at).is_ok() {
        let (Some(Head { key, len, .. }), Ok(offset)) = (Head::decode(&head), u32::try_from(at))
        else {
            break;
        };
        at += HEAD as u64 + u64::from(len.unwrap_or(0));
        if at > end {
            break;
        }
        notes.push(Note { name: name(&key), offset, len });
    }
    Ok(notes)
}

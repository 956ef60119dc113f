//! Every name of a directory in order, after one look at it.
//!
//! What is more than fits into memory is sorted piece by piece, put into a file without a name, and
//! merged. Where there is no place for such a file, the directory is read again for every piece.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write as _};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

use super::Listing;
use super::names::{Memory, Names, PASS_BYTES};
use crate::staging::Staging;
use crate::{Dir, Result};

/// Whoever wants no more names than that gets them by one look into memory.
const FEW: usize = 1 << 16;
/// How much is written at a time, and read at a time of every run.
const PIECE: usize = 16 << 10;
/// How much all listings together may put into files.
const MOST_ASIDE: u64 = 256 << 20;

static ASIDE: AtomicU64 = AtomicU64::new(0);

/// The names of a directory, one after the other.
#[derive(Debug)]
pub struct InOrder(Source);

#[derive(Debug)]
enum Source {
    Passes { names: Names, position: usize, most: usize },
    Runs(Runs),
}

impl Dir {
    /// The names of a listing after `after`, sorted by their bytes, of which the caller is likely to
    /// take `most`.
    pub fn in_order(
        &self,
        listing: &Listing,
        after: Option<&OsStr>,
        most: usize,
    ) -> Result<InOrder> {
        let staging = self.lasting_staging().filter(|_| most > FEW);
        let gathered = staging.and_then(|staging| gather(listing, after, staging).ok());
        let source = match gathered {
            Some(source) => source,
            None => Source::Passes { names: listing.names(after, most)?, position: 0, most },
        };
        Ok(InOrder(source))
    }
}

impl InOrder {
    /// The next name, if there is one. The listing is the one that it began with.
    pub fn next(&mut self, listing: &Listing) -> Result<Option<&OsStr>> {
        let Self(source) = self;
        match source {
            Source::Runs(runs) => Ok(runs.next()?.map(OsStr::from_bytes)),
            Source::Passes { names, position, most } => {
                if let Some(last) = last(names, *position) {
                    *names = listing.names(Some(&last), *most)?;
                    *position = 0;
                }
                *position += 1;
                Ok(names.nth(*position - 1))
            }
        }
    }
}

/// The last name of a pass, if it is over and another must follow.
fn last(names: &Names, position: usize) -> Option<OsString> {
    let is_over = names.more && names.nth(position).is_none();
    position.checked_sub(1).filter(|_| is_over).and_then(|last| names.nth(last)).map(Into::into)
}

/// Reads the directory once.
fn gather(listing: &Listing, after: Option<&OsStr>, staging: &Staging) -> Result<Source> {
    let mut memory = Memory::take();
    let mut aside = None;
    listing.each_while_well(|name, _| {
        if after.is_some_and(|after| name <= after) {
            return Ok(());
        }
        memory.push(name.as_bytes());
        if memory.bytes() <= 2 * PASS_BYTES {
            return Ok(());
        }
        let aside = match &mut aside {
            Some(aside) => aside,
            none => none.insert(Aside::new(staging)?),
        };
        aside.put(&mut memory)
    })?;
    let Some(mut aside) = aside else {
        return Ok(Source::Passes { names: Names::whole(memory), position: 0, most: usize::MAX });
    };
    aside.put(&mut memory)?;
    memory.give_back();
    Runs::open(aside).map(Source::Runs)
}

/// Sorted runs of names in a file, each name behind its length.
#[derive(Debug)]
struct Aside {
    file: File,
    ends: Vec<u64>,
    room: Room,
}

impl Aside {
    fn new(staging: &Staging) -> Result<Self> {
        Ok(Self { file: staging.nameless()?.into(), ends: Vec::new(), room: Room(0) })
    }

    fn put(&mut self, memory: &mut Memory) -> Result<()> {
        memory.sort();
        let names = memory.iter().map(|name| size_of::<u16>() + name.len());
        self.room.take(names.sum::<usize>() as u64)?;
        let mut file = BufWriter::with_capacity(PIECE, &self.file);
        for name in memory.iter() {
            let len = u16::try_from(name.len()).map_err(|_| Errno::NAMETOOLONG)?;
            file.write_all(&len.to_ne_bytes())?;
            file.write_all(name)?;
        }
        file.flush()?;
        let Room(end) = self.room;
        self.ends.push(end);
        memory.clear();
        Ok(())
    }
}

/// What one listing takes of the room that all have.
#[derive(Debug)]
struct Room(u64);

impl Room {
    fn take(&mut self, bytes: u64) -> Result<()> {
        let Self(taken) = self;
        *taken += bytes;
        let all = ASIDE.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if all > MOST_ASIDE { Err(Errno::NOSPC.into()) } else { Ok(()) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let Self(taken) = *self;
        ASIDE.fetch_sub(taken, Ordering::Relaxed);
    }
}

/// Several runs, merged.
#[derive(Debug)]
struct Runs {
    runs: Vec<BufReader<Run>>,
    /// The next name of each run.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    name: Vec<u8>,
    _room: Room,
}

impl Runs {
    fn open(aside: Aside) -> Result<Self> {
        let Aside { file, ends, room } = aside;
        let file = Arc::new(file);
        let starts = [0].into_iter().chain(ends.iter().copied());
        let run = |(at, &end)| Run { file: Arc::clone(&file), at, end };
        let runs = starts.zip(&ends).map(run);
        let mut runs: Vec<_> = runs.map(|run| BufReader::with_capacity(PIECE, run)).collect();
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (nth, run) in runs.iter_mut().enumerate() {
            let mut name = Vec::new();
            if read_name(run, &mut name)? {
                heads.push(Reverse((name, nth)));
            }
        }
        Ok(Self { runs, heads, name: Vec::new(), _room: room })
    }

    fn next(&mut self) -> Result<Option<&[u8]>> {
        let Some(mut first) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((name, nth)) = &mut *first;
        mem::swap(&mut self.name, name);
        let goes_on = match self.runs.get_mut(*nth) {
            Some(run) => read_name(run, name)?,
            None => false,
        };
        if !goes_on {
            PeekMut::pop(first);
        }
        Ok(Some(&self.name))
    }
}

fn read_name(run: &mut BufReader<Run>, name: &mut Vec<u8>) -> Result<bool> {
    if run.fill_buf()?.is_empty() {
        return Ok(false);
    }
    let mut len = [0; 2];
    run.read_exact(&mut len)?;
    name.resize(usize::from(u16::from_ne_bytes(len)), 0);
    run.read_exact(name)?;
    Ok(true)
}

/// A part of the file.
#[derive(Debug)]
struct Run {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Run {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let most = left.min(space.len());
        let read = self.file.read_at(space.split_at_mut(most).0, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

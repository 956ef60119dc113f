//! What a restore is about to do, written down before it does it.
//!
//! A journal lies beside the slots that it speaks of. Under its own name it is whole and on the
//! disk; it is removed when everything in it was done.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::read::write_all_at;
use crate::record::{Input, Record, identity, put_identity};
use crate::{Dir, Kind, Result, stat};

const NAME: &str = "journal";
const DRAFT: &str = "draft";
/// The format and its version.
const MAGIC: [u8; 8] = *b"skrest01";
/// So much of it is gathered before it is written.
const GATHERED: usize = 64 << 10;
/// What follows the last record.
const END: u8 = 0;

/// A journal that is still written.
#[derive(Debug)]
pub(crate) struct Draft {
    file: OwnedFd,
    waiting: Vec<u8>,
    written: u64,
    records: u64,
}

impl Draft {
    /// Begins a journal in a directory, for the tree at `root`.
    pub(crate) fn begin(dir: &OwnedFd, root: &OwnedFd) -> Result<Self> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let file = openat(dir, DRAFT, flags, Mode::RUSR | Mode::WUSR)?;
        let mut waiting = MAGIC.to_vec();
        put_identity(&mut waiting, identity(root)?);
        Ok(Self { file, waiting, written: 0, records: 0 })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records == 0
    }

    pub(crate) fn push(&mut self, record: &Record) -> Result<()> {
        record.encode(&mut self.waiting)?;
        self.records += 1;
        if self.waiting.len() > GATHERED { self.write() } else { Ok(()) }
    }

    /// Makes the journal valid. Everything that it speaks of is on the disk before it is.
    pub(crate) fn publish(mut self, dir: &Dir, place: &OwnedFd) -> Result<Journal> {
        self.waiting.push(END);
        self.waiting.extend(self.records.to_le_bytes());
        self.write()?;
        dir.sync_all(place)?;
        renameat(place, DRAFT, place, NAME)?;
        if let Err(err) = dir.sync_names(place) {
            // Nobody may follow it, since what it speaks of goes now.
            Journal::remove(place)?;
            return Err(err);
        }
        Ok(Journal { file: self.file })
    }

    fn write(&mut self) -> Result<()> {
        write_all_at(&self.file, &self.waiting, self.written)?;
        self.written += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }
}

/// A journal that was published.
#[derive(Debug)]
pub(crate) struct Journal {
    file: OwnedFd,
}

/// Whose journal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    /// It is of this tree.
    Here,
    /// It is of another tree.
    Elsewhere,
    /// It is not whole, or its tree is gone.
    Nowhere,
}

impl Journal {
    /// The journal in a directory, if it has one.
    pub(crate) fn open(place: &OwnedFd) -> Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(place, NAME, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            outcome => outcome?,
        };
        Ok((stat::of(&file)?.kind == Kind::File).then_some(Self { file }))
    }

    /// Forgets the journal of a directory.
    pub(crate) fn remove(place: &OwnedFd) -> Result<()> {
        Ok(unlinkat(place, NAME, AtFlags::empty())?)
    }

    /// Whether it is of the tree at `root`. Both lie on one file system, since things are renamed
    /// from one to the other, so the number of the root tells, and when it was made.
    pub(crate) fn belongs(&self, root: &OwnedFd) -> Result<Belongs> {
        let mut input = Input::of(&self.file);
        let (inode, created) = identity(root)?;
        match (input.array::<8>()?, input.identity()?) {
            (Some(MAGIC), Some(told)) if told == (inode, created) => {}
            (Some(MAGIC), Some((other, _))) if other != inode => return Ok(Belongs::Elsewhere),
            _ => return Ok(Belongs::Nowhere),
        }
        let mut records = Records { input, count: 0, ended: false };
        while records.next()?.is_some() {}
        Ok(if records.ended { Belongs::Here } else { Belongs::Nowhere })
    }

    /// What is to be done, in no order that matters.
    pub(crate) fn records(&self) -> Result<Records<'_>> {
        let mut input = Input::of(&self.file);
        input.array::<8>()?;
        input.identity()?;
        Ok(Records { input, count: 0, ended: false })
    }
}

/// The records of a journal, read piece by piece.
pub(crate) struct Records<'a> {
    input: Input<'a>,
    count: u64,
    /// Whether the end was met, and nothing was missing before it.
    ended: bool,
}

impl Records<'_> {
    /// The next record; none at the end, or where the journal is not whole.
    pub(crate) fn next(&mut self) -> Result<Option<Record>> {
        let record = match self.input.array::<1>()? {
            Some([END]) => {
                self.ended = self.input.number()? == Some(self.count);
                None
            }
            Some([kind]) => Record::decode(kind, &mut self.input)?,
            None => None,
        };
        self.count += u64::from(record.is_some());
        Ok(record)
    }
}

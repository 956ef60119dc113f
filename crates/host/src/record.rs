//! One thing that a restore does, as a journal tells it.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::io::{Errno, pread};

use crate::{Result, Time, stat};

const BUFFER: usize = 64 << 10;
/// No path of a tree is longer: 4,096 levels of 255 bytes.
const LONGEST_PATH: u32 = 1 << 20;

const PUT: u8 = 1;
const REMOVE: u8 = 2;
const DIRECTORY: u8 = 3;

/// One thing that is to be done. Paths are relative to the root of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// What is in a slot goes to a path, and what is there into the slot. The number of the file
    /// in the slot tells later whether that happened.
    Put { slot: u64, inode: u64, path: Vec<u8> },
    /// What is at a path goes into a free slot.
    Remove { slot: u64, path: Vec<u8> },
    /// A directory that stays gets another look.
    Directory { path: Vec<u8>, old: Look, new: Look },
}

/// Mode and time of modification of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Permission bits.
    pub mode: u32,
    /// When its names last changed.
    pub modified: Time,
}

impl Record {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        let path = match self {
            Self::Put { slot, inode, path } => {
                out.push(PUT);
                out.extend(slot.to_le_bytes());
                out.extend(inode.to_le_bytes());
                path
            }
            Self::Remove { slot, path } => {
                out.push(REMOVE);
                out.extend(slot.to_le_bytes());
                path
            }
            Self::Directory { path, old, new } => {
                out.push(DIRECTORY);
                put_look(out, *old);
                put_look(out, *new);
                path
            }
        };
        let len = u32::try_from(path.len()).ok().filter(|len| *len <= LONGEST_PATH);
        out.extend(len.ok_or(Errno::NAMETOOLONG)?.to_le_bytes());
        out.extend(path);
        Ok(())
    }

    /// The record of a kind; none if there is no such kind or the input ends too early.
    pub(crate) fn decode(kind: u8, input: &mut Input<'_>) -> Result<Option<Self>> {
        Ok(match kind {
            PUT => {
                let (slot, inode) = (input.number()?, input.number()?);
                let path = input.path()?;
                let numbers = slot.zip(inode);
                numbers.zip(path).map(|((slot, inode), path)| Self::Put { slot, inode, path })
            }
            REMOVE => {
                let slot = input.number()?;
                slot.zip(input.path()?).map(|(slot, path)| Self::Remove { slot, path })
            }
            DIRECTORY => {
                let looks = input.look()?.zip(input.look()?);
                let path = input.path()?;
                looks.zip(path).map(|((old, new), path)| Self::Directory { path, old, new })
            }
            _ => None,
        })
    }
}

/// What tells a tree from all others of its file system: the number of its root, and when that
/// was made, where that is known. Numbers are used again.
pub(crate) type Identity = (u64, Option<Time>);

pub(crate) fn identity(root: &OwnedFd) -> Result<Identity> {
    let root = stat::of(root)?;
    Ok((root.inode, root.created))
}

pub(crate) fn put_identity(out: &mut Vec<u8>, (inode, created): Identity) {
    out.extend(inode.to_le_bytes());
    out.push(u8::from(created.is_some()));
    put_time(out, created.unwrap_or(Time { seconds: 0, nanoseconds: 0 }));
}

fn put_look(out: &mut Vec<u8>, look: Look) {
    out.extend(look.mode.to_le_bytes());
    put_time(out, look.modified);
}

fn put_time(out: &mut Vec<u8>, time: Time) {
    out.extend(time.seconds.to_le_bytes());
    out.extend(time.nanoseconds.to_le_bytes());
}

/// A file that is read from the front; none where it ends too early.
pub(crate) struct Input<'a> {
    file: &'a OwnedFd,
    held: Vec<u8>,
    taken: usize,
    read: u64,
}

impl<'a> Input<'a> {
    pub(crate) fn of(file: &'a OwnedFd) -> Self {
        Self { file, held: Vec::new(), taken: 0, read: 0 }
    }

    fn take(&mut self, len: usize) -> Result<Option<&[u8]>> {
        if self.held.len() - self.taken < len {
            self.held.drain(..self.taken);
            self.taken = 0;
            while self.held.len() < len && self.fill()? {}
        }
        let part = self.held.get(self.taken..self.taken + len);
        self.taken += part.map_or(0, <[u8]>::len);
        Ok(part)
    }

    fn fill(&mut self) -> Result<bool> {
        let mut space = vec![0; BUFFER];
        let read = rustix::io::retry_on_intr(|| pread(self.file.as_fd(), &mut *space, self.read))?;
        self.held.extend_from_slice(space.get(..read).unwrap_or_default());
        self.read += read as u64;
        Ok(read > 0)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<Option<[u8; N]>> {
        Ok(self.take(N)?.and_then(|bytes| bytes.first_chunk().copied()))
    }

    pub(crate) fn number(&mut self) -> Result<Option<u64>> {
        Ok(self.array()?.map(u64::from_le_bytes))
    }

    fn time(&mut self) -> Result<Option<Time>> {
        let (seconds, nanoseconds) = (self.array()?, self.array()?);
        let parts = seconds.map(i64::from_le_bytes).zip(nanoseconds.map(u32::from_le_bytes));
        Ok(parts.map(|(seconds, nanoseconds)| Time { seconds, nanoseconds }))
    }

    fn look(&mut self) -> Result<Option<Look>> {
        let mode = self.array()?.map(u32::from_le_bytes);
        Ok(mode.zip(self.time()?).map(|(mode, modified)| Look { mode, modified }))
    }

    pub(crate) fn identity(&mut self) -> Result<Option<Identity>> {
        let (inode, is_known) = (self.number()?, self.array::<1>()?);
        let created = self.time()?;
        let known = is_known.zip(created).map(|([known], time)| (known != 0).then_some(time));
        Ok(inode.zip(known))
    }

    fn path(&mut self) -> Result<Option<Vec<u8>>> {
        match self.array()?.map(u32::from_le_bytes).filter(|len| *len <= LONGEST_PATH) {
            Some(len) => Ok(self.take(len as usize)?.map(<[u8]>::to_vec)),
            None => Ok(None),
        }
    }
}

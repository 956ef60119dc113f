//! What the kernel knows of a file.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, StatxFlags, StatxTimestamp, statx};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::{Error, Result};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device node.
    Special,
}

/// Seconds and nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Whole seconds, negative before 1970.
    pub seconds: i64,
    /// The rest, below a second.
    pub nanoseconds: u32,
}

/// The state of a file at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Permission bits, with setuid, setgid and sticky.
    pub mode: u32,
    /// Length in bytes.
    pub size: u64,
    /// How many names it has.
    pub links: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device, as major and minor.
    pub device: (u32, u32),
    /// Number on its device.
    pub inode: u64,
    /// The mount it was reached through.
    pub mount: u64,
    /// When its content last changed.
    pub modified: Time,
    /// When anything of it last changed.
    pub changed: Time,
    /// When it was made, if the file system keeps that.
    pub created: Option<Time>,
}

impl Stat {
    /// Whether both are the same file.
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The state of an open descriptor.
pub(crate) fn of(fd: impl AsFd) -> Result<Stat> {
    at(fd, c"", AtFlags::EMPTY_PATH)
}

/// The state of an open descriptor as it is now, also on a file system that remembers what it was told
/// a while ago.
pub(crate) fn fresh(fd: impl AsFd) -> Result<Stat> {
    at(fd, c"", AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC)
}

/// The state of a name in a directory, never following it.
pub(crate) fn of_name(dir: impl AsFd, name: impl Arg) -> Result<Stat> {
    at(dir, name, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT)
}

/// The state of what a name in a directory leads to, as far as the kernel knows it by itself. A file
/// system that has to ask somebody, who may never answer, is not asked: what tells files apart is
/// known, and the rest may be of a while ago.
pub(crate) fn followed(dir: impl AsFd, name: impl Arg) -> Result<Stat> {
    at(dir, name, AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC)
}

/// The state of a name in a directory, if it is there.
pub(crate) fn if_there(dir: impl AsFd, name: impl Arg) -> Result<Option<Stat>> {
    match of_name(dir, name) {
        Err(Error::Os(Errno::NOENT)) => Ok(None),
        outcome => outcome.map(Some),
    }
}

fn at(dir: impl AsFd, name: impl Arg, flags: AtFlags) -> Result<Stat> {
    let mask = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
    let raw = statx(dir, name, flags, mask)?;
    let mode = u32::from(raw.stx_mode);
    let has_created = raw.stx_mask & StatxFlags::BTIME.bits() != 0;
    Ok(Stat {
        kind: Kind::of(FileType::from_raw_mode(mode)),
        mode: mode & 0o7777,
        size: raw.stx_size,
        links: raw.stx_nlink,
        uid: raw.stx_uid,
        gid: raw.stx_gid,
        device: (raw.stx_dev_major, raw.stx_dev_minor),
        inode: raw.stx_ino,
        mount: raw.stx_mnt_id,
        modified: Time::of(raw.stx_mtime),
        changed: Time::of(raw.stx_ctime),
        created: has_created.then(|| Time::of(raw.stx_btime)),
    })
}

impl Kind {
    pub(crate) fn of(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Self::Special,
        }
    }
}

impl Time {
    fn of(raw: StatxTimestamp) -> Self {
        Self { seconds: raw.tv_sec, nanoseconds: raw.tv_nsec }
    }
}

//! The content of a host file, read into the store.

use std::ffi::OsStr;

use bytes::Bytes;

use crate::host_fs::{Meaning as _, is_gone};
use crate::tree::{Extent, File, LARGEST_FILE};
use crate::virtual_fs::Intake;
use crate::{Error, ErrorKind, Result};

use super::keeper::Keeper;

/// How often a file that changes meanwhile is read.
const TRIES: usize = 4;
/// How many bytes are read at a time.
const STEP: u64 = 256 << 10;
/// A hole that is shorter is read as zeros: a file full of small holes costs no more than another.
const HOLE: u64 = 256 << 10;
/// The pieces of so many bytes are gathered before they become a part of the file.
const SEGMENT: u64 = 64 << 20;

/// A file as it was read.
pub(super) struct Taken {
    pub(super) file: File,
    pub(super) stat: host::Stat,
    /// Whether nobody changed it meanwhile, as far as the kernel tells.
    pub(super) is_steady: bool,
}

/// Reads the file of a name. One that changes meanwhile is read again, and taken as it was read
/// last if it never stays. None if the name stands for something else by now.
pub(super) fn take_in(
    keeper: &mut Keeper,
    dir: &host::Dir,
    listing: &host::Listing,
    name: &OsStr,
) -> Result<Option<Taken>> {
    let mut taken = None;
    for _ in 0..TRIES {
        let (opened, before) = match dir.open_listed(listing, name) {
            Err(err) if is_gone(err) || is_another_kind(err) => return Ok(None),
            outcome => outcome.meaning()?,
        };
        if before.size > LARGEST_FILE {
            let message = format!("a file in a snapshot has at most {LARGEST_FILE} bytes");
            return Err(Error::new(ErrorKind::FileTooLarge, message));
        }
        let file = read(keeper, &opened, before.size)?;
        let stat = opened.stat().meaning()?;
        let same = |stat: &host::Stat| (stat.size, stat.modified, stat.changed);
        let is_steady = same(&before) == same(&stat);
        taken = Some(Taken { file, stat, is_steady });
        if is_steady {
            break;
        }
    }
    Ok(taken)
}

fn is_another_kind(err: host::Error) -> bool {
    matches!(err, host::Error::Special | host::Error::Os(host::Errno::ISDIR))
}

/// What an open file holds, up to a length or to where it ends by now.
fn read(keeper: &mut Keeper, opened: &host::OpenedFile, len: u64) -> Result<File> {
    let mut growing = Growing { keeper, file: File::empty(), intake: Intake::new(), gathered: 0 };
    let mut at = 0;
    while at < len {
        let (start, stop) = opened.next_bytes(at, len).meaning()?.unwrap_or((len, len));
        let hole = start.saturating_sub(at);
        if hole >= HOLE {
            growing.hole(hole)?;
            at = start;
        }
        while at < stop {
            let want = usize::try_from((stop - at).min(STEP)).unwrap_or_default();
            let mut piece = vec![0; want];
            let read = opened.read_at(&mut piece, at).meaning()?;
            if read == 0 {
                return growing.finish();
            }
            piece.truncate(read);
            growing.bytes(piece.into())?;
            at += read as u64;
        }
    }
    growing.finish()
}

/// A file that grows at its end, with memory that does not.
struct Growing<'a> {
    keeper: &'a mut Keeper,
    file: File,
    intake: Intake,
    gathered: u64,
}

impl Growing<'_> {
    fn bytes(&mut self, piece: Bytes) -> Result<()> {
        self.gathered += piece.len() as u64;
        if self.intake.take(piece) {
            let reader = &self.keeper.reader;
            reader.runtime.block_on(self.intake.store(&reader.trunk))?;
        }
        if self.gathered >= SEGMENT { self.join() } else { Ok(()) }
    }

    fn hole(&mut self, len: u64) -> Result<()> {
        self.join()?;
        self.file = self.keeper.appended(&self.file, &[Extent::hole(len)])?;
        Ok(())
    }

    /// Makes what was gathered a part of the file.
    fn join(&mut self) -> Result<()> {
        self.gathered = 0;
        let intake = std::mem::replace(&mut self.intake, Intake::new());
        let reader = &self.keeper.reader;
        let extents = reader.runtime.block_on(intake.finish(&reader.trunk))?;
        if !extents.is_empty() {
            self.file = self.keeper.appended(&self.file, &extents)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<File> {
        self.join()?;
        Ok(self.file)
    }
}

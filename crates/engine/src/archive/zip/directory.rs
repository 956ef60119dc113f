//! The central directory and the end records, which must tell what came before them.

use std::io::Read;

use super::super::bad;
use super::super::members::Members;
use super::super::names::inward;
use super::fields::Fields;
use super::header::{Central, UnixKind};
use super::ledger::Ledger;
use super::source::Source;
use super::unpack::{DIRECTORY_MODE, FILE_MODE};
use super::{CENTRAL, END, END_64, LOCATOR_64};
use crate::{MAX_PATH, Result};

/// The longest end record; they have 44 bytes behind their length, and may be extended.
const LONGEST_END: u64 = 64 << 10;

/// How many entries there are, how many bytes they take, and where they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    entries: u64,
    bytes: u64,
    begin: u64,
}

/// Reads the archive from behind the first signature that is no member's to its end; gives members
/// their modes, and makes links of those that are links.
pub(super) fn check<'a, R: Read>(
    mut signature: u32,
    begin: u64,
    source: &mut Source<R>,
    ledger: &mut Ledger,
    members: &mut dyn Members<'a>,
) -> Result<()> {
    let mut end = begin;
    while signature == CENTRAL {
        let central = Central::read(source)?;
        ledger.find(central.offset, &central.header)?;
        amend(&central, members)?;
        end = source.position();
        signature = source.signature()?;
    }
    let extent = Extent { entries: ledger.check_found()?, bytes: end - begin, begin };
    let has_large = signature == END_64;
    if has_large {
        check_large(source, end, extent)?;
        signature = source.signature()?;
    }
    if signature != END {
        return Err(bad("the central directory is broken"));
    }
    check_end(source, extent, has_large)
}

/// What could not be known before.
fn amend<'a>(central: &Central, members: &mut dyn Members<'a>) -> Result<()> {
    let Central { header, kind, .. } = central;
    let path = &*header.path;
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    match (kind, header.is_directory) {
        (None | Some(UnixKind::Untold(0)), _) => Ok(()),
        (Some(UnixKind::File(_)), true) => Ok(()),
        (Some(UnixKind::Directory(mode) | UnixKind::Untold(mode)), true) => match *mode {
            DIRECTORY_MODE => Ok(()),
            mode => members.directory(path, mode, header.modified),
        },
        (Some(UnixKind::File(mode) | UnixKind::Untold(mode)), false) => match *mode {
            FILE_MODE => Ok(()),
            mode => members.set_mode(path, mode),
        },
        (Some(UnixKind::Symlink), false) => {
            let target = members.content(path, MAX_PATH)?;
            members.symlink(path, &inward(path, target)?, header.modified)
        }
        (Some(UnixKind::Directory(_)), false) | (Some(UnixKind::Symlink), true) => {
            Err(bad("a member is a file here and a directory there"))
        }
        (Some(UnixKind::Special), _) => Err(bad("a member is a device, a FIFO or a socket")),
    }
}

/// The end record for archives with large numbers, and the one that tells where it is.
fn check_large<R: Read>(source: &mut Source<R>, place: u64, extent: Extent) -> Result<()> {
    let len = Fields(&source.record(8)?).u64()?;
    let len = Some(len).filter(|len| (44..=LONGEST_END).contains(len)).ok_or_else(wrong)?;
    let record = source.record(len as usize)?;
    let mut fields = Fields(&record);
    fields.bytes(4)?; // By which version it was made, and which is needed.
    let disks = (fields.u32()?, fields.u32()?);
    let entries_here = fields.u64()?;
    let told = Extent { entries: fields.u64()?, bytes: fields.u64()?, begin: fields.u64()? };
    if disks != (0, 0) || entries_here != told.entries || told != extent {
        return Err(wrong());
    }
    if source.signature()? != LOCATOR_64 {
        return Err(wrong());
    }
    let record = source.record(16)?;
    let mut fields = Fields(&record);
    let (disk, told, disks) = (fields.u32()?, fields.u64()?, fields.u32()?);
    if disk != 0 || told != place || disks > 1 {
        return Err(wrong());
    }
    Ok(())
}

/// The last record. A number that is too large for it may have only ones if `has_large`.
fn check_end<R: Read>(source: &mut Source<R>, extent: Extent, has_large: bool) -> Result<()> {
    let record = source.record(18)?;
    let mut fields = Fields(&record);
    let disks = (fields.u16()?, fields.u16()?);
    let entries = (fields.u16()?, fields.u16()?);
    let (bytes, begin) = (fields.u32()?, fields.u32()?);
    let comment = source.record(usize::from(fields.u16()?))?;
    let short = |told: u16, truth| u64::from(told) == truth || has_large && told == u16::MAX;
    let long = |told: u32, truth| u64::from(told) == truth || has_large && told == u32::MAX;
    let is_right = short(entries.0, extent.entries)
        && short(entries.1, extent.entries)
        && long(bytes, extent.bytes)
        && long(begin, extent.begin)
        && disks == (0, 0);
    if !is_right {
        return Err(wrong());
    }
    // Who searches for the last record from the end would find another archive in there.
    if comment.windows(4).any(|word| word == END.to_le_bytes()) {
        return Err(bad("the comment of the archive holds another end"));
    }
    if !source.is_at_end()? {
        return Err(bad("something stands behind the end of the archive"));
    }
    Ok(())
}

fn wrong() -> crate::Error {
    bad("the end of the archive does not tell what came before it")
}

//! What a power cut may leave behind in the journal.
//!
//! fjall drops a last batch that ends too early, which is all that a killed process leaves. When the
//! power goes, pages of that batch may be missing in its middle instead, and then fjall refuses to
//! open. A group is written and synced before the next one begins, so that such a batch is the last
//! one and nobody was told that it is there: it can be cut off.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{fsync, ftruncate};
use xxhash_rust::xxh3::xxh3_64;

use crate::Result;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const TRAILER: &[u8] = b"FJL\x03";
/// Disks write nothing smaller.
const SECTOR: usize = 512;

/// Cuts the last batch off the newest journal in `dir`, if it has holes and no other follows it.
/// Says whether it did.
pub(super) fn cut_torn(dir: &Path) -> Result<bool> {
    let Some(path) = newest(dir)? else { return Ok(false) };
    let journal = read(&path)?;
    let whole = whole_batches(&journal);
    let torn = journal.get(whole..).unwrap_or_default();
    if !has_hole(torn, whole) || has_whole_batch(torn) {
        return Ok(false);
    }
    tracing::warn!("the power went during a write that was not acknowledged; it is dropped");
    let file = open_for_writing(&path)?;
    ftruncate(&file, whole as u64).and_then(|()| fsync(&file)).map_err(std::io::Error::from)?;
    Ok(true)
}

/// How many bytes of a journal are whole batches.
fn whole_batches(journal: &[u8]) -> usize {
    let mut rest = journal;
    while let Some(len) = batch_len(rest) {
        rest = rest.get(len..).unwrap_or_default();
    }
    journal.len() - rest.len()
}

/// How many bytes the batch has with which `bytes` begin, if it is whole.
fn batch_len(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    let (tag, count, _seqno) = (take(&mut rest)?, take(&mut rest)?, take::<8>(&mut rest)?);
    if tag != [START] {
        return None;
    }
    let items = rest;
    for _ in 0..u32::from_le_bytes(count) {
        skip_item(&mut rest)?;
    }
    let items = items.get(..items.len() - rest.len())?;
    let (tag, checksum, trailer) = (take(&mut rest)?, take(&mut rest)?, take::<4>(&mut rest)?);
    let is_whole =
        tag == [END] && trailer == TRAILER && u64::from_le_bytes(checksum) == xxh3_64(items);
    is_whole.then_some(bytes.len() - rest.len())
}

fn skip_item(rest: &mut &[u8]) -> Option<()> {
    let (tag, _kind, _codec, _keyspace) =
        (take(rest)?, take::<1>(rest)?, take::<1>(rest)?, take::<8>(rest)?);
    let (key, _plain, stored) = (take(rest)?, take::<4>(rest)?, take(rest)?);
    if tag != [ITEM] {
        return None;
    }
    rest.split_off(..usize::from(u16::from_le_bytes(key)))?;
    rest.split_off(..usize::try_from(u32::from_le_bytes(stored)).ok()?)?;
    Some(())
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    rest.split_off(..N)?.try_into().ok()
}

/// Whether a whole sector of what was written is missing. A bit that flipped leaves none behind.
fn has_hole(torn: &[u8], offset: usize) -> bool {
    let written = torn.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let to_boundary = offset.next_multiple_of(SECTOR) - offset;
    let sectors = torn.get(to_boundary..written).unwrap_or_default().chunks_exact(SECTOR);
    sectors.into_iter().any(|sector| sector.iter().all(|&byte| byte == 0))
}

/// Whether a whole batch begins behind the end of another.
fn has_whole_batch(torn: &[u8]) -> bool {
    let ends = torn.windows(TRAILER.len()).enumerate().filter(|(_, window)| *window == TRAILER);
    ends.filter_map(|(at, _)| torn.get(at + TRAILER.len()..)).any(|rest| batch_len(rest).is_some())
}

#[expect(clippy::disallowed_methods, reason = "the operator named the directory, not a client")]
fn newest(dir: &Path) -> Result<Option<PathBuf>> {
    let mut newest = None;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        if let Some(number) = stem.filter(|_| path.extension().is_some_and(|ext| ext == "jnl")) {
            newest = newest.max(Some((number, path)));
        }
    }
    Ok(newest.map(|(_, path)| path))
}

/// A journal is 64 MB and what was written together when it became so.
#[expect(clippy::disallowed_methods, reason = "the operator named the directory, not a client")]
fn read(journal: &Path) -> Result<Vec<u8>> {
    Ok(fs::read(journal)?)
}

#[expect(clippy::disallowed_methods, reason = "the operator named the directory, not a client")]
fn open_for_writing(journal: &Path) -> Result<File> {
    Ok(File::options().write(true).open(journal)?)
}

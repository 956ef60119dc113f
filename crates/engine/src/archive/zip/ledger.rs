//! What was told before the content of each member, kept short until the central directory comes.

use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use super::super::bad;
use super::header::Header;
use crate::{Error, ErrorKind, Result};

/// How many members there may be. Each takes 32 bytes of memory.
const MOST: usize = 1 << 22;

/// All members that came.
#[derive(Default)]
pub(super) struct Ledger {
    /// In the order of their offsets, for that is how they came.
    members: Vec<Line>,
    /// Hashes of the paths of all that are no directories. The key is ours alone, so that nobody
    /// can make two paths look alike.
    paths: Vec<u64>,
    key: RandomState,
    found: usize,
}

struct Line {
    offset: u64,
    /// Zeros as soon as the central directory told of it.
    digest: [u8; 16],
}

impl Ledger {
    /// Takes down a member.
    pub(super) fn note(&mut self, offset: u64, header: &Header) -> Result<()> {
        if self.members.len() >= MOST {
            let message = format!("a zip archive may hold {MOST} members; tar may hold more");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        self.members.push(Line { offset, digest: digest(header) });
        if !header.is_directory {
            self.paths.push(self.key.hash_one::<&Path>(&header.path));
        }
        Ok(())
    }

    /// Refuses two members of one name: which one the central directory means, nobody could tell.
    pub(super) fn check_names(&mut self) -> Result<()> {
        let mut paths = std::mem::take(&mut self.paths);
        paths.sort_unstable();
        if paths.array_windows().any(|[one, other]| one == other) {
            return Err(bad("two members have the same name"));
        }
        Ok(())
    }

    /// Finds the member that the central directory tells of, once.
    pub(super) fn find(&mut self, offset: u64, header: &Header) -> Result<()> {
        let place = self.members.binary_search_by_key(&offset, |line| line.offset);
        let line = place.ok().and_then(|place| self.members.get_mut(place));
        let line = line.filter(|line| line.digest == digest(header));
        let line = line.ok_or_else(|| {
            bad("the central directory tells of a member that did not come, or not so")
        })?;
        line.digest = [0; 16];
        self.found += 1;
        Ok(())
    }

    /// Refuses members of which the central directory did not tell; says how many there are.
    pub(super) fn check_found(&self) -> Result<u64> {
        if self.found != self.members.len() {
            return Err(bad("the central directory does not tell of every member"));
        }
        Ok(self.found as u64)
    }
}

fn digest(header: &Header) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&header.method.to_le_bytes());
    hasher.update(&header.crc.to_le_bytes());
    hasher.update(&header.compressed.to_le_bytes());
    hasher.update(&header.size.to_le_bytes());
    hasher.update(&header.name);
    let mut digest = [0; 16];
    hasher.finalize_xof().fill(&mut digest);
    digest
}

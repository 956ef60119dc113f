//! Reads an archive member by member. The crate parses headers; it never writes a file.

use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::member::{Extensions, Member, MemberKind, bad};
use super::{ArchiveLimits, Unpacked};
use crate::{DotDot, Error, Result, SandboxPath, UnixTime, name};

const BLOCK: u64 = 512;
/// How many paths the answer lists.
const LISTED: usize = 1024;
/// What other formats begin with.
const COMPRESSED: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"PK\x03\x04", "zip"),
];

/// What takes the members of an archive. Nothing of it is seen before all were taken.
pub(crate) trait Members {
    fn directory(&mut self, path: &Path, mode: u32, modified: UnixTime) -> Result<()>;
    fn file(
        &mut self,
        path: &Path,
        mode: u32,
        modified: UnixTime,
        content: &mut dyn Read,
    ) -> Result<()>;
    fn symlink(&mut self, path: &Path, target: &[u8], modified: UnixTime) -> Result<()>;
    fn hard_link(&mut self, path: &Path, member: &Path) -> Result<()>;
    /// Refuses what would exceed the limits of the tree, given what a member will add.
    fn check_room(&self, more: u64) -> Result<()>;
}

/// Hands the members of an archive to `members`; the links last, so that no member is ever written
/// through one.
pub(crate) fn unpack(
    archive: impl Read,
    dir: &SandboxPath,
    limits: ArchiveLimits,
    members: &mut dyn Members,
) -> Result<Unpacked> {
    let mut source = Watched { source: archive, seen: 0, first: Vec::new(), last_was_zero: false };
    let mut unpacked = Unpacked { paths: Vec::new(), entries: 0 };
    let mut links: Vec<(PathBuf, Vec<u8>, UnixTime)> = Vec::new();
    let (mut bytes, mut end) = (0_u64, 0);
    let mut reader = tar::Archive::new(&mut source);
    let mut extensions = Extensions::default();
    for entry in reader.entries().map_err(broken)?.raw(true) {
        let mut entry = entry.map_err(broken)?;
        end = entry.raw_file_position().saturating_add(entry.size());
        if extensions.take(&mut entry)? {
            continue;
        }
        let member = Member::read(&entry, std::mem::take(&mut extensions))?;
        let Member { path, kind, mode, modified } = member;
        if path.as_os_str().is_empty() || matches!(kind, MemberKind::Nothing) {
            continue;
        }
        let place = dir.resolve(&name::to_text(path.as_os_str().as_bytes()), DotDot::Refuse)?;
        unpacked.entries += 1;
        bytes = bytes.saturating_add(entry.size());
        limits.check(bytes, unpacked.entries, path.components().count() as u64)?;
        members.check_room(entry.size())?;
        let outcome = match kind {
            MemberKind::Directory => members.directory(&path, mode, modified),
            MemberKind::File => members.file(&path, mode, modified, &mut entry),
            MemberKind::HardLink(member) => members.hard_link(&path, &member),
            MemberKind::Symlink(target) => {
                links.push((path, target, modified));
                Ok(())
            }
            MemberKind::Nothing => Ok(()),
        };
        outcome.map_err(|err| err.on(&place))?;
        if unpacked.paths.len() < LISTED {
            unpacked.paths.push(place);
        }
    }
    if extensions != Extensions::default() {
        return Err(bad("an extension header belongs to no member"));
    }
    source.check_end(end.checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX))?;
    for (path, target, modified) in links {
        members.symlink(&path, &target, modified)?;
    }
    Ok(unpacked)
}

/// What a failed read of the archive means: the body broke off, or it is no archive.
pub(crate) fn broken(err: io::Error) -> Error {
    match err.downcast::<Error>() {
        Ok(err) => err,
        Err(err) => bad("the archive is broken or cut off").because(err),
    }
}

/// Remembers how the archive began and ended.
struct Watched<R> {
    source: R,
    seen: u64,
    first: Vec<u8>,
    last_was_zero: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let len = self.source.read(space)?;
        let read = space.get(..len).unwrap_or_default();
        if self.seen < 8 {
            self.first.extend_from_slice(read.get(..len.min(8)).unwrap_or_default());
            for (magic, format) in COMPRESSED {
                if self.first.starts_with(magic) {
                    let message =
                        format!("the archive is compressed with {format}; send plain tar");
                    return Err(io::Error::other(bad(message)));
                }
            }
        }
        if len > 0 {
            self.seen += len as u64;
            self.last_was_zero = read.iter().all(|byte| *byte == 0);
        }
        Ok(len)
    }
}

impl<R> Watched<R> {
    /// An archive ends with blocks of zeros behind its last member; one that just stops was cut
    /// off.
    fn check_end(&self, end_of_members: u64) -> Result<()> {
        if self.seen == 0 || self.seen > end_of_members && self.last_was_zero {
            return Ok(());
        }
        Err(bad("the archive ends without its end marker, so it may be cut off"))
    }
}

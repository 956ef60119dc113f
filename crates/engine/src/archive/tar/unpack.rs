//! Reads an archive member by member. The crate parses headers; it never writes a file.

use std::io::{self, Read};
use std::path::PathBuf;

use super::super::members::{Count, Members};
use super::super::{bad, broken};
use super::BLOCK;
use super::member::{Extensions, Member, MemberKind};
use crate::{Result, UnixTime};

/// What other formats begin with.
const COMPRESSED: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"PK\x03\x04", "zip"),
];

/// Hands the members of an archive to `members`; the links last, so that no member is ever written
/// through one.
pub(in crate::archive) fn unpack<'a>(
    archive: impl Read,
    count: &mut Count<'_>,
    members: &mut dyn Members<'a>,
) -> Result<()> {
    let mut source = Watched { source: archive, seen: 0, first: Vec::new(), last_was_zero: false };
    let mut links: Vec<(PathBuf, Vec<u8>, UnixTime)> = Vec::new();
    let mut end = 0;
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
        let place = count.member(&path, entry.size())?;
        members.gauge()(entry.size())?;
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
    }
    if extensions != Extensions::default() {
        return Err(bad("an extension header belongs to no member"));
    }
    source.check_end(end.checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX))?;
    for (path, target, modified) in links {
        members.symlink(&path, &target, modified)?;
    }
    Ok(())
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
                    let message = format!("the archive is {format} where tar was expected");
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

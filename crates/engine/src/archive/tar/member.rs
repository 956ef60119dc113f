//! What a member of a tar archive says of itself, before anything is believed.

use std::borrow::Cow;
use std::io::Read;
use std::path::PathBuf;

use super::super::names::{inward, relative};
use super::super::{bad, broken};
use crate::{Result, UnixTime};

/// The longest extension header: names are at most a page, and nothing else is needed.
const LONGEST_EXTENSION: u64 = 64 << 10;

/// What extension headers said about the next member.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Extensions {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    modified: Option<UnixTime>,
}

/// A member's header, checked.
#[derive(Debug)]
pub(super) struct Member {
    /// Its path, relative, without `.` or `..`; empty for the destination itself.
    pub(super) path: PathBuf,
    pub(super) kind: MemberKind,
    pub(super) mode: u32,
    pub(super) modified: UnixTime,
}

#[derive(Debug)]
pub(super) enum MemberKind {
    File,
    Directory,
    Symlink(Vec<u8>),
    HardLink(PathBuf),
    /// A header for all members, which says nothing we use.
    Nothing,
}

impl Extensions {
    /// Takes in an extension header; says whether the entry was one.
    pub(super) fn take<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>) -> Result<bool> {
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() {
            self.path = Some(without_nul(text(entry)?));
        } else if kind.is_gnu_longlink() {
            self.link = Some(without_nul(text(entry)?));
        } else if kind.is_pax_local_extensions() {
            let records = text(entry)?;
            self.take_records(&records)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn take_records(&mut self, records: &[u8]) -> Result<()> {
        for record in tar::PaxExtensions::new(records) {
            let record = record.map_err(|err| bad("an extension header is broken").because(err))?;
            match record.key_bytes() {
                b"path" => self.path = Some(record.value_bytes().to_vec()),
                b"linkpath" => self.link = Some(record.value_bytes().to_vec()),
                b"mtime" => self.modified = record.value().ok().and_then(time),
                // Two sizes for one member let two readers see two different archives.
                b"size" => return Err(bad("a member's size stands in an extension header")),
                key if key.starts_with(b"GNU.sparse") => return Err(bad("sparse members")),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Member {
    pub(super) fn read<R: Read>(entry: &tar::Entry<'_, R>, extensions: Extensions) -> Result<Self> {
        let header = entry.header();
        let given = extensions.path.unwrap_or_else(|| entry.path_bytes().into_owned());
        let path = relative(&given)?;
        let link = || extensions.link.or_else(|| entry.link_name_bytes().map(Cow::into_owned));
        let flag = header.entry_type();
        let is_file = flag.is_file() || flag.is_contiguous();
        // Archives older than the type flag mark directories by a slash.
        let kind = if flag.is_dir() || is_file && given.ends_with(b"/") {
            MemberKind::Directory
        } else if is_file {
            MemberKind::File
        } else if flag.is_symlink() {
            MemberKind::Symlink(inward(&path, link())?)
        } else if flag.is_hard_link() {
            MemberKind::HardLink(relative(&link().unwrap_or_default())?)
        } else if flag.is_pax_global_extensions() {
            MemberKind::Nothing
        } else {
            return Err(bad("a member is a device, a FIFO, sparse or of an unknown type"));
        };
        let broken = |err: std::io::Error| bad("a member's header is broken").because(err);
        let mode = header.mode().map_err(broken)?;
        let seconds = i64::try_from(header.mtime().map_err(broken)?).unwrap_or_default();
        let stamped = UnixTime { seconds, nanoseconds: 0 };
        Ok(Self { path, kind, mode, modified: extensions.modified.unwrap_or(stamped) })
    }
}

fn text<R: Read>(entry: &mut tar::Entry<'_, R>) -> Result<Vec<u8>> {
    if entry.size() > LONGEST_EXTENSION {
        return Err(bad("an extension header is too long"));
    }
    let mut text = Vec::new();
    entry.read_to_end(&mut text).map_err(broken)?;
    Ok(text)
}

fn without_nul(mut text: Vec<u8>) -> Vec<u8> {
    if text.last() == Some(&0) {
        text.pop();
    }
    text
}

fn time(text: &str) -> Option<UnixTime> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    Some(UnixTime { seconds: seconds.parse().ok()?, nanoseconds: digits.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_of_a_second_counts_from_the_left() {
        assert_eq!(time("12.5"), Some(UnixTime { seconds: 12, nanoseconds: 500_000_000 }));
    }
}

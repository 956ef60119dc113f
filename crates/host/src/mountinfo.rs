//! Whether something is mounted inside a tree, which must then neither be moved nor removed.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, open, readlinkat};

use crate::{Error, Process, Result, process};

/// More than any table of mounts has.
const MOST_TABLE: usize = 16 << 20;

/// Whose mounts are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Table<'a> {
    /// Those of this process.
    Own,
    /// Those of a container's process, which has others.
    Of(&'a Process),
}

impl Table<'_> {
    /// Whether a mount point lies at `name` in `dir` or beneath it.
    pub(crate) fn is_mount_inside(self, dir: &OwnedFd, name: &OsStr) -> Result<bool> {
        let mut path = self.path_of(dir)?;
        path.extend_from_slice(name.as_bytes());
        self.is_any(&path, |rest| matches!(rest, [] | [b'/', ..]))
    }

    /// Whether a mount point lies beneath `path` in `dir`, or beneath `dir` itself where that is
    /// empty.
    pub(crate) fn is_mount_beneath(self, dir: &OwnedFd, path: &Path) -> Result<bool> {
        let mut names = self.path_of(dir)?;
        if !path.as_os_str().is_empty() {
            names.extend_from_slice(path.as_os_str().as_bytes());
            return self.is_any(&names, |rest| matches!(rest, [] | [b'/', ..]));
        }
        self.is_any(&names, |rest| !rest.is_empty())
    }

    /// The path of an open directory as this table spells it.
    fn path_of(self, dir: &OwnedFd) -> Result<Vec<u8>> {
        let path = path_of(dir)?;
        let Self::Of(process) = self else { return Ok(path) };
        // The table begins at the root of the process, and what a descriptor says of itself where
        // its mounts begin; these are two where the process changed its root without new mounts.
        let root = path_of(&process.root()?)?;
        let inner = path.strip_prefix(root.as_slice()).ok_or(Error::MountInside)?;
        Ok([b"/", inner].concat())
    }

    /// Whether any mount point begins like that and goes on as asked.
    fn is_any(self, beginning: &[u8], rest: impl Fn(&[u8]) -> bool) -> Result<bool> {
        let text = match self {
            Self::Own => {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                let file = open("/proc/self/mountinfo", flags, Mode::empty())?;
                process::read_all(&file, MOST_TABLE)?
            }
            Self::Of(process) => process.mounts()?,
        };
        let points = mount_points(&text);
        Ok(points.iter().any(|point| point.as_bytes().strip_prefix(beginning).is_some_and(&rest)))
    }
}

/// The path of an open directory, with a slash at its end.
fn path_of(dir: &OwnedFd) -> Result<Vec<u8>> {
    let own = format!("/proc/self/fd/{}", dir.as_raw_fd());
    let mut path = readlinkat(CWD, own, Vec::new())?.into_bytes();
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    Ok(path)
}

fn mount_points(text: &[u8]) -> Vec<OsString> {
    let points = text.split(|byte| *byte == b'\n').filter_map(|line| {
        let point = line.split(|byte| *byte == b' ').nth(4)?;
        Some(OsString::from_vec(unescaped(point)))
    });
    points.collect()
}

/// The kernel writes space, tab, newline and backslash as three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        match rest {
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] => {
                plain.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = tail;
            }
            [byte, tail @ ..] => {
                plain.push(*byte);
                rest = tail;
            }
            [] => return plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_blanks_come_back() {
        assert_eq!(unescaped(br"/mnt/a\040b\134c"), b"/mnt/a b\\c");
    }

    #[test]
    fn the_process_directory_is_a_mount() {
        let own = Process::find(std::process::id()).unwrap().mounts().unwrap();
        assert!(mount_points(&own).iter().any(|point| point == "/proc"));
    }
}

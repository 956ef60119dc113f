//! Whether something is mounted inside a tree, which must then neither be moved nor removed.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, open, readlinkat};

use crate::Result;

/// Whether a mount point lies at `name` in `dir` or beneath it.
pub(crate) fn is_mount_inside(dir: &OwnedFd, name: &OsStr) -> Result<bool> {
    let mut path = path_of(dir)?;
    path.extend_from_slice(name.as_bytes());
    is_any(&path, |rest| matches!(rest, [] | [b'/', ..]))
}

/// Whether a mount point lies beneath `path` in `dir`, or beneath `dir` itself where that is empty.
pub(crate) fn is_mount_beneath(dir: &OwnedFd, path: &Path) -> Result<bool> {
    let mut names = path_of(dir)?;
    if !path.as_os_str().is_empty() {
        names.extend_from_slice(path.as_os_str().as_bytes());
        return is_any(&names, |rest| matches!(rest, [] | [b'/', ..]));
    }
    is_any(&names, |rest| !rest.is_empty())
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

/// Whether any mount point begins like that and goes on as asked.
fn is_any(beginning: &[u8], rest: impl Fn(&[u8]) -> bool) -> Result<bool> {
    let points = mount_points()?;
    Ok(points.iter().any(|point| point.as_bytes().strip_prefix(beginning).is_some_and(&rest)))
}

fn mount_points() -> Result<Vec<OsString>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = open("/proc/self/mountinfo", flags, Mode::empty())?;
    let mut text = Vec::new();
    let mut space = [0; 8192];
    loop {
        match rustix::io::retry_on_intr(|| rustix::io::read(&file, &mut space[..]))? {
            0 => break,
            len => text.extend_from_slice(space.get(..len).unwrap_or_default()),
        }
    }
    let points = text.split(|byte| *byte == b'\n').filter_map(|line| {
        let point = line.split(|byte| *byte == b' ').nth(4)?;
        Some(OsString::from_vec(unescaped(point)))
    });
    Ok(points.collect())
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
        assert!(mount_points().unwrap().iter().any(|point| point == "/proc"));
    }
}

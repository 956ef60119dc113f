//! What a tree refuses, and in which words.

use crate::tree::{LARGEST_FILE, Node, Stop, Sum};
use crate::{Error, ErrorKind, If, Limits, Result, SandboxPath};

use super::super::entry::version;

/// Refuses what takes a tree over a limit.
pub(in crate::virtual_fs) fn check_limits(
    limits: &Limits,
    before: &Sum,
    after: &Sum,
) -> Result<()> {
    if after.largest > before.largest {
        check_file_size(limits, after.largest)?;
    }
    limits.check((before.bytes, before.nodes() + 1), (after.bytes, after.nodes() + 1))
}

/// Refuses a file that grows longer than a file may be.
pub(in crate::virtual_fs) fn check_growth(limits: &Limits, before: u64, after: u64) -> Result<()> {
    if after > before { check_file_size(limits, after) } else { Ok(()) }
}

/// Refuses a file that is longer than a file may be.
pub(in crate::virtual_fs) fn check_file_size(limits: &Limits, size: u64) -> Result<()> {
    limits.check_file_size(size, LARGEST_FILE)
}

pub(in crate::virtual_fs) fn on(stop: Stop, path: &SandboxPath) -> Stop {
    match stop {
        Stop::Failed(err) => Stop::Failed(err.on(path)),
        Stop::Need(need) => Stop::Need(need),
    }
}

pub(in crate::virtual_fs) fn not_found() -> Error {
    Error::new(ErrorKind::NotFound, "path not found")
}

pub(in crate::virtual_fs) fn is_a_directory() -> Error {
    Error::new(ErrorKind::IsADirectory, "path is not a file")
}

/// Refuses when what is there is not what the caller believes.
pub(super) fn check_expected(expected: &If, there: Option<&Node>) -> Result<()> {
    let current = match expected {
        If::Always | If::Exists | If::Missing => there.map(|_| crate::Version::new("")),
        If::Matches(_) | If::Differs(_) => there.map(version),
    };
    if expected.holds(current.as_ref()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::PreconditionFailed, "the file is not in the expected state"))
}

pub(super) fn refuse_root(path: &SandboxPath, message: &'static str) -> Result<()> {
    if path.is_root() { Err(Error::new(ErrorKind::InvalidArgument, message)) } else { Ok(()) }
}

pub(super) fn exists() -> Error {
    Error::new(ErrorKind::AlreadyExists, "destination already exists")
}

pub(in crate::virtual_fs) fn not_a_directory() -> Error {
    Error::new(ErrorKind::NotADirectory, "path is not a directory")
}

//! Modes and times, and a look at what is there.

use crate::tree::{Draft, End, Node, Stop, Touch};
use crate::{Error, ErrorKind, If, Links, MetadataChange, SandboxPath};

use super::super::entry::entry;
use super::Applied;
use super::refusal::{check_expected, not_found};

pub(super) fn set_metadata(
    draft: &mut Draft<'_>,
    path: &SandboxPath,
    change: MetadataChange,
) -> Result<Applied, Stop> {
    if path.is_root() {
        return Err(root_is_the_operators().into());
    }
    if change.modified.is_some_and(|time| time.nanoseconds > 999_999_999) {
        let message = "a time has less than 1,000,000,000 nanoseconds";
        return Err(Error::new(ErrorKind::InvalidArgument, message).into());
    }
    let way = draft.resolve(path, Links::Follow)?;
    if draft.is_floor(&way) {
        return Err(root_is_the_operators().into());
    }
    let old = match &way.end {
        End::Root => &draft.root,
        End::Item(item) => &item.node,
        End::Missing(_) => return Err(not_found().into()),
    };
    let mode = change.mode.map_or(old.mode, |mode| (mode & 0o777) as u16);
    let modified = change.modified.unwrap_or(old.modified);
    let node = Node { mode, modified, stamp: draft.stamp, ..old.clone() };
    let applied = Applied::at(path, &node);
    draft.put(&way, node, Touch::Nothing)?;
    Ok(applied)
}

pub(super) fn check(draft: &Draft<'_>, path: &SandboxPath, expected: &If) -> Result<Applied, Stop> {
    let way = draft.resolve(path, Links::Follow)?;
    let there = match &way.end {
        End::Root => Some(&draft.root),
        End::Item(item) => Some(&item.node),
        End::Missing(_) => None,
    };
    check_expected(expected, there)?;
    let entry = there.map(|node| entry(path.clone(), node));
    Ok(Applied { entry, ..Applied::nothing() })
}

fn root_is_the_operators() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the root's mode and time are the operator's")
}

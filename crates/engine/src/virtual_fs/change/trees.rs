//! Whole trees that come from elsewhere: archives and earlier states.

use crate::tree::{Draft, End, Node, Stop, Touch};
use crate::{Error, ErrorKind, Links, SandboxPath};

use super::super::merge::merge;
use super::{Applied, Fate};

pub(super) fn graft(
    draft: &mut Draft<'_>,
    dir: &SandboxPath,
    tree: &Node,
) -> Result<Applied, Stop> {
    let way = draft.resolve(dir, Links::Follow)?;
    let there = match &way.end {
        End::Root => Some(&draft.root),
        End::Item(item) => Some(&item.node),
        End::Missing(_) => None,
    };
    let node = match there {
        Some(there) if there.directory().is_none() => {
            return Err(Error::new(ErrorKind::NotADirectory, "path is not a directory").into());
        }
        Some(there) => merge(draft, there, tree)?,
        None => tree.clone(),
    };
    let applied = Applied { fate: Some(Fate::Unknown(way.path())), ..Applied::at(dir, &node) };
    draft.put(&way, node, Touch::Names)?;
    Ok(applied)
}

pub(super) fn restore(
    draft: &mut Draft<'_>,
    path: &SandboxPath,
    node: Option<&Node>,
) -> Result<Applied, Stop> {
    let way = draft.resolve(path, Links::Keep)?;
    let fate = Some(Fate::Unknown(way.path()));
    match (node, &way.end) {
        (Some(node), _) => {
            let applied = Applied { fate, ..Applied::at(path, node) };
            draft.put(&way, node.clone(), Touch::Names)?;
            return Ok(applied);
        }
        (None, End::Item(item)) => draft.remove(&way.dirs, &item.name)?,
        (None, End::Root | End::Missing(_)) => {}
    }
    Ok(Applied { fate, ..Applied::nothing() })
}

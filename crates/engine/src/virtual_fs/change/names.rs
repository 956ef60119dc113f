//! Names that come and go: directories, links, removals.

use std::sync::Arc;

use crate::tree::{Body, Directory, Draft, End, Stop, Touch};
use crate::{Depth, Error, ErrorKind, If, Links, Parents, SandboxPath, name};

use super::refusal::{check_expected, exists, not_found, refuse_root};
use super::{Applied, Fate};

const NEW_LINK: u16 = 0o777;

pub(super) fn create_dir(
    draft: &mut Draft<'_>,
    dir: &SandboxPath,
    parents: Parents,
) -> Result<Applied, Stop> {
    let way = draft.resolve(dir, Links::Keep)?;
    match &way.end {
        End::Missing(names) if parents == Parents::Require && names.len() > 1 => {
            return Err(not_found().into());
        }
        End::Missing(_) => {}
        End::Root | End::Item(_) if parents == Parents::Require => return Err(exists().into()),
        End::Root | End::Item(_) => {
            let followed = draft.resolve(dir, Links::Follow)?;
            let there = followed.item().map_or(&draft.root, |item| &item.node);
            let is_there = !matches!(followed.end, End::Missing(_)) && there.directory().is_some();
            return if is_there { Ok(Applied::at(dir, there)) } else { Err(exists().into()) };
        }
    }
    let node = draft.new_directory(Directory::default());
    let applied = Applied { created: true, ..Applied::at(dir, &node) };
    draft.put(&way, node, Touch::Names)?;
    Ok(applied)
}

pub(super) fn symlink(
    draft: &mut Draft<'_>,
    link: &SandboxPath,
    target: &Arc<str>,
) -> Result<Applied, Stop> {
    let len = name::to_bytes(target).len();
    if len == 0 || len > 4095 || target.contains('\0') {
        let message = "a link's target is 1 to 4,095 bytes without NUL";
        return Err(Error::new(ErrorKind::InvalidArgument, message).into());
    }
    let way = draft.resolve(link, Links::Keep)?;
    if !matches!(way.end, End::Missing(_)) {
        return Err(exists().into());
    }
    let node = draft.new_node(NEW_LINK, Body::Symlink(Arc::from(&*name::canonical(target))));
    let applied = Applied { created: true, ..Applied::at(link, &node) };
    draft.put(&way, node, Touch::Names)?;
    Ok(applied)
}

pub(super) fn remove(
    draft: &mut Draft<'_>,
    path: &SandboxPath,
    depth: Depth,
    expected: &If,
) -> Result<Applied, Stop> {
    refuse_root(path, "the root cannot be removed")?;
    let way = draft.resolve(path, Links::Keep)?;
    check_expected(expected, way.item().map(|item| &item.node))?;
    let item = way.item().ok_or_else(not_found)?;
    let is_full = item.node.directory().is_some_and(|dir| dir.top.is_some());
    if depth == Depth::One && is_full {
        let message = "directory not empty";
        return Err(Error::new(ErrorKind::DirectoryNotEmpty, message).into());
    }
    draft.remove(&way.dirs, &item.name)?;
    Ok(Applied { fate: Some(Fate::Gone(way.path())), ..Applied::nothing() })
}

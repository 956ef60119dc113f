//! Whatever has a name, moved or copied to another.

use std::sync::Arc;

use crate::tree::{Draft, End, Stop, Touch, Way};
use crate::{Error, ErrorKind, Links, Result, SandboxPath, Target};

use super::super::merge::merge;
use super::refusal::{exists, not_found, on, refuse_root};
use super::{Applied, Fate};

/// What a relocation leaves where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    Nothing,
    Source,
}

pub(super) fn relocate(
    draft: &mut Draft<'_>,
    from: &SandboxPath,
    to: &SandboxPath,
    target: Target,
    leave: Leave,
) -> Result<Applied, Stop> {
    let source = draft.resolve(from, Links::Keep).map_err(|stop| on(stop, from))?;
    if from == to {
        let node = source.item().map_or(&draft.root, |item| &item.node);
        let found = !matches!(source.end, End::Missing(_));
        return if found { Ok(Applied::at(from, node)) } else { Err(not_found().on(from).into()) };
    }
    refuse_root(from, "the root cannot be moved, nor copied into itself")?;
    refuse_inside(from, to, target)?;
    let item = Arc::clone(source.item().ok_or_else(|| not_found().on(from))?);
    let dest = draft.resolve(to, Links::Keep).map_err(|stop| on(stop, to))?;
    let there = match &dest.end {
        End::Root => Some(draft.root.clone()),
        End::Item(item) => Some(item.node.clone()),
        End::Missing(_) => None,
    };
    // The same name, reached by another way.
    if let (Some(_), End::Item(_)) = (&there, &dest.end)
        && dest.path() == source.path()
    {
        return Ok(Applied::at(to, &item.node));
    }
    if there.is_some() && target == Target::New {
        return Err(exists().on(to).into());
    }
    let inside = dest.is_within(&source.dirs, &item.name);
    if inside || source.is_within_way(&dest) {
        return Err(into_itself().on(to).into());
    }
    let fate = match (leave, target) {
        (leave, Target::Merge) => Fate::Poured { from: source.path(), to: dest.path(), leave },
        (Leave::Source, Target::New | Target::Replace) => Fate::Gone(dest.path()),
        (Leave::Nothing, Target::New | Target::Replace) => {
            Fate::Moved { from: source.path(), to: dest.path() }
        }
    };
    let node = match (target, &there) {
        (Target::Merge, Some(there)) => {
            merge(draft, there, &item.node).map_err(|stop| on(stop, to))?
        }
        (Target::New | Target::Replace | Target::Merge, _) => item.node.clone(),
    };
    if leave == Leave::Nothing {
        draft.remove(&source.dirs, &item.name)?;
    }
    // The directories on the way may be others since the source went, and a link on it may have
    // led through the source.
    let dest = draft.resolve(&dest.path(), Links::Keep).map_err(|stop| on(stop, to))?;
    let applied = Applied { fate: Some(fate), created: there.is_none(), ..Applied::at(to, &node) };
    draft.put(&dest, node, Touch::Names)?;
    Ok(applied)
}

impl Way {
    /// Whether the end of this way lies beneath the end of `other`, or is it.
    fn is_within_way(&self, other: &Self) -> bool {
        match &other.end {
            End::Root => true,
            End::Item(item) => self.is_within(&other.dirs, &item.name),
            End::Missing(_) => false,
        }
    }
}

/// Refuses to put a directory into itself, or to let it replace what holds it.
fn refuse_inside(from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<()> {
    if to.is_root() && target == Target::New {
        return Err(exists().on(to));
    }
    if to.starts_with(from) || from.starts_with(to) && target != Target::New {
        return Err(into_itself().on(to));
    }
    Ok(())
}

fn into_itself() -> Error {
    let message = "a directory cannot go into itself or replace its parent";
    Error::new(ErrorKind::InvalidArgument, message)
}

//! Files that are made, replaced, lengthened and cut.

use std::sync::Arc;

use crate::tree::{
    Body, Draft, End, Extent, File, InMemory, Node, Placing, Stamp, Stop, Sum, Touch,
    check_possible,
};
use crate::{Error, ErrorKind, If, Limits, Links, Parents, Part, SandboxPath, UnixTime, WriteMode};

use super::super::root::Root;
use super::refusal::{
    check_expected, check_file_size, check_growth, check_limits, exists, is_a_directory, not_found,
};
use super::{Applied, Change, Fate};

const NEW_FILE: u16 = 0o644;

pub(super) fn write(
    draft: &mut Draft<'_>,
    file: &SandboxPath,
    content: &Arc<[Extent]>,
    (mode, parents): (WriteMode, Parents),
    expected: &If,
    limits: &Limits,
) -> Result<Applied, Stop> {
    // A new file never appears where a link leads.
    let links = if mode == WriteMode::CreateNew { Links::Keep } else { Links::Follow };
    let way = draft.resolve(file, links)?;
    let there = match &way.end {
        End::Root | End::Item(_) if mode == WriteMode::CreateNew => return Err(exists().into()),
        End::Root => return Err(is_a_directory().into()),
        End::Item(item) => Some(&item.node),
        End::Missing(names) if parents == Parents::Require && names.len() > 1 => {
            return Err(not_found().into());
        }
        End::Missing(_) => None,
    };
    let old = match there.map(|node| (node, node.file())) {
        Some((_, None)) => return Err(is_a_directory().into()),
        Some((node, Some(held))) => Some((node, held)),
        None => None,
    };
    check_expected(expected, old.map(|(node, _)| node))?;
    let held = old.map(|(_, held)| held);
    let written = inserted(draft, held, content, mode, limits)?;
    let node = match old {
        Some((node, _)) => {
            Node { modified: draft.now, stamp: draft.stamp, body: Body::File(written), ..*node }
        }
        None => draft.new_node(NEW_FILE, Body::File(written)),
    };
    let whole = matches!(mode, WriteMode::Replace | WriteMode::CreateNew);
    let touch = if whole || old.is_none() { Touch::Names } else { Touch::Nothing };
    let mut applied = Applied::at(file, &node);
    applied.created = old.is_none();
    applied.fate = (whole && old.is_some()).then(|| Fate::Gone(way.path()));
    draft.put(&way, node, touch)?;
    Ok(applied)
}

/// Makes a new small file by changing the tree itself. Does nothing where that takes more than a look,
/// and where there is anything to refuse.
pub(in crate::virtual_fs) fn create_in_place(
    root: &mut Root,
    change: &Change,
    now: UnixTime,
    stamp: Stamp,
) -> Option<Applied> {
    // No link is followed here at all, so that a path beneath a floor stays beneath it.
    if let Change::Within { floor, change } = change {
        let is_inside = change.path()?.starts_with(floor);
        return is_inside.then(|| create_in_place(root, change, now, stamp))?;
    }
    let Change::Write { file, content, .. } = change else { return None };
    let len = content.iter().map(|extent| extent.len).sum();
    let sum = Sum { names: 1, depth: 1, files: 1, bytes: len, largest: len, ..Sum::default() };
    let before = root.sum();
    let mut after = before;
    after += sum;
    check_file_size(&root.limits, len).ok()?;
    check_limits(&root.limits, &before, &after).ok()?;
    check_possible(&after).ok()?;
    let (mut applied, heights) = (None, root.family.heights);
    let make = || {
        let body = Body::File(File::of(Arc::clone(content), &InMemory).ok()?);
        let node = Node { mode: NEW_FILE, created: now, modified: now, stamp, body };
        applied = Some(Applied { created: true, ..Applied::at(file, &node) });
        Some(node)
    };
    let placing = Placing { sum, heights: &heights, now, stamp };
    placing.put(&mut root.tree, file, make)?;
    applied
}

/// The file that a write makes of the one that is there.
fn inserted(
    draft: &Draft<'_>,
    held: Option<&File>,
    content: &Arc<[Extent]>,
    mode: WriteMode,
    limits: &Limits,
) -> Result<File, Stop> {
    let (empty, source) = (File::empty(), draft.source);
    let old = held.unwrap_or(&empty);
    let added = content.iter().map(|extent| extent.len).sum::<u64>();
    let size = old.len();
    let (offset, total) = match mode {
        WriteMode::CreateNew | WriteMode::Replace => {
            check_file_size(limits, added)?;
            return Ok(File::of(Arc::clone(content), source)?);
        }
        WriteMode::Append => (size, None),
        WriteMode::Part(Part { offset, total }) => (offset, total),
    };
    // Nothing at all goes nowhere, not even behind the end.
    let after = if added == 0 { size } else { size.max(offset.saturating_add(added)) };
    check_growth(limits, size, after)?;
    if let Some(total) = total.filter(|total| *total != after) {
        let message = format!("the file would have {after} bytes instead of {total}");
        return Err(Error::new(ErrorKind::PreconditionFailed, message).into());
    }
    if added == 0 {
        return Ok(old.clone());
    }
    let gap = offset.checked_sub(size).filter(|gap| *gap > 0).map(Extent::hole);
    let pieces = gap.into_iter().chain(content.iter().cloned()).collect();
    Ok(old.written(offset.min(size), pieces, source)?)
}

pub(super) fn set_len(
    draft: &mut Draft<'_>,
    file: &SandboxPath,
    len: u64,
    limits: &Limits,
) -> Result<Applied, Stop> {
    let way = draft.resolve(file, Links::Keep)?;
    let item = way.item().ok_or_else(not_found)?;
    let old = item.node.file().ok_or_else(is_a_directory)?;
    check_growth(limits, old.len(), len)?;
    let body = Body::File(old.resized(len, draft.source)?);
    let node = Node { modified: draft.now, stamp: draft.stamp, body, ..item.node };
    let applied = Applied::at(file, &node);
    draft.put(&way, node, Touch::Nothing)?;
    Ok(applied)
}

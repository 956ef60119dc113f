//! Changes of a tree, as a caller means them: they can be applied again to another state of it.

use std::sync::Arc;

use crate::tree::{
    Body, Draft, End, Extent, FEW, File, InMemory, LARGEST_FILE, Node, Placing, Stamp, Stop, Sum,
    Touch, Way, check_possible,
};
use crate::{
    Depth, Entry, Error, ErrorKind, If, Limits, Links, MetadataChange, Parents, Part, Result,
    SandboxPath, Step, Target, UnixTime, WriteMode, Written, name,
};

use super::body::cut;
use super::entry::{entry, version};
use super::handles::{At, Place};
use super::merge::merge;
use super::root::Root;

const NEW_FILE: u16 = 0o644;
const NEW_LINK: u16 = 0o777;

/// One change of a tree.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Write {
        file: SandboxPath,
        content: Arc<[Extent]>,
        mode: WriteMode,
        parents: Parents,
        expected: If,
    },
    CreateDir {
        dir: SandboxPath,
        parents: Parents,
    },
    Symlink {
        link: SandboxPath,
        target: Arc<str>,
    },
    Remove {
        path: SandboxPath,
        depth: Depth,
        expected: If,
    },
    Rename {
        from: SandboxPath,
        to: SandboxPath,
        target: Target,
    },
    Copy {
        from: SandboxPath,
        to: SandboxPath,
        target: Target,
    },
    SetMetadata {
        path: SandboxPath,
        change: MetadataChange,
    },
    /// Nothing but a look: what is there must be as expected.
    Check {
        path: SandboxPath,
        expected: If,
    },
    /// Cuts a file or lengthens it with zeros.
    SetLen {
        file: SandboxPath,
        len: u64,
    },
    /// Pours a tree of new files into a directory, which is made.
    Graft {
        dir: SandboxPath,
        tree: Node,
    },
    /// Puts a node of another state of the tree at a path, or takes away what is there.
    Restore {
        path: SandboxPath,
        node: Option<Node>,
    },
    /// What the tree may hold from now on.
    SetLimits(Limits),
    /// A change of an open file, if it is still where the change believes it to be.
    Through {
        place: Arc<Place>,
        change: Box<Self>,
    },
}

impl Change {
    /// What an error is about that says nothing closer.
    pub(super) fn path(&self) -> Option<&SandboxPath> {
        match self {
            Self::Write { file: path, .. }
            | Self::CreateDir { dir: path, .. }
            | Self::Symlink { link: path, .. }
            | Self::Remove { path, .. }
            | Self::Rename { from: path, .. }
            | Self::Copy { from: path, .. }
            | Self::SetMetadata { path, .. }
            | Self::Check { path, .. }
            | Self::SetLen { file: path, .. }
            | Self::Graft { dir: path, .. }
            | Self::Restore { path, .. } => Some(path),
            Self::SetLimits(_) | Self::Through { .. } => None,
        }
    }

    /// The file that a change of one file is about.
    fn file(&self) -> Option<&SandboxPath> {
        match self {
            Self::Write { file, .. } | Self::SetLen { file, .. } => Some(file),
            Self::CreateDir { .. }
            | Self::Symlink { .. }
            | Self::Remove { .. }
            | Self::Rename { .. }
            | Self::Copy { .. }
            | Self::SetMetadata { .. }
            | Self::Check { .. }
            | Self::Graft { .. }
            | Self::Restore { .. }
            | Self::SetLimits(_)
            | Self::Through { .. } => None,
        }
    }

    /// Whether this may be a new file that is quickly made.
    pub(super) fn is_small_new_file(&self) -> bool {
        match self {
            Self::Write { content, mode, expected: If::Always | If::Missing, .. } => {
                let is_whole = matches!(mode, WriteMode::Replace | WriteMode::CreateNew);
                is_whole && content.len() <= FEW
            }
            Self::Write { .. }
            | Self::CreateDir { .. }
            | Self::Symlink { .. }
            | Self::Remove { .. }
            | Self::Rename { .. }
            | Self::Copy { .. }
            | Self::SetMetadata { .. }
            | Self::Check { .. }
            | Self::SetLen { .. }
            | Self::Graft { .. }
            | Self::Restore { .. }
            | Self::SetLimits(_)
            | Self::Through { .. } => false,
        }
    }

    pub(super) fn is_through_handle(&self) -> bool {
        matches!(self, Self::Through { .. })
    }

    /// Whether open files may be elsewhere afterwards.
    pub(super) fn moves_names(&self) -> bool {
        match self {
            Self::Write { mode, .. } => matches!(mode, WriteMode::Replace | WriteMode::CreateNew),
            Self::Remove { .. }
            | Self::Rename { .. }
            | Self::Copy { .. }
            | Self::Graft { .. }
            | Self::Restore { .. } => true,
            Self::CreateDir { .. }
            | Self::Symlink { .. }
            | Self::SetMetadata { .. }
            | Self::Check { .. }
            | Self::SetLen { .. }
            | Self::SetLimits(_)
            | Self::Through { .. } => false,
        }
    }
}

impl From<Step> for Change {
    fn from(step: Step) -> Self {
        match step {
            Step::Write { file, content, mode, parents, expected } => {
                let content = cut(content).into();
                Self::Write { file, content, mode, parents, expected }
            }
            Step::CreateDir { dir, parents } => Self::CreateDir { dir, parents },
            Step::Symlink { link, target } => Self::Symlink { link, target: target.into() },
            Step::Remove { path, depth, expected } => Self::Remove { path, depth, expected },
            Step::Rename { from, to, target } => Self::Rename { from, to, target },
            Step::Copy { from, to, target } => Self::Copy { from, to, target },
            Step::SetMetadata { path, change } => Self::SetMetadata { path, change },
            Step::Check { path, expected } => Self::Check { path, expected },
        }
    }
}

/// What a change did.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    /// What is at the path now; none after a removal.
    pub(crate) entry: Option<Entry>,
    pub(crate) created: bool,
    /// What became of names, for those who hold files open.
    pub(crate) fate: Option<Fate>,
    /// The root directory before and after, if there is a fate.
    pub(crate) trees: Option<Box<(Node, Node)>>,
}

/// What became of a name and everything beneath it. Paths are free of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stands for something else now, or for nothing.
    Gone(SandboxPath),
    /// It has another name now.
    Moved { from: SandboxPath, to: SandboxPath },
    /// It was poured over another name, and is still where it was if it was copied.
    Poured { from: SandboxPath, to: SandboxPath, leave: Leave },
    /// Parts of it may have either fate.
    Unknown(SandboxPath),
}

impl Applied {
    fn at(path: &SandboxPath, node: &Node) -> Self {
        Self { entry: Some(entry(path.clone(), node)), ..Self::nothing() }
    }

    /// A change that leaves nothing to tell of.
    fn nothing() -> Self {
        Self { entry: None, created: false, fate: None, trees: None }
    }

    /// What somebody else did to a tree, which nobody tells.
    pub(super) fn by_others(before: Node, after: Node) -> Self {
        let fate = Some(Fate::Unknown(SandboxPath::root()));
        Self { fate, trees: Some(Box::new((before, after))), ..Self::nothing() }
    }

    /// The answer to a write.
    pub(crate) fn written(self, bytes: u64) -> Result<Written> {
        let (created, entry) = (self.created, self.entry()?);
        Ok(Written { entry, bytes, created, in_place: false })
    }

    /// The entry that the change left.
    pub(crate) fn entry(self) -> Result<Entry> {
        self.entry.ok_or_else(not_found)
    }
}

/// Applies a change to a draft. Of the limits only the longest file is looked at: what the tree
/// holds in the end counts, not what it holds between the changes of a batch.
pub(crate) fn apply(
    draft: &mut Draft<'_>,
    change: &Change,
    limits: &Limits,
) -> Result<Applied, Stop> {
    let before = draft.root.clone();
    let mut applied = match change {
        Change::Write { file, content, mode, parents, expected } => {
            write(draft, file, content, (*mode, *parents), expected, limits)?
        }
        Change::CreateDir { dir, parents } => create_dir(draft, dir, *parents)?,
        Change::Symlink { link, target } => symlink(draft, link, target)?,
        Change::Remove { path, depth, expected } => remove(draft, path, *depth, expected)?,
        Change::Rename { from, to, target } => relocate(draft, from, to, *target, Leave::Nothing)?,
        Change::Copy { from, to, target } => relocate(draft, from, to, *target, Leave::Source)?,
        Change::SetMetadata { path, change } => set_metadata(draft, path, *change)?,
        Change::Check { path, expected } => check(draft, path, expected)?,
        Change::SetLen { file, len } => set_len(draft, file, *len, limits)?,
        Change::Graft { dir, tree } => graft(draft, dir, tree)?,
        Change::Restore { path, node } => restore(draft, path, node.as_ref())?,
        Change::SetLimits(_) => Applied::nothing(),
        Change::Through { place, change } => {
            let is_there =
                matches!((place.at(), change.file()), (At::Path(at), Some(path)) if at == *path);
            if !is_there {
                return Err(Error::new(ErrorKind::Busy, "the open file moved").into());
            }
            return apply(draft, change, limits);
        }
    };
    if applied.fate.is_some() {
        applied.trees = Some(Box::new((before, draft.root.clone())));
    }
    Ok(applied)
}

/// Refuses what takes a tree over a limit.
pub(super) fn check_limits(limits: &Limits, before: &Sum, after: &Sum) -> Result<()> {
    if after.largest > before.largest {
        check_file_size(limits, after.largest)?;
    }
    limits.check((before.bytes, before.nodes() + 1), (after.bytes, after.nodes() + 1))
}

fn write(
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
pub(super) fn create_in_place(
    root: &mut Root,
    change: &Change,
    now: UnixTime,
    stamp: Stamp,
) -> Option<Applied> {
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

fn create_dir(draft: &mut Draft<'_>, dir: &SandboxPath, parents: Parents) -> Result<Applied, Stop> {
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
    let node = draft.new_directory(crate::tree::Directory::default());
    let applied = Applied { created: true, ..Applied::at(dir, &node) };
    draft.put(&way, node, Touch::Names)?;
    Ok(applied)
}

fn symlink(draft: &mut Draft<'_>, link: &SandboxPath, target: &Arc<str>) -> Result<Applied, Stop> {
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

fn remove(
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

/// What a relocation leaves where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    Nothing,
    Source,
}

fn relocate(
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

fn set_metadata(
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
    let old = match &way.end {
        End::Root => return Err(root_is_the_operators().into()),
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

fn check(draft: &Draft<'_>, path: &SandboxPath, expected: &If) -> Result<Applied, Stop> {
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

fn set_len(
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

fn graft(draft: &mut Draft<'_>, dir: &SandboxPath, tree: &Node) -> Result<Applied, Stop> {
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

fn restore(
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

/// Refuses when what is there is not what the caller believes.
fn check_expected(expected: &If, there: Option<&Node>) -> Result<()> {
    let current = match expected {
        If::Always | If::Exists | If::Missing => there.map(|_| crate::Version::new("")),
        If::Matches(_) | If::Differs(_) => there.map(version),
    };
    if expected.holds(current.as_ref()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::PreconditionFailed, "the file is not in the expected state"))
}

/// Refuses a file that grows longer than a file may be.
pub(super) fn check_growth(limits: &Limits, before: u64, after: u64) -> Result<()> {
    if after > before { check_file_size(limits, after) } else { Ok(()) }
}

/// Refuses a file that is longer than a file may be.
pub(super) fn check_file_size(limits: &Limits, size: u64) -> Result<()> {
    limits.check_file_size(size, LARGEST_FILE)
}

fn refuse_root(path: &SandboxPath, message: &'static str) -> Result<()> {
    if path.is_root() { Err(Error::new(ErrorKind::InvalidArgument, message)) } else { Ok(()) }
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

pub(super) fn on(stop: Stop, path: &SandboxPath) -> Stop {
    match stop {
        Stop::Failed(err) => Stop::Failed(err.on(path)),
        Stop::Need(need) => Stop::Need(need),
    }
}

pub(super) fn not_found() -> Error {
    Error::new(ErrorKind::NotFound, "path not found")
}

pub(super) fn is_a_directory() -> Error {
    Error::new(ErrorKind::IsADirectory, "path is not a file")
}

fn root_is_the_operators() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the root's mode and time are the operator's")
}

fn exists() -> Error {
    Error::new(ErrorKind::AlreadyExists, "destination already exists")
}

fn into_itself() -> Error {
    let message = "a directory cannot go into itself or replace its parent";
    Error::new(ErrorKind::InvalidArgument, message)
}

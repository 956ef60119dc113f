//! Setting entries, as the steps of one batch.

use std::collections::HashMap;

use crate::files::is_absence;
use crate::{
    Depth, Entry, EntryKind, Error, ErrorKind, FileSystem as _, If, Links, MetadataChange, Parents,
    Result, SandboxPath, Step, StoredEntry, VirtualFs, WriteMode,
};

/// How often a batch is planned again because a link it found was changed meanwhile.
const TRIES: usize = 16;

/// Puts entries in place, all or none.
pub(super) async fn put_all(tree: &VirtualFs, entries: Vec<StoredEntry>) -> Result<()> {
    let entries = last_of_each(entries);
    for _ in 0..TRIES {
        let steps = plan(tree, &entries).await?;
        match tree.batch(steps).await {
            // Only the removal of a link that was found expects anything.
            Err(err) if err.kind() == ErrorKind::PreconditionFailed => {}
            outcome => return outcome.map(drop),
        }
    }
    Err(Error::new(ErrorKind::Busy, "others keep changing the links that are to be replaced"))
}

/// The last entry of each path, in the order in which the paths came.
fn last_of_each(entries: Vec<StoredEntry>) -> Vec<StoredEntry> {
    let mut places: HashMap<SandboxPath, usize> = HashMap::with_capacity(entries.len());
    let mut kept: Vec<StoredEntry> = Vec::with_capacity(entries.len());
    for entry in entries {
        let place = *places.entry(entry.path.clone()).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(earlier) => *earlier = entry,
            None => kept.push(entry),
        }
    }
    kept
}

/// The steps that put these entries in place. Modes and times come last, since a name that comes
/// into a directory changes the directory's time.
async fn plan(tree: &VirtualFs, entries: &[StoredEntry]) -> Result<Vec<Step>> {
    let mut steps = Vec::with_capacity(2 * entries.len());
    let has_links = tree.trunk().fresh_state().await?.root.sum().links > 0;
    for entry in entries {
        if has_links || entry.kind == EntryKind::Symlink {
            steps.extend(removal(tree, entry).await.map_err(|err| err.on(&entry.path))?);
        }
        steps.push(placing(entry).map_err(|err| err.on(&entry.path))?);
    }
    steps.extend(entries.iter().filter_map(metadata));
    Ok(steps)
}

/// The step that takes a link out of the way, which a write would otherwise follow, and whatever
/// is in the way of a link.
async fn removal(tree: &VirtualFs, entry: &StoredEntry) -> Result<Option<Step>> {
    let there = match tree.stat(&entry.path, Links::Keep).await {
        Err(err) if is_absence(err.kind()) => return Ok(None),
        found => found?,
    };
    let Entry { kind, version, .. } = there;
    let goes = match (entry.kind, kind) {
        (EntryKind::Symlink, EntryKind::Directory) => {
            let message = "a link cannot replace a directory";
            return Err(Error::new(ErrorKind::IsADirectory, message));
        }
        (EntryKind::Symlink, _) | (_, EntryKind::Symlink) => true,
        (EntryKind::File | EntryKind::Directory | EntryKind::Special, _) => false,
    };
    let expected = If::Matches(version.into_iter().collect());
    let path = entry.path.clone();
    Ok(goes.then_some(Step::Remove { path, depth: Depth::One, expected }))
}

fn placing(entry: &StoredEntry) -> Result<Step> {
    let (path, parents) = (entry.path.clone(), Parents::Create);
    match entry.kind {
        EntryKind::File => {
            let (content, mode) = (entry.content.clone(), WriteMode::Replace);
            Ok(Step::Write { file: path, content, mode, parents, expected: If::Always })
        }
        EntryKind::Directory if entry.content.is_empty() => {
            Ok(Step::CreateDir { dir: path, parents })
        }
        EntryKind::Directory => Err(invalid("a directory has no content")),
        EntryKind::Symlink => match str::from_utf8(&entry.content) {
            Ok(target) => Ok(Step::Symlink { link: path, target: target.into() }),
            Err(_) => Err(invalid("what a link holds is text")),
        },
        EntryKind::Special => Err(invalid("a virtual tree has no special files")),
    }
}

/// The step that sets mode and time, if the entry has any. A link has none of its own, and those
/// of the root are the operator's.
fn metadata(entry: &StoredEntry) -> Option<Step> {
    let StoredEntry { path, kind, mode, modified, .. } = entry;
    let change = MetadataChange { mode: *mode, modified: *modified };
    let has_any = change != MetadataChange::default();
    let takes_any = *kind != EntryKind::Symlink && !path.is_root();
    (has_any && takes_any).then(|| Step::SetMetadata { path: path.clone(), change })
}

fn invalid(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

//! A directory with what lies beneath it, chosen and resumed.

use std::sync::Arc;

use futures::stream;

use crate::glob::NameGlob;
use crate::walk::Walk;
use crate::{
    Entry, EntryKind, EntryStream, Error, ErrorKind, FileSystem, Links, Result, SandboxPath,
};

/// What of a directory is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// How many levels: one is the directory's own names. Without it, all of them.
    pub depth: Option<usize>,
    /// A glob that names must fit, or paths from the directory on if it has a slash.
    pub names: Option<String>,
    /// What entries must be.
    pub kind: Option<EntryKind>,
    /// Only what comes after this path, which need not be there any more.
    pub after: Option<SandboxPath>,
}

/// What is beneath `dir`, parents first, siblings in the order of their names. Links are told of
/// and not followed. What vanishes meanwhile is left out.
pub async fn list_tree(
    files: Arc<dyn FileSystem>,
    dir: &SandboxPath,
    query: ListQuery,
) -> Result<EntryStream> {
    let ListQuery { depth, names, kind, after } = query;
    let names = names.as_deref().map(NameGlob::parse).transpose()?;
    let top = files.stat(dir, Links::Follow).await?;
    if top.kind != EntryKind::Directory {
        return Err(Error::new(ErrorKind::NotADirectory, "path is not a directory").on(dir));
    }
    let deepest = depth.map_or(usize::MAX, |levels| dir.depth().saturating_add(levels));
    let top = Entry { path: dir.clone(), ..top };
    let mut walk = match after {
        None => Walk::begin(files, &top).await?,
        Some(after) if after.starts_with(dir) && after != *dir => {
            // What lies beneath a link is not listed.
            let is_dir = match files.stat(&after, Links::Keep).await {
                Ok(entry) => entry.kind == EntryKind::Directory,
                Err(_) => false,
            };
            let mut walk = Walk::resume(files, dir, &after);
            if !is_dir {
                walk.pass_by();
            }
            walk
        }
        Some(_) => {
            let message = "the listing cannot go on behind a path that lies elsewhere";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
    };
    // Nothing lies beneath the deepest level, from the beginning on.
    walk.stop_at(deepest);
    let chosen = Chosen { walk, dir: dir.clone(), names, kind };
    Ok(Box::pin(stream::try_unfold(chosen, |mut chosen| async {
        Ok(chosen.next().await?.map(|entry| (entry, chosen)))
    })))
}

struct Chosen {
    walk: Walk,
    dir: SandboxPath,
    names: Option<NameGlob>,
    kind: Option<EntryKind>,
}

impl Chosen {
    async fn next(&mut self) -> Result<Option<Entry>> {
        while let Some(entry) = self.walk.next().await? {
            let rest = entry.path.strip(&self.dir).unwrap_or_default();
            let fits = self.names.as_ref().is_none_or(|names| names.fits(rest));
            if fits && self.kind.is_none_or(|kind| kind == entry.kind) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }
}

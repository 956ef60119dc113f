//! Which entries a search looks at.

use std::sync::Arc;

use futures::stream::{self, BoxStream};

use super::ignores::Ignores;
use super::query::SearchQuery;
use crate::glob::NameGlob;
use crate::walk::Walk;
use crate::{Entry, EntryKind, FileSystem, Result, SandboxPath};

/// An entry that a search comes by.
pub(super) struct Candidate {
    pub(super) entry: Entry,
    /// Whether its name is looked for.
    pub(super) fits: bool,
    /// Whether it is a directory that lies too deep to be gone into.
    pub(super) is_floor: bool,
}

/// The entries of a tree that a search comes by.
pub(super) struct Candidates {
    files: Arc<dyn FileSystem>,
    walk: Walk,
    /// How deep a directory lies that is not gone into.
    deepest: usize,
    /// Where the search begins: names are matched from here on.
    top: SandboxPath,
    names: Option<NameGlob>,
    hidden: bool,
    ignores: Option<Ignores>,
}

impl Candidates {
    pub(super) async fn begin(
        files: Arc<dyn FileSystem>,
        top: &Entry,
        query: &SearchQuery,
    ) -> Result<Self> {
        let names = query.names.as_deref().map(NameGlob::parse).transpose()?;
        let is_dir = top.kind == EntryKind::Directory;
        let dir = if is_dir { Some(top.path.clone()) } else { top.path.parent() };
        let dir = dir.unwrap_or_else(SandboxPath::root);
        let ignores = match query.heed_ignore_files && is_dir {
            true => Some(Ignores::down_to(&*files, &dir).await?),
            false => None,
        };
        let mut walk = Walk::begin(Arc::clone(&files), top).await?;
        let deepest = query.depth.map_or(usize::MAX, |levels| dir.depth().saturating_add(levels));
        walk.stop_at(deepest);
        // Whoever names a file means it, whatever it is called.
        let hidden = query.hidden || !is_dir;
        Ok(Self { files, walk, deepest, top: dir, names, hidden, ignores })
    }

    pub(super) fn into_stream(self) -> BoxStream<'static, Result<Candidate>> {
        Box::pin(stream::try_unfold(self, |mut candidates| async {
            Ok(candidates.next().await?.map(|candidate| (candidate, candidates)))
        }))
    }

    async fn next(&mut self) -> Result<Option<Candidate>> {
        while let Some(entry) = self.walk.next().await? {
            if self.is_left_out(&entry) {
                self.walk.pass_by();
                continue;
            }
            if let (Some(ignores), EntryKind::Directory) = (&mut self.ignores, entry.kind) {
                ignores.enter(&*self.files, &entry.path).await?;
            }
            let rest = entry.path.strip(&self.top).unwrap_or_default();
            let fits = self.names.as_ref().is_none_or(|names| names.fits(rest));
            let is_floor = entry.kind == EntryKind::Directory && entry.path.depth() >= self.deepest;
            if fits || is_floor {
                return Ok(Some(Candidate { entry, fits, is_floor }));
            }
        }
        Ok(None)
    }

    fn is_left_out(&self, entry: &Entry) -> bool {
        let is_hidden = !self.hidden && entry.path.name().starts_with('.');
        is_hidden || self.ignores.as_ref().is_some_and(|ignores| ignores.hide(entry))
    }
}

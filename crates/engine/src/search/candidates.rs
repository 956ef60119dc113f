//! Which entries a search looks at.

use std::sync::Arc;

use futures::stream;

use super::ignores::Ignores;
use super::query::SearchQuery;
use crate::glob::NameGlob;
use crate::walk::Walk;
use crate::{Entry, EntryKind, EntryStream, FileSystem, Result, SandboxPath};

/// The entries of a tree whose names are looked for.
pub(super) struct Candidates {
    files: Arc<dyn FileSystem>,
    walk: Walk,
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
        let walk = Walk::begin(Arc::clone(&files), top).await?;
        // Whoever names a file means it, whatever it is called.
        Ok(Self { files, walk, top: dir, names, hidden: query.hidden || !is_dir, ignores })
    }

    pub(super) fn into_stream(self) -> EntryStream {
        Box::pin(stream::try_unfold(self, |mut candidates| async {
            Ok(candidates.next().await?.map(|entry| (entry, candidates)))
        }))
    }

    async fn next(&mut self) -> Result<Option<Entry>> {
        while let Some(entry) = self.walk.next().await? {
            if self.is_left_out(&entry) {
                self.walk.pass_by();
                continue;
            }
            if let (Some(ignores), EntryKind::Directory) = (&mut self.ignores, entry.kind) {
                ignores.enter(&*self.files, &entry.path).await?;
            }
            let rest = entry.path.strip(&self.top).unwrap_or_default();
            if self.names.as_ref().is_none_or(|names| names.fits(rest)) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn is_left_out(&self, entry: &Entry) -> bool {
        let is_hidden = !self.hidden && entry.path.name().starts_with('.');
        is_hidden || self.ignores.as_ref().is_some_and(|ignores| ignores.hide(entry))
    }
}

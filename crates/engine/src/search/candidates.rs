//! Which entries a search looks at.

use std::path::Path;
use std::sync::Arc;

use futures::stream;
use globset::{GlobBuilder, GlobMatcher};

use super::ignores::Ignores;
use super::query::SearchQuery;
use crate::walk::Walk;
use crate::{Entry, EntryKind, EntryStream, Error, ErrorKind, FileSystem, Result, SandboxPath};

/// The entries of a tree whose names are looked for.
pub(super) struct Candidates {
    files: Arc<dyn FileSystem>,
    walk: Walk,
    /// Where the search begins: names are matched from here on.
    top: SandboxPath,
    names: Option<Names>,
    hidden: bool,
    ignores: Option<Ignores>,
}

impl Candidates {
    pub(super) async fn begin(
        files: Arc<dyn FileSystem>,
        top: &Entry,
        query: &SearchQuery,
    ) -> Result<Self> {
        let names = query.names.as_deref().map(Names::parse).transpose()?;
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
            if self.names.as_ref().is_none_or(|names| names.match_path(rest)) {
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

/// A glob for names, or for paths if it has a slash.
struct Names {
    glob: GlobMatcher,
    is_of_paths: bool,
}

impl Names {
    fn parse(text: &str) -> Result<Self> {
        let glob = GlobBuilder::new(text.trim_start_matches('/'))
            .literal_separator(true)
            .backslash_escape(true)
            .build();
        let glob = glob.map_err(|err| {
            let message = format!("the glob cannot be read: {}", err.kind());
            Error::new(ErrorKind::InvalidArgument, message).because(err)
        })?;
        Ok(Self { glob: glob.compile_matcher(), is_of_paths: text.contains('/') })
    }

    fn match_path(&self, rest: &str) -> bool {
        let path = Path::new(rest);
        let name = path.file_name().map_or(path, Path::new);
        self.glob.is_match(if self.is_of_paths { path } else { name })
    }
}

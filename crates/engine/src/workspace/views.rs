//! What a caller sees of many files at once.

use std::sync::Arc;

use super::Workspace;
use crate::without::Without;
use crate::{
    EntryStream, ErrorKind, FindingStream, ListQuery, Result, Sandbox, SandboxPath, SearchQuery,
    list_tree, search,
};

impl Workspace {
    /// The same hold on a part of the sandbox: what is at `part` and beneath it, and nothing else.
    pub fn confined(&self, part: &SandboxPath) -> Result<Self> {
        if part.is_root() {
            return Ok(self.clone());
        }
        let files = self.sandbox.files.within(part)?;
        let sandbox = Sandbox { files, ..Sandbox::clone(&self.sandbox) };
        Ok(Self { sandbox: Arc::new(sandbox), ..self.clone() })
    }

    /// The same hold to look at everything but what is at `hidden` and beneath it: nothing tells
    /// that it is there, and no link leads to it.
    #[must_use]
    pub fn without(&self, hidden: &[SandboxPath]) -> Self {
        let files = Without::of(Arc::clone(&self.sandbox.files), hidden);
        let sandbox = Sandbox { files, ..Sandbox::clone(&self.sandbox) };
        Self { sandbox: Arc::new(sandbox), ..self.clone() }
    }

    /// Whether the tree keeps snapshots.
    pub fn has_snapshots(&self) -> bool {
        self.sandbox.files.snapshots().is_some()
    }

    /// Whether the tree can take many steps as one.
    pub async fn can_batch(&self) -> bool {
        let nothing = self.sandbox.files.batch(Vec::new()).await;
        !nothing.is_err_and(|err| err.kind() == ErrorKind::Unsupported)
    }

    /// What is beneath a directory, as [`list_tree`] tells it.
    pub async fn list_tree(&self, dir: &SandboxPath, query: ListQuery) -> Result<EntryStream> {
        let work = list_tree(Arc::clone(&self.sandbox.files), dir, query);
        self.look("list", dir, work).await
    }

    /// Names and lines, as [`search`] finds them.
    pub async fn search(&self, path: &SandboxPath, query: &SearchQuery) -> Result<FindingStream> {
        let work = search(Arc::clone(&self.sandbox.files), path, query);
        self.look("search", path, work).await
    }
}

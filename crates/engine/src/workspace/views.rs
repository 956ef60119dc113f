//! What a caller sees of many files at once.

use std::sync::Arc;

use super::Workspace;
use crate::{
    EntryStream, FindingStream, ListQuery, Result, SandboxPath, SearchQuery, list_tree, search,
};

impl Workspace {
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

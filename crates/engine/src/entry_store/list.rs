//! Lists of entries. Each shows one state of the tree, the one in which it began.

use std::sync::Arc;

use futures::TryStreamExt as _;

use super::cancel::{stream_unless, unless};
use super::stored_entry::load;
use super::walk::{beginning_with, beneath};
use super::{CancellationToken, EntryStore, PathStream, StoredEntryStream};
use crate::{FileSystem as _, Links, Page, Result, SandboxPath};

impl EntryStore {
    /// How many entries there are, the root among them. Costs the same however many.
    ///
    /// ```
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// entries.set(StoredEntry::file("a/b", "")?, &token).await?;
    /// assert_eq!(entries.count(&token).await?, 3);
    /// # Ok(()) }
    /// ```
    pub async fn count(&self, token: &CancellationToken) -> Result<u64> {
        Ok(unless(token, self.tree.usage()).await?.nodes())
    }

    /// All paths: a directory before what it holds, names in the order of their bytes.
    ///
    /// ```
    /// # use futures::TryStreamExt as _;
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// entries.set(StoredEntry::file("b/c", "")?, &token).await?;
    /// entries.set(StoredEntry::file("a", "")?, &token).await?;
    /// let paths: Vec<_> = entries.paths(&token).await?.try_collect().await?;
    /// let paths: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
    /// assert_eq!(paths, ["/", "/a", "/b", "/b/c"]);
    /// # Ok(()) }
    /// ```
    pub async fn paths(&self, token: &CancellationToken) -> Result<PathStream> {
        self.paths_beginning_with("/", token).await
    }

    /// The paths that begin with a text, as far as its last slash by the rules of
    /// [`SandboxPath::clamped`]: `src/ma` finds `/src/main.rs`, `src/` what is beneath `/src`, and
    /// `src` itself, what is beneath it and `/src2`. Costs what it finds, not what there is.
    ///
    /// ```
    /// # use futures::TryStreamExt as _;
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// entries.set(StoredEntry::file("src/main.rs", "")?, &token).await?;
    /// entries.set(StoredEntry::file("src/lib.rs", "")?, &token).await?;
    /// let found = entries.paths_beginning_with("src/m", &token).await?;
    /// let found: Vec<_> = found.try_collect().await?;
    /// assert_eq!((found.len(), found[0].as_str()), (1, "/src/main.rs"));
    /// # Ok(()) }
    /// ```
    pub async fn paths_beginning_with(
        &self,
        prefix: &str,
        token: &CancellationToken,
    ) -> Result<PathStream> {
        let tree = unless(token, self.pinned()).await?;
        let found = unless(token, beginning_with(tree, prefix)).await?;
        Ok(stream_unless(token, found.map_ok(|entry| entry.path)))
    }

    /// The paths of what a directory holds itself.
    ///
    /// ```
    /// # use futures::TryStreamExt as _;
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// entries.set(StoredEntry::file("a/b/c", "")?, &token).await?;
    /// let children: Vec<_> = entries.children("a", &token).await?.try_collect().await?;
    /// assert_eq!((children.len(), children[0].as_str()), (1, "/a/b"));
    /// # Ok(()) }
    /// ```
    pub async fn children(&self, dir: &str, token: &CancellationToken) -> Result<PathStream> {
        let dir = SandboxPath::clamped(dir)?;
        let listing = unless(token, self.tree.list(&dir, Page::default())).await;
        let listing = listing.map_err(|err| err.on(&dir))?;
        Ok(stream_unless(token, listing.map_ok(|entry| entry.path)))
    }

    /// All entries with their contents, in the order of [`EntryStore::paths`], each read when it
    /// is asked for.
    ///
    /// ```
    /// # use futures::TryStreamExt as _;
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// entries.set(StoredEntry::file("a", "one")?, &token).await?;
    /// let all: Vec<_> = entries.entries(&token).await?.try_collect().await?;
    /// assert_eq!((all[0].name(), all[1].name()), ("/", "a"));
    /// assert_eq!(all[1].content, "one");
    /// # Ok(()) }
    /// ```
    pub async fn entries(&self, token: &CancellationToken) -> Result<StoredEntryStream> {
        let tree = unless(token, self.pinned()).await?;
        let root = tree.stat(&SandboxPath::root(), Links::Keep).await?;
        let found = unless(token, beneath(Arc::clone(&tree), root)).await?;
        let loaded = found.and_then(move |entry| {
            let tree = Arc::clone(&tree);
            async move { load(&tree, entry).await }
        });
        Ok(stream_unless(token, loaded))
    }
}

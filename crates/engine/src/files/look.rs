//! What there is: entries, listings, sums; and directories, which are made to be looked into.

use futures::TryStreamExt as _;

use super::{Files, at};
use crate::{Entry, EntryKind, ErrorKind, Links, Page, Parents, Result, SandboxPath, Usage};

impl Files {
    /// Whether anything is at `path`. A link that leads nowhere is nothing.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("src/main.rs", "fn main() {}").await?;
    /// assert!(files.exists("src").await?);
    /// assert!(!files.exists("src/lib.rs").await?);
    /// # Ok(()) }
    /// ```
    pub async fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.entry(path).await?.is_some())
    }

    /// Whether a file is at `path`.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("src/main.rs", "fn main() {}").await?;
    /// assert!(files.is_file("src/main.rs").await?);
    /// assert!(!files.is_file("src").await?);
    /// # Ok(()) }
    /// ```
    pub async fn is_file(&self, path: &str) -> Result<bool> {
        Ok(self.entry(path).await?.is_some_and(|entry| entry.kind == EntryKind::File))
    }

    /// Whether a directory is at `path`.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// assert!(files.is_directory("/").await?);
    /// assert!(!files.is_directory("missing").await?);
    /// # Ok(()) }
    /// ```
    pub async fn is_directory(&self, path: &str) -> Result<bool> {
        Ok(self.entry(path).await?.is_some_and(|entry| entry.kind == EntryKind::Directory))
    }

    /// What is known of the file or directory at `path`; none if nothing is there.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("a.txt", "hello").await?;
    /// let entry = files.entry("a.txt").await?.expect("it was just written");
    /// assert_eq!((entry.size, entry.mode), (5, Some(0o644)));
    /// # Ok(()) }
    /// ```
    pub async fn entry(&self, path: &str) -> Result<Option<Entry>> {
        let path = SandboxPath::clamped(path)?;
        match self.tree.stat(&path, Links::Follow).await {
            Err(err) if is_absence(err.kind()) => Ok(None),
            outcome => at(&path, outcome).map(Some),
        }
    }

    /// Makes a directory and the ones that lead to it. One that exists is a success.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.create_directory("a/b/c").await?;
    /// assert!(files.is_directory("a/b").await?);
    /// # Ok(()) }
    /// ```
    pub async fn create_directory(&self, path: &str) -> Result<Entry> {
        let path = SandboxPath::clamped(path)?;
        let made = self.tree.create_dir(&path, Parents::Create).await;
        at(&path, made.map(|made| made.entry))
    }

    /// The names in a directory, sorted by their bytes, whatever the machine's language.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("b", "").await?;
    /// files.write("B", "").await?;
    /// files.create_directory("a").await?;
    /// assert_eq!(files.list_names("/").await?, ["B", "a", "b"]);
    /// # Ok(()) }
    /// ```
    pub async fn list_names(&self, path: &str) -> Result<Vec<String>> {
        let entries = self.list_entries(path).await?;
        Ok(entries.into_iter().map(|entry| entry.path.name().to_owned()).collect())
    }

    /// The entries of a directory, sorted by the bytes of their names. Links are not followed. For
    /// one that does not fit into memory there is [`FileSystem::list`](crate::FileSystem::list).
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("data/a.bin", vec![0; 3]).await?;
    /// let entries = files.list_entries("data").await?;
    /// assert_eq!((entries[0].path.as_str(), entries[0].size), ("/data/a.bin", 3));
    /// # Ok(()) }
    /// ```
    pub async fn list_entries(&self, path: &str) -> Result<Vec<Entry>> {
        let path = SandboxPath::clamped(path)?;
        let listing = at(&path, self.tree.list(&path, Page::default()).await)?;
        at(&path, listing.try_collect().await)
    }

    /// How much the tree holds: total size, files, directories (the root among them), and
    /// [`Usage::nodes`], which is both together. Costs the same however large a virtual tree is.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("dir/five.txt", "12345").await?;
    /// let usage = files.usage().await?;
    /// assert_eq!((usage.bytes, usage.files, usage.directories, usage.nodes()), (5, 1, 2, 3));
    /// # Ok(()) }
    /// ```
    #[doc(alias = "statistics")]
    pub async fn usage(&self) -> Result<Usage> {
        self.tree.usage().await
    }
}

/// Whether a failed look means that nothing is there: no name, or a file where its parent would be.
pub(crate) fn is_absence(kind: ErrorKind) -> bool {
    kind == ErrorKind::NotFound || kind == ErrorKind::NotADirectory
}

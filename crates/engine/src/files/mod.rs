//! Files by their paths as text: the library that most programs want.

mod bytes;
mod look;
mod reader;
mod relocate;
mod snapshot;
mod text;
mod writer;

use std::sync::Arc;

pub(crate) use self::bytes::whole;
pub(crate) use self::look::is_absence;
pub use self::reader::FileReader;
pub use self::writer::FileWriter;
use crate::{FileSystem, Limits, Result, SandboxId, SandboxPath, Store};

/// The files of one tree, named by text.
///
/// Every path goes through [`SandboxPath::clamped`]: `src\main.rs`, `/src/main.rs` and
/// `/src/./lib/../main.rs` are one file, and no path leads above the root. Whatever the tree is
/// kept in, an operation that fails changes nothing, and one that succeeds is durable as far as
/// the tree is. What is not here, such as preconditions, ranges and links, is at [`Files::tree`].
///
/// ```
/// # use sandkeep_engine::{Files, Limits, Result};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let files = Files::in_memory(Limits::default()).await?;
/// files.write("notes/today.txt", "buy milk\n").await?;
/// files.append("notes/today.txt", "call home\n").await?;
/// assert_eq!(files.read_lines("notes/today.txt").await?, ["buy milk", "call home"]);
/// assert_eq!(files.list_names("notes").await?, ["today.txt"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Files {
    tree: Arc<dyn FileSystem>,
}

impl Files {
    /// The files of `tree`, of whatever kind it is.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use sandkeep_engine::{Files, Limits, Result, SandboxId, Store};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let store = Store::in_memory();
    /// let tree = store.create(&SandboxId::parse("agent-7")?, Limits::default()).await?;
    /// let files = Files::new(Arc::new(tree));
    /// # assert!(files.exists("/").await?);
    /// # Ok(()) }
    /// ```
    pub fn new(tree: Arc<dyn FileSystem>) -> Self {
        Self { tree }
    }

    /// A tree of its own in memory, empty, with nothing of the host in reach.
    ///
    /// ```
    /// # use sandkeep_engine::{ErrorKind, Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let limits = Limits { total_size: Some(10), ..Limits::default() };
    /// let files = Files::in_memory(limits).await?;
    /// let refused = files.write("big", vec![0; 11]).await.unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::StorageFull);
    /// # Ok(()) }
    /// ```
    pub async fn in_memory(limits: Limits) -> Result<Self> {
        let tree = Store::in_memory().create(&SandboxId::parse("memory")?, limits).await?;
        Ok(Self::new(Arc::new(tree)))
    }

    /// The tree itself.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Links, Result, SandboxPath};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.tree().symlink(&SandboxPath::clamped("latest")?, "v2").await?;
    /// # Ok(()) }
    /// ```
    pub fn tree(&self) -> &Arc<dyn FileSystem> {
        &self.tree
    }
}

/// The outcome of an operation, with the path in its error.
fn at<T>(path: &SandboxPath, outcome: Result<T>) -> Result<T> {
    outcome.map_err(|err| err.on(path))
}

/// The guide, whose examples are run with these.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/library.md")]
struct Guide;

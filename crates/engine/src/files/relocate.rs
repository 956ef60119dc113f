//! Copies, moves and removals, of files and of whole trees.

use super::{Files, at};
use crate::{Depth, Entry, If, Result, SandboxPath, Target};

impl Files {
    /// Copies a file or a whole directory, with modes and times. Directories on the way are made.
    /// With [`Target::Merge`] a directory that is there is united with the copy.
    ///
    /// ```
    /// # use sandkeep_engine::{ErrorKind, Files, Limits, Result, Target};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("src/main.rs", "fn main() {}").await?;
    /// files.copy("src", "backup/src", Target::New).await?;
    /// assert_eq!(files.read("backup/src/main.rs").await?, "fn main() {}");
    /// let refused = files.copy("src", "src/inside", Target::New).await.unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    /// # Ok(()) }
    /// ```
    pub async fn copy(&self, from: &str, to: &str, target: Target) -> Result<Entry> {
        let (from, to) = (SandboxPath::clamped(from)?, SandboxPath::clamped(to)?);
        at(&from, self.tree.copy(&from, &to, target).await)
    }

    /// Moves a file or a whole directory; mode and times stay as they are. Directories on the way
    /// are made. With [`Target::Merge`] a directory that is there is united with what comes. Onto
    /// itself is a success that changes nothing.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result, Target};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("draft.md", "# Plan").await?;
    /// files.rename("draft.md", "docs/plan.md", Target::New).await?;
    /// assert_eq!(files.list_names("/").await?, ["docs"]);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "move")]
    pub async fn rename(&self, from: &str, to: &str, target: Target) -> Result<Entry> {
        let (from, to) = (SandboxPath::clamped(from)?, SandboxPath::clamped(to)?);
        at(&from, self.tree.rename(&from, &to, target).await)
    }

    /// Removes a file or a directory; a directory that holds something only with [`Depth::All`].
    /// The root cannot be removed.
    ///
    /// ```
    /// # use sandkeep_engine::{Depth, ErrorKind, Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("tmp/a", "").await?;
    /// let refused = files.remove("tmp", Depth::One).await.unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::DirectoryNotEmpty);
    /// files.remove("tmp", Depth::All).await?;
    /// assert!(!files.exists("tmp").await?);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "delete")]
    pub async fn remove(&self, path: &str, depth: Depth) -> Result<()> {
        let path = SandboxPath::clamped(path)?;
        at(&path, self.tree.remove(&path, depth, If::Always).await)
    }
}

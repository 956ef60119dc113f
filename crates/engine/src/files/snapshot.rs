//! The whole tree as bytes, and back.

use bytes::{Bytes, BytesMut};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use super::Files;
use crate::{Error, ErrorKind, NewSnapshot, Point, Result, SandboxPath, Snapshots};

impl Files {
    /// The snapshots that the tree keeps itself: taking one and going back to it costs the same
    /// whatever the size of a virtual tree, and they can be listed, compared, forked and streamed.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, NewSnapshot, Result, SandboxPath};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("plan.md", "# Plan").await?;
    /// let before = files.snapshots()?.create(NewSnapshot::default()).await?;
    /// files.write("plan.md", "oops").await?;
    /// files.snapshots()?.restore(&before.id, &SandboxPath::root()).await?;
    /// assert_eq!(files.read("plan.md").await?, "# Plan");
    /// # Ok(()) }
    /// ```
    pub fn snapshots(&self) -> Result<&dyn Snapshots> {
        self.tree
            .snapshots()
            .ok_or_else(|| Error::new(ErrorKind::Unsupported, "this tree keeps no snapshots"))
    }

    /// The whole tree as it is at this moment, as bytes that any other tree can restore. For one
    /// that does not fit into memory there is [`Snapshots::export`], which gives the same bytes as
    /// a stream.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("a.txt", "kept").await?;
    /// let saved = files.create_snapshot().await?;
    /// let elsewhere = Files::in_memory(Limits::default()).await?;
    /// elsewhere.restore_snapshot(saved).await?;
    /// assert_eq!(elsewhere.read("a.txt").await?, "kept");
    /// # Ok(()) }
    /// ```
    pub async fn create_snapshot(&self) -> Result<Bytes> {
        let mut stream = self.snapshots()?.export(Point::Live, None).await?;
        let mut bytes = BytesMut::new();
        while let Some(piece) = stream.try_next().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes.freeze())
    }

    /// Makes the tree what it was when [`Files::create_snapshot`] gave these bytes, in one step
    /// that nobody sees half of. Bytes that are cut off, damaged or hostile, and a tree that is
    /// larger than the limits allow, change nothing.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("a.txt", "first").await?;
    /// let saved = files.create_snapshot().await?;
    /// files.write("b.txt", "second").await?;
    /// assert!(files.restore_snapshot(saved.slice(..saved.len() / 2)).await.is_err());
    /// assert!(files.exists("b.txt").await?);
    /// files.restore_snapshot(saved).await?;
    /// assert_eq!(files.list_names("/").await?, ["a.txt"]);
    /// # Ok(()) }
    /// ```
    pub async fn restore_snapshot(&self, bytes: impl Into<Bytes>) -> Result<()> {
        let stream = stream::iter([Ok(bytes.into())]).boxed();
        let snapshots = self.snapshots()?;
        let message = "bytes that are being restored".into();
        let new = NewSnapshot { message, ..NewSnapshot::default() };
        let taken = snapshots.import(stream, new).await?;
        let outcome = snapshots.restore(&taken.id, &SandboxPath::root()).await;
        // It was only the way from the bytes to the tree; nobody asked to keep it.
        snapshots.delete(&taken.id).await?;
        outcome
    }
}

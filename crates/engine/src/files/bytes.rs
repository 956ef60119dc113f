//! Whole contents, as bytes.

use bytes::{Bytes, BytesMut};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use super::{Files, at};
use crate::{
    Content, Error, ErrorKind, If, Parents, Result, SandboxPath, Span, WriteMode, WriteOptions,
    Written,
};

/// The longest content that is read in one piece.
const LONGEST: u64 = 2 << 30;

impl Files {
    /// The content of a file. One of more than 2 GiB must be read through [`Files::open_reader`].
    ///
    /// ```
    /// # use sandkeep_engine::{ErrorKind, Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("a", &b"\x00\x01"[..]).await?;
    /// assert_eq!(&files.read("a").await?[..], b"\x00\x01");
    /// assert_eq!(files.read("b").await.unwrap_err().kind(), ErrorKind::NotFound);
    /// # Ok(()) }
    /// ```
    pub async fn read(&self, path: &str) -> Result<Bytes> {
        let path = SandboxPath::clamped(path)?;
        let content = at(&path, self.tree.read(&path, Span::Whole).await)?;
        at(&path, whole(content).await)
    }

    /// Makes these bytes the whole content of a file, which is made with its directories if it is
    /// missing. One that exists keeps its mode and the time it was made.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// assert!(files.write("out/report.csv", "a;b\n").await?.created);
    /// assert!(!files.write("out/report.csv", vec![1, 2, 3]).await?.created);
    /// # Ok(()) }
    /// ```
    pub async fn write(&self, path: &str, content: impl Into<Bytes>) -> Result<Written> {
        self.put(path, content.into(), WriteMode::Replace).await
    }

    /// Adds bytes to the end of a file. A missing one is made. Costs what is added, not what is
    /// there.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.append("log", "one ").await?;
    /// files.append("log", "two").await?;
    /// assert_eq!(files.read("log").await?, "one two");
    /// # Ok(()) }
    /// ```
    pub async fn append(&self, path: &str, content: impl Into<Bytes>) -> Result<Written> {
        self.put(path, content.into(), WriteMode::Append).await
    }

    async fn put(&self, path: &str, content: Bytes, mode: WriteMode) -> Result<Written> {
        let path = SandboxPath::clamped(path)?;
        let length = Some(content.len() as u64);
        let options = WriteOptions { length, ..options(mode) };
        let body = stream::iter([Ok(content)]).boxed();
        at(&path, self.tree.write(&path, body, options).await)
    }
}

/// How the library writes: parents are made, and nothing is expected.
pub(super) fn options(mode: WriteMode) -> WriteOptions {
    WriteOptions { mode, parents: Parents::Create, expected: If::Always, length: None }
}

/// All bytes of a content.
pub(crate) async fn whole(content: Content) -> Result<Bytes> {
    let Content { range, mut body, .. } = content;
    let len = range.end.saturating_sub(range.start);
    if len > LONGEST {
        let message = format!("{len} bytes are too many to be read in one piece; open a reader");
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    }
    // A small file is one piece, which is given on as it is.
    let first = body.try_next().await?.unwrap_or_default();
    if first.len() as u64 == len {
        return Ok(first);
    }
    let mut all = BytesMut::with_capacity(usize::try_from(len).unwrap_or_default());
    all.extend_from_slice(&first);
    while let Some(piece) = body.try_next().await? {
        all.extend_from_slice(&piece);
    }
    Ok(all.freeze())
}

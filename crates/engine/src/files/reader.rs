//! A file on its way out, as a stream.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt as _, TryStreamExt as _};
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};
use tokio_util::io::StreamReader;

use super::{Files, at};
use crate::{Entry, Error, Result, SandboxPath, Span};

/// The bytes of a file as it was when it was opened, whatever becomes of it meanwhile. Memory holds
/// a few pieces of it at a time.
///
/// ```
/// # use sandkeep_engine::{Files, Limits, Result};
/// # use tokio::io::AsyncReadExt as _;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// # let files = Files::in_memory(Limits::default()).await?;
/// files.write("big.bin", vec![7; 1_000_000]).await?;
/// let mut reader = files.open_reader("big.bin").await?;
/// let mut start = [0; 4];
/// reader.read_exact(&mut start).await.expect("the file is longer");
/// assert_eq!((start, reader.entry().size), ([7; 4], 1_000_000));
/// # Ok(()) }
/// ```
pub struct FileReader {
    entry: Entry,
    body: StreamReader<BoxStream<'static, io::Result<Bytes>>, Bytes>,
}

impl Files {
    /// Opens a file to be read from its beginning.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # use tokio::io::AsyncBufReadExt as _;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("log", "one\ntwo\n").await?;
    /// let mut lines = files.open_reader("log").await?.lines();
    /// assert_eq!(lines.next_line().await.expect("memory does not fail").as_deref(), Some("one"));
    /// # Ok(()) }
    /// ```
    pub async fn open_reader(&self, path: &str) -> Result<FileReader> {
        let path = SandboxPath::clamped(path)?;
        let content = at(&path, self.tree.read(&path, Span::Whole).await)?;
        let body = content.body.map_err(move |err| io_error(err.on(&path))).boxed();
        Ok(FileReader { entry: content.entry, body: StreamReader::new(body) })
    }
}

impl FileReader {
    /// What the file was when it was opened.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("a", "12345").await?;
    /// assert_eq!(files.open_reader("a").await?.entry().size, 5);
    /// # Ok(()) }
    /// ```
    pub fn entry(&self) -> &Entry {
        &self.entry
    }
}

impl AsyncRead for FileReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.body).poll_read(cx, buf)
    }
}

impl AsyncBufRead for FileReader {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Pin::new(&mut self.get_mut().body).poll_fill_buf(cx)
    }

    fn consume(mut self: Pin<&mut Self>, len: usize) {
        Pin::new(&mut self.body).consume(len);
    }
}

impl fmt::Debug for FileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, body: _ } = self;
        f.debug_struct("FileReader").field("entry", entry).finish_non_exhaustive()
    }
}

/// Our error as a stream of bytes gives it; `downcast` gives it back.
pub(crate) fn io_error(err: Error) -> io::Error {
    io::Error::other(err)
}

//! A file on its way in, as a stream.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures::channel::mpsc;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt as _};
use tokio::io::AsyncWrite;

use super::bytes::options;
use super::reader::io_error;
use super::{Files, at};
use crate::{ByteStream, Error, ErrorKind, Result, SandboxPath, WriteMode, Written};

/// So much is gathered before it is handed on.
const PIECE: usize = 64 << 10;

/// A file that is being written. Nobody sees any of it before [`FileWriter::finish`], which puts
/// it in place in one step; one that is dropped before leaves everything as it was. Shutting it
/// down, as generic code does, is to finish it. Memory holds a few pieces of it at a time.
///
/// ```
/// # use sandkeep_engine::{Files, Limits, Result, WriteMode};
/// # use tokio::io::AsyncWriteExt as _;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// # let files = Files::in_memory(Limits::default()).await?;
/// let mut writer = files.open_writer("report.txt", WriteMode::Replace)?;
/// writer.write_all(b"all or nothing").await.expect("there is room");
/// assert!(!files.exists("report.txt").await?);
/// writer.finish().await?;
/// assert_eq!(files.read("report.txt").await?, "all or nothing");
/// # Ok(()) }
/// ```
pub struct FileWriter {
    gathered: BytesMut,
    pieces: mpsc::Sender<Piece>,
    write: Write,
}

enum Piece {
    Bytes(Bytes),
    /// Only this ends a content; without it the writer was dropped.
    End,
}

enum Write {
    /// It takes pieces whenever it is polled, which happens only through the writer.
    Going(BoxFuture<'static, Result<Written>>),
    /// Every piece was handed over, and the end too.
    Ending(BoxFuture<'static, Result<Written>>),
    Finished(Written),
    Failed,
}

impl Files {
    /// Opens a file to be written: [`WriteMode::Replace`] for a whole new content,
    /// [`WriteMode::Append`] for more at its end, wherever that is by then. Nothing happens to the
    /// tree before the end.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result, WriteMode};
    /// # use tokio::io::AsyncWriteExt as _;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// files.write("log", "one ").await?;
    /// let mut writer = files.open_writer("log", WriteMode::Append)?;
    /// writer.write_all(b"three").await.expect("there is room");
    /// files.append("log", "two ").await?;
    /// writer.finish().await?;
    /// assert_eq!(files.read("log").await?, "one two three");
    /// # Ok(()) }
    /// ```
    pub fn open_writer(&self, path: &str, mode: WriteMode) -> Result<FileWriter> {
        let path = SandboxPath::clamped(path)?;
        let (pieces, taken) = mpsc::channel(0);
        let tree = Arc::clone(&self.tree);
        let write = async move { at(&path, tree.write(&path, body(taken), options(mode)).await) };
        Ok(FileWriter { gathered: BytesMut::new(), pieces, write: Write::Going(Box::pin(write)) })
    }
}

/// The content that these pieces are. One without an end breaks off, so that whoever takes it,
/// perhaps at the other end of a connection, never believes it to be whole.
fn body(taken: mpsc::Receiver<Piece>) -> ByteStream {
    stream::unfold(Some(taken), |taken| async {
        let mut taken = taken?;
        match taken.next().await {
            Some(Piece::Bytes(bytes)) => Some((Ok(bytes), Some(taken))),
            Some(Piece::End) => None,
            None => {
                let message = "the writer was dropped before it was finished";
                Some((Err(Error::new(ErrorKind::BrokenBody, message)), None))
            }
        }
    })
    .boxed()
}

impl FileWriter {
    /// Puts the file in place. It is durable when this returns, as far as the tree is.
    ///
    /// ```
    /// # use sandkeep_engine::{Files, Limits, Result, WriteMode};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let files = Files::in_memory(Limits::default()).await?;
    /// let written = files.open_writer("empty", WriteMode::CreateNew)?.finish().await?;
    /// assert_eq!((written.bytes, written.created), (0, true));
    /// # Ok(()) }
    /// ```
    pub async fn finish(mut self) -> Result<Written> {
        poll_fn(|cx| self.poll_finish(cx)).await
    }

    fn poll_finish(&mut self, cx: &mut Context<'_>) -> Poll<Result<Written>> {
        if let Write::Going(_) = self.write {
            if !self.gathered.is_empty() {
                ready!(self.poll_hand_over(cx))?;
            }
            ready!(self.poll_room(cx))?;
            self.send(Piece::End)?;
        }
        let outcome = match &mut self.write {
            Write::Going(write) | Write::Ending(write) => ready!(write.as_mut().poll(cx)),
            Write::Finished(written) => Ok(written.clone()),
            Write::Failed => Err(failed()),
        };
        self.write = outcome.as_ref().map_or(Write::Failed, |it| Write::Finished(it.clone()));
        Poll::Ready(outcome)
    }

    /// Hands over what was gathered.
    fn poll_hand_over(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_room(cx))?;
        let bytes = self.gathered.split().freeze();
        Poll::Ready(self.send(Piece::Bytes(bytes)))
    }

    /// Waits until there is room for a piece, letting the write take those before it.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let Write::Going(write) = &mut self.write else { return Poll::Ready(Err(failed())) };
        if let Poll::Ready(Ok(())) = self.pieces.poll_ready(cx) {
            return Poll::Ready(Ok(()));
        }
        // When it takes a piece, that wakes us. When it ends before the end, it failed.
        let outcome = ready!(write.as_mut().poll(cx));
        self.write = Write::Failed;
        Poll::Ready(Err(outcome.err().unwrap_or_else(failed)))
    }

    fn send(&mut self, piece: Piece) -> Result<()> {
        let is_end = matches!(piece, Piece::End);
        self.pieces.start_send(piece).map_err(|_| failed())?;
        if is_end && let Write::Going(write) = std::mem::replace(&mut self.write, Write::Failed) {
            self.write = Write::Ending(write);
        }
        Ok(())
    }
}

fn failed() -> Error {
    Error::new(ErrorKind::BrokenBody, "the writer has failed or was finished before")
}

impl AsyncWrite for FileWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.gathered.len() >= PIECE {
            ready!(self.poll_hand_over(cx)).map_err(io_error)?;
        }
        let Write::Going(_) = self.write else { return Poll::Ready(Err(io_error(failed()))) };
        let len = buf.len().min(PIECE - self.gathered.len());
        self.gathered.extend_from_slice(buf.get(..len).unwrap_or(buf));
        Poll::Ready(Ok(len))
    }

    /// Nothing: what is written is seen when all of it is.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_finish(cx).map_ok(drop).map_err(io_error)
    }
}

impl fmt::Debug for FileWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gathered, pieces: _, write: _ } = self;
        f.debug_struct("FileWriter").field("gathered", &gathered.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures::TryStreamExt as _;

    use super::*;

    /// Whoever takes the content may do so elsewhere, and must not take a part for the whole.
    #[tokio::test]
    async fn a_content_whose_writer_is_dropped_breaks_off() {
        let (mut pieces, taken) = mpsc::channel(1);
        pieces.try_send(Piece::Bytes("part".into())).unwrap();
        drop(pieces);
        let mut body = body(taken);
        assert_eq!(body.try_next().await.unwrap().unwrap(), "part");
        assert_eq!(body.try_next().await.unwrap_err().kind(), ErrorKind::BrokenBody);
        assert!(body.try_next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_content_with_its_end_is_whole() {
        let (mut pieces, taken) = mpsc::channel(2);
        pieces.try_send(Piece::Bytes("all".into())).unwrap();
        pieces.try_send(Piece::End).unwrap();
        let pieces: Vec<Bytes> = body(taken).try_collect().await.unwrap();
        assert_eq!(pieces, ["all"]);
    }
}

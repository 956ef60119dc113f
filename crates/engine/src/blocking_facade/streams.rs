//! Files and lists piece by piece, for programs that do not know async.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use futures::stream::{BoxStream, TryStreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::OwnRuntime;
use crate::{Entry, FileReader, FileWriter, Result, Written};

/// A [`FileReader`] that is read as the standard library reads.
///
/// ```
/// # use std::io::BufRead as _;
/// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
/// files.write("log", "one\ntwo\n")?;
/// let reader = std::io::BufReader::new(files.open_reader("log")?);
/// assert_eq!(reader.lines().count(), 2);
/// # Ok::<(), sandkeep_engine::Error>(())
/// ```
#[derive(Debug)]
pub struct BlockingReader {
    reader: FileReader,
    runtime: Arc<OwnRuntime>,
}

impl BlockingReader {
    pub(super) fn on(reader: FileReader, runtime: Arc<OwnRuntime>) -> Self {
        Self { reader, runtime }
    }

    /// What the file was when it was opened.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", "12345")?;
    /// assert_eq!(files.open_reader("a")?.entry().size, 5);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn entry(&self) -> &Entry {
        self.reader.entry()
    }
}

impl Read for BlockingReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let reader = &mut self.reader;
        wait_for_io(&self.runtime, async { reader.read(buf).await })
    }
}

/// A [`FileWriter`] that is written as the standard library writes. Nobody sees any of it before
/// [`BlockingWriter::finish`]; one that is dropped before leaves everything as it was.
///
/// ```
/// # use std::io::Write as _;
/// # use sandkeep_engine::WriteMode;
/// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
/// let mut writer = files.open_writer("report.txt", WriteMode::Replace)?;
/// write!(writer, "{} rows", 3).expect("there is room");
/// writer.finish()?;
/// assert_eq!(files.read_text("report.txt")?, "3 rows");
/// # Ok::<(), sandkeep_engine::Error>(())
/// ```
#[derive(Debug)]
pub struct BlockingWriter {
    writer: FileWriter,
    runtime: Arc<OwnRuntime>,
}

impl BlockingWriter {
    pub(super) fn on(writer: FileWriter, runtime: Arc<OwnRuntime>) -> Self {
        Self { writer, runtime }
    }

    /// Puts the file in place. It is durable when this returns, as far as the tree is.
    ///
    /// ```
    /// # use sandkeep_engine::WriteMode;
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// assert!(files.open_writer("empty", WriteMode::CreateNew)?.finish()?.created);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn finish(self) -> Result<Written> {
        self.runtime.wait(self.writer.finish())
    }
}

impl Write for BlockingWriter {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let writer = &mut self.writer;
        wait_for_io(&self.runtime, async { writer.write(buf).await })
    }

    /// Nothing: what is written is seen when all of it is.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits for work whose errors are the standard library's; ours is inside them, as it always is.
fn wait_for_io<T>(
    runtime: &OwnRuntime,
    work: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    runtime.wait(async { Ok(work.await) }).map_err(io::Error::other)?
}

/// A list that comes as it is found. It shows one state of the tree, the one in which it began.
///
/// ```
/// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
/// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
/// store.create(&id, Limits::default())?.write("a", "1")?;
/// for path in store.entries(&id)?.paths()? {
///     println!("{}", path?);
/// }
/// # Ok::<(), sandkeep_engine::Error>(())
/// ```
pub struct BlockingIter<T> {
    stream: Option<BoxStream<'static, Result<T>>>,
    runtime: Arc<OwnRuntime>,
}

impl<T> BlockingIter<T> {
    pub(super) fn on(stream: BoxStream<'static, Result<T>>, runtime: Arc<OwnRuntime>) -> Self {
        Self { stream: Some(stream), runtime }
    }
}

impl<T> Iterator for BlockingIter<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let stream = self.stream.as_mut()?;
        let next = self.runtime.wait(stream.try_next()).transpose();
        // An error ends it.
        if !matches!(next, Some(Ok(_))) {
            self.stream = None;
        }
        next
    }
}

impl<T> fmt::Debug for BlockingIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, runtime: _ } = self;
        f.debug_struct("BlockingIter").field("ended", &stream.is_none()).finish_non_exhaustive()
    }
}

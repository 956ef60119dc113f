//! An open file, which over HTTP is its path: ranges are read and written one request each.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use engine::{
    Create, Entry, Error, ErrorKind, FileSystem, If, Links, OpenFile, OpenOptions, Parents, Part,
    Result, SandboxPath, Span, WriteMode, WriteOptions,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use crate::incoming;

/// A tree whose open files are their paths.
#[async_trait]
pub(crate) trait ByPath: FileSystem + Clone {
    /// Cuts a file that is there, or lengthens it with zeros.
    async fn set_len(&self, file: &SandboxPath, len: u64) -> Result<()>;
}

/// A handle on a file of such a tree.
pub(crate) async fn open<F: ByPath>(
    files: &F,
    file: &SandboxPath,
    options: OpenOptions,
) -> Result<Arc<dyn OpenFile>> {
    match options {
        OpenOptions::Read | OpenOptions::Write(Create::Never) => expect_file(files, file).await?,
        OpenOptions::Write(Create::IfMissing) => find_or_make_file(files, file).await?,
        OpenOptions::Write(Create::New) => make_file(files, file).await?,
    }
    let purpose = match options {
        OpenOptions::Read => Purpose::Read,
        OpenOptions::Write(_) => Purpose::Write,
    };
    Ok(Arc::new(FileByPath { files: files.clone(), path: file.clone(), purpose }))
}

async fn expect_file(files: &dyn FileSystem, file: &SandboxPath) -> Result<()> {
    // One byte is asked for, so that what can be looked at but not opened is refused here.
    let outcome = files.read(file, Span::Between(0..1)).await;
    match outcome {
        Err(err) if err.kind() == ErrorKind::RangeNotSatisfiable => Ok(()),
        outcome => outcome.map(drop),
    }
}

async fn make_file(files: &dyn FileSystem, file: &SandboxPath) -> Result<()> {
    let (mode, parents, expected) = (WriteMode::CreateNew, Parents::Create, If::Always);
    let options = WriteOptions { mode, parents, expected, length: Some(0) };
    files.write(file, incoming::nothing(), options).await.map(drop)
}

async fn find_or_make_file(files: &dyn FileSystem, file: &SandboxPath) -> Result<()> {
    match expect_file(files, file).await {
        Err(err) if err.kind() == ErrorKind::NotFound => {}
        outcome => return outcome,
    }
    match make_file(files, file).await {
        // Someone else made it in between.
        Err(err) if err.kind() == ErrorKind::AlreadyExists => expect_file(files, file).await,
        outcome => outcome,
    }
}

/// What may be done with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Read,
    Write,
}

#[derive(Debug)]
struct FileByPath<F> {
    files: F,
    path: SandboxPath,
    purpose: Purpose,
}

impl<F> FileByPath<F> {
    fn must_be_for_writing(&self) -> Result<()> {
        match self.purpose {
            Purpose::Write => Ok(()),
            Purpose::Read => {
                let message = "the file was opened for reading only";
                Err(Error::new(ErrorKind::PermissionDenied, message).on(&self.path))
            }
        }
    }
}

#[async_trait]
impl<F: ByPath> OpenFile for FileByPath<F> {
    async fn stat(&self) -> Result<Entry> {
        self.files.stat(&self.path, Links::Follow).await
    }

    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let end = offset.saturating_add(len as u64);
        if end == offset {
            return Ok(Bytes::new());
        }
        let content = match self.files.read(&self.path, Span::Between(offset..end)).await {
            Err(err) if err.kind() == ErrorKind::RangeNotSatisfiable => return Ok(Bytes::new()),
            outcome => outcome?,
        };
        let gather = |mut gathered: BytesMut, piece: Bytes| async move {
            gathered.extend_from_slice(&piece);
            Ok(gathered)
        };
        let gathered = content.body.try_fold(BytesMut::new(), gather).await?;
        Ok(gathered.freeze())
    }

    async fn write_at(&self, offset: u64, bytes: Bytes) -> Result<()> {
        self.must_be_for_writing()?;
        let Some(length) = writable(offset, bytes.len() as u64)? else { return Ok(()) };
        let options = WriteOptions {
            mode: WriteMode::Part(Part { offset, total: None }),
            parents: Parents::Create,
            // The interface would make a missing file, but an open one must not come back by
            // writing.
            expected: If::Exists,
            length: Some(length),
        };
        let body = stream::iter([Ok(bytes)]).boxed();
        match self.files.write(&self.path, body, options).await {
            Err(err) if err.kind() == ErrorKind::PreconditionFailed => {
                Err(Error::new(ErrorKind::NotFound, "the open file is gone").on(&self.path))
            }
            outcome => outcome.map(drop),
        }
    }

    async fn set_len(&self, len: u64) -> Result<()> {
        self.must_be_for_writing()?;
        self.files.set_len(&self.path, len).await.map_err(|err| err.on(&self.path))
    }

    async fn sync(&self) -> Result<()> {
        // Every write is durable when the server answers.
        Ok(())
    }
}

/// How much there is to be put at an offset; none when that is nothing.
fn writable(offset: u64, len: u64) -> Result<Option<u64>> {
    let end = offset.checked_add(len).filter(|end| *end <= i64::MAX.unsigned_abs());
    match (end, len) {
        (_, 0) => Ok(None),
        (Some(_), len) => Ok(Some(len)),
        (None, _) => Err(Error::new(ErrorKind::FileTooLarge, "no file can be that long")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_no_file_reaches_is_refused() {
        assert_eq!(writable(u64::MAX, 1).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert!(writable(i64::MAX.unsigned_abs(), 1).is_err());
        assert_eq!(writable(3, 4).unwrap(), Some(4));
    }

    #[test]
    fn nothing_fits_everywhere() {
        assert_eq!(writable(u64::MAX, 0).unwrap(), None);
    }
}

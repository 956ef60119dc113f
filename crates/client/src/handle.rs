//! An open file, which over HTTP is its path: ranges are read and written one request each.

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use engine::{
    Entry, Error, ErrorKind, FileSystem as _, If, Links, OpenFile, Result, SandboxPath, Span,
};
use futures::TryStreamExt as _;
use http::Method;
use http::header::CONTENT_RANGE;

use crate::{Remote, conditions};

/// What may be done with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
}

#[derive(Debug)]
pub(crate) struct RemoteFile {
    pub(crate) remote: Remote,
    pub(crate) path: SandboxPath,
    pub(crate) purpose: Purpose,
}

#[async_trait]
impl OpenFile for RemoteFile {
    async fn stat(&self) -> Result<Entry> {
        self.remote.stat(&self.path, Links::Follow).await
    }

    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let end = offset.saturating_add(len as u64);
        if end == offset {
            return Ok(Bytes::new());
        }
        let content = match self.remote.read(&self.path, Span::Between(offset..end)).await {
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
        if self.purpose == Purpose::Read {
            let message = "the file was opened for reading only";
            return Err(Error::new(ErrorKind::PermissionDenied, message).on(&self.path));
        }
        let Some(place) = place(offset, bytes.len() as u64)? else { return Ok(()) };
        let request = self.remote.about(Method::PATCH, "/v1/fs/file", &self.path);
        let mut request = request.header(CONTENT_RANGE, place).body(bytes);
        // The interface would make a missing file, but an open one must not come back by writing.
        if let Some((name, value)) = conditions::header(&If::Exists) {
            request = request.header(name, value);
        }
        match self.remote.send(request).await {
            Err(err) if err.kind() == ErrorKind::PreconditionFailed => {
                Err(Error::new(ErrorKind::NotFound, "the open file is gone").on(&self.path))
            }
            outcome => outcome.map(drop).map_err(|err| err.on(&self.path)),
        }
    }

    async fn set_len(&self, _len: u64) -> Result<()> {
        let message = "/v1/fs cannot change the length of a file";
        Err(Error::new(ErrorKind::Unsupported, message).on(&self.path))
    }

    async fn sync(&self) -> Result<()> {
        // Every write is durable when the server answers.
        Ok(())
    }
}

/// The value of `Content-Range`; none when there is nothing to put.
fn place(offset: u64, len: u64) -> Result<Option<String>> {
    let end = offset.checked_add(len).filter(|end| *end <= i64::MAX.unsigned_abs());
    match (end, len) {
        (_, 0) => Ok(None),
        (Some(end), _) => Ok(Some(format!("bytes {offset}-{}/*", end - 1))),
        (None, _) => Err(Error::new(ErrorKind::FileTooLarge, "no file can be that long")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_first_and_the_last_byte() {
        assert_eq!(place(3, 4).unwrap().unwrap(), "bytes 3-6/*");
        assert_eq!(place(3, 0).unwrap(), None);
    }

    #[test]
    fn a_place_that_no_file_reaches_is_refused() {
        assert_eq!(place(u64::MAX, 1).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert!(place(i64::MAX.unsigned_abs(), 1).is_err());
    }
}

//! Streams and open files that end when the process of their tree does.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, Stream};
use futures::{FutureExt as _, StreamExt as _};

use super::hold::Hold;
use crate::{Entry, OpenFile, Result};

/// A stream that ends with an error when the process of its tree ends, even while it waits.
struct Guarded<T> {
    stream: BoxStream<'static, Result<T>>,
    ended: BoxFuture<'static, ()>,
    /// What is held for the stream; nothing once it is over.
    hold: Option<Arc<Hold>>,
}

/// Ends a stream with its tree.
pub(super) fn guarded<T: Send + 'static>(
    hold: &Arc<Hold>,
    stream: BoxStream<'static, Result<T>>,
) -> BoxStream<'static, Result<T>> {
    let ended = hold.ended().cancelled_owned().boxed();
    Guarded { stream, ended, hold: Some(Arc::clone(hold)) }.boxed()
}

impl<T: Send + 'static> Stream for Guarded<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        let this = self.get_mut();
        let Some(hold) = &this.hold else { return Poll::Ready(None) };
        if this.ended.poll_unpin(context).is_ready() {
            let gone = hold.gone();
            this.hold = None;
            this.stream = futures::stream::empty().boxed();
            return Poll::Ready(Some(Err(gone)));
        }
        let next = this.stream.poll_next_unpin(context);
        if matches!(next, Poll::Ready(None)) {
            this.hold = None;
        }
        next
    }
}

/// An open file of a tree.
#[derive(Debug)]
pub(super) struct GuardedFile {
    pub(super) hold: Arc<Hold>,
    pub(super) file: Arc<dyn OpenFile>,
}

impl GuardedFile {
    fn file(&self) -> Result<&Arc<dyn OpenFile>> {
        if self.hold.is_still() { Ok(&self.file) } else { Err(self.hold.gone()) }
    }
}

#[async_trait]
impl OpenFile for GuardedFile {
    async fn stat(&self) -> Result<Entry> {
        self.file()?.stat().await
    }

    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.file()?.read_at(offset, len).await
    }

    async fn write_at(&self, offset: u64, bytes: Bytes) -> Result<()> {
        self.file()?.write_at(offset, bytes).await
    }

    async fn set_len(&self, len: u64) -> Result<()> {
        self.file()?.set_len(len).await
    }

    async fn sync(&self) -> Result<()> {
        self.file()?.sync().await
    }
}

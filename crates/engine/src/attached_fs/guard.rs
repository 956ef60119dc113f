//! Streams and open files that end when the process of their tree does.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, Stream};
use futures::{FutureExt as _, StreamExt as _};
use parking_lot::Mutex;
use tokio::task::AbortHandle;

use super::gone;
use super::hold::Hold;
use crate::{AttachTarget, ByteStream, Entry, Error, OpenFile, Result, blocking};

/// Does something in a tree, unless its process ends first. Whoever is given up stops at the next file
/// and publishes nothing: what it made would be in layers that another mount has by then.
pub(super) async fn lasting<T>(hold: &Hold, work: impl Future<Output = Result<T>>) -> Result<T> {
    let ended = hold.ended();
    tokio::select! {
        biased;
        () = ended.cancelled() => Err(gone(hold.target())),
        outcome = work => outcome,
    }
}

/// Something of a tree, with what holds the tree for it. It is taken away when the process of the
/// tree ends, whether anybody asks for it or not: a client that takes nothing more must not keep the
/// mounts of an ended container alive.
struct Lent<T: Send + 'static> {
    slot: Slot<T>,
    target: AttachTarget,
    taking: AbortHandle,
}

type Slot<T> = Arc<Mutex<Option<(T, Arc<Hold>)>>>;

impl<T: Send + 'static> Lent<T> {
    fn new(hold: &Arc<Hold>, thing: T) -> Self {
        let slot = Arc::new(Mutex::new(Some((thing, Arc::clone(hold)))));
        let (ended, lent) = (hold.ended(), Arc::downgrade(&slot));
        let taking = tokio::spawn(async move {
            ended.cancelled().await;
            lent.upgrade().iter().for_each(take_back);
        });
        Self { slot, target: hold.target().clone(), taking: taking.abort_handle() }
    }

    fn gone(&self) -> Error {
        gone(&self.target)
    }
}

/// Drops what is in a slot, where it may block: a file system may have to be told of a closed file.
fn take_back<T: Send + 'static>(slot: &Slot<T>) {
    let taken = slot.lock().take();
    if let Some(taken) = taken {
        blocking::drop_there(taken);
    }
}

impl<T: Send + 'static> Drop for Lent<T> {
    fn drop(&mut self) {
        self.taking.abort();
        take_back(&self.slot);
    }
}

impl<T: Send + 'static> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").field("target", &self.target).finish_non_exhaustive()
    }
}

/// A stream that ends with an error when the process of its tree ends, even while it waits.
struct Guarded<T: Send + 'static> {
    lent: Lent<BoxStream<'static, Result<T>>>,
    ended: BoxFuture<'static, ()>,
    end: End,
}

/// What the end of a stream means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nothing more.
    Plain,
    /// All is there now to be put into the tree, which must still be the one.
    Commits,
    /// It was reached.
    Reached,
}

/// Ends a stream with its tree.
pub(super) fn guarded<T: Send + 'static>(
    hold: &Arc<Hold>,
    stream: BoxStream<'static, Result<T>>,
) -> BoxStream<'static, Result<T>> {
    ending(hold, stream, End::Plain)
}

/// The same for what is to be put into the tree: if that is another one when all has come, nothing is
/// put anywhere.
pub(super) fn guarded_body(hold: &Arc<Hold>, body: ByteStream) -> ByteStream {
    ending(hold, body, End::Commits)
}

fn ending<T: Send + 'static>(
    hold: &Arc<Hold>,
    stream: BoxStream<'static, Result<T>>,
    end: End,
) -> BoxStream<'static, Result<T>> {
    let ended = hold.ended().cancelled_owned().boxed();
    Guarded { lent: Lent::new(hold, stream), ended, end }.boxed()
}

impl<T: Send + 'static> Stream for Guarded<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        let this = self.get_mut();
        if this.end == End::Reached {
            return Poll::Ready(None);
        }
        let has_ended = this.ended.poll_unpin(context).is_ready();
        let next = match &mut *this.lent.slot.lock() {
            Some((stream, hold)) if !has_ended => {
                let next = stream.poll_next_unpin(context);
                let is_over = matches!(next, Poll::Ready(None));
                let is_in_vain = is_over && this.end == End::Commits && !hold.is_still();
                (!is_in_vain).then_some(next)
            }
            Some(_) | None => None,
        };
        let next = next.unwrap_or_else(|| {
            this.end = End::Reached;
            Poll::Ready(Some(Err(this.lent.gone())))
        });
        if matches!(next, Poll::Ready(None)) {
            this.end = End::Reached;
        }
        if this.end == End::Reached {
            take_back(&this.lent.slot);
        }
        next
    }
}

/// An open file of a tree.
#[derive(Debug)]
pub(super) struct GuardedFile(Lent<Arc<dyn OpenFile>>);

impl GuardedFile {
    pub(super) fn new(hold: &Arc<Hold>, file: Arc<dyn OpenFile>) -> Self {
        Self(Lent::new(hold, file))
    }

    fn file(&self) -> Result<Arc<dyn OpenFile>> {
        match &*self.0.slot.lock() {
            Some((file, hold)) if hold.is_still() => Ok(Arc::clone(file)),
            Some(_) | None => Err(self.0.gone()),
        }
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

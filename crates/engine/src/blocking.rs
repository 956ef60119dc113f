//! The one door from async code to calls that may block.

mod lane;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;

use crate::{Error, ErrorKind, Result};

/// Runs `work` on a thread that may block, within the current tracing span.
///
/// The work goes on when the caller stops waiting, so it must be whole in itself.
pub(crate) async fn run<T, F>(work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    let span = tracing::Span::current();
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    let task = tokio::task::spawn_blocking(move || span.in_scope(work));
    task.await.map_err(broke_off)?
}

/// The same for work that is short unless a disk is in the way.
pub(crate) async fn run_soon<T, F>(work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    let span = tracing::Span::current();
    let (tell, told) = oneshot::channel();
    let entered = lane::enter(Box::new(move || {
        // Nobody may wait any more.
        drop(tell.send(span.in_scope(work)));
    }));
    if let Err(work) = entered {
        run(move || {
            work();
            Ok(())
        })
        .await?;
    }
    told.await.map_err(broke_off)?
}

fn broke_off(cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Io, "the operation broke off inside the server").because(cause)
}

/// Runs long work that looks now and then whether somebody still waits for it.
pub(crate) async fn run_awaited<T, F>(work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce(&Waiting) -> Result<T> + Send + 'static,
{
    let waiting = Waiting(Arc::new(AtomicBool::new(true)));
    let _caller = Caller(waiting.clone());
    run(move || work(&waiting)).await
}

/// Whether somebody waits for what is done.
#[derive(Clone, Debug)]
pub(crate) struct Waiting(Arc<AtomicBool>);

impl Waiting {
    /// Whether he still does.
    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends work that nobody waits for any more.
    pub(crate) fn check(&self) -> Result<()> {
        match self.is_so() {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Timeout, "nobody waits for it any more")),
        }
    }
}

/// Whoever waits, as long as he does.
struct Caller(Waiting);

impl Drop for Caller {
    fn drop(&mut self) {
        let Self(Waiting(waits)) = self;
        waits.store(false, Ordering::Relaxed);
    }
}

/// Drops something on a thread that may block, where there is a runtime; here otherwise.
pub(crate) fn drop_there(thing: impl Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        drop(runtime.spawn_blocking(move || drop(thing)));
    }
}

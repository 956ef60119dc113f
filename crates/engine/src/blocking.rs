//! The one door from async code to calls that may block.

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
    task.await.map_err(|err| {
        Error::new(ErrorKind::Io, "the operation broke off inside the server").because(err)
    })?
}

/// Drops something on a thread that may block, where there is a runtime; here otherwise.
pub(crate) fn drop_there(thing: impl Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        drop(runtime.spawn_blocking(move || drop(thing)));
    }
}

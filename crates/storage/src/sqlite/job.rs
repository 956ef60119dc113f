//! One write: it is done among others in a transaction, and answered when that is durable.

use tokio::sync::oneshot;

use super::tables::Tables;
use crate::{Error, ErrorKind, Result};

/// A write that waits for its turn.
pub(super) trait Job: Send {
    /// How many bytes it adds, or none if it removes.
    fn size(&self) -> u64;

    /// Does it, for the time being.
    fn stage(&mut self, tables: &Tables<'_>) -> Result<()>;

    /// Tells whoever waits how the transaction fared.
    fn answer(self: Box<Self>, written: Result<()>);
}

/// The job that `work` does, and where its answer will come.
pub(super) fn job<T, F>(size: u64, work: F) -> (Box<dyn Job>, oneshot::Receiver<Result<T>>)
where
    T: Send + 'static,
    F: FnOnce(&Tables<'_>) -> Result<T> + Send + 'static,
{
    let (done, answer) = oneshot::channel();
    (Box::new(Write { size, work: Some(work), staged: None, done }), answer)
}

struct Write<T, F> {
    size: u64,
    work: Option<F>,
    staged: Option<T>,
    done: oneshot::Sender<Result<T>>,
}

impl<T, F> Job for Write<T, F>
where
    T: Send,
    F: FnOnce(&Tables<'_>) -> Result<T> + Send,
{
    fn size(&self) -> u64 {
        self.size
    }

    fn stage(&mut self, tables: &Tables<'_>) -> Result<()> {
        self.staged = self.work.take().map(|work| work(tables)).transpose()?;
        Ok(())
    }

    fn answer(self: Box<Self>, written: Result<()>) {
        let Self { staged, done, .. } = *self;
        // Whoever stopped waiting does not want to know.
        done.send(written.and_then(|()| staged.ok_or_else(stopped))).ok();
    }
}

/// What those are told whose write will never be done.
pub(super) fn stopped() -> Error {
    Error::new(ErrorKind::Unavailable, "the storage takes no more writes")
}

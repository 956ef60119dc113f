//! The library for programs that do not know async: the same operations, each of which waits.

mod content;
mod entry_store;
mod files;
mod store;
mod streams;

use std::sync::Arc;

use tokio::runtime::{Builder, Handle, Runtime};

pub use self::entry_store::BlockingEntryStore;
pub use self::files::BlockingFiles;
pub use self::store::BlockingStore;
pub use self::streams::{BlockingIter, BlockingReader, BlockingWriter};
use crate::{Error, ErrorKind, Result};

/// A small runtime that belongs to the facade.
#[derive(Debug)]
struct OwnRuntime {
    /// Always there until it is dropped.
    runtime: Option<Runtime>,
}

impl OwnRuntime {
    /// Starts one. Its thread goes on with commits that several facades of one store share, even
    /// while nobody waits.
    fn start() -> Result<Arc<Self>> {
        let mut builder = Builder::new_multi_thread();
        let started = builder.worker_threads(1).thread_name("sandkeep").enable_all().build();
        let failed =
            |err| Error::new(ErrorKind::Io, "the runtime could not be started").because(err);
        Ok(Arc::new(Self { runtime: Some(started.map_err(failed)?) }))
    }

    /// Waits for `work`. Within async code that would stop everything else on the thread, so it is
    /// refused there.
    fn wait<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        match &self.runtime {
            Some(runtime) if Handle::try_current().is_err() => runtime.block_on(work),
            _ => {
                let message = "a blocking call within async code; use the async library there";
                Err(Error::new(ErrorKind::Unsupported, message))
            }
        }
    }
}

impl Drop for OwnRuntime {
    /// Waits until nothing of it is left, so that a store that only it used is closed afterwards.
    /// Within async code that would be a panic, and nobody is waited for.
    fn drop(&mut self) {
        let runtime = self.runtime.take();
        if Handle::try_current().is_ok()
            && let Some(runtime) = runtime
        {
            runtime.shutdown_background();
        }
    }
}

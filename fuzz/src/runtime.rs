//! One runtime for all that a target does.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);

thread_local! {
    static RUNTIME: Runtime =
        Builder::new_current_thread().enable_all().build().expect("there is room for a runtime");
}

/// What comes of some work.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    RUNTIME.with(|runtime| {
        let work = async { tokio::time::timeout(PATIENCE, work).await };
        runtime.block_on(work).expect("it hangs")
    })
}

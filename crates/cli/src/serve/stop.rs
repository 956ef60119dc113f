//! When to stop: SIGINT or SIGTERM, and at once when a second one comes.

use std::future::Future;

use anyhow::{Context as _, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A future that ends at the first signal. From then on, a second signal ends the process, after
/// `last_words`.
pub(super) fn on_signal(
    last_words: impl FnOnce() + Send + 'static,
) -> Result<impl Future<Output = ()> + Send + 'static> {
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    Ok(async move {
        first(&mut interrupt, &mut terminate).await;
        tracing::info!("stopping: open requests may end; a second signal stops at once");
        tokio::spawn(async move {
            let number = first(&mut interrupt, &mut terminate).await;
            last_words();
            // What a shell reports for a process that the signal itself had ended.
            std::process::exit(128 + number);
        });
    })
}

fn listen(kind: SignalKind) -> Result<Signal> {
    signal(kind).context("signals cannot be received")
}

async fn first(interrupt: &mut Signal, terminate: &mut Signal) -> i32 {
    tokio::select! {
        _ = interrupt.recv() => SignalKind::interrupt().as_raw_value(),
        _ = terminate.recv() => SignalKind::terminate().as_raw_value(),
    }
}

//! Log lines on stderr.

use anyhow::{Context as _, Result};
use tracing_subscriber::EnvFilter;

use crate::config::{Listen, LogFormat};
use crate::failure::OrHint as _;

/// Starts the log. Colours are for terminals, unless `NO_COLOR` is set.
pub(super) fn start(listen: &Listen) -> Result<()> {
    let filter = listen.log.as_deref().unwrap_or("info");
    let filter = EnvFilter::try_new(filter)
        .with_context(|| format!("--log {filter:?} is no filter"))
        .or_hint(|| "try info, debug, or info,sandkeep_server=debug".into())?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match listen.log_format {
        Some(LogFormat::Json) => log.json().flatten_event(true).init(),
        Some(LogFormat::Text) | None => log.with_ansi(coloured()).init(),
    }
    Ok(())
}

fn coloured() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

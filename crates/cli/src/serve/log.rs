//! Log lines on stderr.

mod lines;

use std::sync::Arc;

use anyhow::{Context as _, Result};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry};

use crate::config::{Listen, LogFormat};
use crate::failure::OrHint as _;

use lines::{LineWriter, Lines};

/// Drivers of databases that tell much, by what they call themselves in log lines.
const DATABASE: [&str; 3] = ["fjall", "lsm_tree", "tokio_postgres"];
/// The SDK of a protocol. It writes what clients chose as it is, line feeds among it, so that a client
/// could write lines of its own; nothing that it says is news to an operator.
const PROTOCOL: &str = "rmcp";

/// The log of the process. What is still to be written is written when it is dropped.
pub(super) struct Log {
    lines: Arc<Lines>,
    flowing: bool,
}

impl Log {
    /// Starts the log. Colours are for terminals, unless `NO_COLOR` is set. Lines wait until
    /// [`Self::flow`], since a thread that is started before the wall would stand outside it.
    pub(super) fn start(listen: &Listen) -> Result<Self> {
        let filter = listen.log.as_deref().unwrap_or("info");
        let filter = filter_of(filter)
            .with_context(|| format!("--log {filter:?} is no filter"))
            .or_hint(|| "try info, debug, or info,sandkeep_server=debug".into())?;
        let format = listen.log_format.unwrap_or(LogFormat::Text);
        let lines = Arc::new(Lines::new(format));
        let writer = {
            let lines = Arc::clone(&lines);
            move || LineWriter(Arc::clone(&lines))
        };
        let log = tracing_subscriber::fmt::layer()
            .with_writer(writer)
            // The subscriber's own complaints would go to stderr past the queue, and panic there.
            .log_internal_errors(false);
        let filtered = tracing_subscriber::registry().with(filter);
        match format {
            LogFormat::Json => filtered.with(log.json().flatten_event(true)).init(),
            LogFormat::Text => filtered.with(log.with_ansi(coloured())).init(),
        }
        Ok(Self { lines, flowing: false })
    }

    /// Writes the lines, on a thread of its own, from now on.
    pub(super) fn flow(&mut self) -> Result<()> {
        self.lines.flow().context("the thread of the log cannot be started")?;
        self.flowing = true;
        Ok(())
    }

    /// What to do before the process ends without dropping the log.
    pub(super) fn last_words(&self) -> impl FnOnce() + Send + 'static {
        let lines = Arc::clone(&self.lines);
        move || lines.wait()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.flowing {
            self.lines.wait();
        } else if !self.lines.is_empty() {
            self.lines.write_next();
        }
    }
}

/// The filter that a text spells. Some libraries tell much, host paths and the content of files among it,
/// and say it only to whoever asks by their names.
///
/// One that looks into spans is asked at every step of every request, others once for each line of code.
fn filter_of(text: &str) -> Result<Box<dyn Layer<Registry> + Send + Sync>> {
    let quiet = |hint| {
        let is_talkative = hint > Some(LevelFilter::WARN);
        let drivers = DATABASE.into_iter().filter(move |_| is_talkative);
        let quiet = drivers.map(|target| (target, LevelFilter::WARN));
        quiet.chain([(PROTOCOL, LevelFilter::OFF)]).filter(|(target, _)| !text.contains(target))
    };
    let looks_into_spans = text.contains('[');
    if !looks_into_spans && let Ok(targets) = text.parse::<Targets>() {
        let hint = Layer::<Registry>::max_level_hint(&targets);
        return Ok(targets.with_targets(quiet(hint)).boxed());
    }
    let mut filter = EnvFilter::try_new(text)?;
    for (target, level) in quiet(filter.max_level_hint()) {
        filter = filter.add_directive(format!("{target}={level}").parse()?);
    }
    Ok(filter.boxed())
}

fn coloured() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

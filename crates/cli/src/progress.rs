//! A progress bar on stderr, for people who have waited a second.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use engine::ByteStream;
use futures::StreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a transfer goes on in silence.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that appears when a transfer takes long and stderr is a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
    watched: bool,
}

impl Progress {
    /// A bar for so many bytes, where that is known.
    pub(crate) fn new(total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = match total {
            Some(_) => "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            None => "{spinner} {bytes} {bytes_per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, began: Instant::now(), watched: std::io::stderr().is_terminal() }
    }

    /// The same body; the bar follows it.
    pub(crate) fn watch(self, body: ByteStream) -> ByteStream {
        if !self.watched {
            return body;
        }
        body.inspect(move |chunk| {
            self.advance(chunk.as_ref().map_or(0, |bytes| bytes.len() as u64));
        })
        .boxed()
    }

    fn advance(&self, bytes: u64) {
        if self.bar.is_hidden() && self.began.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

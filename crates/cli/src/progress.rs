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
        let watched = std::io::stderr().is_terminal();
        let progress = Self { bar, began: Instant::now(), watched };
        progress.look(template);
        progress
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

    /// A bar for work that only finds out on the way how much there is.
    pub(crate) fn of_work() -> Self {
        let work = Self::new(None);
        work.look("{spinner} {msg}");
        work
    }

    /// Says what was done until now, where nobody knows of how much.
    pub(crate) fn tell(&self, words: impl FnOnce() -> String) {
        if self.is_seen() {
            self.bar.set_message(words());
            self.bar.tick();
        }
    }

    /// Says how many bytes of how many are done.
    pub(crate) fn reach(&self, bytes: u64, of: u64, words: impl FnOnce() -> String) {
        if self.bar.length() != Some(of) {
            self.look("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}  {msg}");
            self.bar.set_length(of);
            self.bar.reset_eta();
        }
        self.bar.set_position(bytes);
        if self.is_seen() {
            self.bar.set_message(words());
        }
    }

    fn look(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    fn advance(&self, bytes: u64) {
        self.is_seen();
        self.bar.inc(bytes);
    }

    /// Whether somebody sees the bar; it appears when its time has come.
    fn is_seen(&self) -> bool {
        if self.watched && self.bar.is_hidden() && self.began.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        !self.bar.is_hidden()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

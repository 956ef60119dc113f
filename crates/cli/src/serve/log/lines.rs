//! Log lines on their way to stderr. Nobody waits for them: where nobody reads stderr, they are
//! dropped and counted, and the server goes on.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use crate::config::LogFormat;

/// How many bytes may wait: some thousand lines.
const MOST: usize = 1 << 20;
/// How long the last lines may take before the process ends without them.
const PATIENCE: Duration = Duration::from_millis(500);

/// The lines that wait to be written.
pub(super) struct Lines {
    format: LogFormat,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    text: Vec<u8>,
    /// How many lines found no room behind `text`.
    lost: u64,
    /// Whether the thread writes something that is no longer here.
    writing: bool,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.lost == 0
    }
}

impl Lines {
    /// No lines yet.
    pub(super) fn new(format: LogFormat) -> Self {
        Self { format, waiting: Mutex::default(), changed: Condvar::new() }
    }

    /// Starts the thread that writes the lines.
    pub(super) fn flow(self: &Arc<Self>) -> io::Result<()> {
        let lines = Arc::clone(self);
        thread::Builder::new().name("log".into()).spawn(move || {
            loop {
                lines.write_next();
            }
        })?;
        Ok(())
    }

    /// Waits until the thread has written everything, but not for ever.
    pub(super) fn wait(&self) {
        let busy = |waiting: &mut Waiting| waiting.writing || !waiting.is_empty();
        drop(self.changed.wait_timeout_while(self.lock(), PATIENCE, busy));
    }

    /// Waits for lines and writes them.
    pub(super) fn write_next(&self) {
        let empty = |waiting: &mut Waiting| waiting.is_empty();
        let waiting = self.changed.wait_while(self.lock(), empty);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        let next =
            std::mem::replace(&mut *waiting, Waiting { writing: true, ..Waiting::default() });
        drop(waiting);
        let mut text = next.text;
        if next.lost > 0 {
            text.extend_from_slice(remark(next.lost, self.format).as_bytes());
        }
        // There is nowhere left to complain about a stderr that is closed.
        io::stderr().write_all(&text).ok();
        self.lock().writing = false;
        self.changed.notify_all();
    }

    /// Whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn push(&self, line: &[u8]) {
        let mut waiting = self.lock();
        // A line behind lost ones would hide where they are missing.
        if waiting.lost > 0 || waiting.text.len() + line.len() > MOST {
            waiting.lost += 1;
        } else {
            waiting.text.extend_from_slice(line);
        }
        drop(waiting);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes each line as one call of [`Write::write`], as the subscriber makes it.
pub(super) struct LineWriter(pub(super) Arc<Lines>);

impl Write for LineWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn remark(lost: u64, format: LogFormat) -> String {
    let (now, message) = (Timestamp::now(), "log lines were dropped: nobody read them in time");
    match format {
        LogFormat::Text => format!("{now}  WARN sandkeep: {message} lost={lost}\n"),
        LogFormat::Json => {
            let line = json!({
                "timestamp": now.to_string(),
                "level": "WARN",
                "message": message,
                "lost": lost,
                "target": "sandkeep",
            });
            format!("{line}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_nobody_reads_are_dropped_and_counted() {
        let lines = Lines::new(LogFormat::Text);
        let line = [b'x'; 1 << 10];
        (0..1030).for_each(|_| lines.push(&line));
        lines.push(b"short");
        let waiting = lines.lock();
        assert_eq!((waiting.text.len(), waiting.lost), (MOST, 7));
    }

    #[test]
    fn the_remark_about_lost_lines_is_json_where_all_lines_are() {
        let remark: serde_json::Value = serde_json::from_str(&remark(3, LogFormat::Json)).unwrap();
        assert_eq!((&remark["lost"], &remark["level"]), (&3.into(), &"WARN".into()));
    }
}

//! Whoever reads an outbox.

use std::sync::Arc;

use tokio::sync::watch;

use super::Outbox;

/// What a reader gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::faces) enum Delivery {
    /// A message, with its number.
    Message(u64, Arc<str>),
    /// The messages behind `after` and up to `until` are no longer there.
    Missed { after: u64, until: u64 },
    /// Somebody asks whether the reader is still there.
    Probe,
}

/// Somebody who reads. When he is dropped, another may.
#[derive(Debug)]
pub(in crate::faces) struct Reader {
    pub(super) outbox: Arc<Outbox>,
    pub(super) news: watch::Receiver<()>,
    pub(super) cursor: Cursor,
}

/// Which reader it is, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    pub(super) ticket: u64,
    /// The number of the last message that it got.
    pub(super) after: u64,
    /// How often it was asked whether it is there, up to when it last said so.
    pub(super) probed: u64,
}

impl Reader {
    /// What comes next. None at the end.
    pub(in crate::faces) async fn next(&mut self) -> Option<Delivery> {
        loop {
            // What comes between the look and the wait ends the wait.
            self.news.mark_unchanged();
            if let Some(next) = self.outbox.behind(&self.cursor) {
                match next {
                    Some(Delivery::Message(number, _) | Delivery::Missed { until: number, .. }) => {
                        self.cursor.after = number;
                    }
                    Some(Delivery::Probe) => self.cursor.probed += 1,
                    None => {}
                }
                return next;
            }
            // The sender is part of the outbox, which is held here.
            self.news.changed().await.ok()?;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.outbox.state.lock().readers.retain(|ticket| *ticket != self.cursor.ticket);
        self.outbox.left.notify_one();
    }
}

//! Refusals that are counted. Whoever asks in vain a million times writes no million events.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use parking_lot::Mutex;

use super::event::{AuditEvent, AuditLog, Outcome};
use crate::Actor;

/// How many refusals of one caller in one log are written down one by one, in each window.
const NAMED: u64 = 256;
/// How long a window is.
pub(super) const WINDOW: Duration = Duration::from_secs(10);
/// How many callers and logs are told apart in one window. A caller may see many sandboxes.
const MOST: usize = 16_384;

/// Who was refused how often since the window began.
#[derive(Debug, Default)]
pub(super) struct Tally(Mutex<HashMap<(Option<Actor>, AuditLog), u64>>);

impl Tally {
    /// Whether an event is to be written down. If not, it is counted.
    pub(super) fn lets_through(&self, log: &AuditLog, event: &AuditEvent) -> bool {
        if !matches!(event.outcome, Outcome::Refused(_)) {
            return true;
        }
        let mut refused = self.0.lock();
        let has_room = refused.len() < MOST;
        let count = match refused.entry((event.by, log.clone())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) if has_room => new.insert(0),
            Entry::Vacant(_) => refused.entry((None, AuditLog::Gate)).or_default(),
        };
        *count += 1;
        *count <= NAMED
    }

    /// Ends the window; gives an event for each caller and log whose refusals were not all named.
    pub(super) fn sum_up(&self) -> Vec<(AuditLog, AuditEvent)> {
        let refused = std::mem::take(&mut *self.0.lock());
        let unnamed = refused.into_iter().filter_map(|((by, log), count)| {
            let count = count.checked_sub(NAMED).filter(|count| *count > 0)?;
            let sandbox = match &log {
                AuditLog::Sandbox(id) => Some(id.clone()),
                AuditLog::Server | AuditLog::Gate => None,
            };
            let reason = "so many that they are counted, not named";
            let event = AuditEvent::new("refusals", Outcome::Refused(reason.into()));
            Some((log, AuditEvent { by, sandbox, count: Some(count), ..event }))
        });
        unnamed.collect()
    }
}

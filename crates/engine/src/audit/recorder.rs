//! Whoever works in a sandbox, as the audit knows him.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::virtual_fs::now;
use crate::{Actor, Entry, Error, Result, SandboxId, Version};

use super::Audit;
use super::event::{AuditEvent, AuditLog, Outcome};

/// Who asks, by which request, and where it is written down. Clones are the same recorder.
#[derive(Clone, Debug)]
pub struct Recorder {
    audit: Audit,
    by: Option<Actor>,
    request: Option<Arc<str>>,
    has_refused: Arc<AtomicBool>,
}

/// What is known of something when it is done.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// How many bytes were written.
    pub bytes: Option<u64>,
    /// The version that is there since.
    pub version: Option<Version>,
    /// What else it was about, if that was not known before.
    pub subject: Option<Arc<str>>,
    /// The sandbox that was made.
    pub sandbox: Option<SandboxId>,
    /// Of how many things it was done to.
    pub count: Option<u64>,
}

impl Told {
    /// What is known when an entry is there that was not, or was another.
    pub fn entry(entry: &Entry) -> Self {
        Self { version: entry.version.clone(), ..Self::default() }
    }

    /// What is known when something has an id now.
    pub fn subject(id: &str) -> Self {
        Self { subject: Some(id.into()), ..Self::default() }
    }
}

/// Something that was begun. If nobody says how it ended, it counts as abandoned.
#[derive(Debug)]
pub struct Pending<'a> {
    recorder: &'a Recorder,
    logs: Vec<AuditLog>,
    /// What is to be written down, the last about the whole.
    events: VecDeque<AuditEvent>,
}

impl Recorder {
    /// A recorder for one request, which is at most 128 bytes.
    pub fn new(audit: Audit, by: Option<Actor>, request: Option<Arc<str>>) -> Self {
        Self { audit, by, request, has_refused: Arc::default() }
    }

    /// An event of this request, of which nothing else is known.
    pub fn event(&self, operation: &'static str, outcome: Outcome) -> AuditEvent {
        let (by, request) = (self.by, self.request.clone());
        AuditEvent { by, request, ..AuditEvent::new(operation, outcome) }
    }

    /// Begins something that must be written down in these logs, however it ends.
    pub fn begin(&self, logs: Vec<AuditLog>, event: AuditEvent) -> Pending<'_> {
        let event = AuditEvent { outcome: Outcome::Abandoned, ..event };
        Pending { recorder: self, logs, events: [event].into() }
    }

    /// Whether a refusal of this request was written down.
    pub fn has_refused(&self) -> bool {
        self.has_refused.load(Ordering::Relaxed)
    }
}

impl Pending<'_> {
    /// Adds a part of it that has an event of its own, made of that of the whole.
    pub(crate) fn add_part(&mut self, part: impl FnOnce(AuditEvent) -> AuditEvent) {
        if let Some(whole) = self.events.back().cloned() {
            self.events.insert(self.events.len() - 1, part(whole));
        }
    }

    /// Says which versions its parts left.
    pub(crate) fn tell_versions(&mut self, versions: impl Iterator<Item = Option<Version>>) {
        for (event, version) in self.events.iter_mut().zip(versions) {
            event.version = version;
        }
    }

    /// Writes down how it ended. What failed has no parts.
    pub async fn end(mut self, outcome: Result<Told, &Error>) {
        match outcome {
            Ok(told) => self.is_done(told),
            Err(err) => self.has_failed(err),
        }
        let time = now();
        while let Some(event) = self.events.pop_front() {
            let event = AuditEvent { time, ..event };
            self.recorder.audit.record_in(self.logs.clone(), event).await;
        }
    }

    fn is_done(&mut self, told: Told) {
        self.events.iter_mut().for_each(|event| event.outcome = Outcome::Done);
        let Told { bytes, version, subject, sandbox, count } = told;
        let made = sandbox.clone().map(AuditLog::Sandbox);
        self.logs.extend(made.filter(|log| !self.logs.contains(log)));
        if let Some(whole) = self.events.back_mut() {
            whole.bytes = bytes;
            whole.version = version;
            whole.subject = subject.or_else(|| whole.subject.take());
            whole.sandbox = sandbox.or_else(|| whole.sandbox.take());
            whole.count = count;
        }
    }

    fn has_failed(&mut self, err: &Error) {
        let parts = self.events.len().saturating_sub(1);
        self.events.drain(..parts);
        let outcome = Outcome::of_failure(err);
        if matches!(outcome, Outcome::Refused(_)) {
            self.recorder.has_refused.store(true, Ordering::Relaxed);
        }
        if let Some(whole) = self.events.back_mut() {
            whole.outcome = outcome;
            // It tells which of its parts could not be.
            whole.path = err.path().filter(|_| parts > 0).cloned().or_else(|| whole.path.take());
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        for event in self.events.drain(..) {
            self.recorder.audit.offer(self.logs.clone(), AuditEvent { time: now(), ..event });
        }
    }
}

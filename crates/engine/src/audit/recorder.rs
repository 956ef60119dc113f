//! Whoever works in a sandbox, as the audit knows him.

use std::sync::Arc;

use crate::virtual_fs::now;
use crate::{Actor, Entry, ErrorKind, Result, SandboxId, SandboxPath, Version};

use super::Audit;
use super::event::{AuditEvent, AuditLog, Outcome};

/// Who asks, by which request, and where it is written down.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Where it is written down.
    pub audit: Audit,
    /// Who asks.
    pub by: Option<Actor>,
    /// The request that asks: at most 128 bytes.
    pub request: Option<Arc<str>>,
}

/// What is known of a change when it is done.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// How many bytes were written.
    pub bytes: Option<u64>,
    /// The version that is there since.
    pub version: Option<Version>,
}

impl Told {
    /// What is known when an entry is there that was not, or was another.
    pub fn entry(entry: &Entry) -> Self {
        Self { bytes: None, version: entry.version.clone() }
    }
}

/// Something that was begun. If nobody says how it ended, it counts as abandoned.
#[derive(Debug)]
pub struct Pending<'a> {
    audit: &'a Audit,
    log: AuditLog,
    event: Option<AuditEvent>,
}

impl Recorder {
    /// Begins something in a sandbox that must be written down, however it ends.
    pub fn begin(
        &self,
        sandbox: &SandboxId,
        operation: &'static str,
        path: &SandboxPath,
        from: Option<&SandboxPath>,
    ) -> Pending<'_> {
        let event = AuditEvent {
            by: self.by,
            sandbox: Some(sandbox.clone()),
            path: Some(path.clone()),
            from: from.cloned(),
            request: self.request.clone(),
            ..AuditEvent::new(operation, Outcome::Abandoned)
        };
        let log = AuditLog::Sandbox(sandbox.clone());
        Pending { audit: &self.audit, log, event: Some(event) }
    }
}

impl Pending<'_> {
    /// Writes down how it ended.
    pub async fn end(self, outcome: Result<Told, ErrorKind>) {
        match outcome {
            Ok(told) => self.end_as(Outcome::Done, told).await,
            Err(kind) => self.end_as(Outcome::Failed(kind), Told::default()).await,
        }
    }

    /// Writes down that it was not let happen.
    pub async fn refuse(self, reason: &'static str) {
        self.end_as(Outcome::Refused(reason.into()), Told::default()).await;
    }

    async fn end_as(mut self, outcome: Outcome, told: Told) {
        let Some(event) = self.event.take() else { return };
        let Told { bytes, version } = told;
        let event = AuditEvent { time: now(), outcome, bytes, version, ..event };
        self.audit.record(self.log.clone(), event).await;
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            self.audit.offer(self.log.clone(), AuditEvent { time: now(), ..event });
        }
    }
}

/// Whether somebody tried what he may not: written down even if he only wanted to look.
pub(crate) fn is_refusal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Forbidden | ErrorKind::OutsideSandbox | ErrorKind::PermissionDenied)
}

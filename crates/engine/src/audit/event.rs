//! What is recorded.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::virtual_fs::now;
use crate::{Actor, Error, ErrorKind, Result, SandboxId, SandboxPath, UnixTime, Version};

/// Something that somebody did, or was not let do. Never what files hold, and no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// When it ended.
    pub time: UnixTime,
    /// Who asked; none if he was not let in, or needed not say.
    pub by: Option<Actor>,
    /// The sandbox that he asked for.
    pub sandbox: Option<SandboxId>,
    /// What he asked for, such as `write`: at most 64 bytes.
    pub operation: Cow<'static, str>,
    /// What he asked it of.
    pub path: Option<SandboxPath>,
    /// From where something was moved or copied to `path`.
    pub from: Option<SandboxPath>,
    /// What came of it.
    pub outcome: Outcome,
    /// How many bytes were written.
    pub bytes: Option<u64>,
    /// The version that is there since.
    pub version: Option<Version>,
    /// The request that asked: at most 128 bytes.
    pub request: Option<Arc<str>>,
    /// What else it is about: the id of a key or of a snapshot, the sandbox that a fork is of, or
    /// what was spelled where a path was meant and none was: at most 256 bytes.
    pub subject: Option<Arc<str>>,
    /// How many there were, where one event tells of many: steps of a batch, entries of an archive,
    /// refusals that are not named one by one.
    pub count: Option<u64>,
}

/// What came of what somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was tried, and failed.
    Failed(ErrorKind),
    /// It was not let happen, for this reason: at most 256 bytes.
    Refused(Cow<'static, str>),
    /// Whoever asked went away before it ended: it may have been done or not.
    Abandoned,
    /// So many events could not be recorded before this one.
    Lost(u64),
}

/// Where events are read from again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AuditLog {
    /// What concerns the server and no one sandbox, such as keys.
    Server,
    /// What was refused at the gate. Anybody can fill it, so that nothing else is kept there.
    Gate,
    /// What concerns a sandbox.
    Sandbox(SandboxId),
}

/// A place between two events of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AuditCursor {
    /// The batch that the next event is in, and which of it that is.
    pub(super) batch: u64,
    pub(super) event: u64,
}

impl AuditEvent {
    /// An event of this moment, of which nothing else is known.
    pub fn new(operation: impl Into<Cow<'static, str>>, outcome: Outcome) -> Self {
        Self {
            time: now(),
            by: None,
            sandbox: None,
            operation: operation.into(),
            path: None,
            from: None,
            outcome,
            bytes: None,
            version: None,
            request: None,
            subject: None,
            count: None,
        }
    }

    /// About how many bytes it takes while it waits.
    pub(super) fn weight(&self) -> usize {
        let path = |path: &Option<SandboxPath>| path.as_ref().map_or(0, |it| it.as_str().len());
        let reason = match &self.outcome {
            Outcome::Refused(reason) => reason.len(),
            Outcome::Done | Outcome::Failed(_) | Outcome::Abandoned | Outcome::Lost(_) => 0,
        };
        let texts = path(&self.path) + path(&self.from) + self.operation.len() + reason;
        size_of::<Self>() + texts + self.subject.as_ref().map_or(0, |it| it.len())
    }
}

impl Outcome {
    /// What became of something that failed like this.
    pub fn of_failure(err: &Error) -> Self {
        match is_refusal(err.kind()) {
            true => Self::Refused(err.message().to_owned().into()),
            false => Self::Failed(err.kind()),
        }
    }

    /// The outcome as a word: `ok`, the word of an error, `refused`, `abandoned` or `lost`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "ok",
            Self::Failed(kind) => kind.word(),
            Self::Refused(_) => "refused",
            Self::Abandoned => "abandoned",
            Self::Lost(_) => "lost",
        }
    }
}

/// Whether somebody tried what he may not: written down even if he only wanted to look.
pub(crate) fn is_refusal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Forbidden | ErrorKind::OutsideSandbox | ErrorKind::PermissionDenied)
}

impl AuditLog {
    /// What the log is called in the store. No sandbox id begins with a hyphen.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Server => "-server",
            Self::Gate => "-gate",
            Self::Sandbox(id) => id.as_str(),
        }
    }
}

impl AuditCursor {
    /// The cursor that a text spells.
    pub fn parse(text: &str) -> Result<Self> {
        let numbers = text.split_once('.').filter(|_| text.len() <= 40);
        let parsed = numbers.and_then(|(batch, event)| {
            Some(Self { batch: batch.parse().ok()?, event: event.parse().ok()? })
        });
        parsed.filter(|cursor| cursor.to_string() == text).ok_or_else(|| {
            Error::new(ErrorKind::InvalidArgument, "the cursor is not one that was given out")
        })
    }
}

impl fmt::Display for AuditCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.batch, self.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text() {
        let cursor = AuditCursor { batch: 1_763_000_000_000, event: 17 };
        assert_eq!(AuditCursor::parse(&cursor.to_string()).unwrap(), cursor);
        for text in ["", ".", "1", "1.", "+1.2", "01.2", "1.2.3", "-1.2", "1.2 ", &"9".repeat(41)] {
            assert_eq!(AuditCursor::parse(text).unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
    }
}

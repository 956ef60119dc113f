//! What fuzzing asks of what is kept of the audit.

use bytes::Bytes;

use super::batch::{Draft, Head, decode};
use super::{AuditEvent, Outcome};
use crate::{SandboxPath, UnixTime};

/// What comes of a batch that is read and written again; nothing if it is refused.
pub(crate) fn again(bytes: &Bytes) -> Option<Vec<u8>> {
    let (head, events) = decode(bytes).ok()?;
    let mut draft = Draft::default();
    events.iter().for_each(|event| draft.add(event));
    Some(draft.seal(head).to_vec())
}

/// Whether an event about a path is read as it was written.
pub(crate) fn keeps(path: &SandboxPath) -> bool {
    let (path, from) = (Some(path.clone()), Some(path.clone()));
    let event = AuditEvent { path, from, ..AuditEvent::new("rename", Outcome::Done) };
    let mut draft = Draft::default();
    draft.add(&event);
    let batch = draft.seal(Head { writer: 1, number: 1, written: UnixTime::EPOCH });
    decode(&batch).is_ok_and(|(_, events)| events == [event])
}

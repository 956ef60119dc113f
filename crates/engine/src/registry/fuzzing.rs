//! What fuzzing asks of what is kept of a sandbox.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::record::{Attached, Home, Record};
use crate::{AttachTarget, Limits, SandboxPath, UnixTime};

/// What comes of a record that is read and written again; nothing if it is refused.
pub(crate) fn again(bytes: &Bytes) -> Option<Vec<u8>> {
    Record::decode(bytes).ok().map(|record| record.encode())
}

/// Whether a sandbox whose clients see it at a path, and whose tree begins there in a container, is
/// read as it was written.
pub(crate) fn keeps(path: &SandboxPath) -> bool {
    let attached = Attached {
        machine: String::new(),
        target: AttachTarget::Process { pid: 1, birth: None },
        path: path.clone(),
        limits: Limits::default(),
    };
    let record = Record {
        home: Home::Attached(attached),
        prefix: path.clone(),
        labels: BTreeMap::new(),
        created: UnixTime::EPOCH,
        expires: None,
    };
    Record::decode(&record.encode().into()).is_ok_and(|read| read == record)
}

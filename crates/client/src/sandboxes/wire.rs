//! The JSON of `/v1/sandboxes`, as far as this client reads and writes it.

use std::collections::BTreeMap;

use engine::{
    AttachTarget, ContainerName, DotDot, Entry, EntryKind, Error, ErrorKind, Limits,
    MetadataChange, Registered, Result, SandboxId, SandboxKind, SandboxPath, Snapshot, SnapshotId,
    UnixTime, Usage, Version,
};
use serde::{Deserialize, Serialize};

use crate::transport::not_understood;
use crate::wire::time;

/// What is at a path.
#[derive(Debug, Deserialize)]
pub(super) struct Stat {
    pub(super) path: String,
    kind: Kind,
    size: u64,
    mode: Option<String>,
    modified: Option<String>,
    created: Option<String>,
    version: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    File,
    Directory,
    Symlink,
    Special,
}

impl From<Kind> for EntryKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::File,
            Kind::Directory => Self::Directory,
            Kind::Symlink => Self::Symlink,
            Kind::Special => Self::Special,
        }
    }
}

impl Stat {
    /// The entry, which is at `path`.
    pub(super) fn entry(self, path: SandboxPath) -> Entry {
        Entry {
            path,
            kind: self.kind.into(),
            size: self.size,
            mode: self.mode.and_then(|mode| u32::from_str_radix(&mode, 8).ok()),
            created: self.created.as_deref().and_then(time),
            modified: self.modified.as_deref().and_then(time),
            version: self.version.map(Version::new),
        }
    }

    /// The entry where it says that it is.
    pub(super) fn entry_there(self) -> Result<Entry> {
        let path = path(&self.path)?;
        Ok(self.entry(path))
    }
}

/// The path that the server spells.
pub(super) fn path(text: &str) -> Result<SandboxPath> {
    SandboxPath::parse(text, DotDot::Refuse).map_err(not_understood)
}

/// An element of a listing with details.
#[derive(Debug, Deserialize)]
pub(super) struct Child {
    name: String,
    stat: Stat,
}

impl Child {
    /// The entry as it lies in `dir`.
    pub(super) fn entry(self, dir: &SandboxPath) -> Result<Entry> {
        Ok(self.stat.entry(dir.join(&self.name).map_err(not_understood)?))
    }
}

/// What a link holds.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) target: String,
}

/// How long a file is to be.
#[derive(Debug, Serialize)]
pub(super) struct Length {
    pub(super) size: u64,
}

/// What is to change of a file or directory.
#[derive(Debug, Serialize)]
pub(super) struct Mode {
    mode: Option<String>,
    modified: Option<String>,
}

impl Mode {
    pub(super) fn new(change: MetadataChange) -> Result<Self> {
        let MetadataChange { mode, modified } = change;
        let mode = mode.map(|mode| format!("{mode:o}"));
        Ok(Self { mode, modified: modified.map(spelled).transpose()? })
    }
}

/// A time in RFC 3339.
fn spelled(time: UnixTime) -> Result<String> {
    const SECOND: u32 = 1_000_000_000;
    let nanoseconds = i32::try_from(time.nanoseconds).ok().filter(|_| time.nanoseconds < SECOND);
    let time = nanoseconds.and_then(|nanos| jiff::Timestamp::new(time.seconds, nanos).ok());
    let time = time.ok_or_else(|| Error::new(ErrorKind::InvalidArgument, "there is no such time"));
    time.map(|time| time.to_string())
}

/// How much a sandbox holds.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Amount {
    bytes: u64,
    files: u64,
    directories: u64,
}

impl From<Amount> for Usage {
    fn from(amount: Amount) -> Self {
        let Amount { bytes, files, directories } = amount;
        Self { bytes, files, directories }
    }
}

/// What an archive put in place.
#[derive(Debug, Deserialize)]
pub(super) struct UnpackedBody {
    pub(super) entries: u64,
    pub(super) paths: Vec<String>,
}

/// A snapshot.
#[derive(Debug, Deserialize)]
pub(super) struct SnapshotBody {
    id: String,
    created_at: String,
    message: String,
    labels: BTreeMap<String, String>,
    #[serde(flatten)]
    amount: Amount,
}

impl SnapshotBody {
    pub(super) fn snapshot(self) -> Result<Snapshot> {
        let Self { id, created_at, message, labels, amount } = self;
        let id = SnapshotId::parse(&id).map_err(not_understood)?;
        let created = moment(&created_at)?;
        Ok(Snapshot { id, created, message, labels, usage: amount.into() })
    }
}

/// Some of the snapshots.
#[derive(Debug, Deserialize)]
pub(super) struct SnapshotList {
    pub(super) snapshots: Vec<SnapshotBody>,
    pub(super) next_cursor: Option<String>,
}

/// How much a sandbox may hold.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct WireLimits {
    file_size: Option<u64>,
    total_size: Option<u64>,
    nodes: Option<u64>,
}

impl From<Limits> for WireLimits {
    fn from(limits: Limits) -> Self {
        let Limits { file_size, total_size, nodes } = limits;
        Self { file_size, total_size, nodes }
    }
}

impl From<WireLimits> for Limits {
    fn from(limits: WireLimits) -> Self {
        let WireLimits { file_size, total_size, nodes } = limits;
        Self { file_size, total_size, nodes }
    }
}

/// A sandbox.
#[derive(Debug, Deserialize)]
pub(super) struct SandboxBody {
    id: String,
    kind: TreeKind,
    root: Option<String>,
    #[serde(default)]
    root_made: bool,
    attach: Option<Attach>,
    path: Option<String>,
    prefix: String,
    limits: WireLimits,
    labels: BTreeMap<String, String>,
    created_at: String,
    expires_at: Option<String>,
    main: bool,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TreeKind {
    Virtual,
    Host,
}

/// What a sandbox is attached to.
#[derive(Debug, Deserialize)]
pub(super) struct Attach {
    container: Option<String>,
    pid: Option<u32>,
}

impl Attach {
    fn target(self) -> Result<AttachTarget> {
        match (self.container, self.pid) {
            (Some(name), _) => {
                ContainerName::parse(&name).map(AttachTarget::Container).map_err(not_understood)
            }
            (None, Some(pid)) => Ok(AttachTarget::Process { pid, birth: None }),
            (None, None) => Err(not_understood("it is attached to nothing")),
        }
    }
}

impl SandboxBody {
    pub(super) fn registered(self) -> Result<Registered> {
        let kind = match (self.kind, self.attach) {
            (TreeKind::Virtual, _) => SandboxKind::Virtual,
            (TreeKind::Host, Some(attach)) => {
                let path = path(self.path.as_deref().unwrap_or("/"))?;
                SandboxKind::Attached { target: attach.target()?, path }
            }
            (TreeKind::Host, None) => {
                SandboxKind::Host { root: self.root.unwrap_or_default(), made: self.root_made }
            }
        };
        Ok(Registered {
            id: SandboxId::parse(&self.id).map_err(not_understood)?,
            kind,
            prefix: path(&self.prefix)?,
            limits: self.limits.into(),
            labels: self.labels,
            created: moment(&self.created_at)?,
            expires: self.expires_at.as_deref().map(moment).transpose()?,
            is_main: self.main,
        })
    }
}

/// Some of the sandboxes.
#[derive(Debug, Deserialize)]
pub(super) struct SandboxList {
    pub(super) sandboxes: Vec<SandboxBody>,
    pub(super) next_cursor: Option<String>,
}

/// The time that a text in RFC 3339 spells.
pub(super) fn moment(text: &str) -> Result<UnixTime> {
    time(text).ok_or_else(|| not_understood("a time is not in RFC 3339"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_is_read_to_its_last_field() {
        let json = r#"{"path":"a/f","name":"f","kind":"file","size":5,"mode":"640",
            "modified":"2023-11-14T22:13:20.123456789+00:00",
            "created":"1969-12-31T23:59:58.500+00:00","version":"1-2-3"}"#;
        let stat: Stat = serde_json::from_str(json).unwrap();
        let entry = stat.entry_there().unwrap();
        assert_eq!((entry.path.as_str(), entry.size, entry.mode), ("/a/f", 5, Some(0o640)));
        let modified = UnixTime { seconds: 1_700_000_000, nanoseconds: 123_456_789 };
        let created = UnixTime { seconds: -2, nanoseconds: 500_000_000 };
        assert_eq!((entry.modified, entry.created), (Some(modified), Some(created)));
        assert_eq!(entry.version, Some(Version::new("1-2-3")));
    }

    #[test]
    fn a_time_is_spelled_as_it_is_read() {
        for (seconds, nanoseconds) in [(1_700_000_000, 123_456_789), (-86_401, 500_000_000)] {
            let moment = UnixTime { seconds, nanoseconds };
            assert_eq!(time(&spelled(moment).unwrap()), Some(moment));
        }
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        for (seconds, nanoseconds) in [(0, 1_000_000_000), (i64::MAX, 0)] {
            let err = spelled(UnixTime { seconds, nanoseconds }).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::InvalidArgument);
        }
    }
}

//! Immutable states of a tree: taken, listed, compared, brought back, forked and carried elsewhere.

mod diff;
mod export;
mod host_tree;
mod id;
mod identity;
mod import;
mod record;
mod stream;
mod virtual_tree;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;

pub(crate) use self::diff::{Moves, diff_beneath};
pub(crate) use self::host_tree::HostSnapshots;
pub use self::id::SnapshotId;
pub(crate) use self::record::Record;
use crate::{
    ByteStream, Entry, FileSystem, Limits, Result, SandboxId, SandboxPath, UnixTime, Usage,
};

/// What was found different, as it is found. An error ends it.
pub type DifferenceStream = BoxStream<'static, Result<Difference>>;

/// The snapshots of one tree.
///
/// Taking one, forking it and bringing it back cost the same whatever the size of a virtual tree.
#[async_trait]
pub trait Snapshots: fmt::Debug + Send + Sync + 'static {
    /// Keeps the tree as it is now.
    async fn create(&self, new: NewSnapshot) -> Result<Snapshot>;

    /// The snapshots in the order of their ids: those behind `after`, at most `limit`.
    async fn list(&self, after: Option<&SnapshotId>, limit: usize) -> Result<Vec<Snapshot>>;

    /// One snapshot.
    async fn stat(&self, id: &SnapshotId) -> Result<Snapshot>;

    /// The files of a snapshot, to be read.
    async fn open(&self, id: &SnapshotId) -> Result<Arc<dyn FileSystem>>;

    /// What must happen to `from` to become `to`, in the order of the paths. Costs what differs,
    /// not what there is.
    async fn diff(&self, from: Point, to: Point) -> Result<DifferenceStream>;

    /// Brings back the tree at `path` as it was; the root brings back everything. A path with a link
    /// on the way, then or now, is refused: it would mean two places.
    async fn restore(&self, id: &SnapshotId, path: &SandboxPath) -> Result<()>;

    /// Makes a new sandbox that begins as a copy.
    async fn fork(&self, from: Point, to: &SandboxId, limits: Limits) -> Result<()>;

    /// Forgets a snapshot.
    async fn delete(&self, id: &SnapshotId) -> Result<()>;

    /// A state as one stream of bytes: whole, or only what `since` does not have.
    async fn export(&self, from: Point, since: Option<&SnapshotId>) -> Result<ByteStream>;

    /// Takes in what [`Snapshots::export`] gave, as a snapshot. A stream that is cut off, damaged
    /// or hostile changes nothing.
    async fn import(&self, stream: ByteStream, new: NewSnapshot) -> Result<Snapshot>;
}

/// A state of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// As it is now.
    Live,
    /// As it was.
    Snapshot(SnapshotId),
}

/// A snapshot that is to be taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSnapshot {
    /// What it is called; one that sorts by time is made up without it.
    pub id: Option<SnapshotId>,
    /// What a person wants to know about it.
    pub message: String,
    /// What a program wants to know about it.
    pub labels: BTreeMap<String, String>,
}

/// What is known of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// What it is called.
    pub id: SnapshotId,
    /// When it was taken.
    pub created: UnixTime,
    /// What a person wants to know about it.
    pub message: String,
    /// What a program wants to know about it.
    pub labels: BTreeMap<String, String>,
    /// How much it holds.
    pub usage: Usage,
}

/// One path that differs between two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub path: SandboxPath,
    /// How.
    pub kind: DifferenceKind,
    /// What was there.
    pub before: Option<Entry>,
    /// What is there.
    pub after: Option<Entry>,
}

/// How a path differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its content, mode or time is another; of a directory, its mode.
    Modified,
    /// It was elsewhere before.
    Renamed {
        /// Where.
        from: SandboxPath,
    },
}

//! `snapshot`, `list_snapshots` and `restore`.

use engine::{Error, ErrorKind, NewSnapshot, SandboxPath, Snapshot, SnapshotId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::room::Room;
use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata, Truncation, Unit, Why};
use crate::reach::Manner;
use crate::shown::time;
use crate::tool::{Effect, Needs, Tool};

/// What to do where there is no such snapshot.
pub(crate) const WHERE_SNAPSHOTS_ARE: &str = "call list_snapshots to see which there are";
/// How many snapshots are looked up at once.
const PAGE: usize = 200;

/// Keep all files as they are now, at almost no cost, to be able to go back. Do it before changes
/// that may go wrong.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TakeSnapshot {
    /// What it is called; one that sorts by time is made up without it.
    id: Option<String>,
    /// What a person wants to know about it.
    message: Option<String>,
}

/// List the snapshots that were kept, sorted by id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListSnapshots {
    /// How many to list at most.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Go on behind this id, which an earlier call told.
    after: Option<String>,
}

/// Bring back files as they were in a snapshot: all of them, or what is at a path. What came since
/// is gone there; keep a snapshot first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Restore {
    /// The snapshot.
    id: String,
    /// What is brought back; everything without it.
    path: Option<String>,
}

/// A snapshot.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SnapshotOutput {
    /// What it is called.
    id: String,
    /// When it was taken (RFC 3339).
    created_at: Option<String>,
    /// What a person wants to know about it.
    message: String,
    /// How many files and links it holds.
    files: u64,
    /// How many directories it holds.
    directories: u64,
    /// The lengths of its files, added up.
    bytes: u64,
}

/// Snapshots.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SnapshotsOutput {
    /// The snapshots, by id.
    snapshots: Vec<SnapshotOutput>,
}

/// What was brought back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestoreOutput {
    /// The snapshot.
    id: String,
    /// What is as it was.
    path: String,
}

impl Tool for TakeSnapshot {
    const NAME: &'static str = "snapshot";
    const TITLE: &'static str = "Take a snapshot";
    const EFFECT: Effect = Effect::Adds { idempotent: false };
    const NEEDS: Needs = Needs::Snapshots;
    type Output = SnapshotOutput;

    async fn run(self, call: &Call) -> Result<Done<SnapshotOutput>, Failure> {
        let id = self.id.as_deref().map(SnapshotId::parse).transpose()?;
        let new =
            NewSnapshot { id, message: self.message.unwrap_or_default(), ..NewSnapshot::default() };
        let taken = |err| Failure::hinting(err, ErrorKind::AlreadyExists, "choose another `id`");
        let output = SnapshotOutput::of(&call.whole().snapshot(new).await.map_err(taken)?);
        let text = format!("kept as {}", output.id);
        Ok(Done::new(output, text))
    }
}

impl Tool for ListSnapshots {
    const NAME: &'static str = "list_snapshots";
    const TITLE: &'static str = "List snapshots";
    const EFFECT: Effect = Effect::Looks;
    const NEEDS: Needs = Needs::Snapshots;
    type Output = SnapshotsOutput;

    async fn run(self, call: &Call) -> Result<Done<SnapshotsOutput>, Failure> {
        let mut after = self.after.as_deref().map(SnapshotId::parse).transpose()?;
        let mut room =
            Room::new(self.limit, call.settings.max_entries, call.settings.max_result_bytes)?;
        let (mut snapshots, mut is_cut) = (Vec::new(), None);
        'pages: loop {
            let page = call.whole().list_snapshots(after.as_ref(), PAGE).await?;
            let is_last = page.len() < PAGE;
            for snapshot in page {
                let one = SnapshotOutput::of(&snapshot);
                if let Err(why) = room.take(one.id.len() + one.message.len()) {
                    is_cut = Some(why);
                    break 'pages;
                }
                snapshots.push(one);
                after = Some(snapshot.id);
            }
            if is_last {
                break;
            }
        }
        Ok(listed(snapshots, is_cut))
    }
}

impl Tool for Restore {
    const NAME: &'static str = "restore";
    const TITLE: &'static str = "Restore a snapshot";
    const EFFECT: Effect = Effect::Replaces { idempotent: true };
    const NEEDS: Needs = Needs::Snapshots;
    type Output = RestoreOutput;

    async fn run(self, call: &Call) -> Result<Done<RestoreOutput>, Failure> {
        let id = SnapshotId::parse(&self.id)?;
        let path = match self.path.as_deref() {
            Some(path) => call.path(path)?,
            None => SandboxPath::root(),
        };
        // Snapshots are of the whole tree, so this one is not made in a part of it.
        call.reach().part(&path, Manner::Keep)?;
        call.reach().demand_clear(&path)?;
        call.whole().restore(&id, &path).await.map_err(of_no_snapshot)?;
        let output = RestoreOutput { id: self.id, path: call.shown(&path) };
        let text = format!("{} is as it was in {}", output.path, output.id);
        Ok(Done::new(output, text))
    }
}

/// What is missing where a snapshot was named is the snapshot.
pub(crate) fn of_no_snapshot(err: Error) -> Failure {
    Failure::hinting(err, ErrorKind::NotFound, WHERE_SNAPSHOTS_ARE)
}

impl SnapshotOutput {
    fn of(snapshot: &Snapshot) -> Self {
        Self {
            id: snapshot.id.to_string(),
            created_at: time(snapshot.created),
            message: snapshot.message.clone(),
            files: snapshot.usage.files,
            directories: snapshot.usage.directories,
            bytes: snapshot.usage.bytes,
        }
    }
}

fn listed(snapshots: Vec<SnapshotOutput>, is_cut: Option<Why>) -> Done<SnapshotsOutput> {
    let count = snapshots.len() as u64;
    let last = snapshots.last().map(|snapshot| Value::from(snapshot.id.as_str()));
    let truncated = is_cut.map(|reason| Truncation {
        returned: count,
        total: None,
        unit: Unit::Snapshots,
        reason,
        next: last.map(|last| Map::from_iter([("after".to_owned(), last)])),
    });
    let line = |one: &SnapshotOutput| {
        let when = one.created_at.as_deref().unwrap_or("?");
        format!("{} {when} {} files {}", one.id, one.files, one.message.replace('\n', " "))
    };
    let mut lines: Vec<String> = snapshots.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("there are no snapshots".to_owned());
    }
    lines.extend(truncated.as_ref().map(Truncation::in_words));
    let metadata = Metadata { items: Some(count), truncated, ..Metadata::default() };
    Done::new(SnapshotsOutput { snapshots }, lines.join("\n")).with(metadata)
}

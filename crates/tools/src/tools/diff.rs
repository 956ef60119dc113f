//! `diff`.

use engine::{Difference, DifferenceKind, Error, ErrorKind, Point, SnapshotId};
use futures::TryStreamExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::list_directory::STRIDE;
use super::room::Room;
use super::snapshots::{WHERE_SNAPSHOTS_ARE, of_no_snapshot};
use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata, Truncation, Unit};
use crate::shown::size;
use crate::tool::{Effect, Needs, Tool};

/// Tell which files and directories differ between two snapshots, or between a snapshot and now.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Diff {
    /// The snapshot to begin with.
    from: Option<String>,
    /// The snapshot to compare it with; without it, the files as they are now.
    to: Option<String>,
    /// How many changes to tell at most.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Leave out so many, which an earlier call told.
    skip: Option<u64>,
}

/// What differs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffOutput {
    /// What differs.
    changes: Vec<Change>,
}

/// A path that differs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Change {
    /// Where.
    path: String,
    /// How.
    change: How,
    /// Where it was before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    from: Option<String>,
    /// How many bytes a file had before; null for everything else.
    size_before: Option<u64>,
    /// How many bytes a file has now; null for everything else.
    size_after: Option<u64>,
}

/// How a path differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum How {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is another than before.
    Modified,
    /// It was elsewhere before.
    Renamed,
}

impl Tool for Diff {
    const NAME: &'static str = "diff";
    const TITLE: &'static str = "Compare with a snapshot";
    const EFFECT: Effect = Effect::Looks;
    const NEEDS: Needs = Needs::Snapshots;
    type Output = DiffOutput;

    async fn run(self, call: &Call) -> Result<Done<DiffOutput>, Failure> {
        if self.from.is_none() && self.to.is_none() {
            let message = "neither `from` nor `to` names a snapshot";
            let error = Error::new(ErrorKind::InvalidArgument, message);
            return Err(Failure::with_hint(error, WHERE_SNAPSHOTS_ARE));
        }
        let skip = self.skip.unwrap_or_default();
        let (from, to) = (point(self.from.as_deref())?, point(self.to.as_deref())?);
        let mut room =
            Room::new(self.limit, call.settings.max_entries, call.settings.max_result_bytes)?;
        let mut found = call.whole().diff(from, to).await.map_err(of_no_snapshot)?;
        let (mut changes, mut is_cut, mut passed) = (Vec::new(), None, 0);
        while let Some(difference) = found.try_next().await? {
            let Some(change) = Change::of(call, &difference) else { continue };
            if passed < skip {
                passed += 1;
                continue;
            }
            let cost = change.path.len() + change.from.as_ref().map_or(0, String::len);
            if let Err(why) = room.take(cost) {
                is_cut = Some(why);
                break;
            }
            changes.push(change);
            if (changes.len() as u64).is_multiple_of(STRIDE) {
                call.report(changes.len() as u64, None, "changes told").await;
            }
        }
        let count = changes.len() as u64;
        let next = Map::from_iter([("skip".to_owned(), Value::from(passed + count))]);
        let truncated = is_cut.map(|reason| Truncation {
            returned: count,
            total: None,
            unit: Unit::Changes,
            reason,
            next: Some(next),
        });
        let text = in_words(&changes, truncated.as_ref());
        let metadata = Metadata { items: Some(count), truncated, ..Metadata::default() };
        Ok(Done::new(DiffOutput { changes }, text).with(metadata))
    }
}

impl Change {
    /// A difference as the caller may see it. What came from where he may not look is new to him,
    /// and what went there is gone.
    fn of(call: &Call, difference: &Difference) -> Option<Self> {
        let reach = call.reach();
        let Difference { path, kind, before, after } = difference;
        let told = |path, change, from| {
            let size_before = before.as_ref().filter(|_| change != How::Added).and_then(size);
            let size_after = after.as_ref().filter(|_| change != How::Removed).and_then(size);
            Some(Self { path: call.shown(path), change, from, size_before, size_after })
        };
        match kind {
            DifferenceKind::Renamed { from } => match (reach.shows(from), reach.shows(path)) {
                (true, true) => told(path, How::Renamed, Some(call.shown(from))),
                (true, false) => told(from, How::Removed, None),
                (false, true) => told(path, How::Added, None),
                (false, false) => None,
            },
            _ if !reach.shows(path) => None,
            DifferenceKind::Added => told(path, How::Added, None),
            DifferenceKind::Removed => told(path, How::Removed, None),
            DifferenceKind::Modified => told(path, How::Modified, None),
        }
    }
}

fn point(id: Option<&str>) -> engine::Result<Point> {
    id.map_or(Ok(Point::Live), |id| SnapshotId::parse(id).map(Point::Snapshot))
}

fn in_words(changes: &[Change], truncated: Option<&Truncation>) -> String {
    let line = |one: &Change| {
        let path = one.path.replace('\n', "\\n");
        match (one.change, &one.from) {
            (How::Added, _) => format!("+ {path}"),
            (How::Removed, _) => format!("- {path}"),
            (How::Renamed, Some(from)) => format!("> {} to {path}", from.replace('\n', "\\n")),
            (How::Modified | How::Renamed, _) => format!("~ {path}"),
        }
    };
    let mut lines: Vec<String> = changes.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("nothing differs".to_owned());
    }
    lines.extend(truncated.map(Truncation::in_words));
    lines.join("\n")
}

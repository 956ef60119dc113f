//! Snapshots, listed or alone.

use std::collections::BTreeMap;

use comfy_table::Cell;
use engine::Snapshot;
use serde::Serialize;

use super::rows::Listed;
use super::table::right;
use super::{UsageJson, exact_time, shown, size, time};

/// A snapshot as a program reads it.
#[derive(Serialize)]
pub(crate) struct SnapshotJson<'a> {
    id: &'a str,
    created: Option<String>,
    message: &'a str,
    labels: &'a BTreeMap<String, String>,
    #[serde(flatten)]
    usage: UsageJson,
}

impl<'a> SnapshotJson<'a> {
    /// What is known of a snapshot.
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            id: snapshot.id.as_str(),
            created: exact_time(snapshot.created),
            message: &snapshot.message,
            labels: &snapshot.labels,
            usage: UsageJson::new(snapshot.usage),
        }
    }
}

impl Listed for Snapshot {
    const TITLES: &'static [&'static str] = &["NAME", "CREATED", "FILES", "SIZE", "MESSAGE"];

    fn cells(&self) -> Vec<Cell> {
        let title = self.message.lines().next().unwrap_or_default();
        vec![
            Cell::new(&self.id),
            Cell::new(time(self.created)),
            right(self.usage.files),
            right(size(self.usage.bytes)),
            Cell::new(shown(title)),
        ]
    }

    fn json(&self) -> impl Serialize {
        SnapshotJson::new(self)
    }
}

//! How much trees hold.

use comfy_table::Cell;
use engine::{SandboxId, Usage};
use serde::Serialize;

use super::rows::Listed;
use super::size;
use super::table::right;

/// How much a tree holds, as a program reads it.
#[derive(Serialize)]
pub(crate) struct UsageJson {
    bytes: u64,
    files: u64,
    directories: u64,
    nodes: u64,
}

impl UsageJson {
    /// How much a tree holds.
    pub(crate) fn new(usage: Usage) -> Self {
        let Usage { bytes, files, directories } = usage;
        Self { bytes, files, directories, nodes: usage.nodes() }
    }
}

#[derive(Serialize)]
struct SandboxJson<'a> {
    sandbox: &'a str,
    #[serde(flatten)]
    usage: UsageJson,
}

/// A sandbox of a store.
impl Listed for (SandboxId, Usage) {
    const TITLES: &'static [&'static str] = &["NAME", "FILES", "DIRECTORIES", "SIZE"];

    fn cells(&self) -> Vec<Cell> {
        let (id, usage) = self;
        let (files, directories) = (right(usage.files), right(usage.directories));
        vec![Cell::new(id), files, directories, right(size(usage.bytes))]
    }

    fn json(&self) -> impl Serialize {
        let (id, usage) = self;
        SandboxJson { sandbox: id.as_str(), usage: UsageJson::new(*usage) }
    }
}

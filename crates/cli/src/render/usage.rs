//! How much trees hold.

use comfy_table::Cell;
use engine::{Limits, SandboxId, Usage};
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

/// Limits as a program reads them; null where there is none.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitsJson {
    file_size: Option<u64>,
    total_size: Option<u64>,
    nodes: Option<u64>,
}

impl LimitsJson {
    /// How much a tree may hold.
    pub(crate) fn new(limits: Limits) -> Self {
        let Limits { file_size, total_size, nodes } = limits;
        Self { file_size, total_size, nodes }
    }
}

/// A sandbox of a store as a program reads it.
#[derive(Serialize)]
pub(crate) struct StoredJson<'a> {
    #[serde(flatten)]
    sandbox: SandboxJson<'a>,
    limits: LimitsJson,
}

impl<'a> StoredJson<'a> {
    /// What is known of a sandbox.
    pub(crate) fn new(id: &'a SandboxId, usage: Usage, limits: LimitsJson) -> Self {
        let sandbox = SandboxJson { sandbox: id.as_str(), usage: UsageJson::new(usage) };
        Self { sandbox, limits }
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

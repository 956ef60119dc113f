//! How a store is used.

use std::path::PathBuf;
use std::time::Duration;

/// How a store is used. The default suits a server of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// For how long what was seen of a tree is shown without looking whether another server changed
    /// it. Of no meaning for a store that only one process has.
    pub staleness: Duration,
    /// How many bytes of pages and chunks are kept in memory.
    pub memory: u64,
    /// Where objects of a store are kept on this machine's disk as well.
    pub disk_cache: Option<DiskCache>,
    /// How other servers reach this one. Whoever has an address asks, in the trees that it changes,
    /// that changes be sent to it.
    pub address: Option<String>,
}

/// Objects of a store on this machine's disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskCache {
    /// A directory that nobody else uses.
    pub dir: PathBuf,
    /// How many bytes it may take.
    pub limit: u64,
}

impl Default for StoreOptions {
    /// One second, 32 MiB, no disk and no address.
    fn default() -> Self {
        Self {
            staleness: Duration::from_secs(1),
            memory: 32 << 20,
            disk_cache: None,
            address: None,
        }
    }
}

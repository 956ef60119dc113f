//! Trees to try things on.

use std::sync::Arc;

use rustix::fs::statvfs;
use sandkeep_engine::{ErrorKind, Files, Limits, Result, SandboxId, Store, VirtualFs};
use storage::MemoryStorage;
use tempfile::TempDir;

pub(crate) fn id(text: &str) -> SandboxId {
    SandboxId::parse(text).unwrap()
}

/// A tree in memory, as it is.
pub(crate) async fn memory() -> VirtualFs {
    Store::in_memory().create(&id("trial"), Limits::default()).await.unwrap()
}

/// A tree that is stored as objects, so that every change is written and fetched again.
pub(crate) async fn stored() -> VirtualFs {
    let store = Store::flushing(Arc::new(MemoryStorage::default()));
    store.create(&id("trial"), Limits::default()).await.unwrap()
}

pub(crate) async fn files() -> Files {
    Files::new(Arc::new(memory().await))
}

pub(crate) async fn stored_files() -> Files {
    Files::new(Arc::new(stored().await))
}

pub(crate) async fn limited(limits: Limits) -> Files {
    Files::in_memory(limits).await.unwrap()
}

/// The kind of the error that something must end with.
pub(crate) async fn refusal<T: std::fmt::Debug>(
    work: impl Future<Output = Result<T>>,
) -> ErrorKind {
    work.await.unwrap_err().kind()
}

/// Bytes that do not repeat.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A directory in memory, where a sync costs nothing: a kill shows no difference. On the disk where
/// there is little of it.
pub(crate) fn memory_dir() -> TempDir {
    const ENOUGH: u64 = 2 << 30;
    let memory = "/dev/shm";
    let free = statvfs(memory).map_or(0, |space| space.f_bavail * space.f_frsize);
    let dir = if free >= ENOUGH { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    dir.unwrap()
}

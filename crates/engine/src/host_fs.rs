//! A tree in a real directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use crate::*;

/// A tree in a real directory, confined by the kernel.
#[derive(Debug)]
pub struct HostFs;

/// Whether an answer waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// An acknowledged change survives a power cut.
    Full,
    /// An acknowledged change survives the end of the process, not a power cut.
    Relaxed,
}

/// Whether paths may lead into file systems mounted beneath the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mounts {
    /// They end at a mount point.
    Stay,
    /// They may cross.
    Cross,
}

/// How a directory is served.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// How much it may hold.
    pub limits: Limits,
    /// Whether an answer waits for the disk.
    pub durability: Durability,
    /// Whether mounts are crossed.
    pub mounts: Mounts,
    /// Directories that may hold unfinished files, the best first. The first from which a rename
    /// into the root works is used; with none, unfinished files lie hidden beside their target.
    pub staging: Vec<PathBuf>,
}

impl HostFs {
    /// Opens the directory `root`, which must exist. Blocks; meant for start-up.
    pub fn open(_root: &Path, _options: HostOptions) -> Result<Self> { Ok(Self) }
}

fn no<T>() -> Result<T> { Err(Error::new(ErrorKind::Unsupported, "not yet")) }

#[async_trait]
impl FileSystem for HostFs {
    async fn stat(&self, _: &SandboxPath, _: Links) -> Result<Entry> { no() }
    async fn list(&self, _: &SandboxPath, _: Page) -> Result<EntryStream> { no() }
    async fn read(&self, _: &SandboxPath, _: Span) -> Result<Content> { no() }
    async fn write(&self, _: &SandboxPath, _: ByteStream, _: WriteOptions) -> Result<Written> { no() }
    async fn open(&self, _: &SandboxPath, _: OpenOptions) -> Result<Arc<dyn OpenFile>> { no() }
    async fn create_dir(&self, _: &SandboxPath, _: Parents) -> Result<Entry> { no() }
    async fn symlink(&self, _: &SandboxPath, _: &str) -> Result<Entry> { no() }
    async fn read_link(&self, _: &SandboxPath) -> Result<String> { no() }
    async fn remove(&self, _: &SandboxPath, _: Depth, _: If) -> Result<()> { no() }
    async fn rename(&self, _: &SandboxPath, _: &SandboxPath, _: Target) -> Result<Entry> { no() }
    async fn copy(&self, _: &SandboxPath, _: &SandboxPath, _: Target) -> Result<Entry> { no() }
    async fn set_metadata(&self, _: &SandboxPath, _: MetadataChange) -> Result<Entry> { no() }
    async fn usage(&self) -> Result<Usage> { no() }
    async fn unpack(&self, _: &SandboxPath, _: ByteStream, _: ArchiveLimits) -> Result<Unpacked> { no() }
    async fn pack(&self, _: &SandboxPath, _: ArchiveLimits) -> Result<ByteStream> { no() }
}

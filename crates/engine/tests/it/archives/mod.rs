//! Archives of every format: what goes in comes out, here and in other programs, and little of it
//! is ever in memory.
#![expect(clippy::disallowed_methods, reason = "tests look at the directory from outside")]
#![expect(clippy::print_stdout, reason = "a process that a test starts tells what it found")]
#![expect(clippy::print_stderr, reason = "figures are for those who run the tests")]

mod memory;
mod python;
mod round_trip;

use std::path::Path;

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use sandkeep_engine::{
    ArchiveFormat, ArchiveLimits, Durability, FileSystem, HostFs, HostOptions, Limits, Mounts,
    Result, SandboxPath, Unpacked,
};

pub(crate) use memory::pack_and_unpack;

fn host(root: &Path) -> HostFs {
    let options = HostOptions {
        limits: Limits::default(),
        durability: Durability::Relaxed,
        mounts: Mounts::Stay,
        staging: Vec::new(),
    };
    HostFs::open(root, options).unwrap()
}

async fn pack(files: &dyn FileSystem, format: ArchiveFormat) -> Bytes {
    let root = SandboxPath::root();
    let archive = files.pack(&root, format, ArchiveLimits::default()).await.unwrap();
    archive.try_collect::<Vec<Bytes>>().await.unwrap().concat().into()
}

async fn unpack(files: &dyn FileSystem, format: ArchiveFormat, archive: Bytes) -> Result<Unpacked> {
    let body = stream::iter([Ok(archive)]).boxed();
    files.unpack(&SandboxPath::root(), body, format, ArchiveLimits::default()).await
}

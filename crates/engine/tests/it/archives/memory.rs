//! Whatever an archive holds, packing and unpacking it take little memory.

use std::fs;
use std::path::Path;

use sandkeep_engine::{ArchiveFormat, ArchiveLimits, FileSystem as _, SandboxPath};

use super::host;
use crate::fixture::{memory_dir, noise};
use crate::host_snapshots::children::{peak_memory_mib, told_by};

/// How much a process may take beside its own program, which is large where it is built for tests.
const LIMIT_MIB: u64 = 64;
const ENTRIES: usize = 20_000;

/// Packs a tree of 340 MiB and unpacks that as it comes, in a process of its own.
fn assert_little(format: ArchiveFormat) {
    let place = memory_dir();
    let [root, copy] = ["root", "copy"].map(|name| place.path().join(name));
    fs::create_dir_all(root.join("many")).unwrap();
    fs::create_dir(&copy).unwrap();
    fs::File::create(root.join("huge")).unwrap().set_len(300 << 20).unwrap();
    fs::write(root.join("noise"), noise(40 << 20)).unwrap();
    for number in 0..ENTRIES {
        let name = format!("many/{number}-with-a-name-that-is-not-short");
        fs::write(root.join(name), "some text").unwrap();
    }
    fs::write(place.path().join("format"), format!("{format:?}")).unwrap();
    let told = told_by("pack and unpack", place.path());
    eprintln!("memory: {format:?} {} MiB", told[0]);
    assert!(told[0] < LIMIT_MIB, "{format:?}: {told:?}");
    assert_eq!(fs::metadata(copy.join("huge")).unwrap().len(), 300 << 20);
    assert!(fs::read(copy.join("noise")).unwrap() == noise(40 << 20));
    assert_eq!(fs::read_dir(copy.join("many")).unwrap().count(), ENTRIES);
}

/// Tells how many MiB of memory it took at most.
pub(crate) async fn pack_and_unpack(place: &Path) {
    let name = fs::read_to_string(place.join("format")).unwrap();
    let named = |format: &&ArchiveFormat| format!("{format:?}") == name;
    let format = *ArchiveFormat::ALL.iter().find(named).unwrap();
    let [from, to] = ["root", "copy"].map(|name| host(&place.join(name)));
    let (root, limits) = (SandboxPath::root(), ArchiveLimits::default());
    let archive = from.pack(&root, format, limits).await.unwrap();
    let unpacked = to.unpack(&root, archive, format, limits).await.unwrap();
    assert_eq!(unpacked.entries, ENTRIES as u64 + 3);
    println!("told {}", peak_memory_mib());
}

#[test]
fn a_tar_takes_little_memory() {
    assert_little(ArchiveFormat::Tar);
}

#[test]
fn a_tar_gz_takes_little_memory() {
    assert_little(ArchiveFormat::TarGz);
}

#[test]
fn a_tar_zst_takes_little_memory() {
    assert_little(ArchiveFormat::TarZst);
}

#[test]
fn a_zip_takes_little_memory() {
    assert_little(ArchiveFormat::Zip);
}

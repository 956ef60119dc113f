//! An archive, unpacked into a tree in memory and into a directory beside which something lies that
//! must never change; and what came out of it, packed again.
//!
//! Both trees hold the same before: links that lead out, in every spelling, and a file of which there
//! is another name outside. Both must come to the same.

mod ground;

use std::collections::BTreeMap;

use bytes::Bytes;
use engine::{
    ArchiveFormat, ArchiveLimits, Durability, EntryKind, ErrorKind, FileSystem, HostFs,
    HostOptions, Limits, Mounts, Result, SandboxPath, Unpacked,
};
use futures::TryStreamExt as _;

use self::ground::{CANARY, GROUND};
use crate::runtime::run;
use crate::trees::{Seen, at, body, memory, seen, write};

/// How much the trees may hold, and how much an archive.
const LIMITS: Limits =
    Limits { file_size: Some(96 << 10), total_size: Some(128 << 10), nodes: Some(40) };
const ARCHIVE_LIMITS: ArchiveLimits =
    ArchiveLimits { bytes: Some(112 << 10), entries: Some(24), depth: Some(12) };
/// Where archives are unpacked; some of these places lead out.
const PLACES: [&str; 8] = ["/", "/dir", "/new/deep", "/in", "/out", "/out/x", "/abs", "/hard"];

/// Holds that an archive is refused, or that what came of it is within the limits, the same in both
/// trees, and the same when it is packed and unpacked again. The first byte says where it goes.
pub(crate) fn check(choice: u8, format: ArchiveFormat, archive: &[u8]) {
    let place = at(PLACES[usize::from(choice) % PLACES.len()]);
    let packed = ArchiveFormat::ALL[usize::from(choice >> 6)];
    run(async {
        let files = memory(LIMITS).await;
        furnish(&files).await;
        let virtual_ = unpack(&files, &place, format, archive).await;
        let mut shown = shown(&files).await;
        // On a host its owner could not empty a directory without these bits.
        for seen in shown.values_mut().filter(|seen| seen.kind == EntryKind::Directory) {
            seen.mode = seen.mode.map(|mode| mode | 0o700);
        }
        let (on_host, there) = try_on_host(&place, format, archive).await;
        assert_eq!(outcome(&virtual_), outcome(&on_host), "{virtual_:?} {on_host:?}");
        assert_eq!(shown, there);
        check_again(format, archive, packed).await;
    });
}

/// What came of an archive, as both trees must tell it. Which of several faults is told is not the
/// same: one tree looks at the archive first, and the other at the place where it goes.
fn outcome(unpacked: &Result<Unpacked>) -> Option<&Unpacked> {
    if let Err(err) = unpacked {
        assert_ne!(err.kind(), ErrorKind::Io, "{err:?}");
    }
    unpacked.as_ref().ok()
}

async fn unpack(
    files: &dyn FileSystem,
    place: &SandboxPath,
    format: ArchiveFormat,
    archive: &[u8],
) -> Result<Unpacked> {
    let before = shown(files).await;
    let unpacked = files.unpack(place, body(archive), format, ARCHIVE_LIMITS).await;
    match &unpacked {
        Err(_) => assert_eq!(shown(files).await, before, "a bad archive left something behind"),
        Ok(unpacked) => {
            let usage = files.usage().await.expect("it can be counted");
            assert!(usage.bytes <= 128 << 10 && usage.nodes() <= 40, "{usage:?}");
            assert!(unpacked.entries <= 24 && unpacked.paths.len() <= 24);
            assert!(unpacked.paths.iter().all(|path| path.starts_with(place)));
        }
    }
    unpacked
}

/// What a tree shows that both keep.
async fn shown(files: &dyn FileSystem) -> BTreeMap<SandboxPath, Seen> {
    let seen = seen(files, u64::MAX).await.unwrap_or_default();
    seen.into_iter().map(|(path, (_, seen))| (path, seen)).collect()
}

/// Unpacks an archive where nothing is, packs what came of it and unpacks that.
async fn check_again(format: ArchiveFormat, archive: &[u8], packed: ArchiveFormat) {
    let root = SandboxPath::root();
    let (one, other) = (memory(Limits::default()).await, memory(Limits::default()).await);
    if one.unpack(&root, body(archive), format, ARCHIVE_LIMITS).await.is_err() {
        return;
    }
    let limits = ArchiveLimits::default();
    let again = one.pack(&root, packed, limits).await.expect("what was unpacked can be packed");
    let again: Vec<Bytes> = again.try_collect().await.expect("to its end");
    let unpacked = other.unpack(&root, body(&again.concat()), packed, limits).await;
    unpacked.unwrap_or_else(|err| panic!("what we pack as {packed:?} is refused: {err:?}"));
    assert_eq!(shown(&other).await, shown(&one).await, "{packed:?}");
}

/// Puts the same into a tree as `Ground::furnish` into a directory.
async fn furnish(files: &dyn FileSystem) {
    write(files, "/dir/file", b"old").await;
    write(files, "/hard", CANARY.as_bytes()).await;
    let abs = GROUND.canary();
    let abs = abs.to_str().expect("its name is text");
    for (link, target) in [("/in", "dir"), ("/out", "../canary"), ("/abs", abs), ("/loop", "loop")]
    {
        files.symlink(&at(link), target).await.expect("a link can be made");
    }
}

/// Unpacks an archive into a directory; tells what is there afterwards.
async fn try_on_host(
    place: &SandboxPath,
    format: ArchiveFormat,
    archive: &[u8],
) -> (Result<Unpacked>, BTreeMap<SandboxPath, Seen>) {
    GROUND.furnish();
    let before = GROUND.outside();
    let options = HostOptions {
        limits: LIMITS,
        durability: Durability::Relaxed,
        mounts: Mounts::Stay,
        staging: vec![GROUND.staging()],
    };
    let files = HostFs::open(&GROUND.served(), options).expect("it can be served");
    let unpacked = unpack(&files, place, format, archive).await;
    assert_eq!(GROUND.outside(), before, "something changed outside");
    GROUND.check_staging();
    let there = shown(&files).await;
    assert!(there.values().all(|seen| seen.kind != EntryKind::Special));
    (unpacked, there)
}

//! An archive, unpacked into a tree in memory and into a directory beside which something lies that
//! must never change; and what came out of it, packed again.
//!
//! Both trees hold the same before: links that lead out, in every spelling, and a file of which there
//! is another name outside. Both must come to the same.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use bytes::Bytes;
use engine::{
    ArchiveFormat, ArchiveLimits, Durability, EntryKind, FileSystem, HostFs, HostOptions, Limits,
    Mounts, Result, SandboxPath, Unpacked,
};
use futures::TryStreamExt as _;

use crate::runtime::run;
use crate::trees::{Seen, at, body, memory, seen, write};

/// How much the trees may hold, and how much an archive.
const LIMITS: Limits =
    Limits { file_size: Some(96 << 10), total_size: Some(128 << 10), nodes: Some(40) };
const ARCHIVE_LIMITS: ArchiveLimits =
    ArchiveLimits { bytes: Some(112 << 10), entries: Some(24), depth: Some(12) };
/// Where archives are unpacked; some of these places lead out.
const PLACES: [&str; 8] = ["/", "/dir", "/new/deep", "/in", "/out", "/out/x", "/abs", "/hard"];
const CANARY: &str = "it sings";
/// What the directories of processes are called, before their numbers.
const GROUNDS: &str = "sandkeep-fuzz-";

/// A directory in memory, and in it one that is served and one that must not change.
static GROUND: LazyLock<Ground> = LazyLock::new(Ground::new);

struct Ground {
    dir: PathBuf,
}

/// Holds that an archive is refused, or that what came of it is within the limits, the same in both
/// trees, and the same when it is packed and unpacked again. The first byte says where it goes.
pub(crate) fn check(choice: u8, format: ArchiveFormat, archive: &[u8]) {
    let place = at(PLACES[usize::from(choice) % PLACES.len()]);
    let packed = ArchiveFormat::ALL[usize::from(choice >> 6)];
    run(async {
        let files = memory(LIMITS).await;
        furnish(&files).await;
        let virtual_ = unpack(&files, &place, format, archive).await;
        let shown = shown(&files).await;
        let (on_host, there) = GROUND.try_out(&place, format, archive).await;
        assert_eq!(outcome(&virtual_), outcome(&on_host), "{virtual_:?} {on_host:?}");
        assert_eq!(shown, there);
        check_again(format, archive, packed).await;
    });
}

/// What came of an archive, as both trees must tell it.
fn outcome(unpacked: &Result<Unpacked>) -> std::result::Result<&Unpacked, engine::ErrorKind> {
    unpacked.as_ref().map_err(engine::Error::kind)
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

/// Puts the same into a tree as [`Ground::furnish`] into a directory.
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

impl Ground {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let above = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        sweep(&above);
        let ground = Self { dir: above.join(format!("{GROUNDS}{}", std::process::id())) };
        fs::create_dir_all(ground.canary()).expect("it is new");
        fs::create_dir(ground.dir.join("staging")).expect("it is new");
        fs::write(ground.canary().join("canary"), CANARY).expect("it is new");
        ground
    }

    fn canary(&self) -> PathBuf {
        self.dir.join("canary")
    }

    fn served(&self) -> PathBuf {
        self.dir.join("served")
    }

    /// Unpacks an archive into the directory; tells what is there afterwards.
    async fn try_out(
        &self,
        place: &SandboxPath,
        format: ArchiveFormat,
        archive: &[u8],
    ) -> (Result<Unpacked>, BTreeMap<SandboxPath, Seen>) {
        self.furnish();
        let before = self.outside();
        let options = HostOptions {
            limits: LIMITS,
            durability: Durability::Relaxed,
            mounts: Mounts::Stay,
            staging: vec![self.dir.join("staging")],
        };
        let files = HostFs::open(&self.served(), options).expect("it can be served");
        let unpacked = unpack(&files, place, format, archive).await;
        assert_eq!(self.outside(), before, "something changed outside");
        let there = shown(&files).await;
        assert!(there.values().all(|seen| seen.kind != EntryKind::Special));
        (unpacked, there)
    }

    fn furnish(&self) {
        let served = self.served();
        if served.is_dir() {
            fs::remove_dir_all(&served).expect("it can be emptied");
        }
        fs::create_dir_all(served.join("dir")).expect("it is new");
        fs::write(served.join("dir/file"), "old").expect("it is new");
        fs::hard_link(self.canary().join("canary"), served.join("hard")).expect("it is new");
        let links: [(&str, &Path); 4] = [
            ("in", Path::new("dir")),
            ("out", Path::new("../canary")),
            ("abs", &self.canary()),
            ("loop", Path::new("loop")),
        ];
        for (link, target) in links {
            symlink(target, served.join(link)).expect("it is new");
        }
    }

    /// Everything outside of what is served: what it is called, its mode, when it changed and what
    /// it holds.
    fn outside(&self) -> Vec<(PathBuf, u32, (i64, i64), Vec<u8>)> {
        let mut all = Vec::new();
        for dir in [self.dir.clone(), self.canary(), self.dir.join("staging")] {
            for entry in fs::read_dir(&dir).expect("it is there") {
                let path = entry.expect("it can be read").path();
                let stat = path.symlink_metadata().expect("it is there");
                let content = if stat.is_file() { fs::read(&path) } else { Ok(Vec::new()) };
                let changed = match stat.is_file() || path == self.canary() {
                    true => (stat.mtime(), stat.mtime_nsec()),
                    false => (0, 0),
                };
                all.push((path, stat.mode(), changed, content.expect("it can be read")));
            }
        }
        all.sort();
        all
    }
}

/// Removes what processes left that ended, as those that fuzz do: without a word.
fn sweep(above: &Path) {
    for entry in fs::read_dir(above).expect("it is there").flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(GROUNDS));
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            fs::remove_dir_all(entry.path()).unwrap_or_default();
        }
    }
}

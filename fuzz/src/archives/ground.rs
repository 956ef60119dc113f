//! A directory in memory, and in it one that is served and one that must not change.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub(super) const CANARY: &str = "it sings";
/// What the directories of processes are called, before their numbers.
const GROUNDS: &str = "sandkeep-fuzz-";

/// The one of this process.
pub(super) static GROUND: LazyLock<Ground> = LazyLock::new(Ground::new);

pub(super) struct Ground {
    dir: PathBuf,
}

/// Something outside of what is served.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lying {
    path: PathBuf,
    mode: u32,
    /// Of what nobody of us changes.
    changed: (i64, i64),
    content: Vec<u8>,
}

impl Ground {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let above = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        sweep(&above);
        let ground = Self { dir: above.join(format!("{GROUNDS}{}", std::process::id())) };
        fs::create_dir_all(ground.canary()).expect("it is new");
        fs::create_dir(ground.staging()).expect("it is new");
        fs::write(ground.canary().join("canary"), CANARY).expect("it is new");
        ground
    }

    pub(super) fn canary(&self) -> PathBuf {
        self.dir.join("canary")
    }

    pub(super) fn staging(&self) -> PathBuf {
        self.dir.join("staging")
    }

    pub(super) fn served(&self) -> PathBuf {
        self.dir.join("served")
    }

    pub(super) fn furnish(&self) {
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

    /// Holds that what was unfinished is gone. The directory for it stays as long as the tree is open.
    pub(super) fn check_staging(&self) {
        for unfinished in fs::read_dir(self.staging()).expect("it is there") {
            let path = unfinished.expect("it can be read").path();
            let left = fs::read_dir(&path).expect("it is a directory").count();
            assert_eq!(left, 0, "something unfinished is left in {}", path.display());
        }
    }

    /// Everything outside of what is served.
    pub(super) fn outside(&self) -> Vec<Lying> {
        let mut all = Vec::new();
        for dir in [self.dir.clone(), self.canary()] {
            for entry in fs::read_dir(&dir).expect("it is there") {
                let path = entry.expect("it can be read").path();
                let stat = path.symlink_metadata().expect("it is there");
                let content = if stat.is_file() { fs::read(&path) } else { Ok(Vec::new()) };
                let changed = match stat.is_file() || path == self.canary() {
                    true => (stat.mtime(), stat.mtime_nsec()),
                    false => (0, 0),
                };
                let content = content.expect("it can be read");
                all.push(Lying { path, mode: stat.mode(), changed, content });
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

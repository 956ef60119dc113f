//! What `host::Dir` promises, tried on a real file system.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::indexing_slicing, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "a test that cannot run says so, and figures are told")]
#![expect(clippy::disallowed_methods, reason = "tests look at the directory from outside")]

extern crate sandkeep_host as host;

mod confinement;
mod dangerous;
mod listings;
mod owners;
mod parts;
mod races;
mod recent;
mod restores;
mod second_names;
mod staging;
mod storms;
mod syncs;
mod trees;

use std::path::{Path, PathBuf};
use std::{env, fs};

use host::{Dir, Durability, Existing, Links, Mounts, Options, Parents};

/// A served directory, with a neighbour outside it that nobody may touch.
struct World {
    _keep: tempfile::TempDir,
    dir: Dir,
    root: PathBuf,
    outside: PathBuf,
    staging: PathBuf,
}

/// Whether unfinished files have a place outside the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Staged {
    Outside,
    Beside,
}

impl World {
    fn new(staged: Staged) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let [root, outside, staging] =
            ["root", "outside", "staging"].map(|name| keep.path().join(name));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        let dir = open(&root, staged, &staging);
        Self { _keep: keep, dir, root, outside, staging }
    }

    fn put(&self, path: &str, content: &str) -> host::Result<()> {
        put(&self.dir, Path::new(path), content.as_bytes())
    }

    fn read(&self, path: &str) -> host::Result<String> {
        let (file, stat) = self.dir.open_file(Path::new(path))?;
        let mut space = vec![0; usize::try_from(stat.size).unwrap()];
        let len = file.read_at(&mut space, 0)?;
        Ok(String::from_utf8(space[..len].to_vec()).unwrap())
    }

    fn names(&self, path: &str) -> Vec<String> {
        let names = self.dir.list(Path::new(path)).unwrap().names(None, usize::MAX).unwrap();
        names.iter().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    fn spot(&self, path: &str) -> host::Spot {
        self.dir.spot(Path::new(path), Links::Keep, Parents::Create).unwrap()
    }
}

/// The first figure in the short form, which CI runs, the second with `SANDKEEP_LONG=1`.
fn short_or_long(short: u64, long: u64) -> u64 {
    if env::var_os("SANDKEEP_LONG").is_some_and(|value| value == "1") { long } else { short }
}

fn open(root: &Path, staged: Staged, staging: &Path) -> Dir {
    let staging = if staged == Staged::Outside { vec![staging.to_owned()] } else { Vec::new() };
    let options = Options { mounts: Mounts::Stay, durability: Durability::Relaxed, staging };
    Dir::open_root(root, options).unwrap()
}

fn put(dir: &Dir, path: &Path, content: &[u8]) -> host::Result<()> {
    let mut unfinished = dir.begin(path)?;
    unfinished.append(content)?;
    let spot = dir.spot(path, Links::Follow, Parents::Create)?;
    dir.ready(&mut unfinished, &spot, spot.seen().as_ref())?;
    dir.place(unfinished, &spot, Existing::Replace).map_err(|(err, _)| err)?;
    dir.settle(&spot)?;
    spot.keep_parents();
    Ok(())
}

//! Where the programs lie that `scripts/install-test-servers` installs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// A program of a Debian package that is on the path.
pub(crate) fn on_path(name: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(name)).find(|at| at.is_file());
    found.unwrap_or_else(|| missing(name))
}

/// A program of Postgres, which Debian keeps off the path; the newest when there are several.
pub(crate) fn of_postgres(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions
        .map(|entry| entry.path())
        .filter(|path| path.join("bin").join(name).is_file())
        .max_by_key(|path| version(path));
    newest.map_or_else(|| missing(name), |path| path.join("bin").join(name))
}

/// A program beneath `target/servers`, or beneath `$SANDKEEP_SERVERS_DIR`.
pub(crate) fn at(path: &str) -> PathBuf {
    let chosen = env::var_os("SANDKEEP_SERVERS_DIR").map(PathBuf::from);
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/servers");
    let found = chosen.unwrap_or_else(usual).join(path);
    if found.is_file() { found } else { missing(path) }
}

fn missing(name: &str) -> ! {
    panic!("{name} is not installed: run scripts/install-test-servers")
}

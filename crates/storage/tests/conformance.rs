//! Every backend keeps every promise. A backend joins with one line.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a promise that is not kept is a panic, which is how a test fails"
)]
#![expect(clippy::print_stdout, reason = "the killed process tells, and the crashes say figures")]

mod promises;

use std::env;

use libtest_mimic::Arguments;
use promises::{Ability, Backend, Home, mortal, trials};

/// The backends that need no server.
fn backends() -> Vec<Backend> {
    vec![
        Backend::new("memory", &[], memory),
        Backend::new("file", &[Ability::Lasts, Ability::Exclusive], file),
        Backend::new("cached_memory", &[], || cached(memory())),
        Backend::new("cached_file", &[Ability::Lasts, Ability::Exclusive], || cached(file())),
        #[cfg(feature = "sqlite")]
        Backend::new("sqlite", &[Ability::Lasts], sqlite),
        Backend::new("split", &[Ability::Lasts, Ability::Exclusive], split),
    ]
}

fn main() {
    // The crash test starts this program again, as the process that is killed.
    if let [_, mode, url] = &env::args().collect::<Vec<_>>()[..]
        && mode == mortal::MODE
    {
        return mortal::live(url);
    }
    let arguments = Arguments::from_args();
    let all = backends().iter().flat_map(trials).collect();
    libtest_mimic::run(&arguments, all).exit();
}

fn memory() -> Home {
    Home { url: "memory:".to_owned(), alive: Box::new(()) }
}

fn file() -> Home {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file:{}/store", dir.path().to_str().unwrap());
    Home { url, alive: Box::new(dir) }
}

#[cfg(feature = "sqlite")]
fn sqlite() -> Home {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/store.db", dir.path().to_str().unwrap());
    Home { url, alive: Box::new(dir) }
}

/// The same behind a cache on disk.
fn cached(behind: Home) -> Home {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("cached:{}:{}", dir.path().display(), behind.url);
    Home { url, alive: Box::new((dir, behind.alive)) }
}

fn split() -> Home {
    let dir = tempfile::tempdir().unwrap();
    let [refs, chunks] = ["refs", "chunks"].map(|name| dir.path().join(name));
    let url = format!("split:refs=file:{},chunks=file:{}", refs.display(), chunks.display());
    Home { url, alive: Box::new(dir) }
}

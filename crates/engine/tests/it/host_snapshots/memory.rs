//! Whatever a directory holds, a snapshot takes little memory, and reads what changed only.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::children::told_by;
use super::picture::{assert_same, picture};
use crate::fixture::{memory_dir, noise};

/// How much a process may take beside its own program, which is large where it is built for tests.
const LIMIT_MIB: u64 = 64;

fn place() -> TempDir {
    furnished(tempfile::tempdir().unwrap())
}

fn furnished(place: TempDir) -> TempDir {
    for name in ["root", "aside"] {
        fs::create_dir(place.path().join(name)).unwrap();
    }
    place
}

fn assert_little(told: &[u64]) {
    eprintln!("memory: first snapshot {} MiB, second {}, restore {}", told[0], told[1], told[2]);
    assert!(told.iter().all(|mib| *mib < LIMIT_MIB), "{told:?}");
}

fn fill(root: &Path, directories: usize, files: usize) {
    for number in 0..directories {
        let dir = root.join(format!("directory-{number:05}"));
        fs::create_dir(&dir).unwrap();
        for number in 0..files {
            fs::write(dir.join(format!("file-{number:05}")), format!("content {number}")).unwrap();
        }
    }
}

#[test]
fn a_hundred_thousand_entries_take_little_memory() {
    // A disk would sync each of them.
    let place = furnished(memory_dir());
    fill(&place.path().join("root"), 100, 900);
    let flat = place.path().join("root/flat");
    fs::create_dir(&flat).unwrap();
    for number in 0..10_000 {
        fs::File::create(flat.join(format!("{number}-with-a-name-that-is-not-short"))).unwrap();
    }
    assert_little(&told_by("scan and restore", place.path()));
    assert_same(&picture(&place.path().join("root")), &picture(&place.path().join("aside")));
}

#[test]
fn a_huge_file_takes_little_memory() {
    let place = place();
    let file = fs::File::create(place.path().join("root/huge")).unwrap();
    let piece = noise(8 << 20);
    for at in 0..16 {
        file.write_all_at(&piece, at * (8 << 20) + at).unwrap();
    }
    file.write_all_at(b"end", (1 << 30) - 3).unwrap();
    assert_little(&told_by("scan and restore", place.path()));
    let [before, after] = ["aside", "root"].map(|name| place.path().join(name).join("huge"));
    assert!(fs::read(before).unwrap() == fs::read(after).unwrap());
}

#[test]
fn what_did_not_change_is_not_read_again() {
    let place = place();
    fs::write(place.path().join("root/large"), noise(32 << 20)).unwrap();
    for number in 0..100 {
        fs::write(place.path().join(format!("root/{number}")), noise(10_000)).unwrap();
    }
    // Until the clock's tick has passed in which they were written, times cannot be trusted.
    std::thread::sleep(Duration::from_millis(50));
    let told = told_by("read twice", place.path());
    eprintln!("reads: first snapshot {} bytes, second {}", told[0], told[1]);
    assert!(told[0] > 32 << 20, "{told:?}");
    assert!(told[1] < 1 << 20, "{told:?}");
}

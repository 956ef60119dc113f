//! The library for programs that do not know async.

use std::io::{Read as _, Write as _};

use sandkeep_engine::{
    BlockingFiles, BlockingStore, Depth, ErrorKind, Limits, NewSnapshot, Result, SandboxPath,
    StoredEntry, Target, WriteMode,
};

use crate::fixture::{id, noise};

fn files() -> BlockingFiles {
    BlockingFiles::in_memory(Limits::default()).unwrap()
}

#[test]
fn a_program_without_async_can_do_everything_to_files() {
    let files = files();
    files.write("a/b", "one\n").unwrap();
    files.append_text("a/b", "two\n").unwrap();
    assert_eq!(files.read_lines("a/b").unwrap(), ["one", "two"]);
    files.copy("a", "copy", Target::New).unwrap();
    files.rename("a", "moved", Target::New).unwrap();
    files.remove("moved", Depth::All).unwrap();
    assert_eq!(files.list_names("/").unwrap(), ["copy"]);
    assert_eq!(files.usage().unwrap().nodes(), 3);
    let err = files.read("moved").unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
}

#[test]
fn readers_and_writers_are_those_of_the_standard_library() {
    let files = files();
    let mut writer = files.open_writer("f", WriteMode::Replace).unwrap();
    std::io::copy(&mut &noise(500_000)[..], &mut writer).unwrap();
    writer.flush().unwrap();
    assert!(!files.exists("f").unwrap());
    writer.finish().unwrap();
    let mut reader = files.open_reader("f").unwrap();
    assert_eq!(reader.entry().size, 500_000);
    let mut read = Vec::new();
    reader.read_to_end(&mut read).unwrap();
    assert_eq!(read, noise(500_000));
}

#[test]
fn a_writer_that_is_dropped_writes_nothing() {
    let files = files();
    let mut writer = files.open_writer("f", WriteMode::Replace).unwrap();
    writer.write_all(&noise(500_000)).unwrap();
    drop(writer);
    assert!(!files.exists("f").unwrap());
}

#[test]
fn a_program_without_async_can_do_everything_to_entries() {
    let store = BlockingStore::in_memory().unwrap();
    store.create(&id("trial"), Limits::default()).unwrap();
    let entries = store.entries(&id("trial")).unwrap();
    let many = ["a/1", "a/2", "b"].map(|path| StoredEntry::file(path, "x").unwrap());
    entries.set_many(many.to_vec()).unwrap();
    let paths: Result<Vec<SandboxPath>> = entries.paths().unwrap().collect();
    assert_eq!(paths.unwrap().len(), 5);
    assert_eq!(entries.paths_beginning_with("a/").unwrap().count(), 2);
    assert_eq!(entries.children("/").unwrap().count(), 2);
    assert_eq!(entries.entries().unwrap().count(), 5);
    assert!(entries.delete("a", Depth::All).unwrap());
    entries.clear().unwrap();
    assert_eq!(entries.count().unwrap(), 1);
}

#[test]
fn a_program_without_async_can_go_back() {
    let files = files();
    files.write("f", "good").unwrap();
    let before =
        files.wait(async |files| files.snapshots()?.create(NewSnapshot::default()).await).unwrap();
    files.write("f", "bad").unwrap();
    let root = SandboxPath::root();
    files.wait(async |files| files.snapshots()?.restore(&before.id, &root).await).unwrap();
    assert_eq!(files.read("f").unwrap(), "good");
}

#[test]
fn files_in_a_directory_are_there_when_the_store_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file:{}", dir.path().join("store").display());
    let store = BlockingStore::open(&url).unwrap();
    store.create(&id("trial"), Limits::default()).unwrap().write("f", "kept").unwrap();
    drop(store);
    let store = BlockingStore::open(&url).unwrap();
    assert_eq!(store.files(&id("trial")).unwrap().read("f").unwrap(), "kept");
}

#[test]
fn threads_share_a_facade() {
    let files = files();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let files = files.clone();
            scope.spawn(move || {
                for at in 0..50 {
                    files.append("log", "x").unwrap();
                    files.write(&format!("{thread}/{at}"), "").unwrap();
                }
            });
        }
    });
    assert_eq!(files.read("log").unwrap().len(), 400);
    assert_eq!(files.usage().unwrap().files, 401);
}

/// Two facades of one tree have a runtime each; a commit that one began must not wait for it to be
/// used again.
#[test]
fn facades_of_one_tree_never_wait_for_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file:{}", dir.path().join("store").display());
    let store = BlockingStore::open(&url).unwrap();
    let one = store.create(&id("trial"), Limits::default()).unwrap();
    let tree = one.wait(async |files| Ok(files.clone())).unwrap();
    let other = BlockingFiles::new(tree).unwrap();
    for _ in 0..20 {
        one.append("log", "1").unwrap();
        other.append("log", "2").unwrap();
    }
    assert_eq!(other.read("log").unwrap(), "12".repeat(20));
}

#[tokio::test]
async fn a_blocking_call_within_async_code_is_refused_and_not_a_panic() {
    let files = std::thread::spawn(files).join().unwrap();
    let err = files.write("f", "").unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsupported);
    let mut writer = files.open_writer("f", WriteMode::Replace).unwrap();
    assert!(writer.write(b"x").is_err());
    assert!(BlockingFiles::in_memory(Limits::default()).is_err());
    // Nor is it one to let go of a facade here.
    drop((files, writer));
}

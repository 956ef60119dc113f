//! A store in one file: whose file it is, who may have it, and what a commit costs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use rusqlite::{Connection, TransactionBehavior};
use sandkeep_storage::{
    self as storage, Domain, ErrorKind, Expected, ObjectId, ObjectKey, RefKey, Result, Storage,
    Swap, frame,
};

use crate::disk::Disk;

const MIB: u64 = 1 << 20;

/// Where the process that counts finds the store.
const STORE: &str = "SANDKEEP_TEST_STORE";

#[tokio::test]
async fn the_file_and_its_journal_are_for_their_owner_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("store.db");
    let storage = open(&path).await;
    commit(&storage, 0, b"x").await.unwrap();
    let files: Vec<_> = fs::read_dir(home.path()).unwrap().map(|file| file.unwrap()).collect();
    assert_eq!(files.len(), 3, "the store, its journal, and what the processes share");
    for file in files {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}

#[tokio::test]
async fn a_file_that_holds_something_else_is_refused_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("letter.txt");
    let letter = "dear reader, ".repeat(1000);
    fs::write(&path, &letter).unwrap();
    let err = storage::open(&url(&path)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("holds something else"), "{err}");
    assert_eq!(fs::read_to_string(&path).unwrap(), letter);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("theirs.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE letters (text TEXT)").unwrap();
    drop(theirs);
    let before = fs::read(&path).unwrap();
    let err = storage::open(&url(&path)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("holds something else"), "{err}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_directory_is_not_a_file() {
    let home = tempfile::tempdir().unwrap();
    let err = storage::open(&url(home.path())).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert_eq!(err.to_string(), "sqlite: needs a file");
}

#[tokio::test]
async fn a_missing_directory_is_told() {
    let home = tempfile::tempdir().unwrap();
    let err = storage::open(&url(&home.path().join("a/store.db"))).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert_eq!(err.to_string(), "the directory of sqlite: is missing");
}

#[tokio::test]
async fn a_store_of_a_later_version_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("store.db");
    drop(open(&path).await);
    let later = Connection::open(&path).unwrap();
    later.pragma_update(None, "user_version", 2).unwrap();
    drop(later);
    let err = storage::open(&url(&path)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Corrupt);
    assert!(err.to_string().contains("a version that is not known"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_open_a_new_file_at_once_make_one_store() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("store.db");
    let opening = (0..8).map(|_| {
        let url = url(&path);
        tokio::spawn(async move { storage::open(&url).await })
    });
    let opened = join_all(opening.collect::<Vec<_>>()).await;
    let opened: Vec<_> = opened.into_iter().map(|storage| storage.unwrap().unwrap()).collect();
    commit(&opened[0], 0, b"x").await.unwrap();
    for storage in &opened {
        assert_eq!(count(storage).await, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_have_a_store_open_lose_no_update() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("store.db");
    let [one, two] = [open(&path).await, open(&path).await];
    let counting = [&one, &two].into_iter().cycle().take(8).map(|storage| {
        let storage = Arc::clone(storage);
        tokio::spawn(async move { count_up(&storage, 25).await })
    });
    join_all(counting.collect::<Vec<_>>()).await.into_iter().for_each(|done| done.unwrap());
    assert_eq!(count(&one).await, 200);
    assert_eq!(count(&two).await, 200);
}

#[tokio::test]
async fn two_processes_lose_no_update() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("store.db");
    let storage = open(&path).await;
    let processes = [(); 2].map(|()| {
        Command::new(std::env::current_exe().unwrap())
            .args(["sqlite::one_of_two_processes_counts", "--exact", "--ignored"])
            .env(STORE, url(&path))
            .spawn()
            .unwrap()
    });
    count_up(&storage, 50).await;
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(count(&storage).await, 150);
}

#[tokio::test]
#[ignore = "it is a part of two_processes_lose_no_update"]
async fn one_of_two_processes_counts() {
    let storage = storage::open(&std::env::var(STORE).unwrap()).await.unwrap();
    count_up(&storage, 50).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_that_wait_are_written_and_synced_together() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("store.db");
    let storage = open(&path).await;
    let mut another = Connection::open(&path).unwrap();
    let held = another.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let before = synced(&path);
    let committing = (0..64).map(|number| {
        let storage = Arc::clone(&storage);
        tokio::spawn(async move {
            let key = RefKey::new(&format!("lane/{number}")).unwrap();
            let objects = vec![(object(number), frame::seal(b"x"))];
            let swap = storage.commit(objects, &key, &Expected::Absent, "x".into()).await;
            assert!(matches!(swap.unwrap(), Swap::Won(_)));
        })
    });
    let committing: Vec<_> = committing.collect();
    // All wait until the other lets go.
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(held);
    join_all(committing).await.into_iter().for_each(|done| done.unwrap());
    let written = synced(&path) - before;
    assert!((1..=4).contains(&written), "64 commits took {written} transactions");
}

#[tokio::test]
async fn a_full_disk_refuses_objects_and_what_is_deleted_makes_room() {
    let Some(disk) = Disk::of(160 * MIB) else { return };
    let storage = open(&disk.path().join("store.db")).await;
    let content = noise(1 << 20);
    let mut kept = 0;
    let err = loop {
        match commit(&storage, kept, &content).await {
            Ok(()) => kept += 1,
            Err(err) => break err,
        }
    };
    assert_eq!(err.kind(), ErrorKind::Full, "{err:?}");
    assert!(kept > 20, "only {kept} fitted");
    let listed = storage.list(None, None, usize::MAX).await.unwrap();
    let all: Vec<_> = listed.into_iter().map(|object| (object.key, object.token)).collect();
    assert_eq!(storage.delete_exact(&all).await.unwrap(), u64::from(kept));
    for number in kept..kept + 10 {
        commit(&storage, number, &content).await.unwrap();
    }
}

#[tokio::test]
async fn a_disk_that_has_room_again_takes_writes_again() {
    let Some(disk) = Disk::of(128 * MIB) else { return };
    let storage = open(&disk.path().join("store.db")).await;
    let content = noise(300_000);
    commit(&storage, 0, &content).await.unwrap();
    disk.fill(0);
    assert_eq!(commit(&storage, 1, &content).await.unwrap_err().kind(), ErrorKind::Full);
    assert_eq!(count(&storage).await, 1);
    disk.clear();
    commit(&storage, 1, &content).await.unwrap();
    assert_eq!(count(&storage).await, 2);
    let stored = storage.get(&object(1)).await.unwrap().unwrap();
    assert!(frame::open(&stored).unwrap() == content);
}

/// How many transactions the journal holds: the frames that end one tell how large the store is.
fn synced(store: &Path) -> usize {
    let mut journal = store.as_os_str().to_owned();
    journal.push("-wal");
    let journal = fs::read(PathBuf::from(journal)).unwrap();
    let (head, frames) = journal.split_at(32);
    let page = u32::from_be_bytes(head.get(8..12).unwrap().try_into().unwrap());
    let salt = head.get(16..24);
    let ends_one = |frame: &&[u8]| frame.get(4..8) != Some(&[0; 4]);
    let frames = frames.chunks_exact(24 + page as usize);
    frames.filter(|frame| frame.get(8..16) == salt).filter(ends_one).count()
}

/// Commits the next object and counts it.
async fn commit(storage: &Arc<dyn Storage>, number: u32, content: &[u8]) -> Result<()> {
    let current = storage.load(&root()).await?;
    let expected = current.map_or(Expected::Absent, |current| Expected::Token(current.token));
    let objects = vec![(object(number), frame::seal(content))];
    let value = (number + 1).to_string().into();
    assert!(matches!(storage.commit(objects, &root(), &expected, value).await?, Swap::Won(_)));
    Ok(())
}

/// Counts the ref up, so often.
async fn count_up(storage: &Arc<dyn Storage>, times: u32) {
    let mut won = 0;
    while won < times {
        let current = storage.load(&root()).await.unwrap();
        let next = current.as_ref().map_or(0, |current| number(&current.value)) + 1;
        let expected = current.map_or(Expected::Absent, |current| Expected::Token(current.token));
        let swap = storage.swap(&root(), &expected, next.to_string().into()).await.unwrap();
        won += u32::from(matches!(swap, Swap::Won(_)));
    }
}

async fn count(storage: &Arc<dyn Storage>) -> u32 {
    storage.load(&root()).await.unwrap().map_or(0, |current| number(&current.value))
}

fn number(value: &[u8]) -> u32 {
    str::from_utf8(value).unwrap().parse().unwrap()
}

fn root() -> RefKey {
    RefKey::new("root").unwrap()
}

fn object(number: u32) -> ObjectKey {
    let mut id = [0; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    ObjectKey { domain: Domain([1; 16]), id: ObjectId(id) }
}

/// Bytes that do not compress.
fn noise(len: usize) -> Vec<u8> {
    std::iter::repeat_with(rand::random).take(len).collect()
}

async fn open(path: &Path) -> Arc<dyn Storage> {
    storage::open(&url(path)).await.unwrap()
}

fn url(path: &Path) -> String {
    format!("sqlite:{}", path.to_str().unwrap())
}

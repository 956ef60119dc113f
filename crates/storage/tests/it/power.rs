//! What a power cut leaves behind.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sandkeep_storage::{
    self as storage, Domain, ErrorKind, Expected, ObjectId, ObjectKey, RefKey, Storage, Swap, frame,
};

use crate::directory::url;

const PAGE: usize = 4096;

#[tokio::test]
async fn a_commit_that_the_power_tore_is_dropped_and_the_store_opens() {
    let home = tempfile::tempdir().unwrap();
    let begin = three_commits(home.path()).await;
    // Its first and last pages came to the disk, one in its middle did not.
    overwrite(home.path(), begin.next_multiple_of(PAGE) + PAGE, &[0; PAGE]);
    let storage = storage::open(&url(home.path())).await.unwrap();
    assert_eq!(value(&storage).await, "two");
    commit(&storage, "three again").await;
    drop(storage);
    let storage = storage::open(&url(home.path())).await.unwrap();
    assert_eq!(value(&storage).await, "three again");
    assert!(storage.get(&object()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_commit_that_ends_too_early_is_dropped_and_the_store_opens() {
    let home = tempfile::tempdir().unwrap();
    let begin = three_commits(home.path()).await;
    let journal = File::options().write(true).open(journal(home.path())).unwrap();
    journal.set_len((begin + 2 * PAGE) as u64).unwrap();
    let storage = storage::open(&url(home.path())).await.unwrap();
    assert_eq!(value(&storage).await, "two");
}

#[tokio::test]
async fn a_commit_in_which_bits_flipped_is_not_dropped() {
    let home = tempfile::tempdir().unwrap();
    let begin = three_commits(home.path()).await;
    overwrite(home.path(), begin + 2 * PAGE, b"flipped");
    let err = storage::open(&url(home.path())).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Corrupt);
}

#[tokio::test]
async fn a_hole_before_an_acknowledged_commit_is_not_cut() {
    let home = tempfile::tempdir().unwrap();
    let begin = three_commits(home.path()).await;
    let before = fs::read(journal(home.path())).unwrap();
    // The last commit is whole, the one before it is not.
    overwrite(home.path(), begin - 3 * PAGE, &[0; PAGE]);
    let err = storage::open(&url(home.path())).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Corrupt);
    assert_eq!(fs::metadata(journal(home.path())).unwrap().len(), before.len() as u64);
}

/// A closed store of three commits; says where the last begins in the journal.
async fn three_commits(dir: &Path) -> usize {
    let storage = storage::open(&url(dir)).await.unwrap();
    commit(&storage, "one").await;
    commit(&storage, "two").await;
    let begin = written(dir);
    commit(&storage, "three").await;
    begin
}

/// Commits an object that takes several pages.
async fn commit(storage: &Arc<dyn Storage>, value: &'static str) {
    let key = RefKey::new("root").unwrap();
    let current = storage.load(&key).await.unwrap();
    let expected = current.map_or(Expected::Absent, |current| Expected::Token(current.token));
    let noise: Vec<u8> = std::iter::repeat_with(rand::random).take(6 * PAGE).collect();
    let objects = vec![(object(), frame::seal(&noise))];
    let swap = storage.commit(objects, &key, &expected, value.into()).await.unwrap();
    assert!(matches!(swap, Swap::Won(_)));
}

fn object() -> ObjectKey {
    ObjectKey { domain: Domain([1; 16]), id: ObjectId([1; 32]) }
}

async fn value(storage: &Arc<dyn Storage>) -> bytes::Bytes {
    storage.load(&RefKey::new("root").unwrap()).await.unwrap().unwrap().value
}

fn journal(dir: &Path) -> PathBuf {
    let files = fs::read_dir(dir.join("store")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ext| ext == "jnl")).max().unwrap()
}

/// How much of the journal is written; the rest is zeros.
fn written(dir: &Path) -> usize {
    let journal = fs::read(journal(dir)).unwrap();
    journal.iter().rposition(|&byte| byte != 0).unwrap() + 1
}

fn overwrite(dir: &Path, at: usize, bytes: &[u8]) {
    let journal = File::options().write(true).open(journal(dir)).unwrap();
    journal.write_all_at(bytes, at as u64).unwrap();
}

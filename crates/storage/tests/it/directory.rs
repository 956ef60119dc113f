//! The directory of a store.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sandkeep_storage::{self as storage, ErrorKind, Expected, RefKey};

#[tokio::test]
async fn a_missing_directory_is_made_with_its_parents_and_for_its_owner_alone() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("a/b/c");
    drop(storage::open(&url(&dir)).await.unwrap());
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_directory_that_holds_something_else_is_refused_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("letter.txt"), "dear reader").unwrap();
    let err = storage::open(&url(home.path())).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("holds something else"), "{err}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_fresh_file_system_is_empty_enough() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("lost+found")).unwrap();
    storage::open(&url(home.path())).await.unwrap();
}

#[tokio::test]
async fn a_file_is_not_a_directory() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("store")] {
        let err = storage::open(&url(&path)).await.unwrap_err();
        assert!(!err.to_string().contains(home.path().to_str().unwrap()), "{err}");
    }
    assert_eq!(storage::open(&url(&file)).await.unwrap_err().kind(), ErrorKind::InvalidUrl);
}

#[tokio::test]
async fn a_store_that_was_half_made_is_made_again() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("store");
    for half in ["new/keyspaces/0", "new/keyspaces/1/tables"] {
        fs::create_dir_all(dir.join(half)).unwrap();
    }
    fs::write(dir.join("new/0.jnl"), vec![0; 4096]).unwrap();
    fs::write(dir.join("new/version"), "").unwrap();
    let storage = storage::open(&url(&dir)).await.unwrap();
    let key = RefKey::new("a").unwrap();
    storage.swap(&key, &Expected::Absent, "x".into()).await.unwrap();
    assert!(!fs::exists(dir.join("new")).unwrap());
}

#[tokio::test]
async fn a_store_of_another_version_is_refused_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("store");
    drop(storage::open(&url(&dir)).await.unwrap());
    fs::write(dir.join("store/version"), b"FJL\x09").unwrap();
    let err = storage::open(&url(&dir)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Corrupt);
    assert_eq!(fs::read(dir.join("store/version")).unwrap(), b"FJL\x09");
}

pub(crate) fn url(dir: &Path) -> String {
    format!("file:{}", dir.to_str().unwrap())
}

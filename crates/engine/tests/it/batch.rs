//! Many changes as one, where only some trees can do that.

use sandkeep_engine::{
    Durability, ErrorKind, FileSystem as _, HostFs, HostOptions, Limits, Mounts,
};

use crate::contents::{contents, put, write};

#[tokio::test]
async fn a_real_directory_refuses_a_batch_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (limits, durability, mounts) = (Limits::default(), Durability::Relaxed, Mounts::Stay);
    let options = HostOptions { limits, durability, mounts, staging: Vec::new() };
    let files = HostFs::open(dir.path(), options).unwrap();
    write(&files, "/file", "1").await;
    let before = contents(&files).await;
    let outcome = files.batch(vec![put("/file", "2"), put("/new", "3")]).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(contents(&files).await, before);
}

//! What is taken in obeys the limits of the sandbox that takes it in.

use sandkeep_engine::{ErrorKind, Limits, Point, Store, VirtualFs};

use super::travel::{exported, import, snapshots, write};
use crate::fixture::{id, memory};

/// Two files of 600 bytes and one of 3, in one directory.
async fn stream() -> Vec<u8> {
    let files = memory().await;
    write(&files, "/dir/a", vec![1; 600]).await;
    write(&files, "/dir/b", vec![2; 600]).await;
    write(&files, "/dir/c", "abc").await;
    exported(&files, Point::Live, None).await
}

async fn limited(limits: Limits) -> VirtualFs {
    Store::in_memory().create(&id("trial"), limits).await.unwrap()
}

async fn refused(limits: Limits) -> (ErrorKind, String) {
    let files = limited(limits).await;
    let err = import(&files, "too-much", &stream().await).await.unwrap_err();
    assert!(snapshots(&files).await.is_empty());
    (err.kind(), err.message().to_owned())
}

#[tokio::test]
async fn a_tree_that_fills_every_limit_is_taken_in() {
    let limits = Limits { file_size: Some(600), total_size: Some(1203), nodes: Some(5) };
    import(&limited(limits).await, "fits", &stream().await).await.unwrap();
}

#[tokio::test]
async fn a_byte_more_than_a_file_may_have_is_refused() {
    let (kind, message) = refused(Limits { file_size: Some(599), ..Limits::default() }).await;
    assert_eq!(kind, ErrorKind::FileTooLarge);
    assert!(message.contains("599") && message.contains("600"), "{message}");
}

#[tokio::test]
async fn a_byte_more_than_the_sandbox_may_have_is_refused() {
    let (kind, message) = refused(Limits { total_size: Some(1202), ..Limits::default() }).await;
    assert_eq!(kind, ErrorKind::StorageFull);
    assert!(message.contains("1202") && message.contains("1203"), "{message}");
}

#[tokio::test]
async fn a_node_more_than_the_sandbox_may_have_is_refused() {
    let (kind, message) = refused(Limits { nodes: Some(4), ..Limits::default() }).await;
    assert_eq!(kind, ErrorKind::TooManyNodes);
    assert!(message.contains('4') && message.contains('5'), "{message}");
}

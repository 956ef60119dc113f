//! What is only true of virtual trees that are watched.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use sandkeep_engine::{
    Cursor, ErrorKind, FileSystem, Files, Limits, NewSnapshot, NoticeKind, NoticeStream,
    SandboxPath, Snapshots as _, Store, StoreOptions, VirtualFs, Watch,
};
use storage::MemoryStorage;
use tokio::time::timeout;

use super::refusal_of;
use super::storm::at;
use crate::distant::Distant;
use crate::fixture::{id, memory, stored};

#[tokio::test]
async fn a_removed_sandbox_ends_the_watch() {
    for store in [Store::in_memory(), Store::flushing(Arc::new(MemoryStorage::default()))] {
        let files = store.create(&id("trial"), Limits::default()).await.unwrap();
        let (mut stream, _) = begun(&files, None).await;
        store.remove(&id("trial")).await.unwrap();
        let end = timeout(Duration::from_secs(10), stream.next()).await.unwrap();
        assert_eq!(end.unwrap().unwrap_err().kind(), ErrorKind::Unavailable);
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test]
async fn a_snapshot_is_not_watched() {
    let files = memory().await;
    let snapshot = files.create(NewSnapshot::default()).await.unwrap();
    let snapshot = sandkeep_engine::Snapshots::open(&files, &snapshot.id).await.unwrap();
    assert_eq!(refusal_of(&*snapshot, "/").await, ErrorKind::Unsupported);
}

#[tokio::test]
async fn what_another_server_does_is_told_in_time() {
    let [one, two] = servers(Duration::from_millis(200)).await;
    let (mut stream, _) = begun(&two, None).await;
    Files::new(Arc::new(one)).write("a", "1").await.unwrap();
    let notice = timeout(Duration::from_secs(5), stream.next()).await.unwrap().unwrap().unwrap();
    assert!(matches!(notice.kind, NoticeKind::Created { path, .. } if path == at("/a")));
}

#[tokio::test]
async fn a_cursor_of_another_server_is_good_for_the_same_state_and_else_a_resync() {
    let storage = Distant::new();
    let three = Store::over(storage.clone());
    let [one, two] = servers_on(storage, Duration::ZERO).await;
    let (_, cursor) = begun(&one, None).await;
    let (mut stream, _) = begun(&two, Some(cursor.clone())).await;
    Files::new(Arc::new(one.clone())).write("a", "1").await.unwrap();
    let notice = timeout(Duration::from_secs(5), stream.next()).await.unwrap().unwrap().unwrap();
    assert!(matches!(notice.kind, NoticeKind::Created { .. }), "{notice:?}");
    drop(stream);
    // A third one never showed that state to anybody.
    let three = three.sandbox(&id("trial")).await.unwrap();
    let first = watch(&three, Some(cursor)).await.next().await.unwrap().unwrap();
    assert!(matches!(first.kind, NoticeKind::Resync { .. }), "{first:?}");
}

#[tokio::test]
async fn a_slow_reader_is_told_the_net_difference() {
    let files = stored().await;
    let (mut stream, _) = begun(&files, None).await;
    let changes = Files::new(Arc::new(files));
    for number in 0..300 {
        changes.write("same", number.to_string()).await.unwrap();
    }
    changes.write("zz-last", "1").await.unwrap();
    let mut told = 0;
    loop {
        told += 1;
        let notice = timeout(Duration::from_secs(5), stream.next()).await.unwrap();
        if matches!(notice.unwrap().unwrap().kind, NoticeKind::Created { path, .. } if path == at("/zz-last"))
        {
            break;
        }
    }
    assert!(told < 10, "{told} notices of a few states");
}

#[tokio::test]
async fn a_state_that_is_remembered_does_not_see_what_happens_later() {
    let files = memory().await;
    let (stream, cursor) = begun(&files, None).await;
    drop(stream);
    let changes = Files::new(Arc::new(files.clone()));
    for number in 0..1000 {
        changes.write(&format!("f{number:04}"), "1").await.unwrap();
    }
    let (mut stream, _) = begun(&files, Some(cursor)).await;
    for number in 0..1000 {
        let kind = stream.next().await.unwrap().unwrap().kind;
        let path = at(&format!("/f{number:04}"));
        assert!(
            matches!(&kind, NoticeKind::Created { path: told, .. } if *told == path),
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn what_is_remembered_of_a_tree_in_memory_is_bounded_by_what_was_written() {
    let files = memory().await;
    let (stream, cursor) = begun(&files, None).await;
    let changes = Files::new(Arc::new(files.clone()));
    for _ in 0..20 {
        changes.write("large", vec![7; 4 << 20]).await.unwrap();
    }
    drop(stream);
    let mut stream = watch(&files, Some(cursor)).await;
    let kind = stream.next().await.unwrap().unwrap().kind;
    assert!(matches!(kind, NoticeKind::Resync { .. }), "{kind:?}");
}

#[tokio::test]
async fn no_more_than_256_watch_a_tree_at_a_time() {
    let files = memory().await;
    let mut streams = Vec::new();
    for _ in 0..256 {
        streams.push(begun(&files, None).await);
    }
    assert_eq!(refusal_of(&files, "/").await, ErrorKind::LimitExceeded);
    streams.pop();
    streams.push(begun(&files, None).await);
}

async fn watch(files: &VirtualFs, after: Option<Cursor>) -> NoticeStream {
    let wish = Watch { recursive: true, after };
    files.watch(&SandboxPath::root(), wish).await.unwrap()
}

/// A watch that stands, and its first cursor.
async fn begun(files: &VirtualFs, after: Option<Cursor>) -> (NoticeStream, Cursor) {
    let mut stream = watch(files, after).await;
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(first.kind, NoticeKind::Here);
    (stream, first.cursor)
}

/// Two servers on one store.
async fn servers(staleness: Duration) -> [VirtualFs; 2] {
    servers_on(Distant::new(), staleness).await
}

async fn servers_on(storage: Arc<Distant>, staleness: Duration) -> [VirtualFs; 2] {
    let open = || {
        let options = StoreOptions { staleness, ..StoreOptions::default() };
        Store::over_with(storage.clone(), options)
    };
    let one = open().create(&id("trial"), Limits::default()).await.unwrap();
    [one, open().sandbox(&id("trial")).await.unwrap()]
}

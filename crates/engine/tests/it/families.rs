//! Sandboxes that are no forks of one another share nothing, in the store or by mistake.

use std::sync::Arc;

use futures::TryStreamExt as _;
use sandkeep_engine::{
    Difference, DifferenceKind, ErrorKind, FileSystem as _, Limits, Point, Result, SandboxPath,
    SnapshotId, Store, VirtualFs,
};
use storage::{Expected, MemoryStorage, RefKey, Refs as _};

use crate::contents::{snapshot, write};
use crate::export::travel::{exported, import};
use crate::fixture::id;

async fn differences(files: &VirtualFs, from: &SnapshotId) -> Result<Vec<Difference>> {
    let from = Point::Snapshot(from.clone());
    files.snapshots().unwrap().diff(from, Point::Live).await?.try_collect().await
}

#[tokio::test]
async fn a_snapshot_that_strayed_from_another_family_is_refused_and_can_be_deleted() {
    let storage = Arc::new(MemoryStorage::default());
    let store = Store::flushing(Arc::clone(&storage) as _);
    let [here, there] = ["here", "there"].map(id);
    let [here, there] = [&here, &there].map(|id| store.create(id, Limits::default()));
    let (here, there) = (here.await.unwrap(), there.await.unwrap());
    write(&there, "/file", "elsewhere").await;
    snapshot(&there, "stray").await;
    let key = |name| RefKey::new(&format!("sandboxes/{name}/snapshots/stray")).unwrap();
    let record = storage.load(&key("there")).await.unwrap().unwrap().value;
    storage.swap(&key("here"), &Expected::Absent, record).await.unwrap();

    let (stray, snapshots) = (SnapshotId::parse("stray").unwrap(), here.snapshots().unwrap());
    let refused = differences(&here, &stray).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("`stray` belongs to another family"), "{refused}");
    let refused = snapshots.restore(&stray, &SandboxPath::root()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(snapshots.export(Point::Live, Some(&stray)).await.is_err());
    snapshots.delete(&stray).await.unwrap();
    assert_eq!(here.usage().await.unwrap().files, 0);
}

/// Takes a tree in from another family and compares it with its successor.
async fn is_compared(from: VirtualFs, to: VirtualFs) {
    for number in 0..300 {
        write(&from, &format!("/dir/{number}"), number.to_string().repeat(number)).await;
    }
    let came = import(&to, "came", &exported(&from, Point::Live, None).await).await.unwrap().id;
    to.snapshots().unwrap().restore(&came, &SandboxPath::root()).await.unwrap();
    assert_eq!(differences(&to, &came).await.unwrap(), []);
    let again = import(&to, "again", &exported(&from, Point::Live, None).await).await.unwrap().id;
    assert_eq!(differences(&to, &again).await.unwrap(), []);
    write(&to, "/dir/7", "changed").await;
    let found = differences(&to, &again).await.unwrap();
    let [Difference { path, kind, .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!((path.as_str(), kind), ("/dir/7", &DifferenceKind::Modified));
}

#[tokio::test]
async fn what_came_from_another_family_is_compared_with_what_is_here() {
    is_compared(crate::fixture::stored().await, crate::fixture::stored().await).await;
}

#[tokio::test]
async fn what_came_from_another_family_is_compared_in_memory() {
    is_compared(crate::fixture::memory().await, crate::fixture::memory().await).await;
}

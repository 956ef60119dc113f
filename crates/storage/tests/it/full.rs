//! A disk that is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sandkeep_storage::{
    self as storage, Domain, ErrorKind, Expected, ObjectId, ObjectKey, RefKey, Result, Storage,
    Swap, frame,
};

use crate::directory::url;
use crate::disk::Disk;

const MIB: u64 = 1 << 20;

#[tokio::test]
async fn a_full_disk_refuses_objects_and_keeps_the_rest() {
    let Some(disk) = Disk::of(128 * MIB) else { return };
    let storage = storage::open(&url(&disk.path().join("store"))).await.unwrap();
    let kept = commit_until_full(&storage).await;
    assert!(kept > 10, "only {kept} fitted");
    all_are_there(&storage, kept).await;
}

#[tokio::test]
async fn what_is_deleted_from_a_full_disk_makes_room() {
    let Some(disk) = Disk::of(192 * MIB) else { return };
    let storage = storage::open(&url(&disk.path().join("store"))).await.unwrap();
    let kept = commit_until_full(&storage).await;
    let listed = storage.list(None, None, usize::MAX).await.unwrap();
    let all: Vec<_> = listed.into_iter().map(|object| (object.key, object.token)).collect();
    assert_eq!(storage.delete_exact(&all).await.unwrap(), u64::from(kept));
    for number in kept..kept + 10 {
        commit(&storage, number).await.unwrap();
    }
}

/// Says how many commits fitted.
async fn commit_until_full(storage: &Arc<dyn Storage>) -> u32 {
    let mut kept = 0;
    loop {
        match commit(storage, kept).await {
            Ok(()) => kept += 1,
            Err(err) => {
                assert_eq!(err.kind(), ErrorKind::Full, "{err}");
                return kept;
            }
        }
    }
}

#[tokio::test]
async fn a_disk_that_has_room_again_takes_writes_again() {
    let Some(disk) = Disk::of(128 * MIB) else { return };
    let storage = storage::open(&url(&disk.path().join("store"))).await.unwrap();
    commit(&storage, 0).await.unwrap();
    disk.fill(0);
    assert_eq!(commit(&storage, 1).await.unwrap_err().kind(), ErrorKind::Full);
    all_are_there(&storage, 1).await;
    disk.clear();
    commit(&storage, 1).await.unwrap();
    all_are_there(&storage, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fills_in_the_middle_of_writes_loses_nothing() {
    let Some(disk) = Disk::of(256 * MIB) else { return };
    let disk = Arc::new(disk);
    let store = url(&disk.path().join("store"));
    let storage = storage::open(&store).await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let neighbour = thread::spawn({
        let (disk, is_over) = (Arc::clone(&disk), Arc::clone(&is_over));
        move || {
            while !is_over.load(Ordering::Relaxed) {
                disk.fill(0);
                thread::sleep(Duration::from_millis(3));
                disk.clear();
                thread::sleep(Duration::from_millis(7));
            }
        }
    });
    let (mut kept, mut refused) = (0, 0);
    for _ in 0..200 {
        match commit(&storage, kept).await {
            Ok(()) => kept += 1,
            Err(err) => {
                assert_eq!(err.kind(), ErrorKind::Full, "{err:?}");
                refused += 1;
                // The commit may have happened or not, so look again.
                kept = last(&storage).await;
            }
        }
    }
    is_over.store(true, Ordering::Relaxed);
    neighbour.join().unwrap();
    assert!(kept > 10 && refused > 10, "{kept} kept, {refused} refused");
    commit(&storage, kept).await.unwrap();
    all_are_there(&storage, kept + 1).await;
    drop(storage);
    all_are_there(&storage::open(&store).await.unwrap(), kept + 1).await;
}

/// Commits the next object.
async fn commit(storage: &Arc<dyn Storage>, number: u32) -> Result<()> {
    let key = RefKey::new("root").unwrap();
    let current = storage.load(&key).await?;
    let expected = current.map_or(Expected::Absent, |current| Expected::Token(current.token));
    let objects = vec![(object(number), frame::seal(&content(number)))];
    let value = (number + 1).to_string().into();
    assert!(matches!(storage.commit(objects, &key, &expected, value).await?, Swap::Won(_)));
    Ok(())
}

/// How many objects the ref tells.
async fn last(storage: &Arc<dyn Storage>) -> u32 {
    let current = storage.load(&RefKey::new("root").unwrap()).await.unwrap();
    current.map_or(0, |current| str::from_utf8(&current.value).unwrap().parse().unwrap())
}

async fn all_are_there(storage: &Arc<dyn Storage>, count: u32) {
    assert_eq!(last(storage).await, count);
    for number in 0..count {
        let stored = storage.get(&object(number)).await.unwrap().unwrap();
        assert!(frame::open(&stored).unwrap() == content(number), "object {number}");
    }
}

fn object(number: u32) -> ObjectKey {
    let mut id = [0; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    ObjectKey { domain: Domain([1; 16]), id: ObjectId(id) }
}

/// A quarter of a megabyte that does not compress.
fn content(number: u32) -> Vec<u8> {
    let mut state = u64::from(number) | 1 << 40;
    let noise = std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state ^ state >> 32).to_le_bytes()
    });
    noise.take(32 << 10).collect::<Vec<_>>().into_flattened()
}

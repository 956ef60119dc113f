//! What is taken in is as sound as what was written here, whatever a stream says.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use sandkeep_engine::{FileSystem as _, Limits, Point, SandboxPath, SnapshotId, Store};
use storage::MemoryStorage;

use super::golden::whole;
use super::handmade::Handmade;
use super::travel::{exported, import, opened, seen, write};
use crate::fixture::id;

fn store() -> Store {
    Store::flushing(Arc::new(MemoryStorage::default()))
}

/// Whether a stream is taken in; what comes of it must be sound.
async fn is_taken_in(stream: &Handmade) -> bool {
    let store = store();
    let limits = Limits { file_size: Some(5596), total_size: Some(7106), nodes: Some(11) };
    let files = store.create(&id("trial"), limits).await.unwrap();
    let taken = import(&files, "came", &stream.bytes()).await.is_ok();
    let verified = store.verify(&id("trial")).await.unwrap();
    assert_eq!(verified.problems, []);
    if taken {
        let restore = files.snapshots().unwrap();
        let came = SnapshotId::parse("came").unwrap();
        restore.restore(&came, &SandboxPath::root()).await.unwrap();
        assert_eq!(seen(&files).await, seen(&*opened(&files, "came").await).await);
        assert_eq!(store.verify(&id("trial")).await.unwrap().problems, []);
    }
    taken
}

#[tokio::test]
async fn every_field_of_every_record_that_is_forged_is_refused_or_makes_a_sound_tree() {
    assert!(is_taken_in(&whole()).await);
    let (mut taken, mut refused) = (0, 0);
    for place in 0..whole().blocks[0].records.len() {
        for change in [1, 0x7f, 0x80, 0xff] {
            let mut forged = whole();
            forged.blocks[0].records[place] ^= change;
            if is_taken_in(&forged).await { taken += 1 } else { refused += 1 }
        }
    }
    // A time, a mode or a letter of a name may well be another one.
    assert!(taken > 50 && refused > 50, "{taken} were taken in and {refused} refused");
}

#[tokio::test]
async fn every_sum_that_is_forged_is_refused() {
    for place in 0..7 {
        for sum in [0, 1, 8, 1 << 40, u64::MAX] {
            let mut forged = whole();
            if forged.sums[place] != sum {
                forged.sums[place] = sum;
                assert!(!is_taken_in(&forged).await, "sum {place} is {sum}");
            }
        }
    }
}

/// The clock in the header of a stream.
async fn clock_of(files: &sandkeep_engine::VirtualFs) -> u64 {
    let stream = exported(files, Point::Live, None).await;
    u64::from_le_bytes(*stream[16..].first_chunk().unwrap())
}

#[tokio::test]
async fn commits_are_later_than_whatever_was_taken_in() {
    for clock in [0, 7, u64::MAX / 2] {
        let (store, came) = (store(), SnapshotId::parse("came").unwrap());
        let files = store.create(&id("trial"), Limits::default()).await.unwrap();
        import(&files, "came", &Handmade { clock, ..whole() }.bytes()).await.unwrap();
        // Whatever was taken in bears a stamp of this moment, or of one before.
        let taken_in = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        let from = Point::Snapshot(came.clone());
        let snapshots = files.snapshots().unwrap();
        snapshots.fork(from, &id("fork"), Limits::default()).await.unwrap();
        let fork = store.sandbox(&id("fork")).await.unwrap();
        assert_eq!(clock_of(&fork).await, clock);
        snapshots.restore(&came, &SandboxPath::root()).await.unwrap();
        for (files, floor) in [(&fork, clock), (&files, 0)] {
            write(files, "/file", "first").await;
            let first = clock_of(files).await;
            assert!(first > floor && u128::from(first) > taken_in);
            write(files, "/file", "second").await;
            assert!(clock_of(files).await > first);
        }
    }
}

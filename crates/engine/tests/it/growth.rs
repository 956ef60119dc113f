//! Work that must not grow with what it does not touch. Another implementation of the same
//! specification took 59 s for 10,000 small files under a limit, and 64 ms without one.
//!
//! Times are those of this thread on its processor, so a busy machine does not matter, and they
//! are compared with each other, never with a clock. A tree in memory answers on the thread that
//! asks.

use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt as _;
use rustix::time::{ClockId, clock_gettime};
use sandkeep_engine::{
    CancellationToken, EntryStore, Files, Limits, NewSnapshot, SandboxPath, Target,
};

use crate::fixture::{files, limited, memory};

/// How much more something may cost when the rest is much more. What grew with the rest would
/// cost a hundred times as much or more.
const AT_MOST: u32 = 5;

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// The least that a few tries of `work` cost.
async fn cost<F: Future<Output = ()>>(work: impl Fn() -> F) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let began = now();
        work().await;
        least = least.min(now() - began);
    }
    least
}

fn assert_like(small: Duration, large: Duration) {
    assert!(large <= AT_MOST * small, "{large:?} is more than {AT_MOST} times {small:?}");
}

async fn fill(files: &Files, dir: &str, count: usize) {
    for at in 0..count {
        files.write(&format!("{dir}/{at:04}"), "tiny").await.unwrap();
    }
}

/// A tree of about 100,000 files beside one directory of 1,000.
async fn large() -> Files {
    let files = files().await;
    fill(&files, "dir", 1000).await;
    for at in 0..100 {
        files.copy("dir", &format!("more/{at:03}"), Target::New).await.unwrap();
    }
    assert_eq!(files.usage().await.unwrap().files, 101_000);
    files
}

/// Defect 6: every listing looked at every node.
#[tokio::test(flavor = "current_thread")]
async fn a_listing_costs_what_it_lists() {
    let small = files().await;
    fill(&small, "dir", 1000).await;
    let large = large().await;
    let list = async |files: &Files| {
        assert_eq!(files.list_names("dir").await.unwrap().len(), 1000);
    };
    assert_like(cost(|| list(&small)).await, cost(|| list(&large)).await);
}

/// Defect 6, for the key-value view.
#[tokio::test(flavor = "current_thread")]
async fn a_list_by_prefix_costs_what_it_finds() {
    async fn found(entries: &EntryStore) {
        let token = CancellationToken::new();
        let paths = entries.paths_beginning_with("dir/00", &token).await.unwrap();
        assert_eq!(paths.try_fold(0, |sum, _| async move { Ok(sum + 1) }).await.unwrap(), 100);
    }
    let (small, large) = (memory().await, memory().await);
    for tree in [&small, &large] {
        fill(&Files::new(std::sync::Arc::new(tree.clone())), "dir", 1000).await;
    }
    let files = Files::new(std::sync::Arc::new(large.clone()));
    for at in 0..100 {
        files.copy("dir", &format!("dir-more/{at:03}"), Target::New).await.unwrap();
    }
    let (small, large) = (EntryStore::new(small), EntryStore::new(large));
    assert_like(cost(|| found(&small)).await, cost(|| found(&large)).await);
}

/// Defect 7: every write under a limit added up the whole tree.
#[tokio::test(flavor = "current_thread")]
async fn a_limit_costs_nothing_however_large_the_tree() {
    let limits =
        Limits { total_size: Some(1 << 30), file_size: Some(1 << 20), nodes: Some(1_000_000) };
    let (free, limited) = (files().await, limited(limits).await);
    let began = now();
    fill(&free, "dir", 10_000).await;
    let without = now() - began;
    let began = now();
    fill(&limited, "dir", 10_000).await;
    assert_like(without, now() - began);
}

/// Defect 7: so did asking how much there is.
#[tokio::test(flavor = "current_thread")]
async fn statistics_cost_nothing_however_large_the_tree() {
    let (small, large) = (files().await, large().await);
    let ask = async |files: &Files| {
        for _ in 0..1000 {
            files.usage().await.unwrap();
        }
    };
    assert_like(cost(|| ask(&small)).await, cost(|| ask(&large)).await);
}

/// Defect 8: every append copied the file.
#[tokio::test(flavor = "current_thread")]
async fn an_append_costs_what_it_adds() {
    let files = files().await;
    let piece = Bytes::from(vec![b'x'; 100]);
    let mut rounds = Vec::new();
    for _ in 0..20 {
        let began = now();
        for _ in 0..1000 {
            files.append("log", piece.clone()).await.unwrap();
        }
        rounds.push(now() - began);
    }
    assert_eq!(files.usage().await.unwrap().bytes, 2_000_000);
    let least = |rounds: &[Duration]| *rounds.iter().min().unwrap();
    assert_like(least(&rounds[..5]), least(&rounds[15..]));
}

/// Defect 9: a snapshot copied everything, and so did going back to it.
#[tokio::test(flavor = "current_thread")]
async fn a_snapshot_and_a_restore_cost_the_same_however_large_the_tree() {
    let small = files().await;
    fill(&small, "dir", 10).await;
    let large = large().await;
    let there_and_back = async |files: &Files| {
        for _ in 0..100 {
            let snapshots = files.snapshots().unwrap();
            let taken = snapshots.create(NewSnapshot::default()).await.unwrap();
            files.write("dir/0000", "changed").await.unwrap();
            snapshots.restore(&taken.id, &SandboxPath::root()).await.unwrap();
            snapshots.delete(&taken.id).await.unwrap();
        }
    };
    assert_like(cost(|| there_and_back(&small)).await, cost(|| there_and_back(&large)).await);
    assert_eq!(large.read("dir/0000").await.unwrap(), "tiny");
}

/// Defect 9: a snapshot of one large file held several copies of it.
#[tokio::test(flavor = "current_thread")]
async fn a_snapshot_of_a_large_file_costs_what_one_of_a_small_file_does() {
    let (small, large) = (files().await, files().await);
    small.write("f", "tiny").await.unwrap();
    large.write("f", crate::fixture::noise(32 << 20)).await.unwrap();
    let take = async |files: &Files| {
        for _ in 0..100 {
            let snapshots = files.snapshots().unwrap();
            let taken = snapshots.create(NewSnapshot::default()).await.unwrap();
            snapshots.delete(&taken.id).await.unwrap();
        }
    };
    assert_like(cost(|| take(&small)).await, cost(|| take(&large)).await);
}

//! How often whoever uses a store that is far away has to wait for it.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use futures::{StreamExt as _, TryStreamExt as _};
use sandkeep_engine::{
    CollectOptions, Depth, ErrorKind, FileSystem, If, Limits, Links, OpenOptions, Page, Point,
    Store, StoreOptions, Target, VirtualFs,
};

use crate::contents::{at, fill, read, sandbox, snapshot, write};
use crate::distant::Distant;
use crate::fixture::noise;

/// A new sandbox in a storage that is far away.
async fn new() -> (Arc<Distant>, VirtualFs) {
    let storage = Distant::new();
    let files = server(&storage).create(&sandbox("far"), Limits::default()).await.unwrap();
    (storage, files)
}

/// A server that has nothing at hand, and does not look whether others changed anything.
fn server(storage: &Arc<Distant>) -> Store {
    let options = StoreOptions { staleness: Duration::from_hours(1), ..StoreOptions::default() };
    Store::over_with(Arc::clone(storage) as Arc<dyn storage::Storage>, options)
}

/// The sandbox as a server sees it that has nothing of it at hand.
async fn cold(storage: &Arc<Distant>) -> VirtualFs {
    server(storage).sandbox(&sandbox("far")).await.unwrap()
}

/// A cold sandbox with files at these paths.
async fn filled(count: usize, path: impl Fn(usize) -> String) -> (Arc<Distant>, VirtualFs) {
    let (storage, files) = new().await;
    fill(&files, count, path).await;
    let files = cold(&storage).await;
    (storage, files)
}

async fn names(files: &VirtualFs, dir: &str, limit: Option<usize>) -> usize {
    let page = Page { after: None, limit };
    files.list(&at(dir), page).await.unwrap().map(Result::unwrap).count().await
}

#[tokio::test(start_paused = true)]
async fn a_listing_of_a_large_directory_does_not_wait_for_one_page_after_the_other() {
    let (storage, files) = filled(6000, |n| format!("/dir/{n}")).await;
    let (listed, asked) = storage.asked(names(&files, "/dir", None)).await;
    assert_eq!(listed, 6000);
    assert!(asked.waits < 20, "{asked:?}");
    assert_eq!(asked.most_often, 1, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn the_first_names_of_a_large_directory_cost_no_more_than_they_are() {
    let (storage, files) = filled(30_000, |n| format!("/dir/{n}")).await;
    let (listed, asked) = storage.asked(names(&files, "/dir", Some(100))).await;
    assert_eq!(listed, 100);
    // The root, four levels of pages, and what more leaves are needed.
    assert!(asked.waits <= 8, "{asked:?}");
    assert!(asked.objects <= 16, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn page_after_page_of_a_listing_costs_what_the_names_are() {
    let (storage, files) = filled(6000, |n| format!("/dir/{n:04}")).await;
    let whole = async {
        let (mut after, mut listed) = (None, 0);
        loop {
            let page = Page { after, limit: Some(100) };
            let entries = files.list(&at("/dir"), page).await.unwrap();
            let entries: Vec<_> = entries.try_collect().await.unwrap();
            listed += entries.len();
            let Some(last) = entries.last() else { return listed };
            after = Some(last.path.name().to_owned());
        }
    };
    let (listed, asked) = storage.asked(whole).await;
    assert_eq!(listed, 6000);
    // Sixty pages of names, of which each needs three or four pages that the one before did not.
    assert!(asked.waits <= 90, "{asked:?}");
    assert_eq!(asked.most_often, 1, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_listed_is_known_without_another_question() {
    let (storage, files) = filled(500, |n| format!("/dir/{n}")).await;
    names(&files, "/dir", None).await;
    let look = async {
        for n in 0..500 {
            files.stat(&at(&format!("/dir/{n}")), Links::Keep).await.unwrap();
        }
    };
    let ((), asked) = storage.asked(look).await;
    assert_eq!((asked.waits, asked.objects), (0, 0), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_write_into_a_tree_that_is_at_hand_is_one_round_trip() {
    let (storage, files) = filled(500, |n| format!("/dir/{n}")).await;
    names(&files, "/dir", None).await;
    let ((), asked) = storage.asked(write(&files, "/dir/new", "content")).await;
    assert_eq!((asked.waits, asked.commits, asked.objects), (1, 1, 0), "{asked:?}");
}

/// Unites two directories.
async fn pour(files: &VirtualFs) {
    files.rename(&at("/from"), &at("/to"), Target::Merge).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_merge_of_large_directories_does_not_wait_for_one_page_after_the_other() {
    let path = |n: usize| if n < 6000 { format!("/from/{n}-a") } else { format!("/to/{n}-b") };
    let (storage, files) = filled(12_000, path).await;
    let ((), asked) = storage.asked(pour(&files)).await;
    assert_eq!(files.usage().await.unwrap().files, 12_000);
    assert!(asked.waits < 25, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_merge_of_many_directories_does_not_wait_for_one_after_the_other() {
    let top = |n: usize| if n < 2000 { "from" } else { "to" };
    let (storage, files) = filled(4000, |n| format!("/{}/{}/{n}", top(n), n % 200)).await;
    let ((), asked) = storage.asked(pour(&files)).await;
    assert_eq!(files.usage().await.unwrap().files, 4000);
    assert!(asked.waits < 25, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_few_names_poured_into_a_large_directory_cost_what_they_are() {
    let path = |n: usize| if n < 3 { format!("/from/{n}") } else { format!("/to/{n}") };
    let (storage, files) = filled(6000, path).await;
    let ((), asked) = storage.asked(pour(&files)).await;
    assert!(asked.objects <= 16, "{asked:?}");
}

/// The differences between two trees of which no path is in both.
async fn told(files: &VirtualFs, from: Point) -> usize {
    let differences = files.snapshots().unwrap().diff(from, Point::Live).await.unwrap();
    differences.map(Result::unwrap).count().await
}

/// A cold sandbox, and a snapshot of it as it was before all of it was replaced.
async fn replaced(path: impl Fn(&str, usize) -> String) -> (Arc<Distant>, VirtualFs, Point) {
    let (storage, files) = new().await;
    fill(&files, 6000, |n| path("old", n)).await;
    let from = snapshot(&files, "before").await;
    let listed = files.list(&at("/"), Page::default()).await.unwrap();
    for entry in listed.try_collect::<Vec<_>>().await.unwrap() {
        files.remove(&entry.path, Depth::All, If::Always).await.unwrap();
    }
    fill(&files, 6000, |n| path("new", n)).await;
    let files = cold(&storage).await;
    (storage, files, from)
}

#[tokio::test(start_paused = true)]
async fn a_difference_of_large_directories_does_not_wait_for_one_page_after_the_other() {
    let (storage, files, from) = replaced(|state, n| format!("/dir/{n}-{state}")).await;
    let (lines, asked) = storage.asked(told(&files, from)).await;
    assert_eq!(lines, 12_000);
    assert!(asked.waits < 40, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_difference_of_many_directories_does_not_wait_for_one_after_the_other() {
    let path = |state: &str, n| format!("/{state}-{}/{}/{n}", n % 20, n % 400);
    let (storage, files, from) = replaced(path).await;
    let (lines, asked) = storage.asked(told(&files, from)).await;
    assert_eq!(lines, 2 * (20 + 400 + 6000));
    assert!(asked.waits < 60, "{asked:?}");
}

async fn exported(files: &VirtualFs) -> usize {
    let stream = files.snapshots().unwrap().export(Point::Live, None).await.unwrap();
    stream.map(|bytes| bytes.unwrap().len()).fold(0, |all, len| async move { all + len }).await
}

#[tokio::test(start_paused = true)]
async fn an_export_of_many_small_files_does_not_wait_for_one_page_after_the_other() {
    let (storage, files) = filled(2000, |n| format!("/{}/{}/{n}", n % 10, n % 200)).await;
    let (len, asked) = storage.asked(exported(&files)).await;
    assert!(len > 2000, "{len} bytes");
    assert!(asked.waits < 25, "{asked:?}");
    assert_eq!(asked.most_often, 1, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_collection_does_not_wait_for_one_page_after_the_other() {
    let (storage, _) = filled(20_000, |n| format!("/{}/{n}", n % 10)).await;
    let store = server(&storage);
    let options = CollectOptions { grace: Duration::ZERO };
    let (found, asked) = storage.asked(store.would_collect(options)).await;
    // How many pages there are, and on how many levels, hangs on the key of the sandbox.
    let live = u128::from(found.unwrap().live);
    assert!(live > 500, "{live}");
    assert!(asked.waits < live / 20, "{live} live, {asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_check_of_a_tree_does_not_wait_for_one_page_after_the_other() {
    let (storage, _) = filled(6000, |n| format!("/{}/{n}", n % 100)).await;
    let store = server(&storage);
    let (verified, asked) = storage.asked(store.verify(&sandbox("far"))).await;
    assert_eq!(verified.unwrap().problems, []);
    assert!(asked.waits < 20, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_reader_of_a_long_file_waits_once_for_many_chunks() {
    let (storage, files) = new().await;
    write(&files, "/long", noise(16 << 20)).await;
    let files = cold(&storage).await;
    let (bytes, asked) = storage.asked(read(&files, &at("/long"))).await;
    assert_eq!(bytes.len(), 16 << 20);
    assert!(asked.objects >= 64, "{asked:?}");
    assert!(asked.waits <= u128::from(asked.objects / 8), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_long_read_of_an_open_file_waits_once_for_many_chunks() {
    let (storage, files) = new().await;
    write(&files, "/long", noise(4 << 20)).await;
    let files = cold(&storage).await;
    let open = FileSystem::open(&files, &at("/long"), OpenOptions::Read).await.unwrap();
    let (bytes, asked) = storage.asked(open.read_at(0, 4 << 20)).await;
    assert_eq!(bytes.unwrap().len(), 4 << 20);
    assert!(asked.objects >= 16, "{asked:?}");
    assert!(asked.waits <= u128::from(asked.objects / 8), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn what_many_need_at_once_is_fetched_once() {
    let (storage, files) = filled(6000, |n| format!("/a/b/c/{n}")).await;
    let path = at("/a/b/c/4711");
    let looks = join_all((0..32).map(|_| files.stat(&path, Links::Keep)));
    let (seen, asked) = storage.asked(looks).await;
    assert!(seen.iter().all(Result::is_ok));
    assert!(asked.objects >= 4, "{asked:?}");
    assert_eq!(asked.most_often, 1, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_one_who_stopped_halfway() {
    let (storage, files) = filled(6000, |n| format!("/dir/{n}")).await;
    let page = Page::default();
    let mut halfway = files.list(&at("/dir"), page.clone()).await.unwrap();
    // It has asked for the first pages, and is not polled again.
    assert!(futures::poll!(halfway.next()).is_pending());
    let path = at("/dir/0");
    let look = files.stat(&path, Links::Keep);
    tokio::time::timeout(Duration::from_secs(60), look).await.unwrap().unwrap();
    drop(halfway);
    assert_eq!(names(&files, "/dir", None).await, 6000);
    drop(storage);
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_hurts_only_those_who_get_there() {
    let (storage, files) = filled(500, |n| format!("/dir/{n:03}")).await;
    let first = at("/dir/000");
    let (_, asked) = storage.asked(files.stat(&first, Links::Keep)).await;
    let (_, more) = storage.asked(names(&files, "/dir", None)).await;
    assert!(more.keys.iter().all(|key| !asked.keys.contains(key)) && more.keys.len() > 4);
    storage.lose(&more.keys).await;
    let files = cold(&storage).await;
    let mut listed = files.list(&at("/dir"), Page::default()).await.unwrap();
    assert_eq!(listed.next().await.unwrap().unwrap().path, first);
    let rest: Vec<_> = listed.collect().await;
    assert_eq!(rest.last().unwrap().as_ref().unwrap_err().kind(), ErrorKind::Io);
}

//! Commits that others overtake, whose answers get lost, or for which nobody waits.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use sandkeep_engine::{
    Create, Depth, ErrorKind, FileSystem, If, Limits, Links, OpenOptions, Page, Parents, Point,
    Result, Step, Store, Target, VirtualFs, WriteMode,
};
use storage::{MemoryStorage, Objects as _};
use tokio::task::yield_now;

use crate::contents::{at, contents, fill, put, read, sandbox, write};
use crate::troubled::Troubled;

/// A storage that several servers use, and one sandbox in it.
async fn shared(limits: Limits) -> (Arc<Troubled>, VirtualFs, VirtualFs) {
    let storage = Troubled::new(Arc::new(MemoryStorage::default()));
    let one = server(&storage).create(&sandbox("shared"), limits).await.unwrap();
    let other = opened(&storage).await;
    (storage, one, other)
}

/// A server of its own.
fn server(storage: &Arc<Troubled>) -> Store {
    Store::flushing(storage.clone())
}

/// The sandbox as another server sees it.
async fn opened(storage: &Arc<Troubled>) -> VirtualFs {
    server(storage).sandbox(&sandbox("shared")).await.unwrap()
}

fn append(file: &str, content: impl Into<Bytes>) -> Step {
    let (mode, parents, expected) = (WriteMode::Append, Parents::Create, If::Always);
    Step::Write { file: at(file), content: content.into(), mode, parents, expected }
}

async fn text(files: &dyn FileSystem, file: &str) -> String {
    String::from_utf8(read(files, &at(file)).await.to_vec()).unwrap()
}

#[tokio::test]
async fn what_two_servers_write_is_all_there() {
    let (storage, one, other) = shared(Limits::default()).await;
    for n in 0..20 {
        write(&one, &format!("/one/{n}"), "1").await;
        write(&other, &format!("/other/{n}"), "2").await;
    }
    let seen = contents(&opened(&storage).await).await;
    assert_eq!(seen.len(), 42);
}

#[tokio::test]
async fn a_lost_race_is_replayed_on_what_the_winner_made() {
    let (storage, one, other) = shared(Limits::default()).await;
    write(&one, "/log", "a").await;
    other.batch(vec![append("/log", "b")]).await.unwrap();
    one.batch(vec![append("/log", "c")]).await.unwrap();
    other.batch(vec![append("/log", "d")]).await.unwrap();
    assert_eq!(text(&opened(&storage).await, "/log").await, "abcd");
}

#[tokio::test]
async fn a_belief_that_another_server_made_wrong_fails() {
    let (_storage, one, other) = shared(Limits::default()).await;
    write(&one, "/file", "1").await;
    let version = one.stat(&at("/file"), Links::Keep).await.unwrap().version.unwrap();
    other.batch(vec![append("/file", "2")]).await.unwrap();
    let gone = one.remove(&at("/file"), Depth::One, If::Matches(vec![version])).await;
    assert_eq!(gone.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    assert_eq!(text(&one, "/file").await, "12");
}

#[tokio::test]
async fn what_another_server_made_can_be_changed_at_once() {
    let (_storage, one, other) = shared(Limits::default()).await;
    write(&other, "/file", "1").await;
    one.remove(&at("/file"), Depth::One, If::Exists).await.unwrap();
    write(&other, "/dir/file", "1").await;
    one.rename(&at("/dir/file"), &at("/file"), Target::New).await.unwrap();
    assert_eq!(text(&one, "/file").await, "1");
}

#[tokio::test]
async fn two_servers_stay_within_the_limit_together() {
    let limits = Limits { total_size: Some(100), nodes: Some(20), ..Limits::default() };
    let (storage, one, other) = shared(limits).await;
    let mut room = [true, true];
    for n in 0..20 {
        for (server, files) in [&one, &other].into_iter().enumerate() {
            let steps = vec![put(&format!("/{server}-{n}"), [b'x'; 7].to_vec())];
            room[server] = files.batch(steps).await.is_ok();
        }
    }
    assert_eq!(room, [false, false]);
    let used = opened(&storage).await.usage().await.unwrap();
    assert_eq!((used.bytes, used.files), (98, 14));
}

#[tokio::test]
async fn a_server_that_opens_a_sandbox_again_does_not_take_an_old_commit_for_a_new_one() {
    let storage = Troubled::new(Arc::new(MemoryStorage::default()));
    let store = server(&storage);
    let files = store.create(&sandbox("shared"), Limits::default()).await.unwrap();
    write(&files, "/first", "1").await;
    drop(files);
    let files = store.sandbox(&sandbox("shared")).await.unwrap();
    write(&opened(&storage).await, "/other", "2").await;
    write(&files, "/second", "3").await;
    let seen = contents(&opened(&storage).await).await;
    assert_eq!(
        seen.keys().map(sandkeep_engine::SandboxPath::name).collect::<Vec<_>>(),
        ["first", "other", "second"]
    );
}

#[tokio::test]
async fn a_handle_survives_what_another_server_does_elsewhere() {
    let (storage, one, other) = shared(Limits::default()).await;
    write(&one, "/dir/file", "0123456789").await;
    let file = one.open(&at("/dir/file"), OpenOptions::Write(Create::Never)).await.unwrap();
    for n in 0..5 {
        write(&other, &format!("/dir/other-{n}"), "x").await;
        file.write_at(n, Bytes::from_static(b"#")).await.unwrap();
    }
    assert_eq!(file.read_at(0, 20).await.unwrap(), "#####56789");
    assert_eq!(text(&opened(&storage).await, "/dir/file").await, "#####56789");
}

#[tokio::test]
async fn a_file_that_moves_while_it_is_opened_is_found_or_not_but_never_mistaken() {
    let (storage, one, _) = shared(Limits::default()).await;
    write(&one, "/dir/file", "1").await;
    let files = opened(&storage).await;
    storage.trouble.gets_held.store(1, Ordering::SeqCst);
    let opening = tokio::spawn({
        let files = files.clone();
        async move { files.open(&at("/dir/file"), OpenOptions::Write(Create::Never)).await }
    });
    settle().await;
    // Whoever needs the page that is held back on this server waits for it, too.
    one.rename(&at("/dir/file"), &at("/moved"), Target::New).await.unwrap();
    files.refresh().await.unwrap();
    storage.object_gate.add_permits(1);
    match opening.await.unwrap() {
        Ok(file) => assert_eq!(file.read_at(0, 9).await.unwrap(), "1"),
        Err(err) => assert_eq!(err.kind(), ErrorKind::NotFound),
    }
}

#[tokio::test]
async fn a_handle_keeps_the_file_that_another_server_replaced() {
    let (storage, one, other) = shared(Limits::default()).await;
    write(&one, "/file", "old").await;
    let file = one.open(&at("/file"), OpenOptions::Write(Create::Never)).await.unwrap();
    other.remove(&at("/file"), Depth::One, If::Always).await.unwrap();
    write(&other, "/file", "new").await;
    write(&one, "/more", "1").await;
    assert_eq!(file.read_at(0, 9).await.unwrap(), "old");
    file.write_at(3, Bytes::from_static(b"er")).await.unwrap();
    assert_eq!(file.read_at(0, 9).await.unwrap(), "older");
    assert_eq!(text(&opened(&storage).await, "/file").await, "new");
}

#[tokio::test]
async fn a_snapshot_that_another_server_took_can_be_brought_back() {
    let (_storage, one, other) = shared(Limits::default()).await;
    write(&one, "/file", "old").await;
    write(&other, "/other", "1").await;
    let Point::Snapshot(id) = crate::contents::snapshot(&other, "before").await else {
        panic!("a snapshot is a snapshot")
    };
    write(&one, "/file", "new").await;
    one.snapshots().unwrap().restore(&id, &at("/")).await.unwrap();
    assert_eq!(text(&one, "/file").await, "old");
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_happened_once() {
    let (storage, one, _) = shared(Limits::default()).await;
    for _ in 0..10 {
        storage.trouble.answers_lost.store(1, Ordering::SeqCst);
        one.batch(vec![append("/log", "x")]).await.unwrap();
    }
    assert_eq!(text(&opened(&storage).await, "/log").await, "x".repeat(10));
    assert_eq!(text(&one, "/log").await, "x".repeat(10));
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_found_behind_those_of_others() {
    let (storage, one, other) = shared(Limits::default()).await;
    write(&one, "/log", "").await;
    storage.trouble.answers_lost.store(1, Ordering::SeqCst);
    let ours = tokio::spawn({
        let one = one.clone();
        async move { one.batch(vec![append("/log", "x")]).await }
    });
    // While ours looks for its answer, another commits.
    while storage.trouble.answers_lost.load(Ordering::SeqCst) > 0 {
        yield_now().await;
    }
    other.batch(vec![append("/log", "y")]).await.unwrap();
    ours.await.unwrap().unwrap();
    one.batch(vec![append("/log", "z")]).await.unwrap();
    assert_eq!(text(&opened(&storage).await, "/log").await, "xyz");
}

#[tokio::test]
async fn a_commit_that_seems_not_to_have_happened_is_in_doubt_and_can_be_tried_again() {
    let (storage, one, _) = shared(Limits::default()).await;
    storage.trouble.commits_refused.store(1, Ordering::SeqCst);
    let err = one.batch(vec![append("/log", "x")]).await.unwrap_err();
    // The store may have it on its way still.
    assert_eq!(err.kind(), ErrorKind::InDoubt);
    assert!(contents(&one).await.is_empty());
    one.batch(vec![append("/log", "x")]).await.unwrap();
    assert_eq!(text(&opened(&storage).await, "/log").await, "x");
}

#[tokio::test]
async fn a_store_that_is_silent_for_a_moment_does_not_make_a_commit_uncertain() {
    let storage = Troubled::new(Arc::new(MemoryStorage::default()));
    let steady = storage::steady(storage.clone(), Duration::from_secs(5));
    let one = Store::flushing(steady).create(&sandbox("shared"), Limits::default()).await.unwrap();
    storage.trouble.answers_lost.store(1, Ordering::SeqCst);
    storage.trouble.loads_refused.store(3, Ordering::SeqCst);
    one.batch(vec![append("/log", "x")]).await.unwrap();
    one.refresh().await.unwrap();
    assert_eq!(text(&one, "/log").await, "x");
}

#[tokio::test]
async fn whoever_cannot_learn_what_became_of_a_commit_is_told_so() {
    let (storage, one, _) = shared(Limits::default()).await;
    storage.trouble.answers_lost.store(1, Ordering::SeqCst);
    storage.trouble.loads_refused.store(1, Ordering::SeqCst);
    let err = one.batch(vec![append("/log", "x")]).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InDoubt);
    assert!(err.message().contains("not known"), "{err}");
    // The next commit goes on from what really is there.
    one.batch(vec![append("/log", "y")]).await.unwrap();
    assert_eq!(text(&one, "/log").await, "xy");
}

#[tokio::test]
async fn a_commit_that_the_root_may_have_forgotten_is_in_doubt() {
    let (storage, one, _) = shared(Limits::default()).await;
    write(&one, "/log", "").await;
    storage.close_gate();
    let ours = tokio::spawn({
        let one = one.clone();
        async move { one.batch(vec![append("/log", "x")]).await }
    });
    while storage.waiting.load(Ordering::SeqCst) < 2 {
        yield_now().await;
    }
    // More servers commit meanwhile than a root remembers.
    let calm = Store::flushing(storage.inner.clone());
    for _ in 0..40 {
        let other = Store::flushing(storage.inner.clone());
        let files = other.sandbox(&sandbox("shared")).await.unwrap();
        files.batch(vec![append("/log", "y")]).await.unwrap();
    }
    storage.open_gate();
    assert_eq!(ours.await.unwrap().unwrap_err().kind(), ErrorKind::InDoubt);
    let files = calm.sandbox(&sandbox("shared")).await.unwrap();
    assert_eq!(text(&files, "/log").await, "y".repeat(40));
}

/// Takes away the one object without which `/hurt` cannot be read, and all else can.
async fn hurt(storage: &Arc<Troubled>) {
    for listed in storage.list(None, None, 1000).await.unwrap() {
        let kept = storage.get(&listed.key).await.unwrap().unwrap();
        storage.delete_exact(&[(listed.key, listed.token)]).await.unwrap();
        let files = opened(storage).await;
        let is_there = async |path| files.stat(&at(path), Links::Keep).await.is_ok();
        if !is_there("/hurt/file").await && is_there("/well/file").await {
            return;
        }
        storage.put_many(vec![(listed.key, kept)]).await.unwrap();
    }
    panic!("none of the objects is the page of the directory");
}

#[tokio::test]
async fn a_damaged_directory_does_not_fail_the_writes_of_others() {
    let (storage, one, _) = shared(Limits::default()).await;
    one.batch(vec![put("/hurt/file", "1"), put("/well/file", "1")]).await.unwrap();
    hurt(&storage).await;
    let files = opened(&storage).await;
    storage.close_gate();
    let spawn = |path: &'static str| {
        let files = files.clone();
        tokio::spawn(async move { files.batch(vec![put(path, "2")]).await })
    };
    // While the first is on its way the others wait, and then go together.
    let first = spawn("/first");
    settle().await;
    let (fails, succeeds) = (spawn("/hurt/new"), spawn("/well/new"));
    settle().await;
    storage.open_gate();
    first.await.unwrap().unwrap();
    assert_eq!(fails.await.unwrap().unwrap_err().kind(), ErrorKind::Io);
    succeeds.await.unwrap().unwrap();
    assert_eq!(text(&files, "/well/new").await, "2");
}

/// Two directories of so many files each, in a store that somebody opens afresh.
async fn two_directories(count: usize) -> (Arc<Troubled>, VirtualFs) {
    let (storage, one, _) = shared(Limits::default()).await;
    fill(&one, count, |n| format!("/from/{n}-from")).await;
    fill(&one, count, |n| format!("/to/{n}-to")).await;
    let files = opened(&storage).await;
    storage.fetches.store(0, Ordering::SeqCst);
    (storage, files)
}

#[tokio::test]
async fn a_look_at_one_file_of_a_large_directory_asks_for_the_pages_on_its_way_only() {
    let (storage, files) = two_directories(6000).await;
    for n in [3000, 10, 5999] {
        files.stat(&at(&format!("/to/{n}-to")), Links::Keep).await.unwrap();
    }
    let fetches = storage.fetches.load(Ordering::SeqCst);
    assert!(fetches <= 12, "{fetches} fetches");
}

/// Lets everybody else work until nobody can go on.
async fn settle() {
    for _ in 0..1000 {
        yield_now().await;
    }
}

/// Polls work so many times, with everybody else's work in between, and then drops it.
async fn given_up_after<T>(polls: usize, work: impl Future<Output = Result<T>>) -> Poll<Result<T>> {
    let mut work = pin!(work);
    for _ in 0..polls {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(outcome) = work.as_mut().poll(&mut context) {
            return Poll::Ready(outcome);
        }
        yield_now().await;
    }
    Poll::Pending
}

#[tokio::test]
async fn a_batch_that_is_given_up_at_any_moment_happens_whole_or_not_at_all() {
    let (storage, one, _) = shared(Limits::default()).await;
    let (mut answered, mut without, mut with) = (false, 0, 0);
    for polls in 0..200 {
        let before = contents(&one).await.len();
        let pair = |n: usize| format!("/{polls}/{n}");
        let steps = (0..3).map(|n| put(&pair(n), vec![b'x'; 1000])).collect();
        let other = tokio::spawn({
            let one = one.clone();
            async move { one.batch(vec![append("/log", "x")]).await }
        });
        answered = given_up_after(polls, one.batch(steps)).await.is_ready();
        other.await.unwrap().unwrap();
        // One more commit: whatever was begun before it is over.
        one.batch(vec![append("/log", "y")]).await.unwrap();
        let more = contents(&one).await.len() - before;
        let log = usize::from(polls == 0);
        assert!(more == log || more == log + 4, "{more} new names after {polls} polls");
        if more == log {
            without += 1;
        } else {
            with += 1;
        }
        if answered {
            break;
        }
    }
    assert!(answered && without > 0 && with > 0, "{without} without and {with} with effect");
    let text = text(&opened(&storage).await, "/log").await;
    assert_eq!(text, "xy".repeat(with + without));
}

#[tokio::test]
async fn an_upload_that_is_given_up_at_any_moment_happens_whole_or_not_at_all() {
    let (_storage, one, _) = shared(Limits::default()).await;
    let content = crate::fixture::noise(3 << 20);
    let mut outcomes = [0, 0];
    // On a busy machine it takes many looks until the threads that store chunks are done.
    let later = std::iter::successors(Some(400), |polls| Some(polls * 2)).take(16);
    for polls in (0..400).step_by(7).chain(later) {
        let file = format!("/{polls}");
        let pieces: Vec<_> = content.chunks(300_000).map(Bytes::copy_from_slice).map(Ok).collect();
        let body = futures::StreamExt::boxed(futures::stream::iter(pieces));
        let path = at(&file);
        let work = one.write(&path, body, crate::contents::replacing());
        let is_ready = given_up_after(polls, work).await.is_ready();
        one.batch(vec![append("/log", "y")]).await.unwrap();
        match one.stat(&path, Links::Keep).await {
            Ok(entry) => {
                assert_eq!(entry.size, 3 << 20);
                assert!(read(&one, &path).await == content);
                outcomes[1] += 1;
            }
            Err(err) => {
                assert_eq!(err.kind(), ErrorKind::NotFound);
                outcomes[0] += 1;
            }
        }
        if is_ready {
            break;
        }
    }
    assert!(outcomes.iter().all(|count| *count > 0), "{outcomes:?}");
}

#[tokio::test]
async fn whoever_gives_up_before_his_turn_leaves_no_trace() {
    let (storage, one, _) = shared(Limits::default()).await;
    storage.close_gate();
    let first = tokio::spawn({
        let one = one.clone();
        async move { one.batch(vec![append("/log", "a")]).await }
    });
    settle().await;
    let given_up = given_up_after(20, one.batch(vec![append("/log", "b")])).await;
    assert!(given_up.is_pending());
    storage.open_gate();
    first.await.unwrap().unwrap();
    one.batch(vec![append("/log", "c")]).await.unwrap();
    assert_eq!(text(&one, "/log").await, "ac");
}

#[tokio::test]
async fn what_waits_while_a_commit_is_on_its_way_is_one_commit() {
    let (storage, one, _) = shared(Limits::default()).await;
    storage.close_gate();
    let writes: Vec<_> = (0..64)
        .map(|n| {
            let one = one.clone();
            tokio::spawn(async move { one.batch(vec![put(&format!("/{n}"), "x")]).await })
        })
        .collect();
    settle().await;
    storage.open_gate();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    assert!(storage.commits.load(Ordering::SeqCst) <= 2);
    let page = Page::default();
    let listed = one.list(&at("/"), page).await.unwrap();
    assert_eq!(futures::StreamExt::count(listed).await, 64);
}

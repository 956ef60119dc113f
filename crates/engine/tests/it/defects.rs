//! What went wrong in an implementation of the same specification, and must not go wrong here.

use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt as _;
use sandkeep_engine::{
    CancellationToken, Create, Depth, EntryStore, ErrorKind, FileSystem as _, Files, Limits,
    MetadataChange, NewSnapshot, OpenOptions, SandboxPath, Span, Store, StoredEntry, Target,
    UnixTime, WriteMode,
};
use storage::MemoryStorage;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;

use crate::fixture::{files, id, limited, memory, noise, refusal, stored_files};

fn path(raw: &str) -> SandboxPath {
    SandboxPath::clamped(raw).unwrap()
}

/// Defect 1: the loser of a create threw, and took the existing sandbox with it.
#[tokio::test]
async fn creating_a_sandbox_that_exists_does_not_lose_it() {
    for store in [Store::in_memory(), Store::flushing(Arc::new(MemoryStorage::default()))] {
        let tree = store.create(&id("dup"), Limits::default()).await.unwrap();
        let files = Files::new(Arc::new(tree));
        files.write("f", "alive").await.unwrap();
        let again = store.create(&id("dup"), Limits::default()).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        assert_eq!(files.read("f").await.unwrap(), "alive");
        let found = Files::new(Arc::new(store.sandbox(&id("dup")).await.unwrap()));
        assert_eq!(found.read("f").await.unwrap(), "alive");
    }
}

/// Defect 2: every level found the directory that the copy had just made, for ever.
#[tokio::test]
async fn a_directory_copied_or_moved_into_itself_is_refused_at_once() {
    let files = files().await;
    files.write("a/x", "1").await.unwrap();
    let before = files.usage().await.unwrap();
    for target in [Target::New, Target::Replace, Target::Merge] {
        assert_eq!(refusal(files.copy("a", "a/b", target)).await, ErrorKind::InvalidArgument);
        assert_eq!(refusal(files.rename("a", "a/b", target)).await, ErrorKind::InvalidArgument);
        assert_eq!(refusal(files.copy("/", "z", target)).await, ErrorKind::InvalidArgument);
    }
    assert_eq!(files.usage().await.unwrap(), before);
    files.write("b", "nobody holds a lock").await.unwrap();
}

/// Defect 3: a copy onto itself, and then the removal of the source.
#[tokio::test]
async fn a_file_moved_onto_itself_is_still_there() {
    let files = files().await;
    files.write("x", "content").await.unwrap();
    files.write("d/y", "inner").await.unwrap();
    for target in [Target::New, Target::Replace, Target::Merge] {
        files.rename("x", "/./x", target).await.unwrap();
        files.rename("d", "d/", target).await.unwrap();
        assert_eq!(files.read("x").await.unwrap(), "content");
        assert_eq!(files.read("d/y").await.unwrap(), "inner");
    }
}

/// Defect 4: an append to an existing file was not checked.
#[tokio::test]
async fn an_append_cannot_bypass_the_limits() {
    let files = limited(Limits { total_size: Some(15), ..Limits::default() }).await;
    files.write("f", "1234567890").await.unwrap();
    assert_eq!(refusal(files.append("f", vec![0; 1000])).await, ErrorKind::StorageFull);
    let mut writer = files.open_writer("f", WriteMode::Append).unwrap();
    writer.write_all(&[0; 6]).await.unwrap();
    assert_eq!(refusal(writer.finish()).await, ErrorKind::StorageFull);
    files.append("f", "12345").await.unwrap();
    assert_eq!(files.usage().await.unwrap().bytes, 15);
    let files = limited(Limits { file_size: Some(4), ..Limits::default() }).await;
    files.write("f", "1234").await.unwrap();
    assert_eq!(refusal(files.append("f", "5")).await, ErrorKind::FileTooLarge);
}

/// Defect 4: directories, and those that a write made on its way, were free.
#[tokio::test]
async fn directories_and_implicit_parents_cannot_bypass_the_limits() {
    let files = limited(Limits { nodes: Some(4), ..Limits::default() }).await;
    assert_eq!(refusal(files.write("1/2/3/f", "")).await, ErrorKind::TooManyNodes);
    assert_eq!(refusal(files.create_directory("1/2/3/4")).await, ErrorKind::TooManyNodes);
    assert_eq!(files.usage().await.unwrap().nodes(), 1);
    files.write("1/2/f", "").await.unwrap();
    assert_eq!(files.usage().await.unwrap().nodes(), 4);
}

/// Defect 4: a move needed room for two copies.
#[tokio::test]
async fn a_move_costs_nothing() {
    let limits = Limits { total_size: Some(10), nodes: Some(2), ..Limits::default() };
    let files = limited(limits).await;
    files.write("f", "12345678").await.unwrap();
    files.rename("f", "g", Target::New).await.unwrap();
    assert_eq!(refusal(files.copy("g", "h", Target::New)).await, ErrorKind::StorageFull);
    assert_eq!(files.list_names("/").await.unwrap(), ["g"]);
}

/// Defect 4: a restore was not checked.
#[tokio::test]
async fn a_restore_cannot_bypass_the_limits() {
    let large = files().await;
    large.write("f", noise(5000)).await.unwrap();
    let saved = large.create_snapshot().await.unwrap();
    let by_total = limited(Limits { total_size: Some(10), ..Limits::default() }).await;
    by_total.write("kept", "1").await.unwrap();
    assert!(by_total.restore_snapshot(saved.clone()).await.is_err());
    assert_eq!(by_total.list_names("/").await.unwrap(), ["kept"]);
    let by_file = limited(Limits { file_size: Some(4999), ..Limits::default() }).await;
    assert!(by_file.restore_snapshot(saved.clone()).await.is_err());
    let by_nodes = limited(Limits { nodes: Some(1), ..Limits::default() }).await;
    assert!(by_nodes.restore_snapshot(saved.clone()).await.is_err());
    let just = Limits { total_size: Some(5000), file_size: Some(5000), nodes: Some(2) };
    limited(just).await.restore_snapshot(saved).await.unwrap();
}

/// Defect 5: a file could have children, which outlived it.
#[tokio::test]
async fn nothing_is_made_beneath_a_file() {
    let files = files().await;
    files.write("f", "1").await.unwrap();
    assert_eq!(refusal(files.create_directory("f/sub")).await, ErrorKind::NotADirectory);
    assert_eq!(refusal(files.write("f/s/x", "")).await, ErrorKind::NotADirectory);
    assert_eq!(refusal(files.copy("f", "f/copy", Target::New)).await, ErrorKind::InvalidArgument);
    files.remove("f", Depth::One).await.unwrap();
    assert_eq!(files.usage().await.unwrap().nodes(), 1);
}

/// Defect 10: bytes were taken as they came, and the tree was cleared before they were known to be
/// good.
#[tokio::test]
async fn a_damaged_snapshot_changes_nothing() {
    let files = files().await;
    files.write("dir/f", noise(3000)).await.unwrap();
    let saved = files.create_snapshot().await.unwrap();
    files.write("live", "1").await.unwrap();
    let before = files.usage().await.unwrap();
    for at in (0..saved.len()).step_by(saved.len() / 64 + 1) {
        assert!(files.restore_snapshot(saved.slice(..at)).await.is_err(), "cut at {at}");
        let mut damaged = saved.to_vec();
        damaged[at] ^= 0x40;
        assert!(files.restore_snapshot(damaged).await.is_err(), "damaged at {at}");
    }
    let gzip = Bytes::from_static(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0");
    for hostile in [Bytes::new(), Bytes::from_static(b"{}"), Bytes::from_static(b"null"), gzip] {
        assert!(files.restore_snapshot(hostile).await.is_err());
    }
    let longer = Bytes::from([&saved[..], b"more"].concat());
    assert!(files.restore_snapshot(longer).await.is_err());
    assert_eq!(files.usage().await.unwrap(), before);
    assert!(files.snapshots().unwrap().list(None, 10).await.unwrap().is_empty());
}

/// Defect 10: a small file of bytes became a tree of any size in memory.
#[tokio::test]
async fn a_snapshot_that_unfolds_beyond_the_limits_is_refused() {
    let large = files().await;
    let open = OpenOptions::Write(Create::New);
    let handle = large.tree().open(&path("hole"), open).await.unwrap();
    handle.set_len(1 << 40).await.unwrap();
    let saved = large.create_snapshot().await.unwrap();
    assert!(saved.len() < 1 << 20, "a hole takes no room");
    let files = limited(Limits { total_size: Some(1 << 20), ..Limits::default() }).await;
    assert!(files.restore_snapshot(saved).await.is_err());
    assert_eq!(files.usage().await.unwrap().nodes(), 1);
}

/// Defect 10: between clearing and setting, a file that was in both states was missing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_never_misses_a_file_while_snapshots_are_restored() {
    let files = files().await;
    files.write("always", "here").await.unwrap();
    let snapshot = files.snapshots().unwrap().create(NewSnapshot::default()).await.unwrap();
    let restoring = tokio::spawn({
        let files = files.clone();
        async move {
            for round in 0..1000 {
                files.write(&format!("extra{round}"), "").await.unwrap();
                let root = SandboxPath::root();
                files.snapshots().unwrap().restore(&snapshot.id, &root).await.unwrap();
            }
        }
    });
    while !restoring.is_finished() {
        assert_eq!(files.read("always").await.unwrap(), "here");
        tokio::task::yield_now().await;
    }
    restoring.await.unwrap();
}

/// Defect 11: what was read was the file itself, and its copies.
#[tokio::test]
async fn bytes_that_went_in_or_out_are_not_the_file() {
    let files = files().await;
    let mut given = b"abc".to_vec();
    files.write("f", given.clone()).await.unwrap();
    files.copy("f", "copy", Target::New).await.unwrap();
    given[0] = b'Z';
    let mut taken = files.read("f").await.unwrap().to_vec();
    taken[0] = b'Z';
    assert_eq!(files.read("f").await.unwrap(), "abc");
    assert_eq!(files.read("copy").await.unwrap(), "abc");
    let entries = EntryStore::new(memory().await);
    let token = CancellationToken::new();
    entries.set(StoredEntry::file("f", "abc").unwrap(), &token).await.unwrap();
    let mut entry = entries.get("f", &token).await.unwrap().unwrap();
    entry.content = "Z".into();
    entry.mode = Some(0);
    let again = entries.get("f", &token).await.unwrap().unwrap();
    assert_eq!((&again.content[..], again.mode), (&b"abc"[..], Some(0o644)));
}

/// Defect 12: 0644 was decimal, and a move forgot modes and times.
#[tokio::test]
async fn modes_are_octal_and_survive_a_move() {
    let files = files().await;
    files.write("d/f", "").await.unwrap();
    assert_eq!(files.entry("d/f").await.unwrap().unwrap().mode, Some(0o644));
    assert_eq!(files.entry("d").await.unwrap().unwrap().mode, Some(0o755));
    let modified = UnixTime { seconds: 1, nanoseconds: 2 };
    let change = MetadataChange { mode: Some(0o751), modified: Some(modified) };
    files.tree().set_metadata(&path("d/f"), change).await.unwrap();
    let before = files.entry("d/f").await.unwrap().unwrap();
    files.rename("d", "e", Target::New).await.unwrap();
    let after = files.entry("e/f").await.unwrap().unwrap();
    assert_eq!((after.mode, after.modified), (Some(0o751), Some(modified)));
    assert_eq!(after.created, before.created);
}

/// Defect 13: a stream appended to the file as it was when the stream was opened.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_through_streams_are_not_lost() {
    let files = files().await;
    let mut appends = JoinSet::new();
    for _ in 0..2000 {
        let mut writer = files.open_writer("log", WriteMode::Append).unwrap();
        appends.spawn(async move {
            writer.write_all(b"x").await.unwrap();
            writer.finish().await.unwrap();
        });
    }
    appends.join_all().await;
    assert_eq!(files.read("log").await.unwrap().len(), 2000);
}

/// Defect 13: removals and moves took no lock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_move_or_remove_a_file_one_succeeds() {
    let files = files().await;
    for round in 0..100 {
        files.write("f", round.to_string()).await.unwrap();
        let mut attempts = JoinSet::new();
        for at in 0..8 {
            let files = files.clone();
            attempts.spawn(async move {
                match at % 2 {
                    0 => files.remove("f", Depth::One).await.is_ok(),
                    _ => files.rename("f", &format!("moved{at}"), Target::Replace).await.is_ok(),
                }
            });
        }
        let won = attempts.join_all().await;
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        assert!(!files.exists("f").await.unwrap());
    }
}

/// Defect 14: a stream was the whole file in memory. What comes out here comes in pieces.
#[tokio::test]
async fn a_large_file_is_streamed_in_pieces() {
    let files = stored_files().await;
    let mut writer = files.open_writer("large", WriteMode::Replace).unwrap();
    for _ in 0..16 {
        writer.write_all(&noise(1 << 20)).await.unwrap();
    }
    writer.finish().await.unwrap();
    let content = files.tree().read(&path("large"), Span::Whole).await.unwrap();
    let sizes: Vec<usize> = content.body.map_ok(|piece| piece.len()).try_collect().await.unwrap();
    assert_eq!(sizes.iter().sum::<usize>(), 16 << 20);
    assert!(*sizes.iter().max().unwrap() <= 256 << 10);
}

/// Defect 14: there were no ranges, no truncation and no links.
#[tokio::test]
async fn parts_of_files_can_be_read_written_and_cut_and_links_exist() {
    let files = files().await;
    files.write("f", "0123456789").await.unwrap();
    let open = OpenOptions::Write(Create::Never);
    let handle = files.tree().open(&path("f"), open).await.unwrap();
    assert_eq!(handle.read_at(3, 4).await.unwrap(), "3456");
    handle.write_at(1, "xy".into()).await.unwrap();
    handle.set_len(5).await.unwrap();
    files.tree().symlink(&path("link"), "f").await.unwrap();
    assert_eq!(files.read("link").await.unwrap(), "0xy34");
}

/// Defect 14: the only storage was memory.
#[tokio::test]
async fn what_was_acknowledged_is_there_when_the_store_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file:{}", dir.path().join("store").display());
    let store = Store::open(&url).await.unwrap();
    let files = Files::new(Arc::new(store.create(&id("s"), Limits::default()).await.unwrap()));
    files.write("f", noise(200_000)).await.unwrap();
    drop((files, store));
    let store = Store::open(&url).await.unwrap();
    let files = Files::new(Arc::new(store.sandbox(&id("s")).await.unwrap()));
    assert_eq!(files.read("f").await.unwrap(), noise(200_000));
}

/// Defect 15: the order of a listing depended on the language of the host.
#[tokio::test]
async fn a_listing_is_in_the_order_of_bytes() {
    let files = files().await;
    let sorted =
        [".h", "1", "10", "2", "A", "B", "Case.txt", "Z", "_", "a", "b", "e\u{301}", "\u{e9}"];
    for name in sorted.iter().rev() {
        files.write(name, "").await.unwrap();
    }
    assert_eq!(files.list_names("/").await.unwrap(), sorted);
}

/// Defect 15: to a language, a soft hyphen is nothing and one spelling of é is the other.
#[tokio::test]
async fn a_prefix_is_compared_byte_by_byte() {
    let entries = EntryStore::new(memory().await);
    let token = CancellationToken::new();
    for name in ["a\u{ad}b", "ab", "AB", "\u{e9}t", "e\u{301}t"] {
        entries.set(StoredEntry::file(name, "").unwrap(), &token).await.unwrap();
    }
    let found = |prefix: &'static str| {
        let (entries, token) = (&entries, &token);
        async move {
            let paths = entries.paths_beginning_with(prefix, token).await.unwrap();
            paths.map_ok(|path| path.to_string()).try_collect::<Vec<_>>().await.unwrap()
        }
    };
    assert_eq!(found("ab").await, ["/ab"]);
    assert_eq!(found("\u{e9}").await, ["/\u{e9}t"]);
    assert_eq!(found("e\u{301}").await, ["/e\u{301}t"]);
}

/// Defect 16: snapshots were kept for ever, in a dictionary that two requests could break.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snapshots_can_be_taken_listed_and_deleted_at_once_and_go_when_they_are_deleted() {
    let files = files().await;
    let mut tasks = JoinSet::new();
    for task in 0..8 {
        let files = files.clone();
        tasks.spawn(async move {
            for round in 0..50 {
                files.write(&format!("{task}/{round}"), "").await.unwrap();
                let snapshots = files.snapshots().unwrap();
                let taken = snapshots.create(NewSnapshot::default()).await.unwrap();
                assert!(snapshots.list(None, 1000).await.unwrap().contains(&taken));
                snapshots.delete(&taken.id).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    assert!(files.snapshots().unwrap().list(None, 1000).await.unwrap().is_empty());
    assert_eq!(files.usage().await.unwrap().files, 400);
}

/// Defect 16: a sandbox that two callers used at once lost track of itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_sandbox_serves_many_callers_at_once() {
    let store = Store::flushing(Arc::new(MemoryStorage::default()));
    store.create(&id("shared"), Limits::default()).await.unwrap();
    let mut tasks = JoinSet::new();
    for task in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            let tree = store.sandbox(&id("shared")).await.unwrap();
            let files = Files::new(Arc::new(tree));
            for round in 0..25 {
                files.append("log", "x").await.unwrap();
                files.write(&format!("{task}/{round}"), "").await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    let tree = store.sandbox(&id("shared")).await.unwrap();
    assert_eq!(tree.usage().await.unwrap().bytes, 200);
    let mut reader = Files::new(Arc::new(tree)).open_reader("log").await.unwrap();
    let mut log = String::new();
    reader.read_to_string(&mut log).await.unwrap();
    assert_eq!(log.len(), 200);
}

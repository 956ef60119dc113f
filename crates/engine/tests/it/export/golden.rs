//! Streams that were written once and must be read, and written the same, for ever.

use sandkeep_engine::{Links, UnixTime, VirtualFs};

use super::handmade::{
    Block, Handmade, LEAVE, chunk, digest, entry_of, hole, number, removed, repeat, same, text,
};
use super::travel::{at, exported, import, opened, point, seen};
use crate::fixture::{memory, noise, stored};

const WHOLE: &[u8] = include_bytes!("../../golden/export-1-whole.bin");
const SINCE: &[u8] = include_bytes!("../../golden/export-1-since.bin");
const ZSTD: &[u8] = include_bytes!("../../golden/export-1-zstd.bin");

const BORN: UnixTime = UnixTime { seconds: 1_000_000_000, nanoseconds: 5 };
const CHANGED: UnixTime = UnixTime { seconds: -1, nanoseconds: 999_999_999 };
pub(super) const TIMES: [UnixTime; 2] = [BORN, CHANGED];
const CLOCK: u64 = 1_700_000_000_000_000_000;

fn entry(kind: u8, name: &str, mode: u64, rest: impl AsRef<[u8]>) -> Vec<u8> {
    entry_of(kind, name, mode, TIMES, rest)
}

fn root() -> Vec<u8> {
    // A root is an entry that has no name.
    let mut root = entry(1, "", 0o750, []);
    root.remove(1);
    root
}

/// Everything that a whole stream can hold.
pub(super) fn whole() -> Handmade {
    let block = Block::default()
        .with(root())
        .with(entry(2, "dir", 0o700, []))
        .with(entry(5, "a", 0o644, number(5)))
        .with(entry(7, "link", 0o777, text("../file")))
        .with(LEAVE)
        .with(entry(6, "file", 0o600, number(1500)))
        .with(chunk(1500))
        .with(entry(8, "like", 0o755, number(1)))
        .with(entry(6, "sparse", 0o604, number(5596)))
        .with(hole(4096))
        .with(repeat(1))
        .with(entry(7, "up", 0o777, text("..")))
        .with(entry(5, "\u{10FEFF}", 0o400, number(0)))
        .with(LEAVE)
        .with_content(b"hello")
        .with_content(&noise(1500));
    Handmade { clock: CLOCK, since: None, sums: [6, 7106, 5, 2, 3, 2, 5596], blocks: vec![block] }
}

/// Everything that only a relative stream can hold.
fn since() -> Handmade {
    let base = whole();
    let block = Block::default()
        .with(root())
        .with(entry(3, "dir", 0o711, []))
        .with(entry(5, "b", 0o644, number(2)))
        .with(removed("link"))
        .with(LEAVE)
        .with(entry(6, "file", 0o600, number(6500)))
        .with(same(0, 1500))
        .with(chunk(5000))
        .with(entry(9, "kept", 0o755, text("dir")))
        .with(removed("like"))
        .with(entry(6, "sparse", 0o644, number(5596)))
        .with(same(0, 5596))
        .with(LEAVE)
        .with_content(b"hi")
        .with_content(&noise(6500)[1500..]);
    let since = Some(digest(base.clock, 0o750, TIMES, base.sums));
    let sums = [6, 12_108, 6, 2, 2, 2, 6500];
    Handmade { clock: CLOCK + 1, since, sums, blocks: vec![block] }
}

/// A compressed block between two that are not.
fn zstd() -> Handmade {
    let first = Block::default().with(root()).with(entry(6, "file", 0o600, number(9000)));
    let second = Block { zstd: true, ..Block::default() };
    let second = second.with(chunk(9000)).with_content(&b"sandkeep ".repeat(1000));
    let third = Block::default().with(LEAVE);
    let sums = [1, 9000, 1, 0, 0, 1, 9000];
    Handmade { clock: CLOCK, since: None, sums, blocks: vec![first, second, third] }
}

#[test]
fn the_streams_are_what_the_decision_says() {
    assert_eq!(whole().bytes(), WHOLE);
    assert_eq!(since().bytes(), SINCE);
}

async fn both(files: &VirtualFs) {
    import(files, "whole", WHOLE).await.unwrap();
    import(files, "since", SINCE).await.unwrap();
}

#[tokio::test]
async fn the_streams_are_read_and_written_the_same_in_memory() {
    let files = memory().await;
    both(&files).await;
    assert_eq!(exported(&files, point("whole"), None).await, WHOLE);
    assert_eq!(exported(&files, point("since"), Some("whole")).await, SINCE);
}

#[tokio::test]
async fn the_streams_are_read_and_written_the_same_in_a_store() {
    let files = stored().await;
    both(&files).await;
    assert_eq!(exported(&files, point("whole"), None).await, WHOLE);
    assert_eq!(exported(&files, point("since"), Some("whole")).await, SINCE);
}

#[tokio::test]
async fn everything_is_where_the_stream_says() {
    let files = memory().await;
    both(&files).await;
    let (whole, since) = (opened(&files, "whole").await, opened(&files, "since").await);
    let paths = |seen: std::collections::BTreeMap<_, _>| -> Vec<String> {
        seen.keys().map(ToString::to_string).collect()
    };
    let mut expected = vec!["/", "/dir", "/dir/a", "/dir/link", "/file", "/like", "/like/a"];
    expected.extend(["/like/link", "/sparse", "/up", "/\u{10FEFF}"]);
    assert_eq!(paths(seen(&*whole).await), expected);
    let mut expected = vec!["/", "/dir", "/dir/a", "/dir/b", "/file", "/kept", "/kept/a"];
    expected.extend(["/kept/link", "/sparse", "/up", "/\u{10FEFF}"]);
    assert_eq!(paths(seen(&*since).await), expected);
    let entry = since.stat(&at("/dir"), Links::Keep).await.unwrap();
    assert_eq!(
        (entry.mode, entry.created, entry.modified),
        (Some(0o711), Some(BORN), Some(CHANGED))
    );
}

#[tokio::test]
async fn a_compressed_block_is_read() {
    let files = memory().await;
    import(&files, "zstd", ZSTD).await.unwrap();
    let plain = zstd();
    let plain = Handmade {
        blocks: plain.blocks.iter().cloned().map(|block| Block { zstd: false, ..block }).collect(),
        ..plain
    };
    import(&files, "plain", &plain.bytes()).await.unwrap();
    let (one, other) = (opened(&files, "zstd").await, opened(&files, "plain").await);
    assert_eq!(seen(&*one).await, seen(&*other).await);
}

//! Streams that were damaged on their way.

use proptest::prelude::*;
use sandkeep_engine::{ErrorKind, VirtualFs};
use tokio::runtime::Runtime;

use super::golden::whole;
use super::handmade::body;
use super::travel::{import, snapshots};
use crate::fixture::{memory, stored};

/// What an import of this says, which must leave nothing.
async fn refusal(files: &VirtualFs, stream: &[u8]) -> (ErrorKind, String) {
    let err = import(files, "broken", stream).await.expect_err("a broken stream was taken in");
    assert!(snapshots(files).await.is_empty());
    (err.kind(), err.message().to_owned())
}

#[tokio::test]
async fn every_bit_that_flips_is_found() {
    let (files, stream) = (memory().await, whole().bytes());
    for bit in 0..stream.len() * 8 {
        let mut flipped = stream.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let (kind, _) = refusal(&files, &flipped).await;
        assert_eq!(kind, ErrorKind::BadArchive, "bit {bit}");
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_off_anywhere_is_refused() {
    let (files, stream) = (stored().await, whole().bytes());
    for len in 0..stream.len() {
        let (kind, _) = refusal(&files, &stream[..len]).await;
        assert_eq!(kind, ErrorKind::BadArchive, "{len} bytes");
    }
}

#[tokio::test]
async fn whatever_follows_the_end_is_refused() {
    let files = memory().await;
    let (kind, message) = refusal(&files, &[&whole().bytes()[..], b"\0"].concat()).await;
    assert_eq!(kind, ErrorKind::BadArchive);
    assert!(message.contains("follows its end"), "{message}");
    let twice = whole().bytes().repeat(2);
    assert_eq!(refusal(&files, &twice).await.0, ErrorKind::BadArchive);
}

#[tokio::test]
async fn something_else_is_told_to_be_something_else() {
    let (kind, message) = refusal(&memory().await, b"PK\x03\x04 is how a zip begins").await;
    assert_eq!(kind, ErrorKind::BadArchive);
    assert!(message.contains("not an exported snapshot"), "{message}");
}

#[tokio::test]
async fn a_format_of_the_future_is_named() {
    let mut stream = whole().bytes();
    stream[8] = 2;
    let (kind, message) = refusal(&memory().await, &stream).await;
    assert_eq!(kind, ErrorKind::BadArchive);
    assert!(message.contains("format 2") && message.contains("format 1"), "{message}");
}

#[tokio::test]
async fn blocks_that_change_places_are_found() {
    let mut two = whole();
    two.blocks.push(two.blocks[0].clone());
    let stream = two.bytes();
    let (head, len) = (144, (stream.len() - 144 - 48) / 2);
    let mut cut = stream[..head].to_vec();
    cut.extend(&stream[head + len..]);
    assert_eq!(refusal(&memory().await, &cut).await.0, ErrorKind::BadArchive);
}

fn import_any(stream: &[u8]) -> sandkeep_engine::Result<()> {
    Runtime::new().unwrap().block_on(async {
        let files = stored().await;
        let new = sandkeep_engine::NewSnapshot::default();
        use sandkeep_engine::FileSystem as _;
        let outcome = files.snapshots().unwrap().import(body(stream), new).await.map(drop);
        assert_eq!(snapshots(&files).await.is_empty(), outcome.is_err());
        outcome
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(import_any(&bytes).is_err());
    }

    /// The hashes are right, and what they protect is rubbish: no reader may trip over it.
    #[test]
    fn random_records_are_refused_or_make_a_tree(
        records in prop::collection::vec(any::<u8>(), 1..200),
        sums in any::<[u8; 7]>(),
    ) {
        let mut stream = whole();
        stream.sums = sums.map(u64::from);
        stream.blocks[0].records.truncate(20);
        stream.blocks[0].records.extend(records);
        prop_assert!(import_any(&stream.bytes()).is_err());
    }

    /// A record that is not quite right in a stream whose hashes are.
    #[test]
    fn a_record_with_one_other_byte_is_refused_or_makes_a_tree(
        place in 0_usize..200,
        byte in any::<u8>(),
    ) {
        let mut stream = whole();
        let records = &mut stream.blocks[0].records;
        let place = place % records.len();
        records[place] = byte;
        drop(import_any(&stream.bytes()));
    }
}

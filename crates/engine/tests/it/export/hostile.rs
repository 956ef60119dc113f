//! Streams that were made to do harm: their hashes are right, and what they say is not.

use sandkeep_engine::{ErrorKind, Limits, Store, UnixTime, VirtualFs};

use super::handmade::{
    Block, EPOCH, Handmade, LEAVE, chunk, directory, entry, entry_of, file, head, hole, number,
    removed, repeat, root, same, small_file, text,
};
use super::travel::{import, snapshots};
use crate::fixture::{id, memory, noise, stored};

/// A tree of these records between the root and its end.
fn tree(sums: [u64; 7], records: impl AsRef<[u8]>) -> Handmade {
    Handmade::whole(sums, Block::default().with(root()).with(records).with(LEAVE))
}

/// Takes in what must be refused, in memory and in a store; gives the words.
async fn refused(stream: &[u8]) -> String {
    let message = refused_by(&memory().await, stream).await;
    assert_eq!(refused_by(&stored().await, stream).await, message);
    message
}

async fn refused_by(files: &VirtualFs, stream: &[u8]) -> String {
    let err = import(files, "hostile", stream).await.expect_err("a hostile stream was taken in");
    assert_eq!(err.kind(), ErrorKind::BadArchive, "{err}");
    assert!(snapshots(files).await.is_empty());
    err.message().to_owned()
}

async fn refused_name(name: &str) {
    let message = refused(&tree([1, 0, 1, 0, 0, 1, 0], small_file(name, 0)).bytes()).await;
    assert!(message.contains("a name cannot be"), "{message}");
}

#[tokio::test]
async fn the_harmless_stream_is_taken_in() {
    let stream = tree([1, 0, 1, 0, 0, 1, 0], small_file("name", 0)).bytes();
    import(&memory().await, "harmless", &stream).await.unwrap();
}

#[tokio::test]
async fn a_name_that_leads_up_is_refused() {
    refused_name("..").await;
    refused_name(".").await;
}

#[tokio::test]
async fn a_name_with_a_slash_is_refused() {
    refused_name("a/b").await;
    refused_name("/etc").await;
}

#[tokio::test]
async fn a_name_with_nul_is_refused() {
    refused_name("a\0b").await;
}

#[tokio::test]
async fn a_name_that_is_empty_or_too_long_is_refused() {
    refused_name("").await;
    refused_name(&"x".repeat(256)).await;
}

#[tokio::test]
async fn a_name_that_is_spelled_in_another_way_is_refused() {
    // These two stand for the bytes of `é`, which has a spelling of its own.
    refused_name("\u{10FEC3}\u{10FEA9}").await;
}

#[tokio::test]
async fn names_twice_or_out_of_order_are_refused() {
    for (one, other) in [("same", "same"), ("b", "a")] {
        let names = [small_file(one, 0), small_file(other, 0)].concat();
        let message = refused(&tree([2, 0, 2, 0, 0, 1, 0], names).bytes()).await;
        assert!(message.contains("not in order"), "{message}");
    }
}

#[tokio::test]
async fn a_mode_or_time_that_cannot_be_is_refused() {
    let mode = entry_of(5, "mode", 0o1000, [EPOCH; 2], number(0));
    refused(&tree([1, 0, 1, 0, 0, 1, 0], mode).bytes()).await;
    let late = UnixTime { seconds: 0, nanoseconds: 1_000_000_000 };
    let time = entry_of(5, "time", 0o644, [EPOCH, late], number(0));
    refused(&tree([1, 0, 1, 0, 0, 1, 0], time).bytes()).await;
}

#[tokio::test]
async fn a_link_without_a_possible_target_is_refused() {
    for target in ["", "a\0b", &"x".repeat(4096)] {
        let link = entry(7, "link", text(target));
        refused(&tree([1, 0, 0, 0, 1, 1, 0], link).bytes()).await;
    }
}

#[tokio::test]
async fn a_tree_that_is_too_deep_is_refused_before_the_stack_is() {
    let levels = directory("d").repeat(100_000);
    let blocks: Vec<Block> =
        levels.chunks(6 * 20_000).map(|part| Block::default().with(part)).collect();
    let mut stream = tree([1, 0, 0, 2048, 0, 2048, 0], []);
    stream.blocks = vec![Block::default().with(root())];
    stream.blocks.extend(blocks);
    refused(&stream.bytes()).await;
}

#[tokio::test]
async fn a_repeated_directory_cannot_make_a_tree_too_deep() {
    // Each holds the one before, and it is repeated 1,025 levels down.
    let deep = [directory("d").repeat(1025), LEAVE.repeat(1025)].concat();
    let below =
        [directory("e").repeat(1025), entry(8, "like", number(1)), LEAVE.repeat(1025)].concat();
    let sums = [2, 0, 0, 3075, 0, 2048, 0];
    let message = refused(&tree(sums, [deep, below].concat()).bytes()).await;
    assert!(message.contains("deeper"), "{message}");
}

#[tokio::test]
async fn sums_that_are_forged_are_found() {
    let file = small_file("name", 0);
    for place in 0..7 {
        let mut sums = [1, 0, 1, 0, 0, 1, 0];
        sums[place] += 1;
        refused(&tree(sums, &file).bytes()).await;
    }
    for sums in [[0; 7], [1, 0, 0, 1, 0, 1, 0], [u64::MAX; 7], [1, 0, u64::MAX, 1, 0, 1, 0]] {
        refused(&tree(sums, &file).bytes()).await;
    }
}

#[tokio::test]
async fn a_small_header_does_not_let_a_large_tree_in() {
    let limits = Limits { total_size: Some(100), ..Limits::default() };
    let files = Store::in_memory().create(&id("trial"), limits).await.unwrap();
    let large = [file("large", 1 << 40), hole(1 << 40)].concat();
    let message = refused_by(&files, &tree([1, 100, 1, 0, 0, 1, 100], large).bytes()).await;
    assert!(message.contains("more than it says"), "{message}");
}

#[tokio::test]
async fn what_never_came_cannot_be_repeated() {
    for distance in [0, 1, 2, u64::MAX] {
        let like = entry(8, "like", number(distance));
        refused(&tree([1, 0, 0, 1, 0, 1, 0], like).bytes()).await;
        let pieces = [file("file", 600), repeat(distance)].concat();
        refused(&tree([1, 600, 1, 0, 0, 1, 600], pieces).bytes()).await;
    }
}

#[tokio::test]
async fn a_directory_cannot_hold_itself() {
    let inside = [directory("d"), entry(8, "like", number(1)), LEAVE.to_vec()].concat();
    refused(&tree([1, 0, 0, 2, 0, 2, 0], inside).bytes()).await;
}

#[tokio::test]
async fn a_file_that_is_longer_or_shorter_than_its_pieces_is_refused() {
    let sums = [1, 5000, 1, 0, 0, 1, 5000];
    refused(&tree(sums, [file("file", 5000), hole(5001)].concat()).bytes()).await;
    refused(&tree(sums, [file("file", 5000), hole(4999)].concat()).bytes()).await;
    refused(&tree(sums, file("file", 5000)).bytes()).await;
}

#[tokio::test]
async fn lengths_beyond_reason_are_refused() {
    for len in [(1 << 47) + 1, u64::MAX] {
        let long = [file("file", len), hole(len)].concat();
        refused(&tree([1, 100, 1, 0, 0, 1, 100], long).bytes()).await;
    }
    let sums = [1, 1 << 20, 1, 0, 0, 1, 1 << 20];
    let long = Block::default().with(root()).with(file("file", 1 << 20)).with(chunk(1 << 20));
    let long = long.with(LEAVE).with_content(&vec![0; 1 << 20]);
    refused(&Handmade::whole(sums, long).bytes()).await;
}

#[tokio::test]
async fn content_that_is_missing_or_left_over_is_refused() {
    let sums = [1, 600, 1, 0, 0, 1, 600];
    let records =
        Block::default().with(root()).with(file("file", 600)).with(chunk(600)).with(LEAVE);
    refused(&Handmade::whole(sums, records.clone().with_content(&noise(599))).bytes()).await;
    refused(&Handmade::whole(sums, records.with_content(&noise(601))).bytes()).await;
}

#[tokio::test]
async fn a_file_of_crumbs_is_refused() {
    let sums = [1, 5000, 1, 0, 0, 1, 5000];
    let crumbs = [file("file", 5000), hole(2500), hole(2500)].concat();
    refused(&tree(sums, crumbs).bytes()).await;
    let crumbs = [file("file", 10_000), hole(5000), hole(5000)].concat();
    refused(&tree([1, 10_000, 1, 0, 0, 1, 10_000], crumbs).bytes()).await;
    let block = Block::default().with(root()).with(file("file", 5000)).with(chunk(2500));
    let block = block.with(chunk(2500)).with(LEAVE).with_content(&noise(5000));
    refused(&Handmade::whole(sums, block).bytes()).await;
}

#[tokio::test]
async fn records_in_the_wrong_place_are_refused() {
    let sums = [1, 0, 1, 0, 0, 1, 0];
    let named = small_file("name", 0);
    for records in [
        vec![],
        named.clone(),
        [root(), root(), LEAVE.to_vec()].concat(),
        [root(), named.clone()].concat(),
        [root(), LEAVE.to_vec(), LEAVE.to_vec()].concat(),
        [root(), named.clone(), LEAVE.to_vec(), named.clone()].concat(),
        [root(), named.clone(), hole(5), LEAVE.to_vec()].concat(),
        [root(), file("file", 600), named.clone(), LEAVE.to_vec()].concat(),
        [root(), named, vec![99], LEAVE.to_vec()].concat(),
    ] {
        refused(&Handmade::whole(sums, Block::default().with(records)).bytes()).await;
    }
    refused(&Handmade { blocks: vec![], ..tree(sums, []) }.bytes()).await;
}

#[tokio::test]
async fn a_whole_stream_cannot_refer_to_another_state() {
    let changed = [entry(3, "d", []), LEAVE.to_vec()].concat();
    refused(&tree([1, 0, 0, 1, 0, 1, 0], changed).bytes()).await;
    refused(&tree([1, 0, 0, 1, 0, 1, 0], entry(9, "kept", text("a"))).bytes()).await;
    refused(&tree([0; 7], removed("name")).bytes()).await;
    let pieces = [file("file", 600), same(0, 600)].concat();
    refused(&tree([1, 600, 1, 0, 0, 1, 600], pieces).bytes()).await;
}

#[tokio::test]
async fn a_bomb_of_records_is_refused() {
    // 120,000 bytes of records in a few hundred: each would cost a reader far more.
    let holes = [hole(4096), repeat(1)].concat().repeat(20_000);
    let block = Block { zstd: true, ..Block::default() };
    let block = block.with(root()).with(file("bomb", 1 << 40)).with(holes);
    let message = refused(&Handmade::whole([1, 1 << 40, 1, 0, 0, 1, 1 << 40], block).bytes()).await;
    assert!(message.contains("lengths of a block"), "{message}");
}

/// A stream of one block whose head lies about its payload.
fn lying(codec: u8, lens: [usize; 3], payload: &[u8]) -> Vec<u8> {
    let stream = Handmade { blocks: vec![], ..tree([0; 7], []) }.bytes();
    let (header, _) = stream.split_at(144);
    [header, &head(codec, lens, payload), payload].concat()
}

#[tokio::test]
async fn a_block_that_claims_to_be_larger_than_blocks_are_is_refused_at_once() {
    let payload = zstd::bulk::compress(&vec![0; 64 << 20], 1).unwrap();
    let whole = 64 << 20;
    for lens in [[10, whole - 10, payload.len()], [u32::MAX as usize, 0, payload.len()]] {
        let message = refused(&lying(1, lens, &payload)).await;
        assert!(message.contains("lengths of a block"), "{message}");
    }
    let message = refused(&lying(0, [10, 0, u32::MAX as usize], &[])).await;
    assert!(message.contains("lengths of a block"), "{message}");
}

#[tokio::test]
async fn a_block_that_decompresses_to_more_or_less_than_it_says_is_refused() {
    let payload = zstd::bulk::compress(&vec![0; 3 << 20], 1).unwrap();
    for content in [(3 << 20) - 11, (3 << 20) - 9, 100_000] {
        let message = refused(&lying(1, [10, content, payload.len()], &payload)).await;
        assert!(message.contains("decompressed"), "{message}");
    }
}

#[tokio::test]
async fn a_block_of_several_frames_or_of_none_is_refused() {
    let plain = tree([0; 7], vec![]).blocks[0].records.repeat(40);
    let frame = zstd::bulk::compress(&plain, 1).unwrap();
    let skipped = [&[0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0][..], &[0; 4]].concat();
    for payload in
        [[&frame[..], &frame].concat(), [&frame[..], &skipped].concat(), skipped, vec![0; 50]]
    {
        refused(&lying(1, [plain.len(), 100, payload.len()], &payload)).await;
    }
}

#[tokio::test]
async fn a_block_without_records_is_refused() {
    // There could be endless many of them.
    let message = refused(&lying(0, [0, 5, 5], &[0; 5])).await;
    assert!(message.contains("lengths of a block"), "{message}");
}

#[tokio::test]
async fn a_clock_that_leaves_no_room_for_commits_is_refused() {
    let stream = Handmade { clock: u64::MAX, ..tree([0; 7], []) };
    refused(&stream.bytes()).await;
    let stream = Handmade { clock: u64::MAX / 2, ..tree([0; 7], []) };
    import(&memory().await, "late", &stream.bytes()).await.unwrap();
}

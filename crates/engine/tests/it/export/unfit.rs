//! Relative streams that do not fit the state that they name.

use proptest::prelude::*;
use sandkeep_engine::{ErrorKind, VirtualFs};
use tokio::runtime::Runtime;

use super::golden::{TIMES, whole};
use super::handmade::{
    Block, Handmade, LEAVE, chunk, digest, entry, file, hole, number, removed, root, same, text,
};
use super::travel::{at, import, opened, snapshots};
use crate::contents::read;
use crate::fixture::{memory, noise, stored};

/// Changes of the golden state, and what should come out.
fn relative(records: impl AsRef<[u8]>, sums: [u64; 7]) -> Handmade {
    let base = whole();
    let since = Some(digest(base.clock, 0o750, TIMES, base.sums));
    let block = Block::default().with(root()).with(records).with(LEAVE);
    Handmade { clock: 1, since, sums, blocks: vec![block] }
}

/// Changes of the golden state, with sums that leave room for anything.
fn changes(records: impl AsRef<[u8]>) -> Vec<u8> {
    relative(records, [100, 1 << 40, 100, 100, 100, 100, 1 << 40]).bytes()
}

async fn refused_by(files: &VirtualFs, stream: &[u8]) -> String {
    import(files, "base", &whole().bytes()).await.unwrap();
    let err = import(files, "unfit", stream).await.expect_err("an unfit stream was taken in");
    assert_eq!(err.kind(), ErrorKind::BadArchive, "{err}");
    assert_eq!(snapshots(files).await, ["base"]);
    err.message().to_owned()
}

/// Takes in changes that must be refused for this reason, in memory and in a store.
async fn refused(records: impl AsRef<[u8]>, reason: &str) {
    let stream = changes(records);
    for message in
        [refused_by(&memory().await, &stream).await, refused_by(&stored().await, &stream).await]
    {
        assert!(message.contains(reason), "{message}");
    }
}

#[tokio::test]
async fn what_is_not_there_cannot_be_removed() {
    refused(removed("nothing"), "removes is not there").await;
}

#[tokio::test]
async fn what_is_not_there_or_no_directory_cannot_be_changed() {
    refused([entry(3, "nothing", []), LEAVE.to_vec()].concat(), "changes is not there").await;
    refused([entry(3, "file", []), LEAVE.to_vec()].concat(), "changes is not there").await;
}

#[tokio::test]
async fn what_is_not_there_cannot_be_kept() {
    for path in
        ["nothing", "", "/", "dir/", "/dir", "dir//a", "..", "dir/../file", "file/a", "up/a"]
    {
        refused(entry(9, "kept", text(path)), "keeps is not there").await;
    }
}

#[tokio::test]
async fn bytes_that_are_not_there_cannot_be_taken_over() {
    let takes = |name, offset, len| {
        let pieces = [file(name, 600), same(offset, len)].concat();
        async move { refused(pieces, "takes over is not there").await }
    };
    takes("file", 1000, 501).await;
    takes("file", u64::MAX >> 17, 600).await;
    takes("dir", 0, 600).await;
    takes("nothing", 0, 600).await;
}

#[tokio::test]
async fn bytes_cannot_be_taken_over_twice_or_backwards() {
    let pieces = |first, second| {
        [file("sparse", 12_000), same(first, 3000), hole(6000), same(second, 3000)].concat()
    };
    refused(pieces(0, 0), "takes over is not there").await;
    refused(pieces(2500, 0), "takes over is not there").await;
}

#[tokio::test]
async fn a_whole_file_can_be_taken_over_behind_other_bytes() {
    let files = memory().await;
    import(&files, "base", &whole().bytes()).await.unwrap();
    let records = [file("file", 6500), chunk(5000), same(0, 1500)].concat();
    let mut stream = relative(records, [6, 12_106, 5, 2, 3, 2, 6500]);
    stream.blocks[0].content = noise(5000);
    import(&files, "next", &stream.bytes()).await.unwrap();
    let content = read(&*opened(&files, "next").await, &at("/file")).await;
    assert_eq!(content, [noise(5000), noise(1500)].concat());
}

#[tokio::test]
async fn a_file_in_a_new_directory_has_nothing_to_take_over() {
    let inside = [entry(2, "dir", []), file("a", 600), same(0, 600)].concat();
    refused([inside, LEAVE.to_vec()].concat(), "takes over is not there").await;
}

#[tokio::test]
async fn nothing_can_be_removed_from_a_new_directory() {
    refused([entry(2, "dir", []), removed("a"), LEAVE.to_vec()].concat(), "not there").await;
}

#[tokio::test]
async fn what_is_kept_cannot_make_a_tree_too_deep() {
    let deep = [entry(2, "e", []).repeat(99), entry(9, "kept", text("dir")), LEAVE.repeat(99)];
    refused(deep.concat(), "deeper").await;
}

#[tokio::test]
async fn sums_that_do_not_come_out_are_refused() {
    refused(removed("file"), "add up").await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The hashes and the digest are right, and the changes are rubbish.
    #[test]
    fn random_changes_are_refused(
        kinds in prop::collection::vec((0_usize..12, 0_usize..6, 0_u64..6000), 0..6),
    ) {
        let names = ["dir", "file", "like", "new", "sparse", "up"];
        let records: Vec<u8> = kinds.iter().flat_map(|(kind, name, len)| match kind {
            0 => entry(2, names[*name], []),
            1 => entry(3, names[*name], []),
            2 => LEAVE.to_vec(),
            3 => file(names[*name], 513 + len),
            4 => entry(8, names[*name], number(len % 3)),
            5 => entry(9, names[*name], text(names[(*len % 6) as usize])),
            6 => removed(names[*name]),
            7 => same(*len, 513 + len % 1000),
            8 => hole(1 + len),
            9 => entry(7, names[*name], text("x")),
            10 => entry(5, names[*name], number(0)),
            _ => vec![*len as u8],
        }).collect();
        Runtime::new().unwrap().block_on(async {
            let files = stored().await;
            import(&files, "base", &whole().bytes()).await.unwrap();
            let outcome = import(&files, "changed", &changes(&records)).await;
            assert!(outcome.is_err());
            assert_eq!(snapshots(&files).await, ["base"]);
        });
    }
}

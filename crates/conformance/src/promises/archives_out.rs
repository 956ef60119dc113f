//! Packing tar archives.

use engine::{ArchiveFormat, ArchiveLimits, ErrorKind, Result};
use tar::EntryType;

use crate::archive::{Member, members};
use crate::body::pattern;
use crate::promise::promises;
use crate::tree::{Tree, at, gather, refused};

promises! {
    a_pack_of_a_directory_holds_what_is_in_it;
    a_pack_is_sorted;
    a_pack_of_a_file_is_one_member;
    a_pack_of_an_empty_directory_is_an_empty_archive;
    a_pack_of_the_root_is_the_tree;
    a_pack_holds_empty_directories_and_files;
    a_pack_tells_times_and_modes;
    a_pack_holds_long_names;
    a_pack_unpacks_to_the_same_tree;
    a_pack_of_a_large_file_is_whole;
    a_pack_of_a_missing_path_is_not_found;
    a_pack_may_be_dropped_halfway;
    a_pack_within_its_limits_is_whole;
    a_pack_over_its_bytes_ends_in_an_error;
    a_pack_over_its_entries_ends_in_an_error;
    a_pack_over_its_depth_ends_in_an_error;
    a_pack_over_a_limit_says_so needs PackErrors;
}

const UNLIMITED: ArchiveLimits = ArchiveLimits { bytes: None, entries: None, depth: None };

async fn packed(tree: &Tree, path: &str) -> Vec<Member> {
    members(tree.pack(&at(path), ArchiveFormat::Tar, UNLIMITED).await.unwrap()).await
}

async fn packed_names(tree: &Tree, path: &str) -> Vec<String> {
    packed(tree, path).await.into_iter().map(|member| member.name).collect()
}

async fn a_pack_of_a_directory_holds_what_is_in_it(tree: Tree) {
    tree.put("/dir/sub/file", "content").await;
    tree.put("/dir/file", "other").await;
    tree.put("/beside", "x").await;
    let members = packed(&tree, "/dir").await;
    let contents: Vec<_> = members.iter().map(|m| (&*m.name, &*m.content)).collect();
    assert_eq!(contents, [("file", "other"), ("sub", ""), ("sub/file", "content")]);
    assert_eq!(members[1].kind, EntryType::Directory);
    assert_eq!(members[2].kind, EntryType::Regular);
}

async fn a_pack_is_sorted(tree: Tree) {
    for name in ["b/2", "b/1", "c", "a", "b.txt", "B"] {
        tree.put(&format!("/dir/{name}"), "").await;
    }
    let names = packed_names(&tree, "/dir").await;
    assert_eq!(names, ["B", "a", "b", "b/1", "b/2", "b.txt", "c"]);
}

async fn a_pack_of_a_file_is_one_member(tree: Tree) {
    tree.put("/dir/file", "content").await;
    let members = packed(&tree, "/dir/file").await;
    assert_eq!(members.len(), 1);
    assert_eq!((&*members[0].name, &*members[0].content), ("file", "content"));
}

async fn a_pack_of_an_empty_directory_is_an_empty_archive(tree: Tree) {
    tree.make_dir("/dir").await;
    assert!(packed(&tree, "/dir").await.is_empty());
}

async fn a_pack_of_the_root_is_the_tree(tree: Tree) {
    tree.put("/a/file", "x").await;
    assert_eq!(packed_names(&tree, "/").await, ["a", "a/file"]);
}

async fn a_pack_holds_empty_directories_and_files(tree: Tree) {
    tree.make_dir("/dir/empty").await;
    tree.put("/dir/nothing", "").await;
    assert_eq!(packed_names(&tree, "/dir").await, ["empty", "nothing"]);
}

async fn a_pack_tells_times_and_modes(tree: Tree) {
    tree.put("/dir/file", "x").await;
    let entry = tree.entry("/dir/file").await;
    let members = packed(&tree, "/dir").await;
    assert_eq!(members[0].modified, entry.modified.unwrap().seconds.unsigned_abs());
    assert_eq!(members[0].mode & 0o600, 0o600);
    assert_eq!(members[0].mode & !0o777, 0);
}

async fn a_pack_holds_long_names(tree: Tree) {
    let name = format!("{}/{}", "d".repeat(255), "f".repeat(255));
    tree.put(&format!("/dir/{name}"), "content").await;
    let members = packed(&tree, "/dir").await;
    assert_eq!((&*members[1].name, &*members[1].content), (&*name, "content"));
}

async fn a_pack_unpacks_to_the_same_tree(tree: Tree) {
    for name in ["file", "sub/file", "sub/sub/ä b\n", "sub/-"] {
        tree.put(&format!("/from/{name}"), name.to_owned()).await;
    }
    tree.make_dir("/from/empty").await;
    let archive = tree.pack(&at("/from"), ArchiveFormat::Tar, UNLIMITED).await.unwrap();
    tree.unpack(&at("/to"), archive, ArchiveFormat::Tar, UNLIMITED).await.unwrap();
    let picture = tree.picture().await;
    let beneath = |root: &str| -> Vec<(String, String)> {
        let parts = picture.iter().filter_map(|(path, shown)| {
            path.strip_prefix(root).map(|rest| (rest.to_owned(), shown.clone()))
        });
        parts.collect()
    };
    assert_eq!(beneath("/from").len(), 8);
    assert_eq!(beneath("/from"), beneath("/to"));
}

async fn a_pack_of_a_large_file_is_whole(tree: Tree) {
    let bytes = pattern((3 << 20) + 5);
    tree.put("/dir/large", bytes.clone()).await;
    let archive =
        gather(tree.pack(&at("/dir"), ArchiveFormat::Tar, UNLIMITED).await.unwrap()).await.unwrap();
    assert!(archive[512..512 + bytes.len()] == bytes);
    assert_eq!(archive.len() % 512, 0);
}

async fn a_pack_of_a_missing_path_is_not_found(tree: Tree) {
    let outcome = tree.pack(&at("/missing"), ArchiveFormat::Tar, UNLIMITED).await.map(drop);
    assert_eq!(refused(outcome), ErrorKind::NotFound);
}

async fn a_pack_may_be_dropped_halfway(tree: Tree) {
    tree.put("/dir/large", pattern(8 << 20)).await;
    drop(tree.pack(&at("/dir"), ArchiveFormat::Tar, UNLIMITED).await.unwrap());
    tree.put("/dir/large", "new").await;
    assert_eq!(tree.text("/dir/large").await, "new");
}

/// Packs three files of five bytes, the last two levels down.
async fn limited(tree: &Tree, limits: ArchiveLimits) -> Result<Vec<u8>> {
    for name in ["one", "three", "two"] {
        tree.put(&format!("/dir/{name}"), "12345").await;
    }
    tree.rename(&at("/dir/two"), &at("/dir/zone/two"), engine::Target::Replace).await.unwrap();
    gather(tree.pack(&at("/dir"), ArchiveFormat::Tar, limits).await?).await
}

async fn a_pack_within_its_limits_is_whole(tree: Tree) {
    let limits = ArchiveLimits { bytes: Some(15), entries: Some(4), depth: Some(2) };
    assert!(!limited(&tree, limits).await.unwrap().is_empty());
}

const BYTES: ArchiveLimits = ArchiveLimits { bytes: Some(14), ..UNLIMITED };
const ENTRIES: ArchiveLimits = ArchiveLimits { entries: Some(3), ..UNLIMITED };
const DEPTH: ArchiveLimits = ArchiveLimits { depth: Some(1), ..UNLIMITED };

async fn a_pack_over_its_bytes_ends_in_an_error(tree: Tree) {
    refused(limited(&tree, BYTES).await);
}

async fn a_pack_over_its_entries_ends_in_an_error(tree: Tree) {
    refused(limited(&tree, ENTRIES).await);
}

async fn a_pack_over_its_depth_ends_in_an_error(tree: Tree) {
    refused(limited(&tree, DEPTH).await);
}

async fn a_pack_over_a_limit_says_so(tree: Tree) {
    for limits in [BYTES, ENTRIES, DEPTH] {
        assert_eq!(refused(limited(&tree, limits).await), ErrorKind::LimitExceeded, "{limits:?}");
    }
}

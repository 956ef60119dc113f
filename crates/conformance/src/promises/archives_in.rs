//! Unpacking tar archives.

use engine::{ArchiveFormat, ArchiveLimits, EntryKind, ErrorKind, Unpacked};
use tar::EntryType;

use crate::archive::{Tar, header};
use crate::body;
use crate::promise::promises;
use crate::tree::{Tree, at, refused};

promises! {
    an_archive_is_unpacked;
    an_archive_is_unpacked_into_a_directory_that_is_made;
    an_archive_is_unpacked_beside_what_is_there;
    an_archive_replaces_files_of_the_same_name;
    an_archive_makes_the_parents_of_its_members;
    an_archive_may_hold_nothing;
    an_archive_may_arrive_in_small_pieces;
    an_archive_may_name_its_members_with_a_leading_dot;
    an_archive_may_hold_long_names;
    the_last_of_two_members_of_one_name_stays;
    what_was_said_of_a_directory_last_holds needs Metadata;
    unpacking_answers_with_the_paths_in_the_order_of_the_archive;
    unpacking_answers_with_the_first_1024_paths;
    a_member_keeps_its_time;
    a_member_keeps_its_mode_without_setuid needs Metadata;
    a_member_may_be_a_link_within_the_archive;
    a_member_may_be_a_hard_link_to_another;
    an_archive_that_is_none_leaves_nothing;
    an_archive_that_is_compressed_leaves_nothing;
    an_archive_that_ends_early_leaves_nothing;
    an_archive_that_ends_behind_a_member_leaves_nothing;
    an_archive_that_breaks_off_leaves_nothing;
    an_archive_of_which_nothing_good_can_come_is_not_waited_for;
    an_archive_with_a_wrong_checksum_leaves_nothing;
    a_member_that_climbs_out_leaves_nothing;
    a_member_with_an_absolute_name_leaves_nothing;
    a_link_that_climbs_out_leaves_nothing;
    a_link_with_an_absolute_target_leaves_nothing;
    a_member_beneath_a_link_of_the_archive_leaves_nothing;
    a_hard_link_to_no_member_leaves_nothing;
    a_hard_link_that_climbs_out_leaves_nothing;
    a_device_in_an_archive_leaves_nothing;
    a_fifo_in_an_archive_leaves_nothing;
    a_file_and_a_directory_of_one_name_leave_nothing;
    an_archive_cannot_be_unpacked_into_a_file;
    an_archive_over_its_bytes_leaves_nothing needs UnpackLimits;
    an_archive_over_its_entries_leaves_nothing needs UnpackLimits;
    an_archive_over_its_depth_leaves_nothing needs UnpackLimits;
    an_archive_within_its_limits_is_unpacked needs UnpackLimits;
}

async fn unpacked(tree: &Tree, dir: &str, archive: Tar) -> Unpacked {
    tree.unpack(&at(dir), archive.body(), ArchiveFormat::Tar, ArchiveLimits::default())
        .await
        .unwrap()
}

async fn an_archive_is_unpacked(tree: Tree) {
    let archive = Tar::new().file("file", "content").directory("dir").file("dir/inner", "more");
    unpacked(&tree, "/", archive).await;
    assert_eq!(tree.names("/").await, ["dir", "file"]);
    assert_eq!(tree.text("/file").await, "content");
    assert_eq!(tree.text("/dir/inner").await, "more");
}

async fn an_archive_is_unpacked_into_a_directory_that_is_made(tree: Tree) {
    unpacked(&tree, "/a/b", Tar::new().file("file", "content")).await;
    assert_eq!(tree.text("/a/b/file").await, "content");
}

async fn an_archive_is_unpacked_beside_what_is_there(tree: Tree) {
    tree.put("/to/dir/old", "old").await;
    unpacked(&tree, "/to", Tar::new().directory("dir").file("dir/new", "new")).await;
    assert_eq!(tree.names("/to/dir").await, ["new", "old"]);
    assert_eq!(tree.text("/to/dir/old").await, "old");
}

async fn an_archive_replaces_files_of_the_same_name(tree: Tree) {
    tree.put("/to/dir/file", "an older and longer text").await;
    unpacked(&tree, "/to", Tar::new().file("dir/file", "new")).await;
    assert_eq!(tree.text("/to/dir/file").await, "new");
}

async fn an_archive_makes_the_parents_of_its_members(tree: Tree) {
    unpacked(&tree, "/to", Tar::new().file("a/b/c", "deep")).await;
    assert_eq!(tree.text("/to/a/b/c").await, "deep");
}

async fn an_archive_may_hold_nothing(tree: Tree) {
    let answer = unpacked(&tree, "/to", Tar::new()).await;
    assert_eq!((answer.paths.len(), answer.entries), (0, 0));
    assert_eq!(tree.entry("/to").await.kind, EntryKind::Directory);
}

async fn an_archive_may_arrive_in_small_pieces(tree: Tree) {
    let archive = Tar::new().file("one", "first").file("two", &"x".repeat(3000)).bytes();
    let pieces: Vec<_> = archive.chunks(7).map(bytes::Bytes::copy_from_slice).collect();
    tree.unpack(&at("/to"), body::pieces(pieces), ArchiveFormat::Tar, ArchiveLimits::default())
        .await
        .unwrap();
    assert_eq!(tree.text("/to/two").await, "x".repeat(3000));
}

async fn an_archive_may_name_its_members_with_a_leading_dot(tree: Tree) {
    let archive = Tar::new().directory("./").file("./file", "content");
    let answer = unpacked(&tree, "/to", archive).await;
    assert_eq!(answer.paths, [at("/to/file")]);
    assert_eq!(tree.text("/to/file").await, "content");
}

async fn an_archive_may_hold_long_names(tree: Tree) {
    let name = format!("{}/{}", "d".repeat(200), "f".repeat(255));
    unpacked(&tree, "/to", Tar::new().file(&name, "content")).await;
    assert_eq!(tree.text(&format!("/to/{name}")).await, "content");
}

async fn the_last_of_two_members_of_one_name_stays(tree: Tree) {
    let answer = unpacked(&tree, "/to", Tar::new().file("f", "first").file("f", "last")).await;
    assert_eq!(tree.text("/to/f").await, "last");
    assert_eq!(answer.paths, [at("/to/f"), at("/to/f")]);
}

async fn what_was_said_of_a_directory_last_holds(tree: Tree) {
    let mut closed = header(EntryType::Directory);
    closed.set_mode(0o700);
    let archive = Tar::new().directory("dir").member(closed, "dir", "", "");
    unpacked(&tree, "/to", archive).await;
    assert_eq!(tree.entry("/to/dir").await.mode, Some(0o700));
}

async fn unpacking_answers_with_the_paths_in_the_order_of_the_archive(tree: Tree) {
    let archive = Tar::new().file("z", "").directory("a").file("a/file", "").file("b", "");
    let answer = unpacked(&tree, "/to", archive).await;
    assert_eq!(answer.paths, ["/to/z", "/to/a", "/to/a/file", "/to/b"].map(at));
    assert_eq!(answer.entries, 4);
}

async fn unpacking_answers_with_the_first_1024_paths(tree: Tree) {
    let archive = (0..1030).fold(Tar::new(), |tar, n| tar.file(&format!("{n:04}"), ""));
    let answer = unpacked(&tree, "/to", archive).await;
    assert_eq!(answer.paths.len(), 1024);
    assert_eq!(answer.paths[1023], at("/to/1023"));
    assert!(answer.entries > 1024, "{}", answer.entries);
    assert_eq!(tree.names("/to").await.len(), 1030);
}

async fn a_member_keeps_its_time(tree: Tree) {
    unpacked(&tree, "/to", Tar::new().directory("dir").file("dir/file", "x")).await;
    for path in ["/to/dir/file", "/to/dir"] {
        let modified = tree.entry(path).await.modified.unwrap();
        assert_eq!(modified.seconds, 1_000_000_000, "{path}");
    }
}

async fn a_member_keeps_its_mode_without_setuid(tree: Tree) {
    let mut odd = header(EntryType::Regular);
    odd.set_mode(0o6751);
    let archive = Tar::new().member(odd, "odd", "", "x").file("plain", "x").directory("dir");
    unpacked(&tree, "/to", archive).await;
    assert_eq!(tree.entry("/to/odd").await.mode, Some(0o751));
    assert_eq!(tree.entry("/to/plain").await.mode, Some(0o644));
    assert_eq!(tree.entry("/to/dir").await.mode, Some(0o755));
}

async fn a_member_may_be_a_link_within_the_archive(tree: Tree) {
    let archive = Tar::new().symlink("a/link", "../b/file").file("b/file", "content");
    unpacked(&tree, "/to", archive).await;
    assert_eq!(tree.text("/to/a/link").await, "content");
}

async fn a_member_may_be_a_hard_link_to_another(tree: Tree) {
    unpacked(&tree, "/to", Tar::new().file("dir/one", "content").hard_link("two", "dir/one")).await;
    assert_eq!(tree.text("/to/two").await, "content");
}

async fn nothing(tree: &Tree, archive: &[u8], limits: ArchiveLimits, kind: ErrorKind) {
    tree.refuses(archive, ArchiveFormat::Tar, limits, kind).await;
}

async fn bad(tree: &Tree, archive: &[u8]) {
    nothing(tree, archive, ArchiveLimits::default(), ErrorKind::BadArchive).await;
}

/// An archive whose first member is good.
fn good_start() -> Tar {
    Tar::new().file("good", "content")
}

async fn an_archive_that_is_none_leaves_nothing(tree: Tree) {
    bad(&tree, &body::pattern(4096)).await;
}

async fn an_archive_that_is_compressed_leaves_nothing(tree: Tree) {
    // The head of a gzip file and what follows it.
    bad(&tree, &[b"\x1f\x8b\x08\0\0\0\0\0\0\x03", &body::pattern(1014)[..]].concat()).await;
}

async fn an_archive_that_ends_early_leaves_nothing(tree: Tree) {
    let archive = good_start().file("cut", &"x".repeat(2000)).bytes();
    bad(&tree, &archive[..2048]).await;
    bad(&tree, &archive[..1300]).await;
}

async fn an_archive_that_ends_behind_a_member_leaves_nothing(tree: Tree) {
    let archive = good_start().file("next", "x").bytes();
    let behind_the_first = archive.len() - 2 * 1024;
    bad(&tree, &archive[..behind_the_first]).await;
}

async fn an_archive_of_which_nothing_good_can_come_is_not_waited_for(tree: Tree) {
    let archive = good_start().file("../out", "x").bytes();
    let (body, _) = body::stalling(archive);
    let outcome = tree.unpack(&at("/to"), body, ArchiveFormat::Tar, ArchiveLimits::default()).await;
    assert_eq!(refused(outcome), ErrorKind::BadArchive);
}

async fn an_archive_that_breaks_off_leaves_nothing(tree: Tree) {
    let archive = good_start().file("cut", &"x".repeat(2000)).bytes();
    let body = body::breaking_off(archive[..2048].to_vec());
    let outcome = tree.unpack(&at("/to"), body, ArchiveFormat::Tar, ArchiveLimits::default()).await;
    assert_eq!(refused(outcome), ErrorKind::BrokenBody);
    assert!(tree.names("/").await.is_empty());
}

async fn an_archive_with_a_wrong_checksum_leaves_nothing(tree: Tree) {
    let mut archive = good_start().file("spoilt", "x").bytes();
    archive[1024] ^= 1;
    bad(&tree, &archive).await;
}

async fn a_member_that_climbs_out_leaves_nothing(tree: Tree) {
    bad(&tree, &good_start().file("../escaped", "x").bytes()).await;
    bad(&tree, &good_start().file("a/../../../escaped", "x").bytes()).await;
    bad(&tree, &good_start().directory("..").bytes()).await;
}

async fn a_member_with_an_absolute_name_leaves_nothing(tree: Tree) {
    bad(&tree, &good_start().file("/escaped", "x").bytes()).await;
}

async fn a_link_that_climbs_out_leaves_nothing(tree: Tree) {
    bad(&tree, &good_start().symlink("link", "../kept").bytes()).await;
    bad(&tree, &good_start().symlink("a/link", "../../../etc").bytes()).await;
}

async fn a_link_with_an_absolute_target_leaves_nothing(tree: Tree) {
    bad(&tree, &good_start().symlink("link", "/etc/passwd").bytes()).await;
}

async fn a_member_beneath_a_link_of_the_archive_leaves_nothing(tree: Tree) {
    let archive = good_start().directory("dir").symlink("link", "dir").file("link/file", "x");
    bad(&tree, &archive.bytes()).await;
}

async fn a_hard_link_to_no_member_leaves_nothing(tree: Tree) {
    bad(&tree, &good_start().hard_link("link", "kept").bytes()).await;
}

async fn a_hard_link_that_climbs_out_leaves_nothing(tree: Tree) {
    bad(&tree, &good_start().hard_link("link", "../kept").bytes()).await;
    bad(&tree, &good_start().hard_link("link", "/etc/passwd").bytes()).await;
}

async fn a_device_in_an_archive_leaves_nothing(tree: Tree) {
    for kind in [EntryType::Char, EntryType::Block] {
        bad(&tree, &good_start().member(header(kind), "device", "", "").bytes()).await;
    }
}

async fn a_fifo_in_an_archive_leaves_nothing(tree: Tree) {
    bad(&tree, &good_start().member(header(EntryType::Fifo), "fifo", "", "").bytes()).await;
}

async fn a_file_and_a_directory_of_one_name_leave_nothing(tree: Tree) {
    bad(&tree, &good_start().file("both", "x").file("both/file", "x").bytes()).await;
}

async fn an_archive_cannot_be_unpacked_into_a_file(tree: Tree) {
    tree.put("/file", "content").await;
    let archive = Tar::new().file("inner", "x").body();
    let outcome =
        tree.unpack(&at("/file"), archive, ArchiveFormat::Tar, ArchiveLimits::default()).await;
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
    assert_eq!(tree.text("/file").await, "content");
}

async fn over(tree: &Tree, limits: ArchiveLimits, archive: Tar) {
    nothing(tree, &archive.bytes(), limits, ErrorKind::LimitExceeded).await;
}

async fn an_archive_over_its_bytes_leaves_nothing(tree: Tree) {
    let limits = ArchiveLimits { bytes: Some(9), ..ArchiveLimits::default() };
    over(&tree, limits, Tar::new().file("one", "12345").file("two", "12345")).await;
}

async fn an_archive_over_its_entries_leaves_nothing(tree: Tree) {
    let limits = ArchiveLimits { entries: Some(2), ..ArchiveLimits::default() };
    over(&tree, limits, Tar::new().file("one", "").directory("two").file("three", "")).await;
}

async fn an_archive_over_its_depth_leaves_nothing(tree: Tree) {
    let limits = ArchiveLimits { depth: Some(2), ..ArchiveLimits::default() };
    over(&tree, limits, Tar::new().file("a/b", "").file("a/b2/c", "")).await;
}

async fn an_archive_within_its_limits_is_unpacked(tree: Tree) {
    let limits = ArchiveLimits { bytes: Some(10), entries: Some(2), depth: Some(2) };
    let archive = Tar::new().file("a/one", "12345").file("two", "12345").body();
    tree.unpack(&at("/to"), archive, ArchiveFormat::Tar, limits).await.unwrap();
    assert_eq!(tree.names("/to").await, ["a", "two"]);
}

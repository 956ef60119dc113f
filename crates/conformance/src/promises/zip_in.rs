//! Unpacking zip archives, above all those that mean no good.

use engine::{ArchiveFormat, ArchiveLimits, EntryKind, ErrorKind, Limits};

use crate::body;
use crate::promise::{UNLIMITED, promises};
use crate::tree::{Tree, at, refused};
use crate::zip::{Zip, ZipMember, crc, deflated, directory, extra, stored, streamed, symlink};

promises! {
    a_zip_is_unpacked needs ArchiveFormats;
    a_zip_may_tell_of_members_behind_their_content needs ArchiveFormats;
    a_descriptor_may_have_any_of_its_forms needs ArchiveFormats;
    a_zip_may_tell_sizes_in_eight_bytes needs ArchiveFormats;
    a_zip_may_end_with_the_records_for_large_ones needs ArchiveFormats;
    a_zip_may_have_comments needs ArchiveFormats;
    a_zip_may_tell_of_its_members_in_another_order needs ArchiveFormats;
    a_zip_may_hold_a_directory_twice needs ArchiveFormats;
    a_zip_may_hold_an_empty_file_that_is_told_of_behind_it needs ArchiveFormats;
    a_name_is_utf_8_if_it_says_so needs ArchiveFormats;
    a_name_that_says_nothing_is_utf_8_or_of_the_ibm_pc needs ArchiveFormats;
    a_header_may_tell_some_of_what_follows_the_content needs ArchiveFormats;
    a_name_may_be_told_in_utf_8_besides needs ArchiveFormats;
    a_zip_tells_times_to_the_second_if_it_can needs ArchiveFormats;
    a_zip_gives_modes_without_setuid needs ArchiveFormats, Metadata;
    modes_that_were_not_made_on_unix_mean_nothing needs ArchiveFormats, Metadata;
    a_link_in_a_zip_becomes_a_link needs ArchiveFormats, Links;
    a_link_in_a_zip_may_be_compressed needs ArchiveFormats, Links;
    a_link_in_a_zip_that_leads_out_leaves_nothing needs ArchiveFormats;
    a_link_in_a_zip_whose_target_is_too_long_leaves_nothing needs ArchiveFormats;
    a_member_beneath_a_link_of_the_zip_leaves_nothing needs ArchiveFormats;
    a_special_file_in_a_zip_leaves_nothing needs ArchiveFormats;
    a_zip_that_is_none_leaves_nothing needs ArchiveFormats;
    a_zip_behind_something_else_leaves_nothing needs ArchiveFormats;
    something_behind_a_zip_leaves_nothing needs ArchiveFormats;
    something_between_the_members_of_a_zip_leaves_nothing needs ArchiveFormats;
    a_comment_that_holds_another_end_leaves_nothing needs ArchiveFormats;
    a_zip_without_its_central_directory_leaves_nothing needs ArchiveFormats;
    a_central_directory_that_tells_otherwise_leaves_nothing needs ArchiveFormats;
    a_member_that_the_central_directory_leaves_out_leaves_nothing needs ArchiveFormats;
    a_member_that_only_the_central_directory_knows_leaves_nothing needs ArchiveFormats;
    members_that_overlap_leave_nothing needs ArchiveFormats;
    an_end_record_that_tells_otherwise_leaves_nothing needs ArchiveFormats;
    a_member_larger_than_it_says_leaves_nothing needs ArchiveFormats;
    a_member_smaller_than_it_says_leaves_nothing needs ArchiveFormats;
    a_wrong_descriptor_leaves_nothing needs ArchiveFormats;
    a_stored_member_that_does_not_say_its_length_is_explained needs ArchiveFormats;
    broken_deflate_leaves_nothing needs ArchiveFormats;
    an_encrypted_member_leaves_nothing needs ArchiveFormats;
    an_unknown_method_is_explained needs ArchiveFormats;
    a_split_zip_leaves_nothing needs ArchiveFormats;
    two_members_of_one_name_leave_nothing needs ArchiveFormats;
    a_file_and_a_directory_of_one_name_in_a_zip_leave_nothing needs ArchiveFormats;
    a_directory_with_content_leaves_nothing needs ArchiveFormats;
    names_that_are_tricks_leave_nothing needs ArchiveFormats;
    extra_fields_that_are_broken_or_twice_leave_nothing needs ArchiveFormats;
    a_streamed_member_over_the_limit_of_the_tree_leaves_nothing needs ArchiveFormats within SMALL;
    every_byte_of_a_zip_may_be_wrong needs ArchiveFormats;
}

const NO_LIMITS: ArchiveLimits = ArchiveLimits { bytes: None, entries: None, depth: None };
const SMALL: Limits = Limits { file_size: Some(1000), ..UNLIMITED };

async fn unpacked(tree: &Tree, zip: Zip) {
    tree.unpack(&at("/to"), zip.body(), ArchiveFormat::Zip, NO_LIMITS).await.unwrap();
}

async fn bad(tree: &Tree, archive: &[u8]) -> String {
    tree.refuses(archive, ArchiveFormat::Zip, NO_LIMITS, ErrorKind::BadArchive).await
}

async fn bad_member(tree: &Tree, member: &ZipMember) -> String {
    bad(tree, &good_start().member(member).bytes()).await
}

/// An archive whose first member is good.
fn good_start() -> Zip {
    Zip::default().file("good", "content")
}

async fn a_zip_is_unpacked(tree: Tree) {
    let zip = Zip::default()
        .file("stored", "as it is")
        .member(&directory("dir/"))
        .member(&deflated("dir/deflated", "x".repeat(100_000)))
        .member(&streamed("made/streamed", "some text"));
    let answer = tree.unpack(&at("/to"), zip.body(), ArchiveFormat::Zip, NO_LIMITS).await.unwrap();
    let paths = ["/to/stored", "/to/dir", "/to/dir/deflated", "/to/made/streamed"];
    assert_eq!((answer.paths, answer.entries), (paths.map(at).to_vec(), 4));
    assert_eq!(tree.text("/to/stored").await, "as it is");
    assert_eq!(tree.text("/to/dir/deflated").await, "x".repeat(100_000));
    assert_eq!(tree.text("/to/made/streamed").await, "some text");
    assert_eq!(tree.entry("/to/dir").await.modified.unwrap().seconds, 1_000_000_000);
    assert_eq!(tree.entry("/to/stored").await.modified.unwrap().seconds, 1_000_000_000);
}

async fn a_zip_may_tell_of_members_behind_their_content(tree: Tree) {
    let large = body::pattern(500_000);
    let zip = good_start().member(&streamed("large", &large)).member(&streamed("empty", ""));
    unpacked(&tree, zip.file("last", "x")).await;
    assert!(tree.content("/to/large").await == large);
    assert_eq!(tree.names("/to").await, ["empty", "good", "large", "last"]);
}

async fn a_descriptor_may_have_any_of_its_forms(tree: Tree) {
    let mut zip = Zip::default();
    for content in ["", "some text"] {
        let made = streamed("x", content);
        let told = &made.central;
        let crc = told.crc.to_le_bytes();
        let short = [told.compressed, told.size].map(u32::to_le_bytes).concat();
        let long = [told.compressed, told.size].map(|n| u64::from(n).to_le_bytes()).concat();
        for (form, sizes) in [("short", short), ("long", long)] {
            for (signed, signature) in [("signed", &b"PK\x07\x08"[..]), ("unsigned", b"")] {
                let name = format!("{form} {signed} {}", content.len());
                let descriptor = [signature, &crc, &sizes].concat();
                zip = zip.member(&ZipMember { descriptor, ..streamed(&name, content) });
            }
        }
    }
    unpacked(&tree, zip).await;
    assert_eq!(tree.names("/to").await.len(), 8);
    assert_eq!(tree.text("/to/long unsigned 9").await, "some text");
}

async fn a_zip_may_tell_sizes_in_eight_bytes(tree: Tree) {
    let mut member = deflated("file", "content");
    let sizes = [member.local.size, member.local.compressed];
    let large = sizes.map(|size| u64::from(size).to_le_bytes()).concat();
    member = member.tell(|told| {
        (told.size, told.compressed) = (u32::MAX, u32::MAX);
        told.extra = extra(0x0001, &large);
    });
    let mut later = streamed("later", "content");
    (later.local.size, later.local.compressed) = (u32::MAX, u32::MAX);
    later.local.extra = extra(0x0001, &[0; 16]);
    unpacked(&tree, Zip::default().member(&member).member(&later)).await;
    assert_eq!(tree.text("/to/file").await, "content");
    assert_eq!(tree.text("/to/later").await, "content");
}

/// The records that an archive with more than 65,534 members needs, around the usual one.
fn with_large_end([members, directory, end]: [Vec<u8>; 3]) -> [Vec<u8>; 4] {
    let number = |number: usize| (number as u64).to_le_bytes();
    let entries = number(usize::from(u16::from_le_bytes([end[8], end[9]])));
    let large = [
        &b"PK\x06\x06"[..],
        &number(44),
        &[45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &entries,
        &entries,
        &number(directory.len()),
        &number(members.len()),
        b"PK\x06\x07\0\0\0\0",
        &number(members.len() + directory.len()),
        &[1, 0, 0, 0],
    ];
    [members, directory, large.concat(), end]
}

async fn a_zip_may_end_with_the_records_for_large_ones(tree: Tree) {
    let mut parts = with_large_end(good_start().parts());
    let whole = body::whole(parts.concat());
    tree.unpack(&at("/to"), whole, ArchiveFormat::Zip, NO_LIMITS).await.unwrap();
    // What stands in the large one need not stand in the other.
    parts[3][8..20].fill(0xff);
    let whole = body::whole(parts.concat());
    tree.unpack(&at("/to"), whole, ArchiveFormat::Zip, NO_LIMITS).await.unwrap();
    for wrong in [24, 32, 40, 48, 56 + 8] {
        let mut parts = parts.clone();
        parts[2][wrong] ^= 1;
        bad(&tree, &parts.concat()).await;
    }
}

async fn a_zip_may_have_comments(tree: Tree) {
    let [members, directory, mut end] = good_start().parts();
    end[20] = 7;
    let archive = [members, directory, end, b"comment".to_vec()].concat();
    let whole = body::whole(archive);
    tree.unpack(&at("/to"), whole, ArchiveFormat::Zip, NO_LIMITS).await.unwrap();
}

async fn a_zip_may_tell_of_its_members_in_another_order(tree: Tree) {
    let [members, directory, end] = Zip::default().file("a", "1").file("b", "2").parts();
    let (first, last) = directory.split_at(directory.len() / 2);
    let archive = [&*members, last, first, &end].concat();
    let whole = body::whole(archive);
    tree.unpack(&at("/to"), whole, ArchiveFormat::Zip, NO_LIMITS).await.unwrap();
    assert_eq!(tree.text("/to/b").await, "2");
}

async fn a_zip_may_hold_a_directory_twice(tree: Tree) {
    let zip = Zip::default().member(&directory("dir/")).file("dir/file", "x");
    unpacked(&tree, zip.member(&directory("dir/"))).await;
    assert_eq!(tree.names("/to/dir").await, ["file"]);
}

async fn a_zip_may_hold_an_empty_file_that_is_told_of_behind_it(tree: Tree) {
    let descriptor = [&b"PK\x07\x08"[..], &[0; 12]].concat();
    let mut empty = stored("empty", "").tell(|told| told.flags |= 1 << 3);
    empty.descriptor.clone_from(&descriptor);
    let mut dir = directory("dir/").tell(|told| told.flags |= 1 << 3);
    dir.descriptor = descriptor;
    unpacked(&tree, good_start().member(&empty).member(&dir)).await;
    assert_eq!(tree.names("/to").await, ["dir", "empty", "good"]);
}

async fn a_name_is_utf_8_if_it_says_so(tree: Tree) {
    unpacked(&tree, Zip::default().file("ä/😀", "x")).await;
    assert_eq!(tree.text("/to/ä/😀").await, "x");
    bad_member(&tree, &stored("x", "").tell(|told| told.name = b"\xff".to_vec())).await;
}

async fn a_name_that_says_nothing_is_utf_8_or_of_the_ibm_pc(tree: Tree) {
    let named = |name: &'static [u8]| {
        stored("x", "x").tell(|told| {
            told.flags = 0;
            told.name = name.to_vec();
        })
    };
    let zip = Zip::default().member(&named(b"gr\x81n")).member(&named("blå".as_bytes()));
    unpacked(&tree, zip).await;
    assert_eq!(tree.names("/to").await, ["blå", "grün"]);
}

/// As `zip` does it into a pipe, which knows the size of a file beforehand.
async fn a_header_may_tell_some_of_what_follows_the_content(tree: Tree) {
    let mut member = streamed("file", "content");
    member.local.size = member.central.size;
    unpacked(&tree, good_start().member(&member)).await;
    assert_eq!(tree.text("/to/file").await, "content");
}

async fn a_name_may_be_told_in_utf_8_besides(tree: Tree) {
    let besides = |checksum: u32, name: &'static str| {
        let field = [&[1][..], &checksum.to_le_bytes(), name.as_bytes()].concat();
        stored("plain", "x").tell(|told| {
            told.flags = 0;
            told.extra = extra(0x7075, &field);
        })
    };
    unpacked(&tree, Zip::default().member(&besides(crc(b"plain"), "besides"))).await;
    assert_eq!(tree.names("/to").await, ["besides"]);
    bad_member(&tree, &besides(crc(b"plain"), "../besides")).await;
    // It was made for another name, and so it is none.
    unpacked(&tree, Zip::default().member(&besides(0, "../besides"))).await;
    assert_eq!(tree.names("/to").await, ["besides", "kept", "plain"]);
}

async fn a_zip_tells_times_to_the_second_if_it_can(tree: Tree) {
    let seconds = 1_234_567_891_u32;
    let field = extra(0x5455, &[&[1][..], &seconds.to_le_bytes()].concat());
    let timed = stored("file", "x").tell(|told| told.extra.clone_from(&field));
    unpacked(&tree, Zip::default().member(&timed)).await;
    assert_eq!(tree.entry("/to/file").await.modified.unwrap().seconds, i64::from(seconds));
}

async fn a_zip_gives_modes_without_setuid(tree: Tree) {
    let zip = Zip::default()
        .member(&ZipMember { mode: 0o106_751, ..stored("odd", "x") })
        .member(&ZipMember { mode: 0o600, ..deflated("untyped", "x") })
        .member(&ZipMember { mode: 0o040_700, ..directory("dir/") })
        .member(&directory("plain/"))
        .file("dir/file", "x");
    unpacked(&tree, zip).await;
    for (name, mode) in
        [("odd", 0o751), ("untyped", 0o600), ("dir", 0o700), ("plain", 0o755), ("dir/file", 0o644)]
    {
        assert_eq!(tree.entry(&format!("/to/{name}")).await.mode, Some(mode), "{name}");
    }
    assert_eq!(tree.entry("/to/dir").await.modified.unwrap().seconds, 1_000_000_000);
    assert_eq!(tree.entry("/to/odd").await.modified.unwrap().seconds, 1_000_000_000);
}

async fn modes_that_were_not_made_on_unix_mean_nothing(tree: Tree) {
    let zip = Zip::default()
        .member(&ZipMember { system: 0, mode: 0o120_700, ..stored("file", "x") })
        .member(&ZipMember { mode: 0, ..stored("silent", "x") });
    unpacked(&tree, zip).await;
    assert_eq!(tree.entry("/to/file").await.mode, Some(0o644));
    assert_eq!(tree.entry("/to/silent").await.mode, Some(0o644));
    assert_eq!(tree.entry("/to/file").await.kind, EntryKind::File);
}

async fn a_link_in_a_zip_becomes_a_link(tree: Tree) {
    let zip = Zip::default().member(&symlink("a/link", "../b/file")).file("b/file", "content");
    unpacked(&tree, zip).await;
    assert_eq!(tree.read_link(&at("/to/a/link")).await.unwrap(), "../b/file");
    assert_eq!(tree.text("/to/a/link").await, "content");
}

async fn a_link_in_a_zip_may_be_compressed(tree: Tree) {
    let link = ZipMember { mode: 0o120_777, ..streamed("link", "good") };
    unpacked(&tree, good_start().member(&link)).await;
    assert_eq!(tree.text("/to/link").await, "content");
}

async fn a_link_in_a_zip_that_leads_out_leaves_nothing(tree: Tree) {
    bad_member(&tree, &symlink("link", "../kept")).await;
    bad_member(&tree, &symlink("a/link", "../../../etc")).await;
    bad_member(&tree, &symlink("link", "/etc/passwd")).await;
    bad_member(&tree, &symlink("link", "")).await;
    bad_member(&tree, &symlink("link", "a\0b")).await;
    bad_member(&tree, &symlink("link/", "")).await;
}

async fn a_link_in_a_zip_whose_target_is_too_long_leaves_nothing(tree: Tree) {
    bad_member(&tree, &symlink("link", &"x".repeat(4097))).await;
    let large = ZipMember { mode: 0o120_777, ..streamed("link", "x".repeat(1 << 20)) };
    bad_member(&tree, &large).await;
}

async fn a_member_beneath_a_link_of_the_zip_leaves_nothing(tree: Tree) {
    let link = good_start().member(&directory("dir/")).member(&symlink("link", "dir"));
    bad(&tree, &link.file("link/file", "x").bytes()).await;
}

async fn a_special_file_in_a_zip_leaves_nothing(tree: Tree) {
    for mode in [0o010_644, 0o020_644, 0o060_644, 0o140_644] {
        bad_member(&tree, &ZipMember { mode, ..stored("special", "") }).await;
    }
    bad_member(&tree, &ZipMember { mode: 0o040_755, ..stored("no slash", "") }).await;
}

async fn a_zip_that_is_none_leaves_nothing(tree: Tree) {
    bad(&tree, &body::pattern(4096)).await;
    bad(&tree, b"").await;
    bad(&tree, b"PK").await;
}

async fn a_zip_behind_something_else_leaves_nothing(tree: Tree) {
    bad(&tree, &[b"#!/bin/sh\n", &*good_start().bytes()].concat()).await;
}

async fn something_behind_a_zip_leaves_nothing(tree: Tree) {
    bad(&tree, &[&*good_start().bytes(), b"\0"].concat()).await;
    bad(&tree, &[good_start().bytes(), good_start().bytes()].concat()).await;
}

async fn something_between_the_members_of_a_zip_leaves_nothing(tree: Tree) {
    let hidden = ZipMember { descriptor: b"hidden".to_vec(), ..stored("x", "x") };
    bad_member(&tree, &hidden).await;
}

async fn a_comment_that_holds_another_end_leaves_nothing(tree: Tree) {
    let [members, directory, mut end] = good_start().parts();
    let comment = Zip::default().bytes();
    end[20] = comment.len() as u8;
    bad(&tree, &[members, directory, end, comment].concat()).await;
}

async fn a_zip_without_its_central_directory_leaves_nothing(tree: Tree) {
    let [members, directory, end] = good_start().parts();
    bad(&tree, &members).await;
    bad(&tree, &[&*members, &end].concat()).await;
    bad(&tree, &[members, directory].concat()).await;
}

async fn a_central_directory_that_tells_otherwise_leaves_nothing(tree: Tree) {
    let otherwise = async |change: fn(&mut ZipMember)| {
        let mut member = deflated("file", "content");
        change(&mut member);
        let message = bad_member(&tree, &member).await;
        assert!(message.contains("central directory"), "{message}");
    };
    otherwise(|member| member.central.name = b"other".to_vec()).await;
    otherwise(|member| member.central.method = 0).await;
    otherwise(|member| member.central.crc ^= 1).await;
    otherwise(|member| member.central.compressed += 1).await;
    otherwise(|member| member.central.size += 1).await;
    otherwise(|member| member.misplaced = 1).await;
}

async fn a_member_that_the_central_directory_leaves_out_leaves_nothing(tree: Tree) {
    let [members, directory, _] = Zip::default().file("a", "1").file("b", "2").parts();
    let half = directory.len() / 2;
    let [_, _, mut end] = Zip::default().file("a", "1").parts();
    end[16..20].copy_from_slice(&(members.len() as u32).to_le_bytes());
    bad(&tree, &[&*members, &directory[..half], &end].concat()).await;
}

async fn a_member_that_only_the_central_directory_knows_leaves_nothing(tree: Tree) {
    let [_, directory, mut end] = Zip::default().file("a", "1").file("a", "1").parts();
    let [members, ..] = Zip::default().file("a", "1").parts();
    end[16..20].copy_from_slice(&(members.len() as u32).to_le_bytes());
    bad(&tree, &[members, directory, end].concat()).await;
}

/// As the bombs that do not need to repeat themselves: two entries for one content.
async fn members_that_overlap_leave_nothing(tree: Tree) {
    let [members, directory, mut end] = Zip::default().file("a", "1").parts();
    end[8..12].copy_from_slice(&[2, 0, 2, 0]);
    end[12..16].copy_from_slice(&(directory.len() as u32 * 2).to_le_bytes());
    bad(&tree, &[&*members, &directory, &directory, &end].concat()).await;
}

async fn an_end_record_that_tells_otherwise_leaves_nothing(tree: Tree) {
    for field in [4, 6, 8, 10, 12, 16, 20] {
        let [members, directory, mut end] = good_start().parts();
        end[field] ^= 1;
        bad(&tree, &[members, directory, end].concat()).await;
    }
    // Only ones mean something only beside a record with the truth.
    let [members, directory, mut end] = good_start().parts();
    end[16..20].fill(0xff);
    bad(&tree, &[members, directory, end].concat()).await;
}

async fn a_member_larger_than_it_says_leaves_nothing(tree: Tree) {
    bad_member(&tree, &deflated("file", "content").tell(|told| told.size -= 1)).await;
    bad_member(&tree, &deflated("file", "content").tell(|told| told.compressed -= 1)).await;
    bad_member(&tree, &stored("file", "content").tell(|told| told.size -= 1)).await;
    let bomb = deflated("file", "\0".repeat(1 << 20)).tell(|told| told.size = 10);
    bad_member(&tree, &bomb).await;
}

async fn a_member_smaller_than_it_says_leaves_nothing(tree: Tree) {
    bad_member(&tree, &deflated("file", "content").tell(|told| told.size += 1)).await;
    bad_member(&tree, &stored("file", "content").tell(|told| told.size += 1)).await;
    // Bytes that no decoder would read.
    let mut hiding = deflated("file", "content").tell(|told| told.compressed += 3);
    hiding.packed.extend_from_slice(b"abc");
    bad_member(&tree, &hiding).await;
}

async fn a_wrong_descriptor_leaves_nothing(tree: Tree) {
    for byte in 4..16 {
        let mut member = streamed("file", "content");
        member.descriptor[byte] ^= 1;
        bad_member(&tree, &member).await;
    }
    bad_member(&tree, &ZipMember { descriptor: Vec::new(), ..streamed("file", "content") }).await;
    let mut told = streamed("file", "content");
    told.local.size = 3;
    bad_member(&tree, &told).await;
}

async fn a_stored_member_that_does_not_say_its_length_is_explained(tree: Tree) {
    let mut member = stored("file", "content").tell(|told| told.flags |= 1 << 3);
    member.descriptor = streamed("file", "content").descriptor;
    (member.local.crc, member.local.compressed, member.local.size) = (0, 0, 0);
    let message = bad_member(&tree, &member).await;
    assert!(message.contains("stored"), "{message}");
}

async fn broken_deflate_leaves_nothing(tree: Tree) {
    let mut member = deflated("file", "content");
    member.packed[0] = 0xff;
    bad_member(&tree, &member).await;
    let mut member = streamed("file", "content");
    member.packed[0] = 0xff;
    bad_member(&tree, &member).await;
}

async fn an_encrypted_member_leaves_nothing(tree: Tree) {
    for flag in [0, 5, 6, 13] {
        bad_member(&tree, &stored("file", "x").tell(|told| told.flags |= 1 << flag)).await;
    }
    let mut member = stored("file", "x");
    member.central.flags |= 1;
    bad_member(&tree, &member).await;
}

async fn an_unknown_method_is_explained(tree: Tree) {
    let message = bad_member(&tree, &stored("file", "x").tell(|told| told.method = 14)).await;
    assert!(message.contains("method 14"), "{message}");
}

async fn a_split_zip_leaves_nothing(tree: Tree) {
    bad(&tree, &[&b"PK\x07\x08"[..], &good_start().bytes()].concat()).await;
    let [members, mut directory, end] = good_start().parts();
    directory[34] = 1;
    bad(&tree, &[members, directory, end].concat()).await;
}

async fn two_members_of_one_name_leave_nothing(tree: Tree) {
    bad(&tree, &good_start().file("good", "other").bytes()).await;
    bad(&tree, &good_start().file("./good", "other").bytes()).await;
    // The first is a file, but the content of the second would be where its link leads.
    bad(&tree, &Zip::default().member(&symlink("a", "b")).file("a", "../../out").bytes()).await;
}

async fn a_file_and_a_directory_of_one_name_in_a_zip_leave_nothing(tree: Tree) {
    bad(&tree, &good_start().file("both", "x").file("both/file", "x").bytes()).await;
    bad(&tree, &good_start().file("both", "x").member(&directory("both/")).bytes()).await;
}

async fn a_directory_with_content_leaves_nothing(tree: Tree) {
    bad_member(&tree, &ZipMember { mode: 0o040_755, ..stored("dir/", "content") }).await;
    bad_member(&tree, &ZipMember { mode: 0o040_755, ..streamed("dir/", "content") }).await;
}

async fn names_that_are_tricks_leave_nothing(tree: Tree) {
    for name in [
        "../out",
        "a/../../out",
        "..",
        "../",
        "/out",
        "/",
        "a\0b",
        "..\\out",
        "a\\b",
        "C:\\out",
        "",
        ".",
        ".sandkeep-tmp-0123456789abcdef",
    ] {
        let message = bad_member(&tree, &stored(name, "")).await;
        assert!(!message.is_empty(), "{name}");
    }
    let long = "x".repeat(256);
    bad_member(&tree, &stored(&long, "")).await;
    bad_member(&tree, &stored(&"x/".repeat(2100), "")).await;
}

async fn extra_fields_that_are_broken_or_twice_leave_nothing(tree: Tree) {
    let with = |field: Vec<u8>| stored("file", "x").tell(move |told| told.extra.clone_from(&field));
    bad_member(&tree, &with(vec![1, 0, 200, 0])).await;
    bad_member(&tree, &with(extra(0x5455, &[1, 0]))).await;
    let zip64 = extra(0x0001, &[0; 16]);
    bad_member(&tree, &with([zip64.clone(), zip64].concat())).await;
    bad_member(&tree, &with(extra(0x0001, &[])).tell(|told| told.size = u32::MAX)).await;
    // What aligns the content is no field.
    unpacked(&tree, Zip::default().member(&with(vec![0; 3]))).await;
}

async fn a_streamed_member_over_the_limit_of_the_tree_leaves_nothing(tree: Tree) {
    let zip = good_start().member(&streamed("bomb", "\0".repeat(1 << 20)));
    let outcome = tree.unpack(&at("/to"), zip.body(), ArchiveFormat::Zip, NO_LIMITS).await;
    assert_eq!(refused(outcome), ErrorKind::FileTooLarge);
    assert!(tree.names("/").await.is_empty());
    unpacked(&tree, good_start().member(&streamed("fits", "\0".repeat(1000)))).await;
}

/// Whichever byte is spoilt: either the archive is refused, or it is one of those that say nothing
/// of what the tree will be but a name, a mode or a time.
async fn every_byte_of_a_zip_may_be_wrong(tree: Tree) {
    let zip =
        || good_start().member(&streamed("dir/streamed", "text")).member(&symlink("l", "good"));
    let archive = zip().bytes();
    for byte in 0..archive.len() {
        let mut spoilt = archive.clone();
        spoilt[byte] ^= 0x41;
        let dir = format!("/{byte}");
        let body = body::whole(spoilt);
        let outcome = tree.unpack(&at(&dir), body, ArchiveFormat::Zip, NO_LIMITS).await;
        match outcome {
            Ok(_) => assert_eq!(tree.names(&dir).await, ["dir", "good", "l"], "{byte}"),
            Err(err) => assert_eq!(err.kind(), ErrorKind::BadArchive, "{byte}: {err}"),
        }
    }
}

//! What archives promise whatever their format, and what compressed ones promise besides.

use std::io::Write as _;

use bytes::Bytes;
use engine::{ArchiveFormat, ArchiveLimits, ErrorKind};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::archive::Tar;
use crate::body;
use crate::promise::promises;
use crate::tree::{Tree, at, gather};
use crate::zip::{Zip, deflated, streamed};

promises! {
    an_archive_of_every_format_is_unpacked needs ArchiveFormats;
    an_archive_of_every_format_may_arrive_in_small_pieces needs ArchiveFormats;
    an_archive_of_every_format_may_hold_nothing needs ArchiveFormats;
    an_archive_that_is_cut_off_leaves_nothing_whatever_its_format needs ArchiveFormats;
    an_archive_of_another_format_leaves_nothing needs ArchiveFormats;
    a_member_that_climbs_out_leaves_nothing_whatever_the_format needs ArchiveFormats;
    an_archive_over_its_limits_leaves_nothing_whatever_its_format needs ArchiveFormats;
    bytes_are_counted_as_they_come_out needs ArchiveFormats;
    a_compressed_archive_may_come_in_several_parts needs ArchiveFormats;
    a_compressed_archive_may_be_padded needs ArchiveFormats;
    something_behind_a_compressed_archive_leaves_nothing needs ArchiveFormats;
    a_wrong_checksum_leaves_nothing_whatever_the_format needs ArchiveFormats;
    a_frame_that_asks_for_too_much_memory_leaves_nothing needs ArchiveFormats;
    a_pack_of_every_format_unpacks_to_the_same_tree needs ArchiveFormats;
    a_pack_of_every_format_keeps_names_that_are_not_utf_8 needs ArchiveFormats;
    a_pack_of_every_format_may_be_of_one_file needs ArchiveFormats;
    a_pack_of_every_format_may_hold_nothing needs ArchiveFormats;
    a_pack_of_every_format_keeps_links_modes_and_times needs ArchiveFormats, Links, Metadata;
    a_pack_of_a_large_file_is_whole_whatever_its_format needs ArchiveFormats;
    a_pack_over_its_limits_is_refused_whatever_its_format needs ArchiveFormats, PackErrors;
    a_pack_may_be_dropped_halfway_whatever_its_format needs ArchiveFormats;
}

const UNLIMITED: ArchiveLimits = ArchiveLimits { bytes: None, entries: None, depth: None };

/// An archive of these files.
fn archive(format: ArchiveFormat, files: &[(&str, &str)]) -> Vec<u8> {
    let tar = || files.iter().fold(Tar::new(), |tar, (name, text)| tar.file(name, text)).bytes();
    match format {
        ArchiveFormat::Tar => tar(),
        ArchiveFormat::TarGz => gzip(&tar()),
        ArchiveFormat::TarZst => zstd(&tar()),
        ArchiveFormat::Zip => {
            let zip = |zip: Zip, (name, text): &(&str, &str)| zip.member(&deflated(name, text));
            files.iter().fold(Zip::default(), zip).bytes()
        }
    }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A frame that asks for a window of so many bits.
fn zstd_within(window: u32, plain: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(window).unwrap();
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

async fn unpack(tree: &Tree, dir: &str, format: ArchiveFormat, archive: Vec<u8>) {
    let outcome = tree.unpack(&at(dir), body::whole(archive), format, UNLIMITED).await;
    outcome.unwrap_or_else(|err| panic!("{format:?}: {err}"));
}

async fn pack(tree: &Tree, path: &str, format: ArchiveFormat) -> Vec<u8> {
    gather(tree.pack(&at(path), format, UNLIMITED).await.unwrap()).await.unwrap()
}

async fn bad(tree: &Tree, format: ArchiveFormat, archive: &[u8]) {
    tree.refuses(archive, format, UNLIMITED, ErrorKind::BadArchive).await;
}

/// What is beneath a directory.
async fn beneath(tree: &Tree, dir: &str) -> Vec<(String, String)> {
    let picture = tree.picture().await;
    let parts = picture.into_iter().filter_map(|(path, shown)| {
        path.strip_prefix(dir).map(str::to_owned).map(|path| (path, shown))
    });
    parts.collect()
}

async fn an_archive_of_every_format_is_unpacked(tree: Tree) {
    for format in ArchiveFormat::ALL {
        let dir = format!("/{format:?}");
        let files = [("file", "content"), ("dir/inner", "more"), ("empty", "")];
        let body = body::whole(archive(*format, &files));
        let answer = tree.unpack(&at(&dir), body, *format, UNLIMITED).await.unwrap();
        let paths = ["file", "dir/inner", "empty"].map(|name| at(&format!("{dir}/{name}")));
        assert_eq!((answer.paths, answer.entries), (paths.to_vec(), 3));
        assert_eq!(tree.text(&format!("{dir}/dir/inner")).await, "more");
        assert_eq!(tree.names(&dir).await, ["dir", "empty", "file"]);
    }
}

async fn an_archive_of_every_format_may_arrive_in_small_pieces(tree: Tree) {
    for format in ArchiveFormat::ALL {
        let text = "x".repeat(3000);
        let archive = archive(*format, &[("one", "first"), ("two", &text)]);
        let pieces: Vec<_> = archive.chunks(1).map(Bytes::copy_from_slice).collect();
        let dir = format!("/{format:?}");
        tree.unpack(&at(&dir), body::pieces(pieces), *format, UNLIMITED).await.unwrap();
        assert_eq!(tree.text(&format!("{dir}/two")).await, text);
    }
}

async fn an_archive_of_every_format_may_hold_nothing(tree: Tree) {
    for format in ArchiveFormat::ALL {
        let dir = format!("/{format:?}");
        unpack(&tree, &dir, *format, archive(*format, &[])).await;
        assert!(tree.names(&dir).await.is_empty(), "{format:?}");
    }
}

async fn an_archive_that_is_cut_off_leaves_nothing_whatever_its_format(tree: Tree) {
    for format in [ArchiveFormat::TarGz, ArchiveFormat::TarZst, ArchiveFormat::Zip] {
        let archive = archive(format, &[("good", "content"), ("cut", "some more content")]);
        for len in 0..archive.len() {
            let body = body::whole(archive[..len].to_vec());
            let outcome = tree.unpack(&at("/to"), body, format, UNLIMITED).await;
            let kind = outcome.err().map(|err| err.kind());
            assert_eq!(kind, Some(ErrorKind::BadArchive), "{format:?} cut to {len}");
        }
        assert!(tree.names("/").await.is_empty(), "{format:?}");
    }
}

async fn an_archive_of_another_format_leaves_nothing(tree: Tree) {
    for said in ArchiveFormat::ALL {
        for sent in ArchiveFormat::ALL.iter().filter(|sent| *sent != said) {
            bad(&tree, *said, &archive(*sent, &[("file", "content")])).await;
        }
    }
}

async fn a_member_that_climbs_out_leaves_nothing_whatever_the_format(tree: Tree) {
    for format in ArchiveFormat::ALL {
        bad(&tree, *format, &archive(*format, &[("good", "x"), ("a/../../out", "x")])).await;
        bad(&tree, *format, &archive(*format, &[("good", "x"), ("/out", "x")])).await;
    }
}

async fn an_archive_over_its_limits_leaves_nothing_whatever_its_format(tree: Tree) {
    for format in ArchiveFormat::ALL {
        let archive = archive(*format, &[("a/one", "12345"), ("two", "12345")]);
        for limits in [
            ArchiveLimits { bytes: Some(9), ..UNLIMITED },
            ArchiveLimits { entries: Some(1), ..UNLIMITED },
            ArchiveLimits { depth: Some(1), ..UNLIMITED },
        ] {
            tree.refuses(&archive, *format, limits, ErrorKind::LimitExceeded).await;
        }
        let enough = ArchiveLimits { bytes: Some(10), entries: Some(2), depth: Some(2) };
        tree.unpack(&at("/to"), body::whole(archive), *format, enough).await.unwrap();
    }
}

/// A bomb: what is sent is a thousandth of what would come out, which nobody says beforehand.
async fn bytes_are_counted_as_they_come_out(tree: Tree) {
    let limits = ArchiveLimits { bytes: Some(1 << 20), ..UNLIMITED };
    let text = "\0".repeat(8 << 20);
    let gz = archive(ArchiveFormat::TarGz, &[("bomb", &text)]);
    let zst = archive(ArchiveFormat::TarZst, &[("bomb", &text)]);
    let zip = Zip::default().member(&streamed("bomb", &text)).bytes();
    for (format, archive) in
        [(ArchiveFormat::TarGz, gz), (ArchiveFormat::TarZst, zst), (ArchiveFormat::Zip, zip)]
    {
        assert!(archive.len() < 64 << 10, "{format:?} has {}", archive.len());
        tree.refuses(&archive, format, limits, ErrorKind::LimitExceeded).await;
    }
}

async fn a_compressed_archive_may_come_in_several_parts(tree: Tree) {
    let tar = Tar::new().file("one", "first").file("two", &"x".repeat(3000)).bytes();
    let (begin, rest) = tar.split_at(700);
    let gz = [gzip(begin), gzip(b""), gzip(rest)].concat();
    unpack(&tree, "/gz", ArchiveFormat::TarGz, gz).await;
    assert_eq!(tree.text("/gz/two").await, "x".repeat(3000));
    // A frame that is to be skipped may stand anywhere.
    let skipped = b"\x50\x2a\x4d\x18\x04\0\0\0skip";
    let zst = [zstd(begin), skipped.to_vec(), zstd(b""), zstd(rest)].concat();
    unpack(&tree, "/zst", ArchiveFormat::TarZst, zst).await;
    assert_eq!(tree.text("/zst/two").await, "x".repeat(3000));
}

/// As `tar` does it, to a multiple of 10 KiB and more.
async fn a_compressed_archive_may_be_padded(tree: Tree) {
    let mut tar = Tar::new().file("file", "content").bytes();
    tar.resize(100 << 10, 0);
    unpack(&tree, "/gz", ArchiveFormat::TarGz, gzip(&tar)).await;
    unpack(&tree, "/zst", ArchiveFormat::TarZst, zstd(&tar)).await;
}

async fn something_behind_a_compressed_archive_leaves_nothing(tree: Tree) {
    let tar = Tar::new().file("file", "content").bytes();
    let behind = [&*tar, b"something"].concat();
    let (gz, zst) = (ArchiveFormat::TarGz, ArchiveFormat::TarZst);
    bad(&tree, gz, &[gzip(&tar), b"junk".to_vec()].concat()).await;
    bad(&tree, gz, &gzip(&behind)).await;
    bad(&tree, gz, &[gzip(&tar), gzip(&tar)].concat()).await;
    bad(&tree, gz, &gzip(&[&*tar, &vec![0; 2 << 20]].concat())).await;
    bad(&tree, zst, &[zstd(&tar), b"junk".to_vec()].concat()).await;
    bad(&tree, zst, &zstd(&behind)).await;
    bad(&tree, zst, &[zstd(&tar), zstd(&tar)].concat()).await;
    bad(&tree, zst, &zstd(&[&*tar, &vec![0; 2 << 20]].concat())).await;
}

async fn a_wrong_checksum_leaves_nothing_whatever_the_format(tree: Tree) {
    let files = [("file", "content")];
    let mut gz = archive(ArchiveFormat::TarGz, &files);
    let crc = gz.len() - 8;
    gz[crc] ^= 1;
    bad(&tree, ArchiveFormat::TarGz, &gz).await;
    let mut zst = archive(ArchiveFormat::TarZst, &files);
    let checksum = zst.len() - 1;
    zst[checksum] ^= 1;
    bad(&tree, ArchiveFormat::TarZst, &zst).await;
    let spoilt = deflated("file", "content").tell(|told| told.crc ^= 1);
    bad(&tree, ArchiveFormat::Zip, &Zip::default().member(&spoilt).bytes()).await;
}

async fn a_frame_that_asks_for_too_much_memory_leaves_nothing(tree: Tree) {
    let tar = Tar::new().file("file", "content").bytes();
    bad(&tree, ArchiveFormat::TarZst, &zstd_within(24, &tar)).await;
    unpack(&tree, "/zst", ArchiveFormat::TarZst, zstd_within(23, &tar)).await;
    assert_eq!(tree.text("/zst/file").await, "content");
}

async fn a_pack_of_every_format_unpacks_to_the_same_tree(tree: Tree) {
    for name in ["file", "sub/file", "sub/sub/ä b\n", "sub/-", "zero"] {
        tree.put(&format!("/from/{name}"), name.repeat(100)).await;
    }
    tree.put("/from/zero", "").await;
    tree.put("/from/large", body::pattern(300 << 10)).await;
    tree.make_dir("/from/empty").await;
    let before = beneath(&tree, "/from").await;
    assert_eq!(before.len(), 10);
    for format in ArchiveFormat::ALL {
        let dir = format!("/{format:?}");
        unpack(&tree, &dir, *format, pack(&tree, "/from", *format).await).await;
        assert!(beneath(&tree, &dir).await == before, "{format:?}");
    }
}

/// Long ones too, for which a header of tar has no room.
async fn a_pack_of_every_format_keeps_names_that_are_not_utf_8(tree: Tree) {
    let long = format!("\u{10fe80}{}", "x".repeat(150));
    tree.put(&format!("/from/{long}"), "long").await;
    tree.put("/from/a\u{10feff}", "short").await;
    let before = beneath(&tree, "/from").await;
    for format in ArchiveFormat::ALL {
        let dir = format!("/{format:?}");
        unpack(&tree, &dir, *format, pack(&tree, "/from", *format).await).await;
        assert_eq!(beneath(&tree, &dir).await, before, "{format:?}");
    }
}

async fn a_pack_of_every_format_may_be_of_one_file(tree: Tree) {
    tree.put("/dir/file", "content").await;
    for format in ArchiveFormat::ALL {
        let dir = format!("/{format:?}");
        unpack(&tree, &dir, *format, pack(&tree, "/dir/file", *format).await).await;
        assert_eq!(tree.names(&dir).await, ["file"]);
        assert_eq!(tree.text(&format!("{dir}/file")).await, "content");
    }
}

async fn a_pack_of_every_format_may_hold_nothing(tree: Tree) {
    tree.make_dir("/from").await;
    for format in ArchiveFormat::ALL {
        let dir = format!("/{format:?}");
        unpack(&tree, &dir, *format, pack(&tree, "/from", *format).await).await;
        assert!(tree.names(&dir).await.is_empty(), "{format:?}");
    }
}

async fn a_pack_of_every_format_keeps_links_modes_and_times(tree: Tree) {
    let modified = engine::UnixTime { seconds: 1_234_567_891, nanoseconds: 0 };
    for (name, mode) in [("file", 0o751), ("dir/plain", 0o644), ("dir", 0o711)] {
        if name != "dir" {
            tree.put(&format!("/from/{name}"), name.to_owned()).await;
        }
        let change = engine::MetadataChange { mode: Some(mode), modified: Some(modified) };
        tree.set_metadata(&at(&format!("/from/{name}")), change).await.unwrap();
    }
    tree.link("/from/dir/link", "../file").await;
    tree.set_metadata(
        &at("/from/dir"),
        engine::MetadataChange { mode: None, modified: Some(modified) },
    )
    .await
    .unwrap();
    for format in ArchiveFormat::ALL {
        let dir = format!("/{format:?}");
        unpack(&tree, &dir, *format, pack(&tree, "/from", *format).await).await;
        for (name, mode) in [("file", 0o751), ("dir/plain", 0o644), ("dir", 0o711)] {
            let entry = tree.entry(&format!("{dir}/{name}")).await;
            assert_eq!((entry.mode, entry.modified), (Some(mode), Some(modified)), "{dir}/{name}");
        }
        let link = at(&format!("{dir}/dir/link"));
        assert_eq!(tree.read_link(&link).await.unwrap(), "../file", "{format:?}");
        assert_eq!(tree.text(link.as_str()).await, "file");
    }
}

async fn a_pack_of_a_large_file_is_whole_whatever_its_format(tree: Tree) {
    // Half of it can be compressed, and half cannot.
    let mut bytes = vec![b'x'; 3 << 20];
    bytes.extend_from_slice(&body::pattern((3 << 20) + 5));
    tree.put("/dir/text first", bytes.clone()).await;
    bytes.reverse();
    tree.put("/dir/text last", bytes.clone()).await;
    for format in ArchiveFormat::ALL {
        let dir = format!("/{format:?}");
        unpack(&tree, &dir, *format, pack(&tree, "/dir", *format).await).await;
        assert!(tree.content(&format!("{dir}/text last")).await == bytes, "{format:?}");
        bytes.reverse();
        assert!(tree.content(&format!("{dir}/text first")).await == bytes, "{format:?}");
        bytes.reverse();
    }
}

async fn a_pack_over_its_limits_is_refused_whatever_its_format(tree: Tree) {
    tree.put("/dir/file", "12345").await;
    let limits = ArchiveLimits { bytes: Some(4), ..UNLIMITED };
    for format in ArchiveFormat::ALL {
        let outcome = tree.pack(&at("/dir"), *format, limits).await;
        let kind = outcome.err().map(|err| err.kind());
        assert_eq!(kind, Some(ErrorKind::LimitExceeded), "{format:?}");
    }
}

async fn a_pack_may_be_dropped_halfway_whatever_its_format(tree: Tree) {
    tree.put("/dir/large", body::pattern(8 << 20)).await;
    for format in ArchiveFormat::ALL {
        let mut archive = tree.pack(&at("/dir"), *format, UNLIMITED).await.unwrap();
        futures::StreamExt::next(&mut archive).await.unwrap().unwrap();
    }
    tree.put("/dir/large", "new").await;
    assert_eq!(tree.text("/dir/large").await, "new");
}

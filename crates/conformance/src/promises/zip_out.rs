//! What is in a zip archive that was packed, byte by byte.

use engine::{ArchiveFormat, ArchiveLimits};

use crate::body::pattern;
use crate::promise::promises;
use crate::tree::{Tree, at, gather};
use crate::zip::crc;

promises! {
    a_zip_tells_of_small_files_before_their_content needs ArchiveFormats;
    a_zip_stores_what_cannot_be_compressed needs ArchiveFormats;
    a_zip_tells_of_large_files_behind_their_content needs ArchiveFormats;
    a_zip_tells_of_every_member_in_its_central_directory needs ArchiveFormats;
}

async fn packed(tree: &Tree, path: &str) -> Vec<u8> {
    let archive = tree.pack(&at(path), ArchiveFormat::Zip, ArchiveLimits::default()).await;
    gather(archive.unwrap()).await.unwrap()
}

fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes[at..at + len].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

async fn a_zip_tells_of_small_files_before_their_content(tree: Tree) {
    let text = "x".repeat(1000);
    tree.put("/dir/file", text.clone()).await;
    let archive = packed(&tree, "/dir").await;
    assert_eq!(&archive[..4], b"PK\x03\x04");
    // UTF-8, no descriptor; deflate; the checksum and the size.
    assert_eq!(number(&archive, 6, 2), 1 << 11);
    assert_eq!(number(&archive, 8, 2), 8);
    assert_eq!(number(&archive, 14, 4), u64::from(crc(text.as_bytes())));
    assert_eq!(number(&archive, 22, 4), 1000);
    assert_eq!(&archive[30..34], b"file");
}

async fn a_zip_stores_what_cannot_be_compressed(tree: Tree) {
    tree.put("/dir/file", "content").await;
    let archive = packed(&tree, "/dir").await;
    assert_eq!(number(&archive, 8, 2), 0);
    let extra = number(&archive, 28, 2) as usize;
    assert_eq!(&archive[34 + extra..41 + extra], b"content");
}

async fn a_zip_tells_of_large_files_behind_their_content(tree: Tree) {
    let bytes = pattern(200 << 10);
    tree.put("/dir/file", bytes.clone()).await;
    let archive = packed(&tree, "/dir").await;
    assert_eq!(number(&archive, 6, 2), 1 << 11 | 1 << 3);
    assert_eq!(number(&archive, 14, 4), 0);
    let directory = number(&archive, archive.len() - 6, 4) as usize;
    let descriptor = &archive[directory - 16..directory];
    assert_eq!(&descriptor[..4], b"PK\x07\x08");
    assert_eq!(number(descriptor, 4, 4), u64::from(crc(&bytes)));
    assert_eq!(number(descriptor, 12, 4), 200 << 10);
}

async fn a_zip_tells_of_every_member_in_its_central_directory(tree: Tree) {
    tree.put("/dir/a", "x").await;
    tree.put("/dir/b/c", "x").await;
    let archive = packed(&tree, "/dir").await;
    let end = archive.len() - 22;
    assert_eq!(&archive[end..end + 4], b"PK\x05\x06");
    assert_eq!(number(&archive, end + 8, 2), 3);
    let mut at = number(&archive, end + 16, 4) as usize;
    let mut names = Vec::new();
    while at < end {
        let (name, extra) = (number(&archive, at + 28, 2), number(&archive, at + 30, 2));
        let name_end = at + 46 + name as usize;
        names.push(String::from_utf8(archive[at + 46..name_end].to_vec()).unwrap());
        let local = number(&archive, at + 42, 4) as usize;
        assert_eq!(&archive[local..local + 4], b"PK\x03\x04");
        at = name_end + extra as usize;
    }
    assert_eq!(names, ["a", "b/", "b/c"]);
}

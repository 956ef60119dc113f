//! What an edit leaves as it was: encoding, marks, line ends, mode, and bytes that are no text.

use std::sync::Arc;

use sandkeep_engine::{
    Durability, ErrorKind, ExpectedCount, FileSystem, HostFs, HostOptions, Limits, Links,
    MetadataChange, Mounts, edit,
};

use super::{all_of, in_encoding, instead, outcome, refused};
use crate::contents::{at, read, write};
use crate::fixture::{memory, refusal, stored};

#[tokio::test]
async fn bytes_that_are_no_text_stay() {
    let content = &b"\xff\xfd caf\xe9 \xed\xa0\x80\nold \xf0\x9f\n"[..];
    let expected = &b"\xff\xfd caf\xe9 \xed\xa0\x80\nnew \xf0\x9f\n"[..];
    assert_eq!(outcome(content, instead("old", "new")).await, expected);
}

#[tokio::test]
async fn a_byte_order_mark_stays() {
    let utf_8 = &b"\xef\xbb\xbfone"[..];
    assert_eq!(outcome(utf_8, instead("one", "é")).await, &b"\xef\xbb\xbf\xc3\xa9"[..]);
    let little = &b"\xff\xfeo\0n\0e\0"[..];
    assert_eq!(outcome(little, instead("one", "é")).await, &b"\xff\xfe\xe9\0"[..]);
    let big = &b"\xfe\xff\0o\0n\0e"[..];
    assert_eq!(outcome(big, instead("one", "😀")).await, &b"\xfe\xff\xd8\x3d\xde\x00"[..]);
}

#[tokio::test]
async fn halves_of_pairs_and_odd_bytes_of_utf_16_stay() {
    let content = &b"\xff\xfe\x3d\xd8a\0\x00\xdeb\0\x3d\xd8\x00\xde!"[..];
    let expected = &b"\xff\xfe\x3d\xd8X\0\x00\xdeb\0\x3d\xd8\x00\xde!"[..];
    assert_eq!(outcome(content, instead("a", "X")).await, expected);
    // A letter of two units is not found in the second of one and the first of the next.
    let told = refused(&b"\xff\xfe\x61\x00\x62\x00"[..], instead("\u{6200}", "x")).await;
    assert!(told.starts_with("precondition_failed"), "{told}");
}

#[tokio::test]
async fn other_encodings_are_kept_when_they_are_named() {
    let wish = in_encoding("latin1", instead("é", "è"));
    assert_eq!(outcome(&b"caf\xe9 \x81"[..], wish).await, &b"caf\xe8 \x81"[..]);
    let wish = in_encoding("utf-16le", instead("b", "é"));
    assert_eq!(outcome(&b"a\0b\0"[..], wish).await, &b"a\0\xe9\0"[..]);
    let wish = in_encoding("shift_jis", instead("本", "日"));
    assert_eq!(outcome(&b"\x93\xfa\x96\x7b"[..], wish).await, &b"\x93\xfa\x93\xfa"[..]);
    let wish = in_encoding("latin1", instead("a", "10 ₪"));
    let words = "invalid_argument: the letter `₪` at offset 3 cannot be written in windows-1252";
    assert_eq!(refused("a", wish).await, words);
    let words = "unsupported: files in ISO-2022-JP cannot be edited";
    assert_eq!(refused("a", in_encoding("iso-2022-jp", instead("a", "b"))).await, words);
}

#[tokio::test]
async fn a_letter_is_not_found_within_another() {
    // The second byte of 表 (0x95 0x5C) is a backslash, that of ソ (0x83 0x5C) too.
    let backslash = |count| in_encoding("shift_jis", all_of([("\\", "/", count)]));
    let content = &b"\x95\x5c\x5c\x83\x5c\x5c"[..];
    let expected = &b"\x95\x5c/\x83\x5c/"[..];
    assert_eq!(outcome(content, backslash(ExpectedCount::Exactly(2))).await, expected);
    // A lead byte without its second is no text; what is behind it is.
    let broken = &b"\x81\x0a\x5c\xff\x5c\x81"[..];
    let expected = &b"\x81\x0a/\xff/\x81"[..];
    assert_eq!(outcome(broken, backslash(ExpectedCount::All)).await, expected);
    // 0xA1 0xA1 is one letter of EUC-KR; its neighbours' halves are not.
    let wish = in_encoding("euc-kr", all_of([("\u{3000}", "_", ExpectedCount::All)]));
    assert_eq!(outcome(&b"\xb0\xa1\xa1\xa1\xa1\xa2"[..], wish).await, &b"\xb0\xa1_\xa1\xa2"[..]);
    // Four bytes of GB 18030, of which the second and the fourth are digits.
    let wish = in_encoding("gb18030", all_of([("0", "o", ExpectedCount::Exactly(1))]));
    assert_eq!(outcome(&b"\x81\x30\x81\x300"[..], wish).await, &b"\x81\x30\x81\x30o"[..]);
}

#[tokio::test]
async fn lines_end_as_they_did() {
    let wish = || instead("b\nc", "x\ny\nz");
    assert_eq!(outcome("a\r\nb\r\nc\r\n", wish()).await, "a\r\nx\r\ny\r\nz\r\n");
    assert_eq!(outcome("a\nb\nc\n", wish()).await, "a\nx\ny\nz\n");
    assert_eq!(outcome("a\r\nb\nc\r\n", wish()).await, "a\r\nx\ny\nz\r\n");
    assert_eq!(outcome("a\nb\r\nc\n", wish()).await, "a\nx\r\ny\r\nz\n");
    assert_eq!(outcome("a\r\nb", instead("b", "b\nc")).await, "a\r\nb\r\nc");
    assert_eq!(outcome("b", instead("b", "b\nc")).await, "b\nc");
    let joined = all_of([("\n", " ", ExpectedCount::Exactly(3))]);
    assert_eq!(outcome("a\r\nb\n\r\n", joined).await, "a b  ");
}

#[tokio::test]
async fn an_end_of_a_line_that_is_given_whole_means_itself() {
    assert_eq!(outcome("a\rb\n", instead("a\rb", "c")).await, "c\n");
    let both = all_of([("b\r\n", "c\r\n", ExpectedCount::Exactly(1))]);
    assert_eq!(outcome("b\nb\r\n", both).await, "b\nc\r\n");
}

#[tokio::test]
async fn a_missing_end_of_the_last_line_stays_missing() {
    assert_eq!(outcome("a\nb", instead("b", "c")).await, "a\nc");
    assert_eq!(outcome("a\nb\n", instead("b", "c")).await, "a\nc\n");
}

#[tokio::test]
async fn what_is_binary_is_refused() {
    let words = "invalid_argument: the file is no text: it is binary";
    assert_eq!(refused(&b"a\0b"[..], instead("a", "b")).await, words);
    let mut late = b"a".repeat(8 << 10);
    late.extend(b"\0old");
    let expected = [&b"a".repeat(8 << 10)[..], b"\0new"].concat();
    assert_eq!(outcome(late, instead("old", "new")).await, expected);
}

#[tokio::test]
async fn the_mode_stays_and_links_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let options = HostOptions {
        limits: Limits::default(),
        durability: Durability::Relaxed,
        mounts: Mounts::Stay,
        staging: Vec::new(),
    };
    let host = HostFs::open(dir.path(), options).unwrap();
    let trees: [Arc<dyn FileSystem>; 3] =
        [Arc::new(memory().await), Arc::new(stored().await), Arc::new(host)];
    for files in trees {
        write(&*files, "/dir/f", "old").await;
        let change = MetadataChange { mode: Some(0o751), modified: None };
        files.set_metadata(&at("/dir/f"), change).await.unwrap();
        files.symlink(&at("/link"), "dir/f").await.unwrap();
        let edited = edit(&*files, &at("/link"), instead("old", "new")).await.unwrap();
        assert_eq!(edited.entry.mode, Some(0o751));
        assert_eq!(read(&*files, &at("/dir/f")).await, "new");
        assert_eq!(files.read_link(&at("/link")).await.unwrap(), "dir/f");
        let there = files.stat(&at("/dir/f"), Links::Keep).await.unwrap();
        assert_eq!(edited.entry.version, there.version);
        let missing = refusal(edit(&*files, &at("/none"), instead("a", "b"))).await;
        assert_eq!(missing, ErrorKind::NotFound);
        assert_eq!(
            refusal(edit(&*files, &at("/dir"), instead("a", "b"))).await,
            ErrorKind::IsADirectory
        );
    }
}

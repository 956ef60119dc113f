//! Text and lines in files.

use proptest::prelude::*;
use sandkeep_engine::{Encoding, ErrorKind, Files, Misfit};

use crate::fixture::files;

async fn holding(bytes: &'static [u8]) -> Files {
    let files = files().await;
    files.write("f", bytes).await.unwrap();
    files
}

async fn read(bytes: &'static [u8], encoding: &str, misfit: Misfit) -> String {
    let encoding = Encoding::named(encoding).unwrap();
    holding(bytes).await.read_text_in("f", encoding, misfit).await.unwrap()
}

async fn refused(bytes: &'static [u8], encoding: &str) -> String {
    let encoding = Encoding::named(encoding).unwrap();
    let err = holding(bytes).await.read_text_in("f", encoding, Misfit::Refuse).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidArgument);
    err.to_string()
}

async fn written(text: &str, encoding: &str, misfit: Misfit) -> Vec<u8> {
    let files = files().await;
    let encoding = Encoding::named(encoding).unwrap();
    files.write_text_in("f", text, encoding, misfit).await.unwrap();
    files.read("f").await.unwrap().to_vec()
}

#[tokio::test]
async fn text_is_utf_8_unless_something_else_is_said() {
    let files = files().await;
    files.write_text("f", "héllo").await.unwrap();
    assert_eq!(files.read("f").await.unwrap(), "héllo".as_bytes());
    assert_eq!(files.read_text("f").await.unwrap(), "héllo");
}

#[tokio::test]
async fn text_is_read_in_the_encoding_that_is_named() {
    assert_eq!(read(b"caf\xe9", "iso-8859-1", Misfit::Refuse).await, "café");
    assert_eq!(read(b"h\0i\0", "utf-16le", Misfit::Refuse).await, "hi");
    assert_eq!(read(b"\0h\0i", "utf-16be", Misfit::Refuse).await, "hi");
    assert_eq!(read(b"\x93\xfa\x96\x7b", "shift_jis", Misfit::Refuse).await, "日本");
    assert_eq!(read(b"\xc4\xe3", "gbk", Misfit::Refuse).await, "你");
}

#[tokio::test]
async fn text_is_written_in_the_encoding_that_is_named() {
    assert_eq!(written("café", "latin1", Misfit::Refuse).await, b"caf\xe9");
    assert_eq!(written("hi", "utf-16le", Misfit::Refuse).await, b"h\0i\0");
    assert_eq!(written("😀", "utf-16be", Misfit::Refuse).await, b"\xd8\x3d\xde\x00");
    assert_eq!(written("日本", "shift_jis", Misfit::Refuse).await, b"\x93\xfa\x96\x7b");
}

#[tokio::test]
async fn a_byte_order_mark_of_the_encoding_is_no_text_and_never_written() {
    assert_eq!(read(b"\xef\xbb\xbfhi", "utf-8", Misfit::Refuse).await, "hi");
    assert_eq!(read(b"\xff\xfeh\0", "utf-16le", Misfit::Refuse).await, "h");
    assert_eq!(read(b"\xfe\xff\0h", "utf-16be", Misfit::Replace).await, "h");
    assert_eq!(written("hi", "utf-8", Misfit::Refuse).await, b"hi");
}

#[tokio::test]
async fn a_byte_order_mark_of_another_encoding_changes_nothing() {
    assert_eq!(read(b"\xef\xbb\xbfhi", "latin1", Misfit::Refuse).await, "ï»¿hi");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused_with_their_offset() {
    let words = "the bytes at offset 4 are no text in UTF-8: /f";
    assert_eq!(refused(b"abcd\xffxyz", "utf-8").await, words);
    assert_eq!(refused(b"\xef\xbb\xbfa\xff", "utf-8").await, words);
    assert_eq!(refused(b"abcd\xe2\x82", "utf-8").await, words);
    assert_eq!(refused(b"abcd\xe2\x82xyz", "utf-8").await, words);
    let words = "the bytes at offset 2 are no text in UTF-16LE: /f";
    assert_eq!(refused(b"h\0\x00\xd8i\0", "utf-16le").await, words);
    assert_eq!(refused(b"h\0i", "utf-16le").await, words);
    let words = "the bytes at offset 1 are no text in Shift_JIS: /f";
    assert_eq!(refused(b"a\x81\x20b", "shift_jis").await, words);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced_on_request() {
    assert_eq!(read(b"ab\xffcd\xe2\x82", "utf-8", Misfit::Replace).await, "ab\u{fffd}cd\u{fffd}");
}

#[tokio::test]
async fn letters_that_an_encoding_lacks_are_refused_with_their_offset() {
    let files = files().await;
    let latin = Encoding::WINDOWS_1252;
    let err = files.write_text_in("f", "aé日", latin, Misfit::Refuse).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidArgument);
    assert_eq!(
        err.to_string(),
        "the letter `日` at offset 3 cannot be written in windows-1252: /f"
    );
    assert!(!files.exists("f").await.unwrap());
}

#[tokio::test]
async fn letters_that_an_encoding_lacks_are_replaced_on_request() {
    assert_eq!(written("a日b日", "latin1", Misfit::Replace).await, b"a?b?");
    // The question mark is ASCII, so an encoding with states must leave the state of kanji for it.
    let bytes = written("日😀本", "iso-2022-jp", Misfit::Replace).await;
    assert_eq!(bytes, b"\x1b$BF|\x1b(B?\x1b$BK\\\x1b(B");
}

#[tokio::test]
async fn an_encoding_that_nobody_knows_or_should_use_is_refused() {
    assert_eq!(Encoding::named("klingon").unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(Encoding::named("iso-2022-kr").is_err());
}

#[tokio::test]
async fn lines_end_with_a_newline_or_with_return_and_newline() {
    let files = holding(b"one\ntwo\r\nth\rree").await;
    assert_eq!(files.read_lines("f").await.unwrap(), ["one", "two", "th\rree"]);
}

#[tokio::test]
async fn an_end_of_a_line_at_the_end_begins_no_further_line() {
    assert_eq!(holding(b"one\n").await.read_lines("f").await.unwrap(), ["one"]);
    assert_eq!(holding(b"one\n\n").await.read_lines("f").await.unwrap(), ["one", ""]);
    assert_eq!(holding(b"").await.read_lines("f").await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn every_line_is_written_with_its_end() {
    let files = files().await;
    files.write_lines("f", ["one", "", "two"]).await.unwrap();
    assert_eq!(files.read("f").await.unwrap(), "one\n\ntwo\n");
    files.write_lines("f", [""; 0]).await.unwrap();
    assert_eq!(files.read("f").await.unwrap(), "");
}

#[tokio::test]
async fn a_line_that_would_be_read_as_another_is_refused() {
    let files = files().await;
    let err = files.write_lines("f", ["fine", "a\nb"]).await.unwrap_err();
    assert_eq!(err.to_string(), "line 2 holds the end of a line: /f");
    assert!(files.write_lines("f", ["a\r"]).await.is_err());
    assert!(!files.exists("f").await.unwrap());
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// Texts that do not begin with a byte order mark, which is not read as text.
fn texts() -> impl Strategy<Value = String> {
    any::<String>().prop_filter("a mark", |text| !text.starts_with('\u{feff}'))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn text_comes_back_in_every_unicode_encoding(text in texts(), which in 0..3_usize) {
        let encoding = [Encoding::UTF_8, Encoding::UTF_16LE, Encoding::UTF_16BE][which];
        let read = block_on(async {
            let files = files().await;
            files.write_text_in("f", &text, encoding, Misfit::Refuse).await.unwrap();
            files.read_text_in("f", encoding, Misfit::Refuse).await.unwrap()
        });
        prop_assert_eq!(read, text);
    }

    #[test]
    fn lines_come_back(lines in proptest::collection::vec("[^\r\n\u{feff}]{0,8}", 0..8)) {
        let read = block_on(async {
            let files = files().await;
            files.write_lines("f", &lines).await.unwrap();
            files.read_lines("f").await.unwrap()
        });
        prop_assert_eq!(read, lines);
    }

    #[test]
    fn bytes_are_read_as_the_standard_library_reads_them(
        bytes in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let read = block_on(async {
            let files = files().await;
            files.write("f", bytes.clone()).await.unwrap();
            files.read_text("f").await.map_err(|err| err.message().to_owned())
        });
        let unmarked = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let offset = |at: usize| at + bytes.len() - unmarked.len();
        let expected = str::from_utf8(unmarked).map(str::to_owned).map_err(|err| {
            format!("the bytes at offset {} are no text in UTF-8", offset(err.valid_up_to()))
        });
        prop_assert_eq!(read, expected);
    }
}

//! How much an edit may take, of room and of time.

use std::time::{Duration, Instant};

use sandkeep_engine::{Edit, EditLimits, ExpectedCount};

use super::{all_of, edited, instead, outcome, refused};

fn within(file: u64, wish: Edit) -> Edit {
    Edit { limits: EditLimits { file, ..EditLimits::default() }, ..wish }
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_edited() {
    assert_eq!(outcome("0123456789", within(10, instead("9", "x"))).await, "012345678x");
    let words = "limit_exceeded: files of more than 10 bytes are not edited";
    assert_eq!(refused("0123456789a", within(10, instead("9", "x"))).await, words);
    assert_eq!(refused("0123456789", within(10, instead("9", "xx"))).await, words);
}

#[tokio::test]
async fn a_file_does_not_grow_without_end() {
    let grow = ("a", &*"a".repeat(1000), ExpectedCount::All);
    let told = refused("a".repeat(1000), within(1 << 20, all_of([grow, grow, grow, grow]))).await;
    let words = "the file would be larger than files may be to be edited";
    assert_eq!(told, format!("limit_exceeded: replacement 2: {words}"));
}

#[tokio::test]
async fn one_edit_has_so_many_replacements_and_no_more() {
    let same = |count| all_of(std::iter::repeat_n(("a", "a", ExpectedCount::All), count));
    assert_eq!(outcome("a", same(EditLimits::MOST_REPLACEMENTS)).await, "a");
    let told = refused("a", same(EditLimits::MOST_REPLACEMENTS + 1)).await;
    assert_eq!(told, "limit_exceeded: 1001 replacements are more than the 1000 of one edit");
}

#[tokio::test]
async fn lines_that_are_all_alike_take_no_long_time() {
    let began = Instant::now();
    let content = "a\n".repeat(2 << 20);
    let all = ExpectedCount::All;
    let (_, all_lines) = edited(content.clone(), all_of([("a", "b", all)])).await.unwrap();
    assert_eq!((all_lines.replaced, all_lines.is_cut), (vec![2 << 20], true));
    let whole = "b\na\n".repeat(2 << 18);
    let (old, new) = (&content[..whole.len()], &*whole);
    let (_, one) = edited(content.clone(), all_of([(old, new, all)])).await.unwrap();
    assert_eq!(one.replaced, [2]);
    refused(content, instead(&"a\n".repeat(3 << 20), "x")).await;
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_line_without_an_end_takes_no_long_time() {
    let began = Instant::now();
    let content = "ab".repeat(2 << 20);
    let (_, edited) = edited(content, all_of([("a", "\n", ExpectedCount::All)])).await.unwrap();
    assert_eq!(edited.replaced, [2 << 20]);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

//! Parts of files.

use engine::{ErrorKind, Span};

use crate::body::pattern;
use crate::promise::promises;
use crate::tree::{Tree, at, refused};

promises! {
    a_span_between_two_offsets_is_read;
    a_span_that_ends_behind_the_file_is_cut_there;
    a_span_from_an_offset_goes_to_the_end;
    a_span_of_the_last_bytes_is_read;
    a_span_of_more_last_bytes_than_there_are_is_the_file;
    a_span_of_one_byte_is_read;
    a_span_tells_its_range_and_the_length_of_the_file;
    a_span_in_the_middle_of_a_large_file_is_read;
    a_span_that_starts_at_the_end_is_not_satisfiable;
    a_span_that_starts_behind_the_end_is_not_satisfiable;
    a_span_of_no_last_bytes_is_not_satisfiable;
    a_span_of_nothing_within_the_file_is_empty;
    a_span_that_ends_before_it_starts_is_an_invalid_argument;
    an_empty_file_satisfies_the_whole_and_no_other_span;
    a_span_of_a_missing_file_is_not_found;
    a_span_of_a_directory_is_refused;
}

async fn digits(tree: &Tree, span: Span) -> engine::Result<String> {
    tree.put("/file", "0123456789").await;
    tree.part("/file", span).await.map(|bytes| String::from_utf8(bytes).unwrap())
}

async fn a_span_between_two_offsets_is_read(tree: Tree) {
    assert_eq!(digits(&tree, Span::Between(2..5)).await.unwrap(), "234");
}

async fn a_span_that_ends_behind_the_file_is_cut_there(tree: Tree) {
    assert_eq!(digits(&tree, Span::Between(8..1000)).await.unwrap(), "89");
    assert_eq!(digits(&tree, Span::Between(8..u64::MAX)).await.unwrap(), "89");
}

async fn a_span_from_an_offset_goes_to_the_end(tree: Tree) {
    assert_eq!(digits(&tree, Span::From(7)).await.unwrap(), "789");
    assert_eq!(digits(&tree, Span::From(0)).await.unwrap(), "0123456789");
}

async fn a_span_of_the_last_bytes_is_read(tree: Tree) {
    assert_eq!(digits(&tree, Span::Last(4)).await.unwrap(), "6789");
}

async fn a_span_of_more_last_bytes_than_there_are_is_the_file(tree: Tree) {
    assert_eq!(digits(&tree, Span::Last(11)).await.unwrap(), "0123456789");
    assert_eq!(digits(&tree, Span::Last(u64::MAX)).await.unwrap(), "0123456789");
}

async fn a_span_of_one_byte_is_read(tree: Tree) {
    assert_eq!(digits(&tree, Span::Between(0..1)).await.unwrap(), "0");
    assert_eq!(digits(&tree, Span::Between(9..10)).await.unwrap(), "9");
}

async fn a_span_tells_its_range_and_the_length_of_the_file(tree: Tree) {
    tree.put("/file", "0123456789").await;
    let content = tree.read(&at("/file"), Span::Between(4..400)).await.unwrap();
    assert_eq!((content.range, content.entry.size), (4..10, 10));
}

async fn a_span_in_the_middle_of_a_large_file_is_read(tree: Tree) {
    let bytes = pattern(4 << 20);
    tree.put("/file", bytes.clone()).await;
    let part = tree.part("/file", Span::Between(1_000_001..3_000_003)).await.unwrap();
    assert!(part == bytes[1_000_001..3_000_003]);
}

async fn a_span_that_starts_at_the_end_is_not_satisfiable(tree: Tree) {
    let unsatisfiable = ErrorKind::RangeNotSatisfiable;
    assert_eq!(refused(digits(&tree, Span::From(10)).await), unsatisfiable);
    assert_eq!(refused(digits(&tree, Span::Between(10..12)).await), unsatisfiable);
}

async fn a_span_that_starts_behind_the_end_is_not_satisfiable(tree: Tree) {
    let unsatisfiable = ErrorKind::RangeNotSatisfiable;
    assert_eq!(refused(digits(&tree, Span::From(11)).await), unsatisfiable);
    assert_eq!(refused(digits(&tree, Span::From(u64::MAX)).await), unsatisfiable);
}

async fn a_span_of_no_last_bytes_is_not_satisfiable(tree: Tree) {
    assert_eq!(refused(digits(&tree, Span::Last(0)).await), ErrorKind::RangeNotSatisfiable);
}

async fn a_span_of_nothing_within_the_file_is_empty(tree: Tree) {
    assert_eq!(digits(&tree, Span::Between(3..3)).await.unwrap(), "");
}

async fn a_span_that_ends_before_it_starts_is_an_invalid_argument(tree: Tree) {
    let backward = std::ops::Range { start: 5, end: 3 };
    assert_eq!(refused(digits(&tree, Span::Between(backward)).await), ErrorKind::InvalidArgument);
}

async fn an_empty_file_satisfies_the_whole_and_no_other_span(tree: Tree) {
    tree.put("/empty", "").await;
    assert!(tree.part("/empty", Span::Whole).await.unwrap().is_empty());
    for span in [Span::From(0), Span::Between(0..1), Span::Last(1)] {
        let outcome = tree.part("/empty", span.clone()).await;
        assert_eq!(refused(outcome), ErrorKind::RangeNotSatisfiable, "{span:?}");
    }
}

async fn a_span_of_a_missing_file_is_not_found(tree: Tree) {
    assert_eq!(refused(tree.part("/missing", Span::From(3)).await), ErrorKind::NotFound);
}

async fn a_span_of_a_directory_is_refused(tree: Tree) {
    tree.make_dir("/dir").await;
    assert_eq!(refused(tree.part("/dir", Span::Last(3)).await), ErrorKind::IsADirectory);
}

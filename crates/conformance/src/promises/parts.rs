//! Writing in the middle of files.

use engine::{ErrorKind, If, Part, WriteMode, WriteOptions};
use futures::future::join_all;

use crate::body;
use crate::promise::promises;
use crate::tree::{Tree, at, part, refused};

promises! {
    a_part_replaces_the_bytes_at_its_place;
    a_part_at_the_end_lengthens_the_file;
    a_part_behind_the_end_leaves_zeros_between;
    a_part_makes_a_missing_file_and_its_parents;
    a_part_behind_the_start_of_a_new_file_leaves_zeros_before;
    a_part_says_whether_the_file_is_new;
    a_part_answers_with_the_file_as_it_is;
    a_large_part_arrives_whole;
    a_part_that_breaks_off_changes_nothing;
    a_part_that_is_shorter_than_it_should_be_changes_nothing;
    a_part_that_would_give_another_length_is_refused_and_makes_nothing;
    a_part_of_another_version_is_refused;
    a_part_of_a_missing_file_that_should_exist_makes_nothing;
    of_many_parts_of_one_version_one_is_written;
    a_part_farther_than_any_file_reaches_is_refused_and_makes_nothing;
    a_part_of_a_directory_is_refused;
}

async fn a_part_replaces_the_bytes_at_its_place(tree: Tree) {
    tree.put("/file", "0123456789").await;
    tree.try_put("/file", "abc", part(4, 3)).await.unwrap();
    assert_eq!(tree.text("/file").await, "0123abc789");
}

async fn a_part_at_the_end_lengthens_the_file(tree: Tree) {
    tree.put("/file", "0123").await;
    tree.try_put("/file", "abc", part(3, 3)).await.unwrap();
    assert_eq!(tree.text("/file").await, "012abc");
}

async fn a_part_behind_the_end_leaves_zeros_between(tree: Tree) {
    tree.put("/file", "01").await;
    tree.try_put("/file", "ab", part(4, 2)).await.unwrap();
    assert_eq!(tree.text("/file").await, "01\0\0ab");
}

async fn a_part_makes_a_missing_file_and_its_parents(tree: Tree) {
    tree.try_put("/a/b/file", "abc", part(0, 3)).await.unwrap();
    assert_eq!(tree.text("/a/b/file").await, "abc");
}

async fn a_part_behind_the_start_of_a_new_file_leaves_zeros_before(tree: Tree) {
    tree.try_put("/file", "abc", part(2, 3)).await.unwrap();
    assert_eq!(tree.text("/file").await, "\0\0abc");
}

async fn a_part_says_whether_the_file_is_new(tree: Tree) {
    assert!(tree.try_put("/file", "abc", part(0, 3)).await.unwrap().created);
    assert!(!tree.try_put("/file", "abc", part(0, 3)).await.unwrap().created);
}

async fn a_part_answers_with_the_file_as_it_is(tree: Tree) {
    tree.put("/file", "12345").await;
    let written = tree.try_put("/file", "678", part(4, 3)).await.unwrap();
    assert_eq!((written.bytes, written.entry.size), (3, 7));
    assert_eq!(written.entry.version, Some(tree.version("/file").await));
}

async fn a_large_part_arrives_whole(tree: Tree) {
    tree.put("/file", vec![b'.'; 1_000_000]).await;
    tree.try_put("/file", vec![b'x'; 700_000], part(100_000, 700_000)).await.unwrap();
    let content = tree.content("/file").await;
    assert_eq!(content.len(), 1_000_000);
    assert!(content[..100_000].iter().all(|byte| *byte == b'.'));
    assert!(content[100_000..800_000].iter().all(|byte| *byte == b'x'));
    assert!(content[800_000..].iter().all(|byte| *byte == b'.'));
}

async fn a_part_that_breaks_off_changes_nothing(tree: Tree) {
    tree.put("/file", "0123456789").await;
    let broken = body::breaking_off("ab");
    assert_eq!(refused(tree.write(&at("/file"), broken, part(2, 5)).await), ErrorKind::BrokenBody);
    assert_eq!(tree.text("/file").await, "0123456789");
}

async fn a_part_that_is_shorter_than_it_should_be_changes_nothing(tree: Tree) {
    tree.put("/file", "0123456789").await;
    assert_eq!(refused(tree.try_put("/file", "ab", part(2, 5)).await), ErrorKind::BrokenBody);
    assert_eq!(tree.text("/file").await, "0123456789");
}

async fn a_part_that_would_give_another_length_is_refused_and_makes_nothing(tree: Tree) {
    let mode = WriteMode::Part(Part { offset: 0, total: Some(10) });
    let options = WriteOptions { mode, ..part(0, 4) };
    assert_eq!(
        refused(tree.try_put("/file", "abcd", options).await),
        ErrorKind::PreconditionFailed
    );
    assert!(tree.picture().await.is_empty());
}

async fn a_part_of_another_version_is_refused(tree: Tree) {
    tree.put("/file", "0123").await;
    let version = tree.version("/file").await;
    tree.put("/file", "4567").await;
    let options = WriteOptions { expected: If::Matches(vec![version]), ..part(0, 2) };
    assert_eq!(refused(tree.try_put("/file", "ab", options).await), ErrorKind::PreconditionFailed);
    assert_eq!(tree.text("/file").await, "4567");
}

async fn a_part_of_a_missing_file_that_should_exist_makes_nothing(tree: Tree) {
    let options = WriteOptions { expected: If::Exists, ..part(0, 2) };
    assert_eq!(refused(tree.try_put("/file", "ab", options).await), ErrorKind::PreconditionFailed);
    assert!(tree.picture().await.is_empty());
}

async fn of_many_parts_of_one_version_one_is_written(tree: Tree) {
    for round in 0..10 {
        let version = tree.put("/file", format!("{round}........")).await.entry.version.unwrap();
        let writes = (1..=4_u64).map(|offset| {
            let (tree, expected) = (tree.clone(), If::Matches(vec![version.clone()]));
            let options = WriteOptions { expected, ..part(offset, 1) };
            tokio::spawn(async move { tree.try_put("/file", "x", options).await.is_ok() })
        });
        let wins = join_all(writes).await.into_iter().filter(|won| *won.as_ref().unwrap()).count();
        assert_eq!(wins, 1, "round {round}");
        assert_eq!(tree.text("/file").await.matches('x').count(), 1);
    }
}

async fn a_part_farther_than_any_file_reaches_is_refused_and_makes_nothing(tree: Tree) {
    let far = i64::MAX as u64 - 1;
    assert_eq!(refused(tree.try_put("/file", "abcd", part(far, 4)).await), ErrorKind::FileTooLarge);
    assert!(tree.picture().await.is_empty());
}

async fn a_part_of_a_directory_is_refused(tree: Tree) {
    tree.put("/dir/file", "x").await;
    assert_eq!(refused(tree.try_put("/dir", "ab", part(0, 2)).await), ErrorKind::IsADirectory);
}

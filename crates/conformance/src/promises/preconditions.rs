//! What a caller believes about a file before it changes it.

use engine::{Depth, ErrorKind, If, Version, WriteOptions};

use crate::promise::promises;
use crate::tree::{Tree, append, at, create_new, refused, replace_if};

promises! {
    a_write_that_expects_the_current_version_succeeds;
    a_write_that_expects_one_of_several_versions_succeeds;
    a_write_that_expects_an_old_version_fails;
    a_write_that_expects_a_version_of_a_missing_file_fails;
    a_write_that_expects_the_version_of_another_file_fails;
    a_write_that_expects_a_file_succeeds_on_one;
    a_write_that_expects_a_file_fails_without_one;
    a_write_that_expects_nothing_there_succeeds_on_nothing;
    a_write_that_expects_nothing_there_fails_on_a_file;
    a_write_that_expects_another_version_succeeds_on_another;
    a_write_that_expects_another_version_succeeds_on_a_missing_file;
    a_write_that_expects_another_version_fails_on_that_version;
    a_write_that_fails_its_precondition_changes_nothing;
    a_new_file_may_expect_that_nothing_is_there;
    an_append_keeps_to_its_precondition;
    a_version_holds_for_one_write;
    a_version_of_before_an_append_no_longer_matches;
    a_version_of_before_a_removal_no_longer_matches;
    a_removal_that_expects_the_current_version_succeeds;
    a_removal_that_expects_an_old_version_fails;
    a_removal_that_expects_a_version_of_a_missing_file_fails;
    a_removal_that_expects_a_file_fails_without_one;
    a_removal_that_expects_another_version_fails_on_that_version;
}

fn matches(version: &Version) -> If {
    If::Matches(vec![version.clone()])
}

fn differs(version: &Version) -> If {
    If::Differs(vec![version.clone()])
}

/// A file and a version that it had before.
async fn changed(tree: &Tree) -> Version {
    tree.put("/file", "first").await;
    let old = tree.version("/file").await;
    tree.put("/file", "second").await;
    old
}

async fn a_write_that_expects_the_current_version_succeeds(tree: Tree) {
    tree.put("/file", "old").await;
    let current = tree.version("/file").await;
    tree.try_put("/file", "new", replace_if(matches(&current))).await.unwrap();
    assert_eq!(tree.text("/file").await, "new");
}

async fn a_write_that_expects_one_of_several_versions_succeeds(tree: Tree) {
    let old = changed(&tree).await;
    let current = tree.version("/file").await;
    let either = If::Matches(vec![old, Version::new("never"), current]);
    tree.try_put("/file", "new", replace_if(either)).await.unwrap();
    assert_eq!(tree.text("/file").await, "new");
}

async fn a_write_that_expects_an_old_version_fails(tree: Tree) {
    let old = changed(&tree).await;
    let outcome = tree.try_put("/file", "new", replace_if(matches(&old))).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
}

async fn a_write_that_expects_a_version_of_a_missing_file_fails(tree: Tree) {
    let options = replace_if(matches(&Version::new("never")));
    let outcome = tree.try_put("/file", "new", options).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
}

async fn a_write_that_expects_the_version_of_another_file_fails(tree: Tree) {
    tree.put("/one", "same").await;
    tree.put("/two", "same").await;
    let one = tree.version("/one").await;
    let outcome = tree.try_put("/two", "new", replace_if(matches(&one))).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
}

async fn a_write_that_expects_a_file_succeeds_on_one(tree: Tree) {
    tree.put("/file", "old").await;
    tree.try_put("/file", "new", replace_if(If::Exists)).await.unwrap();
    assert_eq!(tree.text("/file").await, "new");
}

async fn a_write_that_expects_a_file_fails_without_one(tree: Tree) {
    let outcome = tree.try_put("/dir/file", "new", replace_if(If::Exists)).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
    assert!(tree.names("/").await.is_empty());
}

async fn a_write_that_expects_nothing_there_succeeds_on_nothing(tree: Tree) {
    tree.try_put("/dir/file", "new", replace_if(If::Missing)).await.unwrap();
    assert_eq!(tree.text("/dir/file").await, "new");
}

async fn a_write_that_expects_nothing_there_fails_on_a_file(tree: Tree) {
    tree.put("/file", "old").await;
    let outcome = tree.try_put("/file", "new", replace_if(If::Missing)).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
}

async fn a_write_that_expects_another_version_succeeds_on_another(tree: Tree) {
    let old = changed(&tree).await;
    tree.try_put("/file", "new", replace_if(differs(&old))).await.unwrap();
    assert_eq!(tree.text("/file").await, "new");
}

async fn a_write_that_expects_another_version_succeeds_on_a_missing_file(tree: Tree) {
    let options = replace_if(differs(&Version::new("never")));
    tree.try_put("/file", "new", options).await.unwrap();
    assert_eq!(tree.text("/file").await, "new");
}

async fn a_write_that_expects_another_version_fails_on_that_version(tree: Tree) {
    tree.put("/file", "old").await;
    let current = tree.version("/file").await;
    let outcome = tree.try_put("/file", "new", replace_if(differs(&current))).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
}

async fn a_write_that_fails_its_precondition_changes_nothing(tree: Tree) {
    let old = changed(&tree).await;
    let (picture, version) = (tree.picture().await, tree.version("/file").await);
    refused(tree.try_put("/file", "new", replace_if(matches(&old))).await);
    refused(tree.try_put("/dir/file", "new", replace_if(matches(&old))).await);
    assert_eq!(tree.picture().await, picture);
    assert_eq!(tree.version("/file").await, version);
}

async fn a_new_file_may_expect_that_nothing_is_there(tree: Tree) {
    let options = WriteOptions { expected: If::Missing, ..create_new() };
    tree.try_put("/file", "new", options).await.unwrap();
    assert_eq!(tree.text("/file").await, "new");
}

async fn an_append_keeps_to_its_precondition(tree: Tree) {
    let old = changed(&tree).await;
    let wrong = WriteOptions { expected: matches(&old), ..append() };
    let outcome = tree.try_put("/file", "more", wrong).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
    let current = tree.version("/file").await;
    let right = WriteOptions { expected: matches(&current), ..append() };
    tree.try_put("/file", " more", right).await.unwrap();
    assert_eq!(tree.text("/file").await, "second more");
}

async fn a_version_holds_for_one_write(tree: Tree) {
    tree.put("/file", "old").await;
    let options = replace_if(matches(&tree.version("/file").await));
    tree.try_put("/file", "new", options.clone()).await.unwrap();
    let outcome = tree.try_put("/file", "newer", options).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
    assert_eq!(tree.text("/file").await, "new");
}

async fn a_version_of_before_an_append_no_longer_matches(tree: Tree) {
    tree.put("/file", "old").await;
    let before = tree.version("/file").await;
    tree.try_put("/file", "more", append()).await.unwrap();
    let outcome = tree.try_put("/file", "new", replace_if(matches(&before))).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
}

async fn a_version_of_before_a_removal_no_longer_matches(tree: Tree) {
    tree.put("/file", "same").await;
    let before = tree.version("/file").await;
    tree.remove(&at("/file"), Depth::One, If::Always).await.unwrap();
    tree.put("/file", "same").await;
    let outcome = tree.try_put("/file", "new", replace_if(matches(&before))).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
}

async fn a_removal_that_expects_the_current_version_succeeds(tree: Tree) {
    tree.put("/file", "x").await;
    let current = tree.version("/file").await;
    tree.remove(&at("/file"), Depth::One, matches(&current)).await.unwrap();
    assert_eq!(tree.absence("/file").await, ErrorKind::NotFound);
}

async fn a_removal_that_expects_an_old_version_fails(tree: Tree) {
    let old = changed(&tree).await;
    let outcome = tree.remove(&at("/file"), Depth::One, matches(&old)).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
    assert_eq!(tree.text("/file").await, "second");
}

async fn a_removal_that_expects_a_version_of_a_missing_file_fails(tree: Tree) {
    let expected = matches(&Version::new("never"));
    let outcome = tree.remove(&at("/file"), Depth::One, expected).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
}

async fn a_removal_that_expects_a_file_fails_without_one(tree: Tree) {
    let outcome = tree.remove(&at("/file"), Depth::One, If::Exists).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
}

async fn a_removal_that_expects_another_version_fails_on_that_version(tree: Tree) {
    tree.put("/file", "x").await;
    let current = tree.version("/file").await;
    let outcome = tree.remove(&at("/file"), Depth::One, differs(&current)).await;
    assert_eq!(refused(outcome), ErrorKind::PreconditionFailed);
    assert_eq!(tree.text("/file").await, "x");
}

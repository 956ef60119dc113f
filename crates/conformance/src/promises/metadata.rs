//! Modes and times.

use engine::{ErrorKind, MetadataChange, UnixTime};

use crate::promise::promises;
use crate::tree::{Tree, append, at, refused};

promises! {
    a_mode_is_changed needs Metadata;
    a_mode_of_a_directory_is_changed needs Metadata;
    a_mode_has_permission_bits_only needs Metadata;
    a_time_is_changed needs Metadata;
    a_time_of_a_directory_is_changed needs Metadata;
    a_time_before_1970_is_kept needs Metadata;
    a_time_with_too_many_nanoseconds_is_refused needs Metadata;
    what_is_not_changed_stays needs Metadata;
    a_change_of_nothing_is_a_success needs Metadata;
    a_change_keeps_the_content needs Metadata;
    a_change_is_answered needs Metadata;
    a_change_of_a_missing_path_is_not_found needs Metadata;
    a_change_follows_links needs Metadata, Links;
    a_replaced_file_keeps_its_mode needs Metadata;
    an_appended_file_keeps_its_mode needs Metadata;
    a_write_takes_the_place_of_an_old_time needs Metadata;
    a_renamed_file_keeps_its_mode_and_time needs Metadata;
    a_file_of_no_permissions_can_be_looked_at_listed_and_removed needs Metadata;
}

const LONG_AGO: UnixTime = UnixTime { seconds: 1_000_000_000, nanoseconds: 987_654_321 };

fn mode(mode: u32) -> MetadataChange {
    MetadataChange { mode: Some(mode), modified: None }
}

fn modified(modified: UnixTime) -> MetadataChange {
    MetadataChange { mode: None, modified: Some(modified) }
}

async fn changed(tree: &Tree, path: &str, change: MetadataChange) {
    tree.set_metadata(&at(path), change).await.unwrap();
}

async fn a_mode_is_changed(tree: Tree) {
    tree.put("/file", "x").await;
    changed(&tree, "/file", mode(0o751)).await;
    assert_eq!(tree.entry("/file").await.mode, Some(0o751));
}

async fn a_mode_of_a_directory_is_changed(tree: Tree) {
    tree.put("/dir/file", "x").await;
    changed(&tree, "/dir", mode(0o700)).await;
    assert_eq!(tree.entry("/dir").await.mode, Some(0o700));
}

async fn a_mode_has_permission_bits_only(tree: Tree) {
    tree.put("/file", "x").await;
    let outcome = tree.set_metadata(&at("/file"), mode(0o4755)).await;
    let told = outcome.map(|entry| entry.mode).unwrap_or_default();
    assert_ne!(told, Some(0o4755));
    assert_eq!(tree.entry("/file").await.mode.unwrap() & !0o777, 0);
}

async fn a_time_is_changed(tree: Tree) {
    tree.put("/file", "x").await;
    changed(&tree, "/file", modified(LONG_AGO)).await;
    assert_eq!(tree.entry("/file").await.modified, Some(LONG_AGO));
}

async fn a_time_of_a_directory_is_changed(tree: Tree) {
    tree.make_dir("/dir").await;
    changed(&tree, "/dir", modified(LONG_AGO)).await;
    assert_eq!(tree.entry("/dir").await.modified, Some(LONG_AGO));
}

async fn a_time_before_1970_is_kept(tree: Tree) {
    tree.put("/file", "x").await;
    let before = UnixTime { seconds: -86_401, nanoseconds: 500_000_000 };
    changed(&tree, "/file", modified(before)).await;
    assert_eq!(tree.entry("/file").await.modified, Some(before));
}

async fn a_time_with_too_many_nanoseconds_is_refused(tree: Tree) {
    tree.put("/file", "x").await;
    let wrong = UnixTime { seconds: 0, nanoseconds: 1_000_000_000 };
    let outcome = tree.set_metadata(&at("/file"), modified(wrong)).await;
    assert_eq!(refused(outcome), ErrorKind::InvalidArgument);
}

async fn what_is_not_changed_stays(tree: Tree) {
    tree.put("/file", "x").await;
    changed(&tree, "/file", mode(0o600)).await;
    changed(&tree, "/file", modified(LONG_AGO)).await;
    assert_eq!(tree.entry("/file").await.mode, Some(0o600));
    changed(&tree, "/file", mode(0o644)).await;
    assert_eq!(tree.entry("/file").await.modified, Some(LONG_AGO));
}

async fn a_change_of_nothing_is_a_success(tree: Tree) {
    tree.put("/file", "x").await;
    let before = tree.entry("/file").await;
    changed(&tree, "/file", MetadataChange::default()).await;
    let after = tree.entry("/file").await;
    assert_eq!((after.mode, after.modified), (before.mode, before.modified));
}

async fn a_change_keeps_the_content(tree: Tree) {
    tree.put("/file", "content").await;
    changed(&tree, "/file", mode(0o600)).await;
    changed(&tree, "/file", modified(LONG_AGO)).await;
    assert_eq!(tree.text("/file").await, "content");
}

async fn a_change_is_answered(tree: Tree) {
    tree.put("/file", "x").await;
    let change = MetadataChange { mode: Some(0o640), modified: Some(LONG_AGO) };
    let entry = tree.set_metadata(&at("/file"), change).await.unwrap();
    assert_eq!((entry.mode, entry.modified), (Some(0o640), Some(LONG_AGO)));
}

async fn a_change_of_a_missing_path_is_not_found(tree: Tree) {
    let outcome = tree.set_metadata(&at("/missing"), mode(0o644)).await;
    assert_eq!(refused(outcome), ErrorKind::NotFound);
}

async fn a_change_follows_links(tree: Tree) {
    tree.put("/file", "x").await;
    tree.link("/link", "file").await;
    changed(&tree, "/link", mode(0o600)).await;
    assert_eq!(tree.entry("/file").await.mode, Some(0o600));
}

async fn a_replaced_file_keeps_its_mode(tree: Tree) {
    tree.put("/file", "old").await;
    changed(&tree, "/file", mode(0o751)).await;
    let written = tree.put("/file", "new").await;
    assert_eq!(written.entry.mode, Some(0o751));
    assert_eq!(tree.entry("/file").await.mode, Some(0o751));
}

async fn an_appended_file_keeps_its_mode(tree: Tree) {
    tree.put("/file", "old").await;
    changed(&tree, "/file", mode(0o751)).await;
    tree.try_put("/file", "new", append()).await.unwrap();
    assert_eq!(tree.entry("/file").await.mode, Some(0o751));
}

async fn a_write_takes_the_place_of_an_old_time(tree: Tree) {
    tree.put("/file", "old").await;
    changed(&tree, "/file", modified(LONG_AGO)).await;
    tree.put("/file", "new").await;
    assert!(tree.entry("/file").await.modified.unwrap().seconds > LONG_AGO.seconds);
}

async fn a_renamed_file_keeps_its_mode_and_time(tree: Tree) {
    tree.put("/from", "x").await;
    let change = MetadataChange { mode: Some(0o640), modified: Some(LONG_AGO) };
    changed(&tree, "/from", change).await;
    tree.rename(&at("/from"), &at("/a/to"), engine::Target::New).await.unwrap();
    let entry = tree.entry("/a/to").await;
    assert_eq!((entry.mode, entry.modified), (Some(0o640), Some(LONG_AGO)));
}

async fn a_file_of_no_permissions_can_be_looked_at_listed_and_removed(tree: Tree) {
    tree.put("/dir/file", "x").await;
    changed(&tree, "/dir/file", mode(0)).await;
    assert_eq!(tree.entry("/dir/file").await.mode, Some(0));
    assert_eq!(tree.names("/dir").await, ["file"]);
    tree.remove(&at("/dir"), engine::Depth::All, engine::If::Always).await.unwrap();
    assert!(tree.names("/").await.is_empty());
}

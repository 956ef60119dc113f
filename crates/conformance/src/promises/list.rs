//! Listings.

use engine::{EntryKind, ErrorKind, Page};
use futures::StreamExt as _;

use crate::promise::promises;
use crate::tree::{Tree, at, refused};

promises! {
    an_empty_tree_lists_nothing;
    an_empty_directory_lists_nothing;
    the_root_lists_its_children;
    a_directory_lists_its_children_and_not_theirs;
    children_come_sorted_by_the_bytes_of_their_names;
    hidden_names_are_listed;
    a_child_has_its_full_path;
    a_child_has_its_kind_and_size;
    a_child_was_modified_when_its_stat_says;
    a_child_carries_its_version needs DetailedListings;
    two_thousand_children_are_all_listed;
    a_missing_directory_is_not_listed;
    a_file_is_not_listed;
    a_listing_may_be_dropped_halfway;
    a_listing_shows_what_the_last_write_made;
}

async fn an_empty_tree_lists_nothing(tree: Tree) {
    assert!(tree.names("/").await.is_empty());
}

async fn an_empty_directory_lists_nothing(tree: Tree) {
    tree.make_dir("/dir").await;
    assert!(tree.names("/dir").await.is_empty());
}

async fn the_root_lists_its_children(tree: Tree) {
    tree.put("/file", "x").await;
    tree.make_dir("/dir").await;
    assert_eq!(tree.names("/").await, ["dir", "file"]);
}

async fn a_directory_lists_its_children_and_not_theirs(tree: Tree) {
    tree.put("/dir/sub/deep", "x").await;
    tree.put("/dir/file", "x").await;
    assert_eq!(tree.names("/dir").await, ["file", "sub"]);
}

async fn children_come_sorted_by_the_bytes_of_their_names(tree: Tree) {
    let sorted = ["-", "10", "9", "A", "Z", "_", "a", "ab", "b", "~", "é", "日", "\u{1F600}"];
    for name in ["é", "b", "10", "~", "Z", "\u{1F600}", "a", "-", "ab", "9", "日", "_", "A"] {
        tree.put(&format!("/dir/{name}"), "x").await;
    }
    assert_eq!(tree.names("/dir").await, sorted);
}

async fn hidden_names_are_listed(tree: Tree) {
    tree.put("/.hidden", "x").await;
    tree.put("/..double", "x").await;
    assert_eq!(tree.names("/").await, ["..double", ".hidden"]);
}

async fn a_child_has_its_full_path(tree: Tree) {
    tree.put("/a/b/c", "x").await;
    let children = tree.page("/a/b", Page::default()).await;
    assert_eq!(children[0].path.as_str(), "/a/b/c");
}

async fn a_child_has_its_kind_and_size(tree: Tree) {
    tree.put("/file", "seven..").await;
    tree.make_dir("/dir").await;
    let children = tree.page("/", Page::default()).await;
    assert_eq!(children[0].kind, EntryKind::Directory);
    assert_eq!((children[1].kind, children[1].size), (EntryKind::File, 7));
}

async fn a_child_was_modified_when_its_stat_says(tree: Tree) {
    tree.put("/file", "x").await;
    let children = tree.page("/", Page::default()).await;
    assert!(children[0].modified.is_some());
    assert_eq!(children[0].modified, tree.entry("/file").await.modified);
}

async fn a_child_carries_its_version(tree: Tree) {
    tree.put("/file", "x").await;
    let children = tree.page("/", Page::default()).await;
    assert_eq!(children[0].version, Some(tree.version("/file").await));
}

async fn two_thousand_children_are_all_listed(tree: Tree) {
    let names: Vec<String> = (0..2000).map(|n| format!("{n:04}")).collect();
    tree.put_all(names.iter().map(|name| format!("/dir/{name}"))).await;
    assert_eq!(tree.names("/dir").await, names);
}

async fn a_missing_directory_is_not_listed(tree: Tree) {
    let outcome = tree.list(&at("/missing"), Page::default()).await.map(drop);
    assert_eq!(refused(outcome), ErrorKind::NotFound);
}

async fn a_file_is_not_listed(tree: Tree) {
    tree.put("/file", "x").await;
    let outcome = tree.list(&at("/file"), Page::default()).await.map(drop);
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
}

async fn a_listing_may_be_dropped_halfway(tree: Tree) {
    for n in 0..50 {
        tree.put(&format!("/dir/{n}"), "").await;
    }
    let mut listing = tree.list(&at("/dir"), Page::default()).await.unwrap();
    listing.next().await.unwrap().unwrap();
    drop(listing);
    assert_eq!(tree.names("/dir").await.len(), 50);
}

async fn a_listing_shows_what_the_last_write_made(tree: Tree) {
    for n in 1..=20 {
        tree.put(&format!("/dir/{n}"), "").await;
        assert_eq!(tree.names("/dir").await.len(), n);
    }
}

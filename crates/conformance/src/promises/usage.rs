//! How much a tree holds.

use engine::{ArchiveFormat, ArchiveLimits, Create, Depth, If, OpenOptions, Target, Usage};

use crate::archive::Tar;
use crate::body;
use crate::promise::promises;
use crate::tree::{Tree, append, at, refused, replace};

promises! {
    an_empty_tree_holds_its_root needs Usage;
    files_and_directories_are_counted needs Usage;
    a_replaced_file_counts_once needs Usage;
    an_append_counts_what_it_adds needs Usage;
    a_removed_file_no_longer_counts needs Usage;
    a_removed_tree_no_longer_counts needs Usage;
    a_rename_changes_no_count needs Usage;
    a_rename_that_replaces_frees_what_was_there needs Usage;
    a_copy_counts_again needs Usage;
    a_link_counts_as_a_file needs Usage, Links;
    an_unpacked_archive_counts needs Usage;
    a_write_through_a_handle_counts needs Usage;
    a_file_cut_through_a_handle_counts_less needs Usage, SetLen;
    a_refused_write_counts_nothing needs Usage;
    a_merge_counts_each_file_once needs Usage, Merge;
}

async fn holds(tree: &Tree, bytes: u64, files: u64, directories: u64) {
    assert_eq!(tree.usage().await.unwrap(), Usage { bytes, files, directories });
}

async fn an_empty_tree_holds_its_root(tree: Tree) {
    holds(&tree, 0, 0, 1).await;
}

async fn files_and_directories_are_counted(tree: Tree) {
    tree.put("/a/b/file", "12345").await;
    tree.put("/a/other", "678").await;
    tree.make_dir("/a/empty").await;
    holds(&tree, 8, 2, 4).await;
}

async fn a_replaced_file_counts_once(tree: Tree) {
    tree.put("/file", "1234567890").await;
    tree.put("/file", "123").await;
    holds(&tree, 3, 1, 1).await;
}

async fn an_append_counts_what_it_adds(tree: Tree) {
    tree.put("/file", "123").await;
    tree.try_put("/file", "4567", append()).await.unwrap();
    holds(&tree, 7, 1, 1).await;
}

async fn a_removed_file_no_longer_counts(tree: Tree) {
    tree.put("/file", "123").await;
    tree.remove(&at("/file"), Depth::One, If::Always).await.unwrap();
    holds(&tree, 0, 0, 1).await;
}

async fn a_removed_tree_no_longer_counts(tree: Tree) {
    tree.put("/dir/sub/file", "123").await;
    tree.put("/kept", "4567").await;
    tree.remove(&at("/dir"), Depth::All, If::Always).await.unwrap();
    holds(&tree, 4, 1, 1).await;
}

async fn a_rename_changes_no_count(tree: Tree) {
    tree.put("/dir/file", "123").await;
    tree.rename(&at("/dir"), &at("/moved"), Target::New).await.unwrap();
    holds(&tree, 3, 1, 2).await;
}

async fn a_rename_that_replaces_frees_what_was_there(tree: Tree) {
    tree.put("/from", "123").await;
    tree.put("/to/sub/file", "4567").await;
    tree.rename(&at("/from"), &at("/to"), Target::Replace).await.unwrap();
    holds(&tree, 3, 1, 1).await;
}

async fn a_copy_counts_again(tree: Tree) {
    tree.put("/dir/file", "123").await;
    tree.copy(&at("/dir"), &at("/copied"), Target::New).await.unwrap();
    holds(&tree, 6, 2, 3).await;
}

async fn a_link_counts_as_a_file(tree: Tree) {
    tree.link("/link", "nowhere").await;
    assert_eq!(tree.usage().await.unwrap().files, 1);
}

async fn an_unpacked_archive_counts(tree: Tree) {
    let archive = Tar::new().directory("dir").file("dir/file", "123").file("file", "45").body();
    tree.unpack(&at("/to"), archive, ArchiveFormat::Tar, ArchiveLimits::default()).await.unwrap();
    holds(&tree, 5, 2, 3).await;
}

async fn a_write_through_a_handle_counts(tree: Tree) {
    let file = tree.open(&at("/file"), OpenOptions::Write(Create::New)).await.unwrap();
    file.write_at(5, "12345".into()).await.unwrap();
    file.write_at(0, "12345".into()).await.unwrap();
    holds(&tree, 10, 1, 1).await;
}

async fn a_file_cut_through_a_handle_counts_less(tree: Tree) {
    tree.put("/file", "1234567890").await;
    let file = tree.open(&at("/file"), OpenOptions::Write(Create::Never)).await.unwrap();
    file.set_len(4).await.unwrap();
    holds(&tree, 4, 1, 1).await;
    file.set_len(6).await.unwrap();
    holds(&tree, 6, 1, 1).await;
}

async fn a_refused_write_counts_nothing(tree: Tree) {
    tree.put("/dir/file", "123").await;
    refused(tree.write(&at("/dir/file"), body::breaking_off("start"), replace()).await);
    refused(tree.write(&at("/a/b/new"), body::breaking_off("start"), replace()).await);
    refused(tree.try_put("/dir", "12345", replace()).await);
    holds(&tree, 3, 1, 2).await;
}

async fn a_merge_counts_each_file_once(tree: Tree) {
    tree.put("/from/shared", "12345").await;
    tree.put("/from/new", "1").await;
    tree.put("/to/shared", "123").await;
    tree.rename(&at("/from"), &at("/to"), Target::Merge).await.unwrap();
    holds(&tree, 6, 2, 2).await;
}

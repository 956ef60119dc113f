//! Symbolic links within the tree.

use engine::{Depth, EntryKind, ErrorKind, If, Links, Page, Span, Target};

use crate::promise::promises;
use crate::tree::{Tree, append, at, create_new, refused, replace};

promises! {
    a_link_holds_its_target_as_it_is needs Links;
    a_link_is_answered_as_a_link needs Links;
    a_link_makes_missing_parents needs Links;
    a_link_does_not_take_the_place_of_anything needs Links;
    a_link_must_lead_somewhere needs Links;
    a_link_cannot_hold_a_nul needs Links;
    a_file_holds_no_target needs Links;
    a_missing_link_holds_no_target needs Links;
    a_link_is_a_link_when_it_is_kept needs Links;
    a_link_is_its_target_when_it_is_followed needs Links;
    a_dangling_link_can_be_looked_at needs Links;
    a_dangling_link_leads_to_nothing needs Links;
    a_read_follows_a_link needs Links;
    a_write_to_a_link_writes_its_target needs Links;
    a_write_to_a_dangling_link_makes_its_target needs Links;
    an_append_to_a_link_adds_to_its_target needs Links;
    a_new_file_does_not_take_the_place_of_a_dangling_link needs Links;
    a_link_to_a_directory_lists_the_directory needs Links;
    a_link_on_the_way_is_followed needs Links;
    a_link_may_climb_within_the_tree needs Links;
    a_chain_of_links_is_followed needs Links;
    links_in_a_circle_are_too_many needs Links;
    a_link_is_listed_as_a_link needs Links, DetailedListings;
    a_dangling_link_is_listed needs Links;
    a_removal_takes_the_link_and_not_its_target needs Links;
    a_removal_of_all_does_not_follow_links needs Links;
    a_dangling_link_can_be_removed needs Links;
    a_link_in_a_circle_can_be_removed needs Links;
    a_move_takes_the_link_itself needs Links;
    a_move_replaces_the_link_and_not_its_target needs Links;
    a_copy_of_a_link_is_a_link needs Links;
    a_copy_of_a_tree_keeps_its_links needs Links;
}

async fn held(tree: &Tree, link: &str) -> String {
    tree.read_link(&at(link)).await.unwrap()
}

async fn a_link_holds_its_target_as_it_is(tree: Tree) {
    for (link, target) in [("/a", "plain"), ("/b", "../x y//z/./é\n"), ("/c", "/absolute")] {
        tree.link(link, target).await;
        assert_eq!(held(&tree, link).await, target);
    }
}

async fn a_link_is_answered_as_a_link(tree: Tree) {
    let entry = tree.link("/link", "target").await;
    assert_eq!((entry.path, entry.kind), (at("/link"), EntryKind::Symlink));
}

async fn a_link_makes_missing_parents(tree: Tree) {
    tree.link("/a/b/link", "target").await;
    assert_eq!(tree.names("/a/b").await, ["link"]);
}

async fn a_link_does_not_take_the_place_of_anything(tree: Tree) {
    tree.put("/dir/file", "x").await;
    tree.link("/link", "dir").await;
    for path in ["/dir/file", "/dir", "/link", "/"] {
        let outcome = tree.symlink(&at(path), "target").await;
        assert_eq!(refused(outcome), ErrorKind::AlreadyExists, "{path}");
    }
    assert_eq!(tree.text("/link/file").await, "x");
}

async fn a_link_must_lead_somewhere(tree: Tree) {
    let outcome = tree.symlink(&at("/link"), "").await;
    assert_eq!(refused(outcome), ErrorKind::InvalidArgument);
}

async fn a_link_cannot_hold_a_nul(tree: Tree) {
    let outcome = tree.symlink(&at("/link"), "a\0b").await;
    assert_eq!(refused(outcome), ErrorKind::InvalidArgument);
}

async fn a_file_holds_no_target(tree: Tree) {
    tree.put("/dir/file", "x").await;
    assert_eq!(refused(tree.read_link(&at("/dir/file")).await), ErrorKind::InvalidArgument);
    assert_eq!(refused(tree.read_link(&at("/dir")).await), ErrorKind::InvalidArgument);
}

async fn a_missing_link_holds_no_target(tree: Tree) {
    assert_eq!(refused(tree.read_link(&at("/missing")).await), ErrorKind::NotFound);
}

async fn a_link_is_a_link_when_it_is_kept(tree: Tree) {
    tree.put("/file", "content").await;
    tree.link("/link", "file").await;
    let entry = tree.stat(&at("/link"), Links::Keep).await.unwrap();
    assert_eq!((entry.kind, entry.path), (EntryKind::Symlink, at("/link")));
}

async fn a_link_is_its_target_when_it_is_followed(tree: Tree) {
    tree.put("/file", "content").await;
    tree.link("/link", "file").await;
    let entry = tree.entry("/link").await;
    assert_eq!((entry.kind, entry.size), (EntryKind::File, 7));
    assert_eq!(entry.path, at("/link"));
    assert_eq!(entry.version, Some(tree.version("/file").await));
}

async fn a_dangling_link_can_be_looked_at(tree: Tree) {
    tree.link("/link", "nowhere").await;
    let entry = tree.stat(&at("/link"), Links::Keep).await.unwrap();
    assert_eq!(entry.kind, EntryKind::Symlink);
}

async fn a_dangling_link_leads_to_nothing(tree: Tree) {
    tree.link("/link", "nowhere").await;
    assert_eq!(tree.absence("/link").await, ErrorKind::NotFound);
    assert_eq!(refused(tree.read(&at("/link"), Span::Whole).await), ErrorKind::NotFound);
}

async fn a_read_follows_a_link(tree: Tree) {
    tree.put("/dir/file", "content").await;
    tree.link("/link", "dir/file").await;
    assert_eq!(tree.text("/link").await, "content");
}

async fn a_write_to_a_link_writes_its_target(tree: Tree) {
    tree.put("/dir/file", "old").await;
    tree.link("/link", "dir/file").await;
    tree.put("/link", "new").await;
    assert_eq!(tree.text("/dir/file").await, "new");
    assert_eq!(held(&tree, "/link").await, "dir/file");
}

async fn a_write_to_a_dangling_link_makes_its_target(tree: Tree) {
    tree.make_dir("/dir").await;
    tree.link("/link", "dir/file").await;
    tree.try_put("/link", "new", replace()).await.unwrap();
    assert_eq!(tree.text("/dir/file").await, "new");
    assert_eq!(held(&tree, "/link").await, "dir/file");
}

async fn an_append_to_a_link_adds_to_its_target(tree: Tree) {
    tree.put("/file", "one").await;
    tree.link("/link", "file").await;
    tree.try_put("/link", " two", append()).await.unwrap();
    assert_eq!(tree.text("/file").await, "one two");
    assert_eq!(held(&tree, "/link").await, "file");
}

async fn a_new_file_does_not_take_the_place_of_a_dangling_link(tree: Tree) {
    tree.link("/link", "nowhere").await;
    let outcome = tree.try_put("/link", "x", create_new()).await;
    assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
    assert_eq!(tree.names("/").await, ["link"]);
}

async fn a_link_to_a_directory_lists_the_directory(tree: Tree) {
    tree.put("/dir/file", "x").await;
    tree.link("/link", "dir").await;
    let children = tree.page("/link", Page::default()).await;
    assert_eq!(children[0].path, at("/link/file"));
}

async fn a_link_on_the_way_is_followed(tree: Tree) {
    tree.put("/dir/sub/file", "x").await;
    tree.link("/link", "dir/sub").await;
    assert_eq!(tree.text("/link/file").await, "x");
    tree.put("/link/other", "y").await;
    assert_eq!(tree.text("/dir/sub/other").await, "y");
}

async fn a_link_may_climb_within_the_tree(tree: Tree) {
    tree.put("/file", "x").await;
    tree.link("/a/b/link", "../../file").await;
    assert_eq!(tree.text("/a/b/link").await, "x");
}

async fn a_chain_of_links_is_followed(tree: Tree) {
    tree.put("/link-0", "end").await;
    for n in 1..=20 {
        tree.link(&format!("/link-{n}"), &format!("link-{}", n - 1)).await;
    }
    assert_eq!(tree.text("/link-20").await, "end");
    tree.put("/link-20", "new end").await;
    assert_eq!(tree.text("/link-0").await, "new end");
}

async fn links_in_a_circle_are_too_many(tree: Tree) {
    tree.link("/a", "b").await;
    tree.link("/b", "a").await;
    let too_many = ErrorKind::TooManyLinks;
    assert_eq!(tree.absence("/a").await, too_many);
    assert_eq!(refused(tree.read(&at("/a"), Span::Whole).await), too_many);
    assert_eq!(refused(tree.try_put("/a", "x", replace()).await), too_many);
    assert_eq!(refused(tree.try_put("/a/file", "x", replace()).await), too_many);
}

async fn a_link_is_listed_as_a_link(tree: Tree) {
    tree.make_dir("/dir").await;
    tree.link("/link", "dir").await;
    let children = tree.page("/", Page::default()).await;
    assert_eq!(children[1].kind, EntryKind::Symlink);
}

async fn a_dangling_link_is_listed(tree: Tree) {
    tree.link("/link", "nowhere").await;
    assert_eq!(tree.names("/").await, ["link"]);
}

async fn a_removal_takes_the_link_and_not_its_target(tree: Tree) {
    tree.put("/dir/file", "x").await;
    tree.link("/to-file", "dir/file").await;
    tree.link("/to-dir", "dir").await;
    tree.remove(&at("/to-file"), Depth::One, If::Always).await.unwrap();
    tree.remove(&at("/to-dir"), Depth::All, If::Always).await.unwrap();
    assert_eq!(tree.names("/").await, ["dir"]);
    assert_eq!(tree.text("/dir/file").await, "x");
}

async fn a_removal_of_all_does_not_follow_links(tree: Tree) {
    tree.put("/kept/file", "x").await;
    tree.link("/dir/sub/link", "../../kept").await;
    tree.remove(&at("/dir"), Depth::All, If::Always).await.unwrap();
    assert_eq!(tree.text("/kept/file").await, "x");
}

async fn a_dangling_link_can_be_removed(tree: Tree) {
    tree.link("/link", "nowhere").await;
    tree.remove(&at("/link"), Depth::One, If::Always).await.unwrap();
    assert!(tree.names("/").await.is_empty());
}

async fn a_link_in_a_circle_can_be_removed(tree: Tree) {
    tree.link("/link", "link").await;
    tree.remove(&at("/link"), Depth::One, If::Always).await.unwrap();
    assert!(tree.names("/").await.is_empty());
}

async fn a_move_takes_the_link_itself(tree: Tree) {
    tree.put("/file", "x").await;
    tree.link("/link", "file").await;
    let entry = tree.rename(&at("/link"), &at("/moved"), Target::New).await.unwrap();
    assert_eq!(entry.kind, EntryKind::Symlink);
    assert_eq!(held(&tree, "/moved").await, "file");
    assert_eq!(tree.names("/").await, ["file", "moved"]);
}

async fn a_move_replaces_the_link_and_not_its_target(tree: Tree) {
    tree.put("/target", "kept").await;
    tree.link("/link", "target").await;
    tree.put("/file", "new").await;
    tree.rename(&at("/file"), &at("/link"), Target::Replace).await.unwrap();
    assert_eq!(tree.text("/link").await, "new");
    assert_eq!(tree.text("/target").await, "kept");
}

async fn a_copy_of_a_link_is_a_link(tree: Tree) {
    tree.link("/link", "nowhere").await;
    let entry = tree.copy(&at("/link"), &at("/copied"), Target::New).await.unwrap();
    assert_eq!(entry.kind, EntryKind::Symlink);
    assert_eq!(held(&tree, "/copied").await, "nowhere");
    assert_eq!(held(&tree, "/link").await, "nowhere");
}

async fn a_copy_of_a_tree_keeps_its_links(tree: Tree) {
    tree.put("/dir/file", "x").await;
    tree.link("/dir/link", "file").await;
    tree.link("/dir/dangling", "nowhere").await;
    tree.copy(&at("/dir"), &at("/copied"), Target::New).await.unwrap();
    assert_eq!(held(&tree, "/copied/link").await, "file");
    assert_eq!(held(&tree, "/copied/dangling").await, "nowhere");
}

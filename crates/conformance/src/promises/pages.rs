//! Parts of listings.

use engine::{ErrorKind, Page};

use crate::promise::promises;
use crate::tree::{Tree, at, refused};

promises! {
    a_page_holds_at_most_its_limit;
    a_page_starts_behind_a_name;
    a_page_may_start_behind_a_name_that_is_not_there;
    a_page_behind_the_last_name_is_empty;
    a_page_behind_a_removed_name_goes_on_where_it_was;
    a_page_larger_than_the_directory_is_the_directory;
    a_page_of_no_entries_is_empty;
    a_page_of_a_missing_directory_is_not_found;
    pages_together_are_the_listing;
    pages_together_are_the_listing_whatever_the_names;
}

fn page(after: Option<&str>, limit: Option<usize>) -> Page {
    Page { after: after.map(str::to_owned), limit }
}

async fn letters(tree: &Tree) {
    for name in ["a", "b", "c", "d", "e"] {
        tree.put(&format!("/dir/{name}"), "x").await;
    }
}

async fn names(tree: &Tree, page: Page) -> Vec<String> {
    let children = tree.page("/dir", page).await;
    children.iter().map(|child| child.path.name().to_owned()).collect()
}

async fn page_by_page(tree: &Tree, limit: usize) -> Vec<String> {
    let mut gathered: Vec<String> = Vec::new();
    loop {
        let next = names(tree, page(gathered.last().map(String::as_str), Some(limit))).await;
        if next.is_empty() {
            return gathered;
        }
        gathered.extend(next);
    }
}

async fn a_page_holds_at_most_its_limit(tree: Tree) {
    letters(&tree).await;
    assert_eq!(names(&tree, page(None, Some(2))).await, ["a", "b"]);
}

async fn a_page_starts_behind_a_name(tree: Tree) {
    letters(&tree).await;
    assert_eq!(names(&tree, page(Some("b"), None)).await, ["c", "d", "e"]);
    assert_eq!(names(&tree, page(Some("b"), Some(2))).await, ["c", "d"]);
}

async fn a_page_may_start_behind_a_name_that_is_not_there(tree: Tree) {
    letters(&tree).await;
    assert_eq!(names(&tree, page(Some("bb"), Some(2))).await, ["c", "d"]);
}

async fn a_page_behind_the_last_name_is_empty(tree: Tree) {
    letters(&tree).await;
    assert!(names(&tree, page(Some("e"), Some(2))).await.is_empty());
}

async fn a_page_behind_a_removed_name_goes_on_where_it_was(tree: Tree) {
    letters(&tree).await;
    tree.remove(&at("/dir/b"), engine::Depth::One, engine::If::Always).await.unwrap();
    assert_eq!(names(&tree, page(Some("b"), Some(1))).await, ["c"]);
}

async fn a_page_larger_than_the_directory_is_the_directory(tree: Tree) {
    letters(&tree).await;
    assert_eq!(names(&tree, page(None, Some(1_000_000))).await.len(), 5);
}

async fn a_page_of_no_entries_is_empty(tree: Tree) {
    letters(&tree).await;
    assert!(names(&tree, page(None, Some(0))).await.is_empty());
}

async fn a_page_of_a_missing_directory_is_not_found(tree: Tree) {
    let outcome = tree.list(&at("/missing"), page(Some("a"), Some(1))).await.map(drop);
    assert_eq!(refused(outcome), ErrorKind::NotFound);
}

async fn pages_together_are_the_listing(tree: Tree) {
    for n in 0..100 {
        tree.put(&format!("/dir/{n}"), "").await;
    }
    assert_eq!(page_by_page(&tree, 7).await, tree.names("/dir").await);
}

async fn pages_together_are_the_listing_whatever_the_names(tree: Tree) {
    // The last two stand for names that are not UTF-8.
    for name in ["é", "\u{1F600}", "\u{1}", " ", "a b", "\n", "%41", "\u{10FE80}", "\u{10FEFF}"] {
        tree.put(&format!("/dir/{name}"), "x").await;
    }
    let together = page_by_page(&tree, 2).await;
    assert_eq!(together.len(), 9);
    assert_eq!(together, tree.names("/dir").await);
}

//! What happens is told, to those who stay and to those who come back.

use std::time::Duration;

use engine::{
    Cursor, Depth, EntryKind, ErrorKind, If, Notice, NoticeKind, NoticeStream, Target, Watch,
};
use futures::StreamExt as _;
use tokio::time::timeout;

use crate::promise::promises;
use crate::tree::{Tree, append, at, refused};

promises! {
    a_watch_begins_by_telling_where_it_is needs Watches;
    a_new_file_is_told needs Watches;
    a_changed_file_is_told needs Watches;
    an_appended_file_is_told_as_modified needs Watches;
    a_removed_file_is_told needs Watches;
    a_renamed_file_is_told_with_both_names needs Watches;
    a_removed_directory_is_told needs Watches;
    everything_in_a_new_directory_is_told needs Watches;
    everything_in_a_renamed_directory_is_told_at_its_new_place needs Watches;
    what_happens_beneath_a_renamed_directory_has_its_new_path needs Watches;
    a_link_is_told_and_not_followed needs Watches, Links;
    a_watch_without_depth_tells_own_names_only needs Watches;
    a_watch_tells_only_what_is_beneath_its_directory needs Watches;
    a_move_out_of_the_watched_directory_is_a_removal needs Watches;
    a_tree_that_moves_into_the_watched_directory_is_told_whole needs Watches;
    who_comes_back_is_told_what_happened_since needs Watches;
    who_comes_back_halfway_is_told_the_rest needs Watches;
    an_unknown_cursor_is_a_resync needs Watches;
    after_a_resync_the_watch_goes_on needs Watches;
    only_a_directory_can_be_watched needs Watches;
    a_watched_directory_that_goes_ends_the_watch needs Watches;
}

async fn a_watch_begins_by_telling_where_it_is(tree: Tree) {
    tree.put("/old", "").await;
    let mut ear = Ear::at(&tree, "/", None).await;
    assert_eq!(ear.next().await.kind, NoticeKind::Here);
}

async fn a_new_file_is_told(tree: Tree) {
    let mut ear = Ear::begun(&tree, "/").await;
    tree.put("/a", "1").await;
    ear.expect(&created("/a", EntryKind::File)).await;
}

async fn a_changed_file_is_told(tree: Tree) {
    tree.put("/a", "1").await;
    let mut ear = Ear::begun(&tree, "/").await;
    tree.put("/a", "2").await;
    // A file that another one replaced by a rename may be told as new.
    let (path, entry) = (at("/a"), Some(EntryKind::File));
    let modified = NoticeKind::Modified { path, entry };
    ear.until(|kind| *kind == modified || *kind == created("/a", EntryKind::File)).await;
}

async fn an_appended_file_is_told_as_modified(tree: Tree) {
    tree.put("/a", "1").await;
    let mut ear = Ear::begun(&tree, "/").await;
    tree.try_put("/a", "2", append()).await.unwrap();
    let (path, entry) = (at("/a"), Some(EntryKind::File));
    ear.expect(&NoticeKind::Modified { path, entry }).await;
}

async fn a_removed_file_is_told(tree: Tree) {
    tree.put("/a", "1").await;
    let mut ear = Ear::begun(&tree, "/").await;
    tree.remove(&at("/a"), Depth::One, If::Always).await.unwrap();
    ear.until(|kind| is_removed(kind, "/a")).await;
}

async fn a_renamed_file_is_told_with_both_names(tree: Tree) {
    tree.put("/a", "1").await;
    tree.make_dir("/d").await;
    let mut ear = Ear::begun(&tree, "/").await;
    tree.rename(&at("/a"), &at("/d/b"), Target::New).await.unwrap();
    let (from, path, entry) = (at("/a"), at("/d/b"), Some(EntryKind::File));
    ear.expect(&NoticeKind::Renamed { from, path, entry }).await;
}

async fn a_removed_directory_is_told(tree: Tree) {
    tree.put("/d/e/f", "1").await;
    let mut ear = Ear::begun(&tree, "/").await;
    tree.remove(&at("/d"), Depth::All, If::Always).await.unwrap();
    ear.until(|kind| is_removed(kind, "/d")).await;
}

async fn everything_in_a_new_directory_is_told(tree: Tree) {
    tree.put("/d/e/f", "1").await;
    let mut ear = Ear::begun(&tree, "/").await;
    tree.copy(&at("/d"), &at("/n"), Target::New).await.unwrap();
    ear.expect(&created("/n", EntryKind::Directory)).await;
    ear.expect(&created("/n/e", EntryKind::Directory)).await;
    ear.expect(&created("/n/e/f", EntryKind::File)).await;
}

async fn everything_in_a_renamed_directory_is_told_at_its_new_place(tree: Tree) {
    tree.put("/d/e/f", "1").await;
    let mut ear = Ear::begun(&tree, "/").await;
    tree.rename(&at("/d"), &at("/n"), Target::New).await.unwrap();
    let (from, path, entry) = (at("/d"), at("/n"), Some(EntryKind::Directory));
    ear.expect(&NoticeKind::Renamed { from, path, entry }).await;
    ear.expect(&created("/n/e", EntryKind::Directory)).await;
    ear.expect(&created("/n/e/f", EntryKind::File)).await;
}

async fn what_happens_beneath_a_renamed_directory_has_its_new_path(tree: Tree) {
    tree.put("/d/e/f", "1").await;
    let mut ear = Ear::begun(&tree, "/").await;
    tree.rename(&at("/d"), &at("/n"), Target::New).await.unwrap();
    ear.expect(&created("/n/e/f", EntryKind::File)).await;
    tree.put("/n/e/g", "1").await;
    ear.expect(&created("/n/e/g", EntryKind::File)).await;
}

async fn a_link_is_told_and_not_followed(tree: Tree) {
    tree.make_dir("/w").await;
    tree.make_dir("/elsewhere").await;
    let mut ear = Ear::begun(&tree, "/w").await;
    tree.link("/w/link", "../elsewhere").await;
    ear.expect(&created("/w/link", EntryKind::Symlink)).await;
    tree.put("/elsewhere/a", "1").await;
    tree.put("/w/last", "1").await;
    let told = ear.until(|kind| *kind == created("/w/last", EntryKind::File)).await;
    assert!(told.iter().all(|kind| !format!("{kind:?}").contains("elsewhere")), "{told:?}");
    assert!(told.iter().all(|kind| !format!("{kind:?}").contains("link/a")), "{told:?}");
}

async fn a_watch_without_depth_tells_own_names_only(tree: Tree) {
    tree.make_dir("/w/d").await;
    let wish = Watch { recursive: false, after: None };
    let mut ear = Ear(tree.watch(&at("/w"), wish).await.unwrap());
    assert_eq!(ear.next().await.kind, NoticeKind::Here);
    tree.put("/w/d/deep", "1").await;
    tree.put("/w/last", "1").await;
    let told = ear.until(|kind| *kind == created("/w/last", EntryKind::File)).await;
    assert!(told.iter().all(|kind| !format!("{kind:?}").contains("deep")), "{told:?}");
}

async fn a_watch_tells_only_what_is_beneath_its_directory(tree: Tree) {
    tree.make_dir("/w").await;
    let mut ear = Ear::begun(&tree, "/w").await;
    tree.put("/outside", "1").await;
    tree.put("/w-beside", "1").await;
    tree.put("/w/last", "1").await;
    let told = ear.until(|kind| *kind == created("/w/last", EntryKind::File)).await;
    assert!(told.iter().all(|kind| !format!("{kind:?}").contains("side")), "{told:?}");
}

async fn a_move_out_of_the_watched_directory_is_a_removal(tree: Tree) {
    tree.put("/w/d/f", "1").await;
    let mut ear = Ear::begun(&tree, "/w").await;
    tree.rename(&at("/w/d"), &at("/d"), Target::New).await.unwrap();
    ear.until(|kind| is_removed(kind, "/w/d")).await;
}

async fn a_tree_that_moves_into_the_watched_directory_is_told_whole(tree: Tree) {
    tree.put("/d/e/f", "1").await;
    tree.make_dir("/w").await;
    let mut ear = Ear::begun(&tree, "/w").await;
    tree.rename(&at("/d"), &at("/w/d"), Target::New).await.unwrap();
    ear.expect(&created("/w/d", EntryKind::Directory)).await;
    ear.expect(&created("/w/d/e/f", EntryKind::File)).await;
}

async fn who_comes_back_is_told_what_happened_since(tree: Tree) {
    let mut ear = Ear::at(&tree, "/", None).await;
    let cursor = ear.next().await.cursor;
    drop(ear);
    tree.put("/a", "1").await;
    tree.put("/b", "1").await;
    let mut ear = Ear::at(&tree, "/", Some(kept(&cursor))).await;
    assert_eq!(ear.next().await, Notice { cursor, kind: NoticeKind::Here });
    ear.expect(&created("/b", EntryKind::File)).await;
}

async fn who_comes_back_halfway_is_told_the_rest(tree: Tree) {
    let mut ear = Ear::at(&tree, "/", None).await;
    let mut cursor = ear.next().await.cursor;
    tree.put_all((0..20).map(|number| format!("/f{number:02}"))).await;
    let mut told = Vec::new();
    // He is cut off after every notice.
    while told.len() < 20 {
        let mut ear = Ear::at(&tree, "/", Some(kept(&cursor))).await;
        assert_eq!(ear.next().await.kind, NoticeKind::Here);
        let notice = ear.next().await;
        cursor = notice.cursor;
        if let NoticeKind::Created { path, .. } = notice.kind {
            told.push(path);
        }
    }
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 20);
}

async fn an_unknown_cursor_is_a_resync(tree: Tree) {
    let texts = ["h0-0", "v0-0", "v1-2~3-4~5-6"];
    for text in texts {
        let mut ear = Ear::at(&tree, "/", Some(text.parse().unwrap())).await;
        let kind = ear.next().await.kind;
        assert!(matches!(kind, NoticeKind::Resync { .. }), "{text}: {kind:?}");
    }
}

async fn after_a_resync_the_watch_goes_on(tree: Tree) {
    let mut ear = Ear::at(&tree, "/", Some("h0-0".parse().unwrap())).await;
    let cursor = ear.next().await.cursor;
    tree.put("/a", "1").await;
    ear.expect(&created("/a", EntryKind::File)).await;
    let mut ear = Ear::at(&tree, "/", Some(kept(&cursor))).await;
    assert_eq!(ear.next().await.kind, NoticeKind::Here);
    ear.expect(&created("/a", EntryKind::File)).await;
}

async fn only_a_directory_can_be_watched(tree: Tree) {
    tree.put("/a", "1").await;
    let refusal = async |path| {
        let watch = tree.watch(&at(path), Watch::default()).await;
        refused(watch.map(|_| "watched"))
    };
    assert_eq!(refusal("/a").await, ErrorKind::NotADirectory);
    assert_eq!(refusal("/missing").await, ErrorKind::NotFound);
}

async fn a_watched_directory_that_goes_ends_the_watch(tree: Tree) {
    tree.put("/w/d/f", "1").await;
    let mut ear = Ear::begun(&tree, "/w/d").await;
    tree.remove(&at("/w"), Depth::All, If::Always).await.unwrap();
    let end = loop {
        let next = timeout(PATIENCE, ear.0.next()).await.expect("an end").expect("an error");
        if let Err(err) = next {
            break err.kind();
        }
    };
    assert_eq!(end, ErrorKind::NotFound);
}

const PATIENCE: Duration = Duration::from_secs(20);

/// One who listens.
struct Ear(NoticeStream);

impl Ear {
    async fn at(tree: &Tree, dir: &str, after: Option<Cursor>) -> Self {
        Self(tree.watch(&at(dir), Watch { recursive: true, after }).await.unwrap())
    }

    /// One who has heard that the watch stands.
    async fn begun(tree: &Tree, dir: &str) -> Self {
        let mut ear = Self::at(tree, dir, None).await;
        assert_eq!(ear.next().await.kind, NoticeKind::Here);
        ear
    }

    async fn next(&mut self) -> Notice {
        let next = timeout(PATIENCE, self.0.next()).await.expect("something is told in time");
        next.expect("the watch goes on").unwrap()
    }

    /// Everything up to a notice.
    async fn until(&mut self, is_meant: impl Fn(&NoticeKind) -> bool) -> Vec<NoticeKind> {
        let mut told = Vec::new();
        loop {
            let kind = self.next().await.kind;
            let is_last = is_meant(&kind);
            assert!(!matches!(kind, NoticeKind::Resync { .. }), "{kind:?} after {told:?}");
            told.push(kind);
            if is_last {
                return told;
            }
        }
    }

    async fn expect(&mut self, expected: &NoticeKind) {
        self.until(|kind| kind == expected).await;
    }
}

fn created(path: &str, entry: EntryKind) -> NoticeKind {
    NoticeKind::Created { path: at(path), entry: Some(entry) }
}

fn is_removed(kind: &NoticeKind, at: &str) -> bool {
    matches!(kind, NoticeKind::Removed { path, .. } if path.as_str() == at)
}

/// A cursor that a client kept as text.
fn kept(cursor: &Cursor) -> Cursor {
    cursor.to_string().parse().unwrap()
}

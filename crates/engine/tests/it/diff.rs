//! What a comparison of two states tells.

use std::sync::Arc;

use futures::TryStreamExt as _;
use sandkeep_engine::{
    Depth, Difference, DifferenceKind, FileSystem, If, Limits, MetadataChange, Parents, Point,
    Step, Store, Target, UnixTime,
};
use storage::Storage;

use crate::contents::{at, fill, put, sandbox, snapshot, write};
use crate::fixture::{memory, stored};
use crate::meddling::Meddling;

/// A difference as one word and one or two paths.
fn line(difference: &Difference) -> String {
    let path = &difference.path;
    match &difference.kind {
        DifferenceKind::Added => format!("added {path}"),
        DifferenceKind::Removed => format!("removed {path}"),
        DifferenceKind::Modified => format!("modified {path}"),
        DifferenceKind::Renamed { from } => format!("renamed {from} {path}"),
    }
}

async fn differences(files: &dyn FileSystem, from: Point, to: Point) -> Vec<Difference> {
    let differences = files.snapshots().unwrap().diff(from, to).await.unwrap();
    differences.try_collect().await.unwrap()
}

async fn lines(files: &dyn FileSystem, from: Point, to: Point) -> Vec<String> {
    differences(files, from, to).await.iter().map(line).collect()
}

/// What steps change in a tree that other steps made.
async fn change(before: Vec<Step>, after: Vec<Step>) -> Vec<String> {
    let kept: [Arc<dyn FileSystem>; 2] = [Arc::new(memory().await), Arc::new(stored().await)];
    let [in_memory, as_objects] = kept.map(|files| {
        let (before, after) = (before.clone(), after.clone());
        async move {
            files.batch(before).await.unwrap();
            let from = snapshot(&*files, "from").await;
            files.batch(after).await.unwrap();
            lines(&*files, from, Point::Live).await
        }
    });
    let lines = in_memory.await;
    assert_eq!(as_objects.await, lines, "stored trees differ as trees in memory do");
    lines
}

fn rename(from: &str, to: &str) -> Step {
    Step::Rename { from: at(from), to: at(to), target: Target::New }
}

fn copy(from: &str, to: &str) -> Step {
    Step::Copy { from: at(from), to: at(to), target: Target::New }
}

fn remove(path: &str) -> Step {
    Step::Remove { path: at(path), depth: Depth::All, expected: If::Always }
}

fn make(dir: &str) -> Step {
    Step::CreateDir { dir: at(dir), parents: Parents::Create }
}

fn link(link: &str, target: &str) -> Step {
    Step::Symlink { link: at(link), target: target.into() }
}

fn set(path: &str, mode: Option<u32>, modified: Option<UnixTime>) -> Step {
    Step::SetMetadata { path: at(path), change: MetadataChange { mode, modified } }
}

#[tokio::test]
async fn equal_states_do_not_differ() {
    let before = vec![put("/a/b", "1"), link("/l", "a"), make("/empty")];
    assert_eq!(change(before, vec![put("/x", "2"), remove("/x")]).await, [""; 0]);
}

#[tokio::test]
async fn what_came_went_and_changed_is_told_in_the_order_of_the_tree() {
    let before = vec![put("/a.txt", "1"), put("/a/z", "1"), put("/b", "1"), put("/c", "1")];
    let after = vec![put("/a/n", "1"), remove("/b"), put("/c", "2"), put("/a.txt", "2")];
    // A directory sorts by its name, whatever its path looks like with what is beneath it.
    let expected = ["added /a/n", "modified /a.txt", "removed /b", "modified /c"];
    assert_eq!(change(before, after).await, expected);
}

#[tokio::test]
async fn a_new_tree_is_told_path_by_path() {
    let after = vec![put("/d/a/x", "1"), put("/d/b", "1"), make("/d/c"), link("/d/l", "b")];
    let expected = ["added /d", "added /d/a", "added /d/a/x", "added /d/b", "added /d/c"];
    assert_eq!(change(vec![], after).await, [&expected[..], &["added /d/l"]].concat());
}

#[tokio::test]
async fn a_tree_that_went_is_told_path_by_path() {
    let before = vec![put("/d/a/x", "1"), put("/d/b", "1"), put("/k", "1")];
    let expected = ["removed /d", "removed /d/a", "removed /d/a/x", "removed /d/b"];
    assert_eq!(change(before, vec![remove("/d")]).await, expected);
}

#[tokio::test]
async fn a_file_with_another_mode_or_time_is_modified() {
    let before = vec![put("/mode", "1"), put("/time", "1"), put("/same", "1")];
    let past = UnixTime { seconds: 1, nanoseconds: 2 };
    let after = vec![set("/mode", Some(0o600), None), set("/time", None, Some(past))];
    assert_eq!(change(before, after).await, ["modified /mode", "modified /time"]);
}

#[tokio::test]
async fn a_directory_is_modified_when_its_mode_is_another() {
    let before = vec![put("/d/x", "1"), put("/e/x", "1")];
    let after = vec![set("/d", Some(0o700), None), put("/d/x", "2"), put("/e/y", "1")];
    assert_eq!(change(before, after).await, ["modified /d", "modified /d/x", "added /e/y"]);
}

#[tokio::test]
async fn a_link_to_elsewhere_is_modified() {
    let before = vec![link("/l", "a"), link("/k", "a")];
    let after = vec![remove("/l"), link("/l", "b")];
    assert_eq!(change(before, after).await, ["modified /l"]);
}

#[tokio::test]
async fn what_is_of_another_kind_went_and_came() {
    let before = vec![put("/file", "1"), put("/dir/x", "1"), put("/linked", "1")];
    let after = vec![
        remove("/file"),
        put("/file/y", "2"),
        remove("/dir"),
        put("/dir", "2"),
        remove("/linked"),
        link("/linked", "dir"),
    ];
    let dir = ["added /dir", "removed /dir", "removed /dir/x"];
    let file = ["removed /file", "added /file", "added /file/y"];
    let linked = ["removed /linked", "added /linked"];
    assert_eq!(change(before, after).await, [&dir[..], &file, &linked].concat());
}

#[tokio::test]
async fn entries_tell_what_was_and_what_is() {
    let files = memory().await;
    write(&files, "/a", "1").await;
    write(&files, "/b", "22").await;
    let from = snapshot(&files, "from").await;
    write(&files, "/a", "333").await;
    let b = files.rename(&at("/b"), &at("/c"), Target::New).await.unwrap();
    let [changed, moved] = &differences(&files, from, Point::Live).await[..] else { panic!() };
    let sizes = [&changed.before, &changed.after].map(|entry| entry.as_ref().unwrap().size);
    assert_eq!(sizes, [1, 3]);
    assert_eq!(moved.before.as_ref().unwrap().path, at("/b"));
    assert_eq!(moved.after, Some(b));
}

#[tokio::test]
async fn a_renamed_file_is_one_line() {
    let before = vec![put("/z", "1"), put("/d/y", "2")];
    let after = vec![rename("/z", "/a"), rename("/d/y", "/z9")];
    assert_eq!(change(before, after).await, ["renamed /z /a", "renamed /d/y /z9"]);
}

#[tokio::test]
async fn a_renamed_directory_is_one_line_whatever_is_beneath_it() {
    let files = stored().await;
    fill(&files, 3000, |number| format!("/old/{}/{number}", number % 7)).await;
    let from = snapshot(&files, "from").await;
    files.rename(&at("/old"), &at("/new"), Target::New).await.unwrap();
    assert_eq!(lines(&files, from.clone(), Point::Live).await, ["renamed /old /new"]);
    assert_eq!(lines(&files, Point::Live, from).await, ["renamed /new /old"]);
}

#[tokio::test]
async fn a_tree_moved_into_a_new_directory_is_one_line() {
    let before = vec![put("/src/a", "1"), put("/src/b", "2")];
    let after = vec![make("/lib"), rename("/src", "/lib/src")];
    assert_eq!(change(before, after).await, ["added /lib", "renamed /src /lib/src"]);
}

#[tokio::test]
async fn a_file_saved_from_a_tree_that_went_was_renamed() {
    let before = vec![put("/d/e/keep", "1"), put("/d/e/lose", "2")];
    let after = vec![rename("/d/e/keep", "/kept"), remove("/d")];
    let expected = ["removed /d", "removed /d/e", "removed /d/e/lose", "renamed /d/e/keep /kept"];
    assert_eq!(change(before, after).await, expected);
}

#[tokio::test]
async fn files_of_a_directory_that_was_renamed_and_changed_were_renamed() {
    let before = vec![put("/old/a", "1"), put("/old/b", "2"), put("/old/c", "3")];
    let after = vec![rename("/old", "/new"), put("/new/b", "other")];
    let new = ["added /new", "renamed /old/a /new/a", "added /new/b", "renamed /old/c /new/c"];
    assert_eq!(
        change(before, after).await,
        [&new[..], &["removed /old", "removed /old/b"]].concat()
    );
}

#[tokio::test]
async fn a_directory_whose_name_is_a_link_now_was_renamed() {
    let before = vec![put("/current/a", "1"), make("/releases")];
    let after = vec![rename("/current", "/releases/1"), link("/current", "releases/1")];
    assert_eq!(change(before, after).await, ["added /current", "renamed /current /releases/1"]);
}

#[tokio::test]
async fn a_copy_was_added() {
    let before = vec![put("/a", "1")];
    let after = vec![copy("/a", "/b"), put("/a", "2")];
    assert_eq!(change(before, after).await, ["modified /a", "added /b"]);
}

#[tokio::test]
async fn of_two_copies_of_what_went_one_was_renamed() {
    let after = vec![copy("/a", "/b"), copy("/a", "/c"), remove("/a")];
    assert_eq!(change(vec![put("/a", "1")], after).await, ["renamed /a /b", "added /c"]);
}

#[tokio::test]
async fn beyond_what_fits_in_memory_renames_are_removals_and_additions() {
    let files = memory().await;
    fill(&files, 20_000, |number| format!("/a/{number:05}")).await;
    let from = snapshot(&files, "from").await;
    files.create_dir(&at("/b"), Parents::Create).await.unwrap();
    let moves =
        (0..20_000).map(|number| rename(&format!("/a/{number:05}"), &format!("/b/{number:05}")));
    files.batch(moves.collect()).await.unwrap();
    let lines = lines(&files, from, Point::Live).await;
    assert_eq!(lines.len(), 40_001);
    assert!(!lines.iter().any(|line| line.starts_with("renamed")));
}

#[tokio::test]
async fn the_deepest_tree_is_compared() {
    let files = stored().await;
    let deep = "/d".repeat(2040);
    let from = snapshot(&files, "from").await;
    write(&files, &format!("{deep}/a"), "1").await;
    let to = snapshot(&files, "to").await;
    assert_eq!(lines(&files, from.clone(), to.clone()).await.len(), 2041);
    write(&files, &format!("{deep}/a"), "2").await;
    assert_eq!(lines(&files, to.clone(), Point::Live).await, [format!("modified {deep}/a")]);
    assert_eq!(lines(&files, to, from).await.len(), 2041);
}

#[tokio::test]
async fn one_change_among_many_files_reads_few_pages() {
    let storage = Meddling::new();
    let store = Store::flushing(Arc::clone(&storage) as Arc<dyn Storage>);
    let files = store.create(&sandbox("many"), Limits::default()).await.unwrap();
    fill(&files, 20_000, |number| format!("/flat/{number}")).await;
    let from = snapshot(&files, "from").await;
    write(&files, "/flat/12345", "changed").await;
    let to = snapshot(&files, "to").await;
    let cold = Store::flushing(Arc::clone(&storage) as Arc<dyn Storage>);
    let files = cold.sandbox(&sandbox("many")).await.unwrap();
    storage.reads();
    assert_eq!(lines(&files, from, to).await, ["modified /flat/12345"]);
    // The root's page, and three or four levels of pages of 32 names, on both sides.
    let reads = storage.reads();
    assert!((4..=16).contains(&reads), "{reads} pages were read");
}

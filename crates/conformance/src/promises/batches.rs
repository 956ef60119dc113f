//! Many changes as one.

use std::future::Future;

use bytes::Bytes;
use engine::{
    Create, Depth, Entry, ErrorKind, If, Limits, Links, MetadataChange, OpenOptions, Parents, Step,
    Target, Version, WriteMode,
};

use crate::promise::{UNLIMITED, promises};
use crate::tree::{Tree, at, refused};

const HUNDRED_IN_ALL: Limits = Limits { total_size: Some(100), ..UNLIMITED };
const FIVE_NODES: Limits = Limits { nodes: Some(5), ..UNLIMITED };

promises! {
    all_steps_of_a_batch_happen needs Batches;
    steps_are_taken_in_order needs Batches;
    a_step_sees_what_those_before_it_did needs Batches;
    a_batch_tells_what_each_step_left needs Batches;
    a_batch_without_steps_changes_nothing needs Batches;
    a_batch_whose_first_step_fails_changes_nothing needs Batches;
    a_batch_whose_middle_step_fails_changes_nothing needs Batches;
    a_batch_whose_last_step_fails_changes_nothing needs Batches;
    a_batch_that_fails_says_where needs Batches;
    a_wrong_belief_about_one_file_changes_none needs Batches;
    a_check_changes_nothing needs Batches;
    a_check_of_a_file_that_changed_fails needs Batches;
    a_check_follows_links needs Batches, Links;
    two_files_change_places_in_one_batch needs Batches;
    a_batch_makes_the_directories_that_it_fills needs Batches;
    a_batch_of_every_step_there_is needs Batches, Links, Metadata;
    a_large_batch_happens_whole needs Batches;
    a_batch_of_large_files_happens_whole needs Batches;
    steps_that_fit_alone_but_not_together_are_refused needs Batches within HUNDRED_IN_ALL;
    steps_that_make_room_for_each_other_fit needs Batches within HUNDRED_IN_ALL;
    what_a_batch_removes_does_not_count needs Batches within FIVE_NODES;
    nodes_that_are_too_many_together_are_refused needs Batches within FIVE_NODES;
    nobody_sees_half_a_batch needs Batches;
    batches_at_once_all_happen needs Batches;
    files_of_one_batch_have_versions_of_their_own needs Batches;
    a_handle_follows_its_file_through_a_batch needs Batches, LastingHandles;
    a_handle_keeps_a_file_that_a_batch_moves_and_removes needs Batches, LastingHandles;
}

fn put(file: &str, content: impl Into<Bytes>) -> Step {
    put_if(file, content, If::Always)
}

fn put_if(file: &str, content: impl Into<Bytes>, expected: If) -> Step {
    let (mode, parents) = (WriteMode::Replace, Parents::Create);
    Step::Write { file: at(file), content: content.into(), mode, parents, expected }
}

fn append(file: &str, content: &'static str) -> Step {
    let (mode, parents, expected) = (WriteMode::Append, Parents::Create, If::Always);
    Step::Write { file: at(file), content: content.into(), mode, parents, expected }
}

fn remove(path: &str) -> Step {
    Step::Remove { path: at(path), depth: Depth::All, expected: If::Always }
}

fn rename(from: &str, to: &str) -> Step {
    Step::Rename { from: at(from), to: at(to), target: Target::New }
}

fn check(path: &str, expected: If) -> Step {
    Step::Check { path: at(path), expected }
}

/// Holds that steps are refused with this kind, and that nothing of them happened.
async fn nothing_happens(tree: &Tree, steps: Vec<Step>, kind: ErrorKind) {
    let (before, root) = (tree.picture().await, tree.entry("/").await);
    assert_eq!(refused(tree.batch(steps).await), kind);
    assert_eq!(tree.picture().await, before);
    assert_eq!(tree.entry("/").await, root);
}

async fn all_steps_of_a_batch_happen(tree: Tree) {
    tree.batch(vec![put("/a", "1"), put("/b", "2"), put("/c/d", "3")]).await.unwrap();
    assert_eq!(tree.text("/a").await, "1");
    assert_eq!(tree.text("/b").await, "2");
    assert_eq!(tree.text("/c/d").await, "3");
}

async fn steps_are_taken_in_order(tree: Tree) {
    tree.batch(vec![put("/a", "1"), append("/a", "2"), append("/a", "3")]).await.unwrap();
    assert_eq!(tree.text("/a").await, "123");
}

async fn a_step_sees_what_those_before_it_did(tree: Tree) {
    let copy = Step::Copy { from: at("/dir"), to: at("/copy"), target: Target::New };
    let gone = Step::Remove { path: at("/dir"), depth: Depth::One, expected: If::Always };
    let steps = vec![put("/dir/file", "1"), copy, remove("/dir/file"), gone];
    tree.batch(steps).await.unwrap();
    assert_eq!(tree.names("/").await, ["copy"]);
    assert_eq!(tree.text("/copy/file").await, "1");
}

async fn a_batch_tells_what_each_step_left(tree: Tree) {
    let left = tree.batch(vec![put("/a", "12"), rename("/a", "/b"), remove("/b")]).await.unwrap();
    let shown =
        |entry: &Option<Entry>| entry.as_ref().map(|entry| (entry.path.clone(), entry.size));
    let shown: Vec<_> = left.iter().map(shown).collect();
    assert_eq!(shown, [Some((at("/a"), 2)), Some((at("/b"), 2)), None]);
}

async fn a_batch_without_steps_changes_nothing(tree: Tree) {
    tree.put("/a", "1").await;
    let before = tree.entry("/a").await;
    assert_eq!(tree.batch(Vec::new()).await.unwrap(), []);
    assert_eq!(tree.entry("/a").await, before);
}

/// Five steps, one of which fails: it makes what is there already.
async fn fails_at(tree: Tree, position: usize) {
    tree.put("/there", "old").await;
    tree.make_dir("/dir").await;
    let mut steps = vec![put("/there", "new"), rename("/dir", "/moved"), put("/moved/file", "1")];
    steps.push(remove("/there"));
    let fails = Step::CreateDir { dir: at("/"), parents: Parents::Require };
    steps.insert(position, fails);
    nothing_happens(&tree, steps, ErrorKind::AlreadyExists).await;
}

async fn a_batch_whose_first_step_fails_changes_nothing(tree: Tree) {
    fails_at(tree, 0).await;
}

async fn a_batch_whose_middle_step_fails_changes_nothing(tree: Tree) {
    fails_at(tree, 2).await;
}

async fn a_batch_whose_last_step_fails_changes_nothing(tree: Tree) {
    fails_at(tree, 4).await;
}

async fn a_batch_that_fails_says_where(tree: Tree) {
    let steps = vec![put("/a", "1"), remove("/missing"), put("/b", "2")];
    let err = tree.batch(steps).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
    assert_eq!(err.path(), Some(&at("/missing")));
}

async fn a_wrong_belief_about_one_file_changes_none(tree: Tree) {
    tree.put("/a", "1").await;
    tree.put("/b", "2").await;
    let right = If::Matches(vec![tree.version("/a").await]);
    let wrong = If::Matches(vec![Version::new("another")]);
    let steps = vec![put_if("/a", "new", right), put_if("/b", "new", wrong)];
    nothing_happens(&tree, steps, ErrorKind::PreconditionFailed).await;
}

async fn a_check_changes_nothing(tree: Tree) {
    tree.put("/a", "1").await;
    let before = tree.entry("/a").await;
    let matches = If::Matches(vec![tree.version("/a").await]);
    let seen = tree.batch(vec![check("/a", matches), check("/b", If::Missing)]).await.unwrap();
    assert_eq!(seen, [Some(before.clone()), None]);
    assert_eq!(tree.entry("/a").await, before);
}

async fn a_check_of_a_file_that_changed_fails(tree: Tree) {
    tree.put("/a", "1").await;
    let matches = If::Matches(vec![tree.version("/a").await]);
    tree.put("/a", "2").await;
    let steps = vec![put("/b", "1"), check("/a", matches)];
    nothing_happens(&tree, steps, ErrorKind::PreconditionFailed).await;
}

async fn a_check_follows_links(tree: Tree) {
    tree.link("/link", "file").await;
    tree.batch(vec![check("/link", If::Missing)]).await.unwrap();
    tree.put("/file", "1").await;
    tree.batch(vec![check("/link", If::Exists)]).await.unwrap();
}

async fn two_files_change_places_in_one_batch(tree: Tree) {
    tree.put("/a", "1").await;
    tree.put("/b", "2").await;
    let steps = vec![rename("/a", "/c"), rename("/b", "/a"), rename("/c", "/b")];
    tree.batch(steps).await.unwrap();
    assert_eq!((tree.text("/a").await, tree.text("/b").await), ("2".into(), "1".into()));
    assert_eq!(tree.names("/").await, ["a", "b"]);
}

async fn a_batch_makes_the_directories_that_it_fills(tree: Tree) {
    let dir = Step::CreateDir { dir: at("/x/y"), parents: Parents::Create };
    tree.batch(vec![dir, put("/x/y/z/file", "1"), put("/x/y/other", "2")]).await.unwrap();
    assert_eq!(tree.names("/x/y").await, ["other", "z"]);
}

async fn a_batch_of_every_step_there_is(tree: Tree) {
    let (from, change) =
        (at("/d/moved"), MetadataChange { mode: Some(0o600), ..MetadataChange::default() });
    let steps = vec![
        Step::CreateDir { dir: at("/d"), parents: Parents::Require },
        put("/d/file", "1"),
        Step::Symlink { link: at("/d/link"), target: "file".into() },
        rename("/d/file", "/d/moved"),
        Step::Copy { from: from.clone(), to: at("/d/copy"), target: Target::New },
        Step::SetMetadata { path: from, change },
        remove("/d/link"),
        check("/d/copy", If::Exists),
    ];
    tree.batch(steps).await.unwrap();
    assert_eq!(tree.names("/d").await, ["copy", "moved"]);
    assert_eq!(tree.entry("/d/moved").await.mode, Some(0o600));
    assert_eq!(tree.entry("/d/copy").await.mode, Some(0o644));
}

async fn a_large_batch_happens_whole(tree: Tree) {
    let steps = (0..2000).map(|n| put(&format!("/{}/{n}", n % 7), n.to_string()));
    tree.batch(steps.collect()).await.unwrap();
    assert_eq!(tree.names("/").await.len(), 7);
    assert_eq!(tree.text("/6/1994").await, "1994");
}

async fn a_batch_of_large_files_happens_whole(tree: Tree) {
    let content = |n: u8| vec![n; 700_000];
    let steps = (0..4).map(|n| put(&format!("/{n}"), content(n)));
    tree.batch(steps.collect()).await.unwrap();
    assert!(tree.content("/3").await == content(3));
    assert!(tree.content("/0").await == content(0));
}

async fn steps_that_fit_alone_but_not_together_are_refused(tree: Tree) {
    let steps = vec![put("/a", vec![1; 60]), put("/b", vec![2; 41])];
    nothing_happens(&tree, steps, ErrorKind::StorageFull).await;
    tree.batch(vec![put("/a", vec![1; 60]), put("/b", vec![2; 40])]).await.unwrap();
}

async fn steps_that_make_room_for_each_other_fit(tree: Tree) {
    tree.put("/old", vec![1; 90]).await;
    tree.batch(vec![put("/new", vec![2; 95]), remove("/old")]).await.unwrap();
    assert_eq!(tree.names("/").await, ["new"]);
}

async fn what_a_batch_removes_does_not_count(tree: Tree) {
    tree.put("/dir/one", "1").await;
    tree.put("/dir/two", "2").await;
    tree.batch(vec![put("/x/y/z", "1"), remove("/dir")]).await.unwrap();
    assert_eq!(tree.names("/x/y").await, ["z"]);
}

async fn nodes_that_are_too_many_together_are_refused(tree: Tree) {
    let steps = (0..5).map(|n| put(&format!("/{n}"), "")).collect();
    nothing_happens(&tree, steps, ErrorKind::TooManyNodes).await;
}

async fn nobody_sees_half_a_batch(tree: Tree) {
    let both = |n: u32| vec![put("/pair/a", n.to_string()), put("/pair/b", n.to_string())];
    tree.batch(both(0)).await.unwrap();
    let writer = tree.clone();
    let writes = tokio::spawn(async move {
        for n in 1..200 {
            writer.batch(both(n)).await.unwrap();
        }
    });
    // A copy is one look at both.
    while !writes.is_finished() {
        tree.copy(&at("/pair"), &at("/seen"), Target::Replace).await.unwrap();
        assert_eq!(tree.text("/seen/a").await, tree.text("/seen/b").await);
        tokio::task::yield_now().await;
    }
    writes.await.unwrap();
}

/// Does so many things at the same time.
async fn at_once<F>(count: usize, each: impl Fn(usize) -> F) -> Vec<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let tasks: Vec<_> = (0..count).map(|n| tokio::spawn(each(n))).collect();
    let mut outcomes = Vec::with_capacity(count);
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}

async fn batches_at_once_all_happen(tree: Tree) {
    let outcomes = at_once(32, |n| {
        let tree = tree.clone();
        async move {
            let steps =
                vec![put(&format!("/{n}/a"), "1"), append("/log", "x"), append("/log", "y")];
            tree.batch(steps).await
        }
    })
    .await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(tree.text("/log").await, "xy".repeat(32));
    assert_eq!(tree.names("/").await.len(), 33);
}

async fn files_of_one_batch_have_versions_of_their_own(tree: Tree) {
    tree.batch(vec![put("/a", "1"), put("/b", "2")]).await.unwrap();
    let version = tree.version("/a").await;
    tree.rename(&at("/b"), &at("/a"), Target::Replace).await.unwrap();
    assert_ne!(tree.version("/a").await, version, "another file has the same version");
}

async fn a_handle_follows_its_file_through_a_batch(tree: Tree) {
    tree.put("/a", "1").await;
    let file = tree.open(&at("/a"), OpenOptions::Write(Create::Never)).await.unwrap();
    tree.batch(vec![rename("/a", "/b"), put("/a", "other"), rename("/b", "/c/d")]).await.unwrap();
    file.write_at(1, "2".into()).await.unwrap();
    assert_eq!(tree.text("/c/d").await, "12");
    assert_eq!(tree.text("/a").await, "other");
}

async fn a_handle_keeps_a_file_that_a_batch_moves_and_removes(tree: Tree) {
    tree.put("/a", "1").await;
    let file = tree.open(&at("/a"), OpenOptions::Write(Create::Never)).await.unwrap();
    let steps = vec![append("/a", "2"), rename("/a", "/b"), put("/a", "other"), remove("/b")];
    tree.batch(steps).await.unwrap();
    assert_eq!(file.read_at(0, 10).await.unwrap(), "12");
    file.write_at(2, "3".into()).await.unwrap();
    assert_eq!(file.read_at(0, 10).await.unwrap(), "123");
    assert_eq!(tree.text("/a").await, "other");
    assert_eq!(refused(tree.stat(&at("/b"), Links::Follow).await), ErrorKind::NotFound);
}

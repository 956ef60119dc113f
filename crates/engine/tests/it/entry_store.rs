//! A tree as keys and values.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Poll;

use futures::{StreamExt as _, TryStreamExt as _};
use proptest::prelude::*;
use sandkeep_engine::{
    CancellationToken, Depth, EntryKind, EntryStore, ErrorKind, FileSystem as _, Limits,
    PathStream, SandboxPath, Store, StoredEntry, UnixTime,
};
use storage::MemoryStorage;

use crate::fixture::{id, memory, noise, refusal, stored};

async fn entries() -> EntryStore {
    EntryStore::new(stored().await)
}

fn never() -> CancellationToken {
    CancellationToken::new()
}

fn cancelled() -> CancellationToken {
    let token = CancellationToken::new();
    token.cancel();
    token
}

fn file(path: &str, content: &str) -> StoredEntry {
    StoredEntry::file(path, content.to_owned()).unwrap()
}

async fn texts(paths: PathStream) -> Vec<String> {
    paths.map_ok(|path| path.to_string()).try_collect().await.unwrap()
}

async fn all_paths(entries: &EntryStore) -> Vec<String> {
    texts(entries.paths(&never()).await.unwrap()).await
}

async fn beginning_with(entries: &EntryStore, prefix: &str) -> Vec<String> {
    texts(entries.paths_beginning_with(prefix, &never()).await.unwrap()).await
}

#[tokio::test]
async fn an_entry_is_one_unit_of_content_and_what_is_known_of_it() {
    let entries = entries().await;
    entries.set(file("src/main.rs", "fn main() {}"), &never()).await.unwrap();
    let entry = entries.get("src/main.rs", &never()).await.unwrap().unwrap();
    assert_eq!((entry.name(), entry.path.as_str()), ("main.rs", "/src/main.rs"));
    assert_eq!((entry.is_directory(), entry.size()), (false, 12));
    assert_eq!((&entry.content[..], entry.mode), (&b"fn main() {}"[..], Some(0o644)));
    assert!(entry.created.is_some() && entry.modified.is_some());
}

#[tokio::test]
async fn a_directory_is_an_entry_without_content() {
    let entries = entries().await;
    entries.set(StoredEntry::directory("src").unwrap(), &never()).await.unwrap();
    let entry = entries.get("src", &never()).await.unwrap().unwrap();
    assert!(entry.is_directory() && entry.content.is_empty() && entry.size() == 0);
    assert_eq!(entry.mode, Some(0o755));
}

#[tokio::test]
async fn the_root_is_an_entry_that_is_always_there() {
    let entries = entries().await;
    let root = entries.get("", &never()).await.unwrap().unwrap();
    assert_eq!((root.name(), root.path.as_str(), root.is_directory()), ("/", "/", true));
    assert_eq!(entries.count(&never()).await.unwrap(), 1);
    let token = never();
    assert_eq!(refusal(entries.delete("/", Depth::All, &token)).await, ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn what_is_missing_is_none_and_does_not_exist() {
    let entries = entries().await;
    entries.set(file("f", ""), &never()).await.unwrap();
    assert!(entries.get("missing", &never()).await.unwrap().is_none());
    assert!(entries.get("f/beneath", &never()).await.unwrap().is_none());
    assert!(!entries.exists("missing", &never()).await.unwrap());
    assert!(entries.exists("f", &never()).await.unwrap());
}

#[tokio::test]
async fn a_set_makes_parents_and_replaces_the_content() {
    let entries = entries().await;
    entries.set(file("a/b/c", "1"), &never()).await.unwrap();
    entries.set(file(r"a\b\c", "22"), &never()).await.unwrap();
    assert!(entries.get("a/b", &never()).await.unwrap().unwrap().is_directory());
    assert_eq!(entries.get("a/b/c", &never()).await.unwrap().unwrap().content, "22");
    assert_eq!(entries.count(&never()).await.unwrap(), 4);
}

#[tokio::test]
async fn a_set_keeps_mode_and_time_as_they_are_given() {
    let entries = entries().await;
    let modified = Some(UnixTime { seconds: -5, nanoseconds: 9 });
    let entry = StoredEntry { mode: Some(0o700), modified, ..file("run", "x") };
    entries.set(entry, &never()).await.unwrap();
    let entry = entries.get("run", &never()).await.unwrap().unwrap();
    assert_eq!((entry.mode, entry.modified), (Some(0o700), modified));
}

#[tokio::test]
async fn a_set_without_a_mode_keeps_the_one_that_is_there() {
    let entries = entries().await;
    entries.set(StoredEntry { mode: Some(0o700), ..file("run", "1") }, &never()).await.unwrap();
    entries.set(file("run", "2"), &never()).await.unwrap();
    assert_eq!(entries.get("run", &never()).await.unwrap().unwrap().mode, Some(0o700));
}

#[tokio::test]
async fn a_file_and_a_directory_never_take_each_others_place() {
    let entries = entries().await;
    entries.set(file("d/x", "1"), &never()).await.unwrap();
    assert_eq!(refusal(entries.set(file("d", ""), &never())).await, ErrorKind::IsADirectory);
    let over_file = StoredEntry::directory("d/x").unwrap();
    assert_eq!(refusal(entries.set(over_file, &never())).await, ErrorKind::AlreadyExists);
    assert_eq!(refusal(entries.set(file("d/x/y", ""), &never())).await, ErrorKind::NotADirectory);
    assert_eq!(entries.get("d/x", &never()).await.unwrap().unwrap().content, "1");
}

#[tokio::test]
async fn an_entry_that_contradicts_itself_is_refused() {
    let entries = entries().await;
    let full = StoredEntry { content: "x".into(), ..StoredEntry::directory("d").unwrap() };
    assert_eq!(refusal(entries.set(full, &never())).await, ErrorKind::InvalidArgument);
    let special = StoredEntry { kind: EntryKind::Special, ..file("f", "") };
    let err = entries.set(special, &never()).await.unwrap_err();
    assert_eq!((err.kind(), err.path().unwrap().as_str()), (ErrorKind::InvalidArgument, "/f"));
}

#[tokio::test]
async fn a_delete_says_whether_there_was_an_entry() {
    let entries = entries().await;
    entries.set(file("f", ""), &never()).await.unwrap();
    assert!(entries.delete("f", Depth::One, &never()).await.unwrap());
    assert!(!entries.delete("f", Depth::One, &never()).await.unwrap());
}

#[tokio::test]
async fn a_directory_with_children_is_deleted_only_when_told() {
    let entries = entries().await;
    entries.set(file("d/x", ""), &never()).await.unwrap();
    let token = never();
    let refused = entries.delete("d", Depth::One, &token);
    assert_eq!(refusal(refused).await, ErrorKind::DirectoryNotEmpty);
    assert!(entries.delete("d", Depth::All, &never()).await.unwrap());
    assert_eq!(all_paths(&entries).await, ["/"]);
}

#[tokio::test]
async fn all_paths_come_parents_first_and_in_the_order_of_bytes() {
    let entries = entries().await;
    for path in ["b", "a/x", "a-b", "a/é", "a/Z", "B"] {
        entries.set(file(path, ""), &never()).await.unwrap();
    }
    let expected = ["/", "/B", "/a", "/a/Z", "/a/x", "/a/é", "/a-b", "/b"];
    assert_eq!(all_paths(&entries).await, expected);
}

#[tokio::test]
async fn a_prefix_is_a_path_up_to_its_last_slash_and_then_the_beginning_of_a_name() {
    let entries = entries().await;
    for path in ["src/main.rs", "src/mod/x", "src/mod2", "src2/main.rs", "sr", "s/rc"] {
        entries.set(file(path, ""), &never()).await.unwrap();
    }
    let src = ["/src", "/src/main.rs", "/src/mod", "/src/mod/x", "/src/mod2"];
    assert_eq!(beginning_with(&entries, "src/").await, src[1..]);
    assert_eq!(beginning_with(&entries, r"\src\mo").await, src[2..]);
    assert_eq!(beginning_with(&entries, "src/mod").await, src[2..]);
    let with_siblings = [&src[..], &["/src2", "/src2/main.rs"]].concat();
    assert_eq!(beginning_with(&entries, "/x/../src").await, with_siblings);
    assert_eq!(beginning_with(&entries, "/src/nothing").await, [""; 0]);
    assert_eq!(beginning_with(&entries, "nothing/").await, [""; 0]);
    assert_eq!(beginning_with(&entries, "sr/").await, [""; 0]);
}

#[tokio::test]
async fn an_empty_prefix_finds_everything() {
    let entries = entries().await;
    entries.set(file("a/b", ""), &never()).await.unwrap();
    assert_eq!(beginning_with(&entries, "").await, ["/", "/a", "/a/b"]);
    assert_eq!(beginning_with(&entries, "/").await, ["/", "/a", "/a/b"]);
}

#[tokio::test]
async fn children_are_what_a_directory_holds_itself() {
    let entries = entries().await;
    entries.set(file("d/sub/deep", ""), &never()).await.unwrap();
    entries.set(file("d/x", ""), &never()).await.unwrap();
    let children = entries.children("d", &never()).await.unwrap();
    assert_eq!(texts(children).await, ["/d/sub", "/d/x"]);
    let missing = entries.children("missing", &never()).await.err().unwrap();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let of_a_file = entries.children("d/x", &never()).await.err().unwrap();
    assert_eq!(of_a_file.kind(), ErrorKind::NotADirectory);
}

#[tokio::test]
async fn many_entries_are_set_together_or_not_at_all() {
    let entries = entries().await;
    let good = vec![file("a/1", "1"), file("b/2", "2"), StoredEntry::directory("c").unwrap()];
    entries.set_many(good, &never()).await.unwrap();
    assert_eq!(all_paths(&entries).await, ["/", "/a", "/a/1", "/b", "/b/2", "/c"]);
    let bad = vec![file("a/1", "changed"), file("new", ""), file("a/1/beneath", "")];
    assert_eq!(refusal(entries.set_many(bad, &never())).await, ErrorKind::NotADirectory);
    assert_eq!(entries.get("a/1", &never()).await.unwrap().unwrap().content, "1");
    assert!(!entries.exists("new", &never()).await.unwrap());
}

#[tokio::test]
async fn many_entries_over_a_limit_leave_nothing() {
    let limits = Limits { total_size: Some(10), ..Limits::default() };
    let tree = Store::in_memory().create(&id("trial"), limits).await.unwrap();
    let entries = EntryStore::new(tree);
    let many = vec![file("a", "123456"), file("b", "12345")];
    assert_eq!(refusal(entries.set_many(many, &never())).await, ErrorKind::StorageFull);
    assert_eq!(entries.count(&never()).await.unwrap(), 1);
}

#[tokio::test]
async fn of_two_entries_of_one_path_the_later_counts() {
    let entries = entries().await;
    let twice = vec![StoredEntry::directory("p").unwrap(), file("p", "file")];
    entries.set_many(twice, &never()).await.unwrap();
    assert_eq!(entries.get("p", &never()).await.unwrap().unwrap().content, "file");
}

#[tokio::test]
async fn nobody_sees_some_of_many_entries() {
    let entries = EntryStore::new(memory().await);
    let writer = tokio::spawn({
        let entries = entries.clone();
        async move {
            for round in 0..200 {
                let text = round.to_string();
                let many = (0..20).map(|at| file(&format!("f{at}"), &text)).collect();
                entries.set_many(many, &never()).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
    });
    while !writer.is_finished() {
        let seen: Vec<_> = entries.entries(&never()).await.unwrap().try_collect().await.unwrap();
        let files: Vec<_> = seen.iter().filter(|entry| !entry.is_directory()).collect();
        assert!(files.is_empty() || files.len() == 20);
        assert!(files.iter().all(|entry| entry.content == files[0].content));
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn clearing_leaves_the_root_and_frees_everything() {
    let tree = stored().await;
    let entries = EntryStore::new(tree.clone());
    entries.set(file("a/b", "12345"), &never()).await.unwrap();
    let before = tree.stat(&SandboxPath::root(), sandkeep_engine::Links::Keep).await.unwrap();
    entries.clear(&never()).await.unwrap();
    assert_eq!(all_paths(&entries).await, ["/"]);
    assert_eq!(tree.usage().await.unwrap().bytes, 0);
    let after = tree.stat(&SandboxPath::root(), sandkeep_engine::Links::Keep).await.unwrap();
    assert_ne!(before.version, after.version);
    entries.set(file("a", "now a file"), &never()).await.unwrap();
    assert_eq!(all_paths(&entries).await, ["/", "/a"]);
}

#[tokio::test]
async fn a_list_shows_the_state_in_which_it_began() {
    let entries = entries().await;
    for at in 0..600 {
        entries.set(file(&format!("d{}/f{at}", at % 7), "old"), &never()).await.unwrap();
    }
    let mut listing = entries.entries(&never()).await.unwrap();
    let first = listing.try_next().await.unwrap().unwrap();
    entries.clear(&never()).await.unwrap();
    entries.set(file("new", "new"), &never()).await.unwrap();
    let rest: Vec<_> = listing.try_collect().await.unwrap();
    assert_eq!((first.name(), rest.len()), ("/", 607));
    let old = rest.iter().filter(|entry| !entry.is_directory());
    assert!(old.clone().count() == 600 && old.clone().all(|entry| entry.content == "old"));
}

#[tokio::test]
async fn all_entries_of_one_tree_set_in_another_are_the_same_tree() {
    let (from, to) = (EntryStore::new(stored().await), EntryStore::new(memory().await));
    from.set(file("small", "1"), &never()).await.unwrap();
    let large = StoredEntry::file("deep/large", noise(300_000)).unwrap();
    from.set(StoredEntry { mode: Some(0o640), ..large }, &never()).await.unwrap();
    let link = StoredEntry { kind: EntryKind::Symlink, ..file("deep/link", "large") };
    from.set(link, &never()).await.unwrap();
    from.set(StoredEntry::directory("empty").unwrap(), &never()).await.unwrap();
    let all: Vec<_> = from.entries(&never()).await.unwrap().try_collect().await.unwrap();
    to.set_many(all.clone(), &never()).await.unwrap();
    let copied: Vec<_> = to.entries(&never()).await.unwrap().try_collect().await.unwrap();
    // The tree keeps when things were made, the root's times, and those of links.
    let kept = |entry: &StoredEntry| {
        let is_own = entry.path.is_root() || entry.kind == EntryKind::Symlink;
        let modified = entry.modified.filter(|_| !is_own);
        StoredEntry { created: None, modified, ..entry.clone() }
    };
    let (all, copied): (Vec<_>, Vec<_>) =
        (all.iter().map(kept).collect(), copied.iter().map(kept).collect());
    assert_eq!(all, copied);
}

#[tokio::test]
async fn a_link_is_an_entry_and_is_replaced_itself() {
    let entries = entries().await;
    entries.set(file("target", "kept"), &never()).await.unwrap();
    let link = StoredEntry { kind: EntryKind::Symlink, ..file("link", "target") };
    entries.set(link.clone(), &never()).await.unwrap();
    let found = entries.get("link", &never()).await.unwrap().unwrap();
    assert_eq!((found.kind, &found.content[..]), (EntryKind::Symlink, &b"target"[..]));
    entries.set(file("link", "a file now"), &never()).await.unwrap();
    assert_eq!(entries.get("link", &never()).await.unwrap().unwrap().content, "a file now");
    assert_eq!(entries.get("target", &never()).await.unwrap().unwrap().content, "kept");
    entries.set(link, &never()).await.unwrap();
    assert_eq!(entries.get("link", &never()).await.unwrap().unwrap().kind, EntryKind::Symlink);
    let over_dir = StoredEntry { kind: EntryKind::Symlink, ..file("/", "x") };
    assert_eq!(refusal(entries.set(over_dir, &never())).await, ErrorKind::IsADirectory);
}

#[tokio::test]
async fn a_cancelled_operation_has_no_effect_and_says_so() {
    let entries = entries().await;
    entries.set(file("kept", "1"), &never()).await.unwrap();
    let err = entries.set(file("kept", "2"), &cancelled()).await.unwrap_err();
    assert_eq!((err.kind(), err.message()), (ErrorKind::Timeout, "the operation was cancelled"));
    let token = cancelled();
    let many = entries.set_many(vec![file("new", "")], &token);
    assert_eq!(refusal(many).await, ErrorKind::Timeout);
    let delete = entries.delete("kept", Depth::One, &token);
    assert_eq!(refusal(delete).await, ErrorKind::Timeout);
    assert_eq!(refusal(entries.clear(&token)).await, ErrorKind::Timeout);
    assert_eq!(all_paths(&entries).await, ["/", "/kept"]);
    assert_eq!(entries.get("kept", &never()).await.unwrap().unwrap().content, "1");
}

#[tokio::test]
async fn a_cancelled_question_is_not_answered() {
    let entries = entries().await;
    assert_eq!(refusal(entries.get("/", &cancelled())).await, ErrorKind::Timeout);
    assert_eq!(refusal(entries.exists("/", &cancelled())).await, ErrorKind::Timeout);
    assert_eq!(refusal(entries.count(&cancelled())).await, ErrorKind::Timeout);
    assert!(entries.paths(&cancelled()).await.is_err());
    assert!(entries.paths_beginning_with("a", &cancelled()).await.is_err());
    assert!(entries.children("/", &cancelled()).await.is_err());
    assert!(entries.entries(&cancelled()).await.is_err());
}

/// Everything here runs on one thread, so the committer cannot have begun when we cancel.
#[tokio::test(flavor = "current_thread")]
async fn an_operation_cancelled_while_it_waits_for_its_commit_has_no_effect() {
    let entries = entries().await;
    let token = CancellationToken::new();
    let mut set = Box::pin(entries.set(file("f", ""), &token));
    assert!(matches!(futures::poll!(&mut set), Poll::Pending));
    token.cancel();
    assert_eq!(refusal(set).await, ErrorKind::Timeout);
    entries.set(file("later", ""), &never()).await.unwrap();
    assert_eq!(all_paths(&entries).await, ["/", "/later"]);
}

#[tokio::test]
async fn a_list_ends_with_an_error_when_it_is_cancelled() {
    let entries = entries().await;
    entries.set(file("a/b", ""), &never()).await.unwrap();
    let token = CancellationToken::new();
    let mut paths = entries.paths(&token).await.unwrap();
    assert_eq!(paths.try_next().await.unwrap().unwrap().as_str(), "/");
    token.cancel();
    assert_eq!(refusal(paths.try_next()).await, ErrorKind::Timeout);
    assert!(paths.next().await.is_none());
}

#[tokio::test]
async fn entries_are_there_after_the_store_was_closed() {
    let storage = Arc::new(MemoryStorage::default());
    let tree = Store::flushing(storage.clone()).create(&id("trial"), Limits::default()).await;
    let entries = EntryStore::new(tree.unwrap());
    entries.set(file("a/b", "kept"), &never()).await.unwrap();
    drop(entries);
    let tree = Store::flushing(storage).sandbox(&id("trial")).await.unwrap();
    let entry = EntryStore::new(tree).get("a/b", &never()).await.unwrap().unwrap();
    assert_eq!(entry.content, "kept");
}

/// What happens to a store and to its model.
#[derive(Clone, Debug)]
enum Act {
    Set(String, String),
    SetDirectory(String),
    Delete(String, Depth),
    Clear,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let path = || proptest::collection::vec("[ab]", 1..4).prop_map(|names| names.join("/"));
    let depth = prop_oneof![Just(Depth::One), Just(Depth::All)];
    let act = prop_oneof![
        6 => (path(), "[xy]{0,3}").prop_map(|(path, content)| Act::Set(path, content)),
        2 => path().prop_map(Act::SetDirectory),
        3 => (path(), depth).prop_map(|(path, depth)| Act::Delete(path, depth)),
        1 => Just(Act::Clear),
    ];
    proptest::collection::vec(act, 0..24)
}

/// Paths with their contents; a directory has none.
type Model = BTreeMap<String, Option<String>>;

fn parents(path: &str) -> Vec<String> {
    path.match_indices('/').skip(1).map(|(at, _)| path[..at].to_owned()).collect()
}

/// Does an act to a model, and says whether it succeeds.
fn model_act(model: &mut Model, act: &Act) -> bool {
    match act {
        Act::Set(path, content) => {
            let path = format!("/{path}");
            let in_the_way = |path: &String| matches!(model.get(path), Some(Some(_)));
            if parents(&path).iter().any(in_the_way) || model.get(&path) == Some(&None) {
                return false;
            }
            parents(&path).into_iter().for_each(|dir| drop(model.insert(dir, None)));
            model.insert(path, Some(content.clone()));
        }
        Act::SetDirectory(path) => {
            let path = format!("/{path}");
            let dirs = [parents(&path), vec![path]].concat();
            if dirs.iter().any(|dir| matches!(model.get(dir), Some(Some(_)))) {
                return false;
            }
            dirs.into_iter().for_each(|dir| drop(model.insert(dir, None)));
        }
        Act::Delete(path, depth) => {
            let (path, beneath) = (format!("/{path}"), format!("/{path}/"));
            let is_full = model.keys().any(|key| key.starts_with(&beneath));
            if *depth == Depth::One && is_full {
                return false;
            }
            model.retain(|key, _| *key != path && !key.starts_with(&beneath));
        }
        Act::Clear => model.clear(),
    }
    true
}

async fn act(entries: &EntryStore, act: &Act) -> bool {
    let token = never();
    let outcome = match act {
        Act::Set(path, content) => entries.set(file(path, content), &token).await,
        Act::SetDirectory(path) => entries.set(StoredEntry::directory(path).unwrap(), &token).await,
        Act::Delete(path, depth) => entries.delete(path, *depth, &token).await.map(drop),
        Act::Clear => entries.clear(&token).await,
    };
    outcome.is_ok()
}

async fn contents(entries: &EntryStore) -> Model {
    let all: Vec<_> = entries.entries(&never()).await.unwrap().try_collect().await.unwrap();
    let text = |entry: &StoredEntry| String::from_utf8(entry.content.to_vec()).unwrap();
    let held = all.iter().filter(|entry| !entry.path.is_root());
    held.map(|entry| {
        let content = (!entry.is_directory()).then(|| text(entry));
        (entry.path.to_string(), content)
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_store_holds_what_a_plain_map_of_paths_would(acts in acts(), prefix in "/?[ab]?/?[ab]?") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let entries = EntryStore::new(memory().await);
            let mut model = Model::new();
            for one in &acts {
                prop_assert_eq!(act(&entries, one).await, model_act(&mut model, one), "{:?}", one);
            }
            prop_assert_eq!(&contents(&entries).await, &model);
            prop_assert_eq!(entries.count(&never()).await.unwrap(), model.len() as u64 + 1);
            let mut found = beginning_with(&entries, &prefix).await;
            found.sort();
            let wanted = format!("/{}", prefix.trim_start_matches('/'));
            let known = model.keys().map(String::as_str).chain(["/"]);
            let mut expected: Vec<_> = known.filter(|key| key.starts_with(&wanted)).collect();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
            Ok(())
        })?;
    }
}

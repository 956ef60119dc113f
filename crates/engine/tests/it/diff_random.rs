//! Random changes of random trees: a comparison tells all of them and nothing else.

use std::collections::HashSet;
use std::sync::Arc;

use futures::TryStreamExt as _;
use proptest::prelude::*;
use sandkeep_engine::{
    Depth, Difference, DifferenceKind, EntryKind, FileSystem, If, Limits, Links, MetadataChange,
    Parents, Point, SandboxPath, Store, Target,
};
use storage::{MemoryStorage, Storage};
use tokio::runtime::Runtime;

use crate::contents::{Contents, at, contents, fill, sandbox, snapshot, write};

/// One change of a tree, on a few names so that changes meet.
#[derive(Clone, Debug)]
enum Act {
    Write(String, u16),
    MakeDir(String),
    Link(String),
    Remove(String),
    Rename(String, String),
    Copy(String, String),
    SetMode(String, u32),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (path(), 0..4000_u16).prop_map(|(path, len)| Act::Write(path, len)),
        1 => path().prop_map(Act::MakeDir),
        1 => path().prop_map(Act::Link),
        3 => path().prop_map(Act::Remove),
        4 => (path(), path()).prop_map(|(from, to)| Act::Rename(from, to)),
        2 => (path(), path()).prop_map(|(from, to)| Act::Copy(from, to)),
        1 => (path(), 0..4_u32).prop_map(|(path, bits)| Act::SetMode(path, 0o600 + bits)),
    ]
}

/// A path of one to three names, or one among many in a large directory.
fn path() -> impl Strategy<Value = String> {
    let name = prop_oneof!["[a-d]", "[a-d]", Just("a.b".to_owned())];
    prop_oneof![
        5 => prop::collection::vec(name, 1..4).prop_map(|names| format!("/{}", names.join("/"))),
        1 => (0..300_u32).prop_map(|number| format!("/many/{number}")),
        1 => (0..40_u32).prop_map(|number| format!("/many/0{number}")),
    ]
}

/// Does what is possible of it.
async fn perform(files: &dyn FileSystem, act: &Act) {
    let outcome = match act {
        Act::Write(path, len) if files.stat(&at(path), Links::Keep).await.is_err() => {
            let parent = at(path).parent().unwrap();
            drop(files.create_dir(&parent, Parents::Create).await);
            if files
                .stat(&parent, Links::Keep)
                .await
                .is_ok_and(|dir| dir.kind == EntryKind::Directory)
            {
                write(files, path, vec![*len as u8; usize::from(*len)]).await;
            }
            return;
        }
        Act::Write(path, len) => {
            let is_file = |kind| kind == EntryKind::File;
            if files.stat(&at(path), Links::Keep).await.is_ok_and(|file| is_file(file.kind)) {
                write(files, path, vec![*len as u8; usize::from(*len)]).await;
            }
            return;
        }
        Act::MakeDir(path) => files.create_dir(&at(path), Parents::Create).await.map(drop),
        Act::Link(path) => files.symlink(&at(path), "somewhere").await.map(drop),
        Act::Remove(path) => files.remove(&at(path), Depth::All, If::Always).await,
        Act::Rename(from, to) => files.rename(&at(from), &at(to), Target::Replace).await.map(drop),
        Act::Copy(from, to) => files.copy(&at(from), &at(to), Target::Replace).await.map(drop),
        Act::SetMode(path, mode) => {
            let change = MetadataChange { mode: Some(*mode), modified: None };
            files.set_metadata(&at(path), change).await.map(drop)
        }
    };
    // What is not possible changes nothing.
    drop(outcome);
}

/// What a tree holds after the differences happened to it. Only what came or changed is looked up
/// in the tree that it shall become.
fn applied(from: &Contents, to: &Contents, differences: &[Difference]) -> Contents {
    let mut result = from.clone();
    for difference in differences {
        match &difference.kind {
            DifferenceKind::Removed => drop(result.remove(&difference.path)),
            DifferenceKind::Renamed { from: source } => {
                result.retain(|path, _| !path.starts_with(source));
            }
            DifferenceKind::Added | DifferenceKind::Modified => {}
        }
    }
    for Difference { path, kind, .. } in differences {
        match kind {
            DifferenceKind::Removed => {}
            DifferenceKind::Added | DifferenceKind::Modified => {
                result.insert(path.clone(), to[path].clone());
            }
            DifferenceKind::Renamed { from: source } => {
                let moved = from.iter().filter(|(path, _)| path.starts_with(source));
                for (old, node) in moved {
                    let rest = old.strip(source).unwrap();
                    let names = rest.split('/').filter(|name| !name.is_empty());
                    let new = names.fold(path.clone(), |path, name| path.join(name).unwrap());
                    result.insert(new, node.clone());
                }
            }
        }
    }
    result
}

/// Each line says something that is so.
fn check_lines(from: &Contents, to: &Contents, differences: &[Difference]) {
    for difference in differences {
        let Difference { path, kind, before, after } = difference;
        let (was, is) = (from.get(path), to.get(path));
        let changed_kind = was.map(|node| node.kind) != is.map(|node| node.kind);
        match kind {
            DifferenceKind::Added => assert!(changed_kind && is.is_some(), "{difference:?}"),
            DifferenceKind::Removed => assert!(changed_kind && was.is_some(), "{difference:?}"),
            DifferenceKind::Modified => assert!(!changed_kind && was != is, "{difference:?}"),
            DifferenceKind::Renamed { from: source } => {
                assert!(changed_kind, "{difference:?}");
                assert_eq!(Some(&from[source]), is);
                assert_ne!(
                    from.get(source).map(|node| node.kind),
                    to.get(source).map(|node| node.kind)
                );
                assert_eq!(before.as_ref().unwrap().path, *source);
            }
        }
        assert_eq!(before.is_none(), *kind == DifferenceKind::Added);
        assert_eq!(after.is_none(), *kind == DifferenceKind::Removed);
    }
}

/// Paths are in the order of the tree, and each is told once, or as removed and added.
fn check_order(differences: &[Difference]) {
    let names = |path: &SandboxPath| path.segments().map(str::to_owned).collect::<Vec<_>>();
    assert!(differences.is_sorted_by_key(|difference| names(&difference.path)));
    let mut told = HashSet::new();
    for Difference { path, kind, .. } in differences {
        assert!(told.insert((path, *kind == DifferenceKind::Removed)), "{path} is told twice");
    }
}

async fn check(files: &dyn FileSystem, from: (Point, &Contents), to: (Point, &Contents)) {
    let differences = files.snapshots().unwrap().diff(from.0, to.0).await.unwrap();
    let differences: Vec<_> = differences.try_collect().await.unwrap();
    assert_eq!(applied(from.1, to.1, &differences), *to.1);
    check_lines(from.1, to.1, &differences);
    check_order(&differences);
}

/// Compares the states before and after some acts, both ways, as snapshots and live.
async fn compare(store: &Store, reopened: Option<&Store>, first: &[Act], then: &[Act]) {
    let files = store.create(&sandbox("random"), Limits::default()).await.unwrap();
    fill(&files, 200, |number| format!("/many/{number}")).await;
    for act in first {
        perform(&files, act).await;
    }
    let (before, from) = (contents(&files).await, snapshot(&files, "from").await);
    for act in then {
        perform(&files, act).await;
    }
    let (after, to) = (contents(&files).await, snapshot(&files, "to").await);
    check(&files, (from.clone(), &before), (Point::Live, &after)).await;
    check(&files, (Point::Live, &after), (from.clone(), &before)).await;
    check(&files, (to.clone(), &after), (Point::Live, &after)).await;
    // Nothing is at hand in a store that was just opened.
    let files = match reopened {
        Some(store) => store.sandbox(&sandbox("random")).await.unwrap(),
        None => files,
    };
    check(&files, (from, &before), (to, &after)).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn differences_make_one_tree_in_memory_of_another(
        first in prop::collection::vec(act(), 0..30),
        then in prop::collection::vec(act(), 0..20),
    ) {
        Runtime::new().unwrap().block_on(compare(&Store::in_memory(), None, &first, &then));
    }

    #[test]
    fn differences_make_one_stored_tree_of_another(
        first in prop::collection::vec(act(), 0..30),
        then in prop::collection::vec(act(), 0..20),
    ) {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::default());
        let [store, reopened] = [(); 2].map(|()| Store::flushing(Arc::clone(&storage)));
        Runtime::new().unwrap().block_on(compare(&store, Some(&reopened), &first, &then));
    }
}

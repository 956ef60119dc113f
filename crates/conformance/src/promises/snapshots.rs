//! States of a tree that are kept and brought back.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{
    Create, Depth, ErrorKind, FileSystem, If, Limits, Links, MetadataChange, NewSnapshot,
    OpenOptions, Parents, Result, Snapshot, SnapshotId, Snapshots, Span, Target,
};

use crate::promise::{UNLIMITED, promises};
use crate::tree::{Tree, append, at, gather, refused};

const HUNDRED_IN_ALL: Limits = Limits { total_size: Some(100), ..UNLIMITED };

promises! {
    a_snapshot_keeps_what_was_there needs Snapshots;
    what_happens_later_does_not_show_in_a_snapshot needs Snapshots;
    a_snapshot_of_an_empty_tree_is_empty needs Snapshots;
    a_snapshot_keeps_modes_times_and_links needs Snapshots, Metadata, Links;
    a_snapshot_cannot_be_changed needs Snapshots;
    a_snapshot_is_called_as_asked needs Snapshots;
    a_snapshot_without_a_name_gets_one_of_its_own needs Snapshots;
    a_name_that_is_taken_is_refused needs Snapshots;
    a_snapshot_keeps_its_message_and_labels needs Snapshots;
    a_message_that_is_too_long_is_refused needs Snapshots;
    labels_that_are_too_many_or_too_long_are_refused needs Snapshots;
    a_snapshot_tells_how_much_it_holds needs Snapshots, Usage;
    snapshots_are_listed_in_order_page_by_page needs Snapshots;
    an_unknown_snapshot_is_not_found needs Snapshots;
    a_snapshot_that_was_deleted_is_gone needs Snapshots;
    the_name_of_a_deleted_snapshot_is_free needs Snapshots;
    whoever_reads_a_snapshot_may_finish_when_it_is_deleted needs Snapshots, LastingHandles;
    a_restore_brings_everything_back needs Snapshots;
    a_restore_keeps_the_snapshot needs Snapshots;
    a_restore_of_a_directory_leaves_the_rest needs Snapshots;
    a_restore_of_a_file_leaves_the_rest needs Snapshots;
    a_restore_of_what_was_not_there_removes_it needs Snapshots;
    a_restore_makes_parents_that_are_gone needs Snapshots;
    a_restore_follows_no_link_on_the_way needs Snapshots, Links;
    a_restore_of_what_never_changed_changes_nothing needs Snapshots;
    a_restore_beyond_the_limit_changes_nothing needs Snapshots within HUNDRED_IN_ALL;
    a_restore_within_a_full_tree_needs_room_for_the_difference_only
        needs Snapshots within HUNDRED_IN_ALL;
    a_file_that_comes_back_has_the_version_that_it_had needs Snapshots;
    nobody_sees_half_a_restore needs Snapshots;
    a_snapshot_at_work_is_one_moment needs Snapshots, Batches;
    a_handle_sees_a_file_come_back needs Snapshots, LastingHandles;
    a_handle_keeps_a_file_that_a_restore_takes_away needs Snapshots, LastingHandles;
    snapshots_at_once_get_names_of_their_own needs Snapshots;
}

fn snapshots(tree: &Tree) -> &dyn Snapshots {
    tree.snapshots().expect("a tree with Ability::Snapshots has them")
}

fn id(text: &str) -> SnapshotId {
    SnapshotId::parse(text).unwrap()
}

fn named(text: &str) -> NewSnapshot {
    NewSnapshot { id: Some(id(text)), ..NewSnapshot::default() }
}

async fn take(tree: &Tree, name: &str) -> Snapshot {
    snapshots(tree).create(named(name)).await.unwrap()
}

async fn restore(tree: &Tree, name: &str, path: &str) -> Result<()> {
    snapshots(tree).restore(&id(name), &at(path)).await
}

async fn open(tree: &Tree, name: &str) -> Arc<dyn FileSystem> {
    snapshots(tree).open(&id(name)).await.unwrap()
}

async fn text(files: &dyn FileSystem, file: &str) -> String {
    let content = files.read(&at(file), Span::Whole).await.unwrap();
    String::from_utf8(gather(content.body).await.unwrap()).unwrap()
}

/// A tree of some files, taken as `before`, and then changed everywhere.
async fn taken_and_changed(tree: &Tree) -> BTreeMap<String, String> {
    tree.put("/file", "old").await;
    tree.put("/dir/kept", "kept").await;
    tree.put("/dir/sub/deep", "deep").await;
    tree.put("/large", vec![b'x'; 300_000]).await;
    let picture = tree.picture().await;
    take(tree, "before").await;
    tree.put("/file", "new").await;
    tree.put("/added", "added").await;
    tree.remove(&at("/dir/sub"), Depth::All, If::Always).await.unwrap();
    tree.rename(&at("/dir/kept"), &at("/moved"), Target::New).await.unwrap();
    tree.try_put("/large", "more", append()).await.unwrap();
    picture
}

async fn a_snapshot_keeps_what_was_there(tree: Tree) {
    taken_and_changed(&tree).await;
    let kept = open(&tree, "before").await;
    assert_eq!(text(&*kept, "/file").await, "old");
    assert_eq!(text(&*kept, "/dir/sub/deep").await, "deep");
    assert_eq!(text(&*kept, "/large").await, "x".repeat(300_000));
}

async fn what_happens_later_does_not_show_in_a_snapshot(tree: Tree) {
    taken_and_changed(&tree).await;
    let kept = open(&tree, "before").await;
    assert_eq!(refused(kept.stat(&at("/added"), Links::Keep).await), ErrorKind::NotFound);
    assert_eq!(refused(kept.stat(&at("/moved"), Links::Keep).await), ErrorKind::NotFound);
}

async fn a_snapshot_of_an_empty_tree_is_empty(tree: Tree) {
    take(&tree, "empty").await;
    tree.put("/file", "1").await;
    restore(&tree, "empty", "/").await.unwrap();
    assert!(tree.names("/").await.is_empty());
}

async fn a_snapshot_keeps_modes_times_and_links(tree: Tree) {
    tree.put("/file", "1").await;
    tree.link("/link", "file").await;
    let change = MetadataChange { mode: Some(0o600), ..MetadataChange::default() };
    let before = tree.set_metadata(&at("/file"), change).await.unwrap();
    take(&tree, "before").await;
    tree.put("/file", "2").await;
    tree.remove(&at("/link"), Depth::One, If::Always).await.unwrap();
    let kept = open(&tree, "before").await;
    assert_eq!(kept.stat(&at("/file"), Links::Keep).await.unwrap(), before);
    assert_eq!(kept.read_link(&at("/link")).await.unwrap(), "file");
}

async fn a_snapshot_cannot_be_changed(tree: Tree) {
    tree.put("/file", "1").await;
    take(&tree, "before").await;
    let kept = open(&tree, "before").await;
    let removed = kept.remove(&at("/file"), Depth::One, If::Always).await;
    assert_eq!(refused(removed), ErrorKind::ReadOnly);
    let made = kept.create_dir(&at("/dir"), Parents::Create).await;
    assert_eq!(refused(made), ErrorKind::ReadOnly);
    let opened = kept.open(&at("/file"), OpenOptions::Write(Create::Never)).await;
    assert_eq!(refused(opened), ErrorKind::ReadOnly);
    assert_eq!(refused(kept.batch(Vec::new()).await), ErrorKind::ReadOnly);
    assert_eq!(text(&*kept, "/file").await, "1");
}

async fn a_snapshot_is_called_as_asked(tree: Tree) {
    assert_eq!(take(&tree, "v1.0_b-2").await.id, id("v1.0_b-2"));
    assert_eq!(snapshots(&tree).stat(&id("v1.0_b-2")).await.unwrap().id, id("v1.0_b-2"));
}

async fn a_snapshot_without_a_name_gets_one_of_its_own(tree: Tree) {
    let one = snapshots(&tree).create(NewSnapshot::default()).await.unwrap();
    let other = snapshots(&tree).create(NewSnapshot::default()).await.unwrap();
    assert_ne!(one.id, other.id);
    snapshots(&tree).stat(&one.id).await.unwrap();
}

async fn a_name_that_is_taken_is_refused(tree: Tree) {
    tree.put("/file", "old").await;
    take(&tree, "one").await;
    tree.put("/file", "new").await;
    let again = snapshots(&tree).create(named("one")).await;
    assert_eq!(refused(again), ErrorKind::AlreadyExists);
    assert_eq!(text(&*open(&tree, "one").await, "/file").await, "old");
}

async fn a_snapshot_keeps_its_message_and_labels(tree: Tree) {
    let labels =
        BTreeMap::from([("tool".to_owned(), "é".to_owned()), ("b".to_owned(), "".to_owned())]);
    let new = NewSnapshot { message: "before the change\n".into(), labels, ..named("one") };
    let taken = snapshots(&tree).create(new.clone()).await.unwrap();
    assert_eq!((&taken.message, &taken.labels), (&new.message, &new.labels));
    assert_eq!(snapshots(&tree).stat(&id("one")).await.unwrap(), taken);
}

async fn a_message_that_is_too_long_is_refused(tree: Tree) {
    let long = NewSnapshot { message: "x".repeat(4097), ..named("one") };
    assert_eq!(refused(snapshots(&tree).create(long).await), ErrorKind::InvalidArgument);
    let fits = NewSnapshot { message: "x".repeat(4096), ..named("one") };
    snapshots(&tree).create(fits).await.unwrap();
}

async fn labels_that_are_too_many_or_too_long_are_refused(tree: Tree) {
    let label = |n: usize| (n.to_string(), "x".to_owned());
    let many = NewSnapshot { labels: (0..65).map(label).collect(), ..named("one") };
    assert_eq!(refused(snapshots(&tree).create(many).await), ErrorKind::InvalidArgument);
    let long = NewSnapshot { labels: [("x".repeat(257), String::new())].into(), ..named("one") };
    assert_eq!(refused(snapshots(&tree).create(long).await), ErrorKind::InvalidArgument);
    let fits = NewSnapshot { labels: (0..64).map(label).collect(), ..named("one") };
    snapshots(&tree).create(fits).await.unwrap();
}

async fn a_snapshot_tells_how_much_it_holds(tree: Tree) {
    taken_and_changed(&tree).await;
    let kept = snapshots(&tree).stat(&id("before")).await.unwrap();
    assert_eq!((kept.usage.bytes, kept.usage.files, kept.usage.directories), (300_011, 4, 3));
    assert_eq!(open(&tree, "before").await.usage().await.unwrap(), kept.usage);
}

async fn snapshots_are_listed_in_order_page_by_page(tree: Tree) {
    for name in ["c", "a", "e", "b", "d"] {
        take(&tree, name).await;
    }
    let page = |after: Option<&'static str>, limit| {
        let tree = tree.clone();
        async move {
            let after = after.map(id);
            let page = snapshots(&tree).list(after.as_ref(), limit).await.unwrap();
            page.iter().map(|kept| kept.id.to_string()).collect::<Vec<_>>()
        }
    };
    assert_eq!(page(None, 2).await, ["a", "b"]);
    assert_eq!(page(Some("b"), 2).await, ["c", "d"]);
    assert_eq!(page(Some("d"), 2).await, ["e"]);
    assert_eq!(page(Some("bb"), 9).await, ["c", "d", "e"]);
    assert!(page(Some("e"), 2).await.is_empty());
}

async fn an_unknown_snapshot_is_not_found(tree: Tree) {
    let (all, unknown) = (snapshots(&tree), id("unknown"));
    assert_eq!(refused(all.stat(&unknown).await), ErrorKind::NotFound);
    assert_eq!(refused(all.open(&unknown).await), ErrorKind::NotFound);
    assert_eq!(refused(all.restore(&unknown, &at("/")).await), ErrorKind::NotFound);
    assert_eq!(refused(all.delete(&unknown).await), ErrorKind::NotFound);
}

async fn a_snapshot_that_was_deleted_is_gone(tree: Tree) {
    take(&tree, "one").await;
    take(&tree, "two").await;
    snapshots(&tree).delete(&id("one")).await.unwrap();
    assert_eq!(refused(snapshots(&tree).stat(&id("one")).await), ErrorKind::NotFound);
    assert_eq!(snapshots(&tree).list(None, 9).await.unwrap().len(), 1);
    assert_eq!(refused(snapshots(&tree).delete(&id("one")).await), ErrorKind::NotFound);
}

async fn the_name_of_a_deleted_snapshot_is_free(tree: Tree) {
    tree.put("/file", "old").await;
    take(&tree, "one").await;
    snapshots(&tree).delete(&id("one")).await.unwrap();
    tree.put("/file", "new").await;
    take(&tree, "one").await;
    assert_eq!(text(&*open(&tree, "one").await, "/file").await, "new");
}

async fn whoever_reads_a_snapshot_may_finish_when_it_is_deleted(tree: Tree) {
    taken_and_changed(&tree).await;
    let kept = open(&tree, "before").await;
    snapshots(&tree).delete(&id("before")).await.unwrap();
    assert_eq!(text(&*kept, "/large").await, "x".repeat(300_000));
}

async fn a_restore_brings_everything_back(tree: Tree) {
    let before = taken_and_changed(&tree).await;
    restore(&tree, "before", "/").await.unwrap();
    assert_eq!(tree.picture().await, before);
}

async fn a_restore_keeps_the_snapshot(tree: Tree) {
    let before = taken_and_changed(&tree).await;
    restore(&tree, "before", "/").await.unwrap();
    tree.put("/file", "changed again").await;
    restore(&tree, "before", "/").await.unwrap();
    assert_eq!(tree.picture().await, before);
}

async fn a_restore_of_a_directory_leaves_the_rest(tree: Tree) {
    taken_and_changed(&tree).await;
    restore(&tree, "before", "/dir").await.unwrap();
    assert_eq!(tree.names("/dir").await, ["kept", "sub"]);
    assert_eq!(tree.text("/dir/sub/deep").await, "deep");
    assert_eq!(tree.text("/file").await, "new");
    assert_eq!(tree.names("/").await, ["added", "dir", "file", "large", "moved"]);
}

async fn a_restore_of_a_file_leaves_the_rest(tree: Tree) {
    taken_and_changed(&tree).await;
    restore(&tree, "before", "/file").await.unwrap();
    assert_eq!(tree.text("/file").await, "old");
    assert_eq!(tree.text("/added").await, "added");
}

async fn a_restore_of_what_was_not_there_removes_it(tree: Tree) {
    taken_and_changed(&tree).await;
    restore(&tree, "before", "/added").await.unwrap();
    assert_eq!(tree.names("/").await, ["dir", "file", "large", "moved"]);
    restore(&tree, "before", "/nowhere").await.unwrap();
    assert_eq!(tree.names("/").await, ["dir", "file", "large", "moved"]);
}

async fn a_restore_makes_parents_that_are_gone(tree: Tree) {
    taken_and_changed(&tree).await;
    tree.remove(&at("/dir"), Depth::All, If::Always).await.unwrap();
    restore(&tree, "before", "/dir/sub/deep").await.unwrap();
    assert_eq!(tree.text("/dir/sub/deep").await, "deep");
    assert_eq!(tree.names("/dir").await, ["sub"]);
}

async fn a_restore_follows_no_link_on_the_way(tree: Tree) {
    tree.put("/there/file", "old").await;
    tree.symlink(&at("/link"), "there").await.unwrap();
    take(&tree, "linked").await;
    tree.put("/there/file", "new").await;
    assert!(restore(&tree, "linked", "/link/file").await.is_err());
    assert_eq!(tree.text("/there/file").await, "new");
    // Nor one that was there then.
    tree.remove(&at("/link"), Depth::One, If::Always).await.unwrap();
    tree.put("/link/file", "mine").await;
    assert!(restore(&tree, "linked", "/link/file").await.is_err());
    assert_eq!(tree.text("/link/file").await, "mine");
    assert_eq!(tree.text("/there/file").await, "new");
}

async fn a_restore_of_what_never_changed_changes_nothing(tree: Tree) {
    tree.put("/dir/file", "1").await;
    take(&tree, "before").await;
    let before = tree.entry("/dir/file").await;
    restore(&tree, "before", "/dir").await.unwrap();
    assert_eq!(tree.entry("/dir/file").await, before);
}

async fn a_restore_beyond_the_limit_changes_nothing(tree: Tree) {
    tree.put("/a/file", "x".repeat(60)).await;
    take(&tree, "before").await;
    tree.rename(&at("/a"), &at("/b"), Target::New).await.unwrap();
    let before = tree.picture().await;
    assert_eq!(refused(restore(&tree, "before", "/a").await), ErrorKind::StorageFull);
    assert_eq!(tree.picture().await, before);
}

async fn a_restore_within_a_full_tree_needs_room_for_the_difference_only(tree: Tree) {
    tree.put("/file", "x".repeat(90)).await;
    take(&tree, "before").await;
    tree.put("/file", "y".repeat(100)).await;
    restore(&tree, "before", "/").await.unwrap();
    assert_eq!(tree.text("/file").await, "x".repeat(90));
}

async fn a_file_that_comes_back_has_the_version_that_it_had(tree: Tree) {
    tree.put("/file", "old").await;
    let version = tree.version("/file").await;
    take(&tree, "before").await;
    tree.put("/file", "new").await;
    assert_ne!(tree.version("/file").await, version);
    restore(&tree, "before", "/file").await.unwrap();
    assert_eq!(tree.version("/file").await, version);
}

/// Two files that always say the same.
async fn put_pair(tree: &Tree, text: &str) {
    tree.put("/pair/a", text.to_owned()).await;
    tree.put("/pair/b", text.to_owned()).await;
}

async fn nobody_sees_half_a_restore(tree: Tree) {
    put_pair(&tree, "one").await;
    take(&tree, "one").await;
    put_pair(&tree, "two").await;
    take(&tree, "two").await;
    let restorer = tree.clone();
    let restores = tokio::spawn(async move {
        for _ in 0..50 {
            restore(&restorer, "one", "/pair").await.unwrap();
            restore(&restorer, "two", "/pair").await.unwrap();
        }
    });
    // A copy is one look at both.
    while !restores.is_finished() {
        tree.copy(&at("/pair"), &at("/seen"), Target::Replace).await.unwrap();
        assert_eq!(tree.text("/seen/a").await, tree.text("/seen/b").await);
        tokio::task::yield_now().await;
    }
    restores.await.unwrap();
}

async fn a_snapshot_at_work_is_one_moment(tree: Tree) {
    let both = |n: usize| {
        let (mode, parents, expected) = (engine::WriteMode::Replace, Parents::Create, If::Always);
        let put = |file: &str| engine::Step::Write {
            file: at(file),
            content: n.to_string().into(),
            mode,
            parents,
            expected: expected.clone(),
        };
        vec![put("/a"), put("/b")]
    };
    tree.batch(both(0)).await.unwrap();
    let writer = tree.clone();
    let writes = tokio::spawn(async move {
        for n in 1..100 {
            writer.batch(both(n)).await.unwrap();
        }
    });
    let mut taken = 0;
    while !writes.is_finished() {
        let name = format!("s{taken}");
        take(&tree, &name).await;
        let kept = open(&tree, &name).await;
        assert_eq!(text(&*kept, "/a").await, text(&*kept, "/b").await);
        taken += 1;
        tokio::task::yield_now().await;
    }
    writes.await.unwrap();
}

async fn a_handle_sees_a_file_come_back(tree: Tree) {
    tree.put("/file", "old").await;
    take(&tree, "before").await;
    let file = tree.open(&at("/file"), OpenOptions::Write(Create::Never)).await.unwrap();
    file.write_at(0, "NEW".into()).await.unwrap();
    restore(&tree, "before", "/").await.unwrap();
    assert_eq!(file.read_at(0, 9).await.unwrap(), "old");
    file.write_at(3, "er".into()).await.unwrap();
    assert_eq!(tree.text("/file").await, "older");
}

async fn a_handle_keeps_a_file_that_a_restore_takes_away(tree: Tree) {
    take(&tree, "before").await;
    tree.put("/file", "1").await;
    let file = tree.open(&at("/file"), OpenOptions::Write(Create::Never)).await.unwrap();
    restore(&tree, "before", "/").await.unwrap();
    assert_eq!(file.read_at(0, 9).await.unwrap(), "1");
    file.write_at(1, "2".into()).await.unwrap();
    assert_eq!(file.read_at(0, 9).await.unwrap(), "12");
    assert!(tree.names("/").await.is_empty());
}

async fn snapshots_at_once_get_names_of_their_own(tree: Tree) {
    let takes: Vec<_> = (0..32)
        .map(|_| {
            let tree = tree.clone();
            tokio::spawn(async move { snapshots(&tree).create(NewSnapshot::default()).await })
        })
        .collect();
    for taken in takes {
        taken.await.unwrap().unwrap();
    }
    assert_eq!(snapshots(&tree).list(None, 99).await.unwrap().len(), 32);
}

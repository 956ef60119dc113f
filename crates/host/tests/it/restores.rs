//! Restores: all of one or nothing of it, and finished by the next start if they broke off.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use host::{Error, Look, Restore, Time};

use crate::{Staged, World, open};

const THEN: Time = Time { seconds: 1_000_000_000, nanoseconds: 5 };

/// Makes a file in a slot, to go to a path.
fn put(restore: &mut Restore<'_>, world: &World, path: &str, content: &str) {
    let mut root = world.dir.descend().unwrap();
    let slot = restore.slot(root.here().unwrap(), None).unwrap();
    let file = restore.stage().begin_file(&slot).unwrap();
    file.write_all_at(content.as_bytes(), 0).unwrap();
    restore.stage().finish_file(&file, 0o640, THEN).unwrap();
    restore.put(Path::new(path)).unwrap();
}

/// A restore that changes `a/old` and `b/old`, adds `a/new` and removes `b/goes`.
fn prepared(world: &World) -> Restore<'_> {
    for name in ["a/old", "b/old", "b/goes"] {
        world.put(name, "before").unwrap();
    }
    let mut restore = world.dir.begin_restore(Path::new("")).unwrap();
    put(&mut restore, world, "a/old", "after");
    put(&mut restore, world, "a/new", "after");
    put(&mut restore, world, "b/old", "after");
    restore.remove(Path::new("b/goes")).unwrap();
    restore
}

fn contents(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for dir in ["a", "b"] {
        for entry in fs::read_dir(root.join(dir)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.push((name, fs::read_to_string(path).unwrap()));
        }
    }
    found.sort();
    found
}

fn told(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, content)| ((*name).into(), (*content).into())).collect()
}

fn before() -> Vec<(String, String)> {
    told(&[("a/old", "before"), ("b/goes", "before"), ("b/old", "before")])
}

fn after() -> Vec<(String, String)> {
    told(&[("a/new", "after"), ("a/old", "after"), ("b/old", "after")])
}

/// What lies in the staging directories of all processes.
fn staged(world: &World) -> Vec<PathBuf> {
    let own = fs::read_dir(&world.staging).unwrap().map(|entry| entry.unwrap().path());
    own.flat_map(|dir| fs::read_dir(dir).unwrap()).map(|entry| entry.unwrap().path()).collect()
}

/// Breaks a restore off before its `step`th exchange, as a kill would: nothing is tidied up.
fn break_off(restore: Restore<'_>, step: usize) {
    let mut steps = 0;
    let broken = catch_unwind(AssertUnwindSafe(|| {
        restore.exchange(|_| {
            steps += 1;
            assert!(steps < step, "broken off");
        })
    }));
    assert!(broken.is_err());
}

/// The process ends, and another one opens the tree.
fn restarted(world: World) -> World {
    let World { _keep, dir, root, outside, staging } = world;
    drop(dir);
    let dir = open(&root, Staged::Outside, &staging);
    World { _keep, dir, root, outside, staging }
}

#[test]
fn entries_are_exchanged_added_and_removed() {
    let world = World::new(Staged::Outside);
    assert_eq!(prepared(&world).exchange(|_| ()).unwrap(), None);
    assert_eq!(contents(&world.root), after());
    let metadata = fs::metadata(world.root.join("a/old")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o640);
    assert_eq!(staged(&world), [] as [PathBuf; 0]);
}

#[test]
fn a_restore_that_is_not_carried_out_never_was() {
    let world = World::new(Staged::Outside);
    drop(prepared(&world));
    assert_eq!(contents(&world.root), before());
    assert_eq!(staged(&world), [] as [PathBuf; 0]);
}

#[test]
fn a_failure_leaves_everything_as_it_was() {
    let world = World::new(Staged::Outside);
    world.put("c/file", "x").unwrap();
    let mut restore = prepared(&world);
    put(&mut restore, &world, "c/file", "after");
    let mut steps = 0;
    let outcome = restore.exchange(|_| {
        steps += 1;
        if steps == 3 {
            fs::rename(world.root.join("c"), world.outside.join("c")).unwrap();
            symlink("../outside/c", world.root.join("c")).unwrap();
        }
    });
    assert_eq!(outcome.unwrap_err(), Error::Busy);
    assert_eq!(contents(&world.root), before());
    assert_eq!(fs::read_to_string(world.outside.join("c/file")).unwrap(), "x");
    assert_eq!(staged(&world), [] as [PathBuf; 0]);
}

#[test]
fn a_restore_that_broke_off_is_finished_by_the_next_start() {
    for step in 1..=4 {
        let world = World::new(Staged::Outside);
        break_off(prepared(&world), step);
        let world = restarted(world);
        assert_eq!(contents(&world.root), after(), "broken off at {step}");
        assert_eq!(staged(&world), [] as [PathBuf; 0]);
        assert_eq!(fs::read_dir(&world.staging).unwrap().count(), 1);
    }
}

#[test]
fn a_restore_that_broke_off_is_finished_before_the_next_one() {
    let world = World::new(Staged::Outside);
    break_off(prepared(&world), 2);
    let mut restore = world.dir.begin_restore(Path::new("")).unwrap();
    assert_eq!(contents(&world.root), after());
    put(&mut restore, &world, "a/new", "newer");
    restore.exchange(|_| ()).unwrap();
    let world = restarted(world);
    assert_eq!(world.read("a/new").unwrap(), "newer");
}

#[test]
fn a_restore_of_another_tree_waits_for_that_tree() {
    let world = World::new(Staged::Outside);
    break_off(prepared(&world), 2);
    let half = contents(&world.root);
    let World { _keep, dir, root, outside, staging } = world;
    drop(dir);
    let other = open(&outside, Staged::Outside, &staging);
    assert_eq!(contents(&root), half);
    drop(other);
    let dir = open(&root, Staged::Outside, &staging);
    assert_eq!(contents(&root), after());
    drop(dir);
    assert_eq!(fs::read_dir(&staging).unwrap().count(), 0);
}

#[test]
fn a_sweep_of_a_parent_leaves_a_restore_alone_that_is_awaited() {
    let world = World::new(Staged::Outside);
    break_off(prepared(&world), 2);
    let World { _keep, dir, root, outside: _, staging } = world;
    drop(dir);
    open(root.parent().unwrap(), Staged::Beside, &staging).sweep().unwrap();
    let _dir = open(&root, Staged::Outside, &staging);
    assert_eq!(contents(&root), after());
}

#[test]
fn a_journal_that_is_not_whole_is_not_followed() {
    let world = World::new(Staged::Outside);
    break_off(prepared(&world), 1);
    let journal = staged(&world)[0].join("journal");
    let whole = fs::read(&journal).unwrap();
    fs::write(&journal, &whole[..whole.len() - 3]).unwrap();
    let world = restarted(world);
    assert_eq!(contents(&world.root), before());
    assert_eq!(staged(&world), [] as [PathBuf; 0]);
}

#[test]
fn a_journal_of_a_tree_that_was_replaced_is_not_followed() {
    let world = World::new(Staged::Outside);
    break_off(prepared(&world), 1);
    let World { _keep, dir, root, outside, staging } = world;
    drop(dir);
    // The number of the root may be given out again; when it was made is another matter.
    fs::remove_dir_all(&root).unwrap();
    fs::create_dir_all(root.join("a")).unwrap();
    fs::create_dir_all(root.join("b")).unwrap();
    let dir = open(&root, Staged::Outside, &staging);
    let world = World { _keep, dir, root, outside, staging };
    assert_eq!(contents(&world.root), []);
}

#[test]
fn a_link_planted_after_the_kill_is_not_followed() {
    let world = World::new(Staged::Outside);
    break_off(prepared(&world), 1);
    fs::create_dir(world.outside.join("a")).unwrap();
    fs::write(world.outside.join("a/old"), "outside").unwrap();
    fs::remove_dir_all(world.root.join("a")).unwrap();
    symlink("../outside/a", world.root.join("a")).unwrap();
    let world = restarted(world);
    assert_eq!(fs::read_to_string(world.outside.join("a/old")).unwrap(), "outside");
    assert_eq!(fs::read_dir(world.outside.join("a")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(world.root.join("b/old")).unwrap(), "after");
}

#[test]
fn a_directory_gets_its_look_last() {
    let world = World::new(Staged::Outside);
    let mut restore = prepared(&world);
    let old = Look { mode: 0o755, modified: THEN };
    restore.dress(Path::new("a"), old, Look { mode: 0o500, modified: THEN }).unwrap();
    restore.exchange(|_| ()).unwrap();
    let metadata = fs::metadata(world.root.join("a")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o500);
    let since = metadata.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!((since.as_secs(), since.subsec_nanos()), (1_000_000_000, 5));
}

#[test]
fn a_tree_is_staged_with_modes_and_times_whatever_its_depth() {
    let world = World::new(Staged::Outside);
    let mut restore = world.dir.begin_restore(Path::new("")).unwrap();
    let mut root = world.dir.descend().unwrap();
    let slot = restore.slot(root.here().unwrap(), None).unwrap();
    restore.stage().begin_dir(&slot).unwrap();
    for _ in 0..100 {
        restore.stage().begin_dir(OsStr::new("d")).unwrap();
    }
    restore.stage().make_link(OsStr::new("link"), OsStr::new("/etc"), THEN).unwrap();
    for _ in 0..=100 {
        restore.stage().finish_dir(0o750, THEN).unwrap();
    }
    restore.put(Path::new("tree")).unwrap();
    restore.exchange(|_| ()).unwrap();
    let deepest = world.root.join("tree").join("d/".repeat(100));
    assert_eq!(fs::read_link(deepest.join("link")).unwrap(), Path::new("/etc"));
    assert_eq!(fs::metadata(deepest).unwrap().permissions().mode() & 0o7777, 0o750);
}

#[test]
fn without_staging_a_restore_is_refused() {
    let world = World::new(Staged::Beside);
    assert_eq!(world.dir.begin_restore(Path::new("")).map(drop).unwrap_err(), Error::NoStaging);
}

/// A world whose tree lies in a directory of a larger one, which is held open too.
fn part() -> (host::Dir, World) {
    let World { _keep, dir: whole, root, outside, staging } = World::new(Staged::Outside);
    let root = root.join("part");
    fs::create_dir(&root).unwrap();
    let dir = whole.open_beneath(Path::new("part")).unwrap();
    (whole, World { _keep, dir, root, outside, staging })
}

#[test]
fn a_restore_of_a_part_that_broke_off_is_finished_when_the_part_is_opened_again() {
    let (whole, world) = part();
    break_off(prepared(&world), 3);
    let World { _keep, dir, root, .. } = world;
    drop(dir);
    assert_ne!(contents(&root), after());
    let _part = whole.open_beneath(Path::new("part")).unwrap();
    assert_eq!(contents(&root), after());
}

#[test]
fn a_restore_that_is_under_way_is_left_to_whoever_began_it() {
    let (whole, world) = part();
    let mut seen = Vec::new();
    let done = prepared(&world).exchange(|_| {
        let _again = whole.open_beneath(Path::new("part")).unwrap();
        seen.push(contents(&world.root));
    });
    assert_eq!(done.unwrap(), None);
    assert_eq!(seen.first(), Some(&before()));
    assert_eq!(contents(&world.root), after());
}

#[test]
fn a_restore_leaves_nothing_of_the_one_that_it_finishes_first() {
    let world = World::new(Staged::Outside);
    break_off(prepared(&world), 2);
    assert_eq!(staged(&world).len(), 1);
    drop(world.dir.begin_restore(Path::new("")).unwrap());
    assert_eq!(staged(&world), Vec::<PathBuf>::new());
}

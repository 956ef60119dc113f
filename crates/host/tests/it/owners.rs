//! To whom new things belong when the server is root and the directory is not root's.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};

use host::Existing;

use crate::{Staged, World};

const AGENT: u32 = 12_345;

fn world() -> Option<World> {
    let world = World::new(Staged::Outside);
    if chown(&world.root, Some(AGENT), Some(AGENT)).is_err() {
        println!("skipped: only root may give files away");
        return None;
    }
    Some(world)
}

fn owner(world: &World, path: &str) -> (u32, u32) {
    let found = fs::symlink_metadata(world.root.join(path)).unwrap();
    (found.uid(), found.gid())
}

#[test]
fn files_and_directories_belong_to_whom_the_parent_belongs() {
    let Some(world) = world() else { return };
    world.put("a/b/file", "x").unwrap();
    for path in ["a", "a/b", "a/b/file"] {
        assert_eq!(owner(&world, path), (AGENT, AGENT), "{path}");
    }
}

#[test]
fn a_copy_belongs_to_whom_its_new_parent_belongs() {
    let Some(world) = world() else { return };
    world.put("tree/file", "x").unwrap();
    let (copy, _) = world.dir.copy_to_scratch(&world.spot("tree"), &world.spot("copy")).unwrap();
    world.dir.rename(copy.spot(), &world.spot("copy"), Existing::Refuse).unwrap();
    assert_eq!(owner(&world, "copy"), (AGENT, AGENT));
    assert_eq!(owner(&world, "copy/file"), (AGENT, AGENT));
}

#[test]
fn a_replaced_file_keeps_its_owner() {
    let Some(world) = world() else { return };
    world.put("file", "old").unwrap();
    chown(world.root.join("file"), Some(AGENT + 1), Some(AGENT + 2)).unwrap();
    world.put("file", "new").unwrap();
    assert_eq!(owner(&world, "file"), (AGENT + 1, AGENT + 2));
}

#[test]
fn what_is_not_the_empty_directory_that_was_made_is_not_given_away() {
    let Some(world) = world() else { return };
    let spot = world.spot("new");
    fs::create_dir(world.root.join("new")).unwrap();
    fs::write(world.root.join("new/secret"), "of root").unwrap();
    assert!(world.dir.make_dir(&spot).is_err());
    assert_eq!(owner(&world, "new"), (0, 0));
}

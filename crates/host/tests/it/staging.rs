//! Unfinished files: unseen, and gone when nobody finishes them.

use std::fs;
use std::path::Path;

use host::{Existing, Links, Parents};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

use crate::{Staged, World, open};

fn count(dir: &Path) -> usize {
    fs::read_dir(dir).unwrap().count()
}

fn only(dir: &Path) -> std::path::PathBuf {
    fs::read_dir(dir).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn an_unfinished_file_lies_outside_the_tree() {
    let world = World::new(Staged::Outside);
    let mut unfinished = world.dir.begin(Path::new("a/b")).unwrap();
    unfinished.append(b"half").unwrap();
    assert_eq!(count(&world.root), 0);
    assert_eq!(count(&only(&world.staging)), 1);
    drop(unfinished);
    assert_eq!(count(&only(&world.staging)), 0);
}

#[test]
fn without_staging_an_unfinished_file_has_no_name_at_all() {
    let world = World::new(Staged::Beside);
    let mut unfinished = world.dir.begin(Path::new("a/b")).unwrap();
    unfinished.append(b"half").unwrap();
    assert_eq!(count(&world.root), 0);
    drop(unfinished);
    assert_eq!(count(&world.root), 0);
}

#[test]
fn without_staging_files_are_made_and_replaced_all_the_same() {
    let world = World::new(Staged::Beside);
    world.put("dir/file", "one").unwrap();
    world.put("dir/file", "two").unwrap();
    assert_eq!(world.read("dir/file").unwrap(), "two");
    assert_eq!(count(&world.root.join("dir")), 1);
}

#[test]
fn a_start_sweeps_what_a_dead_process_left_in_staging() {
    let world = World::new(Staged::Outside);
    let left = world.staging.join(".sandkeep-tmp-00000000deadbeef");
    fs::create_dir_all(left.join("half/a/tree")).unwrap();
    fs::write(left.join("half-a-file"), "x").unwrap();
    let _second = open(&world.root, Staged::Outside, &world.staging);
    assert!(!left.exists());
}

#[test]
fn a_start_leaves_alone_what_a_living_process_holds() {
    let world = World::new(Staged::Outside);
    let mut unfinished = world.dir.begin(Path::new("file")).unwrap();
    unfinished.append(b"going on").unwrap();
    let _second = open(&world.root, Staged::Outside, &world.staging);
    let spot = world.spot("file");
    world.dir.place(unfinished, &spot, Existing::Replace).map_err(|(err, _)| err).unwrap();
    assert_eq!(world.read("file").unwrap(), "going on");
}

#[test]
fn a_sweep_of_the_tree_finds_hidden_names_everywhere() {
    let world = World::new(Staged::Beside);
    let hidden = ".sandkeep-tmp-00000000deadbeef";
    fs::create_dir_all(world.root.join("a/b").join(hidden).join("deep")).unwrap();
    fs::write(world.root.join(hidden), "x").unwrap();
    fs::write(world.root.join("a/kept"), "x").unwrap();
    world.dir.sweep().unwrap();
    assert_eq!(world.names(""), ["a"]);
    assert_eq!(count(&world.root), 1);
    assert_eq!(count(&world.root.join("a/b")), 0);
    assert!(world.root.join("a/kept").exists());
}

#[test]
fn a_sweep_waits_for_its_turn_while_another_process_serves_the_tree() {
    let world = World::new(Staged::Beside);
    world.dir.sweep().unwrap();
    let hidden = world.root.join(".sandkeep-tmp-00000000deadbeef");
    fs::write(&hidden, "of somebody alive").unwrap();
    open(&world.root, Staged::Beside, &world.staging).sweep().unwrap();
    assert!(hidden.exists());
}

#[test]
fn staging_on_another_file_system_is_not_used() {
    let world = World::new(Staged::Beside);
    let options = host::Options {
        mounts: host::Mounts::Stay,
        durability: host::Durability::Relaxed,
        staging: vec![Path::new("/dev/shm").join(format!("sandkeep-{}", std::process::id()))],
    };
    let place = options.staging[0].clone();
    let dir = host::Dir::open_root(&world.root, options).unwrap();
    assert!(!dir.has_staging());
    assert_eq!(count(&place), 0);
    fs::remove_dir(place).unwrap();
}

#[test]
fn directories_made_for_a_write_that_fails_are_removed_again() {
    let world = World::new(Staged::Outside);
    let spot = world.dir.spot(Path::new("a/b/c"), Links::Follow, Parents::Create).unwrap();
    assert_eq!(spot.made(), 2);
    drop(spot);
    assert_eq!(count(&world.root), 0);
}

#[test]
fn a_stopped_process_leaves_no_staging_directory() {
    let world = World::new(Staged::Outside);
    let staging = world.staging.clone();
    assert_eq!(count(&staging), 1);
    let World { dir, _keep, .. } = world;
    drop(dir);
    assert_eq!(count(&staging), 0);
}

#[test]
fn a_sweep_of_a_parent_leaves_the_staging_of_a_living_process_alone() {
    let world = World::new(Staged::Outside);
    let parent = world.root.parent().unwrap();
    open(parent, Staged::Beside, &world.staging).sweep().unwrap();
    assert_eq!(count(&world.staging), 1);
    world.put("file", "still written").unwrap();
    assert_eq!(world.read("file").unwrap(), "still written");
}

#[test]
fn a_sweep_of_a_parent_leaves_a_tree_alone_that_a_living_process_serves() {
    let world = World::new(Staged::Beside);
    world.dir.sweep().unwrap();
    let hidden = world.root.join(".sandkeep-tmp-00000000deadbeef");
    fs::write(&hidden, "of somebody alive").unwrap();
    open(world.root.parent().unwrap(), Staged::Beside, &world.staging).sweep().unwrap();
    assert!(hidden.exists());
}

#[test]
fn writes_and_removals_go_on_when_the_staging_directory_was_removed() {
    let world = World::new(Staged::Outside);
    fs::remove_dir_all(&world.staging).unwrap();
    world.put("dir/file", "one").unwrap();
    world.put("dir/file", "two").unwrap();
    assert_eq!(world.read("dir/file").unwrap(), "two");
    world.dir.remove_all(&world.spot("dir")).unwrap();
    assert_eq!(count(&world.root), 0);
}

#[test]
fn roots_beneath_one_share_its_staging() {
    let world = World::new(Staged::Outside);
    fs::create_dir(world.root.join("a")).unwrap();
    fs::create_dir(world.root.join("b")).unwrap();
    let [a, b] = ["a", "b"].map(|name| world.dir.open_beneath(Path::new(name)).unwrap());
    assert_eq!(count(&world.staging), 1);
    assert!(a.has_staging() && b.has_staging());
    crate::put(&a, Path::new("f"), b"1").unwrap();
    assert_eq!(world.read("a/f").unwrap(), "1");
    drop(world.dir);
    // It lasts as long as anybody needs it.
    crate::put(&b, Path::new("f"), b"2").unwrap();
    assert_eq!(count(&only(&world.staging)), 0);
}

#[test]
fn what_could_not_be_removed_from_staging_is_tried_again() {
    let world = World::new(Staged::Outside);
    world.put("tree/stays", "x").unwrap();
    let stays = fs::File::open(world.root.join("tree/stays")).unwrap();
    let Ok(flags) = ioctl_getflags(&stays) else { return };
    if ioctl_setflags(&stays, flags | IFlags::IMMUTABLE).is_err() {
        println!("SKIPPED: nothing can be made to stay");
        return;
    }
    let leftover = world.dir.remove_all(&world.spot("tree")).unwrap();
    ioctl_setflags(&stays, flags).unwrap();
    assert!(leftover.is_some());
    assert_eq!(count(&only(&world.staging)), 1);
    world.put("next", "x").unwrap();
    assert_eq!(count(&only(&world.staging)), 0);
}

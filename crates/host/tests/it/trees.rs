//! Whole trees: moved, copied, merged and removed, whatever their shape.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use host::{Error, Existing};
use rustix::fs::{Mode, OFlags, mkdirat, openat};

use crate::{Staged, World};

/// Makes directories inside each other, `levels` of them.
fn dig(world: &World, top: &str, levels: usize) {
    fs::create_dir(world.root.join(top)).unwrap();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let name = CString::new("d").unwrap();
    let mut dir = rustix::fs::open(world.root.join(top), flags, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&dir, &*name, Mode::RWXU).unwrap();
        dir = openat(&dir, &*name, flags, Mode::empty()).unwrap();
    }
}

fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn a_tree_of_15_000_levels_is_removed() {
    let world = World::new(Staged::Outside);
    dig(&world, "deep", 15_000);
    assert_eq!(world.dir.remove_all(&world.spot("deep")).unwrap(), None);
    assert!(world.names("").is_empty());
    let held = fs::read_dir(&world.staging).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_dir(held).unwrap().count(), 0);
}

#[test]
fn a_tree_of_15_000_levels_is_counted_copied_and_swept() {
    let world = World::new(Staged::Beside);
    dig(&world, "deep", 15_000);
    assert_eq!(world.dir.tally().unwrap().directories, 15_002);
    world.dir.sweep().unwrap();
    let (copy, tally) =
        world.dir.copy_to_scratch(&world.spot("deep"), &world.spot("copy")).unwrap();
    assert_eq!(tally.directories, 15_001);
    drop(copy);
    world.dir.remove_all(&world.spot("deep")).unwrap();
    assert_eq!(fs::read_dir(&world.root).unwrap().count(), 0);
}

#[test]
fn a_wide_tree_is_removed_with_few_descriptors() {
    let world = World::new(Staged::Outside);
    for a in 0..20 {
        for b in 0..20 {
            world.put(&format!("wide/{a}/{b}/file"), "x").unwrap();
        }
    }
    let before = open_descriptors();
    world.dir.remove_all(&world.spot("wide")).unwrap();
    assert!(world.names("").is_empty());
    // Other tests run at the same time; each holds only a few.
    assert!(open_descriptors() < before + 60);
}

#[test]
fn directories_that_forbid_their_owner_everything_are_removed() {
    let world = World::new(Staged::Outside);
    world.put("closed/in/file", "x").unwrap();
    for dir in ["closed/in", "closed"] {
        fs::set_permissions(world.root.join(dir), fs::Permissions::from_mode(0o0)).unwrap();
    }
    assert_eq!(world.dir.remove_all(&world.spot("closed")).unwrap(), None);
    assert!(world.names("").is_empty());
}

#[test]
fn a_directory_replaces_a_file_and_the_reverse() {
    let world = World::new(Staged::Outside);
    world.put("dir/inner", "d").unwrap();
    world.put("file", "f").unwrap();
    world.dir.rename(&world.spot("dir"), &world.spot("file"), Existing::Replace).unwrap();
    assert_eq!(world.read("file/inner").unwrap(), "d");
    world.put("other", "o").unwrap();
    world.dir.rename(&world.spot("other"), &world.spot("file"), Existing::Replace).unwrap();
    assert_eq!(world.read("file").unwrap(), "o");
    assert_eq!(world.names(""), ["file"]);
}

#[test]
fn a_file_that_must_be_new_replaces_nothing() {
    let world = World::new(Staged::Outside);
    world.put("there", "old").unwrap();
    world.put("other", "new").unwrap();
    let exists = Err(Error::Os(host::Errno::EXIST));
    let moved = world.dir.rename(&world.spot("other"), &world.spot("there"), Existing::Refuse);
    assert_eq!(moved.map(drop), exists);
    let mut unfinished = world.dir.begin(Path::new("there")).unwrap();
    unfinished.append(b"new").unwrap();
    let placed = world.dir.place(unfinished, &world.spot("there"), Existing::Refuse);
    assert_eq!(placed.map(drop).map_err(|(err, _)| err), exists);
    assert_eq!(world.read("there").unwrap(), "old");
}

#[test]
fn a_directory_replaces_one_that_is_not_empty() {
    let world = World::new(Staged::Beside);
    world.put("from/a", "new").unwrap();
    world.put("to/b/c", "old").unwrap();
    world.dir.rename(&world.spot("from"), &world.spot("to"), Existing::Replace).unwrap();
    assert_eq!(world.names("to"), ["a"]);
    assert_eq!(fs::read_dir(&world.root).unwrap().count(), 1);
}

#[test]
fn a_name_moved_onto_another_name_of_the_same_file_is_gone() {
    let world = World::new(Staged::Outside);
    world.put("one", "x").unwrap();
    fs::hard_link(world.root.join("one"), world.root.join("two")).unwrap();
    world.dir.rename(&world.spot("one"), &world.spot("two"), Existing::Replace).unwrap();
    assert_eq!(world.names(""), ["two"]);
}

#[test]
fn a_directory_cannot_go_into_itself() {
    let world = World::new(Staged::Outside);
    world.put("dir/sub/file", "x").unwrap();
    let moved = world.dir.rename(&world.spot("dir"), &world.spot("dir/sub/in"), Existing::Refuse);
    assert_eq!(moved, Err(Error::IntoItself));
    assert_eq!(world.read("dir/sub/file").unwrap(), "x");
}

#[test]
fn a_copy_keeps_modes_times_and_links() {
    let world = World::new(Staged::Outside);
    world.put("tree/sub/file", "x").unwrap();
    fs::set_permissions(world.root.join("tree/sub/file"), fs::Permissions::from_mode(0o751))
        .unwrap();
    symlink("../nowhere", world.root.join("tree/link")).unwrap();
    let (copy, tally) =
        world.dir.copy_to_scratch(&world.spot("tree"), &world.spot("copy")).unwrap();
    world.dir.rename(copy.spot(), &world.spot("copy"), Existing::Refuse).unwrap();
    assert_eq!((tally.files, tally.directories, tally.bytes), (2, 2, 1));
    let [old, new] =
        ["tree", "copy"].map(|t| fs::metadata(world.root.join(t).join("sub/file")).unwrap());
    assert_eq!((old.mode(), old.mtime_nsec()), (new.mode(), new.mtime_nsec()));
    assert_ne!(old.ino(), new.ino());
    assert_eq!(fs::read_link(world.root.join("copy/link")).unwrap(), Path::new("../nowhere"));
    let [old, new] = ["tree", "copy"].map(|t| fs::metadata(world.root.join(t)).unwrap());
    assert_eq!((old.mtime(), old.mtime_nsec()), (new.mtime(), new.mtime_nsec()));
}

#[test]
fn a_merge_unites_directories_and_replaces_files() {
    let world = World::new(Staged::Outside);
    world.put("from/both/new", "n").unwrap();
    world.put("from/same", "from").unwrap();
    world.put("to/both/old", "o").unwrap();
    world.put("to/same", "to").unwrap();
    let replaced = world.dir.merge(&world.spot("from"), &world.spot("to")).unwrap();
    assert_eq!((replaced.files, replaced.bytes), (1, 2));
    assert_eq!(world.names("to/both"), ["new", "old"]);
    assert_eq!(world.read("to/same").unwrap(), "from");
    assert_eq!(world.names(""), ["to"]);
}

#[test]
fn a_merge_that_meets_a_file_where_a_directory_goes_changes_nothing() {
    let world = World::new(Staged::Outside);
    world.put("from/a", "new").unwrap();
    world.put("from/z/inner", "new").unwrap();
    world.put("to/a", "old").unwrap();
    world.put("to/z", "a file").unwrap();
    let merged = world.dir.merge(&world.spot("from"), &world.spot("to"));
    assert_eq!(merged, Err(Error::OverFile));
    assert_eq!(world.read("to/a").unwrap(), "old");
    assert_eq!(world.read("from/a").unwrap(), "new");
}

#[test]
fn a_tree_that_holds_a_mount_is_neither_removed_nor_replaced() {
    let world = World::new(Staged::Outside);
    world.put("tree/keep", "x").unwrap();
    let point = world.root.join("tree/mounted");
    fs::create_dir(&point).unwrap();
    let mounted =
        rustix::mount::mount("tmpfs", &point, "tmpfs", rustix::mount::MountFlags::empty(), None);
    if mounted.is_err() {
        println!("skipped: only root may mount");
        return;
    }
    let removed = world.dir.remove_all(&world.spot("tree"));
    let inside = world.dir.stat(Path::new("tree/mounted/x"));
    rustix::mount::unmount(&point, rustix::mount::UnmountFlags::empty()).unwrap();
    assert_eq!(removed, Err(Error::MountInside));
    assert_eq!(inside, Err(Error::Outside));
    assert_eq!(world.read("tree/keep").unwrap(), "x");
}

#[test]
fn a_file_that_a_mount_pins_is_written_in_place() {
    let world = World::new(Staged::Outside);
    world.put("pinned", "old").unwrap();
    let pinned = world.root.join("pinned");
    if rustix::mount::mount_bind(world.outside.join("secret"), &pinned).is_err() {
        println!("skipped: only root may mount");
        return;
    }
    let options = host::Options {
        mounts: host::Mounts::Cross,
        durability: host::Durability::Relaxed,
        staging: vec![world.staging.clone()],
    };
    let crossing = host::Dir::open_root(&world.root, options).unwrap();
    let crossed = crate::put(&crossing, Path::new("pinned"), b"new");
    let refused = world.put("pinned", "never");
    let content = fs::read_to_string(&pinned).unwrap();
    rustix::mount::unmount(&pinned, rustix::mount::UnmountFlags::empty()).unwrap();
    assert_eq!((crossed, content.as_str()), (Ok(()), "new"));
    assert_eq!(refused, Err(Error::Outside));
    assert_eq!(world.read("pinned").unwrap(), "old");
}

#[test]
fn holes_stay_holes_in_a_copy() {
    let world = World::new(Staged::Outside);
    world.put("sparse", "start").unwrap();
    let file = fs::File::options().write(true).open(world.root.join("sparse")).unwrap();
    file.set_len(64 << 20).unwrap();
    drop(file);
    let (copy, tally) =
        world.dir.copy_to_scratch(&world.spot("sparse"), &world.spot("copy")).unwrap();
    world.dir.rename(copy.spot(), &world.spot("copy"), Existing::Refuse).unwrap();
    let copied = fs::metadata(world.root.join("copy")).unwrap();
    assert_eq!((tally.bytes, copied.len()), (64 << 20, 64 << 20));
    assert!(copied.blocks() * 512 < 1 << 20, "{} blocks", copied.blocks());
}

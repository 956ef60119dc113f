//! Files that stay open because they are read again and again.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::{Error, forget_unused};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{Staged, World};

/// What is kept is kept for the whole process, so that these tests run one by one.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_cached(world: &World, path: &str) -> host::Result<String> {
    let (file, stat) = world.dir.open_file_cached(Path::new(path))?.unwrap();
    let mut space = vec![0; usize::try_from(stat.size).unwrap()];
    let len = file.read_at(&mut space, 0)?;
    Ok(String::from_utf8(space[..len].to_vec()).unwrap())
}

/// A world with a file that is read so often that it is kept.
fn with_kept(content: &str) -> World {
    let world = World::new(Staged::Outside);
    fs::write(world.root.join("file"), content).unwrap();
    for _ in 0..3 {
        assert_eq!(read_cached(&world, "file").unwrap(), content);
    }
    world
}

/// How many descriptors of this process lead to files of a world.
fn open_files(world: &World) -> usize {
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = links.filter_map(|link| fs::read_link(link.path()).ok());
    // The root itself is held too.
    targets.filter(|target| target.starts_with(&world.root) && *target != world.root).count()
}

#[test]
fn a_file_is_read_as_it_is_now() {
    let _alone = alone();
    let world = with_kept("one");
    fs::write(world.root.join("file"), "changed in place").unwrap();
    assert_eq!(read_cached(&world, "file").unwrap(), "changed in place");
    world.put("file", "replaced").unwrap();
    assert_eq!(read_cached(&world, "file").unwrap(), "replaced");
    assert_eq!(read_cached(&world, "file").unwrap(), "replaced");
}

#[test]
fn what_takes_the_place_of_a_file_is_what_it_is() {
    let _alone = alone();
    let world = with_kept("one");
    let file = world.root.join("file");
    fs::remove_file(&file).unwrap();
    symlink(world.outside.join("secret"), &file).unwrap();
    // The caches do not say that it leads out, and the slow way does.
    assert!(world.dir.open_file_cached(Path::new("file")).unwrap().is_none());
    assert_eq!(world.read("file"), Err(Error::Outside));
    fs::remove_file(&file).unwrap();
    mknodat(CWD, &file, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    assert_eq!(read_cached(&world, "file"), Err(Error::Special));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(read_cached(&world, "file"), Err(Error::Os(host::Errno::ISDIR)));
}

#[test]
fn a_file_whose_rights_changed_is_opened_anew() {
    let _alone = alone();
    let world = with_kept("one");
    let kept = world.dir.open_file_cached(Path::new("file")).unwrap().unwrap().0;
    let same = world.dir.open_file_cached(Path::new("file")).unwrap().unwrap().0;
    assert!(Arc::ptr_eq(&kept, &same));
    fs::set_permissions(world.root.join("file"), fs::Permissions::from_mode(0o600)).unwrap();
    let anew = world.dir.open_file_cached(Path::new("file")).unwrap().unwrap().0;
    assert!(!Arc::ptr_eq(&kept, &anew));
}

#[test]
fn a_file_that_nobody_reads_any_more_is_closed() {
    let _alone = alone();
    let world = with_kept("one");
    assert_eq!(open_files(&world), 1);
    forget_unused();
    assert_eq!(open_files(&world), 1);
    forget_unused();
    assert_eq!(open_files(&world), 0);
}

#[test]
fn neither_a_large_file_nor_one_that_is_read_once_is_kept() {
    let _alone = alone();
    let world = World::new(Staged::Outside);
    fs::write(world.root.join("large"), vec![b'x'; 100_000]).unwrap();
    for _ in 0..3 {
        drop(world.dir.open_file_cached(Path::new("large")).unwrap());
    }
    for number in 0..500 {
        let name = format!("small-{number}");
        fs::write(world.root.join(&name), "x").unwrap();
        assert_eq!(read_cached(&world, &name).unwrap(), "x");
    }
    assert_eq!(open_files(&world), 0);
}

#[test]
fn no_more_files_are_kept_than_may_be() {
    let _alone = alone();
    let world = World::new(Staged::Outside);
    for number in 0..600 {
        let name = format!("small-{number}");
        fs::write(world.root.join(&name), "x").unwrap();
        for _ in 0..3 {
            assert_eq!(read_cached(&world, &name).unwrap(), "x");
        }
    }
    assert!((100..=256).contains(&open_files(&world)), "{}", open_files(&world));
}

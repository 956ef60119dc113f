//! A file outside gets and loses names inside all the time. What is open to be changed in place, or
//! was changed, is never that file: its number tells.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::{Errno, Error, Time};
use rustix::fs::{CWD, IFlags, RenameFlags, ioctl_setflags, renameat_with};

use crate::{Staged, World, short_or_long};

/// What became of the attempts.
#[derive(Debug, Default)]
struct Figures {
    tried: AtomicU64,
    /// In place, at a file inside.
    served: AtomicU64,
    /// Left to a copy.
    shared: AtomicU64,
    escaped: AtomicU64,
}

#[test]
fn a_name_that_is_replaced_leads_to_no_file_outside() {
    let world = World::new(Staged::Outside);
    let leaf = world.root.join("leaf");
    let [own, theirs] = ["own", "theirs"].map(|name| world.root.join(name));
    let turns = AtomicU64::new(0);
    attack(&world, || {
        let _raced = fs::hard_link(world.outside.join("secret"), &theirs);
        let _raced = fs::rename(&theirs, &leaf);
        let _raced = fs::write(&own, "inside");
        let _raced = fs::rename(&own, &leaf);
        // Now and then there is time to change it in place, or nothing would be tried.
        if turns.fetch_add(1, Ordering::Relaxed).is_multiple_of(32) {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

#[test]
fn a_name_that_is_removed_leads_to_no_file_outside() {
    let world = World::new(Staged::Outside);
    let leaf = world.root.join("leaf");
    attack(&world, || {
        let _raced = fs::write(&leaf, "inside");
        let _raced = fs::remove_file(&leaf);
        for _ in 0..4 {
            let _raced = fs::hard_link(world.outside.join("secret"), &leaf);
            let _raced = fs::remove_file(&leaf);
        }
    });
}

#[test]
fn a_name_that_comes_from_elsewhere_leads_to_no_file_outside() {
    let world = World::new(Staged::Outside);
    let [leaf, far] = ["leaf", "dir/far"].map(|name| world.root.join(name));
    fs::create_dir(world.root.join("dir")).unwrap();
    attack(&world, || {
        let _raced = fs::write(&leaf, "inside");
        let _raced = fs::hard_link(world.outside.join("secret"), &far);
        let _raced = renameat_with(CWD, &leaf, CWD, &far, RenameFlags::EXCHANGE);
        let _raced = renameat_with(CWD, &leaf, CWD, &far, RenameFlags::EXCHANGE);
        let _raced = fs::rename(&far, &leaf);
        let _raced = fs::rename(&leaf, &far);
        let _raced = fs::remove_file(&far);
    });
}

/// Where a directory says so, whoever removes a name waits for the disk, and all that time the name is
/// found although it counts no more.
#[test]
fn a_name_that_goes_slowly_leads_to_no_file_outside() {
    let world = World::new(Staged::Outside);
    let leaf = world.root.join("leaf");
    let root = fs::File::open(&world.root).unwrap();
    if ioctl_setflags(&root, IFlags::DIRSYNC).is_err() {
        println!("SKIPPED: the file system keeps no flags");
        return;
    }
    attack(&world, || {
        let _raced = fs::write(&leaf, "inside");
        let _raced = fs::remove_file(&leaf);
        let _raced = fs::hard_link(world.outside.join("secret"), &leaf);
        let _raced = fs::remove_file(&leaf);
    });
}

#[test]
fn an_ordinary_file_is_changed_in_place_however_busy_its_directory_is() {
    let world = World::new(Staged::Outside);
    world.put("leaf", "inside").unwrap();
    let [one, other] = ["one", "other"].map(|name| world.root.join(name));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::write(&one, "x").unwrap();
                fs::rename(&one, &other).unwrap();
            }
        });
        let opened: Vec<_> =
            (0..2_000).map(|_| world.dir.open_spot(&world.spot("leaf")).map(drop)).collect();
        done.store(true, Ordering::Relaxed);
        assert_eq!(opened, vec![Ok(()); 2_000]);
    });
}

#[test]
fn a_file_that_somebody_writes_to_is_changed_in_place() {
    let world = World::new(Staged::Outside);
    world.put("log", "inside").unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::write(world.root.join("log"), "a line").unwrap();
            }
        });
        let opened: Vec<_> =
            (0..2_000).map(|_| world.dir.open_spot(&world.spot("log")).map(drop)).collect();
        done.store(true, Ordering::Relaxed);
        assert_eq!(opened, vec![Ok(()); 2_000]);
    });
}

/// Lets one who swaps names and two who change the file loose.
fn attack(world: &World, swap: impl Fn() + Sync) {
    let secret = world.outside.join("secret");
    let look = || {
        let metadata = fs::metadata(&secret).unwrap();
        (metadata.ino(), metadata.mode(), metadata.mtime(), fs::read(&secret).unwrap())
    };
    let before = look();
    let (figures, done) = (Figures::default(), AtomicBool::new(false));
    let until = Instant::now() + Duration::from_secs(seconds());
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap();
            }
        });
        let workers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    while Instant::now() < until {
                        attempt(world, before.0, &figures);
                    }
                })
            })
            .collect();
        let ended: Vec<_> = workers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(Result::unwrap);
    });
    let Figures { tried, served, shared, escaped } = figures;
    let [tried, served, shared, escaped] =
        [tried, served, shared, escaped].map(AtomicU64::into_inner);
    println!(
        "second names: {served} of {tried} in place, {shared} left to a copy, {escaped} escaped"
    );
    println!("SCORE hard-links attempts={tried} served={served} escapes={escaped}");
    assert_eq!(escaped, 0, "the file outside was open to be changed");
    assert_eq!(look(), before, "the outside changed");
    assert!(served >= 10, "only {served} of {tried} attempts were served from inside");
}

/// Opens the file to change it in place, or changes its mode and time; whatever it is, it is told by
/// its number.
fn attempt(world: &World, outside: u64, figures: &Figures) {
    let turn = figures.tried.fetch_add(1, Ordering::Relaxed);
    let spot = world.spot("leaf");
    let changed = if turn.is_multiple_of(2) {
        world.dir.open_spot(&spot).and_then(|(file, _)| file.stat())
    } else {
        let time = Time { seconds: 1_000_000, nanoseconds: 0 };
        world.dir.set_metadata(&spot, Some(0o600), Some(time))
    };
    let counted = match changed {
        Ok(changed) if changed.inode == outside => &figures.escaped,
        Ok(_) => &figures.served,
        Err(Error::Shared) => &figures.shared,
        Err(err) => {
            assert_eq!(err, Error::Os(Errno::NOENT), "the name may be missing, and nothing else");
            return;
        }
    };
    counted.fetch_add(1, Ordering::Relaxed);
}

fn seconds() -> u64 {
    short_or_long(2, 120)
}

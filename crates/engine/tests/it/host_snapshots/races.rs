//! Directories that are exchanged for links to the outside all the time.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use sandkeep_engine::NewSnapshot;

use super::{World, bytes};

const FOR: Duration = Duration::from_secs(3);

/// Exchanges a directory for a link that leads out while `work` is done again and again; gives how
/// often that succeeded.
async fn raced<F: Future<Output = bool>>(world: &World, work: impl Fn(u64) -> F) -> u64 {
    symlink("../outside", world.root.join("other")).unwrap();
    let (dir, other) = (world.root.join("dir"), world.root.join("other"));
    let done = AtomicBool::new(false);
    let handle = tokio::runtime::Handle::current();
    let served = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // One of the two may be gone for a moment.
                let _raced = renameat_with(CWD, &dir, CWD, &other, RenameFlags::EXCHANGE);
                let _raced = fs::create_dir(&dir);
                let _raced = symlink("../outside", &other);
            }
        });
        let served = tokio::task::block_in_place(|| {
            handle.block_on(async {
                let (until, mut served) = (Instant::now() + FOR, 0);
                for round in 0.. {
                    served += u64::from(work(round).await);
                    if Instant::now() > until {
                        break;
                    }
                }
                served
            })
        });
        done.store(true, Ordering::Relaxed);
        served
    });
    let names: Vec<_> =
        fs::read_dir(&world.outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["secret"], "the outside changed");
    assert_eq!(fs::read_to_string(world.outside.join("secret")).unwrap(), "secret");
    served
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_never_leaves() {
    let world = World::new();
    world.write("dir/secret", "inside");
    let served = raced(&world, |_| async {
        let Ok(taken) = world.snapshots().create(NewSnapshot::default()).await else {
            return false;
        };
        let files = world.snapshots().open(&taken.id).await.unwrap();
        for place in ["/dir/secret", "/other/secret"] {
            if let Ok(content) = bytes(&*files, place).await {
                assert_eq!(content, b"inside");
            }
        }
        true
    });
    assert!(served.await >= 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_never_leaves() {
    let world = World::new();
    for number in 0..20 {
        world.write(&format!("dir/{number}"), "one");
    }
    world.write("dir/secret", "inside");
    world.take("one").await;
    for number in 0..20 {
        world.write(&format!("dir/{number}"), "two");
    }
    world.write("dir/planted", "two");
    world.write("dir/secret", "two");
    world.take("two").await;
    let served = raced(&world, |round| {
        let (world, name) = (&world, if round % 2 == 0 { "one" } else { "two" });
        async move { world.restore(name).await.is_ok() }
    });
    let served = served.await;
    eprintln!("races: {served} restores succeeded");
    assert!(served >= 5);
    let world = world.reopened(sandkeep_engine::Limits::default());
    let _gone = fs::remove_file(world.root.join("other"));
    world.restore("one").await.unwrap();
    assert_eq!(world.read("dir/secret"), "inside");
    world.assert_nothing_staged();
}

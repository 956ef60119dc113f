//! Renames without pause, and links that make the kernel walk through them again and again: it gives
//! up with `EAGAIN`, and whoever would then walk by himself could be led out.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::{Errno, Error, Links, Parents};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags, open, openat2, renameat_with};

use crate::{Staged, World, short_or_long};

const STORMS: usize = 2;
/// How often a link goes down and up again: as often as a target can say.
const TURNS: usize = 800;

/// What became of the attempts.
#[derive(Debug, Default)]
struct Figures {
    attempts: AtomicU64,
    served: AtomicU64,
    /// Given up, since every walk was disturbed.
    busy: AtomicU64,
    /// The same where the way is so short that a few tries must do.
    busy_on_short_way: AtomicU64,
    escaped: AtomicU64,
    /// How often the kernel itself gave up, when it was asked without us.
    again: AtomicU64,
}

#[test]
fn a_storm_of_renames_leads_nobody_out_and_ends_in_a_refusal() {
    let world = World::new(Staged::Outside);
    prepare(&world);
    let figures = Figures::default();
    let (least, until) = (attempts(), Instant::now() + Duration::from_secs(3));
    let (done, root) = (AtomicBool::new(false), open_root(&world.root));
    thread::scope(|scope| {
        for number in 0..STORMS {
            let (done, world) = (&done, &world);
            scope.spawn(move || storm(world, number, done));
        }
        // One alone, so that there is a storm whenever it has a processor.
        let worker = scope.spawn(|| {
            while Instant::now() < until || figures.tried() < least {
                attempt(&world, &figures);
                if figures.tried().is_multiple_of(16) {
                    ask_the_kernel(&root, &figures);
                }
            }
        });
        let ended = worker.join();
        done.store(true, Ordering::Relaxed);
        ended.unwrap();
    });
    let Figures { attempts, served, busy, busy_on_short_way, escaped, again } = figures;
    let [attempts, served, busy, escaped, again] =
        [attempts, served, busy, escaped, again].map(AtomicU64::into_inner);
    println!(
        "SCORE S2 attempts={attempts} served={served} escapes={escaped} busy={busy} again={again}"
    );
    assert_eq!(escaped, 0);
    assert_eq!(busy_on_short_way.into_inner(), 0, "a disturbed walk is tried again");
    assert!(served > 0, "nothing was served: the storm proves nothing");
    assert!(again > 0, "the kernel never gave up: the storm proves nothing");
    let mut names: Vec<_> =
        fs::read_dir(&world.outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "dir", "secret"], "the outside changed");
    assert_eq!(fs::read_to_string(world.outside.join("dir/secret")).unwrap(), "secret");
}

impl Figures {
    fn tried(&self) -> u64 {
        self.attempts.load(Ordering::Relaxed)
    }

    /// Counts an attempt; content that is not from inside is an escape.
    fn count(&self, way: &str, outcome: host::Result<String>) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        let counter = match outcome {
            Ok(content) if content == "inside" => &self.served,
            Ok(_) => &self.escaped,
            Err(Error::Busy) if way == "short" => &self.busy_on_short_way,
            Err(Error::Busy) => &self.busy,
            Err(_) => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Renames without pause. Now and then it is the directory that every `..` passes, for a link to the
/// outside and back.
fn storm(world: &World, number: usize, done: &AtomicBool) {
    let names = |one: &str, other: &str| [world.root.join(one), world.root.join(other)];
    let [calm, gust] = [format!("calm{number}"), format!("gust{number}")];
    fs::create_dir(world.root.join(&calm)).unwrap();
    fs::create_dir(world.root.join(&gust)).unwrap();
    let exchange = |[one, other]: &[std::path::PathBuf; 2]| {
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    };
    let (noise, door) = (names(&calm, &gust), names("a", "b"));
    while !done.load(Ordering::Relaxed) {
        (0..50).for_each(|_| exchange(&noise));
        if number == 0 {
            exchange(&door);
            exchange(&door);
        }
    }
}

/// In the root: `dir/secret`, `a`, and links to `dir` that pass `a` once and as often as can be. What
/// lies outside looks the same from where a walk that left would go on.
fn prepare(world: &World) {
    world.put("dir/secret", "inside").unwrap();
    world.put("a/file", "inside").unwrap();
    symlink("../outside/dir", world.root.join("b")).unwrap();
    for dir in ["a", "dir"] {
        fs::create_dir(world.outside.join(dir)).unwrap();
    }
    fs::write(world.outside.join("dir/secret"), "secret").unwrap();
    for (name, turns) in [("short", 1), ("long", TURNS)] {
        let target = format!("{}dir", "a/../".repeat(turns));
        symlink(target, world.root.join(name)).unwrap();
    }
}

/// A read, a look, a listing or a write through one of the ways.
fn attempt(world: &World, figures: &Figures) {
    let number = figures.tried();
    let way = if number.is_multiple_of(4) { "long" } else { "short" };
    let secret = format!("{way}/secret");
    let outcome = match number % 64 {
        0 => {
            let listing = world.dir.list(Path::new(&format!("{way}/")));
            let listed = listing.and_then(|listing| Ok(listing.names(None, 10)?.iter().count()));
            listed.map(|_| "inside".to_owned())
        }
        1 => world.put(&secret, "inside").map(|()| "inside".to_owned()),
        2 => {
            let spot = world.dir.spot(Path::new(&secret), Links::Follow, Parents::Require);
            spot.and_then(|spot| Ok(spot.stat()?.map_or("inside", |_| "inside").to_owned()))
        }
        // A path that no face lets through.
        3 => {
            return figures
                .count("long", world.read(&format!("{}dir/secret", "a/../".repeat(TURNS))));
        }
        _ => world.read(&secret),
    };
    figures.count(way, outcome);
}

/// The same walk without a second try.
fn ask_the_kernel(root: &rustix::fd::OwnedFd, figures: &Figures) {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let asked = openat2(root, "long/secret", OFlags::PATH, Mode::empty(), resolve);
    if asked.is_err_and(|errno| errno == Errno::AGAIN) {
        figures.again.fetch_add(1, Ordering::Relaxed);
    }
}

fn open_root(path: &Path) -> rustix::fd::OwnedFd {
    open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// How many there are at least; ten million take half an hour.
fn attempts() -> u64 {
    short_or_long(0, 10_000_000)
}

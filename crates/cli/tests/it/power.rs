//! The power goes in the middle of writes.
//!
//! The server's root lies on an ext4 or XFS image behind a loop device. A cut is a copy of that image: it
//! holds what the file system had sent to its disk and nothing that was only in memory, because a
//! loop device writes to its file at once, while pages of the mounted ext4 live in its own cache
//! until they are synced (`commit=300` and `noauto_da_alloc` keep the kernel from doing that
//! unasked). A copy is a moment only if nothing is written while it is made. `cp` would smear, and
//! freezing the file system would first sync it, which no power cut does. So the image itself lies
//! on XFS and is cloned: a clone locks the file against writes for its few milliseconds, hence it
//! holds a whole number of the loop device's writes, in the order in which they were made. What a
//! disk keeps in a cache of its own, and loses, is not in this picture: a sync flushes it, and that
//! is the kernel's part.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::attack_form::{EndOnDrop, memory_dir, program, short_or_long};
use crate::dice::Dice;
use crate::mounted::{Mounted, run};
use crate::score::score;
use crate::server_process::ServerProcess;
use crate::traffic::Lane;

#[test]
fn a_power_cut_loses_no_acknowledged_change() {
    cut_without_loss(&EXT4, short_or_long(5, 100));
}

#[test]
fn a_power_cut_on_xfs_loses_no_acknowledged_change() {
    cut_without_loss(&XFS, short_or_long(3, 50));
}

#[test]
fn a_power_cut_is_seen_to_lose_what_relaxed_durability_did_not_sync() {
    let Some(disk) = Disk::new(&EXT4) else { return };
    let outcome = cut_again_and_again(&disk, "relaxed", 2);
    assert!(outcome.lost > 0, "the cut takes nothing away, so the test above proves nothing");
}

fn cut_without_loss(format: &'static Format, cuts: usize) {
    let Some(disk) = Disk::new(format) else { return };
    let outcome = cut_again_and_again(&disk, "full", cuts);
    eprintln!(
        "power: {cuts} cuts on {}, {} changes acknowledged before them",
        format.kind, outcome.durable
    );
    let (lost, torn) = (outcome.lost as u64, outcome.torn as u64);
    score("S6", &[("attempts", cuts as u64), ("torn", torn), ("lost", lost)]);
    assert_eq!((lost, torn), (0, 0), "{:?}", outcome.first);
    assert!(outcome.durable > cuts * 10, "too little was under way: {}", outcome.durable);
}

/// A file system, and how it is kept from writing unasked.
struct Format {
    kind: &'static str,
    make: [&'static str; 2],
    options: &'static str,
    /// For a copy of one that is mounted.
    copy: &'static str,
}

const EXT4: Format = Format {
    kind: "ext4",
    make: ["mkfs.ext4", "-qF"],
    options: "loop,commit=300,noauto_da_alloc",
    copy: "loop",
};
const XFS: Format =
    Format { kind: "xfs", make: ["mkfs.xfs", "-qf"], options: "loop", copy: "loop,nouuid" };

/// A file system whose disk can be copied in a moment.
struct Disk {
    format: &'static Format,
    // Unmounted in this order.
    _mounted: Mounted,
    _clonable: Mounted,
    place: TempDir,
}

/// What the cuts did.
#[derive(Default)]
struct Outcome {
    /// Changes that were acknowledged before a cut.
    durable: usize,
    /// Clients whose files are not as they were told, summed over the cuts.
    lost: usize,
    /// Clients with a torn file, summed over the cuts.
    torn: usize,
    first: Option<String>,
}

impl Disk {
    fn new(format: &'static Format) -> Option<Self> {
        if !(program("mkfs.xfs") && program("mkfs.ext4")) {
            return None;
        }
        let place = memory_dir();
        let at = |name: &str| place.path().join(name);
        for dir in ["clonable", "disk", "cut"] {
            fs::create_dir(at(dir)).unwrap();
        }
        File::create(at("xfs")).unwrap().set_len(4 << 30).unwrap();
        run(Command::new("mkfs.xfs").args(["-q", "-m", "reflink=1"]).arg(at("xfs")));
        let xfs = at("xfs");
        let clonable = Mounted::mount("xfs", "loop", xfs.to_str().unwrap(), &at("clonable"))?;
        let image = at("clonable/image");
        File::create(&image).unwrap().set_len(1 << 30).unwrap();
        let Format { kind, make: [program, how], options, .. } = format;
        run(Command::new(program).arg(how).arg(&image));
        let mounted = Mounted::mount(kind, options, image.to_str().unwrap(), &at("disk"))?;
        for dir in ["disk/root", "disk/staging"] {
            fs::create_dir(at(dir)).unwrap();
        }
        // The directories themselves are the operator's: they were there long before.
        run(&mut Command::new("sync"));
        Some(Self { format, _mounted: mounted, _clonable: clonable, place })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// What the disk holds at this moment.
    fn cut(&self) -> PathBuf {
        let copy = self.at("clonable/cut");
        let image = File::open(self.at("clonable/image")).unwrap();
        rustix::fs::ioctl_ficlone(File::create(&copy).unwrap(), image).unwrap();
        copy
    }

    /// Looks at a cut as the machine would after its power came back.
    fn inspect<T>(&self, cut: &Path, look: impl FnOnce(&Path) -> T) -> T {
        let point = self.at("cut");
        let Format { kind, copy, .. } = self.format;
        let mounted = Mounted::mount(kind, copy, cut.to_str().unwrap(), &point).unwrap();
        let seen = look(&point.join("root"));
        drop(mounted);
        fs::remove_file(cut).unwrap();
        seen
    }
}

fn cut_again_and_again(disk: &Disk, durability: &str, cuts: usize) -> Outcome {
    let staging = disk.at("disk/staging");
    let flags = ["--durability", durability, "--staging", staging.to_str().unwrap()];
    let server = ServerProcess::start(&disk.at("disk/root"), &flags);
    let lanes: Vec<_> = (0..4).map(Lane::new).collect();
    let (stop, mut outcome, mut dice) = (AtomicBool::new(false), Outcome::default(), Dice::new(4));
    let (sender, acknowledgements) = mpsc::channel();
    thread::scope(|scope| {
        let _end = EndOnDrop(&stop);
        for lane in &lanes {
            let (connection, dice) = (server.connect(), Dice::new(dice.roll()));
            let (stop, sender) = (&stop, sender.clone());
            scope.spawn(move || lane.drive(connection, dice, stop, &sender));
        }
        for _ in 0..cuts {
            let until = 20 + dice.below(100);
            for _ in 0..until {
                acknowledgements.recv_timeout(Duration::from_secs(60)).expect("the server works");
            }
            // No event marks the middle of a write: the moment of the cut is what is random here.
            thread::sleep(Duration::from_micros(dice.below(4000)));
            cut_once(disk, &lanes, &mut outcome);
        }
    });
    outcome
}

fn cut_once(disk: &Disk, lanes: &[Lane], outcome: &mut Outcome) {
    let acknowledged = |lane: &Lane| lane.ledger.lock().unwrap().acknowledged();
    let durable: Vec<_> = lanes.iter().map(acknowledged).collect();
    let cut = disk.cut();
    let ledgers: Vec<_> = lanes.iter().map(|lane| lane.ledger.lock().unwrap().clone()).collect();
    disk.inspect(&cut, |root| {
        for ((lane, ledger), durable) in lanes.iter().zip(&ledgers).zip(&durable) {
            let difference = match lane.found(root) {
                Ok(found) => ledger.explains(*durable, &found).inspect_err(|_| outcome.lost += 1),
                Err(torn) => {
                    outcome.torn += 1;
                    Err(torn)
                }
            };
            outcome.first = outcome.first.take().or(difference.err());
        }
    });
    outcome.durable = durable.iter().sum();
}

//! The calls of a durable write without a server around them: what the disk and the kernel take.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::fs::{
    AtFlags, Mode, OFlags, ResolveFlags, StatxFlags, Timespec, Timestamps, fsync, futimens, linkat,
    openat, openat2, statx,
};
use rustix::io::pwrite;

use super::content::{noise, stamp};
use super::load::Pace;
use crate::clock::Stopwatch;

const LENGTH: usize = 4096;

/// What is written, and for how long.
#[derive(clap::Args)]
pub(crate) struct Plan {
    dir: PathBuf,
    threads: usize,
    warm: f64,
    counted: f64,
}

/// Writes by so many threads, and tells how fast.
pub(crate) fn measure(plan: &Plan) -> Result<()> {
    let [warm, counted] = [plan.warm, plan.counted].map(Duration::from_secs_f64);
    let begin = Instant::now() + warm;
    let end = begin + counted;
    let (times, cpu) = std::thread::scope(|scope| -> Result<_> {
        let writers: Vec<_> = (0..plan.threads)
            .map(|thread| scope.spawn(move || write(&plan.dir, thread, begin, end)))
            .collect();
        std::thread::sleep(warm);
        let stopwatch = Stopwatch::start();
        let mut times = Vec::new();
        for writer in writers {
            times.extend(writer.join().ok().context("a thread panicked")??);
        }
        Ok((times, Duration::from_nanos(stopwatch.spent().cpu_ns)))
    })?;
    println!("{}", serde_json::to_string(&Pace::new(times, counted, cpu))?);
    Ok(())
}

fn write(dir: &Path, thread: usize, begin: Instant, end: Instant) -> Result<Vec<Duration>> {
    let (root, descriptors) = (File::open(dir)?, File::open("/proc/self/fd")?);
    let (mut bytes, mut times) = (noise(LENGTH), Vec::new());
    for number in 0_u64.. {
        let began = Instant::now();
        if began >= end {
            break;
        }
        stamp(&mut bytes, (thread as u64) << 24 | number);
        place(&root, &descriptors, &format!("c{thread:03}"), &number.to_string(), &bytes)?;
        let ended = Instant::now();
        if (begin..end).contains(&ended) {
            times.push(ended - began);
        }
    }
    Ok(times)
}

/// One new file, by the steps of docs/durability.md.
fn place(root: &File, descriptors: &File, dir: &str, name: &str, bytes: &[u8]) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat2(root, dir, flags, Mode::empty(), ResolveFlags::BENEATH)?;
    look(&parent, name);
    let nameless = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(&parent, ".", nameless, Mode::from_raw_mode(0o644))?;
    pwrite(&file, bytes, 0)?;
    look(&parent, "");
    look(&file, "");
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    futimens(&file, &Timestamps { last_access: now, last_modification: now })?;
    fsync(&file)?;
    look(&parent, name);
    let number = file.as_raw_fd().to_string();
    linkat(descriptors, number, &parent, name, AtFlags::SYMLINK_FOLLOW)?;
    look(&file, "");
    fsync(&parent)?;
    Ok(())
}

/// Looks at what a directory has under a name, which may be nothing, or at what is open itself.
fn look(at: impl AsFd, name: &str) {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
    let _seen = statx(at, name, flags, StatxFlags::BASIC_STATS);
}

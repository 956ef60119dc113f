//! The calls of a durable write without a server around them: what the disk and the kernel take.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::fs::{
    AtFlags, Mode, OFlags, ResolveFlags, StatxFlags, Timespec, Timestamps, fchmod, fsync, futimens,
    openat, openat2, renameat, statx,
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
    let root = File::open(dir)?;
    let staging = dir.join(format!("staging-{thread}"));
    std::fs::create_dir_all(&staging)?;
    let staging = File::open(staging)?;
    let (mut bytes, mut times) = (noise(LENGTH), Vec::new());
    for number in 0_u64.. {
        let began = Instant::now();
        if began >= end {
            break;
        }
        stamp(&mut bytes, (thread as u64) << 24 | number);
        place(&root, &staging, &format!("c{thread:03}"), &number.to_string(), &bytes)?;
        let ended = Instant::now();
        if (begin..end).contains(&ended) {
            times.push(ended - began);
        }
    }
    Ok(times)
}

/// One file, by the steps of docs/durability.md.
fn place(root: &File, staging: &File, dir: &str, name: &str, bytes: &[u8]) -> Result<()> {
    let fresh = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(staging, name, fresh, Mode::RUSR | Mode::WUSR)?;
    pwrite(&file, bytes, 0)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat2(root, dir, flags, Mode::empty(), ResolveFlags::BENEATH)?;
    // Nothing is there; a file that is would give its mode to the new one.
    let _nothing = statx(&parent, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS);
    fchmod(&file, Mode::from_raw_mode(0o644))?;
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    futimens(&file, &Timestamps { last_access: now, last_modification: now })?;
    fsync(&file)?;
    renameat(staging, name, &parent, name)?;
    fsync(&parent)?;
    Ok(())
}

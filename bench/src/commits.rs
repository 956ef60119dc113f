//! Durable commits to the embedded store, beside a program that does nothing but append and sync.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use engine::{FileSystem as _, VirtualFs};
use futures::future::try_join_all;

use crate::Plan;
use crate::clock::Stopwatch;
use crate::report::{Rounds, Section};
use crate::sample::{Sample, samples};
use crate::tree::{file_url, sandbox, store, written};

const WRITERS: [usize; 2] = [1, 64];

/// Rounds of all of them in turns.
pub(crate) fn compare(plan: &Plan) -> Result<Section> {
    let dir = plan.scratch.join("commits");
    let (place, seconds) = (dir.display().to_string(), plan.choose("0.5", "1.5"));
    let mut rounds = Rounds::default();
    for _ in 0..plan.choose(3, 7) {
        let found = samples(&mut plan.part(&["commits", &place, seconds])?)?;
        rounds.add_all(&found, |sample| 1e9 / sample.wall_each());
        std::fs::remove_dir_all(&dir)?;
    }
    let each_second = |figure: f64| format!("{figure:.0}");
    let row = |writers: usize| {
        let [own, bare] = ["writes", "bare"].map(|what| format!("{what} {writers}"));
        let ratio = rounds.median(&own).unwrap_or(f64::NAN) / rounds.median(&bare).unwrap_or(1.0);
        let figures = [rounds.shown(&own, each_second), rounds.shown(&bare, each_second)];
        let row = [writers.to_string()].into_iter().chain(figures);
        row.chain([format!("{ratio:.2}")]).collect()
    };
    Ok(Section {
        title: "Durable commits",
        about: "Acknowledged writes of 2 KiB a second to `file:`, each by itself, by one writer \
                and by 64 at once; and how often a second a program can append as many bytes as \
                the store wrote for each and call fdatasync, on the same disk, in turns."
            .to_owned(),
        columns: ["writers", "writes/s", "bare append and sync/s", "ratio"]
            .map(str::to_owned)
            .to_vec(),
        rows: WRITERS.map(row).to_vec(),
        marks: Vec::new(),
    })
}

/// Measures in this process.
pub(crate) async fn measure(dir: &Path, seconds: f64) -> Result<()> {
    std::fs::create_dir_all(dir)?;
    let (long, content) = (Duration::from_secs_f64(seconds), Bytes::from(vec![b'x'; 2048]));
    let files = sandbox(&store(&file_url(&dir.join("store"))).await?, "bench").await?;
    for writers in WRITERS {
        let (before, stopwatch) = (written_bytes()?, Stopwatch::start());
        let end = Instant::now() + long;
        let made = try_join_all((0..writers).map(|writer| write(&files, writer, end, &content)));
        let count: u64 = made.await?.into_iter().sum();
        let spent = stopwatch.spent();
        let each = (written_bytes()? - before) / count.max(1);
        Sample::new(format!("writes {writers}"), count, spent).tell()?;
        bare(dir, writers, usize::try_from(each)?, long)?;
    }
    Ok(())
}

async fn write(files: &VirtualFs, writer: usize, end: Instant, content: &Bytes) -> Result<u64> {
    let mut count = 0;
    while Instant::now() < end {
        let file = format!("/writer-{writer}/file-{count}");
        files.batch(vec![written(&file, content)?]).await?;
        count += 1;
    }
    Ok(count)
}

/// Appends and syncs for as long.
fn bare(dir: &Path, writers: usize, each: usize, long: Duration) -> Result<()> {
    let mut log = File::create(dir.join("bare"))?;
    let (bytes, mut count) = (vec![b'x'; each], 0);
    let (end, stopwatch) = (Instant::now() + long, Stopwatch::start());
    while Instant::now() < end {
        log.write_all(&bytes)?;
        log.sync_data()?;
        count += 1;
    }
    Sample::new(format!("bare {writers}"), count, stopwatch.spent()).tell()
}

/// How many bytes this process has handed to the kernel.
fn written_bytes() -> Result<u64> {
    let counts = std::fs::read_to_string("/proc/self/io")?;
    let line = counts.lines().find_map(|line| line.strip_prefix("wchar: "));
    Ok(line.context("no wchar")?.parse()?)
}

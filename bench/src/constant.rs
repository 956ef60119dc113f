//! What must cost the same for ten files and for a million.

use anyhow::{Result, ensure};
use bytes::Bytes;
use engine::{
    Depth, FileSystem as _, If, Limits, NewSnapshot, Point, SandboxId, Snapshots as _, Store,
    Target, VirtualFs,
};
use futures::TryStreamExt as _;

use crate::Plan;
use crate::clock::Stopwatch;
use crate::report::{Mark, Rounds, Section, time};
use crate::sample::{Sample, samples};
use crate::tree::{file_url, fill, path, sandbox, store, written};

const FEW: usize = 10;
const SUBTREE: usize = 100_000;
const MOST: f64 = 1.5;
const LONGEST_DIFF_MS: f64 = 2.0;
const OPERATIONS: [&str; 6] =
    ["snapshot", "fork", "rename", "copy", "remove copy", "remove only copy"];
/// How often directories are made that nothing else shares, and how many at a time.
const ONLY_ROUNDS: usize = 3;
const ONLY_AT_ONCE: usize = 9;

/// Small beside large, in memory and in the embedded store.
pub(crate) fn compare(plan: &Plan) -> Result<Section> {
    let (files, rounds) = (plan.choose(100_000, 1_000_000), plan.choose(21, 101));
    let mut section = Section {
        title: "What must not depend on the size of a tree",
        about: format!(
            "Time on the wall of one operation. Snapshot and fork: a sandbox of {FEW} files and \
             one of {files}. Rename, copy and remove: a directory of {FEW} files and one of \
             {SUBTREE}, both in the large sandbox. Small and large in turns, {rounds} rounds; of \
             directories that nothing else shares, {} are removed. Diff: one changed \
             file among {files}.",
            ONLY_ROUNDS * ONLY_AT_ONCE
        ),
        columns: ["store", "operation", "small", "large", "ratio"].map(str::to_owned).to_vec(),
        rows: Vec::new(),
        marks: Vec::new(),
    };
    let dir = plan.scratch.join("constant");
    for (kind, url) in [("memory:", "memory:".to_owned()), ("file:", file_url(&dir))] {
        let (files, count) = (files.to_string(), rounds.to_string());
        let found = samples(&mut plan.part(&["constant", &url, &files, &count])?)?;
        let mut rounds = Rounds::default();
        rounds.add_all(&found, Sample::wall_each);
        add(&mut section, kind, &rounds);
    }
    std::fs::remove_dir_all(&dir)?;
    Ok(section)
}

fn add(section: &mut Section, kind: &str, rounds: &Rounds) {
    for operation in OPERATIONS {
        let [small, large] = ["small", "large"].map(|size| format!("{operation} {size}"));
        let ratio = match (rounds.median(&small), rounds.median(&large)) {
            (Some(small), Some(large)) => large / small,
            _ => f64::NAN,
        };
        let figures = [rounds.shown(&small, time), rounds.shown(&large, time)];
        let row = [kind.to_owned(), operation.to_owned()].into_iter().chain(figures);
        section.rows.push(row.chain([format!("{ratio:.2}")]).collect());
        let what = format!("{operation} on {kind} large against small");
        section.marks.push(Mark::at_most(what, MOST, ratio));
    }
    let diff = rounds.median("diff").unwrap_or(f64::NAN) / 1e6;
    let row = [kind, "diff", "–", &rounds.shown("diff", time), "–"].map(str::to_owned);
    section.rows.push(row.to_vec());
    let what = format!("diff of one change on {kind} in ms");
    section.marks.push(Mark::at_most(what, LONGEST_DIFF_MS, diff));
}

/// Measures in this process.
pub(crate) async fn measure(url: &str, files: usize, rounds: usize) -> Result<()> {
    let (store, content) = (store(url).await?, Bytes::from(vec![b'x'; 100]));
    let (small, large) = (sandbox(&store, "small").await?, sandbox(&store, "large").await?);
    fill(&small, "/tree", FEW, &content).await?;
    fill(&large, "/tree", files, &content).await?;
    fill(&large, "/small", FEW, &content).await?;
    fill(&large, "/large", SUBTREE, &content).await?;
    for round in 0..rounds {
        for (size, sandbox) in [("small", &small), ("large", &large)] {
            snapshot_and_fork(&store, sandbox, size, round).await?;
        }
        for size in ["small", "large"] {
            relocate(&large, size).await?;
        }
        diff(&large, round).await?;
    }
    for _ in 0..ONLY_ROUNDS {
        for (size, count) in [("small", FEW), ("large", SUBTREE)] {
            remove_only_copies(&large, size, count, &content).await?;
        }
    }
    Ok(())
}

async fn remove_only_copies(
    files: &VirtualFs,
    size: &str,
    count: usize,
    content: &Bytes,
) -> Result<()> {
    let dirs = (0..ONLY_AT_ONCE).map(|index| format!("/only-{index}"));
    let dirs: Vec<_> = dirs.collect();
    for dir in &dirs {
        fill(files, dir, count, content).await?;
    }
    settle(files).await?;
    for dir in &dirs {
        let stopwatch = Stopwatch::start();
        files.remove(&path(dir)?, Depth::All, If::Always).await?;
        Sample::new(format!("remove only copy {size}"), 1, stopwatch.spent()).tell()?;
    }
    Ok(())
}

/// Lets the allocator and the caches recover from so many new files.
async fn settle(files: &VirtualFs) -> Result<()> {
    let (here, copy) = (path("/small")?, path("/copies/small")?);
    for _ in 0..10 {
        files.copy(&here, &copy, Target::New).await?;
        files.remove(&copy, Depth::All, If::Always).await?;
    }
    Ok(())
}

async fn snapshot_and_fork(
    store: &Store,
    files: &VirtualFs,
    size: &str,
    round: usize,
) -> Result<()> {
    let stopwatch = Stopwatch::start();
    let snapshot = files.create(NewSnapshot::default()).await?;
    Sample::new(format!("snapshot {size}"), 1, stopwatch.spent()).tell()?;
    let id = SandboxId::parse(&format!("fork-{size}-{round}"))?;
    let stopwatch = Stopwatch::start();
    files.fork(Point::Live, &id, Limits::default()).await?;
    Sample::new(format!("fork {size}"), 1, stopwatch.spent()).tell()?;
    files.delete(&snapshot.id).await?;
    // A fork must be a sandbox that can be used.
    let fork = store.sandbox(&id).await?;
    ensure!(fork.usage().await? == files.usage().await?, "the fork is not a copy");
    Ok(())
}

async fn relocate(files: &VirtualFs, size: &str) -> Result<()> {
    let (here, there) = (path(&format!("/{size}"))?, path(&format!("/moved/{size}"))?);
    let copy = path(&format!("/copies/{size}"))?;
    let stopwatch = Stopwatch::start();
    files.rename(&here, &there, Target::New).await?;
    Sample::new(format!("rename {size}"), 1, stopwatch.spent()).tell()?;
    files.rename(&there, &here, Target::New).await?;
    let stopwatch = Stopwatch::start();
    files.copy(&here, &copy, Target::New).await?;
    Sample::new(format!("copy {size}"), 1, stopwatch.spent()).tell()?;
    let stopwatch = Stopwatch::start();
    files.remove(&copy, Depth::All, If::Always).await?;
    Sample::new(format!("remove copy {size}"), 1, stopwatch.spent()).tell()
}

async fn diff(files: &VirtualFs, round: usize) -> Result<()> {
    let before = files.create(NewSnapshot::default()).await?;
    let content = Bytes::from(format!("round {round}"));
    files.batch(vec![written("/tree/part-0000/file-0000500", &content)?]).await?;
    let stopwatch = Stopwatch::start();
    let differences = files.diff(Point::Snapshot(before.id.clone()), Point::Live).await?;
    let found: Vec<_> = differences.try_collect().await?;
    Sample::new("diff", 1, stopwatch.spent()).tell()?;
    let named = |name: &str| found.iter().any(|difference| difference.path.name() == name);
    ensure!(named("file-0000500") && found.len() <= 3, "the diff is not what was changed");
    Ok(files.delete(&before.id).await?)
}

//! Single operations in one directory that grows.

use anyhow::{Result, ensure};
use bytes::Bytes;
use engine::{FileSystem as _, Links, Page, VirtualFs};
use futures::TryStreamExt as _;

use crate::Plan;
use crate::clock::Stopwatch;
use crate::report::{Rounds, Section, time};
use crate::sample::{Sample, samples};
use crate::tree::{path, sandbox, store, written};

const OPERATIONS: [&str; 3] = ["create", "stat", "list"];
const STRIDE: usize = 7919;
const PAGE: usize = 100;

/// The same operations at every size.
pub(crate) fn compare(plan: &Plan) -> Result<Section> {
    let sizes = plan.choose(&[100, 10_000, 100_000][..], &[100, 1_000, 10_000, 100_000, 1_000_000]);
    let mut rows = Vec::new();
    for files in sizes {
        let mut rounds = Rounds::default();
        for _ in 0..plan.choose(1, 3) {
            let found = samples(&mut plan.part(&["growth", &files.to_string()])?)?;
            rounds.add_all(&found, Sample::cpu_each);
        }
        let figures = OPERATIONS.iter().map(|operation| rounds.shown(operation, time));
        rows.push([files.to_string()].into_iter().chain(figures).collect());
    }
    Ok(Section {
        title: "One directory that grows",
        about: format!(
            "Processor time of one operation on a tree in memory whose files are all in one \
             directory: the last tenth of the files is made one by one, 2,000 files are looked at, \
             and pages of {PAGE} entries are listed from places all over the directory."
        ),
        columns: ["files", "create", "stat", "list a page"].map(str::to_owned).to_vec(),
        rows,
        marks: Vec::new(),
    })
}

/// Measures in this process.
pub(crate) async fn measure(files: usize) -> Result<()> {
    let tree = sandbox(&store("memory:").await?, "bench").await?;
    let content = Bytes::from(vec![b'x'; 100]);
    let name = |position: usize| format!("/file-{:07}", position * STRIDE % files);
    let last = files - (files / 10).min(10_000);
    for begin in (0..last).step_by(2000) {
        let some = begin..last.min(begin + 2000);
        let steps = some.map(|position| written(&name(position), &content));
        tree.batch(steps.collect::<Result<_>>()?).await?;
    }
    let stopwatch = Stopwatch::start();
    for position in last..files {
        tree.batch(vec![written(&name(position), &content)?]).await?;
    }
    Sample::new("create", (files - last) as u64, stopwatch.spent()).tell()?;
    look(&tree, name, files).await
}

async fn look(tree: &VirtualFs, name: impl Fn(usize) -> String, files: usize) -> Result<()> {
    let paths: Vec<_> = (0..2000).map(|position| name(position * STRIDE % files)).collect();
    let stopwatch = Stopwatch::start();
    for file in &paths {
        tree.stat(&path(file)?, Links::Follow).await?;
    }
    Sample::new("stat", paths.len() as u64, stopwatch.spent()).tell()?;
    let (root, some) = (path("/")?, paths.get(..200).unwrap_or_default());
    let mut seen = 0;
    let stopwatch = Stopwatch::start();
    for file in some {
        let after = file.trim_start_matches('/').to_owned();
        let page = Page { after: Some(after), limit: Some(PAGE) };
        let entries: Vec<_> = tree.list(&root, page).await?.try_collect().await?;
        seen += entries.len();
    }
    let spent = stopwatch.spent();
    ensure!(seen > 0, "nothing was listed");
    Sample::new("list", some.len() as u64, spent).tell()
}

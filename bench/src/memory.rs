//! How much memory a small file takes beyond its content.

use anyhow::{Context as _, Result};
use bytes::Bytes;
use engine::FileSystem as _;

use crate::Plan;
use crate::clock::Spent;
use crate::report::{Mark, Section};
use crate::sample::{Sample, samples};
use crate::tree::{fill, sandbox, store};

const CONTENT: usize = 100;
const MOST: f64 = 400.0;

/// The memory that a process has more of after it made the files.
pub(crate) fn compare(plan: &Plan) -> Result<Section> {
    let files = plan.choose(200_000, 1_000_000);
    let found = samples(&mut plan.part(&["memory", &files.to_string()])?)?;
    let resident = found.first().context("no figure came")?.cpu_each();
    let beyond = resident - CONTENT as f64;
    Ok(Section {
        title: "Memory of small files",
        about: format!(
            "Resident memory that a process gained with {files} files of {CONTENT} bytes in a tree \
             in memory, made in batches. All that the allocator holds counts, used or not."
        ),
        columns: ["bytes a file", "beyond its content"].map(str::to_owned).to_vec(),
        rows: vec![vec![format!("{resident:.0}"), format!("{beyond:.0}")]],
        marks: vec![Mark::at_most("bytes of memory a small file beyond its content", MOST, beyond)],
    })
}

/// Measures in this process.
pub(crate) async fn measure(files: usize) -> Result<()> {
    let tree = sandbox(&store("memory:").await?, "bench").await?;
    let content = Bytes::from(vec![b'x'; CONTENT]);
    let before = resident()?;
    fill(&tree, "/tree", files, &content).await?;
    let grown = resident()?.saturating_sub(before);
    Sample::new("resident", tree.usage().await?.files, Spent { cpu_ns: grown, wall_ns: 0 }).tell()
}

/// The resident memory of this process, in bytes.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no VmRSS")?;
    Ok(kib.trim().parse::<u64>()? << 10)
}

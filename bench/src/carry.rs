//! Export and import, beside `zstd` on the same bytes.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use bytes::{Bytes, BytesMut};
use engine::{FileSystem as _, NewSnapshot, Point, Snapshots as _};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use crate::Plan;
use crate::clock::Stopwatch;
use crate::report::{Mark, Rounds, Section};
use crate::sample::{Sample, samples};
use crate::tree::{sandbox, store, written};

const FILE: usize = 16 << 10;
const LEAST: f64 = 0.9;

/// Rounds of all of them in turns.
pub(crate) fn compare(plan: &Plan) -> Result<Section> {
    let (bytes, sample) = (plan.choose(32 << 20, 256 << 20), plan.scratch.join("bytes"));
    let mut rounds = Rounds::default();
    for _ in 0..plan.choose(3, 5) {
        let place = sample.display().to_string();
        let found = samples(&mut plan.part(&["carry", &bytes.to_string(), &place])?)?;
        rounds.add_all(&found, |sample| sample.count as f64 * 1e3 / sample.wall_ns as f64);
    }
    std::fs::remove_file(&sample)?;
    let speed = |figure: f64| format!("{figure:.0} MB/s");
    let zstd = rounds.median("zstd").unwrap_or(f64::NAN);
    let row = |op: &str| {
        let ratio = rounds.median(op).unwrap_or(f64::NAN) / zstd;
        (vec![op.to_owned(), rounds.shown(op, speed), format!("{ratio:.2}")], ratio)
    };
    let mark = |op: &str| Mark::at_least(format!("{op} against zstd -1 -T2"), LEAST, row(op).1);
    Ok(Section {
        title: "Export and import",
        about: format!(
            "Time on the wall for {} MiB of text in files of {} KiB in memory, by bytes of \
             content; `zstd -1 -T2` reads the same bytes from a file and writes nothing. Import \
             checks everything that it takes in.",
            bytes >> 20,
            FILE >> 10
        ),
        columns: ["what", "speed", "of zstd -1 -T2"].map(str::to_owned).to_vec(),
        rows: ["export", "import", "zstd", "zstd -d"].map(|op| row(op).0).to_vec(),
        marks: vec![mark("export"), mark("import")],
    })
}

/// Measures in this process.
pub(crate) async fn measure(bytes: usize, sample: &Path) -> Result<()> {
    let text = text(bytes);
    std::fs::write(sample, &text)?;
    let (store, count) = (store("memory:").await?, bytes as u64);
    let (from, to) = (sandbox(&store, "from").await?, sandbox(&store, "to").await?);
    let name = |index: usize| format!("/part-{:03}/file-{index:06}", index / 100);
    for (index, begin) in (0..text.len()).step_by(FILE).enumerate() {
        let content = text.slice(begin..text.len().min(begin + FILE));
        from.batch(vec![written(&name(index), &content)?]).await?;
    }
    let stopwatch = Stopwatch::start();
    let stream: Vec<Bytes> = from.export(Point::Live, None).await?.try_collect().await?;
    Sample::new("export", count, stopwatch.spent()).tell()?;
    let stopwatch = Stopwatch::start();
    let body = stream::iter(stream.into_iter().map(Ok)).boxed();
    let snapshot = to.import(body, NewSnapshot::default()).await?;
    Sample::new("import", count, stopwatch.spent()).tell()?;
    ensure!(snapshot.usage.bytes == from.usage().await?.bytes, "the import is not the export");
    zstd("zstd", &["-1", "-T2", "-q", "-c"], sample, count)?;
    let packed = sample.with_extension("zst");
    let mut pack = Command::new("zstd");
    pack.args(["-1", "-T2", "-q", "-f", "-o"]).arg(&packed).arg(sample);
    ensure!(pack.status()?.success(), "zstd failed");
    zstd("zstd -d", &["-d", "-q", "-c"], &packed, count)?;
    Ok(std::fs::remove_file(packed)?)
}

fn zstd(op: &str, arguments: &[&str], file: &Path, count: u64) -> Result<()> {
    let stopwatch = Stopwatch::start();
    let status = Command::new("zstd").args(arguments).arg(file).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "zstd failed");
    Sample::new(op, count, stopwatch.spent()).tell()
}

/// Text of words that come again as often as words do, the same in every run.
fn text(len: usize) -> Bytes {
    let (mut text, mut state) = (BytesMut::with_capacity(len + 16), 1_u64);
    while text.len() < len {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = state >> 33;
        // Small numbers are far more frequent than large ones.
        let word = (random % 50_000) * (random / 50_000 % 50_000) / 50_000;
        text.extend_from_slice(format!("w{:x}{}", word * 2_654_435_761 % 65_536, " ").as_bytes());
    }
    text.truncate(len);
    text.freeze()
}

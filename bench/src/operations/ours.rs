//! What the peers do in `peers/workload.py` and `peers/workload.mjs`, on our tree in memory.

use anyhow::{Result, ensure};
use bytes::Bytes;
use engine::{
    DotDot, FileSystem, If, Limits, Links, Page, Parents, SandboxId, SandboxPath, Span, Store,
    VirtualFs, WriteMode, WriteOptions,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use crate::clock::{Spent, Stopwatch};
use crate::sample::Sample;

const DIRECTORIES: usize = 20;
const SIZE: usize = 2048;
/// The files are taken in an order that jumps about: a prime number of files at a time.
const STRIDE: usize = 7919;
const WARM_UP: usize = 2000;
/// Operations are repeated until they have taken this long.
const ENOUGH_NS: u64 = 200_000_000;
const AT_ONCE: usize = 500;

/// Measures all four operations.
pub(crate) async fn measure(files: usize) -> Result<()> {
    let warm = scattered(WARM_UP);
    let tree = Tree::new().await?;
    tree.fill(&warm).await?;
    tree.measure(&warm, 0).await?;

    let paths = scattered(files);
    let (mut made, mut spent) = (0, Spent::default());
    let tree = loop {
        let tree = Tree::new().await?;
        let longer = tree.fill(&paths).await?;
        made += files as u64;
        spent.cpu_ns += longer.cpu_ns;
        spent.wall_ns += longer.wall_ns;
        if spent.cpu_ns >= ENOUGH_NS {
            break tree;
        }
    };
    Sample::new("create", made, spent).tell()?;
    for sample in tree.measure(&paths, ENOUGH_NS).await? {
        sample.tell()?;
    }
    Ok(())
}

struct Tree {
    files: VirtualFs,
    content: Bytes,
}

impl Tree {
    async fn new() -> Result<Self> {
        let id = SandboxId::parse("bench")?;
        let files = Store::in_memory().create(&id, Limits::default()).await?;
        for dir in directories() {
            files.create_dir(&path(&dir)?, Parents::Require).await?;
        }
        let content = (0..SIZE).map(|index| (index * 31 % 251) as u8).collect();
        Ok(Self { files, content })
    }

    async fn fill(&self, paths: &[String]) -> Result<Spent> {
        let stopwatch = Stopwatch::start();
        for path in paths {
            self.create(path).await?;
        }
        Ok(stopwatch.spent())
    }

    async fn measure(&self, paths: &[String], enough: u64) -> Result<Vec<Sample>> {
        let in_each = paths.len() / DIRECTORIES;
        let read = repeated(paths, enough, async |path: &str| {
            ensure!(self.read(path).await? == SIZE, "a file is not what was written");
            Ok(())
        });
        let (read, stat) = (
            read.await?,
            repeated(paths, enough, async |path: &str| {
                self.files.stat(&self::path(path)?, Links::Follow).await?;
                Ok(())
            }),
        );
        let (stat, directories) = (stat.await?, directories());
        let list = repeated(&directories, enough, async |dir: &str| {
            ensure!(self.list(dir).await? == in_each, "a directory is not what was made");
            Ok(())
        });
        let (list, named) = (list.await?, |op, (count, spent)| Sample::new(op, count, spent));
        Ok(vec![named("read", read), named("stat", stat), named("list", list)])
    }

    async fn create(&self, path: &str) -> Result<()> {
        let content = self.content.clone();
        let body = stream::once(async move { Ok(content) }).boxed();
        let options = WriteOptions {
            mode: WriteMode::Replace,
            parents: Parents::Create,
            expected: If::Always,
            length: None,
        };
        self.files.write(&self::path(path)?, body, options).await?;
        Ok(())
    }

    async fn read(&self, path: &str) -> Result<usize> {
        let mut body = self.files.read(&self::path(path)?, Span::Whole).await?.body;
        let mut len = 0;
        while let Some(piece) = body.try_next().await? {
            len += piece.len();
        }
        Ok(len)
    }

    async fn list(&self, dir: &str) -> Result<usize> {
        let entries = self.files.list(&path(dir)?, Page::default()).await?;
        let entries: Vec<_> = entries.try_collect().await?;
        Ok(entries.len())
    }
}

async fn repeated(
    arguments: &[String],
    enough: u64,
    operation: impl AsyncFn(&str) -> Result<()>,
) -> Result<(u64, Spent)> {
    let (mut done, stopwatch) = (0, Stopwatch::start());
    for some in arguments.chunks(AT_ONCE).cycle() {
        for argument in some {
            operation(argument).await?;
        }
        done += some.len() as u64;
        if stopwatch.spent().cpu_ns >= enough {
            break;
        }
    }
    Ok((done, stopwatch.spent()))
}

fn path(text: &str) -> Result<SandboxPath> {
    Ok(SandboxPath::parse(text, DotDot::Refuse)?)
}

fn directories() -> Vec<String> {
    (0..DIRECTORIES).map(|index| format!("/dir-{index:02}")).collect()
}

fn scattered(files: usize) -> Vec<String> {
    let indexes = (0..files).map(|position| position * STRIDE % files);
    indexes.map(|index| format!("/dir-{:02}/file-{index:05}.txt", index % DIRECTORIES)).collect()
}

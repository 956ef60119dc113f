//! What a store costs that is a server: how much gathering commits is worth, and what goes over the
//! line for each operation.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use engine::{
    FileSystem, Files, Limits, Links, NewSnapshot, Page, SandboxId, SandboxPath, Snapshots as _,
    Span, Store, StoreOptions, VirtualFs,
};
use futures::TryStreamExt as _;
use futures::future::try_join_all;
use servers::{Kind, Proxy, Server, Traffic};
use storage::Storage;

use crate::tree::written;

/// How many write at once where commits are gathered.
const WRITERS: usize = 64;
/// How often each operation is done to count what it costs.
const TIMES: u64 = 20;
/// A view is never looked at again here, so that only what an operation itself asks is counted.
const NEVER: Duration = Duration::from_secs(86_400);

/// A backend and what it needs.
enum Backend {
    Local(&'static str, String),
    Remote(&'static str, Kind),
}

/// Measures every backend and writes what was found.
pub(crate) async fn measure(scratch: &Path, results: &Path, seconds: f64) -> Result<()> {
    let local = |name, scheme: &str, file: &str| {
        Backend::Local(name, format!("{scheme}:{}", scratch.join(file).display()))
    };
    let backends = [
        local("file", "file", "store"),
        local("sqlite", "sqlite", "store.db"),
        Backend::Remote("postgres", Kind::Postgres),
        Backend::Remote("redis", Kind::Redis),
        Backend::Remote("s3 (SeaweedFS)", Kind::SeaweedFs),
        Backend::Remote("az (Azurite)", Kind::Azurite),
        Backend::Remote("dynamodb (ministack)", Kind::Ministack),
    ];
    let mut text = HEAD.to_owned();
    let mut costs = String::new();
    for backend in backends {
        let (name, server, url) = match backend {
            Backend::Local(name, url) => (name, None, url),
            Backend::Remote(name, kind) => {
                let server = Server::start(kind);
                let url = server.url("bench");
                (name, Some(server), url)
            }
        };
        println!("measuring: {name}");
        let (alone, together) = throughput(&url, Duration::from_secs_f64(seconds)).await?;
        let ratio = together / alone;
        writeln!(text, "| {name} | {alone:.0} | {together:.0} | {ratio:.1} |")?;
        if let Some(server) = server {
            costs += &over_the_line(name, &server).await?;
        }
    }
    let text = format!("{text}{MIDDLE}{costs}");
    println!("{text}");
    std::fs::write(results, text)?;
    Ok(())
}

const HEAD: &str = "\
# What `bench/stores` found

## Gathered commits

Acknowledged writes of 2 KiB a second to one sandbox of one server: by one writer, so that each is a
commit of its own, and by 64 at once, whose changes are gathered into commits. In turns, in one run.

| store | one commit each, writes/s | 64 writers, writes/s | ratio |
|---|---|---|---|
";

const MIDDLE: &str = "
## Over the line

What one operation costs between a server and its store, on average: how often it waits for an answer
(questions that go side by side on several connections count each), and bytes in both directions. Cold is
a server that has just opened the sandbox; warm one that has seen it. The tree has 2,000 files of 2 KiB
in 20 directories.

| store | operation | round trips | bytes sent | bytes received |
|---|---|---|---|---|
";

/// Writes a second, one by one and many at once.
async fn throughput(url: &str, long: Duration) -> Result<(f64, f64)> {
    let store = Store::open(url).await?;
    let files = store.create(&SandboxId::parse("throughput")?, Limits::default()).await?;
    let content = Bytes::from(vec![b'x'; 2048]);
    let mut found = [0.0; 2];
    for (figure, writers) in found.iter_mut().zip([1, WRITERS]) {
        let begin = Instant::now();
        let made = (0..writers).map(|writer| write_on(&files, writer, begin + long, &content));
        let count: u64 = try_join_all(made).await?.into_iter().sum();
        *figure = count as f64 / begin.elapsed().as_secs_f64();
    }
    Ok((found[0], found[1]))
}

async fn write_on(files: &VirtualFs, writer: usize, end: Instant, content: &Bytes) -> Result<u64> {
    let mut count = 0;
    while Instant::now() < end {
        let file = format!("/writer-{writer}/file-{count}");
        files.batch(vec![written(&file, content)?]).await?;
        count += 1;
    }
    Ok(count)
}

/// What operations cost between us and a server.
async fn over_the_line(name: &str, server: &Server) -> Result<String> {
    let proxy = Proxy::to(server.address());
    let url = server.url_via(proxy.address(), "line");
    let id = SandboxId::parse("line")?;
    let storage = storage::open(&url).await?;
    let files = opened(&storage).create(&id, Limits::default()).await?;
    plant(&files).await?;
    let mut rows = String::new();
    for operation in OPERATIONS {
        let mut sum = Traffic::default();
        for time in 0..TIMES {
            let files = match operation.manner {
                Manner::Warm => files.clone(),
                Manner::Cold => opened(&storage).sandbox(&id).await?,
            };
            proxy.reset_traffic();
            (operation.run)(&files, time).await.with_context(|| operation.name)?;
            let Traffic { round_trips, sent, received, .. } = proxy.traffic();
            sum.round_trips += round_trips;
            sum.sent += sent;
            sum.received += received;
        }
        let each = |count: u64| count as f64 / TIMES as f64;
        let (trips, sent, received) = (each(sum.round_trips), each(sum.sent), each(sum.received));
        let what = operation.name;
        writeln!(rows, "| {name} | {what} | {trips:.1} | {sent:.0} | {received:.0} |")?;
    }
    Ok(rows)
}

/// A store that has seen nothing yet.
fn opened(storage: &Arc<dyn Storage>) -> Store {
    let options = StoreOptions { staleness: NEVER, ..StoreOptions::default() };
    Store::over_with(Arc::clone(storage), options)
}

async fn plant(files: &VirtualFs) -> Result<()> {
    let content = Bytes::from(vec![b'x'; 2048]);
    for dir in 0..20 {
        let made = (0..100).map(|file| written(&format!("/d{dir}/f{file}"), &content));
        files.batch(made.collect::<Result<_>>()?).await?;
    }
    let large: Vec<u8> = (0..1_u64 << 17).flat_map(|n| (n * n).to_le_bytes()).collect();
    write(files, "/large", large.into()).await
}

enum Manner {
    Warm,
    Cold,
}

struct Operation {
    name: &'static str,
    manner: Manner,
    run: for<'a> fn(&'a VirtualFs, u64) -> futures::future::BoxFuture<'a, Result<()>>,
}

const OPERATIONS: [Operation; 9] = [
    Operation {
        name: "stat, cold",
        manner: Manner::Cold,
        run: |files, time| Box::pin(stat(files, time)),
    },
    Operation {
        name: "stat, warm",
        manner: Manner::Warm,
        run: |files, time| Box::pin(stat(files, time)),
    },
    Operation {
        name: "read 2 KiB, cold",
        manner: Manner::Cold,
        run: |files, time| {
            Box::pin(async move { read(files, &format!("/d{}/f7", time % 20)).await })
        },
    },
    Operation {
        name: "list 100 names, cold",
        manner: Manner::Cold,
        run: |files, time| Box::pin(list(files, time)),
    },
    Operation {
        name: "read 1 MiB, cold",
        manner: Manner::Cold,
        run: |files, _| Box::pin(read(files, "/large")),
    },
    Operation {
        name: "write 2 KiB, warm",
        manner: Manner::Warm,
        run: |files, time| {
            Box::pin(async move {
                write(files, &format!("/d{}/w{time}", time % 20), vec![b'y'; 2048].into()).await
            })
        },
    },
    Operation {
        name: "write 1 MiB, warm",
        manner: Manner::Warm,
        run: |files, time| {
            Box::pin(async move {
                let noise = (0..1_u64 << 17).flat_map(|n| (n * n * (time + 3)).to_le_bytes());
                write(files, "/large", noise.collect::<Vec<u8>>().into()).await
            })
        },
    },
    Operation {
        name: "move a directory, warm",
        manner: Manner::Warm,
        run: |files, time| Box::pin(rename(files, time)),
    },
    Operation {
        name: "snapshot, warm",
        manner: Manner::Warm,
        run: |files, _| {
            Box::pin(async move {
                files.create(NewSnapshot::default()).await?;
                Ok(())
            })
        },
    },
];

async fn stat(files: &VirtualFs, time: u64) -> Result<()> {
    let path = SandboxPath::clamped(&format!("/d{}/f5", time % 20))?;
    FileSystem::stat(files, &path, Links::Keep).await?;
    Ok(())
}

async fn list(files: &VirtualFs, time: u64) -> Result<()> {
    let path = SandboxPath::clamped(&format!("/d{}", time % 20))?;
    let entries: Vec<_> =
        FileSystem::list(files, &path, Page::default()).await?.try_collect().await?;
    anyhow::ensure!(entries.len() >= 100, "{} names", entries.len());
    Ok(())
}

async fn read(files: &VirtualFs, path: &str) -> Result<()> {
    let content = files.read(&SandboxPath::clamped(path)?, Span::Whole).await?;
    content.body.try_for_each(async |_| Ok(())).await?;
    Ok(())
}

async fn write(files: &VirtualFs, path: &str, content: Bytes) -> Result<()> {
    Files::new(Arc::new(files.clone())).write(path, content).await?;
    Ok(())
}

async fn rename(files: &VirtualFs, time: u64) -> Result<()> {
    let name = |number: u64| match number {
        0 => "/d19".to_owned(),
        number => format!("/moved-{number}"),
    };
    let [from, to] = [time, time + 1].map(|number| SandboxPath::clamped(&name(number)));
    files.rename(&from?, &to?, engine::Target::New).await?;
    Ok(())
}

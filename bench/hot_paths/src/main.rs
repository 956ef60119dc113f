//! Asks a server the same thing again and again, so that valgrind can count what one answer takes.
//!
//! `bench/instructions` runs it twice, the second time with more requests: the difference is what the
//! requests took, without the start. Server and client share one thread and talk over loopback, as a
//! real server and its client do; what the client takes is always the same, and little.

#![expect(clippy::print_stdout, reason = "it is a terminal program")]
#![expect(clippy::disallowed_methods, reason = "its files are its own, not those of a sandbox")]

mod client;
mod hot_path;
mod served;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::runtime::Builder;

use client::Client;
use hot_path::HotPath;

/// What is asked before anything is: caches are filled, and threads are there.
const WARM: usize = 50;
/// Threads that wait for work must not end and begin anew while others are counted.
const KEPT: Duration = Duration::from_secs(3600);

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["names"] => {
            hot_path::ALL.iter().for_each(|path| println!("{}", path.name));
            Ok(())
        }
        ["ask", name, count, dir] => {
            let path = hot_path::ALL.iter().find(|path| path.name == name);
            ask(path.context("there is no such path")?, count.parse()?, Path::new(dir))
        }
        _ => anyhow::bail!("sandkeep-hot-paths names | ask NAME COUNT EMPTY-DIRECTORY"),
    }
}

fn ask(path: &HotPath, count: usize, dir: &Path) -> Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .thread_keep_alive(KEPT)
        .build()?;
    runtime.block_on(async {
        let mut client = Client::connect(served::serve(path.tree, dir).await?).await?;
        let request = path.request(&mut client).await?;
        for _ in 0..WARM + count {
            let answer = client.ask(&request).await?;
            ensure!(answer.status == 200, "{}: {answer:?}", path.name);
            ensure!(answer.body.len() >= path.least, "{}: {answer:?}", path.name);
        }
        Ok(())
    })
}

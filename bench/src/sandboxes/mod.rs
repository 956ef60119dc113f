//! Many sandboxes on one server: how fast it starts, what those that nobody works in cost, and what
//! they take away from those that somebody works in.
//!
//! The server is the real one, over a store on disk, and everything is asked over HTTP. Beside the
//! one with many sandboxes there is one with a few, which gets the same traffic in turns.

mod crowd;
mod findings;
mod traffic;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

use self::crowd::{Crowd, Pages};
use self::findings::{Findings, Load, Start};
use crate::process::{Process, Use};
use crate::report::Report;
use crate::spread::Spread;

/// How many sandboxes the server has that the other one is compared with.
const FEW: usize = 10;
/// How often both servers get traffic.
const TURNS: u32 = 4;
/// How many sandboxes are removed.
const REMOVED: usize = 500;
/// How long a sandbox is held open that nobody works in, how many files may stay open then, and how
/// long is waited for that at most. A turn of traffic is shorter than that, so that none is closed
/// before its next one.
const IDLE: Duration = Duration::from_secs(30);
const SPARE: usize = 8;
const PATIENCE: Duration = Duration::from_secs(120);

/// How much is measured.
#[derive(clap::Args)]
pub(crate) struct Plan {
    /// How many sandboxes there are; every tenth lies in a directory.
    #[arg(long, default_value_t = 100_000)]
    registered: usize,
    /// In how many of them somebody works.
    #[arg(long, default_value_t = 1000)]
    active: usize,
    /// How long the traffic goes on, on each of both servers.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How many requests are under way at a time.
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// The program `sandkeep`.
    #[arg(long)]
    server: PathBuf,
    /// A directory for stores and sandboxes, on a real disk.
    #[arg(long)]
    scratch: PathBuf,
    /// Where the report goes.
    #[arg(long)]
    results: PathBuf,
}

/// A server, and the sandboxes on it.
struct Side {
    home: PathBuf,
    process: Process,
    crowd: Crowd,
    /// In how many sandboxes somebody works.
    active: usize,
}

/// Measures and writes what was found.
pub(crate) async fn measure(plan: &Plan) -> Result<()> {
    let mut few = side(plan, "few", FEW, FEW).await?;
    println!("registering {} sandboxes", plan.registered);
    let began = Instant::now();
    let mut many = side(plan, "many", plan.registered, plan.active).await?;
    let registering = began.elapsed();
    println!("starting again");
    let starts =
        [(FEW, starts(plan, &mut few).await?), (plan.registered, starts(plan, &mut many).await?)];
    println!("looking at pages");
    let pages = Pages::measure(&many.crowd).await?;
    println!("preparing {} sandboxes", plan.active);
    let before = many.process.used()?;
    few.crowd.prepare(few.active).await?;
    many.crowd.prepare(many.active).await?;
    let load = load(plan, &few, &many, before).await?;
    println!("removing some");
    let removal = many.crowd.remove_last(REMOVED.min(plan.registered / 2)).await?;
    let findings = Findings { plan, registering, starts, pages, load, removal };
    let mut report = Report::new(findings.command());
    findings.sections().into_iter().for_each(|section| report.add(section));
    let text = report.text();
    println!("{text}");
    std::fs::write(&plan.results, text)?;
    Ok(())
}

/// A server with so many sandboxes, in a directory of its own.
async fn side(plan: &Plan, name: &str, registered: usize, active: usize) -> Result<Side> {
    let home = plan.scratch.join(name);
    let process = started(plan, &home).await?;
    let crowd = Crowd::new(process.server().clone(), registered, plan.clients);
    crowd.register().await?;
    Ok(Side { home, process, crowd, active })
}

async fn started(plan: &Plan, home: &Path) -> Result<Process> {
    let idle = ["--sandbox-idle".to_owned(), format!("{}s", IDLE.as_secs())];
    Process::start(&plan.server, home, &idle).await
}

/// Starts a server again: after it was stopped, and after it was killed.
async fn starts(plan: &Plan, side: &mut Side) -> Result<Start> {
    side.process.stop()?;
    side.process = started(plan, &side.home).await?;
    let (stopped, used) = (side.process.took(), side.process.used()?);
    side.process.kill()?;
    side.process = started(plan, &side.home).await?;
    side.crowd.turn_to(side.process.server().clone());
    Ok(Start { stopped, killed: side.process.took(), used })
}

/// The same traffic on both servers, in turns, and what is left of it after a while.
async fn load(plan: &Plan, few: &Side, many: &Side, before: Use) -> Result<Load> {
    let long = Duration::from_secs(plan.seconds) / TURNS;
    let watches = [few.crowd.watch(few.active).await?, many.crowd.watch(many.active).await?];
    let (mut quiet, mut busy) = (Spread::default(), Spread::default());
    let mut most = many.process.used()?;
    for turn in 1..=TURNS {
        println!("traffic, turn {turn} of {TURNS}");
        quiet.add(traffic::run(&few.crowd, few.active, plan.clients, long).await?);
        let work = traffic::run(&many.crowd, many.active, plan.clients, long);
        let (found, used) = many.process.during(work).await?;
        busy.add(found);
        most = most.max(used);
    }
    let notices = watches.map(crowd::Watches::stop);
    println!("waiting until nothing is open");
    let began = Instant::now();
    let mut after = many.process.used()?;
    // A thread that looks for something may have a file open.
    while after.files > before.files + SPARE && began.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_secs(1)).await;
        after = many.process.used()?;
    }
    Ok(Load { few: quiet, many: busy, before, most, after, closing: began.elapsed(), notices })
}

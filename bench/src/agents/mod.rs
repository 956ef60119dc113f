//! Many agents connected to one server by `/v2`, each with its stream of events, which is cut again
//! and again: whether every event arrives once and in order, and what a connection costs.

mod agent;
mod findings;
mod stream;
mod wire;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result};
use futures::future::try_join_all;

use self::agent::Agent;
use self::findings::Findings;
use self::wire::Line;
use crate::process::Process;
use crate::report::Report;
use crate::spread::Spread;

/// How many sockets the server has for each agent: one for its stream, and those that cut streams and
/// pooled requests leave behind.
const SOCKETS: usize = 8;

/// How much is measured.
#[derive(clap::Args)]
pub(crate) struct Plan {
    /// How many agents are connected.
    #[arg(long, default_value_t = 1000)]
    connections: usize,
    /// How often each of them prompts.
    #[arg(long, default_value_t = 20)]
    prompts: usize,
    /// How often the stream of each is cut.
    #[arg(long, default_value_t = 10)]
    cuts: usize,
    /// The program `sandkeep`.
    #[arg(long)]
    server: PathBuf,
    /// A directory for the store, on a real disk.
    #[arg(long)]
    scratch: PathBuf,
    /// Where the report goes.
    #[arg(long)]
    results: PathBuf,
}

/// Measures and writes what was found.
pub(crate) async fn measure(plan: &Plan) -> Result<()> {
    let sockets = (plan.connections * SOCKETS).to_string();
    let room = ["--max-connections".to_owned(), sockets];
    let process = Process::start(&plan.server, &plan.scratch.join("agents"), &room).await?;
    let line = Line::new(process.url())?;
    let alone = process.used()?;
    println!("connecting {} agents", plan.connections);
    let began = Instant::now();
    let mut agents = Vec::with_capacity(plan.connections);
    for number in 0..plan.connections {
        let agent = Agent::connect(line.clone(), number, plan.cuts).await;
        agents.push(agent.with_context(|| format!("agent {number} could not connect"))?);
    }
    let (connecting, connected) = (began.elapsed(), process.used()?);
    println!("working");
    let began = Instant::now();
    let work = async {
        let work = agents.into_iter().map(|agent| tokio::spawn(agent.work(plan.prompts)));
        let done = try_join_all(work).await.context("an agent ended badly")?;
        done.into_iter().collect::<Result<Vec<_>>>()
    };
    let (done, most) = process.during(work).await?;
    let working = began.elapsed();
    let mut spread = Spread::default();
    let mut heard = Vec::with_capacity(done.len());
    for (times, account) in done {
        spread.add(times);
        heard.push(account);
    }
    let used = [alone, connected, most, process.used()?];
    let findings = Findings { plan, connecting, working, spread, heard, used };
    let mut report = Report::new(findings.command());
    report.add(findings.section());
    report.add(findings.traffic());
    let text = report.text();
    println!("{text}");
    std::fs::write(&plan.results, text)?;
    Ok(())
}

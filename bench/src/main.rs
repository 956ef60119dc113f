//! How fast files are served and virtual trees are: beside their peers, as they grow, and beside what
//! the machine can do.
//!
//! `bench/run` runs this and keeps what it finds in RESULTS.md. Every scenario measures in processes
//! of its own, which are this program again with the name of a part.

#![expect(clippy::print_stdout, reason = "it is a terminal program")]
#![expect(clippy::disallowed_methods, reason = "its files are its own, not those of a sandbox")]

mod agents;
mod carry;
mod clock;
mod commits;
mod constant;
mod growth;
mod memory;
mod operations;
mod process;
mod report;
mod sample;
mod sandboxes;
mod serving;
mod spread;
mod stores;
mod tools;
mod tree;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use clap::{Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};

use report::Report;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand)]
enum Part {
    /// Everything, with a report.
    All(Plan),
    /// Serving files over HTTP, without virtual trees as such.
    Serving(Plan),
    /// Durable writes without a server around them.
    BareWrites(serving::bare::Plan),
    /// Answers from sockets alone.
    BareAnswers { port: u16 },
    /// Create, read, stat and list in memory.
    Operations { files: usize },
    /// Snapshot, fork, rename, copy, remove and diff of small and large trees.
    Constant { url: String, files: usize, rounds: usize },
    /// How much memory small files take.
    Memory { files: usize },
    /// Export and import.
    Carry { bytes: usize, sample: PathBuf },
    /// Single operations in a directory that grows.
    Growth { files: usize },
    /// Durable commits, and what the disk could do.
    Commits { dir: PathBuf, seconds: f64 },
    /// Stores that are servers: gathered commits, and what goes over the line.
    Stores { scratch: PathBuf, results: PathBuf, seconds: f64 },
    /// Many sandboxes on one server.
    Sandboxes(sandboxes::Plan),
    /// Many agents' connections to one server.
    Agents(agents::Plan),
    /// Tools over HTTP, against the bounds of the specification.
    Tools(tools::Plan),
}

/// How and with what everything is measured.
#[derive(clap::Args)]
struct Plan {
    /// A shorter run with fewer rounds and smaller trees.
    #[arg(long)]
    quick: bool,
    /// Only these scenarios; what they find is shown and not kept.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The program `sandkeep`.
    #[arg(long)]
    server: PathBuf,
    /// Where the peers are installed.
    #[arg(long)]
    peers: PathBuf,
    /// A directory for stores, on a real disk.
    #[arg(long)]
    scratch: PathBuf,
    /// Where the report goes, and beside it the plots.
    #[arg(long)]
    results: PathBuf,
}

impl Plan {
    /// Whether a scenario is to be measured.
    fn wants(&self, scenario: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == scenario)
    }

    /// Where plots go, if they are kept.
    fn plots(&self) -> Option<PathBuf> {
        self.only.is_empty().then(|| self.results.with_file_name("plots"))
    }

    fn command(&self) -> &'static str {
        self.choose("bench/run --quick", "bench/run")
    }

    /// One of two values, depending on how long the run may take.
    fn choose<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// This program again, to measure a part.
    fn part(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments);
        Ok(command)
    }
}

fn main() -> Result<()> {
    match Arguments::parse().part {
        Part::All(plan) => all(&plan),
        Part::Serving(plan) => {
            told(&plan, |report| runtime()?.block_on(serving::measure(&plan, report)))
        }
        Part::BareWrites(plan) => serving::bare::measure(&plan),
        Part::BareAnswers { port } => serving::sockets::answer(port),
        Part::Operations { files } => runtime()?.block_on(operations::ours::measure(files)),
        Part::Constant { url, files, rounds } => {
            runtime()?.block_on(constant::measure(&url, files, rounds))
        }
        Part::Memory { files } => runtime()?.block_on(memory::measure(files)),
        Part::Carry { bytes, sample } => runtime()?.block_on(carry::measure(bytes, &sample)),
        Part::Growth { files } => runtime()?.block_on(growth::measure(files)),
        Part::Commits { dir, seconds } => runtime()?.block_on(commits::measure(&dir, seconds)),
        Part::Stores { scratch, results, seconds } => {
            runtime()?.block_on(stores::measure(&scratch, &results, seconds))
        }
        Part::Sandboxes(plan) => runtime()?.block_on(sandboxes::measure(&plan)),
        Part::Agents(plan) => runtime()?.block_on(agents::measure(&plan)),
        Part::Tools(plan) => runtime()?.block_on(tools::measure(&plan)),
    }
}

/// Measures one scenario, ours beside the others.
type Compare = fn(&Plan) -> Result<report::Section>;

const VIRTUAL: [(&str, Compare); 6] = [
    ("operations", operations::compare),
    ("constant", constant::compare),
    ("memory", memory::compare),
    ("carry", carry::compare),
    ("virtual-growth", growth::compare),
    ("commits", commits::compare),
];

fn all(plan: &Plan) -> Result<()> {
    told(plan, |report| {
        runtime()?.block_on(serving::measure(plan, report))?;
        for (name, compare) in VIRTUAL.into_iter().filter(|(name, _)| plan.wants(name)) {
            println!("measuring: {name}");
            match compare(plan) {
                Ok(section) => report.add(section),
                Err(err) => report.failed(name, &err),
            }
        }
        Ok(())
    })
}

/// Tells what is measured, and keeps it if it is everything.
fn told(plan: &Plan, measure: impl FnOnce(&mut Report) -> Result<()>) -> Result<()> {
    let known: Vec<_> = serving::names().chain(VIRTUAL.map(|(name, _)| name)).collect();
    if let Some(unknown) = plan.only.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there is no scenario {unknown}, but {}", known.join(", "));
    }
    let mut report = Report::new(plan.command());
    measure(&mut report)?;
    let text = report.text();
    println!("{text}");
    if plan.only.is_empty() {
        std::fs::write(&plan.results, text)?;
    }
    ensure!(report.is_whole(), "not everything could be measured");
    Ok(())
}

fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

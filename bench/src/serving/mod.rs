//! Serving files over HTTP, beside other servers and beside programs that do the same without one.

mod arena;
mod ask;
pub(crate) mod bare;
mod burden;
mod case;
mod connection;
mod content;
mod cores;
mod crowding;
mod disk;
mod growing;
mod growth;
mod held;
mod job;
mod listing;
mod load;
mod method;
mod names;
mod nginx;
mod plots;
mod program;
mod reading;
mod script;
mod searching;
mod server;
pub(crate) mod sockets;
mod starting;
mod stdio;
mod table;
mod targets;
mod trees;
mod watching;
mod who;
mod whole_trees;
mod writing;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures::FutureExt as _;
use futures::future::LocalBoxFuture;

use crate::Plan;
use crate::report::{Report, Section};
use cores::Cores;
use held::Held;
use load::Period;
use table::Family;

/// How many bytes of disk are needed, in a short run and in a whole one.
const ROOM: [u64; 2] = [4 << 30, 12 << 30];

/// What all scenarios are measured with.
struct Bench<'a> {
    plan: &'a Plan,
    cores: Cores,
    peers: PathBuf,
    server: PathBuf,
    scratch: PathBuf,
}

impl Bench<'_> {
    fn rounds(&self) -> usize {
        self.plan.choose(3, 5)
    }

    /// Of what takes long.
    fn few_rounds(&self) -> usize {
        self.plan.choose(2, 3)
    }

    fn period(&self) -> Period {
        let [warm, counted] = self.plan.choose([50, 250], [100, 500]).map(Duration::from_millis);
        Period { warm, counted }
    }

    /// How load is put on.
    fn effort(&self) -> Effort {
        Effort { rounds: self.rounds(), period: self.period() }
    }

    /// How it is where every operation is measured again at every size.
    fn brief_effort(&self) -> Effort {
        let [warm, counted] = [50, 250].map(Duration::from_millis);
        Effort { rounds: 3, period: Period { warm, counted } }
    }
}

/// How often, and for how long each time.
#[derive(Clone, Copy, Debug)]
struct Effort {
    rounds: usize,
    period: Period,
}

/// What a scenario found.
struct Found {
    section: Section,
    /// By their names.
    plots: Vec<(&'static str, String)>,
    failures: Vec<String>,
    memory: Vec<Held>,
}

impl From<Family> for Found {
    fn from(family: Family) -> Self {
        let plots = vec![(family.name, plots::bars(family.title, &family.cases))];
        let failures = family.cases.iter().flat_map(case::Case::failures).collect();
        let memory = family.cases.iter().flat_map(|case| case.memory("")).collect();
        Self { section: family.section(), plots, failures, memory }
    }
}

type Scenario = for<'a> fn(&'a Bench<'a>) -> LocalBoxFuture<'a, Result<Found>>;

/// Makes a scenario of a function that finds something.
macro_rules! scenario {
    ($measure:path) => {
        |bench| async move { Ok($measure(bench).await?.into()) }.boxed_local()
    };
}

const SCENARIOS: [(&str, Scenario); 18] = [
    ("get", scenario!(reading::small)),
    ("get-1m", scenario!(reading::medium)),
    ("get-2g", scenario!(reading::large)),
    ("put", scenario!(writing::relaxed)),
    ("put-durable", scenario!(writing::durable)),
    ("put-1m", scenario!(writing::medium)),
    ("put-2g", scenario!(writing::large)),
    ("list", scenario!(listing::listing)),
    ("stat", scenario!(names::stat)),
    ("move", scenario!(names::moving)),
    ("delete", scenario!(whole_trees::removal)),
    ("tar", scenario!(whole_trees::archives)),
    ("search", scenario!(searching::searching)),
    ("watch", scenario!(watching::watching)),
    ("start", scenario!(starting::starting)),
    ("grow", scenario!(growing::growing)),
    ("sandboxes", scenario!(crowding::crowding)),
    ("mcp", scenario!(stdio::stdio)),
];

/// The names of all scenarios.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|(name, _)| *name)
}

/// Measures every scenario that is wanted.
pub(crate) async fn measure(plan: &Plan, report: &mut Report) -> Result<()> {
    if !names().any(|name| plan.wants(name)) {
        return Ok(());
    }
    let bench = Bench {
        plan,
        cores: Cores::divide()?,
        peers: plan.peers.canonicalize()?,
        server: plan.server.canonicalize()?,
        scratch: plan.scratch.canonicalize()?.join("serving"),
    };
    check_room(&bench)?;
    report.add(method::method(&bench));
    let mut memory = Vec::new();
    for (name, scenario) in SCENARIOS.into_iter().filter(|(name, _)| plan.wants(name)) {
        println!("measuring: {name}");
        let began = Instant::now();
        match scenario(&bench).await {
            Ok(mut found) => {
                memory.append(&mut found.memory);
                keep(plan, report, found)?;
            }
            Err(err) => report.failed(name, &err),
        }
        println!("  {:.0} s", began.elapsed().as_secs_f64());
    }
    report.add(held::section(&memory));
    Ok(())
}

fn check_room(bench: &Bench<'_>) -> Result<()> {
    let [short, whole] = ROOM;
    let wanted = bench.plan.choose(short, whole);
    let disk = rustix::fs::statvfs(&bench.plan.scratch)?;
    let free = disk.f_bavail * disk.f_frsize;
    ensure!(free >= wanted, "{} are free on the disk, and {} are needed", size(free), size(wanted));
    Ok(())
}

fn keep(plan: &Plan, report: &mut Report, mut found: Found) -> Result<()> {
    for (name, drawing) in found.plots {
        let Some(plots) = plan.plots() else { continue };
        std::fs::create_dir_all(&plots)?;
        std::fs::write(plots.join(format!("{name}.svg")), drawing)?;
        found.section.about.push_str(&format!("\n\n![{}](plots/{name}.svg)", found.section.title));
    }
    for failure in found.failures {
        report.failed(found.section.title, &anyhow::Error::msg(failure));
    }
    report.add(found.section);
    Ok(())
}

/// Bytes in a unit that divides them.
fn size(bytes: u64) -> String {
    match bytes >> 30 {
        0 => format!("{} MiB", bytes >> 20),
        gib => format!("{gib} GiB"),
    }
}

fn connections(count: usize) -> String {
    if count == 1 { "1 connection".to_owned() } else { format!("{count} connections") }
}

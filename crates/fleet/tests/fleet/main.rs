//! Four server processes with 32 clients on one store: nothing that was acknowledged is lost, no batch
//! is torn, no limit is exceeded, whatever is killed, restarted or cut off meanwhile.

#![expect(clippy::unwrap_used, reason = "what a test cannot make ready is a failed test")]
#![expect(clippy::print_stdout, reason = "the figures are what one wants to know")]

mod trouble;

use std::env;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use sandkeep_fleet::{Crew, Figures, is_server_process, prepare};
use servers::{Kind, Server};
use tokio::runtime::Runtime;
use trouble::{Line, Trouble};

/// The stores on which a fleet runs.
const STORES: [(&str, Kind); 3] =
    [("postgres", Kind::Postgres), ("redis", Kind::Redis), ("s3", Kind::SeaweedFs)];

/// After so many acts there must have been some of every kind.
const ENOUGH: usize = 1000;

fn main() {
    if is_server_process() {
        return;
    }
    let arguments = Arguments::from_args();
    let trials = STORES.iter().flat_map(|&(store, kind)| {
        Trouble::ALL.into_iter().map(move |trouble| {
            let name = format!("{store}_{}", trouble.name());
            Trial::test(name.clone(), move || run(&name, kind, trouble))
        })
    });
    let trials = trials.collect();
    // One at a time: each of them is a load of its own, and its figures are told.
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..arguments }, trials).exit();
}

/// How long the clients work. The long form is for a run by hand.
#[expect(clippy::disallowed_methods, reason = "the long form is asked for from outside")]
fn duration() -> Duration {
    Duration::from_secs(if env::var_os("SANDKEEP_LONG").is_some() { 60 } else { 6 })
}

fn run(name: &str, kind: Kind, trouble: Trouble) -> Result<(), Failed> {
    let begin = Instant::now();
    let mut server = start(kind);
    let runtime = Runtime::new().unwrap();
    let url = server.url("fleet");
    runtime.block_on(prepare(&url)).unwrap();
    let mut line = Line::to(&server, trouble);
    let mut crew = Crew::start(line.urls(&server), duration());
    let ready = begin.elapsed();
    let made = trouble.make(&mut crew, &mut server, &mut line);
    let (outcome, begin) = (crew.end(), Instant::now());
    let figures = outcome.figures();
    println!("{name}: ready after {ready:.1?}; {made}, {} processes killed", outcome.kills);
    println!("  {figures}");
    let complaints = runtime.block_on(outcome.complaints(&url)).unwrap();
    println!("  checked in {:.1?}", begin.elapsed());
    println!(
        "SCORE S15 attempts={} acknowledged={} lost={}",
        made.episodes() + outcome.kills,
        figures.acknowledged(),
        complaints.len()
    );
    if !complaints.is_empty() {
        let (count, shown) = (complaints.len(), complaints.into_iter().take(20));
        return Err(format!("{count} complaints:\n{}", shown.collect::<Vec<_>>().join("\n")).into());
    }
    check_progress(&figures, trouble)
}

/// Redis is told to sync what it acknowledges, which it does not by itself.
fn start(kind: Kind) -> Server {
    match kind {
        Kind::Redis => Server::start_with(kind, &["appendfsync always"]),
        Kind::Postgres | Kind::SeaweedFs | Kind::Azurite | Kind::Ministack | Kind::S3rver => {
            Server::start(kind)
        }
    }
}

/// Where nobody did anything, nothing went wrong either.
fn check_progress(figures: &Figures, trouble: Trouble) -> Result<(), Failed> {
    let (all, each) = if trouble == Trouble::None { (100, 10) } else { (40, 4) };
    if figures.acknowledged() < all || figures.least() < each {
        return Err(format!("too little was done: {figures}").into());
    }
    // On a slow machine not every kind of act has its turn within seconds.
    let has_all = figures.missing().is_empty() && figures.met_limits() > 0;
    if figures.acknowledged() > ENOUGH && !has_all {
        return Err(format!("{:?} never happened, or no limit was met", figures.missing()).into());
    }
    Ok(())
}

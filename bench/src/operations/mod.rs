//! Create, read, stat and list of files in memory, beside the peers.

pub(crate) mod ours;

use std::process::Command;

use anyhow::Result;

use crate::Plan;
use crate::report::{Mark, Rounds, Section, time};
use crate::sample::samples;

const OPERATIONS: [&str; 4] = ["create", "read", "stat", "list"];
const OURS: &str = "sandkeep";
const FASTER: f64 = 2.0;

/// A peer, and the program that measures it.
struct Peer {
    name: &'static str,
    script: &'static str,
}

const PEERS: [Peer; 4] = [
    Peer { name: "fsspec memory", script: "fsspec_memory.py" },
    Peer { name: "just-bash", script: "just_bash.mjs" },
    Peer { name: "agentfs-sdk", script: "agentfs_sdk.mjs" },
    Peer { name: "sandfs", script: "sandfs_workspace.py" },
];

/// All of them in turns, several rounds.
pub(crate) fn compare(plan: &Plan) -> Result<Section> {
    let columns =
        ["files", "operation", OURS].into_iter().chain(PEERS.iter().map(|peer| peer.name));
    let mut section = Section {
        title: "Create, read, stat and list",
        about: "Processor time of one operation, in one process, in memory: files of 2 KiB in 20 \
                directories, made, read and looked at in an order that jumps about; a listing is \
                of one directory. The peers list in their cheapest way, most of them names only; \
                ours gives whole entries. Each round is a process of its own that has warmed up."
            .to_owned(),
        columns: columns
            .map(str::to_owned)
            .chain(["times faster than the best".to_owned()])
            .collect(),
        rows: Vec::new(),
        marks: Vec::new(),
    };
    for files in plan.choose(&[2_000][..], &[2_000, 20_000]) {
        let rounds = measured(plan, *files)?;
        for operation in OPERATIONS {
            add(&mut section, &rounds, *files, operation);
        }
    }
    Ok(section)
}

fn measured(plan: &Plan, files: usize) -> Result<Rounds> {
    let (mut rounds, count) = (Rounds::default(), files.to_string());
    for _ in 0..plan.choose(3, 7) {
        let own = samples(&mut plan.part(&["operations", &count])?)?;
        for sample in own {
            rounds.add(format!("{OURS} {}", sample.op), sample.cpu_each());
        }
        for peer in &PEERS {
            let found = samples(command(plan, peer).args(["--files", &count]))?;
            for sample in found {
                rounds.add(format!("{} {}", peer.name, sample.op), sample.cpu_each());
            }
        }
    }
    Ok(rounds)
}

fn command(plan: &Plan, peer: &Peer) -> Command {
    let script = plan.peers.join("scripts").join(peer.script);
    let mut command = if peer.script.ends_with(".py") {
        Command::new(plan.peers.join("python/bin/python"))
    } else {
        Command::new("node")
    };
    command.arg(script);
    command
}

fn add(section: &mut Section, rounds: &Rounds, files: usize, operation: &str) {
    let name = |who: &str| format!("{who} {operation}");
    let best = PEERS.iter().filter_map(|peer| rounds.median(&name(peer.name))).reduce(f64::min);
    let ratio = match (rounds.median(&name(OURS)), best) {
        (Some(own), Some(best)) => best / own,
        _ => f64::NAN,
    };
    let who = [OURS].into_iter().chain(PEERS.iter().map(|peer| peer.name));
    let figures = who.map(|who| rounds.shown(&name(who), time));
    let row = [files.to_string(), operation.to_owned()].into_iter().chain(figures);
    section.rows.push(row.chain([format!("{ratio:.2}")]).collect());
    let what = format!("{operation}, {files} files: times faster than the best peer");
    section.marks.push(Mark::at_least(what, FASTER, ratio));
}

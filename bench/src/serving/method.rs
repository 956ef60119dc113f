//! How it is measured, and who is there.

use std::process::Command;

use super::Bench;
use super::server::SANDBOX_AGENT;
use crate::report::Section;

/// A list of everybody, with versions.
pub(super) fn method(bench: &Bench<'_>) -> Section {
    let agent = bench.peers.join(SANDBOX_AGENT);
    let dufs = bench.peers.join("dufs/bin/dufs");
    let row = |who: &str, version: Option<String>, what: &str| {
        vec![who.to_owned(), version.unwrap_or_else(|| "not there".to_owned()), what.to_owned()]
    };
    let ours = said(Command::new(&bench.server).arg("--version"));
    Section {
        title: "How serving is measured",
        about: about(bench),
        columns: ["who", "version", "as"].map(str::to_owned).to_vec(),
        rows: vec![
            row(
                "sandkeep DIR",
                ours.clone(),
                "`sandkeep serve DIR --token …`: a token, Landlock, every change synced",
            ),
            row("sandkeep DIR, relaxed", ours.clone(), "the same with `--durability relaxed`"),
            row(
                "sandkeep memory:",
                ours.clone(),
                "`sandkeep serve --store memory:`, a virtual tree",
            ),
            row(
                "sandkeep file:",
                ours,
                "`sandkeep serve --store file:DIR`, a virtual tree, every change synced",
            ),
            row(
                "nginx",
                said(Command::new("nginx").arg("-v")),
                "one worker, `sendfile`, `tcp_nopush` unless for ranges, WebDAV, no log, open to everybody",
            ),
            row(
                "dufs",
                said(Command::new(dufs).arg("--version")),
                "`dufs -A`, no log, open to everybody",
            ),
            row(
                "sandbox-agent",
                said(Command::new(agent).arg("--version")),
                "`sandbox-agent server --no-token --no-telemetry`, no log",
            ),
            row(
                "rg",
                said(Command::new("rg").arg("--version")),
                "and the machine's own `cat`, `cp`, `find`, `grep`, `rm` and `tar`",
            ),
        ],
        marks: Vec::new(),
    }
}

fn about(bench: &Bench<'_>) -> String {
    let place = if bench.cores.count() > 1 {
        "The client has one processor and every server or program another one, on which it runs one worker, so \
         that a ratio is one of what serving costs, and no server gains by having more threads; only where a \
         case says so are there all processors"
    } else {
        "There is one processor, which the client and the servers share"
    };
    format!(
        "Everything goes over loopback, by HTTP/1.1 on connections that stay open. {place}. The \
         client is the same for all: it sends requests that were made before, reads every answer to its end \
         and checks its status and length; one that is wrong takes the figures away. With several connections each asks \
         again as soon as it is answered. All get the same bytes under the same names, on the same file system, and nobody \
         logs requests; ours alone checks a token. Those who sync before they answer are only compared where a \
         case says so. Everybody is measured once in each round, each round beginning with another. Before each \
         turn that writes, everything is synced and the disk has come to rest. Figures are medians over the rounds, with the quartiles behind them; times and memory \
         without quartiles are medians and the most. Processor time is that of the server with all its \
         processes, in user and kernel mode."
    )
}

/// The first line that a program says, wherever it says it.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let line = String::from_utf8_lossy(&text).lines().next()?.to_owned();
    Some(line.trim_start_matches("nginx version: ").to_owned())
}

//! Tools for models over standard input and output, beside the reference server for files.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::arena::Arena;
use super::case::Case;
use super::cores::Room;
use super::load::Pace;
use super::table::{Family, Measure};
use super::trees::{Filling, Tree};
use super::who::Who;
use super::{Bench, burden};

const OURS: Who = Who::Program("sandkeep mcp");
const REFERENCE: Who = Who::Program("server-filesystem");
/// Where npm puts it, beneath the peers.
const SCRIPT: &str = "scripts/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
const FILES: usize = 100;

/// One call at a time.
pub(super) async fn stdio(bench: &Bench<'_>) -> Result<Family> {
    let arena = Arena::new(bench, "mcp")?;
    let tree = Tree { files: FILES, each: None, filling: Filling::Text(4096, 1) };
    arena.plant(&tree, "files", 0..FILES).await?;
    let mut desks =
        [Desk::open(bench, &arena.tree, OURS)?, Desk::open(bench, &arena.tree, REFERENCE)?];
    let dir = arena.tree.join("files");
    let file = dir.join(tree.name(7));
    let calls = [
        ("read a file of 4 KiB", ["read_file", "read_text_file"], &file, "needle-7"),
        ("list 100 entries", ["list_directory", "list_directory"], &dir, "f0000099"),
    ];
    let mut cases = Vec::new();
    for (name, [own, other], path, mark) in calls {
        let mut case = Case::new(name, &[OURS, REFERENCE]);
        case.in_turns(bench.rounds(), async |who| {
            let tool = if who == OURS { own } else { other };
            let desk = desks.iter_mut().find(|desk| desk.who == who).context("nobody is there")?;
            Ok(desk.press(bench, tool, path, mark)?)
        })
        .await;
        cases.push(case);
    }
    Ok(Family {
        name: "mcp",
        title: "Tools over standard input and output",
        about: "The Model Context Protocol, one call at a time: `sandkeep mcp DIR` and npm \
                `@modelcontextprotocol/server-filesystem`. Ours lists with kinds, sizes and times, the other \
                with kinds."
            .to_owned(),
        measure: Measure::Pace,
        cases,
    })
}

/// A program that answers calls.
struct Desk {
    who: Who,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Desk {
    fn open(bench: &Bench<'_>, dir: &Path, who: Who) -> Result<Self> {
        let mut command = if who == OURS {
            let mut command = Command::new(&bench.server);
            command.arg("mcp");
            command
        } else {
            let mut command = Command::new("node");
            command.arg(bench.peers.join(SCRIPT));
            command
        };
        command.arg(dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = bench.cores.spawn(&mut command, Room::One)?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let mut desk = Self { who, child, input, output, last: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        let greeting =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        desk.call("initialize", &greeting)?;
        desk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(desk)
    }

    /// Calls a tool again and again; every answer must hold a mark.
    fn press(&mut self, bench: &Bench<'_>, tool: &str, path: &Path, mark: &str) -> Result<Pace> {
        let wish = json!({ "name": tool, "arguments": { "path": path } });
        let period = bench.period();
        let warm = Instant::now() + period.warm;
        while Instant::now() < warm {
            self.call("tools/call", &wish)?;
        }
        let (before, began) = (burden::processor_time(self.child.id())?, Instant::now());
        let mut times = Vec::new();
        while began.elapsed() < period.counted {
            let begin = Instant::now();
            let answer = self.call("tools/call", &wish)?;
            times.push(begin.elapsed());
            ensure!(answer.contains(mark), "{mark} is missing: {answer}");
        }
        let cpu = burden::processor_time(self.child.id())? - before;
        Ok(Pace::new(times, began.elapsed(), cpu))
    }

    fn say(&mut self, message: &Value) -> Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        Ok(self.input.write_all(line.as_bytes())?)
    }

    /// The line with the answer; what is said in between is passed over.
    fn call(&mut self, method: &str, params: &Value) -> Result<String> {
        self.last += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.say(&message)?;
        let mark = format!("\"id\":{}", self.last);
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "{} ended", self.who.name());
            if line.contains(&mark) {
                return Ok(line);
            }
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // One that ended by itself is not there any more.
        let _killed = self.child.kill();
        let _gone = self.child.wait();
    }
}

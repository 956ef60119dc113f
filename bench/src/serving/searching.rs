//! Searching a large tree for a line.

use std::process::Command;

use anyhow::{Result, ensure};
use memchr::memmem;
use serde_json::json;

use super::arena::Arena;
use super::ask::Message;
use super::case::{Case, Turn};
use super::content::NEEDLE;
use super::cores::Room;
use super::server::Server;
use super::table::{Family, Measure};
use super::trees::{Filling, Tree};
use super::who::Who;
use super::{Bench, job, program};

const LENGTH: usize = 8192;
/// Every so manyth file has a line that is found.
const NTH: usize = 50;
pub(super) const RG: Who = Who::Program("rg");
const GREP: Who = Who::Program("grep -r");
const EVERYBODY: [Who; 5] = [Who::Host, Who::Memory, Who::Store, RG, GREP];

/// On one processor, and on all of them.
pub(super) async fn searching(bench: &Bench<'_>) -> Result<Family> {
    let files = bench.plan.choose(5_000, 30_000);
    let tree = Tree { files, each: Some(100), filling: Filling::Text(LENGTH, NTH) };
    let mut cases = Vec::new();
    for room in [Room::One, Room::All] {
        cases.push(case(bench, &tree, room).await?);
    }
    Ok(Family {
        name: "search",
        title: "Searching a tree",
        about: format!(
            "{files} files of 8 KiB of text, a hundred in a directory, in the page cache; a regular \
             expression that matches {} lines. `rg` has as many threads as there are processors to run \
             on, and `grep` has one. Servers answer with every line, its number and where in it the match is.",
            files / NTH
        ),
        measure: Measure::Time,
        cases,
    })
}

async fn case(bench: &Bench<'_>, tree: &Tree, room: Room) -> Result<Case> {
    let (place, threads) = match room {
        Room::One => ("one processor", 1),
        Room::All => ("all processors", bench.cores.count()),
    };
    let mut arena = Arena::new(bench, "search")?;
    arena.room = room;
    arena.start(&EVERYBODY).await?;
    arena.plant(tree, "text", 0..tree.files).await?;
    arena.settle()?;
    let megabytes = (tree.files * LENGTH) as f64 / 1e6;
    let mut case = Case::new(format!("search, {place}"), &EVERYBODY).of(megabytes, "MB");
    arena.forget_peaks()?;
    case.in_turns(bench.few_rounds(), async |who| {
        if let Who::Program(name) = who {
            let mut command = Command::new(name.split(' ').next().unwrap_or(name));
            if who == RG {
                command.args(["--no-ignore", "-n", "-j", &threads.to_string()]);
            } else {
                command.args(["-r", "-n", "-E"]);
            }
            command.arg(pattern()).arg(arena.tree.join("text"));
            return Ok(by_program(bench, &mut command, room, tree)?);
        }
        Ok(by_server(arena.server(who)?, tree).await?)
    })
    .await;
    arena.note_peaks(&mut case)?;
    Ok(case)
}

fn pattern() -> String {
    format!("{NEEDLE}[0-9]+")
}

fn by_program(bench: &Bench<'_>, command: &mut Command, room: Room, tree: &Tree) -> Result<Turn> {
    let mut said = Vec::new();
    let turn = program::run(bench, command, room, |piece| said.extend_from_slice(piece))?;
    complete(&said, b"\n", tree)?;
    Ok(turn)
}

async fn by_server(server: &Server, tree: &Tree) -> Result<Turn> {
    let wish = json!({ "pattern": pattern(), "max_results": 10_000, "max_millis": 300_000 });
    let head = Message::with_token("POST", "/v1/sandboxes/main/fs-search/text");
    let request = head.json(&wish.to_string());
    let mut answer = Vec::new();
    let asking = async {
        answer = server.fetch(&request, &[]).await?;
        Ok(())
    };
    let turn = job::timed(server, asking).await?;
    complete(&answer, b"\"type\":\"line\"", tree)?;
    Ok(turn)
}

/// Whether everything was found, by what is there once for each.
fn complete(said: &[u8], mark: &[u8], tree: &Tree) -> Result<()> {
    let (found, wanted) = (memmem::find_iter(said, mark).count(), tree.files.div_ceil(NTH));
    ensure!(found == wanted, "{found} lines instead of {wanted}");
    Ok(())
}

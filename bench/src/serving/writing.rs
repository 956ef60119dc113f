//! Writing: small files and large ones, with the promises that the others give and with ours.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::arena::Arena;
use super::ask::Ask;
use super::case::{Case, Miss, Turn};
use super::content::noise;
use super::cores::Room;
use super::load::{Pace, press};
use super::script::{Expected, NUMBER, Script};
use super::server::Server;
use super::table::{Family, Measure};
use super::who::{WRITERS, Who};
use super::{Bench, connections, job, program, size};

const SMALL: usize = 4096;
pub(super) const BARE: Who = Who::Program("the bare calls");

/// Small files as the others write them: an answer does not wait for the disk.
pub(super) async fn relaxed(bench: &Bench<'_>) -> Result<Family> {
    let mut arena = Arena::new(bench, "put")?;
    arena.start(&WRITERS).await?;
    let mut cases = Vec::new();
    for (what, name) in [("new", NUMBER), ("replaced", "file")] {
        let mut case = Case::new(format!("PUT 4 KiB, {what}, {}", connections(16)), &WRITERS);
        written(bench, &arena, &mut case, &Writing { name, length: SMALL, count: 16 }).await?;
        cases.push(case);
    }
    Ok(Family {
        name: "put",
        title: "Writing small files, relaxed",
        about: "Every connection writes into a directory of its own: always a new file, or the same file \
                again. No answer waits for the disk, except for `file:`, which never answers before. nginx \
                and ours write aside and rename; dufs and sandbox-agent write in place, so that a reader \
                may see half a file. After each turn the files are removed and the disk is let \
                come to rest."
            .to_owned(),
        measure: Measure::Pace,
        cases,
    })
}

/// Small files that survive a power cut once they are acknowledged.
pub(super) async fn durable(bench: &Bench<'_>) -> Result<Family> {
    const EVERYBODY: [Who; 3] = [Who::Host, Who::Store, BARE];
    let mut arena = Arena::new(bench, "put-durable")?;
    arena.start(&EVERYBODY).await?;
    let mut cases = Vec::new();
    for count in [1, 16] {
        let mut case = Case::new(format!("PUT 4 KiB, durable, {}", connections(count)), &EVERYBODY);
        let writing = Writing { name: NUMBER, length: SMALL, count };
        written(bench, &arena, &mut case, &writing).await?;
        cases.push(case);
    }
    Ok(Family {
        name: "put-durable",
        title: "Writing small files, durable",
        about: "New files. The bare calls are a program without a protocol that does for every file what \
                our server does ([durability](../docs/durability.md)), by as many threads as there are \
                connections: it makes a file aside, writes it, syncs it, renames it and syncs the directory. \
                None of the other servers syncs."
            .to_owned(),
        measure: Measure::Pace,
        cases,
    })
}

/// Files of a megabyte.
pub(super) async fn medium(bench: &Bench<'_>) -> Result<Family> {
    let mut arena = Arena::new(bench, "put-1m")?;
    arena.start(&WRITERS).await?;
    let mut case = Case::new("PUT 1 MiB, new, 4 connections", &WRITERS);
    let writing = Writing { name: NUMBER, length: 1 << 20, count: 4 };
    written(bench, &arena, &mut case, &writing).await?;
    Ok(Family {
        name: "put-1m",
        title: "Writing longer files",
        about: "As above, relaxed. All content is different, so that a store that keeps alike pieces once \
                finds none."
            .to_owned(),
        measure: Measure::Pace,
        cases: vec![case],
    })
}

/// A file that is larger than any buffer.
pub(super) async fn large(bench: &Bench<'_>) -> Result<Family> {
    const CP: Who = Who::Program("cp");
    let mut arena = Arena::new(bench, "put-2g")?;
    arena.start(&WRITERS).await?;
    let length = bench.plan.choose(512 << 20, 2 << 30);
    arena.write_on_disk("source", length)?;
    let everybody: Vec<_> = WRITERS.into_iter().chain([CP]).collect();
    let mut case =
        Case::new(format!("PUT {}", size(length)), &everybody).of(length as f64 / 1e6, "MB");
    arena.forget_peaks()?;
    for _ in 0..bench.few_rounds() {
        // One round at a time: a store keeps what was removed for a while, and is renewed instead.
        case.in_turns(1, async |who| one_large(bench, &arena, who, length).await).await;
        arena.note_peaks(&mut case)?;
        arena.renew(Who::Store).await?;
    }
    Ok(Family {
        name: "put-2g",
        title: "Writing a large file",
        about: "By one connection, relaxed. `cp` copies within the page cache. The file is removed after each \
                turn, and the disk let come to rest."
            .to_owned(),
        measure: Measure::Time,
        cases: vec![case],
    })
}

async fn one_large(
    bench: &Bench<'_>,
    arena: &Arena<'_>,
    who: Who,
    length: u64,
) -> Result<Turn, Miss> {
    let turn = if let Who::Program(_) = who {
        let target = arena.tree.join("put");
        std::fs::create_dir_all(&target).map_err(anyhow::Error::from)?;
        let mut command = Command::new("cp");
        command.arg(arena.tree.join("source")).arg(target.join("large"));
        program::run(bench, &mut command, Room::One, |_| {})?
    } else {
        let server = arena.server(who)?;
        server.say(Ask::Write("put/large", length))?;
        job::timed(server, server.upload("put/large", length)).await?
    };
    if !who.is_virtual() {
        let made = arena.tree.join("put/large").metadata().map_err(anyhow::Error::from)?;
        if made.len() != length {
            return Err(anyhow::Error::msg("the file is not whole").into());
        }
    }
    arena.clear(who, "put").await?;
    Ok(turn)
}

/// What is written: files of a name and length, by so many connections.
struct Writing {
    name: &'static str,
    length: usize,
    count: usize,
}

async fn written(
    bench: &Bench<'_>,
    arena: &Arena<'_>,
    case: &mut Case,
    writing: &Writing,
) -> Result<()> {
    arena.forget_peaks()?;
    case.in_turns(bench.rounds(), async |who| {
        for connection in 0..writing.count {
            // Not all make the directories above a file.
            let dir = arena.tree.join(format!("put/c{connection:03}"));
            std::fs::create_dir_all(dir).map_err(anyhow::Error::from)?;
        }
        let pace = if who == BARE {
            bare(bench, arena, writing.count)?
        } else {
            let server = arena.server(who)?;
            let pace = press(server, scripts(server, writing)?, Expected::FINE, bench.period());
            let pace = pace.await?;
            read_back(server, writing).await?;
            pace
        };
        arena.clear(who, "put").await?;
        Ok(pace)
    })
    .await;
    arena.note_peaks(case)
}

fn scripts(server: &Server, writing: &Writing) -> Result<Vec<Script>, Miss> {
    let noise = noise(writing.length);
    let script = |connection: usize| {
        let path = format!("put/c{connection:03}/{}", writing.name);
        let head = server.say(Ask::Write(&path, writing.length as u64))?;
        Ok(Script::fresh(&head, &noise, connection as u64 * 1_000_000))
    };
    (0..writing.count).map(script).collect()
}

/// The first file that the first connection wrote is what was sent; one that was replaced is whole.
async fn read_back(server: &Server, writing: &Writing) -> Result<()> {
    let name = if writing.name == NUMBER { "00000001" } else { writing.name };
    let bytes = server.fetch(&server.say(Ask::Read(&format!("put/c000/{name}")))?, &[]).await?;
    let sent = noise(writing.length);
    // The first 8 of every 512 bytes differ from file to file.
    let is_same =
        bytes.chunks(512).zip(sent.chunks(512)).all(|(one, other)| one.get(8..) == other.get(8..));
    ensure!(is_same && bytes.len() == sent.len(), "{} kept something else", server.who.name());
    Ok(())
}

/// This program again, as the bare calls.
fn bare(bench: &Bench<'_>, arena: &Arena<'_>, threads: usize) -> Result<Pace> {
    let mut command = Command::new(std::env::current_exe()?);
    let seconds = |time: Duration| time.as_secs_f64().to_string();
    let period = bench.period();
    command.arg("bare-writes").arg(arena.tree.join("put")).arg(threads.to_string());
    command.args([seconds(period.warm), seconds(period.counted)]);
    let mut said = Vec::new();
    program::run(bench, &mut command, Room::One, |piece| said.extend_from_slice(piece))?;
    serde_json::from_slice(&said).context("the bare calls told nothing")
}

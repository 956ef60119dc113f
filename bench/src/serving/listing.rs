//! Listing directories of every size.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Result, ensure};
use memchr::memmem;

use super::arena::Arena;
use super::ask::Ask;
use super::case::Case;
use super::cores::Room;
use super::script::Expected;
use super::server::Server;
use super::table::{Family, Measure};
use super::trees::{Filling, Tree};
use super::who::{READERS, Who};
use super::{Bench, job, program};

const FIND: Who = Who::Program("find -printf");

/// Directories of a hundred entries and more.
pub(super) async fn listing(bench: &Bench<'_>) -> Result<Family> {
    let mut arena = Arena::new(bench, "list")?;
    arena.start(&READERS).await?;
    let sizes = [(100, 200), (10_000, 5), (bench.plan.choose(100_000, 1_000_000), 1)];
    let mut cases = Vec::new();
    for (entries, times) in sizes {
        let tree = Tree { files: entries, each: None, filling: Filling::Empty };
        let dir = format!("many-{entries}");
        arena.plant(&tree, &dir, 0..entries).await?;
        arena.settle()?;
        cases.push(case(bench, &arena, &dir, entries, times).await?);
    }
    Ok(Family {
        name: "list",
        title: "Listing directories",
        about: "One request at a time for everything in one directory, with type, size and time of each \
                entry, as JSON; ours is sorted by name. `find` prints name, size and time of each."
            .to_owned(),
        measure: Measure::Time,
        cases,
    })
}

async fn case(
    bench: &Bench<'_>,
    arena: &Arena<'_>,
    dir: &str,
    entries: usize,
    times: u32,
) -> Result<Case> {
    let everybody: Vec<_> = READERS.into_iter().chain([FIND]).collect();
    let mut case = Case::new(format!("list {entries}"), &everybody).of(entries as f64, "entries");
    arena.forget_peaks()?;
    let mut lengths = BTreeMap::new();
    case.in_turns(bench.few_rounds(), async |who| {
        if who == FIND {
            let mut command = Command::new("find");
            command.arg(arena.tree.join(dir)).args(["-type", "f", "-printf", "%f %s %T@\\n"]);
            return Ok(program::run(bench, &mut command, Room::One, |_| {})?);
        }
        let server = arena.server(who)?;
        let length = match lengths.get(&who) {
            Some(length) => *length,
            None => *lengths.entry(who).or_insert(whole(server, dir, entries).await?),
        };
        let expected = Expected { status: Some(200), length: Some(length) };
        Ok(job::again(server, &server.say(Ask::List(dir))?, &[], expected, times).await?)
    })
    .await;
    arena.note_peaks(&mut case)?;
    Ok(case)
}

/// Whether all entries are there; how long the answer is.
async fn whole(server: &Server, dir: &str, entries: usize) -> Result<u64> {
    let answer = server.fetch(&server.say(Ask::List(dir))?, &[]).await?;
    let found = memmem::find_iter(&answer, b"\"name\":").count();
    ensure!(found == entries, "{found} entries instead of {entries}");
    Ok(answer.len() as u64)
}

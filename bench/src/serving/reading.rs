//! Reading: small files, large ones, and parts of them.

use std::process::Command;
use std::sync::Arc;

use anyhow::{Result, ensure};

use super::arena::Arena;
use super::ask::{Ask, Request};
use super::case::{Case, Miss};
use super::content::Numbers;
use super::cores::Room;
use super::script::{Expected, Script};
use super::server::Server;
use super::table::{Family, Measure};
use super::trees::{Filling, Tree};
use super::who::{READERS, Who};
use super::{Bench, connections, job, program, size};

const SMALL: usize = 4096;
const FILES: usize = 64;
const PART: u64 = 64 << 10;
/// The file of which parts are read.
pub(super) const RANGED: &str = "ranged";

/// Small files, by more and more connections.
pub(super) async fn small(bench: &Bench<'_>) -> Result<Family> {
    let everybody: Vec<_> = READERS.into_iter().chain([Who::Sockets]).collect();
    let mut arena = Arena::new(bench, "get")?;
    arena.start(&everybody).await?;
    let tree = Tree { files: FILES, each: None, filling: Filling::Noise(SMALL) };
    arena.plant(&tree, "small", 0..FILES).await?;
    let paths: Vec<_> = (0..FILES).map(|file| format!("small/{}", tree.name(file))).collect();
    check(&arena, &paths).await?;
    let mut cases = Vec::new();
    for count in [1, 16, 256] {
        let mut case = Case::new(format!("GET 4 KiB, {}", connections(count)), &everybody);
        let expected = Expected { status: Some(200), length: Some(SMALL as u64) };
        let scripts = |server: &Server| in_turn(server, reads(&paths), count);
        arena.pace(&mut case, expected, bench.effort(), scripts).await?;
        cases.push(case);
    }
    let about = format!(
        "{FILES} files of 4 KiB, which are in the page cache. dufs sends an answer in two parts and lets the \
         kernel hold the second back until the client has acknowledged the first, which takes 40 ms. The bare \
         sockets are a program that receives a request and sends 4 KiB that it always has: what nobody who \
         answers over sockets can be faster than."
    );
    let (name, title) = ("get", "Reading small files");
    Ok(Family { name, title, about, measure: Measure::Pace, cases })
}

/// Files of a megabyte, and parts of a large one.
pub(super) async fn medium(bench: &Bench<'_>) -> Result<Family> {
    let mut arena = Arena::new(bench, "get-1m")?;
    arena.start(&READERS).await?;
    let tree = Tree { files: 8, each: None, filling: Filling::Noise(1 << 20) };
    arena.plant(&tree, "medium", 0..8).await?;
    let large = bench.plan.choose(128 << 20, 1 << 30);
    arena.write(RANGED, large).await?;
    let paths: Vec<_> = (0..8).map(|file| format!("medium/{}", tree.name(file))).collect();
    check(&arena, &paths).await?;
    let mut whole = Case::new("GET 1 MiB, 4 connections", &READERS);
    let expected = Expected { status: Some(200), length: Some(1 << 20) };
    arena
        .pace(&mut whole, expected, bench.effort(), |server| in_turn(server, reads(&paths), 4))
        .await?;
    let mut parts = Case::new(format!("GET 64 KiB of {}, 16 connections", size(large)), &READERS);
    let expected = Expected { status: Some(206), length: Some(PART) };
    arena.pace(&mut parts, expected, bench.effort(), |server| somewhere(server, large)).await?;
    Ok(Family {
        name: "get-1m",
        title: "Reading longer files, and parts of them",
        about: "Everything is in the page cache. The parts begin anywhere.".to_owned(),
        measure: Measure::Pace,
        cases: vec![whole, parts],
    })
}

/// A file that is larger than any buffer.
pub(super) async fn large(bench: &Bench<'_>) -> Result<Family> {
    const CAT: Who = Who::Program("cat, into a pipe");
    let mut arena = Arena::new(bench, "get-2g")?;
    arena.start(&READERS).await?;
    let length = bench.plan.choose(512 << 20, 2 << 30);
    arena.write("large", length).await?;
    let everybody: Vec<_> = READERS.into_iter().chain([CAT]).collect();
    let mut case =
        Case::new(format!("GET {}", size(length)), &everybody).of(length as f64 / 1e6, "MB");
    arena.forget_peaks()?;
    case.in_turns(bench.few_rounds(), async |who| {
        if who == CAT {
            let mut bytes = 0;
            let mut command = Command::new("cat");
            command.arg(arena.tree.join("large"));
            let turn = program::run(bench, &mut command, Room::One, |piece| bytes += piece.len())?;
            return if bytes as u64 == length { Ok(turn) } else { Err(short()) };
        }
        let server = arena.server(who)?;
        let request = server.say(Ask::Read("large"))?;
        let expected = Expected { status: Some(200), length: Some(length) };
        Ok(job::once(server, &request, &[], expected).await?)
    })
    .await;
    arena.note_peaks(&mut case)?;
    Ok(Family {
        name: "get-2g",
        title: "Reading a large file",
        about: "By one connection, from the page cache. Whoever asks copies every byte out of its socket, \
                which takes about as much of its processor as sending takes of the other."
            .to_owned(),
        measure: Measure::Time,
        cases: vec![case],
    })
}

fn short() -> Miss {
    Miss::Failed(anyhow::Error::msg("not everything came"))
}

/// Scripts for so many connections, which ask for the same things, each beginning with another.
pub(super) fn in_turn<'a>(
    server: &Server,
    asks: impl Iterator<Item = Ask<'a>>,
    count: usize,
) -> Result<Vec<Script>, Miss> {
    let requests: Result<Arc<[Request]>, _> = asks.map(|ask| server.say(ask)).collect();
    let requests = requests?;
    Ok((0..count).map(|begin| Script::turns(&requests, begin)).collect())
}

fn reads(paths: &[String]) -> impl Iterator<Item = Ask<'_>> {
    paths.iter().map(|path| Ask::Read(path))
}

fn somewhere(server: &Server, length: u64) -> Result<Vec<Script>, Miss> {
    let mut numbers = Numbers::new(length);
    let parts = (0..1024).map(|_| numbers.next() % (length - PART));
    let requests: Result<Arc<[Request]>, _> =
        parts.map(|from| server.say(Ask::Part(RANGED, from, PART))).collect();
    let requests = requests?;
    Ok((0..16).map(|begin| Script::turns(&requests, begin * 64)).collect())
}

/// Whether everybody has the same bytes.
async fn check(arena: &Arena<'_>, paths: &[String]) -> Result<()> {
    for path in paths {
        let bytes = std::fs::read(arena.tree.join(path))?;
        for server in arena.servers().filter(|server| server.who != Who::Sockets) {
            let told = server.fetch(&server.say(Ask::Read(path))?, &[]).await?;
            ensure!(told == bytes, "{} tells something else of {path}", server.who.name());
        }
    }
    Ok(())
}

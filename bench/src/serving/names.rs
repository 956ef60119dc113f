//! Looking at one file, and giving it another name.

use std::sync::Arc;

use anyhow::Result;

use super::arena::Arena;
use super::ask::{Ask, Request};
use super::case::{Case, Miss};
use super::load::press;
use super::reading::in_turn;
use super::script::{Expected, Script};
use super::server::Server;
use super::table::{Family, Measure};
use super::trees::{Filling, Tree};
use super::who::{READERS, Who};
use super::{Bench, connections};

const FILES: usize = 16;
const MOVERS: [Who; 7] =
    [Who::Relaxed, Who::Host, Who::Memory, Who::Store, Who::Nginx, Who::Dufs, Who::SandboxAgent];

/// What is known of a file.
pub(super) async fn stat(bench: &Bench<'_>) -> Result<Family> {
    let mut arena = Arena::new(bench, "stat")?;
    arena.start(&READERS).await?;
    let tree = Tree { files: FILES, each: None, filling: Filling::Noise(100) };
    arena.plant(&tree, "files", 0..FILES).await?;
    let paths: Vec<_> = (0..FILES).map(|file| format!("files/{}", tree.name(file))).collect();
    let mut case = Case::new(format!("stat, {}", connections(FILES)), &READERS);
    let expected = Expected { status: Some(200), length: None };
    let looks = || paths.iter().map(|path| Ask::Look(path));
    arena
        .pace(&mut case, expected, bench.effort(), |server| in_turn(server, looks(), FILES))
        .await?;
    Ok(Family {
        name: "stat",
        title: "Looking at files",
        about: "`/v1/fs/stat` of ours and of sandbox-agent; a HEAD to the others.".to_owned(),
        measure: Measure::Pace,
        cases: vec![case],
    })
}

/// Files that go back and forth.
pub(super) async fn moving(bench: &Bench<'_>) -> Result<Family> {
    let mut arena = Arena::new(bench, "move")?;
    arena.start(&MOVERS).await?;
    let tree = Tree { files: FILES, each: None, filling: Filling::Noise(100) };
    let mut case = Case::new(format!("move, {}", connections(FILES)), &MOVERS);
    arena.forget_peaks()?;
    case.in_turns(bench.rounds(), async |who| {
        arena.plant_for(who, &tree, "move").await?;
        let server = arena.server(who)?;
        let scripts = there_and_back(server, &tree)?;
        let pace = press(server, scripts, Expected::FINE, bench.period()).await?;
        arena.clear(who, "move").await?;
        Ok(pace)
    })
    .await;
    arena.note_peaks(&mut case)?;
    Ok(Family {
        name: "move",
        title: "Moving files",
        about: "Every connection moves a file of its own to another name and back, where nothing is in the \
                way. A move of ours over a directory, unless relaxed, and one in `file:`, is on the disk \
                before it is acknowledged; none of the others is."
            .to_owned(),
        measure: Measure::Pace,
        cases: vec![case],
    })
}

fn there_and_back(server: &Server, tree: &Tree) -> Result<Vec<Script>, Miss> {
    let script = |file: usize| {
        let (here, there) = (format!("move/{}", tree.name(file)), format!("move/other-{file:03}"));
        let trips = [Ask::Move(&here, &there), Ask::Move(&there, &here)];
        let requests: Result<Arc<[Request]>, _> =
            trips.into_iter().map(|ask| server.say(ask)).collect();
        Ok(Script::turns(&requests?, 0))
    };
    (0..FILES).map(script).collect()
}

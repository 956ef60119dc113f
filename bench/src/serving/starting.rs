//! How soon a server answers after its start, and what it takes when nobody asks.

use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use super::arena::Arena;
use super::cores::Room;
use super::held::Held;
use super::plots::{Amounts, amounts};
use super::server::{Server, Setting};
use super::table::mib;
use super::targets::{IDLE_MIB, START_MS};
use super::who::{READERS, Who};
use super::{Bench, Found};
use crate::report::{Mark, Rounds, Section, time};

const FIRST: &str = "first";
/// How long a server is left alone before it is looked at.
const QUIET: Duration = Duration::from_millis(500);

/// Starts everybody again and again.
pub(super) async fn starting(bench: &Bench<'_>) -> Result<Found> {
    let arena = Arena::new(bench, "start")?;
    arena.write_on_disk(FIRST, 4096)?;
    let (mut starts, mut memory) = (Rounds::default(), Rounds::default());
    let setting = |who: Who| Setting {
        home: arena.tree.with_file_name(who.name().replace([' ', ':', ','], "-")),
        tree: arena.tree.clone(),
        room: Room::One,
        flags: Vec::new(),
        // A tree in memory is empty when it begins.
        first: (who != Who::Memory).then_some(FIRST),
    };
    let empty = Setting { first: None, ..setting(Who::Store) };
    Server::start(bench, Who::Store, &empty).await?.upload(FIRST, 4096).await?;
    for round in 0..bench.plan.choose(5, 15) {
        for position in 0..READERS.len() {
            let Some(who) = READERS.get((position + round) % READERS.len()) else { continue };
            let server = match Server::start(bench, *who, &setting(*who)).await {
                Err(err) if !who.is_ours() => {
                    println!("  FAILED: {err:#}");
                    continue;
                }
                started => started?,
            };
            starts.add(who.name(), server.took.as_nanos() as f64);
            sleep(QUIET).await;
            memory.add(who.name(), server.resident()? as f64);
        }
    }
    Ok(found(&starts, &memory))
}

fn found(starts: &Rounds, memory: &Rounds) -> Found {
    let of = |rounds: &Rounds| -> Vec<_> {
        READERS.iter().filter_map(|who| Some((*who, rounds.median(who.name())?))).collect()
    };
    let groups = [
        Amounts { title: "start to first byte", bars: of(starts), show: time },
        Amounts { title: "memory when idle", bars: of(memory), show: |bytes| mib(bytes as u64) },
    ];
    let held = |(who, bytes)| Held { load: "idle".to_owned(), who, bytes: bytes as u64 };
    Found {
        section: section(starts, memory),
        plots: vec![("start", amounts("Start and rest", &groups))],
        failures: Vec::new(),
        memory: of(memory).into_iter().map(held).collect(),
    }
}

fn section(starts: &Rounds, memory: &Rounds) -> Section {
    let row = |who: Who| {
        let size = |bytes: f64| mib(bytes as u64);
        vec![who.name().to_owned(), starts.shown(who.name(), time), memory.shown(who.name(), size)]
    };
    let mut marks = Vec::new();
    for who in READERS.into_iter().filter(|who| who.is_ours()) {
        let figure =
            |rounds: &Rounds, unit: f64| rounds.median(who.name()).map(|figure| figure / unit);
        let what = format!("{}: ms from start to first byte", who.name());
        marks.push(Mark::at_most(what, START_MS, figure(starts, 1e6)));
        let what = format!("{}: MiB of memory when idle", who.name());
        marks.push(Mark::at_most(what, IDLE_MIB, figure(memory, f64::from(1 << 20))));
    }
    Section {
        title: "Start and rest",
        about: "From the start of the process, whose program is in the page cache, until a file of 4 KiB was \
                read by HTTP; of a tree in memory, which is empty then, until its root was listed. The \
                memory is what is resident half a second later, of all processes of a server."
            .to_owned(),
        columns: ["who", "start to first answer", "memory when idle"].map(str::to_owned).to_vec(),
        rows: READERS.into_iter().map(row).collect(),
        marks,
    }
}

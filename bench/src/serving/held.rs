//! How much memory everybody held at most, under each load.

use super::table::mib;
use super::who::Who;
use crate::report::Section;

/// The most memory that somebody had while something was done, in bytes.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) load: String,
    pub(super) who: Who,
    pub(super) bytes: u64,
}

const EVERYBODY: [Who; 7] =
    [Who::Host, Who::Relaxed, Who::Memory, Who::Store, Who::Nginx, Who::Dufs, Who::SandboxAgent];

/// All of it in one table, a line for each load.
pub(super) fn section(all: &[Held]) -> Section {
    let mut loads: Vec<&str> = Vec::new();
    for held in all {
        if !loads.contains(&held.load.as_str()) {
            loads.push(&held.load);
        }
    }
    let of = |load: &str, who: Who| {
        let held = all.iter().find(|held| held.load == load && held.who == who);
        held.map(|held| held.bytes)
    };
    let row = |load: &&str| {
        let figure = |who| of(load, who).map_or_else(|| "–".to_owned(), mib);
        [(*load).to_owned()].into_iter().chain(EVERYBODY.map(figure)).collect()
    };
    let names = EVERYBODY.iter().map(|who| who.name());
    Section {
        title: "Memory under each load",
        about: "The most that was resident while something was done, of all processes of a server; when idle, what \
                was resident half a second after the start. What a tree in memory holds is its content."
            .to_owned(),
        columns: ["load"].into_iter().chain(names).map(str::to_owned).collect(),
        rows: loads.iter().map(row).collect(),
        marks: Vec::new(),
    }
}

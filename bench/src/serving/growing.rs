//! Single operations in a directory that grows.

use anyhow::Result;

use super::arena::Arena;
use super::ask::Ask;
use super::case::{Case, Miss};
use super::content::{Numbers, noise};
use super::plots::{Curve, curves};
use super::reading::in_turn;
use super::script::{Expected, Script};
use super::server::Server;
use super::trees::{Filling, Tree};
use super::who::{WRITERS, Who};
use super::{Bench, Found};
use crate::report::{Section, time};

const PAGE: usize = 100;
const DIR: &str = "growing";

/// What is done in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Stat,
    Put,
    Page,
}

const OPERATIONS: [Operation; 3] = [Operation::Stat, Operation::Put, Operation::Page];

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Stat => "stat",
            Self::Put => "PUT 4 KiB, replaced",
            Self::Page => "list a page of 100",
        }
    }

    fn script(self, server: &Server, tree: &Tree) -> Result<Vec<Script>, Miss> {
        let mut numbers = Numbers::new(tree.files as u64);
        let some = (0..64).map(|_| tree.name(numbers.below(tree.files)));
        match self {
            Self::Stat => {
                let paths: Vec<_> = some.map(|name| format!("{DIR}/{name}")).collect();
                in_turn(server, paths.iter().map(|path| Ask::Look(path)), 1)
            }
            Self::Page => {
                let names: Vec<_> = some.collect();
                in_turn(server, names.iter().map(|name| Ask::Page(DIR, name, PAGE)), 1)
            }
            Self::Put => {
                let head = server.say(Ask::Write(&format!("{DIR}/{}", tree.name(0)), 4096))?;
                Ok(vec![Script::fresh(&head, &noise(4096), 0)])
            }
        }
    }
}

/// The same operations at every size.
pub(super) async fn growing(bench: &Bench<'_>) -> Result<Found> {
    let mut arena = Arena::new(bench, DIR)?;
    arena.start(&WRITERS).await?;
    let sizes =
        bench.plan.choose(&[100, 10_000, 100_000][..], &[100, 1_000, 10_000, 100_000, 1_000_000]);
    let (mut cases, mut there) = (Vec::new(), 0);
    for entries in sizes.iter().copied() {
        let tree = Tree { files: entries, each: None, filling: Filling::Empty };
        arena.plant(&tree, DIR, there..entries).await?;
        arena.settle()?;
        there = entries;
        for operation in OPERATIONS {
            let mut case = Case::new(operation.name(), &WRITERS);
            let scripts = |server: &Server| operation.script(server, &tree);
            arena.pace(&mut case, Expected::FINE, scripts).await?;
            cases.push((operation, entries, case));
        }
    }
    Ok(found(&cases))
}

type Grown = (Operation, usize, Case);

fn found(cases: &[Grown]) -> Found {
    let mut found = Found { section: section(cases), plots: Vec::new(), failures: Vec::new() };
    for (_, entries, case) in cases {
        let told = case.failures().map(|failure| format!("{entries} entries: {failure}"));
        found.failures.extend(told);
    }
    for operation in OPERATIONS {
        let own = cases.iter().filter(|(of, ..)| *of == operation);
        let curve = |who: &Who| {
            let points = own
                .clone()
                .filter_map(|(_, entries, case)| Some((*entries as f64, 1e9 / case.speed(*who)?)));
            Curve { who: *who, points: points.collect() }
        };
        let all: Vec<_> = WRITERS.iter().map(curve).collect();
        let name = match operation {
            Operation::Stat => "grow-stat",
            Operation::Put => "grow-put",
            Operation::Page => "grow-page",
        };
        let title = format!("{}, as the directory grows", operation.name());
        found.plots.push((name, curves(&title, "entries in the directory", &all)));
    }
    found
}

fn section(cases: &[Grown]) -> Section {
    let columns = ["operation", "entries"].into_iter().chain(WRITERS.iter().map(|who| who.name()));
    let mut rows = Vec::new();
    for operation in OPERATIONS {
        for (_, entries, case) in cases.iter().filter(|(of, ..)| *of == operation) {
            let figure =
                |who: &Who| case.speed(*who).map_or("–".to_owned(), |speed| time(1e9 / speed));
            let row = [operation.name().to_owned(), entries.to_string()];
            rows.push(row.into_iter().chain(WRITERS.iter().map(figure)).collect());
        }
    }
    Section {
        title: "A directory that grows",
        about: "Time of one operation by one connection, all files in one directory: the worst that a tree \
                can be. A page is asked for behind a name anywhere in it; the others list whole directories only. \
                Over a directory of the machine a page costs a pass over its names, as the kernel keeps them \
                in no order. How operations cost as sandboxes become more, up to 100,000, is in \
                [SANDBOXES.md](SANDBOXES.md)."
            .to_owned(),
        columns: columns.map(str::to_owned).collect(),
        rows,
        marks: Vec::new(),
    }
}

//! Single operations in a directory that grows.

use anyhow::Result;

use super::arena::Arena;
use super::ask::Ask;
use super::case::{Case, Miss};
use super::content::{Numbers, noise};
use super::growth::{Grown, Growth};
use super::reading::in_turn;
use super::script::{Expected, Script};
use super::server::Server;
use super::trees::{Filling, Tree};
use super::who::WRITERS;
use super::{Bench, Found};

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

    fn plot(self) -> &'static str {
        match self {
            Self::Stat => "grow-stat",
            Self::Put => "grow-put",
            Self::Page => "grow-page",
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
            arena.pace(&mut case, Expected::FINE, bench.brief_effort(), scripts).await?;
            cases.push(Grown { operation: operation.name(), size: entries, case });
        }
    }
    Ok(growth().found(&cases))
}

fn growth() -> Growth {
    Growth {
        title: "A directory that grows",
        about: "Time of one operation by one connection, all files in one directory: the worst that a tree \
                can be. A page is asked for behind a name anywhere in it; the others list whole directories only. \
                Over a directory of the machine a page costs a pass over its names, as the kernel keeps them \
                in no order."
            .to_owned(),
        of: "entries",
        everybody: &WRITERS,
        operations: OPERATIONS.iter().map(|it| (it.name(), it.plot())).collect(),
    }
}

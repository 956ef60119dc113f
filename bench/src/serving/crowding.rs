//! Single operations on a server whose sandboxes become more and more.

use std::cell::Cell;

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::task::JoinSet;

use super::arena::Arena;
use super::ask::{Message, Request};
use super::case::{Case, Miss};
use super::connection::{Bodied, Connection};
use super::content::{Numbers, noise};
use super::growth::{Grown, Growth};
use super::script::{Expected, NUMBER, Script};
use super::server::Server;
use super::who::Who;
use super::{Bench, Found};

const OURS: [Who; 3] = [Who::Relaxed, Who::Memory, Who::Store];
/// In how many of the sandboxes somebody works.
const ACTIVE: usize = 64;
/// How many are made at once.
const MAKERS: usize = 64;
const LENGTH: usize = 4096;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Get,
    Put,
    Make,
}

const OPERATIONS: [Operation; 3] = [Operation::Get, Operation::Put, Operation::Make];

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Get => "GET 4 KiB",
            Self::Put => "PUT 4 KiB, replaced",
            Self::Make => "make a sandbox",
        }
    }

    fn plot(self) -> &'static str {
        match self {
            Self::Get => "sandboxes-get",
            Self::Put => "sandboxes-put",
            Self::Make => "sandboxes-make",
        }
    }

    /// What one connection asks in its turn, when there are so many sandboxes.
    fn script(self, who: Who, count: usize, turn: u64) -> Vec<Script> {
        match self {
            Self::Get => {
                let reads = active(count).map(|number| file("GET", number).end()).collect();
                vec![Script::turns(&reads, 0)]
            }
            Self::Put => vec![Script::fresh(&write(count / 2), &noise(LENGTH), 0)],
            // Always another name: in each turn, and at each size.
            Self::Make => {
                let request = make(who, &format!("at-{count}-{turn}-{NUMBER}"));
                vec![Script::numbered(&request)]
            }
        }
    }
}

/// The same operations with one sandbox and with very many.
pub(super) async fn crowding(bench: &Bench<'_>) -> Result<Found> {
    let mut arena = Arena::new(bench, "sandboxes")?;
    let roots = arena.tree.with_file_name("roots").display().to_string();
    arena.flags = vec!["--host-roots".to_owned(), roots];
    arena.start(&OURS).await?;
    let sizes = bench.plan.choose(&[1, 100, 10_000][..], &[1, 10, 100, 1_000, 10_000, 100_000]);
    let (mut cases, mut there) = (Vec::new(), 0);
    let turn = Cell::new(0);
    for count in sizes.iter().copied() {
        for server in arena.servers() {
            fill(server, there, count).await?;
        }
        there = count;
        arena.settle()?;
        for operation in OPERATIONS {
            let mut case = Case::new(operation.name(), &OURS);
            let scripts = |server: &Server| -> Result<_, Miss> {
                turn.set(turn.get() + 1);
                Ok(operation.script(server.who, count, turn.get()))
            };
            arena.pace(&mut case, Expected::FINE, bench.brief_effort(), scripts).await?;
            cases.push(Grown { operation: operation.name(), size: count, case });
        }
    }
    Ok(growth().found(&cases))
}

fn growth() -> Growth {
    Growth {
        title: "Sandboxes that become more",
        about: format!(
            "Time of one operation by one connection on a server with so many sandboxes, each with a file \
             of 4 KiB: directories for `sandkeep DIR`, virtual trees for the others. Reads go to {ACTIVE} of \
             them in turn. Those that are made are made on top of the others. None of the peers has \
             sandboxes. [SANDBOXES.md](SANDBOXES.md) has more of this."
        ),
        of: "sandboxes",
        everybody: &OURS,
        operations: OPERATIONS.iter().map(|it| (it.name(), it.plot())).collect(),
    }
}

/// Makes sandboxes until there are so many, each with a file in it.
async fn fill(server: &Server, there: usize, count: usize) -> Result<()> {
    let (who, address) = (server.who, server.address);
    let mut making = JoinSet::new();
    for maker in 0..MAKERS {
        making.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let body = noise(LENGTH);
            for number in (there + maker..count).step_by(MAKERS) {
                told(&mut connection, &make(who, &id(number)), &[]).await?;
                told(&mut connection, &write(number), &body).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(made) = making.join_next().await {
        made??;
    }
    Ok(())
}

async fn told(connection: &mut Connection, request: &Request, body: &[u8]) -> Result<()> {
    connection.send(&request.bytes).await?;
    connection.send(body).await?;
    let answer = connection.receive(Bodied::Yes, |_| {}).await?;
    ensure!(Expected::FINE.fits(answer), "a sandbox was not made: {answer:?}");
    Ok(())
}

/// Some of the sandboxes, which lie anywhere among the others.
fn active(count: usize) -> impl Iterator<Item = usize> {
    let mut numbers = Numbers::new(count as u64);
    (0..ACTIVE).map(move |_| numbers.below(count))
}

fn id(number: usize) -> String {
    format!("crowd-{number:06}")
}

fn make(who: Who, id: &str) -> Request {
    let kind = if who.is_virtual() { "virtual" } else { "host" };
    let wish = json!({ "id": id, "kind": kind }).to_string();
    Message::with_token("POST", "/v1/sandboxes").json(&wish)
}

fn write(number: usize) -> Request {
    file("PUT", number).field("Content-Length", &LENGTH.to_string()).end()
}

fn file(method: &str, number: usize) -> Message {
    Message::with_token(method, &format!("/v1/sandboxes/{}/fs/file", id(number)))
}

//! Telling a thousand clients of a change.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use memchr::memmem;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Bench;
use super::arena::Arena;
use super::ask::Message;
use super::case::{Case, Miss, Turn};
use super::connection::Connection;
use super::job;
use super::server::Server;
use super::table::{Family, Measure};
use super::who::Who;

/// A tree tells at most 256 clients, so that a thousand are spread over four.
const SANDBOXES: usize = 4;
const EACH: usize = 250;
const EVERYBODY: [Who; 6] =
    [Who::Relaxed, Who::Memory, Who::Store, Who::Nginx, Who::Dufs, Who::SandboxAgent];
const PATIENCE: Duration = Duration::from_secs(30);

/// From a write until all of them heard of it.
pub(super) async fn watching(bench: &Bench<'_>) -> Result<Family> {
    let mut arena = Arena::new(bench, "watch")?;
    let roots = arena.tree.with_file_name("roots");
    arena.flags = ["--max-connections", "4096", "--host-roots"].map(str::to_owned).to_vec();
    arena.flags.push(roots.display().to_string());
    let ours = EVERYBODY.into_iter().filter(|who| who.is_ours());
    let mut crowds = Vec::new();
    for who in ours {
        arena.start(&[who]).await?;
        crowds.push(Crowd::gather(arena.server(who)?).await?);
    }
    let name = format!("a change told to {} clients", SANDBOXES * EACH);
    let mut case = Case::new(name, &EVERYBODY).of((SANDBOXES * EACH) as f64, "clients");
    let mut number = 0;
    case.in_turns(bench.rounds(), async |who| {
        number += 1;
        let found = crowds.iter_mut().find(|crowd| crowd.who == who);
        let crowd = found.ok_or(Miss::Cannot("it tells nobody of changes"))?;
        Ok(crowd.tell(arena.server(who)?, number).await?)
    })
    .await;
    arena.note_peaks(&mut case)?;
    Ok(Family {
        name: "watch",
        title: "Telling of changes",
        about: format!(
            "{SANDBOXES} sandboxes, each watched by {EACH} clients (`fs-watch`, server-sent events; one tree \
             tells at most 256); a file is written into each of them at once. From the first byte of the first write \
             until the last client has its event. Changes of a virtual tree within 50 ms are told as one."
        ),
        measure: Measure::Time,
        cases: vec![case],
    })
}

/// Everybody who listens to one server.
struct Crowd {
    who: Who,
    listeners: Vec<Connection>,
}

impl Crowd {
    /// Makes the sandboxes, and lets everybody listen until told where he is.
    async fn gather(server: &Server) -> Result<Self> {
        let mut listeners = Vec::new();
        for number in 0..SANDBOXES {
            let kind = if server.who.is_virtual() { "virtual" } else { "host" };
            let wish = json!({ "id": sandbox(number), "kind": kind }).to_string();
            let made = Message::with_token("POST", "/v1/sandboxes").json(&wish);
            server.fetch(&made, &[]).await?;
            let target = format!("/v1/sandboxes/{}/fs-watch", sandbox(number));
            let request = Message::with_token("GET", &target).end();
            for _ in 0..EACH {
                let mut listener = Connection::open(server.address).await?;
                listener.send(&request.bytes).await?;
                let status = listener.begin_stream().await?;
                ensure!(status == 200, "a watch is answered with {status}");
                listeners.push(heard(listener, "event: here".to_owned()).await?);
            }
        }
        Ok(Self { who: server.who, listeners })
    }

    /// Writes a file into every sandbox, and waits until everybody knows.
    async fn tell(&mut self, server: &Server, number: usize) -> Result<Turn> {
        let name = format!("change-{number:04}");
        let mut listening = JoinSet::new();
        for listener in self.listeners.drain(..) {
            listening.spawn(heard(listener, name.clone()));
        }
        let telling = async {
            let mut writers = Vec::new();
            for number in 0..SANDBOXES {
                let target = format!("/v1/sandboxes/{}/fs/{name}", sandbox(number));
                let head = Message::with_token("PUT", &target).field("Content-Length", "0");
                let mut writer = Connection::open(server.address).await?;
                writer.send(&head.end().bytes).await?;
                writers.push(writer);
            }
            while let Some(listener) = listening.join_next().await {
                self.listeners.push(listener??);
            }
            Ok(())
        };
        let turn = timeout(PATIENCE, job::timed(server, telling)).await;
        turn.context("not everybody was told")?
    }
}

fn sandbox(number: usize) -> String {
    format!("watched-{number}")
}

/// Listens until something was said.
async fn heard(mut listener: Connection, what: String) -> Result<Connection> {
    let mut said = Vec::new();
    while memmem::find(&said, what.as_bytes()).is_none() {
        said.extend_from_slice(listener.more().await?);
    }
    Ok(listener)
}

//! The sandboxes of a server: made, listed, filled, watched and removed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use client::{SandboxFs, Server};
use engine::{FileSystem as _, Files, NewKind, NewSandbox, SandboxId, SandboxPath, Watch};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use tokio::task::JoinSet;

use crate::spread::{Spread, Times};

/// One of so many lies in a directory.
const IN_A_DIRECTORY: usize = 10;
/// So many sandboxes have a label that the others have not.
const RARE: usize = 20;
/// How many files a sandbox has in which somebody works, and how long each is.
pub(super) const FILES: usize = 10;
pub(super) const LENGTH: usize = 2048;
/// One of so many sandboxes is watched.
const WATCHED: usize = 20;
/// How many sandboxes a page holds, and how often each page is asked for.
const PAGE: usize = 100;
const LOOKS: usize = 25;

/// Sandboxes of one server.
pub(super) struct Crowd {
    server: Server,
    registered: usize,
    clients: usize,
}

impl Crowd {
    pub(super) fn new(server: Server, registered: usize, clients: usize) -> Self {
        Self { server, registered, clients }
    }

    /// The same sandboxes, after the server was started again.
    pub(super) fn turn_to(&mut self, server: Server) {
        self.server = server;
    }

    pub(super) fn sandbox(&self, number: usize) -> Result<SandboxFs> {
        Ok(self.server.sandbox(&id(number)?))
    }

    /// Makes all of them.
    pub(super) async fn register(&self) -> Result<()> {
        let rare = (self.registered / RARE).max(1);
        let made = (0..self.registered).map(async |number| {
            let kind = match number % IN_A_DIRECTORY {
                0 => NewKind::Host { root: None },
                _ => NewKind::Virtual,
            };
            let label = if number % rare == 1 { "rare" } else { "usual" };
            let labels = [("kind", label), ("team", "blue")];
            let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
            let (id, prefix) = (Some(id(number)?), SandboxPath::root());
            let new =
                NewSandbox { id, kind, prefix, limits: None, labels: labels.into(), ttl: None };
            self.server.create(new).await.with_context(|| format!("sandbox {number}"))?;
            anyhow::Ok(())
        });
        stream::iter(made).buffer_unordered(self.clients).try_collect().await
    }

    /// Puts some files into the first so many.
    pub(super) async fn prepare(&self, active: usize) -> Result<()> {
        let filled = (0..active).map(async |number| {
            let files = Files::new(Arc::new(self.sandbox(number)?));
            for file in 0..FILES {
                files.write(&seed(file), content(file)).await?;
            }
            anyhow::Ok(())
        });
        stream::iter(filled).buffer_unordered(self.clients).try_collect().await
    }

    /// Listens to what happens in some of the first so many.
    pub(super) async fn watch(&self, active: usize) -> Result<Watches> {
        let (heard, mut tasks) = (Arc::new(AtomicU64::new(0)), JoinSet::new());
        for number in (0..active).step_by(WATCHED) {
            let wish = Watch { recursive: true, after: None };
            let mut notices = self.sandbox(number)?.watch(&SandboxPath::root(), wish).await?;
            let heard = Arc::clone(&heard);
            tasks.spawn(async move {
                while let Some(Ok(_)) = notices.next().await {
                    heard.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        Ok(Watches { heard, tasks })
    }

    /// Removes so many of those in which nobody works.
    pub(super) async fn remove_last(&self, count: usize) -> Result<Times> {
        let last = self.registered;
        let removed = (last - count..last).map(async |number| {
            let began = Instant::now();
            self.server.remove(&id(number)?).await?;
            anyhow::Ok(began.elapsed())
        });
        let mut spread = Spread::default();
        let mut removed = stream::iter(removed).buffer_unordered(self.clients);
        while let Some(time) = removed.try_next().await? {
            spread.note("remove", time);
        }
        Ok(spread.all())
    }
}

/// Watches that go on until they are stopped.
pub(super) struct Watches {
    heard: Arc<AtomicU64>,
    tasks: JoinSet<()>,
}

impl Watches {
    /// Ends them; how many there were that went on until now, of how many, and what they heard.
    pub(super) fn stop(mut self) -> Heard {
        let begun = self.tasks.len();
        let mut broken = 0;
        while self.tasks.try_join_next().is_some() {
            broken += 1;
        }
        Heard { watches: begun, broken, notices: self.heard.load(Ordering::Relaxed) }
    }
}

/// What watches told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) watches: usize,
    pub(super) broken: usize,
    pub(super) notices: u64,
}

/// How long pages of the list of all sandboxes take.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) first: Times,
    pub(super) middle: Times,
    /// Pages of those with a label that few have, until the end.
    pub(super) rare: Times,
    pub(super) found: usize,
    pub(super) whole: Duration,
}

impl Pages {
    pub(super) async fn measure(crowd: &Crowd) -> Result<Self> {
        let mut spread = Spread::default();
        let middle = id(crowd.registered / 2)?;
        for _ in 0..LOOKS {
            for (name, after) in [("first", None), ("middle", Some(&middle))] {
                let began = Instant::now();
                crowd.server.list(after, PAGE, &BTreeMap::new()).await?;
                spread.note(name, began.elapsed());
            }
        }
        let labels = BTreeMap::from([("kind".to_owned(), Some("rare".to_owned()))]);
        let (began, mut found, mut after) = (Instant::now(), 0, None);
        loop {
            let page_began = Instant::now();
            let page = crowd.server.list(after.as_ref(), PAGE, &labels).await?;
            spread.note("rare", page_began.elapsed());
            found += page.sandboxes.len();
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let [first, middle, rare] = ["first", "middle", "rare"].map(|name| spread.of(name));
        Ok(Self { first, middle, rare, found, whole: began.elapsed() })
    }
}

/// A file that every sandbox has in which somebody works.
pub(super) fn seed(file: usize) -> String {
    format!("/seed/file-{file}.txt")
}

/// Lines of text, in one of which is a word that is looked for.
pub(super) fn content(file: usize) -> Vec<u8> {
    let text =
        format!("the needle of file {file}\n") + &"some line that nobody looks for\n".repeat(80);
    text.into_bytes().into_iter().take(LENGTH).collect()
}

fn id(number: usize) -> Result<SandboxId> {
    Ok(SandboxId::parse(&format!("sandbox-{number:06}"))?)
}

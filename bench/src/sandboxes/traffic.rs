//! Many clients that work in many sandboxes at once.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use client::SandboxFs;
use engine::{
    Depth, Files, Letters, NewSnapshot, Pattern, SandboxPath, SearchQuery, Snapshots as _, Syntax,
    Target,
};
use futures::TryStreamExt as _;
use futures::future::join_all;

use super::crowd::{Crowd, FILES, content, seed};
use crate::spread::Spread;

/// Works in the first `active` sandboxes for a while, as so many clients.
pub(super) async fn run(
    crowd: &Crowd,
    active: usize,
    clients: usize,
    long: Duration,
) -> Result<Spread> {
    let end = Instant::now() + long;
    // Clients begin at places apart, so that all sandboxes are worked in all the time.
    let begin = |client: usize| client * active / clients;
    let clients = (0..clients).map(|client| work(crowd, (begin(client), active), client, end));
    let mut all = Spread::default();
    for spread in join_all(clients).await {
        all.add(spread?);
    }
    Ok(all)
}

/// One client goes from sandbox to sandbox and does something in each.
async fn work(
    crowd: &Crowd,
    (begin, active): (usize, usize),
    client: usize,
    end: Instant,
) -> Result<Spread> {
    let mut spread = Spread::default();
    let mut turn = 0;
    while Instant::now() < end {
        turn += 1;
        let sandbox = crowd.sandbox((begin + turn) % active)?;
        let visit = Visit { sandbox, client, turn };
        if let Err((operation, err)) = visit.act(&mut spread).await {
            spread.failed(operation, &err);
        }
    }
    Ok(spread)
}

/// What a client does in one sandbox.
struct Visit {
    sandbox: SandboxFs,
    client: usize,
    turn: usize,
}

type Failed = (&'static str, anyhow::Error);

impl Visit {
    /// Of a hundred turns: 35 reads, 20 looks at one entry, 15 at a directory, 20 writes, 5 files that
    /// are made, moved and removed, 4 searches and one snapshot.
    async fn act(&self, spread: &mut Spread) -> Result<(), Failed> {
        let file = seed(self.turn % FILES);
        let files = Files::new(Arc::new(self.sandbox.clone()));
        match self.dice() {
            0..35 => timed(spread, "read", files.read(&file)).await.map(drop),
            35..55 => timed(spread, "stat", files.entry(&file)).await.map(drop),
            55..70 => timed(spread, "list", files.list_entries("/seed")).await.map(drop),
            70..90 => {
                let file = format!("/project/client-{}", self.client);
                timed(spread, "write", files.write(&file, content(self.turn))).await.map(drop)
            }
            90..95 => self.whole_life(&files, spread).await,
            95..99 => timed(spread, "search", self.search()).await,
            _ => timed(spread, "snapshot", self.sandbox.create(NewSnapshot::default()))
                .await
                .map(drop),
        }
    }

    /// A number below 100 that is the same in every run.
    fn dice(&self) -> usize {
        let mut hasher = DefaultHasher::new();
        (self.client, self.turn).hash(&mut hasher);
        usize::try_from(hasher.finish() % 100).unwrap_or_default()
    }

    async fn whole_life(&self, files: &Files, spread: &mut Spread) -> Result<(), Failed> {
        let name = format!("/project/new-{}-{}", self.client, self.turn);
        let moved = format!("{name}-moved");
        timed(spread, "write", files.write(&name, content(self.turn))).await?;
        timed(spread, "move", files.rename(&name, &moved, Target::New)).await?;
        timed(spread, "remove", files.remove(&moved, Depth::One)).await
    }

    async fn search(&self) -> Result<()> {
        let pattern = Pattern {
            text: "needle".to_owned(),
            syntax: Syntax::Literal,
            letters: Letters::Exact,
            words: false,
        };
        let query = SearchQuery { content: Some(pattern), ..SearchQuery::default() };
        let path = SandboxPath::parse("/seed", engine::DotDot::Refuse)?;
        let found: Vec<_> = self.sandbox.search(&path, &query).await?.try_collect().await?;
        ensure!(found.len() > FILES, "a search found {} of {FILES}", found.len());
        Ok(())
    }
}

async fn timed<T, E: Into<anyhow::Error>>(
    spread: &mut Spread,
    operation: &'static str,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, Failed> {
    let began = Instant::now();
    let done = work.await.map_err(|err| (operation, err.into()))?;
    spread.note(operation, began.elapsed());
    Ok(done)
}

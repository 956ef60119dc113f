//! The proof that a backend can be trusted, made anew at every start.
//!
//! There are stores that answer conditional writes rightly as long as nobody else writes, and lose
//! updates when somebody does. So the probe races against itself, on refs and objects of its own,
//! and a backend that fails it is refused.
//!
//! - `deleting`: what is deleted under the token of what it was

mod deleting;

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::{
    Domain, Error, ErrorKind, Expected, ObjectId, ObjectKey, Ref, RefKey, Result, Storage, Swap,
    Token, frame,
};

/// Where the refs of all probes lie.
const PREFIX: &str = "probe/";

/// How many create one ref at once.
const CREATORS: usize = 16;
/// How many count one ref up at once, and how often each.
const COUNTERS: usize = 8;
const COUNTS: u8 = 5;

/// Proves that a backend keeps the promises on which every write relies, or says which it breaks.
///
/// It takes some 100 writes, most of them at once, and removes what it wrote.
pub async fn probe(storage: &Arc<dyn Storage>) -> Result<()> {
    if !storage.capabilities().shared {
        // Nobody else can be probing, so these were left by a process that died.
        remove_refs(&**storage, PREFIX).await?;
    }
    let probe = Probe::of(storage);
    let outcome = probe.run().await;
    let cleaned_up = probe.clean_up().await;
    outcome.and(cleaned_up)
}

/// One run, on names that nobody else uses.
#[derive(Clone)]
struct Probe {
    storage: Arc<dyn Storage>,
    object: ObjectKey,
}

impl Probe {
    fn of(storage: &Arc<dyn Storage>) -> Self {
        let object = ObjectKey { domain: Domain::random(), id: ObjectId(rand::random()) };
        Self { storage: Arc::clone(storage), object }
    }

    async fn run(&self) -> Result<()> {
        self.only_the_first_create_wins().await?;
        self.a_stale_token_loses().await?;
        self.one_of_many_creates_wins().await?;
        self.no_count_is_lost().await?;
        self.an_object_is_there_at_once().await?;
        self.a_stale_token_removes_no_object().await?;
        self.no_ref_is_deleted_after_it_changed().await?;
        self.no_object_is_deleted_after_it_was_written_again().await
    }

    async fn clean_up(&self) -> Result<()> {
        let left = self.storage.list(Some(self.object.domain), None, usize::MAX).await?;
        let left: Vec<_> = left.into_iter().map(|object| (object.key, object.token)).collect();
        self.storage.delete_exact(&left).await?;
        remove_refs(&*self.storage, &self.prefix()).await
    }

    async fn only_the_first_create_wins(&self) -> Result<()> {
        let key = self.key("created")?;
        won(self.create(&key, "first").await?, "create-if-absent")?;
        match self.create(&key, "second").await? {
            Swap::Lost(Some(current)) if current.value == "first" => Ok(()),
            Swap::Lost(_) | Swap::Won(_) => Err(broken("create-if-absent")),
        }
    }

    async fn a_stale_token_loses(&self) -> Result<()> {
        let key = self.key("swapped")?;
        let first = won(self.create(&key, "first").await?, "create-if-absent")?;
        let stale = Expected::Token(first.clone());
        won(self.storage.swap(&key, &stale, "second".into()).await?, "compare-and-swap")?;
        if matches!(self.storage.swap(&key, &stale, "third".into()).await?, Swap::Won(_)) {
            return Err(broken("compare-and-swap"));
        }
        if self.storage.delete_ref(&key, &first).await? {
            return Err(broken("exact-token delete of refs"));
        }
        match self.storage.load(&key).await? {
            Some(current) if current.value == "second" => Ok(()),
            Some(_) | None => Err(broken("exact-token delete of refs")),
        }
    }

    async fn one_of_many_creates_wins(&self) -> Result<()> {
        let key = self.key("raced")?;
        let swaps = self.race(CREATORS, move |probe, _| {
            let key = key.clone();
            async move { probe.create(&key, "mine").await }
        });
        let won = swaps.await?.iter().filter(|swap| matches!(swap, Swap::Won(_))).count();
        if won == 1 { Ok(()) } else { Err(broken("one winner among racing creates")) }
    }

    async fn no_count_is_lost(&self) -> Result<()> {
        let key = self.key("counted")?;
        won(self.create(&key, Bytes::from_static(&[0; COUNTERS])).await?, "create-if-absent")?;
        let counted = key.clone();
        let counts = self.race(COUNTERS, move |probe, racer| {
            let key = counted.clone();
            async move { probe.count_up(&key, racer).await }
        });
        counts.await?;
        match self.storage.load(&key).await? {
            Some(counts) if counts.value == [COUNTS; COUNTERS].as_slice() => Ok(()),
            Some(_) | None => Err(broken("no lost update among racing swaps")),
        }
    }

    /// Counts a racer's own number up among those of all, by commits as every change of a tree is
    /// one.
    async fn count_up(&self, key: &RefKey, racer: usize) -> Result<()> {
        let mut current = self.storage.load(key).await?;
        let (mut count, mut lost) = (0, 0);
        while count < COUNTS {
            // Whoever loses, loses to one that wins, and of those there are so many.
            let is_stuck = lost > 10 * COUNTERS * usize::from(COUNTS);
            let (Some(counts), false) = (&current, is_stuck) else {
                return Err(broken("no lost update among racing swaps"));
            };
            // A commit whose answer got lost on the way may count all the same.
            if counts.value.get(racer) == Some(&(count + 1)) {
                count += 1;
                continue;
            }
            let mut next = counts.value.to_vec();
            next.iter_mut().skip(racer).take(1).for_each(|own| *own = count + 1);
            let (next, expected) = (Bytes::from(next), Expected::Token(counts.token.clone()));
            let objects = vec![(self.object, frame::seal(b"counted"))];
            match self.storage.commit(objects, key, &expected, next.clone()).await? {
                Swap::Won(token) => {
                    count += 1;
                    current = Some(Ref { value: next, token });
                }
                Swap::Lost(now) => {
                    lost += 1;
                    current = now;
                }
            }
        }
        Ok(())
    }

    async fn an_object_is_there_at_once(&self) -> Result<()> {
        let stored = frame::seal(b"probe");
        self.storage.put_many(vec![(self.object, stored.clone())]).await?;
        if self.storage.get(&self.object).await? != Some(stored) {
            return Err(broken("reading what was written"));
        }
        Ok(())
    }

    async fn create(&self, key: &RefKey, value: impl Into<Bytes>) -> Result<Swap> {
        self.storage.swap(key, &Expected::Absent, value.into()).await
    }

    /// What so many get who all begin at the same moment.
    async fn race<T, F, Run>(&self, racers: usize, run: Run) -> Result<Vec<T>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send,
        Run: Fn(Self, usize) -> F + Clone + Send + 'static,
    {
        let start = Arc::new(Barrier::new(racers));
        let mut racing = JoinSet::new();
        for racer in 0..racers {
            let (start, run, probe) = (Arc::clone(&start), run.clone(), self.clone());
            racing.spawn(async move {
                start.wait().await;
                run(probe, racer).await
            });
        }
        let mut outcomes = Vec::new();
        while let Some(outcome) = racing.join_next().await {
            let broke_down = |err| Error::new(ErrorKind::Io, "the probe broke down").because(err);
            outcomes.push(outcome.map_err(broke_down)??);
        }
        Ok(outcomes)
    }

    fn prefix(&self) -> String {
        format!("{PREFIX}{}/", self.object.domain)
    }

    fn key(&self, subject: &str) -> Result<RefKey> {
        RefKey::new(&format!("{}{subject}", self.prefix()))
    }
}

async fn remove_refs(storage: &dyn Storage, prefix: &str) -> Result<()> {
    for (key, left) in storage.list_refs(prefix, None, usize::MAX).await? {
        storage.delete_ref(&key, &left.token).await?;
    }
    Ok(())
}

fn won(swap: Swap, promise: &str) -> Result<Token> {
    match swap {
        Swap::Won(token) => Ok(token),
        Swap::Lost(_) => Err(broken(promise)),
    }
}

fn broken(promise: &str) -> Error {
    let message = format!("the storage cannot be trusted: it does not keep {promise:?}");
    Error::new(ErrorKind::Unsafe, message)
}

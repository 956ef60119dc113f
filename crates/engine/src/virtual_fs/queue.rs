//! Commits to a store: what arrives during one is gathered for the next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use storage::{Expected, ObjectKey, Swap, frame};
use tokio::sync::oneshot;

use crate::tree::{Objects, Stop, flush};
use crate::{Error, ErrorKind, Result, blocking};

use super::change::{Applied, Change};
use super::meaning::{doubtful, meaning};
use super::objects::{View, damaged};
use super::pins::Hold;
use super::root::Root;
use super::trunk::{State, Trunk};

/// How many batches one commit takes at most.
const GATHERED: usize = 1000;
/// How often a commit that others overtake is tried again.
const TRIES: u32 = 64;

/// Batches that wait for the next commit.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    batches: VecDeque<Batch>,
    /// Whether somebody is at work on them.
    attended: bool,
}

/// Changes that happen together, and who waits for them.
#[derive(Debug)]
struct Batch {
    changes: Vec<Change>,
    answer: oneshot::Sender<Result<Vec<Applied>>>,
    /// Kept for as long as the changes may still happen.
    _hold: Option<Hold>,
}

impl Trunk {
    /// Hands changes to the committer and waits for the outcome. Who stops waiting takes nothing
    /// back: the changes happen whole, or were never begun.
    pub(super) async fn submit(
        self: &Arc<Self>,
        changes: Vec<Change>,
        hold: Option<Hold>,
    ) -> Result<Vec<Applied>> {
        self.shelf.check_age(hold.as_ref())?;
        let (answer, outcome) = oneshot::channel();
        let is_first = {
            let mut waiting = self.queue.waiting.lock();
            waiting.batches.push_back(Batch { changes, answer, _hold: hold });
            !std::mem::replace(&mut waiting.attended, true)
        };
        if is_first {
            tokio::spawn(attend(Attending { trunk: Some(Arc::clone(self)) }));
        }
        outcome.await.map_err(|_| damaged("the commit broke off inside the server"))?
    }

    /// The batches that are next, and the number of their commit; none if nobody waits.
    fn take_batches(&self) -> Option<(Vec<Batch>, u64)> {
        let mut waiting = self.queue.waiting.lock();
        let mut taken = Vec::new();
        let mut names_change = false;
        while taken.len() < GATHERED
            && let Some(next) = waiting.batches.front()
        {
            // A change through an open file must see where the file is by then.
            if names_change && next.changes.iter().any(Change::is_through_handle) {
                break;
            }
            names_change |= next.changes.iter().any(Change::moves_names);
            // Whoever gave up before the commit began has no effect.
            let batch = waiting.batches.pop_front();
            taken.extend(batch.filter(|batch| !batch.answer.is_closed()));
        }
        if taken.is_empty() && waiting.batches.is_empty() {
            waiting.attended = false;
            return None;
        }
        Some((taken, self.shelf.commits.fetch_add(1, Ordering::Relaxed)))
    }
}

/// Commits what waits until nothing does.
async fn attend(mut attending: Attending) {
    let mut next = attending.take_batches();
    while let (Some((batches, number)), Some(trunk)) = (next.take(), &attending.trunk) {
        let outcome = trunk.commit_batches(&batches, number).await;
        // Whoever is told that his change is done may want to close the store at once, so the tree
        // is let go of before.
        next = attending.take_batches();
        answer(batches, outcome);
    }
}

/// Tells those who wait what came of their batches. Nobody may be waiting any more.
fn answer(batches: Vec<Batch>, outcome: Result<Outcomes>) {
    match outcome {
        Ok(outcomes) => {
            for (batch, outcome) in batches.into_iter().zip(outcomes) {
                drop(batch.answer.send(outcome));
            }
        }
        Err(err) => {
            let (kind, message) = (err.kind(), err.to_string());
            tracing::error!(error = &err as &dyn std::error::Error, "a commit failed");
            for batch in batches {
                drop(batch.answer.send(Err(Error::new(kind, message.clone()))));
            }
        }
    }
}

/// The one who is at work on the batches of a tree.
struct Attending {
    /// None when nothing waits any more: by then somebody else may be at work.
    trunk: Option<Arc<Trunk>>,
}

impl Attending {
    /// The batches that are next. If there are none, the work is over.
    fn take_batches(&mut self) -> Option<(Vec<Batch>, u64)> {
        let next = self.trunk.as_ref()?.take_batches();
        if next.is_none() {
            self.trunk = None;
        }
        next
    }
}

/// Should the work ever break off, those who wait are told, and the next batch finds somebody new.
impl Drop for Attending {
    fn drop(&mut self) {
        if let Some(trunk) = &self.trunk {
            let left = std::mem::take(&mut *trunk.queue.waiting.lock());
            drop(left);
        }
    }
}

/// What came of each batch.
type Outcomes = Vec<Result<Vec<Applied>>>;

impl Trunk {
    /// Applies batches one after the other and stores the result in one step. When another server
    /// was faster, they are applied again to what it made.
    async fn commit_batches(&self, batches: &[Batch], number: u64) -> Result<Outcomes> {
        let mut view = self.shelf.cache.view();
        let _work = self.shelf.begin();
        for attempt in 0..TRIES {
            // Between two tries those come in who only want to look.
            let _turn = self.fresh.turn().await;
            let (old, began) = (self.state(), Instant::now());
            let (mut root, outcomes) = self.apply_batches(&old.root, batches, &mut view).await?;
            if outcomes.iter().all(Result::is_err) {
                let is_shared = self.shelf.cache.storage().capabilities().shared;
                if is_shared && self.catch_up(&old, &mut view, attempt).await? {
                    continue;
                }
                return Ok(outcomes);
            }
            root.note(self.shelf.writer, number);
            root.lease = self.next_lease(old.root.lease.as_ref());
            let mut objects = Objects::default();
            root.tree = flushed(&root, &mut objects)?;
            match self.store(&old, root, number, objects).await? {
                Some(new) => {
                    let mut applied: Vec<_> =
                        outcomes.iter().flatten().flatten().cloned().collect();
                    if new.root.sequence != old.root.sequence + 1 {
                        let (before, after) = (old.root.tree.clone(), new.root.tree.clone());
                        applied.push(Applied::by_others(before, after));
                    }
                    self.publish_fetching(self.shelf.hold(new), &applied, &mut view).await;
                    self.fresh.note(began);
                    return Ok(outcomes);
                }
                None => drop(self.catch_up(&old, &mut view, attempt).await?),
            }
        }
        Err(Error::new(ErrorKind::Busy, "others keep changing the sandbox"))
    }

    async fn apply_batches(
        &self,
        old: &Root,
        batches: &[Batch],
        view: &mut View<'_>,
    ) -> Result<(Root, Outcomes)> {
        let mut root = old.clone();
        let mut outcomes = Vec::with_capacity(batches.len());
        for batch in batches {
            outcomes.push(loop {
                match self.next(&root, &batch.changes, &*view) {
                    Ok((next, applied)) => {
                        root = next;
                        break Ok(applied);
                    }
                    Err(Stop::Failed(err)) => break Err(err),
                    // What one batch cannot have is no reason to refuse the others.
                    Err(Stop::Need(need)) => match view.fetch(&root.family, need).await {
                        Ok(()) => {}
                        Err(err) => break Err(err),
                    },
                }
            });
        }
        root.sequence = old.sequence + 1;
        Ok((root, outcomes))
    }

    /// Stores objects and then the root; none if somebody else was faster.
    async fn store(
        &self,
        old: &State,
        root: Root,
        number: u64,
        objects: Objects,
    ) -> Result<Option<State>> {
        let value = Bytes::from(root.encode().map_err(|err| damaged(err.0))?);
        let Objects { new, pages } = objects;
        let family = root.family;
        let sealed: Vec<(ObjectKey, Bytes)> = blocking::run(move || {
            Ok(new.into_iter().map(|(id, plain)| (family.key(id), frame::seal(&plain))).collect())
        })
        .await?;
        let expected = old.token.clone().map_or(Expected::Absent, Expected::Token);
        let key = self.ref_key()?;
        let storage = self.shelf.cache.storage();
        let outcome = match storage.commit(sealed, &key, &expected, value).await {
            Ok(Swap::Won(token)) => Some(State { root, token: Some(token) }),
            Ok(Swap::Lost(now)) => self.with_ours(&old.root, now, number)?,
            Err(err) => Some(self.after_all(&old.root, number, err).await?),
        };
        if outcome.is_some() {
            self.shelf.cache.keep(pages);
        }
        Ok(outcome)
    }

    /// What is stored after a commit that failed, if it happened all the same.
    async fn after_all(&self, old: &Root, number: u64, err: storage::Error) -> Result<State> {
        let (storage, key) = (self.shelf.cache.storage(), self.ref_key()?);
        let Ok(Some(now)) = storage.load(&key).await else { return Err(doubtful(err)) };
        let (value, expected) = (now.value.clone(), Expected::Token(now.token.clone()));
        let Some(State { root, .. }) = self.with_ours(old, Some(now), number)? else {
            return Err(doubtful(err));
        };
        // What is seen need not last yet, but what is set on top of it is acknowledged with it.
        match storage.swap(&key, &expected, value).await {
            Ok(Swap::Won(token)) => Ok(State { root, token: Some(token) }),
            Ok(Swap::Lost(_)) | Err(_) => Err(doubtful(err)),
        }
    }

    /// The state that is stored now, if our commit of that number is part of it.
    fn with_ours(
        &self,
        old: &Root,
        now: Option<storage::Ref>,
        number: u64,
    ) -> Result<Option<State>> {
        let root = self.stored_root(now.as_ref())?;
        if root.writers.contains(&(self.shelf.writer, number)) {
            return Ok(Some(State { root, token: now.map(|now| now.token) }));
        }
        if root.forgot_writers_since(old) {
            let message = "too many change the sandbox; whether the change happened is not known";
            return Err(Error::new(ErrorKind::InDoubt, message));
        }
        Ok(None)
    }

    /// Takes over what was made since; tells whether anything was.
    async fn catch_up(&self, old: &State, view: &mut View<'_>, attempt: u32) -> Result<bool> {
        if attempt > 2 {
            // The more have been overtaken, the longer and the less alike they wait.
            let spread = rand::random_range(1..=u64::from(attempt));
            tokio::time::sleep(Duration::from_millis(spread)).await;
        }
        let (began, entered) = (Instant::now(), self.shelf.pins.enter().await);
        let now = self.shelf.cache.storage().load(&self.ref_key()?).await.map_err(meaning)?;
        let is_overtaken = now.as_ref().map(|now| &now.token) != old.token.as_ref();
        if is_overtaken {
            let root = self.stored_root(now.as_ref())?;
            let applied = [Applied::by_others(old.root.tree.clone(), root.tree.clone())];
            let state = State { root, token: now.map(|now| now.token) };
            let new = self.shelf.pins.hold_seen(state, &entered);
            drop(entered);
            self.publish_fetching(new, &applied, view).await;
        }
        self.fresh.note(began);
        Ok(is_overtaken)
    }

    /// Makes a state the current one; fetches what it takes to follow open files.
    pub(super) async fn publish_fetching(
        &self,
        new: Arc<State>,
        applied: &[Applied],
        view: &mut View<'_>,
    ) {
        while let Err(need) = self.publish(&new, applied, &*view) {
            if let Err(err) = view.fetch(&new.root.family, need).await {
                tracing::error!(error = &err as &dyn std::error::Error, "open files are lost");
                self.state.replace(new);
                self.watching.note();
                return;
            }
        }
    }
}

/// The tree with everything fresh in it turned into objects.
fn flushed(root: &Root, objects: &mut Objects) -> Result<crate::tree::Node> {
    let dir = root.tree.directory().cloned().unwrap_or_default();
    let dir = flush(&dir, &root.family.ids, objects).map_err(|err| damaged(err.0))?;
    let body = crate::tree::Body::Directory(Box::new(dir));
    Ok(crate::tree::Node { body, ..root.tree })
}

//! The one thread that writes. What waits while it syncs is written and synced together.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::database::Database;
use super::group::Group;
use super::slot::Slot;
use crate::{Error, ErrorKind, Result};

/// How many writes wait at most; whoever comes later waits to wait.
const QUEUE: usize = 256;
/// How many bytes are written together, give or take the last write.
const GROUP: u64 = 2 << 20;
/// What is kept free of new objects, so that the database can still tidy up and objects can still
/// be deleted when the disk is full.
const HEADROOM: u64 = 64 << 20;

/// How often the database is asked whether it has caught up.
const PATIENCE: Duration = Duration::from_millis(1);

/// Takes writes one by one, in an order that all agree on.
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// One write.
struct Job {
    /// How many bytes it adds, or none if it removes.
    size: u64,
    /// Adds it to a group, or is told why not.
    stage: Stage,
}

type Stage = Box<dyn FnOnce(Result<&mut Group<'_>>) -> Answer + Send>;

/// Tells whoever waits how the group fared.
type Answer = Box<dyn FnOnce(Result<()>) + Send>;

impl Writer {
    pub(super) fn start(slot: Arc<Slot>) -> Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let thread = thread::Builder::new()
            .name("storage-writer".to_owned())
            .spawn(move || Desk::at(slot).work(queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Writes what `stage` adds to a group, and gives its answer when that is durable.
    ///
    /// Once it waits in the queue it is done, whether or not the caller still waits for it.
    pub(super) async fn write<T, F>(&self, size: u64, stage: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Group<'_>) -> Result<T> + Send + 'static,
    {
        let (done, answer) = oneshot::channel();
        let job = Job {
            size,
            stage: Box::new(move |group| {
                let staged = group.and_then(stage);
                Box::new(move |written| {
                    // Whoever stopped waiting does not want to know.
                    done.send(written.and(staged)).ok();
                })
            }),
        };
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(job).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Lets what waits be written, and waits for that.
    pub(super) fn stop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the storage's writer broke down");
        }
    }
}

fn stopped() -> Error {
    Error::new(ErrorKind::Unavailable, "the storage takes no more writes")
}

/// Where the thread works.
struct Desk {
    slot: Arc<Slot>,
    condition: Condition,
    /// Whether something was deleted whose room was not reclaimed; before the start it may have been.
    has_deleted: bool,
}

/// What the last write left the database in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    /// It takes writes.
    Sound,
    /// It takes none until it is opened again, for which it needs room.
    Stuck,
    /// A sync failed. What the kernel then shows of the journal need not be what the disk holds,
    /// so that nothing may be written behind it.
    Broken,
}

impl Desk {
    fn at(slot: Arc<Slot>) -> Self {
        Self { slot, condition: Condition::Sound, has_deleted: true }
    }

    fn work(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(first) = queue.blocking_recv() {
            let mut size = first.size;
            let mut jobs = vec![first];
            while size < GROUP
                && let Ok(job) = queue.try_recv()
            {
                size += job.size;
                jobs.push(job);
            }
            self.write(jobs, size);
        }
    }

    fn write(&mut self, jobs: Vec<Job>, size: u64) {
        let has_room = self.has_room(size) || self.make_room(size);
        let (jobs, unfit) = jobs.into_iter().partition(|job| job.size == 0 || has_room);
        refuse(unfit, &full());
        if jobs.is_empty() {
            return;
        }
        if let Err(err) = self.make_ready() {
            return refuse(jobs, &err);
        }
        self.has_deleted |= jobs.iter().any(|job: &Job| job.size == 0);
        // The slot is closed after this thread has ended, so that it is open here.
        let Ok((answers, written)) = self.slot.read(|database| Ok(write(database, jobs))) else {
            return;
        };
        let written = written.map_err(|err| self.note(err));
        for answer in answers {
            answer(written.clone());
        }
    }

    /// Waits until the database has caught up, and opens it again if that is what it needs.
    fn make_ready(&mut self) -> Result<()> {
        while self.condition == Condition::Sound && self.slot.read(|it| Ok(it.is_behind()))? {
            thread::sleep(PATIENCE);
        }
        match self.condition {
            Condition::Sound if self.slot.read(|it| Ok(it.takes_writes()))? => Ok(()),
            Condition::Sound | Condition::Stuck => {
                tracing::warn!("the storage takes no more writes and is opened again");
                self.reopen()
            }
            Condition::Broken => Err(Error::new(
                ErrorKind::Unavailable,
                "the storage's disk failed; the storage takes no more writes until it is restarted",
            )),
        }
    }

    fn reopen(&mut self) -> Result<()> {
        self.condition = Condition::Stuck;
        self.slot.reopen()?;
        self.condition = Condition::Sound;
        Ok(())
    }

    /// Gives back the room of what was deleted, and says whether so many bytes now have some.
    fn make_room(&mut self, size: u64) -> bool {
        if !self.has_deleted {
            return false;
        }
        self.has_deleted = false;
        if let Err(err) = self.reclaim() {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(error, "the room of deleted objects could not be reclaimed");
        }
        self.has_room(size)
    }

    fn reclaim(&mut self) -> Result<()> {
        self.make_ready()?;
        self.slot.read(|database| Ok(database.reclaim()?))?;
        self.reopen()
    }

    /// Whether so many bytes leave the headroom free. Who cannot tell tries.
    fn has_room(&self, size: u64) -> bool {
        self.slot.room().map_or(true, |room| room >= size.saturating_add(HEADROOM))
    }

    /// Remembers what a failure does to the database.
    fn note(&mut self, err: fjall::Error) -> Error {
        let is_poisoned = matches!(err, fjall::Error::Poisoned);
        let err = Error::from(err);
        let is_harmless = is_poisoned || err.kind() == ErrorKind::Full;
        self.condition = if is_harmless { Condition::Stuck } else { Condition::Broken };
        tracing::error!(error = &err as &dyn std::error::Error, "a write failed");
        err
    }
}

fn refuse(jobs: Vec<Job>, err: &Error) {
    for job in jobs {
        (job.stage)(Err(err.clone()))(Ok(()));
    }
}

fn write(database: &Database, jobs: Vec<Job>) -> (Vec<Answer>, fjall::Result<()>) {
    let mut group = Group::new(database);
    let answers = jobs.into_iter().map(|job| (job.stage)(Ok(&mut group))).collect();
    (answers, group.commit())
}

fn full() -> Error {
    Error::new(ErrorKind::Full, "the storage is full")
}

//! The one thread that writes. What waits while it syncs is written and synced together.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::mpsc;

use super::file::File;
use super::job::{Job, job, stopped};
use super::tables::Tables;
use crate::{Error, ErrorKind, Result};

/// How many writes wait at most; whoever comes later waits to wait.
const QUEUE: usize = 256;
/// How many bytes are written together, give or take the last write.
const GROUP: u64 = 4 << 20;
/// What is kept free of new objects, so that objects can still be deleted when the disk is full.
const HEADROOM: u64 = 64 << 20;

type Queue = mpsc::Receiver<Box<dyn Job>>;

/// Takes writes one by one, in an order that all agree on.
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(file: Arc<File>) -> Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let desk = Desk { connection: file.connect()?, file };
        let thread = thread::Builder::new()
            .name("storage-writer".to_owned())
            .spawn(move || desk.work(queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Does `work` in a transaction, and gives its answer when that is durable.
    ///
    /// Once it waits in the queue it is done, whether or not the caller still waits for it.
    pub(super) async fn write<T, F>(&self, size: u64, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tables<'_>) -> Result<T> + Send + 'static,
    {
        let (job, answer) = job(size, work);
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

/// Where the thread works.
struct Desk {
    connection: Connection,
    file: Arc<File>,
}

impl Desk {
    fn work(mut self, mut queue: Queue) {
        while let Some(first) = queue.blocking_recv() {
            let mut group = Group { jobs: Vec::new(), size: 0, room: self.room() };
            let written = self.write(&mut group, first, &mut queue);
            if let Err(err) = &written {
                tracing::error!(error = err as &dyn std::error::Error, "a write failed");
            }
            for job in group.jobs {
                job.answer(written.clone());
            }
        }
    }

    /// Writes what waits, and syncs it. All of it is there afterwards or nothing.
    fn write(&mut self, group: &mut Group, first: Box<dyn Job>, queue: &mut Queue) -> Result<()> {
        let behavior = TransactionBehavior::Immediate;
        let begun = self.connection.transaction_with_behavior(behavior);
        // More have come while another process was waited for; and if that was in vain, they need
        // not wait as well.
        let waiting = std::iter::once(first).chain(std::iter::from_fn(|| queue.try_recv().ok()));
        let transaction = match begun {
            Ok(transaction) => transaction,
            Err(err) => {
                group.jobs.extend(waiting);
                return Err(err.into());
            }
        };
        for job in waiting {
            group.stage(job, &Tables(&transaction))?;
            if group.size >= GROUP {
                break;
            }
        }
        Ok(transaction.commit()?)
    }

    /// How much may be written: on the disk, and where deleted objects were. Who cannot tell tries.
    fn room(&self) -> u64 {
        let disk = self.file.room().unwrap_or(u64::MAX).saturating_sub(HEADROOM);
        disk.saturating_add(Tables(&self.connection).room().unwrap_or(u64::MAX))
    }
}

/// What is written together.
struct Group {
    jobs: Vec<Box<dyn Job>>,
    size: u64,
    room: u64,
}

impl Group {
    /// Adds a job, unless there is no room for it. After an error nothing of the group is written.
    fn stage(&mut self, mut job: Box<dyn Job>, tables: &Tables<'_>) -> Result<()> {
        let size = self.size.saturating_add(job.size());
        if job.size() > 0 && size > self.room {
            job.answer(Err(Error::new(ErrorKind::Full, "the storage is full")));
            return Ok(());
        }
        self.size = size;
        let staged = job.stage(tables);
        self.jobs.push(job);
        staged
    }
}

//! Those who read, each with a connection of its own.

use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::file::File;
use super::job::stopped;
use super::tables::Tables;
use crate::{Result, blocking};

/// How many read at once. Most of what they read is in the kernel's memory.
const READERS: usize = 4;

/// Connections that read, opened when they are first needed.
pub(super) struct Readers {
    file: Arc<File>,
    idle: Mutex<Vec<Connection>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn of(file: Arc<File>) -> Self {
        Self { file, idle: Mutex::default(), turns: Arc::new(Semaphore::new(READERS)) }
    }

    /// Reads the tables as they are at one moment.
    pub(super) async fn read<T, F>(self: &Arc<Self>, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tables<'_>) -> Result<T> + Send + 'static,
    {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| stopped())?;
        let readers = Arc::clone(self);
        blocking::run(move || {
            let outcome = readers.read_at_once(work);
            drop(turn);
            outcome
        })
        .await
    }

    fn read_at_once<T>(&self, work: impl FnOnce(&Tables<'_>) -> Result<T>) -> Result<T> {
        let idle = self.idle.lock().pop();
        let mut connection = idle.map_or_else(|| self.file.connect_to_read(), Ok)?;
        let transaction = connection.transaction()?;
        let outcome = work(&Tables(&transaction));
        drop(transaction);
        self.idle.lock().push(connection);
        outcome
    }
}

//! Where the database is open, or for a moment is not: a full disk may force it to be opened again.

use std::path::Path;

use parking_lot::RwLock;

use super::database::Database;
use super::journal;
use super::place::Place;
use crate::{Error, ErrorKind, Result};

/// A database in its place. Reads share it; opening it again waits for them.
pub(super) struct Slot(RwLock<State>);

struct State {
    database: Option<Database>,
    // Released last, when nothing touches the directory any more.
    place: Option<Place>,
}

impl Slot {
    /// Takes the directory and opens the database in it.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let place = Place::claim(dir)?;
        let database = open_database(&place)?;
        Ok(Self(RwLock::new(State { database: Some(database), place: Some(place) })))
    }

    /// Does something with the database.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        match &self.0.read().database {
            Some(database) => work(database),
            None => Err(closed()),
        }
    }

    /// How many bytes can still be written.
    pub(super) fn room(&self) -> Result<u64> {
        self.0.read().place.as_ref().ok_or_else(closed)?.room()
    }

    /// Closes the database and opens it anew, as a restart would.
    pub(super) fn reopen(&self) -> Result<()> {
        let mut state = self.0.write();
        state.database = None;
        let database = open_database(state.place.as_ref().ok_or_else(closed)?)?;
        state.database = Some(database);
        Ok(())
    }

    /// Closes the database and leaves the directory to others.
    pub(super) fn close(&self) {
        let mut state = self.0.write();
        state.database = None;
        state.place = None;
    }
}

fn open_database(place: &Place) -> Result<Database> {
    let dir = place.database(|new| {
        // Closed again, because it is about to be renamed.
        drop(Database::open(new)?);
        Ok(())
    })?;
    match Database::open(&dir) {
        Err(fjall::Error::JournalRecovery(_)) if journal::cut_torn(&dir)? => {
            Ok(Database::open(&dir)?)
        }
        opened => Ok(opened?),
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "the storage is closed")
}

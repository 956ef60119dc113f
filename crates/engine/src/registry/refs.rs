//! The refs that sandboxes leave in a store.

use bytes::Bytes;
use storage::{Expected, Ref, RefKey, Swap, Token};

use super::Registry;
use super::record::Record;
use crate::virtual_fs::{damaged, doubtful, meaning};
use crate::{Error, ErrorKind, Result, SandboxId, UnixTime};

pub(super) const SANDBOXES: &str = "sandboxes/";
pub(super) const EXPIRY: &str = "expiry/";
/// How many refs are read at a time.
pub(super) const AT_ONCE: usize = 256;
/// How often a change is tried that others keep outrunning.
const TRIES: u32 = 64;

impl Registry {
    pub(super) fn storage(&self) -> &dyn storage::Storage {
        &**self.shared.store.shelf.cache.storage()
    }

    /// What is written down of a sandbox.
    pub(super) async fn load(&self, id: &SandboxId) -> Result<Option<(Record, Token)>> {
        let stored = self.storage().load(&record_key(id)?).await.map_err(meaning)?;
        stored.map(|stored| read(&stored)).transpose()
    }

    /// Writes a record down, if what is there is as expected; its token if that was so.
    pub(super) async fn put(
        &self,
        id: &SandboxId,
        expected: &Expected,
        record: &Record,
    ) -> Result<Option<Token>> {
        let value = Bytes::from(record.encode());
        let swap = self.storage().swap(&record_key(id)?, expected, value.clone()).await;
        match swap.map_err(doubtful)? {
            Swap::Won(token) => Ok(Some(token)),
            // The answer may have got lost.
            Swap::Lost(there) => Ok(there.filter(|there| there.value == value).map(|it| it.token)),
        }
    }

    /// Changes a record as it is now; gives what it became. Makes one of `missing` where there is
    /// none.
    pub(super) async fn alter(
        &self,
        id: &SandboxId,
        missing: Option<Record>,
        change: impl Fn(&mut Record) -> Result<()>,
    ) -> Result<Record> {
        let key = record_key(id)?;
        let mut there = self.storage().load(&key).await.map_err(meaning)?;
        for _ in 0..TRIES {
            let (mut record, expected) = match &there {
                Some(stored) => {
                    let (record, token) = read(stored)?;
                    (record, Expected::Token(token))
                }
                None => (missing.clone().ok_or_else(|| super::missing(id))?, Expected::Absent),
            };
            change(&mut record)?;
            let value = Bytes::from(record.encode());
            match self.storage().swap(&key, &expected, value).await.map_err(doubtful)? {
                Swap::Won(_) => return Ok(record),
                Swap::Lost(now) => there = now,
            }
        }
        Err(Error::new(ErrorKind::Busy, "the sandbox is changed all the time"))
    }

    /// Forgets what is written down, if it still is this.
    pub(super) async fn forget(&self, id: &SandboxId, token: &Token) -> Result<bool> {
        self.storage().delete_ref(&record_key(id)?, token).await.map_err(doubtful)
    }

    /// Remembers when a sandbox ends.
    pub(super) async fn note_end(&self, id: &SandboxId, end: UnixTime) -> Result<()> {
        let swap = self.storage().swap(&end_key(id, end)?, &Expected::Absent, Bytes::new()).await;
        swap.map(drop).map_err(meaning)
    }
}

pub(super) fn read(stored: &Ref) -> Result<(Record, Token)> {
    let record = Record::decode(&stored.value).map_err(|err| damaged(err.0))?;
    Ok((record, stored.token.clone()))
}

pub(super) fn record_key(id: &SandboxId) -> Result<RefKey> {
    RefKey::new(&format!("{SANDBOXES}{id}/record")).map_err(meaning)
}

/// The moment goes before the id, so that keys are in the order of time.
pub(super) fn end_key(id: &SandboxId, end: UnixTime) -> Result<RefKey> {
    RefKey::new(&format!("{EXPIRY}{:020}/{id}", end.seconds.max(0))).map_err(meaning)
}

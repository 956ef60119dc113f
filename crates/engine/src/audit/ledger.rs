//! Logs in a store. A log is refs `audit/{log}/{number}` without a gap between the first and the last.
//!
//! Whoever stores a batch takes the first number that is free, by a swap that only one can win: so
//! there is one order, whoever writes and whatever his clock says, and nothing ever appears before
//! what a reader has seen. Where a log begins is told by `audit/{log}/-first`, so that two who begin
//! it at once agree. A log that was swept away begins again at the time, which is later than where
//! the old one ended: cursors stay right.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use storage::{Expected, Ref, RefKey, Storage, Swap};
use tokio::time::{Instant, timeout};

use crate::tree::{Input, put_check, put_number};
use crate::virtual_fs::{damaged, doubtful, meaning, now};
use crate::{Error, ErrorKind, Result};

use super::event::AuditLog;
use super::gathered::Batch;

pub(super) const AUDIT: &str = "audit/";
const FORMAT: u8 = 1;
/// How long one request to the store may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// For how long the end of a log is believed. Others write meanwhile, and if they wrote so much that
/// what we take for the end was swept away, we would write before the beginning.
const TRUSTED: Duration = Duration::from_secs(10);
/// How many logs' ends are remembered.
const ENDS: usize = 16_384;
/// How many batches come between two looks for old ones, and how many are looked at.
const TRIMMED: u64 = 32;
/// What a batch takes in memory besides its bytes, about.
const REF: usize = 512;

/// The logs of a store.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) storage: Arc<dyn Storage>,
    /// How many batches of a log stay.
    batches: u64,
    ends: Cache<AuditLog, End>,
    /// What lies in memory, if it does, and how much may.
    in_memory: Option<InMemory>,
}

/// The batches that this process holds in memory, the oldest first.
#[derive(Debug)]
struct InMemory {
    most: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    batches: VecDeque<(AuditLog, u64, usize)>,
    bytes: usize,
}

/// The first number that was free.
#[derive(Clone, Copy, Debug)]
struct End {
    free: u64,
    seen: Instant,
}

impl Ledger {
    /// The logs of a store, of each so many batches, and of all so many bytes if they lie in memory.
    pub(super) fn new(storage: Arc<dyn Storage>, batches: u64, in_memory: Option<usize>) -> Self {
        let in_memory = in_memory.map(|most| InMemory { most, held: Mutex::default() });
        Self { storage, batches, ends: Cache::new(ENDS), in_memory }
    }

    /// Stores a batch behind all others of its log. After an error it may be there or not; whoever
    /// tries again learns which.
    pub(super) async fn append(&self, log: &AuditLog, batch: &mut Batch) -> Result<()> {
        let mut free = match batch.tried {
            Some(tried) if !self.is_swept(log, tried).await? => tried,
            Some(_) | None => self.free(log).await?,
        };
        loop {
            batch.tried = Some(free);
            match self.make(&key(log, free)?, batch.value.clone()).await? {
                Swap::Won(_) => break,
                Swap::Lost(Some(there)) if there.value == batch.value => break,
                Swap::Lost(Some(_)) => free = self.behind(log, free).await?,
                Swap::Lost(None) => {
                    return Err(Error::new(ErrorKind::Busy, "a batch was just removed"));
                }
            }
        }
        self.ends.insert(log.clone(), End { free: free + 1, seen: Instant::now() });
        if free.is_multiple_of(TRIMMED)
            && let Err(err) = self.trim_soon(log, free).await
        {
            tracing::warn!(error = &err as &dyn std::error::Error, "old audit was not removed");
        }
        let surplus = self.in_memory.as_ref().map(|it| it.add(log, free, batch.value.len()));
        for (log, number) in surplus.into_iter().flatten() {
            self.remove_until(&log, number).await?;
        }
        Ok(())
    }

    /// Removes the batches of a log until a number, and that one.
    async fn remove_until(&self, log: &AuditLog, number: u64) -> Result<()> {
        let mut oldest = self.list(log, None, TRIMMED as usize).await?;
        oldest.retain(|(other, _)| *other <= number);
        self.remove(log, &oldest).await
    }

    /// Whether a log begins behind a number.
    async fn is_swept(&self, log: &AuditLog, number: u64) -> Result<bool> {
        let oldest = self.list(log, None, 1).await?;
        Ok(oldest.first().is_some_and(|(oldest, _)| *oldest > number))
    }

    /// The first number that nobody has taken.
    async fn free(&self, log: &AuditLog) -> Result<u64> {
        let end = self.ends.get(log);
        if let Some(end) = end.filter(|end| end.seen.elapsed() < TRUSTED) {
            return Ok(end.free);
        }
        if let Some(last) = end.and_then(|end| end.free.checked_sub(1))
            && self.has(log, last).await?
        {
            return self.behind(log, last).await;
        }
        let oldest = self.list(log, None, 1).await?;
        match oldest.first() {
            Some((number, _)) => self.behind(log, *number).await,
            None => self.begin(log).await,
        }
    }

    /// The first free number behind one that is taken: in strides that double, then in halves.
    async fn behind(&self, log: &AuditLog, taken: u64) -> Result<u64> {
        let (mut taken, mut stride) = (taken, 1);
        while self.has(log, taken + stride).await? {
            taken += stride;
            stride *= 2;
        }
        let mut free = taken + stride;
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2;
            if self.has(log, middle).await? { taken = middle } else { free = middle }
        }
        Ok(free)
    }

    async fn has(&self, log: &AuditLog, number: u64) -> Result<bool> {
        let loaded = timeout(PATIENCE, self.storage.load(&key(log, number)?)).await;
        Ok(loaded.map_err(|_| no_answer())?.map_err(meaning)?.is_some())
    }

    /// Where a log begins that has nothing in it.
    async fn begin(&self, log: &AuditLog) -> Result<u64> {
        let time = now();
        let millis = time.seconds.saturating_mul(1000) + i64::from(time.nanoseconds / 1_000_000);
        let mut value = vec![FORMAT];
        put_number(&mut value, u64::try_from(millis).unwrap_or_default());
        put_check(&mut value);
        let value = Bytes::from(value);
        let agreed = match self.make(&first(log)?, value.clone()).await? {
            Swap::Won(_) | Swap::Lost(None) => value,
            Swap::Lost(Some(there)) => there.value,
        };
        let number = Input::record(&agreed, FORMAT).and_then(|mut input| input.number());
        number.map_err(|err| damaged(err.0))
    }

    async fn make(&self, key: &RefKey, value: Bytes) -> Result<Swap> {
        let swap = timeout(PATIENCE, self.storage.swap(key, &Expected::Absent, value)).await;
        swap.map_err(|_| no_answer())?.map_err(doubtful)
    }

    /// The batches of a log from a number on, or from its beginning.
    pub(super) async fn list(
        &self,
        log: &AuditLog,
        from: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, Ref)>> {
        let after = match from.and_then(|from| from.checked_sub(1)) {
            Some(before) => key(log, before)?,
            None => first(log)?,
        };
        let prefix = format!("{AUDIT}{}/", log.name());
        let listed = timeout(PATIENCE, self.storage.list_refs(&prefix, Some(&after), limit)).await;
        let listed = listed.map_err(|_| no_answer())?.map_err(meaning)?;
        let numbered = listed.into_iter().filter_map(|(key, stored)| {
            let number = key.as_str().strip_prefix(&prefix)?.parse().ok()?;
            Some((number, stored))
        });
        Ok(numbered.collect())
    }

    async fn trim_soon(&self, log: &AuditLog, last: u64) -> Result<()> {
        timeout(PATIENCE, self.trim(log, last)).await.map_err(|_| no_answer())?
    }

    /// Removes what is too far behind the last batch.
    async fn trim(&self, log: &AuditLog, last: u64) -> Result<()> {
        let is_over = |number: u64| number.saturating_add(self.batches) <= last;
        loop {
            let mut oldest = self.list(log, None, TRIMMED as usize).await?;
            let count = oldest.len();
            oldest.retain(|(number, _)| is_over(*number));
            self.remove(log, &oldest).await?;
            if oldest.is_empty() || oldest.len() < count {
                return Ok(());
            }
        }
    }

    /// Removes the first batches of a log.
    pub(super) async fn remove(&self, log: &AuditLog, oldest: &[(u64, Ref)]) -> Result<()> {
        if oldest.is_empty() {
            return Ok(());
        }
        // It goes before the batches do: where nothing is left, a log must not begin there again.
        self.delete(&first(log)?).await?;
        for (number, Ref { token, .. }) in oldest {
            let key = key(log, *number)?;
            self.storage.delete_ref(&key, token).await.map_err(doubtful)?;
        }
        Ok(())
    }

    async fn delete(&self, key: &RefKey) -> Result<()> {
        if let Some(Ref { token, .. }) = self.storage.load(key).await.map_err(meaning)? {
            self.storage.delete_ref(key, &token).await.map_err(doubtful)?;
        }
        Ok(())
    }
}

impl InMemory {
    /// Counts a batch; gives those that must go for it.
    fn add(&self, log: &AuditLog, number: u64, bytes: usize) -> Vec<(AuditLog, u64)> {
        let mut held = self.held.lock();
        let bytes = bytes + REF;
        held.batches.push_back((log.clone(), number, bytes));
        held.bytes += bytes;
        let mut surplus = Vec::new();
        while held.bytes > self.most
            && let Some((log, number, bytes)) = held.batches.pop_front()
        {
            held.bytes -= bytes;
            surplus.push((log, number));
        }
        surplus
    }
}

fn key(log: &AuditLog, number: u64) -> Result<RefKey> {
    RefKey::new(&format!("{AUDIT}{}/{number:016}", log.name())).map_err(meaning)
}

/// Sorts before every number.
fn first(log: &AuditLog) -> Result<RefKey> {
    RefKey::new(&format!("{AUDIT}{}/-first", log.name())).map_err(meaning)
}

fn no_answer() -> Error {
    Error::new(ErrorKind::Unavailable, "the store of the audit does not answer")
}

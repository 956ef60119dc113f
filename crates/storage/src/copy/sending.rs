//! Objects on their way from one store to another.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::{Error, ErrorKind, Listed, Result, Storage};

use super::Amount;

/// How many bytes are under way.
const UNDER_WAY: u64 = 64 << 20;
/// How many bytes are sent at once, unless one object has more.
const BATCH: u64 = 4 << 20;
/// How many objects are sent at once.
const TOGETHER: usize = 128;
/// What bytes are counted in, since there may not be so many permits as bytes.
const UNIT: u64 = 1 << 10;

/// Several batches at once, with a bound on their bytes.
pub(super) struct Sending {
    from: Arc<dyn Storage>,
    to: Arc<dyn Storage>,
    room: Arc<Semaphore>,
    /// Ends with this, so that who stops waiting stops sending.
    under_way: JoinSet<Result<Sent>>,
}

/// What became of a batch.
pub(super) struct Sent {
    pub(super) amount: Amount,
    /// How many objects were gone when they were fetched.
    pub(super) vanished: u64,
}

impl Sending {
    pub(super) fn new(from: &Arc<dyn Storage>, to: &Arc<dyn Storage>) -> Self {
        let room = Arc::new(Semaphore::new(permits(UNDER_WAY) as usize));
        Self { from: Arc::clone(from), to: Arc::clone(to), room, under_way: JoinSet::new() }
    }

    /// Begins to send a batch as soon as there is room; gives what was finished meanwhile.
    pub(super) async fn send(&mut self, batch: Vec<Listed>) -> Result<Vec<Sent>> {
        let bytes = Amount::of(&batch).bytes;
        let room = Arc::clone(&self.room).acquire_many_owned(permits(bytes)).await;
        let room = room.map_err(|err| broke_down().because(err))?;
        let (from, to) = (Arc::clone(&self.from), Arc::clone(&self.to));
        self.under_way.spawn(async move {
            let sent = send(&*from, &*to, batch).await;
            drop(room);
            sent
        });
        let mut finished = Vec::new();
        while let Some(sent) = self.under_way.try_join_next() {
            finished.push(sent.map_err(|err| broke_down().because(err))??);
        }
        Ok(finished)
    }

    /// What was finished next; none when nothing is under way.
    pub(super) async fn next(&mut self) -> Result<Option<Sent>> {
        let sent = self.under_way.join_next().await;
        sent.transpose().map_err(|err| broke_down().because(err))?.transpose()
    }
}

/// The objects in parts that are sent one by one.
pub(super) fn batches(objects: Vec<Listed>) -> impl Iterator<Item = Vec<Listed>> {
    let mut rest = objects.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut batch = vec![rest.next()?];
        let mut bytes = Amount::of(&batch).bytes;
        while let Some(next) = rest.next_if(|next| bytes + next.size <= BATCH) {
            bytes += next.size;
            batch.push(next);
            if batch.len() == TOGETHER {
                break;
            }
        }
        Some(batch)
    })
}

async fn send(from: &dyn Storage, to: &dyn Storage, batch: Vec<Listed>) -> Result<Sent> {
    let keys: Vec<_> = batch.iter().map(|object| object.key).collect();
    let found = keys.iter().copied().zip(from.get_many(&keys).await?);
    let found: Vec<_> = found.filter_map(|(key, stored)| Some((key, stored?))).collect();
    let bytes = found.iter().map(|(_, stored)| stored.len() as u64).sum();
    let amount = Amount { objects: found.len() as u64, bytes };
    let vanished = keys.len() as u64 - amount.objects;
    to.put_many(found).await?;
    Ok(Sent { amount, vanished })
}

/// What so many bytes take of the room. However few they are, there are never many batches.
fn permits(bytes: u64) -> u32 {
    let units = bytes.clamp(BATCH, UNDER_WAY).div_ceil(UNIT);
    u32::try_from(units).unwrap_or(u32::MAX)
}

fn broke_down() -> Error {
    Error::new(ErrorKind::Io, "the copy broke down")
}

//! Taking in a state that was exported.

use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use super::export::at_once;
use super::stream::{Growth, Header, Incoming, Keep, Opened, StateDigest, open};
use super::{Point, SnapshotId};
use crate::tree::{LARGEST_FILE, Source};
use crate::virtual_fs::{Root, State, Trunk, meaning};
use crate::{ByteStream, Error, ErrorKind, Result, blocking};

/// How many snapshots are looked at in one step.
const LISTED: usize = 100;

/// A tree that came as a stream; its objects are in the store.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) root: Root,
    /// What the tree shares with another state is not collected as long as this is held.
    #[expect(dead_code, reason = "it is held, not read")]
    other: Option<Arc<State>>,
}

/// Takes in a stream. The caller has begun to store before, and keeps the tree.
pub(crate) async fn import(trunk: &Arc<Trunk>, stream: ByteStream) -> Result<Imported> {
    let (header, incoming) = Incoming::open(stream).await?;
    check_limits(trunk, &header).await?;
    let other = match header.since {
        Some(since) => Some(find(trunk, since).await?),
        None => None,
    };
    let mut growth = Growth::new(trunk, header, other.clone());
    let blocks = stream::try_unfold(incoming, |mut incoming| async {
        Ok::<_, Error>(incoming.next().await?.map(|block| (block, incoming)))
    });
    let opened = blocks.map(|block| async {
        let (head, payload) = block?;
        let keep = keep(trunk);
        let opened = blocking::run(move || open(&head, &payload, keep)).await?;
        store(trunk, opened).await
    });
    let mut opened = std::pin::pin!(opened.buffered(at_once()));
    while let Some(block) = opened.try_next().await? {
        growth.take(block).await?;
    }
    Ok(Imported { root: growth.finish().await?, other })
}

/// Refuses a tree that is too large before any of it is taken in.
async fn check_limits(trunk: &Trunk, header: &Header) -> Result<()> {
    let sum = &header.sum;
    let fits = |Root { limits, .. }: &Root, _: &dyn Source| {
        limits.check_file_size(sum.largest, LARGEST_FILE)?;
        Ok(limits.check((0, 0), (sum.bytes, sum.nodes().saturating_add(1)))?)
    };
    trunk.judge(fits).await
}

fn keep(trunk: &Trunk) -> Keep {
    if trunk.shelf.is_resident() {
        return Keep::InMemory;
    }
    Keep::AsObjects(trunk.state().root.family)
}

/// Stores the chunks of a block.
async fn store(trunk: &Trunk, mut block: Opened) -> Result<Opened> {
    let objects = std::mem::take(&mut block.objects);
    if !objects.is_empty() {
        trunk.shelf.cache.storage().put_many(objects).await.map_err(meaning)?;
    }
    Ok(block)
}

/// The snapshot that a stream is relative to.
async fn find(trunk: &Trunk, since: StateDigest) -> Result<Arc<State>> {
    let is_it = |root: &Root| StateDigest::of(root) == since;
    let mut after: Option<SnapshotId> = None;
    loop {
        let records = trunk.snapshots().list(after.as_ref(), LISTED).await?;
        let Some((last, _)) = records.last() else { break };
        after = Some(last.clone());
        for (id, _) in records.into_iter().filter(|(_, record)| is_it(&record.root)) {
            // It may have been deleted since, and another one have got its id.
            match trunk.state_to_copy(&Point::Snapshot(id)).await {
                Ok(state) if is_it(&state.root) => return Ok(state),
                Ok(_) => {}
                Err(err) if err.kind() == ErrorKind::NotFound => {}
                Err(err) => return Err(err),
            }
        }
    }
    let message = "the exported snapshot holds only what changed since another one, which this sandbox does not have: import that one first";
    Err(Error::new(ErrorKind::PreconditionFailed, message))
}

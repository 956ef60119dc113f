//! A state of a tree as one stream of bytes.

use std::sync::Arc;
use std::thread::available_parallelism;

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt as _};

use super::stream::{Header, Moved, Plan, StateDigest, Trailer, Walk, pack};
use crate::tree::Directory;
use crate::virtual_fs::{State, Trunk};
use crate::{ByteStream, Error, Result};

/// A state as a stream: whole, or only what `known` does not have. Both are held until it ends.
pub(crate) fn export(
    trunk: Arc<Trunk>,
    state: Arc<State>,
    known: Option<Arc<State>>,
) -> ByteStream {
    let since = known.as_ref().map(|known| StateDigest::of(&known.root));
    let header = Header { clock: state.root.clock, since, sum: state.root.sum() };
    let planning =
        Planning { trunk: Arc::clone(&trunk), state: Arc::clone(&state), known, walk: None };
    let plans = stream::try_unfold(planning, |mut planning| async {
        let plan = planning.next().await?;
        Ok::<_, Error>((!plan.is_empty()).then_some((plan, planning)))
    });
    let blocks = plans.map(move |plan| {
        let (trunk, state) = (Arc::clone(&trunk), Arc::clone(&state));
        async move { pack(&trunk, &state.root.family, plan?).await }
    });
    finished(&header, blocks.buffered(at_once()).boxed())
}

/// How many blocks are worked on at once. A block of text takes five times as long as one of noise,
/// and the cores go on with what follows it. They hold some 7 MiB each.
pub(super) fn at_once() -> usize {
    available_parallelism().map_or(4, |cores| cores.get() + 2).min(8)
}

/// The walk through a tree, block by block.
struct Planning {
    trunk: Arc<Trunk>,
    state: Arc<State>,
    known: Option<Arc<State>>,
    /// None before the first block.
    walk: Option<Walk>,
}

impl Planning {
    /// What the next block holds; nothing at the end.
    async fn next(&mut self) -> Result<Plan> {
        let mut walk = match self.walk.take() {
            Some(walk) => walk,
            None => self.begin().await?,
        };
        let mut plan = Plan::default();
        self.trunk.read(&self.state, |_, source| walk.fill(&mut plan, source)).await?;
        self.walk = Some(walk);
        Ok(plan)
    }

    async fn begin(&self) -> Result<Walk> {
        let tree = &self.state.root.tree;
        let Some(known) = self.known.as_ref().and_then(|known| known.root.tree.directory()) else {
            return Ok(Walk::new(tree, &Directory::default(), Moved::default()));
        };
        let mut moved = Moved::between(known, tree.directory().unwrap_or(&Directory::default()));
        while self.trunk.read(&self.state, |_, source| moved.look(source)).await? {
            tokio::task::yield_now().await;
        }
        Ok(Walk::new(tree, known, moved))
    }
}

/// The whole stream: the header, the blocks, and what proves that they are all there.
fn finished(header: &Header, blocks: BoxStream<'static, Result<Bytes>>) -> ByteStream {
    let header = header.encode();
    let mut hash = blake3::Hasher::new();
    hash.update(&header);
    let rest = Rest { blocks, hash, trailer: Some(Trailer { blocks: 0 }) };
    let rest = stream::try_unfold(rest, |mut rest| async {
        Ok::<_, Error>(rest.next().await?.map(|bytes| (bytes, rest)))
    });
    stream::iter([Ok(header)]).chain(rest).boxed()
}

struct Rest {
    blocks: BoxStream<'static, Result<Bytes>>,
    hash: blake3::Hasher,
    /// What is still to be sent behind the last block.
    trailer: Option<Trailer>,
}

impl Rest {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        match (self.blocks.next().await.transpose()?, &mut self.trailer) {
            (Some(block), Some(trailer)) => {
                trailer.note(&block, &mut self.hash);
                Ok(Some(block))
            }
            (Some(_), None) => Ok(None),
            (None, trailer) => Ok(trailer.take().map(|trailer| trailer.encode(&mut self.hash))),
        }
    }
}

//! The bytes of files on their way out.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt as _};

use crate::tree::{Extent, File, Node, Piece, Source, Stop};
use crate::{ByteStream, Content, Links, Result, SandboxPath, Span};

use super::VirtualFs;
use super::change::{is_a_directory, not_found};
use super::entry::entry;
use super::objects::damaged;
use super::root::Root;
use super::trunk::{State, Trunk};

/// Zeros are given in pieces of this size.
const ZEROS: Bytes = Bytes::from_static(&[0; 64 << 10]);
/// How many chunks are fetched ahead.
const AHEAD: usize = 2;
/// How many from a store that others share, which is far away: else whoever reads would do nothing
/// but wait. A chunk has 256 KiB at most, so that a reader holds 4 MiB at most.
const AHEAD_AFAR: usize = 16;

impl VirtualFs {
    pub(super) async fn read_span(&self, path: &SandboxPath, span: &Span) -> Result<Content> {
        match self.glance(path, |node| at_hand(path, node, span)) {
            Some(seen) => seen,
            None => Box::pin(self.read_resolved(path, span)).await,
        }
    }

    /// A part of a file, whatever it takes to find it.
    async fn read_resolved(&self, path: &SandboxPath, span: &Span) -> Result<Content> {
        let state = self.state().await?;
        let (entry, range, file) = self
            .trunk
            .read(&state, |root, source| {
                let way = self.way(root, path, Links::Follow, source)?;
                let Some(item) = way.item() else {
                    let err = if way.path().is_root() { is_a_directory() } else { not_found() };
                    return Err(Stop::Failed(err));
                };
                let file = item.node.file().ok_or_else(is_a_directory)?;
                let range = span.within(file.len())?;
                Ok((entry(path.clone(), &item.node), range, file.clone()))
            })
            .await?;
        let body = body(Arc::clone(&self.trunk), state, file, range.clone());
        Ok(Content { entry, range, body })
    }
}

/// What is asked of a file, if it is in memory in one piece.
fn at_hand(path: &SandboxPath, node: &Node, span: &Span) -> Option<Result<Content>> {
    let file = node.file()?;
    let range = match span.within(file.len()) {
        Ok(range) => range,
        Err(err) => return Some(Err(err)),
    };
    let part = file.at_hand(&range)?;
    let body = stream::iter((!part.is_empty()).then_some(Ok(part))).boxed();
    Some(Ok(Content { entry: entry(path.clone(), node), range, body }))
}

/// The bytes of a part of a file in a state that stays as it is.
fn body(trunk: Arc<Trunk>, state: Arc<State>, file: File, range: Range<u64>) -> ByteStream {
    if let Some(part) = file.at_hand(&range) {
        return stream::iter((!part.is_empty()).then_some(Ok(part))).boxed();
    }
    let is_afar = trunk.shelf.cache.storage().capabilities().shared;
    let extents = extents(Arc::clone(&trunk), Arc::clone(&state), file, range);
    let pieces = extents.map(move |extent| {
        let (trunk, state) = (Arc::clone(&trunk), Arc::clone(&state));
        async move { bytes(&trunk, &state, &extent?).await }
    });
    pieces.buffered(if is_afar { AHEAD_AFAR } else { AHEAD }).boxed()
}

/// The extents of a part of a file, one after the other; a hole in pieces that are not long.
fn extents(
    trunk: Arc<Trunk>,
    state: Arc<State>,
    file: File,
    range: Range<u64>,
) -> impl futures::Stream<Item = Result<Extent>> + Send {
    stream::try_unfold(range, move |rest| {
        let (trunk, state, file) = (Arc::clone(&trunk), Arc::clone(&state), file.clone());
        async move {
            if rest.start >= rest.end {
                return Ok(None);
            }
            let work = |_: &Root, source: &dyn Source| Ok(file.extent_at(rest.start, source)?);
            let extent = trunk.read(&state, work).await?;
            let most = match extent.as_ref().map(|extent| &extent.piece) {
                Some(Piece::Hole) => ZEROS.len() as u64,
                Some(Piece::Fresh(_) | Piece::Stored(_)) | None => u64::MAX,
            };
            let most = most.min(rest.end - rest.start);
            let part = extent.and_then(|extent| extent.part(0, most));
            Ok(part.map(|part| {
                let rest = rest.start + part.len..rest.end;
                (part, rest)
            }))
        }
    })
}

async fn bytes(trunk: &Trunk, state: &State, extent: &Extent) -> Result<Bytes> {
    let chunk = match &extent.piece {
        Piece::Hole => return Ok(ZEROS.slice(..ZEROS.len().min(extent.len as usize))),
        Piece::Fresh(bytes) => bytes.clone(),
        Piece::Stored(id) => trunk.shelf.cache.chunk(&state.root.family, *id).await?,
    };
    let start = extent.start as usize;
    let end = start.saturating_add(usize::try_from(extent.len).unwrap_or(usize::MAX));
    if end > chunk.len() {
        return Err(damaged("a chunk in the store is too short"));
    }
    Ok(chunk.slice(start..end))
}

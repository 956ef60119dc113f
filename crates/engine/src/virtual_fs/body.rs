//! Bodies on their way in, cut into chunks where their content says so.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use fastcdc::v2020::FastCDC;
use futures::StreamExt as _;
use storage::{ObjectKey, frame};

use crate::tree::{Extent, ObjectKind, Source, Stop};
use crate::{
    ByteStream, Error, ErrorKind, Part, Result, SandboxPath, WriteMode, WriteOptions, blocking,
};

use super::change::{Change, check_file_size};
use super::meaning::meaning;
use super::root::Root;
use super::trunk::Trunk;

/// Content up to this length is one chunk.
pub(crate) const ONE_CHUNK: usize = 64 << 10;
/// The shortest, the usual and the longest chunk of longer content. Which chunks a file has is its
/// own affair, so these may differ from writer to writer without harm.
const CHUNK: (usize, usize, usize) = (16 << 10, 64 << 10, 256 << 10);
/// So much is stored at a time.
const STORED_AT_ONCE: usize = 1 << 20;

/// The pieces of content that is in memory.
pub(crate) fn cut(bytes: Bytes) -> Vec<Extent> {
    let mut cutter = Cutter::default();
    cutter.take(bytes);
    cutter.finish().into_iter().map(Extent::fresh).collect()
}

/// Cuts what comes into chunks. Needs to see more than the longest chunk before it cuts one.
#[derive(Debug, Default)]
pub(crate) struct Cutter {
    pieces: Vec<Bytes>,
    len: usize,
    /// Whether something was cut off already, so that what is left is not the whole.
    begun: bool,
}

impl Cutter {
    pub(crate) fn take(&mut self, piece: Bytes) {
        self.len += piece.len();
        if !piece.is_empty() {
            self.pieces.push(piece);
        }
    }

    /// The chunks that are certain by now.
    pub(crate) fn ready(&mut self) -> Vec<Bytes> {
        let (_, _, longest) = CHUNK;
        if self.len < 2 * longest { Vec::new() } else { self.chunks(longest) }
    }

    /// The rest.
    pub(crate) fn finish(mut self) -> Vec<Bytes> {
        if self.len <= ONE_CHUNK && !self.begun {
            return one_chunk(&self.whole()).into_iter().collect();
        }
        self.chunks(0)
    }

    /// Cuts until no more than `rest` bytes remain.
    fn chunks(&mut self, rest: usize) -> Vec<Bytes> {
        self.begun = true;
        let mut all = self.whole();
        let mut chunks = Vec::new();
        while all.len() > rest {
            let (shortest, usual, longest) = CHUNK;
            let mut cutter = FastCDC::new(&all, shortest, usual, longest);
            let len = cutter.next().map_or(all.len(), |chunk| chunk.length);
            chunks.push(all.split_to(len.clamp(1, all.len())));
        }
        self.take(all);
        chunks
    }

    /// Everything that is held, in one piece.
    fn whole(&mut self) -> Bytes {
        let pieces = std::mem::take(&mut self.pieces);
        let len = std::mem::take(&mut self.len);
        match <[Bytes; 1]>::try_from(pieces) {
            Ok([only]) => only,
            Err(pieces) => {
                let mut whole = BytesMut::with_capacity(len);
                pieces.iter().for_each(|piece| whole.extend_from_slice(piece));
                whole.freeze()
            }
        }
    }
}

/// Content that is taken in, piece by piece: what is large goes to the store at once.
#[derive(Debug)]
pub(crate) struct Intake {
    cutter: Cutter,
    waiting: Vec<Bytes>,
    waiting_bytes: usize,
    extents: Vec<Extent>,
}

impl Intake {
    pub(crate) fn new() -> Self {
        let cutter = Cutter::default();
        Self { cutter, waiting: Vec::new(), waiting_bytes: 0, extents: Vec::new() }
    }

    /// Takes a piece; true when it is time to store what waits.
    pub(crate) fn take(&mut self, piece: Bytes) -> bool {
        self.cutter.take(piece);
        for chunk in self.cutter.ready() {
            self.waiting_bytes += chunk.len();
            self.waiting.push(chunk);
        }
        self.waiting_bytes >= STORED_AT_ONCE
    }

    /// Stores what waits. A tree in memory keeps the bytes as they are.
    pub(crate) async fn store(&mut self, trunk: &Trunk) -> Result<()> {
        self.waiting_bytes = 0;
        let chunks = std::mem::take(&mut self.waiting);
        if trunk.shelf.is_resident() {
            self.extents.extend(chunks.into_iter().map(Extent::fresh));
            return Ok(());
        }
        let family = trunk.state().root.family;
        let sealed: Vec<(ObjectKey, Bytes, u64)> = blocking::run(move || {
            let seal = |chunk: Bytes| {
                let id = family.ids.id(ObjectKind::Chunk, &chunk);
                (family.key(id), frame::seal(&chunk), chunk.len() as u64)
            };
            Ok(chunks.into_iter().map(seal).collect())
        })
        .await?;
        let stored = sealed.iter().map(|(key, _, len)| Extent::stored(key.id, *len));
        self.extents.extend(stored);
        let objects = sealed.into_iter().map(|(key, bytes, _)| (key, bytes)).collect();
        trunk.shelf.cache.storage().put_many(objects).await.map_err(meaning)
    }

    /// All of it. What did not need to be stored before goes with the commit.
    pub(crate) async fn finish(mut self, trunk: &Trunk) -> Result<Vec<Extent>> {
        let rest = std::mem::take(&mut self.cutter).finish();
        if self.extents.is_empty() && rest.len() + self.waiting.len() <= 1 {
            let all = self.waiting.into_iter().chain(rest);
            return Ok(all.map(Extent::fresh).collect());
        }
        self.waiting.extend(rest);
        self.store(trunk).await?;
        Ok(self.extents)
    }
}

/// Takes in a whole body. One that cannot be placed is refused before most of it has come.
pub(super) async fn take_in(
    trunk: &Trunk,
    mut body: ByteStream,
    (floor, file): (&SandboxPath, &SandboxPath),
    options: &WriteOptions,
) -> Result<(Arc<[Extent]>, u64)> {
    check_length(trunk, options.length.unwrap_or_default()).await?;
    let (mut intake, mut total, mut only) = (Intake::new(), 0_u64, None);
    while let Some(piece) = body.next().await.transpose()? {
        total = total.saturating_add(piece.len() as u64);
        check_length(trunk, total).await?;
        if options.length.is_some_and(|length| total > length) {
            return Err(Error::new(ErrorKind::BrokenBody, "the body is longer than declared"));
        }
        // Most bodies are small and come in one piece, which needs no intake.
        if total == piece.len() as u64 && piece.len() <= ONE_CHUNK {
            only = Some(piece);
            continue;
        }
        if let Some(first) = only.take() {
            intake.take(first);
        }
        if intake.take(piece) {
            Box::pin(try_out(trunk, (floor, file), options, total)).await?;
            Box::pin(intake.store(trunk)).await?;
        }
    }
    if options.length.is_some_and(|length| total != length) {
        return Err(Error::new(ErrorKind::BrokenBody, "the body is shorter than declared"));
    }
    let content = match only {
        Some(piece) => one_chunk(&piece).into_iter().map(Extent::fresh).collect(),
        None => Box::pin(intake.finish(trunk)).await?.into(),
    };
    Ok((content, total))
}

/// Content that is one chunk, if it is any: a copy of its own, since what came may be the corner of
/// a large buffer.
fn one_chunk(content: &[u8]) -> Option<Bytes> {
    (!content.is_empty()).then(|| Bytes::copy_from_slice(content))
}

/// Refuses a body that is longer than a file may be.
async fn check_length(trunk: &Trunk, len: u64) -> Result<()> {
    let limits = trunk.state.look().root.limits;
    if check_file_size(&limits, len).is_ok() {
        return Ok(());
    }
    Box::pin(trunk.judge(|root, _| Ok(check_file_size(&root.limits, len)?))).await
}

/// Refuses a write that cannot succeed as things are with the bytes that came so far.
async fn try_out(
    trunk: &Trunk,
    (floor, file): (&SandboxPath, &SandboxPath),
    options: &WriteOptions,
    len: u64,
) -> Result<()> {
    let WriteOptions { mode, parents, ref expected, .. } = *options;
    let without_total = |part| Part { total: None, ..part };
    let mode = match mode {
        WriteMode::Part(part) => WriteMode::Part(without_total(part)),
        WriteMode::CreateNew | WriteMode::Replace | WriteMode::Append => mode,
    };
    // For the limits a hole is as long as what will be there.
    let (file, content, expected) = (file.clone(), Arc::new([Extent::hole(len)]), expected.clone());
    let probe = [Change::Write { file, content, mode, parents, expected }.within(floor)];
    trunk.judge(|root, source| trunk.next(root, &probe, source).map(drop)).await
}

impl Trunk {
    /// Refuses what cannot be done as things are. Others may have changed them since this server
    /// looked, however long ago that was, so that a refusal is only given by what the store has
    /// now.
    pub(crate) async fn judge(
        &self,
        check: impl Fn(&Root, &dyn Source) -> Result<(), Stop>,
    ) -> Result<()> {
        if self.read(&self.state(), &check).await.is_ok() {
            return Ok(());
        }
        self.refresh().await?;
        self.read(&self.state(), &check).await
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Content that can be cut anywhere.
    fn noise(len: usize, seed: u64) -> Vec<u8> {
        let mut state = seed | 1;
        let words = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        });
        let mut bytes = words.take(len / 8 + 1).collect::<Vec<_>>().into_flattened();
        bytes.truncate(len);
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn the_chunks_of_content_do_not_depend_on_the_pieces_in_which_it_came(
            // Zeros are cut as late as can be, so that little may be left behind them.
            zeros in prop_oneof![Just(0), Just(512 << 10), 0..600_000_usize],
            rest in prop_oneof![0..70_000_usize, 0..500_000_usize],
            seed in any::<u64>(),
            pieces in vec(1..400_000_usize, 1..6),
        ) {
            let content = [vec![0; zeros], noise(rest, seed)].concat();
            let (mut cutter, mut chunks, mut at) = (Cutter::default(), Vec::new(), 0);
            for piece in pieces.iter().cycle() {
                let end = content.len().min(at + piece);
                cutter.take(Bytes::copy_from_slice(&content[at..end]));
                chunks.extend(cutter.ready());
                at = end;
                if at == content.len() {
                    break;
                }
            }
            chunks.extend(cutter.finish());
            let mut whole = Cutter::default();
            whole.take(content.clone().into());
            prop_assert!(whole.finish() == chunks, "other chunks");
            prop_assert!(chunks.concat() == content, "other content");
            prop_assert!(chunks.iter().all(|chunk| chunk.len() <= 256 << 10));
        }
    }

    #[test]
    fn content_up_to_64_kib_is_one_chunk() {
        assert!(cut(Bytes::new()).is_empty());
        assert_eq!(cut(noise(64 << 10, 1).into()).len(), 1);
        assert!(cut(noise(512 << 10, 1).into()).len() > 2);
    }
}

//! Blocks made and taken apart. The work of one needs nothing of the others.

use std::cell::RefCell;
use std::collections::HashMap;

use bytes::Bytes;
use storage::{ObjectId, ObjectKey, frame};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::find_frame_compressed_size;

use super::head::{BlockHead, Codec, HEAD};
use super::record::{Reader, Record, Writer};
use super::{MOST_RATIO, broken};
use crate::tree::{Damaged, Extent, Input, Item, ObjectKind, Piece};
use crate::virtual_fs::{Family, Trunk, damaged, meaning};
use crate::{Result, blocking};

/// A block is full when it has so much content or so many bytes of records.
const FULL: (usize, usize) = (2 << 20, 64 << 10);
/// The first level is four times as fast as the third and saves nearly as much.
const LEVEL: i32 = 1;

/// What a block will hold. Content that is stored is fetched when the block is made.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(super) records: Writer,
    content: Vec<Part>,
    content_len: usize,
}

/// Some bytes of content.
#[derive(Debug)]
enum Part {
    Bytes(Bytes),
    Stored { id: ObjectId, start: usize, len: usize },
    Zeros(usize),
}

impl Plan {
    pub(super) fn is_full(&self) -> bool {
        self.content_len >= FULL.0 || self.records.0.len() >= FULL.1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.0.is_empty()
    }

    /// Adds a chunk of these bytes.
    pub(super) fn chunk<'a>(&mut self, extents: impl IntoIterator<Item = &'a Extent>) {
        let before = self.content_len;
        for extent in extents {
            // No extent is longer than a chunk here, nor than a crumb if it is a hole.
            let (start, len) = (extent.start as usize, extent.len as usize);
            self.content_len += len;
            self.content.push(match &extent.piece {
                Piece::Fresh(bytes) => Part::Bytes(bytes.slice(start..start + len)),
                Piece::Stored(id) => Part::Stored { id: *id, start, len },
                Piece::Hole => Part::Zeros(len),
            });
        }
        self.records.chunk((self.content_len - before) as u64);
    }

    /// Adds a file that is all content.
    pub(super) fn small_file(&mut self, item: &Item, bytes: &Bytes) {
        self.records.small_file(item, bytes.len() as u64);
        self.content_len += bytes.len();
        self.content.push(Part::Bytes(bytes.clone()));
    }
}

/// The block of a plan: its head and its payload.
pub(crate) async fn pack(trunk: &Trunk, family: &Family, plan: Plan) -> Result<Bytes> {
    let stored = fetch(trunk, family, &plan).await?;
    let family = *family;
    blocking::run(move || {
        let mut chunks = HashMap::with_capacity(stored.len());
        for (id, sealed) in stored {
            chunks.insert(id, family.open(id, ObjectKind::Chunk, sealed)?);
        }
        packed(&plan, &chunks)
    })
    .await
}

/// The stored chunks that a plan needs, as they are stored.
async fn fetch(
    trunk: &Trunk,
    family: &Family,
    plan: &Plan,
) -> Result<Vec<(ObjectId, Option<Bytes>)>> {
    let ids = plan.content.iter().filter_map(|part| match part {
        Part::Stored { id, .. } => Some(*id),
        Part::Bytes(_) | Part::Zeros(_) => None,
    });
    let mut ids: Vec<ObjectId> = ids.collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    ids.sort_unstable();
    ids.dedup();
    let keys: Vec<ObjectKey> = ids.iter().map(|id| family.key(*id)).collect();
    let sealed = trunk.shelf.cache.storage().get_many(&keys).await.map_err(meaning)?;
    Ok(ids.into_iter().zip(sealed).collect())
}

fn packed(plan: &Plan, chunks: &HashMap<ObjectId, Bytes>) -> Result<Bytes> {
    PLAIN.with_borrow_mut(|plain| {
        plain.clear();
        plain.reserve_exact(plan.records.0.len() + plan.content_len);
        plain.extend_from_slice(&plan.records.0);
        for part in &plan.content {
            match part {
                Part::Bytes(bytes) => plain.extend_from_slice(bytes),
                Part::Zeros(len) => plain.resize(plain.len() + len, 0),
                Part::Stored { id, start, len } => {
                    let chunk = chunks.get(id).and_then(|chunk| chunk.get(*start..start + len));
                    let chunk =
                        chunk.ok_or_else(|| damaged("a chunk in the store is too short"))?;
                    plain.extend_from_slice(chunk);
                }
            }
        }
        Ok(sealed(plain, plan.records.0.len()))
    })
}

thread_local! {
    // Fresh memory costs the kernel more than filling it costs us.
    static PLAIN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    // Making the tables anew costs more than some blocks.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> =
        RefCell::new(Compressor::new(LEVEL).ok());
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> =
        RefCell::new(Decompressor::new().ok());
}

/// A head and its payload: compressed if that saves at least a tenth, and not too much.
fn sealed(plain: &[u8], records: usize) -> Bytes {
    let mut block = Vec::with_capacity(HEAD + plain.len() / 10 * 9);
    block.resize(HEAD, 0);
    let codec = match compress(plain, &mut block) {
        Some(len) if records <= MOST_RATIO * len => Codec::Zstd,
        Some(_) | None => {
            block.truncate(HEAD);
            block.reserve_exact(plain.len());
            block.extend_from_slice(plain);
            Codec::Raw
        }
    };
    let content = plain.len() - records;
    let payload = block.len() - HEAD;
    let digest = blake3::hash(block.get(HEAD..).unwrap_or_default());
    let head = BlockHead { codec, records, content, payload, digest }.encode();
    if let Some(place) = block.first_chunk_mut() {
        *place = head;
    }
    block.into()
}

/// Adds the compressed bytes, if they fit where there is room; gives how many they are.
fn compress(plain: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    COMPRESSOR.with_borrow_mut(|compressor| {
        let mut rest = std::io::Cursor::new(&mut *out);
        rest.set_position(HEAD as u64);
        compressor.as_mut()?.compress_to_buffer(plain, &mut rest).ok()
    })
}

/// What is done with chunks that come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keep {
    /// They stay in memory.
    InMemory,
    /// They become objects of a family.
    AsObjects(Family),
}

/// A block that was taken apart.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(super) records: Vec<Record>,
    /// Objects that must be stored before the records mean anything.
    pub(crate) objects: Vec<(ObjectKey, Bytes)>,
}

/// Takes a block apart, whatever its bytes are.
pub(crate) fn open(head: &BlockHead, payload: &Bytes, keep: Keep) -> Result<Opened> {
    if blake3::hash(payload) != head.digest {
        return Err(broken(Damaged("a block is not what was written")));
    }
    match head.codec {
        Codec::Raw => parse(head, payload, keep),
        Codec::Zstd => PLAIN.with_borrow_mut(|plain| {
            decompress(payload, head.plain(), plain)?;
            parse(head, plain, keep)
        }),
    }
}

fn decompress(payload: &[u8], len: usize, plain: &mut Vec<u8>) -> Result<()> {
    let cannot = || broken(Damaged("a block cannot be decompressed"));
    // Frames that follow the first would be decompressed too, even such that hold nothing.
    if find_frame_compressed_size(payload).ok() != Some(payload.len()) {
        return Err(cannot());
    }
    plain.clear();
    plain.reserve_exact(len);
    let done = DECOMPRESSOR.with_borrow_mut(|zstd| {
        zstd.as_mut().map(|zstd| zstd.decompress_to_buffer(payload, plain))
    });
    match done {
        Some(Ok(done)) if done == len => Ok(()),
        Some(Ok(_)) | None => Err(cannot()),
        Some(Err(err)) => Err(cannot().because(err)),
    }
}

fn parse(head: &BlockHead, plain: &[u8], keep: Keep) -> Result<Opened> {
    let cut = || broken(Damaged("a block is shorter than it says"));
    let (records, content) = plain.split_at_checked(head.records).ok_or_else(cut)?;
    let records = Input(Bytes::copy_from_slice(records));
    let mut objects = Vec::new();
    let chunk = |content: &[u8]| match keep {
        // A copy of its own, so that a small chunk does not keep a whole block alive.
        Keep::InMemory => Extent::fresh(Bytes::copy_from_slice(content)),
        Keep::AsObjects(family) => {
            let id = family.ids.id(ObjectKind::Chunk, content);
            objects.push((family.key(id), frame::seal(content)));
            Extent::stored(id, content.len() as u64)
        }
    };
    let records = Reader { records, content, chunk }.all().map_err(broken)?;
    Ok(Opened { records, objects })
}

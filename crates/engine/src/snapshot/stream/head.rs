//! The header, the heads of blocks and the trailer.

use bytes::{BufMut as _, Bytes};

use super::{LARGEST_BLOCK, MOST_RATIO, MOST_RECORDS, broken};
use crate::tree::{DEEPEST, Damaged, Input, MOST, Sum};
use crate::virtual_fs::Root;
use crate::{Error, ErrorKind, Result};

const MAGIC: [u8; 8] = *b"\x89SKEX\r\n\x1a";
const FORMAT: u16 = 1;
const SINCE: u8 = 1;
const BLOCK: u8 = 1;
const END: u8 = 2;
const RAW: u8 = 0;
const ZSTD: u8 = 1;
/// No commit has a later time; there is room for as many commits again behind it.
const LATEST: u64 = u64::MAX / 2;

/// What a stream begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// When the state was committed, which no other state of a sandbox shares.
    pub(crate) clock: u64,
    /// The state that the stream is relative to.
    pub(crate) since: Option<StateDigest>,
    /// What the whole tree adds up to.
    pub(crate) sum: Sum,
}

/// The name of a state, the same wherever it was imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateDigest([u8; 32]);

impl StateDigest {
    pub(crate) fn of(root: &Root) -> Self {
        let tree = &root.tree;
        let mut named = Vec::with_capacity(96);
        named.put_u64_le(root.clock);
        named.put_u16_le(tree.mode);
        for time in [tree.created, tree.modified] {
            named.put_i64_le(time.seconds);
            named.put_u32_le(time.nanoseconds);
        }
        put_sum(&mut named, &root.sum());
        Self(blake3::derive_key("sandkeep 1 exported state", &named))
    }
}

impl Header {
    /// How many bytes say which format it is.
    pub(crate) const FORMAT_LEN: usize = 10;
    /// How many bytes follow in this one.
    pub(crate) const REST_LEN: usize = 134;

    pub(crate) fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(Self::FORMAT_LEN + Self::REST_LEN);
        out.extend_from_slice(&MAGIC);
        out.put_u16_le(FORMAT);
        out.put_u8(if self.since.is_some() { SINCE } else { 0 });
        out.extend_from_slice(&[0; 5]);
        out.put_u64_le(self.clock);
        out.extend_from_slice(&self.since.map_or([0; 32], |digest| digest.0));
        put_sum(&mut out, &self.sum);
        let check = blake3::hash(&out);
        out.extend_from_slice(check.as_bytes());
        out.into()
    }

    /// Refuses what is no stream, or one of a format that is not known.
    pub(crate) fn check_format(start: &[u8]) -> Result<()> {
        let (magic, format) = start.split_at(start.len().min(MAGIC.len()));
        if magic != MAGIC {
            return Err(Error::new(ErrorKind::BadArchive, "this is not an exported snapshot"));
        }
        match <[u8; 2]>::try_from(format).map(u16::from_le_bytes) {
            Ok(FORMAT) => Ok(()),
            Ok(other) => {
                let message = format!(
                    "the exported snapshot has format {other}, and only format {FORMAT} is known here"
                );
                Err(Error::new(ErrorKind::BadArchive, message))
            }
            Err(_) => Err(broken(Damaged("it is cut off"))),
        }
    }

    /// The header of which these are the two parts; the first was checked.
    pub(crate) fn decode(start: &[u8], rest: &Bytes) -> Result<Self, Damaged> {
        let (said, check) = rest.split_last_chunk().ok_or(Damaged("it is cut off"))?;
        let hash = blake3::Hasher::new().update(start).update(said).finalize();
        if hash != blake3::Hash::from_bytes(*check) {
            return Err(Damaged("its header is not what was written"));
        }
        let mut input = Input(rest.clone());
        let (flags, zeros) = (input.byte()?, input.array::<5>()?);
        let (clock, since) = (input.fixed_u64()?, input.array()?);
        let sum = sum(&mut input)?;
        let since = match flags {
            0 if since == [0; 32] => None,
            SINCE => Some(StateDigest(since)),
            _ => return Err(Damaged("its flags cannot be")),
        };
        if zeros != [0; 5] || clock > LATEST {
            return Err(Damaged("its header cannot be"));
        }
        Ok(Self { clock, since, sum })
    }
}

fn put_sum(out: &mut Vec<u8>, sum: &Sum) {
    let Sum { names, bytes, files, directories, links, depth, largest } = *sum;
    for number in [names, bytes, files, directories, links, depth, largest] {
        out.put_u64_le(number);
    }
}

fn sum(input: &mut Input) -> Result<Sum, Damaged> {
    let sum = Sum {
        names: input.fixed_u64()?,
        bytes: input.fixed_u64()?,
        files: input.fixed_u64()?,
        directories: input.fixed_u64()?,
        links: input.fixed_u64()?,
        depth: input.fixed_u64()?,
        largest: input.fixed_u64()?,
    };
    let possible = sum.bytes.max(sum.nodes()) <= MOST
        && sum.depth <= DEEPEST
        && sum.names <= sum.nodes()
        && sum.largest <= sum.bytes;
    if possible { Ok(sum) } else { Err(Damaged("its sums cannot be")) }
}

/// What stands before the payload of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockHead {
    pub(super) codec: Codec,
    pub(super) records: usize,
    pub(super) content: usize,
    pub(super) payload: usize,
    pub(super) digest: blake3::Hash,
}

/// How a payload is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    Raw,
    Zstd,
}

/// What a stream ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) blocks: u64,
}

/// What follows a block.
#[derive(Debug)]
pub(super) enum Next {
    Block(BlockHead),
    End(Trailer, blake3::Hash),
}

/// How long the head of a block is, and the trailer.
pub(super) const HEAD: usize = 48;

impl BlockHead {
    pub(super) fn encode(&self) -> [u8; HEAD] {
        let mut out = Vec::with_capacity(HEAD);
        let codec = match self.codec {
            Codec::Raw => RAW,
            Codec::Zstd => ZSTD,
        };
        out.extend_from_slice(&[BLOCK, codec, 0, 0]);
        for len in [self.records, self.content, self.payload] {
            out.put_u32_le(u32::try_from(len).unwrap_or(u32::MAX));
        }
        out.extend_from_slice(self.digest.as_bytes());
        out.try_into().unwrap_or([0; HEAD])
    }

    pub(super) fn plain(&self) -> usize {
        self.records.saturating_add(self.content)
    }

    /// Refuses lengths that no writer makes, before anything is held for them.
    fn check(self) -> Result<Self, Damaged> {
        let possible = (1..=MOST_RECORDS).contains(&self.records)
            && self.plain() <= LARGEST_BLOCK
            && match self.codec {
                Codec::Raw => self.payload == self.plain(),
                Codec::Zstd => {
                    self.payload < self.plain() && self.records <= MOST_RATIO * self.payload
                }
            };
        if possible { Ok(self) } else { Err(Damaged("the lengths of a block cannot be")) }
    }
}

impl Trailer {
    /// Notes a block that precedes the trailer.
    pub(crate) fn note(&mut self, block: &[u8], hash: &mut blake3::Hasher) {
        self.blocks += 1;
        hash.update(block.get(..HEAD).unwrap_or_default());
    }

    /// The bytes of the trailer behind everything that `hash` has seen.
    pub(crate) fn encode(&self, hash: &mut blake3::Hasher) -> Bytes {
        let mut out = Vec::with_capacity(HEAD);
        out.extend_from_slice(&[END, 0, 0, 0, 0, 0, 0, 0]);
        out.put_u64_le(self.blocks);
        let digest = hash.update(&out).finalize();
        out.extend_from_slice(digest.as_bytes());
        out.into()
    }
}

impl Next {
    pub(super) fn decode(head: &Bytes) -> Result<Self, Damaged> {
        let mut input = Input(head.clone());
        match input.byte()? {
            BLOCK => {
                let codec = match (input.byte()?, input.array()?) {
                    (RAW, [0, 0]) => Codec::Raw,
                    (ZSTD, [0, 0]) => Codec::Zstd,
                    _ => return Err(Damaged("a block is of an unknown kind")),
                };
                let mut len = || input.fixed_u32().map(|len| len as usize);
                let (records, content, payload) = (len()?, len()?, len()?);
                let digest = blake3::Hash::from_bytes(input.array()?);
                BlockHead { codec, records, content, payload, digest }.check().map(Self::Block)
            }
            END if input.array()? == [0; 7] => {
                let trailer = Trailer { blocks: input.fixed_u64()? };
                Ok(Self::End(trailer, blake3::Hash::from_bytes(input.array()?)))
            }
            _ => Err(Damaged("a block is of an unknown kind")),
        }
    }
}

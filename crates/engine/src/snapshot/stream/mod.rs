//! The bytes of an exported state. The format is permanent: docs/decisions/0005 has it byte by byte.
//!
//! - `head`: the header, the heads of blocks and the trailer
//! - `record`: what the blocks say
//! - `block`: blocks made and taken apart, on any thread
//! - `incoming`: the blocks of a stream that comes
//! - `walk`: a tree as records; `pieces`, `counterpart` and `moved` know what is new in it
//! - `growth`: records as a tree

mod block;
mod counterpart;
mod growth;
mod head;
mod incoming;
mod moved;
mod pieces;
mod recent;
mod record;
mod walk;

pub(super) use block::{Keep, Opened, Plan, open, pack};
pub(super) use growth::Growth;
pub(super) use head::{Header, StateDigest, Trailer};
pub(super) use incoming::Incoming;
pub(super) use moved::Moved;
pub(super) use walk::Walk;

use crate::tree::Damaged;
use crate::{Error, ErrorKind};

/// Records and content of one block.
const LARGEST_BLOCK: usize = 4 << 20;
/// Records of one block.
const MOST_RECORDS: usize = 128 << 10;
/// How many times longer than their payload records may be.
const MOST_RATIO: usize = 32;
/// The longest chunk.
const LONGEST_CHUNK: u64 = 256 << 10;
/// Of two pieces that follow each other one is at least so long.
const CRUMB: u64 = 4 << 10;
/// How many chunks back a repeat may lie.
const CHUNKS_BACK: usize = 128 << 10;
/// How many directories back a like one may lie.
const DIRECTORIES_BACK: usize = 64 << 10;

/// The error for a stream that is not what it must be.
fn broken(what: Damaged) -> Error {
    Error::new(ErrorKind::BadArchive, format!("the exported snapshot is broken: {}", what.0))
}

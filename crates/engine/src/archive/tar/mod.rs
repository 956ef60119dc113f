//! Tar archives, plain or compressed.

mod compressed;
mod member;
mod pack;
mod unpack;

pub(super) use compressed::{check_rest, gunzip, gzip, unzstd, zstd};
pub(super) use pack::frame;
pub(super) use unpack::unpack;

const BLOCK: u64 = 512;

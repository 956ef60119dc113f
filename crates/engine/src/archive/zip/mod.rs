//! Zip archives, in and out, as streams: nothing is read or written twice.
//!
//! An archive is its members, each behind a local header, then a central directory that tells of
//! all members once more, then the end records. Who can seek reads the directory first. We cannot:
//! members are taken as they come, what is told of them is kept as a digest (`ledger`), and the
//! directory must say the same (`directory`). Only there are modes and symbolic links told, so
//! that those are set last. `docs/decisions/0012-archives.md` says what is refused and why.

mod content;
mod descriptor;
mod directory;
mod extra;
mod fields;
mod header;
mod index;
mod ledger;
mod name;
mod pack;
mod source;
mod time;
mod unpack;
mod write;

pub(super) use pack::pack;
pub(super) use unpack::unpack;

const LOCAL: u32 = 0x0403_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The sizes and the checksum stand behind the content.
const HAS_DESCRIPTOR: u16 = 1 << 3;
/// The name is UTF-8.
const IS_UTF_8: u16 = 1 << 11;

/// The extra fields that we know.
const ZIP_64: u16 = 0x0001;
const TIMESTAMP: u16 = 0x5455;
const UNICODE_PATH: u16 = 0x7075;

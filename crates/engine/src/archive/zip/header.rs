//! What is told of a member: before its content, and in the central directory.

use std::io::Read;
use std::path::PathBuf;

use super::super::bad;
use super::super::names::relative;
use super::extra::Extra;
use super::fields::Fields;
use super::source::Source;
use super::{DEFLATED, HAS_DESCRIPTOR, STORED, name, time};
use crate::{Result, UnixTime};

/// Encrypted, patched, strongly encrypted, or with a masked header.
const REFUSED: u16 = 1 | 1 << 5 | 1 << 6 | 1 << 13;
/// The systems whose programs tell a Unix mode: Unix and macOS.
const UNIX: [u16; 2] = [3, 19];
const FILE_TYPE: u32 = 0o170_000;

/// What both tell.
#[derive(Debug)]
pub(super) struct Header {
    /// The name as it is told, so that both can be compared.
    pub(super) name: Vec<u8>,
    /// Relative, without `.` or `..`; empty for the destination itself.
    pub(super) path: PathBuf,
    pub(super) is_directory: bool,
    pub(super) method: u16,
    pub(super) has_descriptor: bool,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
    pub(super) modified: UnixTime,
}

/// What only the central directory tells.
#[derive(Debug)]
pub(super) struct Central {
    pub(super) header: Header,
    /// Where the local header is.
    pub(super) offset: u64,
    pub(super) kind: Option<UnixKind>,
}

/// What a member is on Unix, with its mode.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnixKind {
    /// It is not told what: a file or a directory, as its name says.
    Untold(u32),
    File(u32),
    Directory(u32),
    Symlink,
    Special,
}

impl Header {
    /// Reads a local header behind its signature.
    pub(super) fn local<R: Read>(source: &mut Source<R>) -> Result<Self> {
        let record = source.record(26)?;
        let mut fields = Fields(&record);
        fields.u16()?; // The version that is needed: what we cannot read is told otherwise too.
        let shared = Shared::read(&mut fields)?;
        let (name, extra) = (fields.u16()?, fields.u16()?);
        let name = source.record(usize::from(name))?;
        let extra = source.record(usize::from(extra))?;
        Ok(shared.with(&name, &extra)?.0)
    }
}

impl Central {
    /// Reads an entry of the central directory behind its signature.
    pub(super) fn read<R: Read>(source: &mut Source<R>) -> Result<Self> {
        let record = source.record(42)?;
        let mut fields = Fields(&record);
        let made_by = fields.u16()?;
        fields.u16()?;
        let shared = Shared::read(&mut fields)?;
        let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
        let disk = fields.u16()?;
        fields.u16()?; // Whether it is text.
        let (attributes, offset) = (fields.u32()?, fields.u32()?);
        let name = source.record(usize::from(name))?;
        let extra = source.record(usize::from(extra))?;
        source.record(usize::from(comment))?;
        if disk != 0 {
            return Err(bad("the archive is split"));
        }
        let (header, mut extra) = shared.with(&name, &extra)?;
        let kind = UNIX.contains(&(made_by >> 8)).then(|| UnixKind::of(attributes >> 16));
        Ok(Self { header, offset: extra.large(offset)?, kind })
    }
}

impl UnixKind {
    fn of(mode: u32) -> Self {
        let permissions = mode & 0o777;
        match mode & FILE_TYPE {
            0 => Self::Untold(permissions),
            0o100_000 => Self::File(permissions),
            0o040_000 => Self::Directory(permissions),
            0o120_000 => Self::Symlink,
            _ => Self::Special,
        }
    }
}

/// The fields that stand in both, in the same order.
struct Shared {
    flags: u16,
    method: u16,
    modified: UnixTime,
    crc: u32,
    compressed: u32,
    size: u32,
}

impl Shared {
    fn read(fields: &mut Fields<'_>) -> Result<Self> {
        let (flags, method) = (fields.u16()?, fields.u16()?);
        let (time, date) = (fields.u16()?, fields.u16()?);
        let (crc, compressed, size) = (fields.u32()?, fields.u32()?, fields.u32()?);
        if flags & REFUSED != 0 {
            return Err(bad("a member is encrypted or patched"));
        }
        if ![STORED, DEFLATED].contains(&method) {
            let message =
                format!("a member is compressed by method {method}; only deflate is known");
            return Err(bad(message));
        }
        Ok(Self { flags, method, modified: time::from_dos(date, time), crc, compressed, size })
    }

    fn with<'a>(self, given: &[u8], extra: &'a [u8]) -> Result<(Header, Extra<'a>)> {
        let mut extra = Extra::read(extra)?;
        let Self { flags, method, mut modified, crc, compressed, size } = self;
        // The order is that of the extra field, which is not that of the header.
        let (size, compressed) = (extra.large(size)?, extra.large(compressed)?);
        if let Some(seconds) = extra.modified {
            modified = UnixTime { seconds: i64::from(seconds), nanoseconds: 0 };
        }
        let name = name::decode(given, flags, &extra)?;
        let (path, is_directory) = (relative(&name)?, name.ends_with(b"/"));
        let has_descriptor = flags & HAS_DESCRIPTOR != 0;
        let header = Header {
            name,
            path,
            is_directory,
            method,
            has_descriptor,
            crc,
            compressed,
            size,
            modified,
        };
        Ok((header, extra))
    }
}

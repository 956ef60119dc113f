//! Reads a zip archive member by member.

use std::io::Read;

use flate2::Decompress;

use super::super::bad;
use super::super::members::{Count, Members};
use super::content::{Content, Measured};
use super::header::Header;
use super::ledger::Ledger;
use super::source::Source;
use super::{CENTRAL, END, LOCAL, directory};
use crate::{Error, Result};

/// What members have until the central directory tells their modes.
pub(super) const FILE_MODE: u32 = 0o644;
pub(super) const DIRECTORY_MODE: u32 = 0o755;

/// Hands the members of an archive to `members`; modes and links last.
pub(in crate::archive) fn unpack<'a>(
    archive: impl Read,
    count: &mut Count<'_>,
    members: &mut dyn Members<'a>,
) -> Result<()> {
    let (mut source, mut ledger) = (Source::new(archive), Ledger::default());
    let mut inflate = Decompress::new(false);
    loop {
        let offset = source.position();
        match source.signature()? {
            LOCAL => {
                let mut header = Header::local(&mut source)?;
                let measured = member(&header, &mut source, &mut inflate, count, members)?;
                let Measured { crc, compressed, size } = measured;
                header = Header { crc, compressed, size, ..header };
                ledger.note(offset, &header)?;
            }
            signature @ (CENTRAL | END) => {
                ledger.check_names()?;
                return directory::check(signature, offset, &mut source, &mut ledger, members);
            }
            _ => return Err(bad("this is no zip archive, or a broken one")),
        }
    }
}

/// Takes a member; gives what its content turned out to be.
fn member<'a, R: Read>(
    header: &Header,
    source: &mut Source<R>,
    inflate: &mut Decompress,
    count: &mut Count<'_>,
    members: &mut dyn Members<'a>,
) -> Result<Measured> {
    if header.is_directory {
        take_directory(header, count, members)?;
        let meter = Box::new(|more, _| if more == 0 { Ok(()) } else { Err(filled()) });
        let measured = Content::new(header, source, inflate, meter).finish(header)?;
        return if measured.size == 0 { Ok(measured) } else { Err(filled()) };
    }
    let (path, size) = (&*header.path, header.told_size().unwrap_or_default());
    if path.as_os_str().is_empty() {
        return Err(bad("a member has no name"));
    }
    let place = count.member(path, size)?;
    let room = members.gauge();
    room(size)?;
    let meter = Box::new(move |more, total| count.bytes(more).and_then(|()| room(total)));
    let mut content = Content::new(header, source, inflate, meter);
    let outcome = members.file(path, FILE_MODE, header.modified, &mut content);
    outcome.and_then(|()| content.finish(header)).map_err(|err| err.on(&place))
}

/// The destination itself may be a member, and means nothing.
fn take_directory<'a>(
    header: &Header,
    count: &mut Count<'_>,
    members: &mut dyn Members<'a>,
) -> Result<()> {
    let path = &*header.path;
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let place = count.member(path, 0)?;
    members.gauge()(0)?;
    members.directory(path, DIRECTORY_MODE, header.modified).map_err(|err| err.on(&place))
}

fn filled() -> Error {
    bad("a directory has content")
}

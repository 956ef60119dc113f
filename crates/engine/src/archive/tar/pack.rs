//! Members become a tar archive.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use tar::EntryType;

use super::super::pack::{Member, MemberKind};
use super::BLOCK;
use crate::{ByteStream, Entry, Error, ErrorKind, Result, name};

/// The archive of these members.
pub(in crate::archive) fn frame(members: BoxStream<'static, Result<Member>>) -> ByteStream {
    let end = stream::once(async { Ok(Bytes::from_static(&[0; 2 * BLOCK as usize])) });
    members.and_then(async |member| framed(member)).try_flatten().chain(end).boxed()
}

fn framed(member: Member) -> Result<ByteStream> {
    let Member { name, entry, kind } = member;
    match kind {
        MemberKind::File(size, body) => {
            let head = header(&name, &entry, EntryType::Regular, size, None)?;
            let rest = (BLOCK - size % BLOCK) % BLOCK;
            let padding = Bytes::from_static(&[0; BLOCK as usize]).slice(..rest as usize);
            Ok(stream::iter([Ok(head)]).chain(body).chain(stream::iter([Ok(padding)])).boxed())
        }
        MemberKind::Symlink(target) => {
            let head = header(&name, &entry, EntryType::Symlink, 0, Some(&target))?;
            Ok(stream::iter([Ok(head)]).boxed())
        }
        MemberKind::Directory => {
            let head = header(&name, &entry, EntryType::Directory, 0, None)?;
            Ok(stream::iter([Ok(head)]).boxed())
        }
    }
}

/// A member's header, with whatever extension its name needs.
fn header(
    name: &str,
    entry: &Entry,
    kind: EntryType,
    size: u64,
    target: Option<&[u8]>,
) -> Result<Bytes> {
    let name = name::to_bytes(name);
    let name = Path::new(OsStr::from_bytes(&name));
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(entry.mode.unwrap_or(0o644) & 0o777);
    header.set_mtime(entry.modified.map_or(0, |t| u64::try_from(t.seconds).unwrap_or_default()));
    let mut builder = tar::Builder::new(Vec::new());
    let written = match target {
        Some(target) => {
            builder.append_link(&mut header, name, Path::new(OsStr::from_bytes(target)))
        }
        None => builder.append_data(&mut header, name, std::io::empty()),
    };
    let mut bytes = written
        .and_then(|()| builder.into_inner())
        .map_err(|err| Error::new(ErrorKind::Io, "a header could not be made").because(err))?;
    // The builder closes every archive; ours goes on.
    bytes.truncate(bytes.len().saturating_sub(2 * BLOCK as usize));
    Ok(Bytes::from(bytes))
}

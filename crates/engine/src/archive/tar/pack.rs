//! Members become a tar archive.

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use tar::{EntryType, Header};

use super::super::pack::{Member, MemberKind};
use super::BLOCK;
use crate::{ByteStream, Entry, Result, name};

/// The archive of these members.
pub(in crate::archive) fn frame(members: BoxStream<'static, Result<Member>>) -> ByteStream {
    let end = stream::once(async { Ok(Bytes::from_static(&[0; 2 * BLOCK as usize])) });
    members.map_ok(framed).try_flatten().chain(end).boxed()
}

fn framed(member: Member) -> ByteStream {
    let Member { name, entry, kind } = member;
    let (kind, size, target, body) = match kind {
        MemberKind::Directory => (EntryType::Directory, 0, Vec::new(), None),
        MemberKind::File(size, body) => (EntryType::Regular, size, Vec::new(), Some(body)),
        MemberKind::Symlink(target) => (EntryType::Symlink, 0, target, None),
    };
    let head = head(&name::to_bytes(&name), &target, &entry, kind, size);
    let rest = (BLOCK - size % BLOCK) % BLOCK;
    let padding = Bytes::from_static(&[0; BLOCK as usize]).slice(..rest as usize);
    let body = body.unwrap_or_else(|| stream::empty().boxed());
    stream::iter([Ok(head)]).chain(body).chain(stream::iter([Ok(padding)])).boxed()
}

/// A member's header, behind whatever extension its names need.
///
/// The crate's builder would cut a long name to what of it is UTF-8, and fail where that is nothing.
fn head(name: &[u8], target: &[u8], entry: &Entry, kind: EntryType, size: u64) -> Bytes {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(entry.mode.unwrap_or(0o644) & 0o777);
    header.set_mtime(entry.modified.map_or(0, |t| u64::try_from(t.seconds).unwrap_or_default()));
    let mut head = Vec::new();
    let fields = header.as_old_mut();
    put(name, &mut fields.name, EntryType::GNULongName, &mut head);
    put(target, &mut fields.linkname, EntryType::GNULongLink, &mut head);
    header.set_cksum();
    head.extend_from_slice(header.as_bytes());
    head.into()
}

/// Puts a name into its field; one that is too long for it, into a member of its own.
fn put(name: &[u8], field: &mut [u8; 100], kind: EntryType, head: &mut Vec<u8>) {
    let len = name.len().min(field.len());
    if let (Some(field), Some(start)) = (field.get_mut(..len), name.get(..len)) {
        field.copy_from_slice(start);
    }
    if name.len() > len {
        let mut long = Header::new_gnu();
        let title = b"././@LongLink";
        put(title, &mut long.as_old_mut().name, kind, head);
        long.set_entry_type(kind);
        long.set_mode(0o644);
        long.set_size(name.len() as u64 + 1);
        long.set_cksum();
        head.extend_from_slice(long.as_bytes());
        head.extend_from_slice(name);
        head.push(0);
        head.resize(head.len().next_multiple_of(BLOCK as usize), 0);
    }
}

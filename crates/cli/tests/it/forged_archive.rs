//! Archives byte by byte: the crate's own builder would refuse most of them.

use tar::EntryType;

/// One member, with fields that the format allows and a reader may not trust.
pub(crate) struct Member {
    pub(crate) kind: EntryType,
    pub(crate) name: Vec<u8>,
    pub(crate) link: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) content: Vec<u8>,
}

/// A small file.
pub(crate) fn file(name: &str) -> Member {
    Member { content: b"content".to_vec(), size: 7, ..empty(name) }
}

/// A link of either kind.
pub(crate) fn link(kind: EntryType, name: &str, target: &str) -> Member {
    Member { kind, link: target.as_bytes().to_vec(), ..empty(name) }
}

/// An empty file.
pub(crate) fn empty(name: &str) -> Member {
    let (name, link, content) = (name.as_bytes().to_vec(), Vec::new(), Vec::new());
    Member { kind: EntryType::Regular, name, link, mode: 0o644, size: 0, content }
}

/// The GNU way to give the next member a long name.
pub(crate) fn long_name(name: &[u8]) -> Member {
    let content = [name, b"\0"].concat();
    let size = u64::try_from(content.len()).unwrap();
    Member { kind: EntryType::GNULongName, size, content, ..empty("././@LongLink") }
}

/// A member with a PAX extension.
pub(crate) fn pax(key: &str, value: &str, member: Member) -> [Member; 2] {
    // A record counts its own length, digits and all.
    let rest = key.len() + value.len() + 3;
    let len = (rest + 1..).find(|len| len.to_string().len() + rest == *len).unwrap();
    let content = format!("{len} {key}={value}\n").into_bytes();
    let size = u64::try_from(content.len()).unwrap();
    [Member { kind: EntryType::XHeader, size, content, ..empty("PaxHeaders/x") }, member]
}

/// The archive of these members.
pub(crate) fn tar(members: &[Member]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Member { kind, name, link, mode, size, content } in members {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        header.set_size(*size);
        let fields = header.as_gnu_mut().unwrap();
        let (name, link) = (&name[..name.len().min(99)], &link[..link.len().min(99)]);
        fields.name[..name.len()].copy_from_slice(name);
        fields.linkname[..link.len()].copy_from_slice(link);
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

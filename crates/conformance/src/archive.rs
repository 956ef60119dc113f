//! Tar archives to unpack, good and bad, and what a packed one holds.

use std::io::Read as _;

use engine::ByteStream;
use tar::{EntryType, Header};

use crate::body;
use crate::tree::gather;

/// An archive in the making.
pub(crate) struct Tar(Vec<u8>);

impl Tar {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a file.
    pub(crate) fn file(self, name: &str, content: &str) -> Self {
        self.member(header(EntryType::Regular), name, "", content)
    }

    /// Adds a directory.
    pub(crate) fn directory(self, name: &str) -> Self {
        self.member(header(EntryType::Directory), name, "", "")
    }

    /// Adds a symbolic link.
    pub(crate) fn symlink(self, name: &str, target: &str) -> Self {
        self.member(header(EntryType::Symlink), name, target, "")
    }

    /// Adds a hard link.
    pub(crate) fn hard_link(self, name: &str, target: &str) -> Self {
        self.member(header(EntryType::Link), name, target, "")
    }

    /// Adds a member of any header. Names are put in as they are, which the crate would not do
    /// for hostile ones; those over 100 bytes go into a GNU long name before it.
    pub(crate) fn member(mut self, mut header: Header, name: &str, link: &str, text: &str) -> Self {
        if name.len() > 100 {
            let mut long = Header::new_gnu();
            long.set_entry_type(EntryType::GNULongName);
            self.block(long, b"././@LongLink", b"", &[name.as_bytes(), b"\0"].concat());
        }
        header.set_size(text.len() as u64);
        let short = &name.as_bytes()[..name.len().min(100)];
        self.block(header, short, link.as_bytes(), text.as_bytes());
        self
    }

    /// The whole archive.
    pub(crate) fn bytes(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }

    /// The whole archive as a body.
    pub(crate) fn body(self) -> ByteStream {
        body::whole(self.bytes())
    }

    fn block(&mut self, mut header: Header, name: &[u8], link: &[u8], content: &[u8]) {
        header.set_size(content.len() as u64);
        let fields = header.as_old_mut();
        fields.name[..name.len()].copy_from_slice(name);
        fields.linkname[..link.len()].copy_from_slice(link);
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
    }
}

/// A member's header with mode 644, or 755 for a directory, last changed in 2001.
pub(crate) fn header(kind: EntryType) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(if kind.is_dir() { 0o755 } else { 0o644 });
    header.set_mtime(1_000_000_000);
    header.set_size(0);
    header
}

/// What a member of a packed archive is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) kind: EntryType,
    pub(crate) content: String,
    pub(crate) mode: u32,
    pub(crate) modified: u64,
}

/// What a packed archive holds, in its order. Slashes at the end of names are left out.
pub(crate) async fn members(archive: ByteStream) -> Vec<Member> {
    let bytes = gather(archive).await.unwrap();
    let mut archive = tar::Archive::new(&bytes[..]);
    let member = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry: tar::Entry<'_, &[u8]> = entry.unwrap();
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let header = entry.header();
        Member {
            name: name.trim_end_matches('/').to_owned(),
            kind: header.entry_type(),
            content,
            mode: header.mode().unwrap(),
            modified: header.mtime().unwrap(),
        }
    };
    archive.entries().unwrap().map(member).collect()
}

//! Zip archives to unpack, good and bad: whatever is told of a member can be told wrongly.

use std::io::Write as _;

use engine::ByteStream;
use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::body;

/// An archive in the making.
#[derive(Default)]
pub(crate) struct Zip {
    members: Vec<u8>,
    directory: Vec<u8>,
    entries: u16,
}

/// A member of it.
#[derive(Clone)]
pub(crate) struct ZipMember {
    /// What is told before its content.
    pub(crate) local: Told,
    /// What is told in the central directory.
    pub(crate) central: Told,
    /// Its content as it is in the archive.
    pub(crate) packed: Vec<u8>,
    /// What follows that.
    pub(crate) descriptor: Vec<u8>,
    /// The system that it was made on: 0 is MS-DOS, 3 is Unix.
    pub(crate) system: u16,
    /// The mode with the type of the file.
    pub(crate) mode: u32,
    /// How far from its true place the central directory says that it is.
    pub(crate) misplaced: u32,
}

/// What is told of a member.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) name: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) compressed: u32,
    pub(crate) size: u32,
    pub(crate) extra: Vec<u8>,
}

/// 2001-09-09 01:46:40, time before date.
const MODIFIED: [u8; 4] = [0xd4, 0x0d, 0x29, 0x2b];

impl Zip {
    pub(crate) fn member(mut self, member: &ZipMember) -> Self {
        let offset = self.members.len() as u32 + member.misplaced;
        let told = &member.local;
        self.members.extend_from_slice(b"PK\x03\x04\x14\0");
        told.write(&mut self.members);
        self.members.extend_from_slice(&told.name);
        self.members.extend_from_slice(&told.extra);
        self.members.extend_from_slice(&member.packed);
        self.members.extend_from_slice(&member.descriptor);
        let told = &member.central;
        self.directory.extend_from_slice(b"PK\x01\x02");
        self.directory.extend_from_slice(&(member.system << 8 | 20).to_le_bytes());
        self.directory.extend_from_slice(&[20, 0]);
        told.write(&mut self.directory);
        self.directory.extend_from_slice(&[0; 6]);
        self.directory.extend_from_slice(&(member.mode << 16).to_le_bytes());
        self.directory.extend_from_slice(&offset.to_le_bytes());
        self.directory.extend_from_slice(&told.name);
        self.directory.extend_from_slice(&told.extra);
        self.entries += 1;
        self
    }

    /// Adds a stored file.
    pub(crate) fn file(self, name: &str, content: &str) -> Self {
        self.member(&stored(name, content))
    }

    /// The members, the central directory, and the end record.
    pub(crate) fn parts(self) -> [Vec<u8>; 3] {
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend_from_slice(&self.entries.to_le_bytes());
        end.extend_from_slice(&self.entries.to_le_bytes());
        end.extend_from_slice(&(self.directory.len() as u32).to_le_bytes());
        end.extend_from_slice(&(self.members.len() as u32).to_le_bytes());
        end.extend_from_slice(&[0; 2]);
        [self.members, self.directory, end]
    }

    /// The whole archive.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.parts().concat()
    }

    /// The whole archive as a body.
    pub(crate) fn body(self) -> ByteStream {
        body::whole(self.bytes())
    }
}

impl Told {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.extend_from_slice(&self.method.to_le_bytes());
        out.extend_from_slice(&MODIFIED);
        for number in [self.crc, self.compressed, self.size] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&(self.name.len() as u16).to_le_bytes());
        out.extend_from_slice(&(self.extra.len() as u16).to_le_bytes());
    }
}

impl ZipMember {
    /// Tells the same in both places.
    pub(crate) fn tell(mut self, change: impl Fn(&mut Told)) -> Self {
        change(&mut self.local);
        change(&mut self.central);
        self
    }
}

/// A file that is stored as it is, of mode 644.
pub(crate) fn stored(name: &str, content: impl AsRef<[u8]>) -> ZipMember {
    member(name, content.as_ref(), content.as_ref().to_vec(), 0)
}

/// A file that is compressed.
pub(crate) fn deflated(name: &str, content: impl AsRef<[u8]>) -> ZipMember {
    member(name, content.as_ref(), deflate(content.as_ref()), 8)
}

/// A file that is compressed, and told of behind its content.
pub(crate) fn streamed(name: &str, content: impl AsRef<[u8]>) -> ZipMember {
    let mut member = deflated(name, content).tell(|told| told.flags |= 1 << 3);
    let Told { crc, compressed, size, .. } = member.central;
    (member.local.crc, member.local.compressed, member.local.size) = (0, 0, 0);
    let numbers = [crc, compressed, size].map(u32::to_le_bytes).concat();
    member.descriptor = [b"PK\x07\x08", &*numbers].concat();
    member
}

/// A directory of mode 755.
pub(crate) fn directory(name: &str) -> ZipMember {
    ZipMember { mode: 0o040_755, ..stored(name, "") }
}

/// A symbolic link.
pub(crate) fn symlink(name: &str, target: &str) -> ZipMember {
    ZipMember { mode: 0o120_777, ..stored(name, target) }
}

/// What deflate makes of it.
pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// An extra field.
pub(crate) fn extra(id: u16, content: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes(), &(content.len() as u16).to_le_bytes(), content].concat()
}

/// The checksum of it.
pub(crate) fn crc(content: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(content);
    crc.sum()
}

fn member(name: &str, content: &[u8], packed: Vec<u8>, method: u16) -> ZipMember {
    let told = Told {
        name: name.as_bytes().to_vec(),
        flags: 1 << 11,
        method,
        crc: crc(content),
        compressed: packed.len() as u32,
        size: content.len() as u32,
        extra: Vec::new(),
    };
    let (local, central, descriptor) = (told.clone(), told, Vec::new());
    ZipMember { local, central, packed, descriptor, system: 3, mode: 0o100_644, misplaced: 0 }
}

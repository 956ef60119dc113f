//! A zip archive that is right but for what it says.

use std::io::Write as _;

use arbitrary::{Arbitrary, Result, Unstructured};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// What names are made of.
const PARTS: [&[u8]; 16] = [
    b"a",
    b"b",
    b"dir",
    b"file",
    b"in",
    b"out",
    b"abs",
    b"hard",
    b"loop",
    b".",
    b"..",
    b"",
    b"canary",
    b"\xff",
    "é".as_bytes(),
    b"\0",
];

/// An archive to be made.
#[derive(Arbitrary, Debug)]
pub(super) struct Plan {
    members: Vec<Member>,
    comment: Vec<u8>,
    has_large_end: bool,
    /// Bytes that are changed when all is done: where, and by what.
    changes: Vec<(u16, u8)>,
}

/// One member of it.
#[derive(Arbitrary, Debug)]
struct Member {
    name: Name,
    content: Vec<u8>,
    is_deflated: bool,
    is_utf_8: bool,
    descriptor: Option<Descriptor>,
    /// What it is on Unix, with its mode.
    #[arbitrary(with = unix_mode)]
    unix: Option<u16>,
    time: (u16, u16),
    extra: Vec<Extra>,
    is_in_directory_only: bool,
}

#[derive(Arbitrary, Debug)]
enum Descriptor {
    Signed,
    Bare,
    Long,
}

/// What stands behind a name.
#[derive(Arbitrary, Debug)]
enum Extra {
    /// Both sizes, which the header then only points at.
    Large,
    Time(i32),
    UnicodePath(Name),
    Other(u16, Vec<u8>),
}

#[derive(Debug)]
struct Name(Vec<u8>);

impl<'a> Arbitrary<'a> for Name {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let mut name = Vec::new();
        for _ in 0..input.int_in_range(1..=4)? {
            name.extend_from_slice(input.choose(&PARTS)?);
            match input.int_in_range(0..=7)? {
                0..=3 => name.push(b'/'),
                4 => name.push(input.arbitrary()?),
                _ => break,
            }
        }
        Ok(Self(name))
    }
}

fn unix_mode(input: &mut Unstructured<'_>) -> Result<Option<u16>> {
    let kinds = [0, 0o100_000, 0o100_000, 0o040_000, 0o120_000, 0o010_000];
    let mode = *input.choose(&kinds)? | input.int_in_range(0..=0o7777)?;
    Ok(input.ratio(3, 4)?.then_some(mode))
}

/// What both headers tell.
struct Told {
    flags: u16,
    method: u16,
    crc: u32,
    compressed: u32,
    size: u32,
    extra: Vec<u8>,
}

impl Plan {
    pub(super) fn archive(&self) -> Vec<u8> {
        let (mut out, mut central) = (Vec::new(), Vec::new());
        for member in &self.members {
            let offset = out.len() as u32;
            let (told, payload) = member.told();
            if !member.is_in_directory_only {
                member.put_local(&told, &payload, &mut out);
            }
            member.put_central(&told, offset, &mut central);
        }
        let begin = out.len();
        out.extend(&central);
        self.put_end(begin, central.len(), &mut out);
        for (place, change) in self.changes.iter().take(4) {
            let len = out.len();
            if let Some(byte) = out.get_mut(usize::from(*place) % len) {
                *byte = byte.wrapping_add(*change);
            }
        }
        out
    }

    fn put_end(&self, begin: usize, len: usize, out: &mut Vec<u8>) {
        let count = self.members.len();
        if self.has_large_end {
            let place = out.len() as u64;
            out.extend(0x0606_4b50_u32.to_le_bytes());
            out.extend(44_u64.to_le_bytes());
            out.extend([45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for number in [count, count, len, begin] {
                out.extend((number as u64).to_le_bytes());
            }
            out.extend(0x0706_4b50_u32.to_le_bytes());
            out.extend(0_u32.to_le_bytes());
            out.extend(place.to_le_bytes());
            out.extend(1_u32.to_le_bytes());
        }
        out.extend(0x0605_4b50_u32.to_le_bytes());
        out.extend([0; 4]);
        out.extend((count as u16).to_le_bytes());
        out.extend((count as u16).to_le_bytes());
        out.extend((len as u32).to_le_bytes());
        out.extend((begin as u32).to_le_bytes());
        out.extend((self.comment.len() as u16).to_le_bytes());
        out.extend(&self.comment);
    }
}

impl Member {
    fn told(&self) -> (Told, Vec<u8>) {
        let mut crc = Crc::new();
        crc.update(&self.content);
        let payload = if self.is_deflated { deflate(&self.content) } else { self.content.clone() };
        let flags = u16::from(self.is_utf_8) << 11 | u16::from(self.descriptor.is_some()) << 3;
        let is_large = self.extra.iter().any(|extra| matches!(extra, Extra::Large));
        let (size, compressed) = (self.content.len() as u32, payload.len() as u32);
        let mut extra = Vec::new();
        for field in &self.extra {
            field.put(&self.name, u64::from(size), u64::from(compressed), &mut extra);
        }
        let method = if self.is_deflated { 8 } else { 0 };
        let (compressed, size) = if is_large { (u32::MAX, u32::MAX) } else { (compressed, size) };
        (Told { flags, method, crc: crc.sum(), compressed, size, extra }, payload)
    }

    fn put_local(&self, told: &Told, payload: &[u8], out: &mut Vec<u8>) {
        out.extend(0x0403_4b50_u32.to_le_bytes());
        out.extend(45_u16.to_le_bytes());
        // What only the end of a member tells is nothing in its header.
        let is_told_behind = self.descriptor.is_some() && self.is_deflated;
        match is_told_behind {
            true => self.put_shared(
                &Told { crc: 0, compressed: 0, size: 0, extra: told.extra.clone(), ..*told },
                out,
            ),
            false => self.put_shared(told, out),
        }
        out.extend(&self.name.0);
        out.extend(&told.extra);
        out.extend(payload);
        let (compressed, size) = (payload.len() as u64, self.content.len() as u64);
        let Some(descriptor) = &self.descriptor else { return };
        if !matches!(descriptor, Descriptor::Bare) {
            out.extend(0x0807_4b50_u32.to_le_bytes());
        }
        out.extend(told.crc.to_le_bytes());
        for number in [compressed, size] {
            match descriptor {
                Descriptor::Long => out.extend(number.to_le_bytes()),
                Descriptor::Signed | Descriptor::Bare => out.extend((number as u32).to_le_bytes()),
            }
        }
    }

    fn put_central(&self, told: &Told, offset: u32, out: &mut Vec<u8>) {
        out.extend(0x0201_4b50_u32.to_le_bytes());
        let made_by: u16 = if self.unix.is_some() { 3 << 8 | 45 } else { 45 };
        out.extend(made_by.to_le_bytes());
        out.extend(45_u16.to_le_bytes());
        self.put_shared(told, out);
        out.extend([0; 6]);
        out.extend((u32::from(self.unix.unwrap_or_default()) << 16).to_le_bytes());
        out.extend(offset.to_le_bytes());
        out.extend(&self.name.0);
        out.extend(&told.extra);
    }

    fn put_shared(&self, told: &Told, out: &mut Vec<u8>) {
        for number in [told.flags, told.method, self.time.0, self.time.1] {
            out.extend(number.to_le_bytes());
        }
        for number in [told.crc, told.compressed, told.size] {
            out.extend(number.to_le_bytes());
        }
        out.extend((self.name.0.len() as u16).to_le_bytes());
        out.extend((told.extra.len() as u16).to_le_bytes());
    }
}

impl Extra {
    fn put(&self, name: &Name, size: u64, compressed: u64, out: &mut Vec<u8>) {
        let (id, field) = match self {
            Self::Large => (1, [size.to_le_bytes(), compressed.to_le_bytes()].concat()),
            Self::Time(time) => (0x5455, [&[1][..], &time.to_le_bytes()].concat()),
            Self::UnicodePath(other) => {
                let mut crc = Crc::new();
                crc.update(&name.0);
                (0x7075, [&[1][..], &crc.sum().to_le_bytes(), &other.0].concat())
            }
            Self::Other(id, bytes) => (*id, bytes.clone()),
        };
        out.extend(id.to_le_bytes());
        out.extend((field.len() as u16).to_le_bytes());
        out.extend(field);
    }
}

fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).expect("there is room");
    encoder.finish().expect("there is room")
}

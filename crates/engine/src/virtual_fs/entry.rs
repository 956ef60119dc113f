//! What a node looks like from outside.

use crate::tree::{Body, Node, Stamp};
use crate::{Entry, EntryKind, SandboxPath, Version, name};

/// The entry of a node.
pub(crate) fn entry(path: SandboxPath, node: &Node) -> Entry {
    let (kind, size) = match &node.body {
        Body::File(file) => (EntryKind::File, file.len()),
        Body::Directory(_) => (EntryKind::Directory, 0),
        Body::Symlink(target) => (EntryKind::Symlink, name::to_bytes(target).len() as u64),
    };
    Entry {
        path,
        kind,
        size,
        mode: Some(u32::from(node.mode)),
        created: Some(node.created),
        modified: Some(node.modified),
        version: Some(version(node)),
    }
}

/// The version of a node: when and by whom it was last changed, which no other state of it shares.
pub(crate) fn version(node: &Node) -> Version {
    let Stamp { time, salt } = node.stamp;
    Version::of([hex((time >> 32) as u32), hex(time as u32), hex(salt)])
}

/// The digits of a number, all at once: every look at a file spells three of them.
fn hex(number: u32) -> [u8; 8] {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let mut digits = u64::from(number);
    digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF;
    digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF;
    digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F;
    // One in each byte whose digit is a letter.
    let letters = (digits + ONES * 6) >> 4 & ONES;
    (digits + ONES * u64::from(b'0') + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_format() {
        for number in [0, 1, 0x9ABC_DEF0, 0x1234_5678, u32::MAX] {
            assert_eq!(hex(number), format!("{number:08x}").as_bytes());
        }
    }
}

//! What a segment holds, so that it need not be read through when the cache is opened.
//!
//! ```text
//! for each entry, in order, all little endian:
//!   0..8     which object, as a hash of its key
//!   8..12    where in the segment
//!   12..16   how long; all ones for an object that was given up
//! at the end, the xxh3 of all that
//! ```

use xxhash_rust::xxh3::xxh3_64;

/// How many bytes one note has.
pub(super) const NOTE: usize = 16;
const GONE: u32 = u32::MAX;

/// One entry of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// Which object; another may have the same, so that its key is compared when it is read.
    pub(super) name: u64,
    /// Where it is.
    pub(super) offset: u32,
    /// How long it is without its head; none if it was given up.
    pub(super) len: Option<u32>,
}

pub(super) fn encode(notes: &[Note]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(notes.len() * NOTE + size_of::<u64>());
    for Note { name, offset, len } in notes {
        bytes.extend_from_slice(&name.to_le_bytes());
        bytes.extend_from_slice(&offset.to_le_bytes());
        bytes.extend_from_slice(&len.unwrap_or(GONE).to_le_bytes());
    }
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// The notes, if they are as they were written.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<Note>> {
    let (notes, check) = bytes.split_last_chunk()?;
    let (notes, rest) = notes.as_chunks::<NOTE>();
    if u64::from_le_bytes(*check) != xxh3_64(notes.as_flattened()) || !rest.is_empty() {
        return None;
    }
    Some(notes.iter().map(note).collect())
}

fn note([name @ .., o0, o1, o2, o3, l0, l1, l2, l3]: &[u8; NOTE]) -> Note {
    let len = u32::from_le_bytes([*l0, *l1, *l2, *l3]);
    Note {
        name: u64::from_le_bytes(*name),
        offset: u32::from_le_bytes([*o0, *o1, *o2, *o3]),
        len: (len != GONE).then_some(len),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_as_they_were_written_or_not_at_all() {
        let notes = [
            Note { name: 1 << 40, offset: 8, len: Some(7) },
            Note { name: 2, offset: 1 << 30, len: None },
        ];
        let written = encode(&notes);
        assert_eq!(decode(&written).unwrap(), notes);
        for at in 0..written.len() {
            assert_eq!(decode(&written[..at]), None, "the first {at} bytes");
        }
        assert_eq!(decode(&encode(&[])).unwrap(), []);
    }
}

//! Streams around records: docs/decisions/0005 in code that is not that of the engine.

use super::records::{Sums, ends, sums_of};

/// The bytes that follow are a stream already.
const RAW: u8 = 1;
/// The payload is compressed.
const ZSTD: u8 = 2;
/// The stream is relative to [`base`].
const RELATIVE: u8 = 4;
/// The records come in two blocks.
const SPLIT: u8 = 8;

/// When every state was committed.
const CLOCK: u64 = 7;
/// Mode 0644, made and changed in 1970.
const ABOUT: [u8; 6] = [0xa4, 3, 0, 0, 0, 0];

/// The state that streams may be relative to: `d/e/f`, `l`, `s` and `z`.
pub(super) fn base() -> Vec<u8> {
    let records = base_records();
    whole(0, &sums_of(&records, None), None, &records, b"fgsss")
}

fn base_records() -> Vec<u8> {
    let named = |kind: u8, name: u8, rest: &[u8]| [&[kind, 1, name][..], &ABOUT, rest].concat();
    let records = [
        [&[1_u8][..], &ABOUT].concat(),
        named(2, b'd', &[]),
        named(2, b'e', &[]),
        named(5, b'f', &[2]),
        vec![4, 4],
        named(7, b'l', &[1, b's']),
        named(5, b's', &[3]),
        // 5,000 bytes, all of them a hole.
        named(6, b'z', &[0x88, 0x27, 18, 0x88, 0x27]),
        vec![4],
    ];
    records.concat()
}

/// The stream that an input stands for.
pub(super) fn made(flags: u8, rest: &[u8]) -> Vec<u8> {
    if flags & RAW != 0 {
        return rest.to_vec();
    }
    let Some((len, rest)) = rest.split_first_chunk() else { return Vec::new() };
    let len = usize::from(u16::from_le_bytes(*len)).min(rest.len());
    let (records, content) = rest.split_at(len);
    if flags & RELATIVE == 0 {
        return whole(flags, &sums_of(records, None), None, records, content);
    }
    let sums = sums_of(records, Some(&base_records()));
    whole(flags, &sums, Some(digest()), records, content)
}

fn whole(
    flags: u8,
    sums: &Sums,
    since: Option<[u8; 32]>,
    records: &[u8],
    content: &[u8],
) -> Vec<u8> {
    let mut out = b"\x89SKEX\r\n\x1a\x01\x00".to_vec();
    out.extend([u8::from(since.is_some()), 0, 0, 0, 0, 0]);
    out.extend(CLOCK.to_le_bytes());
    out.extend(since.unwrap_or_default());
    out.extend(sums.bytes());
    out.extend(blake3::hash(&out).as_bytes());
    let mut heads = out.clone();
    // The second block has no content.
    let (first, second) = if flags & SPLIT == 0 { (records, None) } else { split(records) };
    let blocks = std::iter::once((first, content)).chain(second.map(|rest| (rest, &[][..])));
    let mut count: u64 = 0;
    for (records, content) in blocks {
        let (head, payload) = block(flags & ZSTD != 0, records, content);
        heads.extend(&head);
        out.extend(head);
        out.extend(payload);
        count += 1;
    }
    let mut trailer = vec![2, 0, 0, 0, 0, 0, 0, 0];
    trailer.extend(count.to_le_bytes());
    heads.extend(&trailer);
    trailer.extend(blake3::hash(&heads).as_bytes());
    out.extend(trailer);
    out
}

/// The records cut behind the last that ends in the first half, if there is one.
fn split(records: &[u8]) -> (&[u8], Option<&[u8]>) {
    let middle = ends(records).into_iter().rfind(|end| *end <= records.len() / 2);
    match middle.and_then(|end| records.split_at_checked(end)) {
        Some((first, second)) => (first, Some(second)),
        None => (records, None),
    }
}

/// The head and the payload of a block.
fn block(is_compressed: bool, records: &[u8], content: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let plain = [records, content].concat();
    let payload = match is_compressed {
        true => zstd::bulk::compress(&plain, 1).expect("it can be compressed"),
        false => plain,
    };
    let mut head = vec![1, u8::from(is_compressed), 0, 0];
    for len in [records.len(), content.len(), payload.len()] {
        head.extend((len as u32).to_le_bytes());
    }
    head.extend(blake3::hash(&payload).as_bytes());
    (head, payload)
}

/// What names the base: its clock, the mode and the times of its root, and its sums.
fn digest() -> [u8; 32] {
    let mut named = CLOCK.to_le_bytes().to_vec();
    named.extend(0o644_u16.to_le_bytes());
    // Seconds and nanoseconds, when it was made and when it was changed.
    named.extend([0; 24]);
    named.extend(sums_of(&base_records(), None).bytes());
    blake3::derive_key("sandkeep 1 exported state", &named)
}

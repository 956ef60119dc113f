//! Bytes as the first version stored them. They are never changed: whatever is stored must open.

use bytes::Bytes;
use sandkeep_storage::frame::open;

/// Sealed on 2026-11-15 at 12:00:00.000 UTC.
const RAW: &str = "
    01 00
    00 1e 14 df a1 01 00 00
    01 02 03 04 05 06 07 08
    05 00 00 00
    68 65 6c 6c 6f";

const ZSTD: &str = "
    01 01
    00 1e 14 df a1 01 00 00
    01 02 03 04 05 06 07 08
    f8 01 00 00
    28 b5 2f fd 60 f8 00 2d 02 00 a4 03 49 74 20 77
    61 73 20 61 20 64 61 72 6b 20 61 6e 64 20 73 74
    6f 72 6d 79 20 6e 69 67 68 74 2c 74 68 65 20 72
    61 69 6e 20 66 65 6c 6c 20 69 6e 20 74 6f 72 72
    65 6e 74 73 2e 20 02 00 db 0a 41 8d 4b 98 79";

#[test]
fn a_raw_frame_of_the_first_version_opens() {
    assert_eq!(open(&bytes(RAW)).unwrap(), "hello");
}

#[test]
fn a_compressed_frame_of_the_first_version_opens() {
    let line = "It was a dark and stormy night, and the rain fell in torrents. ";
    assert_eq!(open(&bytes(ZSTD)).unwrap(), line.repeat(8));
}

fn bytes(hex: &str) -> Bytes {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

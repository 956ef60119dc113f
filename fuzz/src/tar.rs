//! Tar archives, plain and compressed.
//!
//! The first byte says where the archive goes (see `archives`), the second how it comes: as it is,
//! compressed, or with the checksums of its headers made right, which hardly a mutation leaves right.

use std::io::Write as _;

use engine::ArchiveFormat;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::archives;

const BLOCK: usize = 512;
/// Where the size and the checksum of a member stand in its header.
const SIZE: std::ops::Range<usize> = 124..136;
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// Holds what must hold of an archive.
pub fn check(data: &[u8]) {
    let Some(([place, how], archive)) = data.split_first_chunk() else { return };
    let mut archive = archive.to_vec();
    if how & 1 != 0 {
        mend(&mut archive);
    }
    // Zeros are many bytes that say little.
    if how & 2 != 0 {
        archive.resize(archive.len().next_multiple_of(BLOCK) + 2 * BLOCK, 0);
    }
    match how >> 6 {
        0 | 1 => archives::check(*place, ArchiveFormat::Tar, &archive),
        2 if how & 4 != 0 => archives::check(*place, ArchiveFormat::TarGz, &archive),
        2 => archives::check(*place, ArchiveFormat::TarGz, &gzip(&archive)),
        _ if how & 4 != 0 => archives::check(*place, ArchiveFormat::TarZst, &archive),
        _ => archives::check(*place, ArchiveFormat::TarZst, &zstd(&archive)),
    }
}

/// Makes the checksums right, from header to header.
fn mend(archive: &mut [u8]) {
    let mut place = 0;
    while let Some(header) = archive.get_mut(place..place + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            return;
        }
        header[CHECKSUM].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let size = octal(&header[SIZE]).min(archive.len());
        place += BLOCK + size.next_multiple_of(BLOCK);
    }
}

fn octal(field: &[u8]) -> usize {
    let digits = field.iter().skip_while(|byte| **byte == b' ');
    let digits = digits.take_while(|byte| (b'0'..=b'7').contains(*byte));
    digits.fold(0, |number: usize, digit| {
        number.saturating_mul(8).saturating_add(usize::from(digit - b'0'))
    })
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).expect("there is room");
    encoder.finish().expect("there is room")
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, 1).expect("there is room")
}

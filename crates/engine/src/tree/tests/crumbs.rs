//! Files that change in many small places.

use super::*;

/// How many extents a file has.
fn extents(file: &File, kept: &Kept) -> usize {
    file.extents(0..file.len(), kept).unwrap().len()
}

/// A file that is stored after every write, as if each were a commit, and what that writes.
#[derive(Default)]
struct Log {
    kept: Kept,
    dir: Directory,
}

impl Log {
    fn file(&self) -> File {
        let found = self.dir.find("log", &self.kept).unwrap();
        found.map_or_else(File::empty, |item| item.node.file().unwrap().clone())
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        let size = self.file().len();
        let gap = offset.checked_sub(size).filter(|gap| *gap > 0).map(Extent::hole);
        let new = gap.into_iter().chain([fresh(bytes)]).collect();
        let file = self.file().written(offset.min(size), new, &self.kept).unwrap();
        let node = Node { body: Body::File(file), ..node(0) };
        let dir = self.dir.with(item("log", node), &HEIGHTS, &self.kept).unwrap();
        self.dir = self.kept.flushed(&dir);
    }
}

#[test]
fn a_log_that_grows_by_lines_has_few_pieces_and_is_not_rewritten() {
    let mut log = Log::default();
    for n in 0..20_000_u64 {
        log.write(n * 100, &[n as u8; 100]);
    }
    let content = log.file().bytes(0..2_000_000, &log.kept).unwrap();
    assert!(content.chunks(100).zip(0_u64..).all(|(line, n)| line == [n as u8; 100]));
    let count = extents(&log.file(), &log.kept);
    assert!(count < 2_000_000 / (8 << 10), "{count} extents");
    // Each byte is gathered again a few times on its way into a piece of 16 KiB.
    let (pages, chunks) = log.kept.stored;
    assert!(chunks < 8 * 2_000_000, "{chunks} bytes of chunks");
    assert!(pages < 20_000 * 6_000, "{pages} bytes of pages");
}

#[test]
fn a_file_that_is_written_byte_by_byte_everywhere_does_not_crumble() {
    let mut log = Log::default();
    let mut bytes = vec![0; 256 << 10];
    log.write(0, &bytes);
    let mut place = 1_u64;
    for n in 0..8_000_u64 {
        place =
            place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let offset = (place >> 33) % (256 << 10);
        bytes[offset as usize] = n as u8;
        log.write(offset, &[n as u8]);
    }
    assert!(log.file().bytes(0..256 << 10, &log.kept).unwrap() == bytes);
    let count = extents(&log.file(), &log.kept);
    assert!(count < 600, "{count} extents for 256 KiB");
    let (_, chunks) = log.kept.stored;
    assert!(chunks < 8_000 * (8 << 10), "{chunks} bytes of chunks");
}

#[test]
fn a_file_that_is_written_backwards_does_not_crumble() {
    let mut log = Log::default();
    log.write(0, &vec![0; 64 << 10]);
    for n in (0..4096_u64).rev() {
        log.write(n * 16, &[n as u8; 16]);
    }
    let content = log.file().bytes(0..64 << 10, &log.kept).unwrap();
    assert!(content.chunks(16).zip(0_u64..).all(|(line, n)| line == [n as u8; 16]));
    let count = extents(&log.file(), &log.kept);
    assert!(count < 64, "{count} extents for 64 KiB");
}

#[test]
fn holes_stay_holes() {
    let mut log = Log::default();
    for n in 0..64_u64 {
        log.write(n << 20, b"x");
    }
    let zeros = log.file().bytes(1..1 << 20, &log.kept);
    assert!(zeros.unwrap().iter().all(|byte| *byte == 0));
    let (_, chunks) = log.kept.stored;
    assert!(chunks < 1024, "{chunks} bytes of chunks for 64");
}

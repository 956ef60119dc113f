//! The content of a file against plain bytes.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Lengths are shares of the file, so that parts of all sizes are hit.
#[derive(Clone, Debug)]
enum Edit {
    Write { at: f64, pieces: Vec<u16> },
    Append { pieces: Vec<u16> },
    Splice { at: f64, removed: f64, pieces: Vec<u16> },
    Resize { to: f64 },
    Hole { len: u32 },
    Flush,
}

fn pieces() -> impl Strategy<Value = Vec<u16>> {
    vec(prop_oneof![1..40_u16, 400..700_u16, 1..20_000_u16], 1..4)
}

fn an_edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (0.0..1.1, pieces()).prop_map(|(at, pieces)| Edit::Write { at, pieces }),
        4 => pieces().prop_map(|pieces| Edit::Append { pieces }),
        3 => (0.0..1.0, 0.0..0.5, pieces())
            .prop_map(|(at, removed, pieces)| Edit::Splice { at, removed, pieces }),
        2 => (0.0..1.2).prop_map(|to| Edit::Resize { to }),
        1 => (1..100_000_u32).prop_map(|len| Edit::Hole { len }),
        1 => Just(Edit::Flush),
    ]
}

/// A file, what it must hold, and the store that it lies in.
#[derive(Default)]
struct Both {
    file: Option<File>,
    bytes: Vec<u8>,
    kept: Kept,
    made: u8,
}

impl Both {
    fn file(&self) -> File {
        self.file.clone().unwrap_or_else(File::empty)
    }

    /// Pieces that no others are like.
    fn pieces(&mut self, lens: &[u16]) -> (Vec<Extent>, Vec<u8>) {
        let mut all = Vec::new();
        let pieces = lens.iter().map(|len| {
            self.made = self.made.wrapping_mul(31).wrapping_add(7);
            let bytes: Vec<u8> =
                (0..*len).map(|n| self.made.wrapping_add((n % 251) as u8)).collect();
            all.extend_from_slice(&bytes);
            fresh(&bytes)
        });
        (pieces.collect(), all)
    }

    fn share(&self, part: f64) -> usize {
        (self.bytes.len() as f64 * part) as usize
    }

    fn apply(&mut self, edit: &Edit) {
        let size = self.bytes.len();
        let file = match edit {
            Edit::Write { at, pieces } => {
                let (offset, (new, bytes)) = (self.share(*at), self.pieces(pieces));
                let gap = offset.checked_sub(size).filter(|gap| *gap > 0);
                self.bytes.resize(size.max(offset + bytes.len()), 0);
                self.bytes[offset..offset + bytes.len()].copy_from_slice(&bytes);
                let new = gap.map(|gap| Extent::hole(gap as u64)).into_iter().chain(new).collect();
                self.file().written(offset.min(size) as u64, new, &self.kept)
            }
            Edit::Append { pieces } => {
                let (new, bytes) = self.pieces(pieces);
                self.bytes.extend(bytes);
                self.file().written(size as u64, new, &self.kept)
            }
            Edit::Splice { at, removed, pieces } => {
                let (start, (new, bytes)) = (self.share(*at), self.pieces(pieces));
                let end = (start + self.share(*removed)).min(size);
                self.bytes.splice(start..end, bytes);
                self.file().spliced(start as u64..end as u64, new, &self.kept)
            }
            Edit::Resize { to } => {
                let len = self.share(*to);
                self.bytes.resize(len, 0);
                self.file().resized(len as u64, &self.kept)
            }
            Edit::Hole { len } => {
                self.bytes.resize(size + *len as usize, 0);
                self.file().resized(self.bytes.len() as u64, &self.kept)
            }
            Edit::Flush => Ok(self.flushed()),
        };
        self.file = Some(file.unwrap());
    }

    fn flushed(&mut self) -> File {
        let node = Node { body: Body::File(self.file()), ..node(0) };
        let dir = Directory::default().with(item("f", node), &HEIGHTS, &self.kept).unwrap();
        let dir = self.kept.flushed(&dir);
        dir.find("f", &self.kept).unwrap().unwrap().node.file().unwrap().clone()
    }

    fn check(&self) {
        let (file, len) = (self.file(), self.bytes.len() as u64);
        assert_eq!(file.len(), len);
        assert_eq!(matches!(file, File::Inline(_)), len <= 512, "{len} bytes");
        assert!(file.bytes(0..len, &self.kept).unwrap() == self.bytes, "the content differs");
        check_pages(&file, &self.kept);
    }
}

/// Holds that pages are neither empty nor too long, and that what they say of their length is so.
fn check_pages(file: &File, kept: &Kept) {
    let File::Pieces { len, top } = file else { return };
    let link = match top {
        Top::Few(extents) => {
            assert!((1..=FEW).contains(&extents.len()));
            assert_eq!(extents.iter().map(|extent| extent.len).sum::<u64>(), *len);
            return;
        }
        Top::Many(link) => link.clone(),
    };
    let mut todo = vec![(link, *len, None)];
    while let Some((link, len, level)) = todo.pop() {
        let page = (kept as &dyn Source).extents(&link).unwrap();
        assert_eq!(page.len(), len);
        let (count, own) = match &*page {
            ExtentPage::Leaf(extents) => (extents.len(), 0),
            ExtentPage::Inner { level, children } => {
                let beneath = |child: &ExtentChild| (child.link.clone(), child.len, Some(*level));
                todo.extend(children.iter().map(beneath));
                (children.len(), *level)
            }
        };
        assert!((1..=FULL).contains(&count), "{count} in one page");
        assert!(level.is_none_or(|above| own + 1 == above));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_file_holds_what_was_written_to_it(edits in vec(an_edit(), 1..60)) {
        let mut both = Both::default();
        for edit in &edits {
            both.apply(edit);
        }
        both.check();
    }

    #[test]
    fn any_part_of_a_file_can_be_read(
        edits in vec(an_edit(), 1..30),
        parts in vec((0.0..1.0, 0.0..1.0), 20),
    ) {
        let mut both = Both::default();
        edits.iter().for_each(|edit| both.apply(edit));
        for (from, to) in parts {
            let (from, to) = (both.share(from), both.share(to));
            let part = both.file().bytes(from as u64..to as u64, &both.kept).unwrap();
            prop_assert_eq!(&part[..], both.bytes.get(from..to).unwrap_or_default());
        }
    }
}

/// A file of so many pieces of three bytes, flushed.
fn of_many_pieces(count: u32) -> Both {
    let bytes: Vec<u8> = (0..count).flat_map(u32::to_le_bytes).collect();
    let pieces: Vec<_> = bytes.chunks(4).map(fresh).collect();
    let file = File::of(pieces, &Kept::default()).unwrap();
    let mut both = Both { file: Some(file), bytes, ..Both::default() };
    both.file = Some(both.flushed());
    both
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_file_of_three_levels_of_pages_changes_anywhere(edits in vec(an_edit(), 1..40)) {
        // More than 128 times 128.
        let mut both = of_many_pieces(20_000);
        for edit in &edits {
            both.apply(edit);
        }
        both.check();
    }
}

#[test]
fn a_small_write_in_the_middle_of_a_large_file_stores_few_bytes() {
    let mut both = of_many_pieces(20_000);
    let before = both.kept.objects();
    let new = vec![fresh(b"x")];
    both.file = Some(both.file().written(40_001, new, &both.kept).unwrap());
    both.bytes[40_001] = b'x';
    both.file = Some(both.flushed());
    both.check();
    let stored = both.kept.objects() - before;
    assert!(stored <= 8, "{stored} objects for one byte");
}

#[test]
fn the_largest_file_is_a_hole_that_costs_nothing() {
    let file = File::empty().resized(LARGEST_FILE, &Kept::default()).unwrap();
    let end = file.bytes(LARGEST_FILE - 3..LARGEST_FILE, &Kept::default()).unwrap();
    assert_eq!((file.len(), &end[..]), (LARGEST_FILE, &[0; 3][..]));
    let node = Node { body: Body::File(file), ..node(0) };
    let dir = Directory::default().with(item("f", node), &HEIGHTS, &Kept::default()).unwrap();
    let mut kept = Kept::default();
    kept.flushed(&dir);
    assert_eq!(kept.objects(), 1);
}

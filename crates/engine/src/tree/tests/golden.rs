//! The permanent formats, byte by byte: docs/decisions/0004-pages-and-roots.md in numbers.

use super::*;

/// The bytes that pairs of hexadecimal digits spell.
pub(crate) fn bytes(hex: &str) -> Bytes {
    let pairs = hex.split_whitespace();
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect::<Vec<u8>>().into()
}

const ID: &str = "11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 \
                  11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 ";

/// Mode 0644, made at 1.000000002, changed at -1 and 999,999,999 nanoseconds, stamp, no extension.
const STAMPED: &str = "a4 03  02 02  01 ff 93 eb dc 03  08 07 06 05 04 03 02 01  0d 0c 0b 0a  00 ";

/// A leaf with a node of each kind.
pub(super) fn leaf() -> Bytes {
    let text = [
        "01 00 06 ",                                             // format, level, count
        &["01 61  01 ", STAMPED, "02 68 69 "].concat(),          // `a`: inline, `hi`
        &["01 62  02 ", STAMPED].concat(),                       // `b`: few extents
        &["02  01 ", ID, "05 d8 04 "].concat(), // two: 600 bytes of a chunk from its fifth on
        "00 a0 8d 06 ",                         // and a hole of 100,000
        &["01 63  03 ", STAMPED, ID, "80 80 40 "].concat(), // `c`: many extents, 1 MiB
        &["01 64  04 ", STAMPED, "00 "].concat(), // `d`: a directory, empty
        &["01 65  04 ", STAMPED, "01 ", ID].concat(), // `e`: a directory
        "03 ac 02 02 01 01 02 c8 01 ",          // what it adds up to
        &["02 c3 a9  05 ", STAMPED, "04 61 2f c3 a9 "].concat(), // `é`: a link to `a/é`
    ];
    bytes(&text.concat())
}

fn stored_id() -> ObjectId {
    ObjectId([0x11; 32])
}

fn leaf_page() -> Page {
    let made = |body| Node {
        mode: 0o644,
        created: UnixTime { seconds: 1, nanoseconds: 2 },
        modified: UnixTime { seconds: -1, nanoseconds: 999_999_999 },
        stamp: Stamp { time: 0x0102_0304_0506_0708, salt: 0x0a0b_0c0d },
        body,
    };
    let few = Extent { piece: Piece::Stored(stored_id()), start: 5, len: 600 };
    let few = Top::Few(vec![few, Extent::hole(100_000)].into());
    let many = Top::Many(Link::Stored(stored_id()));
    let full = Directory { top: Some(Link::Stored(stored_id())), sum: a_sum() };
    Page::Leaf(
        vec![
            item("a", made(Body::File(File::Inline("hi".into())))),
            item("b", made(Body::File(File::Pieces { len: 100_600, top: few }))),
            item("c", made(Body::File(File::Pieces { len: 1 << 20, top: many }))),
            item("d", made(Body::Directory(Box::default()))),
            item("e", made(Body::Directory(Box::new(full)))),
            item("é", made(Body::Symlink("a/é".into()))),
        ]
        .into(),
    )
}

fn a_sum() -> Sum {
    Sum { names: 3, bytes: 300, files: 2, directories: 1, links: 1, depth: 2, largest: 200 }
}

/// A page of level 2 over two others.
pub(super) fn inner() -> Bytes {
    let sum = "03 ac 02 02 01 01 02 c8 01 ";
    bytes(&["01 02 02 ", "01 61 ", ID, sum, "02 c3 a9 ", ID, sum].concat())
}

fn inner_page() -> Page {
    let child =
        |first: &str| Child { first: first.into(), link: Link::Stored(stored_id()), sum: a_sum() };
    Page::Inner { level: 2, children: vec![child("a"), child("é")].into() }
}

/// A leaf of extents: to the end of the longest chunk, and the longest hole there may be.
pub(super) fn extents() -> Bytes {
    let text = ["01 00 02 ", "01 ", ID, "fb ff ff 07 05 ", "00 fb ff ff ff ff ff 1f "];
    bytes(&text.concat())
}

fn extents_page() -> ExtentPage {
    let chunk = Extent { piece: Piece::Stored(stored_id()), start: (16 << 20) - 5, len: 5 };
    ExtentPage::Leaf(vec![chunk, Extent::hole(LARGEST_FILE - 5)])
}

/// A page of extents over two others.
pub(super) fn inner_extents() -> Bytes {
    bytes(&["01 01 02 ", ID, "ac 02 ", ID, "01 "].concat())
}

fn inner_extents_page() -> ExtentPage {
    let child = |len| ExtentChild { len, link: Link::Stored(stored_id()) };
    ExtentPage::Inner { level: 1, children: vec![child(300), child(1)] }
}

/// Two that look alike are alike.
fn shown(thing: &impl std::fmt::Debug) -> String {
    format!("{thing:?}")
}

#[test]
fn a_page_of_names_has_these_bytes() {
    assert_eq!(encode_page(&leaf_page()).unwrap(), leaf());
    assert_eq!(shown(&decode_page(&leaf()).unwrap()), shown(&leaf_page()));
}

#[test]
fn a_page_of_pages_has_these_bytes() {
    assert_eq!(encode_page(&inner_page()).unwrap(), inner());
    assert_eq!(shown(&decode_page(&inner()).unwrap()), shown(&inner_page()));
}

#[test]
fn a_page_of_extents_has_these_bytes() {
    assert_eq!(encode_extents(&extents_page()).unwrap(), extents());
    assert_eq!(shown(&decode_extents(&extents()).unwrap()), shown(&extents_page()));
}

#[test]
fn a_page_of_pages_of_extents_has_these_bytes() {
    assert_eq!(encode_extents(&inner_extents_page()).unwrap(), inner_extents());
    assert_eq!(shown(&decode_extents(&inner_extents()).unwrap()), shown(&inner_extents_page()));
}

#[test]
fn ids_are_keyed_hashes_of_the_kind_and_the_content() {
    let expected = |kind: u8| {
        let mut all = vec![kind];
        all.extend_from_slice(b"content");
        ObjectId(*blake3::keyed_hash(&[9; 32], &all).as_bytes())
    };
    assert_eq!(IDS.id(ObjectKind::Page, b"content"), expected(1));
    assert_eq!(IDS.id(ObjectKind::Extents, b"content"), expected(2));
    assert_eq!(IDS.id(ObjectKind::Chunk, b"content"), expected(3));
    let literal = "542f7530bcf26139b57e69b0e6d0dce2b7e2a8d24c27253612e149676b6bd5ea";
    assert_eq!(IDS.id(ObjectKind::Page, b"content").to_string(), literal);
}

#[test]
fn heights_are_the_zeros_at_the_end_of_a_keyed_hash() {
    // Ten bits are zero for these of the names from 0 to 4,095.
    let high: Vec<u32> = (0..4096).filter(|n| HEIGHTS.height(&n.to_string()) > 1).collect();
    assert_eq!(high, [1205, 1337, 1440, 2360, 2894, 3076]);
    for n in 0..4096 {
        let name = n.to_string();
        let hash = blake3::keyed_hash(&[7; 32], name.as_bytes());
        let start = u64::from_le_bytes(*hash.as_bytes().first_chunk().unwrap());
        assert_eq!(u32::from(HEIGHTS.height(&name)), start.trailing_zeros() / 5, "{name}");
    }
}

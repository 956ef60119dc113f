//! Bytes that nobody of us wrote: refused, or understood exactly, and never a panic.

use proptest::collection::vec;
use proptest::prelude::*;

use super::golden::{extents, inner, inner_extents, leaf};
use super::*;

/// Holds that bytes are no page, or exactly that page.
fn check_page(bytes: Vec<u8>) {
    let bytes = Bytes::from(bytes);
    if let Ok(page) = decode_page(&bytes) {
        assert_eq!(encode_page(&page).unwrap(), bytes);
        page.sum();
    }
}

fn check_extents(bytes: Vec<u8>) {
    let bytes = Bytes::from(bytes);
    if let Ok(page) = decode_extents(&bytes) {
        assert_eq!(encode_extents(&page).unwrap(), bytes);
        assert!(page.len() <= LARGEST_FILE);
    }
}

/// Everything that differs from `golden` in one byte.
fn changed_once(golden: &Bytes) -> impl Iterator<Item = Vec<u8>> {
    (0..golden.len()).flat_map(move |at| {
        (1..=255).map(move |change: u8| {
            let mut changed = golden.to_vec();
            changed[at] ^= change;
            changed
        })
    })
}

#[test]
fn a_page_with_any_one_byte_changed_is_refused_or_understood() {
    changed_once(&leaf()).chain(changed_once(&inner())).for_each(check_page);
    changed_once(&extents()).chain(changed_once(&inner_extents())).for_each(check_extents);
}

#[test]
fn a_page_that_is_cut_off_anywhere_is_refused() {
    for golden in [leaf(), inner()] {
        for len in 0..golden.len() {
            assert!(decode_page(&golden.slice(..len)).is_err(), "the first {len} bytes");
        }
    }
    for golden in [extents(), inner_extents()] {
        for len in 0..golden.len() {
            assert!(decode_extents(&golden.slice(..len)).is_err(), "the first {len} bytes");
        }
    }
}

#[test]
fn a_page_with_something_behind_it_is_refused() {
    for golden in [leaf(), inner()] {
        assert!(decode_page(&[&golden[..], &[0]].concat().into()).is_err());
    }
    for golden in [extents(), inner_extents()] {
        assert!(decode_extents(&[&golden[..], &[0]].concat().into()).is_err());
    }
}

#[test]
fn a_page_of_a_later_format_is_refused_as_such() {
    let mut later = leaf().to_vec();
    later[0] = 2;
    let err = decode_page(&later.into()).unwrap_err();
    assert_eq!(err.to_string(), "a stored page is damaged: it was written by a later version");
}

#[test]
fn lengths_that_add_up_to_more_than_fits_are_refused() {
    let holes = [0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20].repeat(128);
    assert!(decode_extents(&[&[1, 0, 0x80, 1][..], &holes].concat().into()).is_err());
}

#[test]
fn a_page_longer_than_any_that_we_write_is_refused() {
    let hole = [0, 1];
    let full = |count: u8| [&[1, 0, count, 1][..], &hole.repeat(count as usize)].concat();
    assert!(decode_extents(&full(0x80).into()).is_ok());
    assert!(decode_extents(&full(0x81).into()).is_err());
}

#[test]
fn what_cannot_be_read_is_not_written() {
    let page = |name: &str| Page::Leaf(vec![item(name, node(1))].into());
    for name in ["", ".", "..", "a/b", "a\0", &"x".repeat(256), "\u{10FE80}\u{10FE80}é"] {
        let encoded = encode_page(&page(name));
        assert!(encoded.is_err() || decode_page(&encoded.unwrap().into()).is_ok(), "{name:?}");
    }
    assert!(encode_page(&page(&"x".repeat(256))).is_err());
    let target = Node { body: Body::Symlink("x".repeat(4096).into()), ..node(1) };
    assert!(encode_page(&Page::Leaf(vec![item("link", target)].into())).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused_or_understood(bytes in vec(any::<u8>(), 0..200)) {
        check_page(bytes.clone());
        check_extents(bytes.clone());
        // What begins as a page does is looked at more closely.
        check_page([&[1, bytes.first().map_or(0, |byte| byte % 3), 1][..], &bytes].concat());
        check_extents([&[1, bytes.first().map_or(0, |byte| byte % 3), 1][..], &bytes].concat());
    }

    #[test]
    fn pages_with_some_bytes_changed_are_refused_or_understood(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for golden in [leaf(), inner()] {
            let mut bytes = golden.to_vec();
            changes.iter().for_each(|(at, byte)| *at.get_mut(&mut bytes) = *byte);
            check_page(bytes);
        }
        for golden in [extents(), inner_extents()] {
            let mut bytes = golden.to_vec();
            changes.iter().for_each(|(at, byte)| *at.get_mut(&mut bytes) = *byte);
            check_extents(bytes);
        }
    }
}

//! Sealing and opening.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use sandkeep_storage::ErrorKind;
use sandkeep_storage::frame::{MAX_PLAIN, open, seal};

const HEAD: usize = 22;
const RAW: u8 = 0;
const ZSTD: u8 = 1;

proptest! {
    #[test]
    fn what_is_sealed_opens_to_itself(plain in plain()) {
        prop_assert_eq!(&open(&seal(&plain)).unwrap()[..], &plain[..]);
    }

    #[test]
    fn any_bytes_open_to_something_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        open(&bytes.into()).ok();
    }

    #[test]
    fn any_bytes_behind_a_head_open_to_something_or_an_error(
        codec in 0..3_u8,
        len in 0..300_u32,
        payload in vec(any::<u8>(), 0..300),
    ) {
        open(&head(codec, len, &payload)).ok();
    }

    #[test]
    fn a_changed_byte_never_changes_the_length(plain in plain(), at in any::<usize>(), to: u8) {
        let mut stored = seal(&plain).to_vec();
        let at = at % stored.len();
        stored[at] = to;
        if let Ok(opened) = open(&stored.into()) {
            prop_assert_eq!(opened.len(), plain.len());
        }
    }

    #[test]
    fn a_shorter_frame_is_refused(plain in plain(), keep in any::<usize>()) {
        let stored = seal(&plain);
        let shorter = stored.slice(..keep % stored.len());
        prop_assert_eq!(open(&shorter).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn a_longer_frame_is_refused(plain in plain(), more in vec(any::<u8>(), 1..50)) {
        let longer = [&seal(&plain)[..], &more].concat();
        prop_assert_eq!(open(&longer.into()).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

/// Bytes that compress well, badly, or not at all.
fn plain() -> impl Strategy<Value = Vec<u8>> {
    let repeated = (vec(any::<u8>(), 1..20), 0..2000_usize).prop_map(|(it, n)| it.repeat(n));
    prop_oneof![vec(any::<u8>(), 0..3000), vec(0..4_u8, 0..3000), repeated]
}

#[test]
fn equal_bytes_are_never_sealed_alike() {
    assert_ne!(seal(b"equal"), seal(b"equal"));
}

#[test]
fn what_compresses_is_compressed() {
    let stored = seal(&[7; 4096]);
    assert_eq!(stored[1], ZSTD);
    assert!(stored.len() < 100);
}

#[test]
fn what_saves_less_than_a_tenth_stays_raw() {
    // Of a thousand bytes, the noise stays and the run of zeros all but vanishes.
    let mixed = |zeros| [noise(1000 - zeros), vec![0; zeros]].concat();
    assert_eq!(seal(&mixed(0))[1], RAW);
    assert_eq!(seal(&mixed(100))[1], RAW);
    assert_eq!(seal(&mixed(150))[1], ZSTD);
    assert!(seal(&mixed(150)).len() <= HEAD + 900);
}

#[test]
fn what_is_short_stays_raw() {
    assert_eq!(seal(&[0; 127])[1], RAW);
    assert_eq!(seal(&[0; 128])[1], ZSTD);
}

#[test]
fn what_is_raw_opens_without_a_copy() {
    let stored = seal(b"short");
    let opened = open(&stored).unwrap();
    assert_eq!(opened.as_ptr(), stored[HEAD..].as_ptr());
}

#[test]
fn an_object_holds_16_mib_and_no_more() {
    let largest = vec![1; MAX_PLAIN];
    assert!(open(&seal(&largest)).unwrap() == largest);
    let larger = vec![1; MAX_PLAIN + 1];
    assert_eq!(open(&seal(&larger)).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_frame_that_swells_beyond_what_it_says_is_refused() {
    let bomb = zstd::bulk::compress(&vec![0; 100 << 20], 1).unwrap();
    for len in [0, 1, 16 << 20] {
        assert_eq!(open(&head(ZSTD, len, &bomb)).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn a_second_frame_behind_the_first_is_refused() {
    let stored = seal(&[7; 4096]);
    let empty = zstd::bulk::compress(b"", 1).unwrap();
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    for more in [empty, skippable] {
        let longer = [&stored[..], &more].concat();
        assert_eq!(open(&longer.into()).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn a_format_or_codec_of_the_future_is_refused() {
    for (at, value) in [(0, 0), (0, 2), (1, 2), (1, 255)] {
        let mut stored = seal(b"short").to_vec();
        stored[at] = value;
        assert_eq!(open(&stored.into()).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

/// A frame with this payload, whatever it is.
fn head(codec: u8, len: u32, payload: &[u8]) -> Bytes {
    [&[1, codec][..], &[0; 16], &len.to_le_bytes(), payload].concat().into()
}

fn noise(len: usize) -> Vec<u8> {
    std::iter::repeat_with(rand::random::<u8>).take(len).collect()
}

//! Which bytes are whole letters.

use engine::{Encoding, Error, ErrorKind, Misfit, Result};

/// The longest letter of any encoding, in bytes.
pub(super) const LONGEST: usize = 4;

/// How many bytes at the beginning are whole letters, where the rest was cut off.
pub(super) fn whole(bytes: &[u8], encoding: Encoding) -> usize {
    let shortest = bytes.len().saturating_sub(LONGEST);
    let fits = |end: &usize| {
        // Only what is near the end matters; but of an encoding in which letters have several bytes,
        // only the beginning tells where they begin.
        let from = if encoding == Encoding::UTF_8 || is_utf_16(encoding) {
            floor(bytes, end.saturating_sub(64), encoding)
        } else {
            0
        };
        let part = bytes.get(from..*end).unwrap_or_default();
        encoding.decode(part, Misfit::Refuse).is_ok()
    };
    // Where nothing fits the bytes are no text at all, which is told when they are read.
    (shortest..=bytes.len()).rev().find(fits).unwrap_or(bytes.len())
}

/// How many bytes at the beginning are whole letters, up to `most` of them. One letter comes in any
/// case: who got none would ask for it forever.
pub(super) fn up_to(most: usize, bytes: &[u8], encoding: Encoding) -> usize {
    let asked = bytes.get(..most).unwrap_or(bytes);
    match whole(asked, encoding) {
        0 => {
            let fits = |end: &usize| {
                let letter = bytes.get(..*end);
                letter.is_some_and(|letter| encoding.decode(letter, Misfit::Refuse).is_ok())
            };
            // Where there is no letter the bytes are no text, which is told when they are read.
            (1..=LONGEST).find(fits).unwrap_or(asked.len())
        }
        end => end,
    }
}

/// The text that bytes stand for, which begin at an offset of their file.
pub(super) fn decode(bytes: &[u8], encoding: Encoding, offset: u64) -> Result<String> {
    if encoding == Encoding::UTF_8 {
        return std::str::from_utf8(bytes).map(ToOwned::to_owned).map_err(|err| {
            let message = no_text(bytes, err.valid_up_to(), offset);
            Error::new(ErrorKind::InvalidArgument, message)
        });
    }
    encoding.decode(bytes, Misfit::Refuse).map_err(|err| {
        if offset == 0 {
            return err;
        }
        Error::new(err.kind(), format!("{}, counted from {offset}", err.message()))
    })
}

fn no_text(bytes: &[u8], at: usize, offset: u64) -> String {
    let is_inner = |byte: &&u8| **byte & 0xC0 == 0x80;
    let inner = bytes.iter().take_while(is_inner).count();
    if at == 0 && offset > 0 && (1..LONGEST).contains(&inner) {
        let next = offset + inner as u64;
        return format!("offset {offset} is inside a letter; the next one begins at {next}");
    }
    format!("the bytes at offset {} are no text in UTF-8", offset + at as u64)
}

fn is_utf_16(encoding: Encoding) -> bool {
    encoding == Encoding::UTF_16LE || encoding == Encoding::UTF_16BE
}

/// Where a letter begins, at or shortly before a place.
fn floor(bytes: &[u8], place: usize, encoding: Encoding) -> usize {
    if is_utf_16(encoding) {
        let place = place & !1;
        // The second half of a pair.
        let high = usize::from(encoding == Encoding::UTF_16LE);
        let is_second = bytes.get(place + high).is_some_and(|byte| byte & 0xFC == 0xDC);
        return if is_second { place.saturating_sub(2) } else { place };
    }
    let begins = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    (place.saturating_sub(LONGEST)..=place).rev().find(begins).unwrap_or(place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cut_never_splits_a_letter_nor_loses_a_whole_one(text in "[a-zé€😀\n]{0,60}", at in 0_usize..300) {
            for encoding in [Encoding::UTF_8, Encoding::UTF_16LE, Encoding::UTF_16BE] {
                let bytes = encoding.encode(&text, Misfit::Refuse).unwrap();
                let at = at.min(bytes.len());
                let end = whole(&bytes[..at], encoding);
                prop_assert!(at - end < LONGEST);
                let text = encoding.decode(&bytes[..end], Misfit::Refuse).unwrap();
                let next = encoding.decode(&bytes[end..], Misfit::Refuse).unwrap();
                prop_assert_eq!(encoding.encode(&(text + &next), Misfit::Refuse).unwrap(), bytes);
            }
        }
    }

    #[test]
    fn letters_of_two_bytes_are_not_split() {
        let encoding = Encoding::named("shift_jis").unwrap();
        let bytes = encoding.encode("日本", Misfit::Refuse).unwrap();
        assert_eq!(whole(&bytes[..3], encoding), 2);
        assert_eq!(whole(&bytes, encoding), 4);
    }

    #[test]
    fn whoever_begins_inside_a_letter_is_told_where_the_next_one_is() {
        let err = decode(&[0x82, 0xAC, b'x'], Encoding::UTF_8, 7).unwrap_err();
        assert_eq!(err.message(), "offset 7 is inside a letter; the next one begins at 9");
    }
}

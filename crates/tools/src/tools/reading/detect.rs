//! Which encoding bytes are in, if they are text.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use engine::{Encoding, Misfit};

use super::letters;

/// The encoding of a text that begins with these bytes. None if they are no text.
pub(super) fn detect(head: &[u8], is_whole: bool) -> Option<Encoding> {
    match head {
        [0xFF, 0xFE, ..] => return Some(Encoding::UTF_16LE),
        [0xFE, 0xFF, ..] => return Some(Encoding::UTF_16BE),
        _ => {}
    }
    if head.iter().any(|byte| is_odd(*byte)) {
        return None;
    }
    let fits = |encoding: Encoding| {
        let end = if is_whole { head.len() } else { letters::whole(head, encoding) };
        let part = head.get(..end).unwrap_or_default();
        encoding.decode(part, Misfit::Refuse).is_ok()
    };
    if fits(Encoding::UTF_8) {
        return Some(Encoding::UTF_8);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(head, is_whole);
    let guess = detector.guess(None, Utf8Detection::Deny);
    Encoding::named(guess.name()).ok().filter(|encoding| fits(*encoding))
}

/// A byte that no text holds: a control character that neither ends lines nor colours them.
fn is_odd(byte: u8) -> bool {
    matches!(byte, 0x00..=0x07 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_8_is_recognised_even_where_a_letter_is_cut() {
        assert_eq!(detect("größe €".as_bytes(), true), Some(Encoding::UTF_8));
        assert_eq!(detect(&"größe €".as_bytes()[..10], false), Some(Encoding::UTF_8));
        assert_eq!(detect(b"", true), Some(Encoding::UTF_8));
    }

    #[test]
    fn older_encodings_are_recognised() {
        let japanese = Encoding::named("shift_jis").unwrap();
        let text = "日本語のテキストファイルです。ひらがなとカタカナと漢字があります。";
        let bytes = japanese.encode(text, Misfit::Refuse).unwrap();
        assert_eq!(detect(&bytes, true), Some(japanese));
        assert_eq!(
            detect(b"caf\xe9 au lait, na\xefve r\xe9sum\xe9", true),
            Some(Encoding::WINDOWS_1252)
        );
    }

    #[test]
    fn what_has_control_characters_is_no_text() {
        assert_eq!(detect(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", true), None);
        assert_eq!(detect(b"\x7fELF\x02\x01\x01", true), None);
        assert_eq!(detect(b"\x1b[31mred\x1b[0m\n", true), Some(Encoding::UTF_8));
    }

    #[test]
    fn a_byte_order_mark_decides() {
        assert_eq!(detect(b"\xff\xfeh\0i\0", true), Some(Encoding::UTF_16LE));
        assert_eq!(detect(b"\xfe\xff\0h\0i", true), Some(Encoding::UTF_16BE));
    }
}

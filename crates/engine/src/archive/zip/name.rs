//! What members are called.

use flate2::Crc;

use super::super::bad;
use super::IS_UTF_8;
use super::extra::Extra;
use crate::{Result, name};

/// The letters of the IBM PC, from 0x80 on, for names that say nothing and are not UTF-8.
const UPPER_HALF: &str = concat!(
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒ",
    "áíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
    "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀",
    "αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
);

/// The bytes of a member's name.
pub(super) fn decode(given: &[u8], flags: u16, extra: &Extra<'_>) -> Result<Vec<u8>> {
    let utf_8 = |bytes| {
        std::str::from_utf8(bytes).map_err(|_| bad("a member's name should be UTF-8 and is not"))
    };
    let text = match extra.name {
        _ if flags & IS_UTF_8 != 0 => utf_8(given)?.to_owned(),
        // It holds only for the name that it was made for.
        Some((checksum, unicode)) if checksum == crc(given) => utf_8(unicode)?.to_owned(),
        // Programs on Unix write what the name is there, and say nothing.
        Some(_) | None => match std::str::from_utf8(given) {
            Ok(text) => text.to_owned(),
            Err(_) => given.iter().map(|byte| letter(*byte)).collect(),
        },
    };
    if text.contains('\\') {
        let shown = text.escape_debug();
        return Err(bad(format!(
            "a member's name holds a backslash, which separates nothing: {shown}"
        )));
    }
    Ok(name::to_bytes(&text).into_owned())
}

fn letter(byte: u8) -> char {
    let upper = byte.checked_sub(0x80).and_then(|nth| UPPER_HALF.chars().nth(usize::from(nth)));
    upper.unwrap_or(char::from(byte))
}

pub(super) fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_letter() {
        assert_eq!(UPPER_HALF.chars().count(), 128);
        let text: String = b"a\x80\x84\xe1\xff".iter().map(|byte| letter(*byte)).collect();
        assert_eq!(text, "aÇäß\u{a0}");
    }
}

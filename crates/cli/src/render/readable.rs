//! Names, sizes and times as people read them.

use std::fmt::Write as _;

use engine::UnixTime;
use jiff::Timestamp;

/// A text that is safe on a terminal: letters that move the cursor, hide or reorder others are
/// escaped, and so is the backslash, so that no two names look alike.
pub(crate) fn shown(text: &str) -> String {
    harmless(&text.replace('\\', "\\\\"))
}

/// The same, with backslashes as they are, for words to be typed again.
pub(crate) fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match (letter, broken_byte(letter)) {
            // Writing to a String cannot fail.
            (_, Some(byte)) => drop(write!(safe, "\\x{byte:02x}")),
            ('\n', _) => safe.push_str("\\n"),
            ('\t', _) => safe.push_str("\\t"),
            ('\r', _) => safe.push_str("\\r"),
            _ if is_deceptive(letter) => safe.extend(letter.escape_unicode()),
            _ => safe.push(letter),
        }
    }
    safe
}

/// A word as a POSIX shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// So many of something.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

/// A number of bytes with three digits or so.
pub(crate) fn size(bytes: u64) -> String {
    let units = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes >> shift > 0) {
        None => format!("{bytes} B"),
        Some((unit, shift)) => {
            let tenths = (u128::from(bytes) * 10) >> shift;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
    }
}

/// A time in UTC, to the second, as RFC 3339.
pub(crate) fn time(time: UnixTime) -> String {
    match Timestamp::from_second(time.seconds) {
        Ok(time) => time.to_string(),
        Err(_) => "out of range".into(),
    }
}

/// The same to the nanosecond, for programs; none if no calendar has it.
pub(crate) fn exact_time(time: UnixTime) -> Option<String> {
    let nanoseconds = i32::try_from(time.nanoseconds).ok()?;
    Timestamp::new(time.seconds, nanoseconds).ok().map(|time| time.to_string())
}

/// The byte that a reserved code point stands for, in a host name that is not UTF-8.
fn broken_byte(letter: char) -> Option<u8> {
    let point = u32::from(letter).checked_sub(0x10_FE80)?;
    u8::try_from(point + 0x80).ok()
}

fn is_deceptive(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_shown_as_they_are() {
        assert_eq!(shown("añ b 😀.txt"), "añ b 😀.txt");
    }

    #[test]
    fn terminal_controls_and_reordering_are_escaped() {
        assert_eq!(shown("\x1b[31mred\n"), "\\u{1b}[31mred\\n");
        assert_eq!(shown("\u{9b}2J"), "\\u{9b}2J");
        assert_eq!(shown("exe\u{202e}txt.nc"), "exe\\u{202e}txt.nc");
    }

    #[test]
    fn a_byte_that_is_not_utf_8_is_shown_as_that_byte() {
        assert_eq!(shown("a\u{10FEFF}"), "a\\xff");
        assert_eq!(shown("a\u{10FE80}"), "a\\x80");
    }

    #[test]
    fn a_real_backslash_is_not_confused_with_an_escape() {
        assert_ne!(shown("a\\n"), shown("a\n"));
    }

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(u64::MAX), "16383.9 PiB");
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(counted(1, "directory"), "1 directory");
        assert_eq!(counted(0, "directory"), "0 directories");
        assert_eq!(counted(2, "file"), "2 files");
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("/a/b.txt"), "/a/b.txt");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
    }
}

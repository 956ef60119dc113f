//! How a path is written in a diff.

use std::fmt::Write as _;

use crate::SandboxPath;

/// A path as git writes it: between quotes if it would be read as something else otherwise.
pub(super) fn told(side: &str, file: &SandboxPath) -> String {
    let path = format!("{side}{file}");
    if path.contains(|letter: char| letter.is_control() || letter == '"' || letter == '\\') {
        return quoted(&path);
    }
    // Without a tab, `patch` takes the name to end at a space.
    let end = if path.contains(' ') { "\t" } else { "" };
    path + end
}

fn quoted(path: &str) -> String {
    let mut text = String::from('"');
    for letter in path.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            _ if letter.is_control() => {
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "\\{byte:03o}");
                }
            }
            _ => text.push(letter),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> String {
        told("a", &SandboxPath::root().join(path).unwrap())
    }

    #[test]
    fn a_name_cannot_pretend_to_be_another_line() {
        assert_eq!(of("plain.rs"), "a/plain.rs");
        assert_eq!(of("x\n+++ y\u{1}"), r#""a/x\n+++ y\001""#);
    }

    #[test]
    fn a_name_with_spaces_ends_with_a_tab() {
        assert_eq!(of("a b"), "a/a b\t");
    }
}

//! Paths by the rules of the library: never an error for a slash or a dot, never above the root.

use proptest::prelude::*;
use sandkeep_engine::{DotDot, ErrorKind, SandboxPath};

fn clamped(raw: &str) -> String {
    SandboxPath::clamped(raw).unwrap().as_str().to_owned()
}

#[test]
fn nothing_and_dots_are_the_root() {
    assert_eq!(clamped(""), "/");
    assert_eq!(clamped("/"), "/");
    assert_eq!(clamped("."), "/");
    assert_eq!(clamped(".."), "/");
    assert_eq!(clamped("/.."), "/");
}

#[test]
fn a_leading_slash_is_added() {
    assert_eq!(clamped("a/b"), "/a/b");
    assert_eq!(clamped("src/file.txt"), "/src/file.txt");
}

#[test]
fn a_trailing_slash_is_removed() {
    assert_eq!(clamped("/a/b/"), "/a/b");
    assert_eq!(clamped("/src/"), "/src");
}

#[test]
fn backslashes_are_slashes() {
    assert_eq!(clamped(r"\a\b"), "/a/b");
    assert_eq!(clamped(r"\src\file.txt"), "/src/file.txt");
    assert_eq!(clamped(r"C:\x"), "/C:/x");
}

#[test]
fn empty_segments_vanish() {
    assert_eq!(clamped("//a///b"), "/a/b");
}

#[test]
fn single_dots_vanish() {
    assert_eq!(clamped("/a/./b"), "/a/b");
    assert_eq!(clamped("/src/./file.txt"), "/src/file.txt");
}

#[test]
fn double_dots_take_back_a_segment() {
    assert_eq!(clamped("/a/b/.."), "/a");
    assert_eq!(clamped("/src/../file.txt"), "/file.txt");
}

#[test]
fn double_dots_stop_at_the_root() {
    assert_eq!(clamped("../../x"), "/x");
    assert_eq!(clamped("/a/../../b"), "/b");
    assert_eq!(clamped("/a/b/../../../../c"), "/c");
    assert_eq!(clamped(r"\..\x"), "/x");
}

#[test]
fn names_that_only_look_like_dots_are_names() {
    assert_eq!(clamped("/a/..b"), "/a/..b");
    assert_eq!(clamped("/a/.../b"), "/a/.../b");
}

#[test]
fn spaces_and_tildes_are_names() {
    assert_eq!(clamped(" /a"), "/ /a");
    assert_eq!(clamped("~/x"), "/~/x");
}

#[test]
fn names_differ_in_case_and_in_composition() {
    assert_ne!(clamped("A"), clamped("a"));
    assert_ne!(clamped("\u{e9}"), clamped("e\u{301}"));
}

#[test]
fn a_nul_is_refused() {
    assert_eq!(SandboxPath::clamped("/a\0b").unwrap_err().kind(), ErrorKind::InvalidPath);
}

#[test]
fn a_name_has_at_most_255_bytes() {
    assert!(SandboxPath::clamped(&"x".repeat(255)).is_ok());
    let err = SandboxPath::clamped(&"x".repeat(256)).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidPath);
}

#[test]
fn a_path_has_at_most_4096_bytes_once_it_is_clamped() {
    let long = r"\abcdefg".repeat(512);
    assert_eq!(clamped(&long).len(), 4096);
    assert_eq!(clamped(&format!("{long}/./../abcdefg///")).len(), 4096);
    let err = SandboxPath::clamped(&format!("{long}h")).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidPath);
}

#[test]
fn a_path_knows_its_parent_and_what_it_lies_beneath() {
    let (dir, other) = (SandboxPath::clamped("/a").unwrap(), SandboxPath::clamped("/ab").unwrap());
    assert_eq!(dir.parent(), Some(SandboxPath::root()));
    assert!(!other.starts_with(&dir));
    assert_eq!(dir.resolve("../../x", DotDot::Clamp).unwrap().as_str(), "/x");
}

/// The rules again, as simply as they can be said.
fn model(raw: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut name = String::new();
    for letter in raw.chars().chain(['/']) {
        if letter != '/' && letter != '\\' {
            name.push(letter);
            continue;
        }
        match std::mem::take(&mut name).as_str() {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            other => names.push(format!("/{other}")),
        }
    }
    if names.is_empty() { "/".to_owned() } else { names.concat() }
}

/// Texts that are mostly about slashes and dots.
fn raw_paths() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("/".to_owned()),
        2 => Just("\\".to_owned()),
        2 => Just(".".to_owned()),
        2 => Just("..".to_owned()),
        3 => "[a-c .é]{1,3}",
        1 => "\\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn clamping_is_what_the_model_says(raw in raw_paths()) {
        prop_assert_eq!(clamped(&raw), model(&raw));
    }

    #[test]
    fn clamping_twice_is_clamping_once(raw in raw_paths()) {
        let once = clamped(&raw);
        prop_assert_eq!(clamped(&once), once);
    }

    #[test]
    fn a_clamped_path_has_one_form(raw in any::<String>()) {
        if let Ok(path) = SandboxPath::clamped(&raw) {
            let text = path.as_str();
            prop_assert!(text.starts_with('/'));
            prop_assert!(text == "/" || !text.ends_with('/'));
            prop_assert!(!text.contains('\\') && !text.contains('\0') && !text.contains("//"));
            prop_assert!(path.segments().all(|name| name != "." && name != ".."));
        }
    }

    #[test]
    fn no_path_climbs_out_of_a_directory_that_it_never_entered(raw in raw_paths()) {
        let climbing = format!("{}{raw}", "../".repeat(64));
        prop_assert_eq!(clamped(&climbing), clamped(&raw));
    }

    #[test]
    fn only_nul_and_length_are_ever_refused(raw in any::<String>()) {
        let too_long = raw.len() > 255;
        prop_assert!(SandboxPath::clamped(&raw).is_ok() || raw.contains('\0') || too_long);
    }
}

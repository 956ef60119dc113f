//! Names that files may have.

use engine::{Depth, ErrorKind, If, MAX_NAME, MAX_PATH, Target};

use crate::promise::promises;
use crate::tree::{Tree, at};

promises! {
    a_name_may_hold_spaces;
    a_name_may_begin_and_end_with_a_space;
    a_name_may_hold_a_newline;
    a_name_may_hold_a_percent_sign;
    a_name_may_look_percent_encoded;
    a_name_may_hold_a_plus_sign;
    a_name_may_hold_signs_of_a_url;
    a_name_may_hold_quotes;
    a_name_may_hold_a_backslash;
    a_name_may_hold_control_characters;
    a_name_may_begin_with_a_dash;
    a_name_may_begin_with_a_dot;
    a_name_may_be_three_dots;
    a_name_may_be_a_tilde;
    a_name_may_hold_wildcards;
    a_name_may_be_emoji;
    a_name_may_be_in_any_script;
    a_name_may_be_no_utf_8;
    a_name_may_have_255_bytes;
    a_name_of_letters_of_several_bytes_may_have_255_bytes;
    a_path_may_have_4096_bytes;
    names_that_differ_in_case_are_two_names;
    names_that_only_look_alike_are_two_names;
    names_that_differ_in_one_invalid_byte_are_two_names;
}

/// Holds that a file and a directory of this name can be made, found, listed, moved and removed.
async fn holds(tree: Tree, name: &str) {
    let (dir, file) = (format!("/{name}"), format!("/{name}/{name}"));
    tree.put(&file, "content").await;
    assert_eq!(tree.text(&file).await, "content");
    assert_eq!(tree.entry(&file).await.path.as_str(), file);
    assert_eq!(tree.names("/").await, [name]);
    assert_eq!(tree.names(&dir).await, [name]);
    tree.rename(&at(&file), &at("/moved"), Target::New).await.unwrap();
    assert_eq!(tree.absence(&file).await, ErrorKind::NotFound);
    tree.copy(&at("/moved"), &at(&file), Target::New).await.unwrap();
    assert_eq!(tree.text(&file).await, "content");
    tree.remove(&at(&dir), Depth::All, If::Always).await.unwrap();
    assert_eq!(tree.names("/").await, ["moved"]);
}

async fn a_name_may_hold_spaces(tree: Tree) {
    holds(tree, "a name  with spaces").await;
}

async fn a_name_may_begin_and_end_with_a_space(tree: Tree) {
    holds(tree, " name ").await;
}

async fn a_name_may_hold_a_newline(tree: Tree) {
    holds(tree, "two\nlines\r\n").await;
}

async fn a_name_may_hold_a_percent_sign(tree: Tree) {
    holds(tree, "100%").await;
}

async fn a_name_may_look_percent_encoded(tree: Tree) {
    holds(tree, "%2e%2E%2f%00%zz").await;
}

async fn a_name_may_hold_a_plus_sign(tree: Tree) {
    holds(tree, "1+1").await;
}

async fn a_name_may_hold_signs_of_a_url(tree: Tree) {
    holds(tree, "a?b#c&d=e;f:g@h,i!j$k(l)m[n]").await;
}

async fn a_name_may_hold_quotes(tree: Tree) {
    holds(tree, "\"'`“”").await;
}

async fn a_name_may_hold_a_backslash(tree: Tree) {
    holds(tree, "a\\b\\..\\c\\").await;
}

async fn a_name_may_hold_control_characters(tree: Tree) {
    holds(tree, "\u{1}\u{7}\t\u{1b}[31m\u{7f}\u{85}\u{2028}").await;
}

async fn a_name_may_begin_with_a_dash(tree: Tree) {
    holds(tree, "-rf").await;
}

async fn a_name_may_begin_with_a_dot(tree: Tree) {
    holds(tree, ".hidden").await;
}

async fn a_name_may_be_three_dots(tree: Tree) {
    holds(tree, "...").await;
}

async fn a_name_may_be_a_tilde(tree: Tree) {
    holds(tree, "~").await;
}

async fn a_name_may_hold_wildcards(tree: Tree) {
    holds(tree, "*?[a]{b,c}").await;
}

async fn a_name_may_be_emoji(tree: Tree) {
    holds(tree, "😀👩\u{200d}💻").await;
}

async fn a_name_may_be_in_any_script(tree: Tree) {
    holds(tree, "naïve-日本語-עברית-\u{FFFD}").await;
}

async fn a_name_may_be_no_utf_8(tree: Tree) {
    // These code points stand for the bytes 80 and FF.
    holds(tree, "a\u{10FE80}b\u{10FEFF}").await;
}

async fn a_name_may_have_255_bytes(tree: Tree) {
    holds(tree, &"n".repeat(MAX_NAME)).await;
}

async fn a_name_of_letters_of_several_bytes_may_have_255_bytes(tree: Tree) {
    holds(tree, &"日".repeat(MAX_NAME / 3)).await;
}

async fn a_path_may_have_4096_bytes(tree: Tree) {
    let name = "d".repeat(MAX_NAME);
    let dir = format!("/{name}").repeat(MAX_PATH / (MAX_NAME + 1) - 1);
    let file = format!("{dir}/{name}");
    assert_eq!(file.len(), MAX_PATH);
    tree.put(&file, "content").await;
    assert_eq!(tree.text(&file).await, "content");
    assert_eq!(tree.names(&dir).await, [name]);
    tree.remove(&at(&file), Depth::One, If::Always).await.unwrap();
    assert!(tree.names(&dir).await.is_empty());
}

/// Holds that two names are two files.
async fn two(tree: Tree, one: &str, other: &str) {
    tree.put(&format!("/{one}"), "one").await;
    tree.put(&format!("/{other}"), "other").await;
    assert_eq!(tree.text(&format!("/{one}")).await, "one");
    assert_eq!(tree.names("/").await.len(), 2);
}

async fn names_that_differ_in_case_are_two_names(tree: Tree) {
    two(tree, "README", "readme").await;
}

async fn names_that_only_look_alike_are_two_names(tree: Tree) {
    two(tree, "\u{e9}", "e\u{301}").await;
}

async fn names_that_differ_in_one_invalid_byte_are_two_names(tree: Tree) {
    two(tree, "a\u{10FEFE}", "a\u{10FEFF}").await;
}

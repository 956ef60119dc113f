//! A text that is not there: where something like it is.

use super::{instead, refused};

const MISSING: &str = "precondition_failed: the text to replace is not in the file";

#[tokio::test]
async fn other_white_space_is_told() {
    let content = "fn main() {\n\tlet a = 1;\n\tlet b = 2;\n}\n";
    let told = refused(content, instead("    let a = 1;\n    let b = 2;\n", "x")).await;
    assert_eq!(told, format!("{MISSING}; it is in line 2 with other white space"));
}

#[tokio::test]
async fn other_ends_of_lines_are_told() {
    let told = refused("a\nb\nc\n", instead("b\r\nc", "x")).await;
    assert_eq!(told, format!("{MISSING}; it is in line 2 with other ends of lines"));
}

#[tokio::test]
async fn other_capital_letters_are_told() {
    let told = refused("one\nLet Mut\n", instead("let mut", "x")).await;
    assert_eq!(
        told,
        format!("{MISSING}; it is in line 2 with other capital letters or white space")
    );
}

#[tokio::test]
async fn the_line_that_is_most_alike_is_told_by_its_number_alone() {
    let content = "fn one() {}\nfn secret_number_two() {}\nfn three() {}\n";
    let told = refused(content, instead("\nfn secret_numbers_two() {\n", "x")).await;
    assert_eq!(told, format!("{MISSING}; the line most like its beginning is line 2"));
}

#[tokio::test]
async fn nothing_is_told_where_nothing_is_alike() {
    assert_eq!(refused("abc\ndef\n", instead("xyz", "x")).await, MISSING);
}

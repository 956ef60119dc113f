//! The differences that are told, read by people and by `git apply`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use bytes::Bytes;
use sandkeep_engine::{Edit, EditLimits, ExpectedCount, edit};

use super::{all_of, edited, instead};
use crate::contents::{at, write};
use crate::fixture::memory;

/// What `git apply` makes of a file called `f` with this content.
#[expect(clippy::disallowed_methods, reason = "git works on a directory of its own")]
pub(super) fn git_applied(content: &[u8], diff: &str) -> Bytes {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, content).unwrap();
    let mut git = Command::new("git")
        .args(["apply", "--whitespace=nowarn", "--verbose", "-"])
        .current_dir(&dir)
        .env("GIT_CEILING_DIRECTORIES", dir.path())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", dir.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("git is there");
    git.stdin.take().unwrap().write_all(diff.as_bytes()).unwrap();
    let output = git.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}\n{diff}");
    std::fs::read(&path).unwrap().into()
}

/// The diff of an edit, after git made the same of it.
async fn told(content: &str, wish: Edit) -> String {
    let (new, edited) = edited(content.to_owned(), wish).await.unwrap();
    assert_eq!(git_applied(content.as_bytes(), &edited.diff), new, "{}", edited.diff);
    edited.diff.strip_prefix("--- a/f\n+++ b/f\n").unwrap().to_owned()
}

fn numbers(count: usize) -> String {
    (1..=count).map(|number| format!("{number}\n")).collect()
}

#[tokio::test]
async fn three_lines_around_a_change_are_told() {
    let diff = told(&numbers(20), instead("10\n", "ten\n")).await;
    assert_eq!(diff, "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n");
}

#[tokio::test]
async fn changes_that_are_near_are_told_together_and_others_apart() {
    let once = ExpectedCount::default();
    let near = [("10\n", "ten\n", once), ("17\n", "seventeen\n", once)];
    assert_eq!(told(&numbers(30), all_of(near)).await.matches("@@ -").count(), 1);
    let far = [("10\n", "ten\n", once), ("18\n", "eighteen\n", once)];
    let diff = told(&numbers(30), all_of(far)).await;
    assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
}

#[tokio::test]
async fn only_the_lines_that_differ_are_told_of_a_text_that_was_replaced() {
    let diff = told(&numbers(9), instead("4\n5\n6\n", "4\nfive\n6\n")).await;
    assert_eq!(diff, "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

#[tokio::test]
async fn lines_that_came_or_went_are_counted() {
    assert_eq!(told("a\nb\n", instead("a\n", "")).await, "@@ -1,2 +1 @@\n-a\n b\n");
    assert_eq!(told("b\n", instead("b", "a\nb")).await, "@@ -1 +1,2 @@\n+a\n b\n");
    assert_eq!(told("a\n", instead("a\n", "")).await, "@@ -1 +0,0 @@\n-a\n");
}

#[tokio::test]
async fn a_missing_end_of_the_last_line_is_told() {
    let no_end = "\\ No newline at end of file\n";
    let diff = told("a\nb", instead("b", "c")).await;
    assert_eq!(diff, format!("@@ -1,2 +1,2 @@\n a\n-b\n{no_end}+c\n{no_end}"));
    let diff = told("a\nb", instead("b", "b\n")).await;
    assert_eq!(diff, format!("@@ -1,2 +1,2 @@\n a\n-b\n{no_end}+b\n"));
    let diff = told("a\nb", instead("a", "c")).await;
    assert_eq!(diff, format!("@@ -1,2 +1,2 @@\n-a\n+c\n b\n{no_end}"));
}

#[tokio::test]
async fn ends_of_lines_and_marks_are_told_so_that_git_takes_them() {
    assert_eq!(
        told("a\r\nb\r\n", instead("b\n", "c\n")).await,
        "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"
    );
    let diff = told("\u{feff}a\nb\n", instead("b", "c")).await;
    assert_eq!(diff, "@@ -1,2 +1,2 @@\n \u{feff}a\n-b\n+c\n");
}

#[tokio::test]
async fn what_is_changed_and_changed_back_is_no_difference() {
    let (all, once) = (ExpectedCount::All, ExpectedCount::default());
    let wish = all_of([("a", "x", all), ("x", "a", all), ("b", "c", once)]);
    assert_eq!(told("a\na\nb\na\n", wish).await, "@@ -1,4 +1,4 @@\n a\n a\n-b\n+c\n a\n");
}

#[tokio::test]
async fn utf_16_is_told_as_text() {
    let content = &b"\xff\xfea\0\n\0\xe9\0\n\0"[..];
    let (_, edited) = edited(content, instead("é", "è")).await.unwrap();
    assert_eq!(edited.diff, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-é\n+è\n");
}

#[tokio::test]
async fn a_diff_that_is_too_long_ends_with_whole_hunks_and_says_so() {
    let content: String =
        (0..1000).map(|number| format!("line {number} x\n\n\n\n\n\n\n\n")).collect();
    let wish = all_of([("x", "y", ExpectedCount::All)]);
    let wish = Edit { limits: EditLimits { diff: 1000, ..EditLimits::default() }, ..wish };
    let (_, edited) = edited(content.clone(), wish).await.unwrap();
    assert!(edited.is_cut && edited.diff.len() < 1100, "{}", edited.diff.len());
    let last = edited.diff.lines().last().unwrap();
    assert_eq!(last, "... more differs than is told here");
    let shown = edited.diff.matches("@@ -").count();
    assert!(shown > 10, "{shown}");
    let applied = git_applied(content.as_bytes(), &edited.diff);
    assert_eq!(String::from_utf8_lossy(&applied).matches('y').count(), shown);
}

#[tokio::test]
async fn a_name_cannot_break_a_diff() {
    let files = memory().await;
    write(&files, "/f\n+++ b", "old\n").await;
    let edited = edit(&files, &at("/f\n+++ b"), instead("old", "new")).await.unwrap();
    assert!(
        edited.diff.starts_with("--- \"a/f\\n+++ b\"\n+++ \"b/f\\n+++ b\"\n@@"),
        "{}",
        edited.diff
    );
}

#[tokio::test]
async fn a_mark_stays_at_the_beginning_whatever_becomes_the_first_line() {
    let once = ExpectedCount::default();
    // `told` has git make the same of it.
    told("\u{feff}b\nb", instead("b\nb", "\nb\n\nb")).await;
    told("\u{feff}a\nb\n", instead("a\n", "x\na\n")).await;
    let diff = told("\u{feff}a\nb\nc\n", instead("a\n", "")).await;
    assert_eq!(diff, "@@ -1,3 +1,2 @@\n-\u{feff}a\n-b\n+\u{feff}b\n c\n");
    let both = [("a\n", "", once), ("b\n", "", once)];
    told("\u{feff}a\nb\nc\n", all_of(both)).await;
    // With nothing behind it, it is all that there is.
    let diff = told("\u{feff}a\nb", instead("a\nb", "")).await;
    let end = "\\ No newline at end of file\n";
    assert_eq!(diff, format!("@@ -1,2 +1 @@\n-\u{feff}a\n-b\n{end}+\u{feff}\n{end}"));
}

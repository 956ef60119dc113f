//! Text that is replaced, and everything that stays as it was.

mod concurrent;
mod diffs;
mod hints;
mod keeping;
mod limits;
mod random;

use std::sync::Arc;

use bytes::Bytes;
use sandkeep_engine::{
    Edit, EditLimits, Edited, Encoding, ErrorKind, ExpectedCount, FileSystem, If, Links,
    Replacement, Result, Role, Sandbox, SandboxPath, Workspace, edit,
};

use crate::contents::{at, read, write};
use crate::fixture::{id, memory, refusal};

/// One text instead of another, which must be there once.
pub(crate) fn instead(old: &str, new: &str) -> Edit {
    all_of([(old, new, ExpectedCount::default())])
}

fn all_of<'a>(replacements: impl IntoIterator<Item = (&'a str, &'a str, ExpectedCount)>) -> Edit {
    let replacements = replacements
        .into_iter()
        .map(|(old, new, count)| Replacement { old: old.into(), new: new.into(), count })
        .collect();
    let (expected, limits) = (If::Always, EditLimits::default());
    Edit { replacements, dry_run: false, expected, encoding: None, limits }
}

fn in_encoding(label: &str, wish: Edit) -> Edit {
    Edit { encoding: Some(Encoding::named(label).unwrap()), ..wish }
}

/// What an edit makes of a file with this content.
async fn edited(content: impl Into<Bytes>, wish: Edit) -> Result<(Bytes, Edited)> {
    let files = memory().await;
    write(&files, "/f", content).await;
    let edited = edit(&files, &at("/f"), wish).await?;
    Ok((read(&files, &at("/f")).await, edited))
}

/// The content that an edit makes of another.
async fn outcome(content: impl Into<Bytes>, wish: Edit) -> Bytes {
    edited(content, wish).await.unwrap().0
}

/// The words with which an edit is refused, and that it changed nothing.
async fn refused(content: impl Into<Bytes>, wish: Edit) -> String {
    let files = memory().await;
    let content = content.into();
    write(&files, "/f", content.clone()).await;
    let before = files.stat(&at("/f"), Links::Keep).await.unwrap();
    let err = edit(&files, &at("/f"), wish).await.unwrap_err();
    assert_eq!(files.stat(&at("/f"), Links::Keep).await.unwrap(), before);
    assert_eq!(read(&files, &at("/f")).await, content);
    format!("{}: {}", err.kind().word(), err.message())
}

#[tokio::test]
async fn a_text_is_replaced_by_another() {
    let (content, edited) = edited("one two three\n", instead("two", "2")).await.unwrap();
    assert_eq!(content, "one 2 three\n");
    assert_eq!((edited.replaced, edited.entry.size), (vec![1], 12));
    assert_eq!(edited.diff, "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one two three\n+one 2 three\n");
    assert!(!edited.is_cut);
}

#[tokio::test]
async fn each_replacement_sees_what_the_ones_before_made() {
    let all = ExpectedCount::All;
    let wish = all_of([("a", "bb", all), ("bb", "c", all), ("cc", "d", ExpectedCount::Exactly(1))]);
    let (content, edited) = edited("a a aa", wish).await.unwrap();
    assert_eq!((content, edited.replaced), ("c c d".into(), vec![4, 4, 1]));
}

#[tokio::test]
async fn a_text_must_be_there_as_often_as_expected() {
    let expecting = |count| all_of([("x", "y", count)]);
    let exactly = ExpectedCount::Exactly;
    assert_eq!(outcome("x x", expecting(exactly(2))).await, "y y");
    assert_eq!(outcome("x x x", expecting(ExpectedCount::All)).await, "y y y");
    assert_eq!(outcome("aaa", all_of([("aa", "b", ExpectedCount::All)])).await, "ba");
    let words = "precondition_failed: the text to replace is in the file ";
    let told = refused("x\n\nx", expecting(exactly(1))).await;
    assert_eq!(told, format!("{words}twice, in lines 1, 3; once was expected"));
    let told = refused("x", expecting(exactly(3))).await;
    assert_eq!(told, format!("{words}once, in line 1; 3 times was expected"));
    let told = refused("x\n".repeat(9), expecting(exactly(1))).await;
    assert_eq!(told, format!("{words}9 times, in lines 1, 2, 3 and further; once was expected"));
    let missing = "precondition_failed: the text to replace is not in the file";
    assert_eq!(refused("a", expecting(ExpectedCount::All)).await, missing);
    assert_eq!(refused("", expecting(exactly(1))).await, missing);
}

#[tokio::test]
async fn one_replacement_that_fails_takes_all_back() {
    let once = ExpectedCount::default();
    let told = refused("a", all_of([("a", "b", once), ("a", "c", once)])).await;
    let words = "precondition_failed: replacement 2: the text to replace is not in the file";
    assert_eq!(told, words);
}

#[tokio::test]
async fn a_dry_run_tells_and_changes_nothing() {
    let wish = Edit { dry_run: true, ..instead("two", "2") };
    let (content, dry) = edited("one two", wish).await.unwrap();
    assert_eq!((content, dry.entry.size), ("one two".into(), 7));
    let (_, wet) = edited("one two", instead("two", "2")).await.unwrap();
    assert_eq!((dry.diff, dry.replaced), (wet.diff, wet.replaced));
}

#[tokio::test]
async fn whoever_may_look_may_see_what_an_edit_would_do() {
    let files = memory().await;
    write(&files, "/f", "old").await;
    let (prefix, home) = (SandboxPath::root(), SandboxPath::root());
    let sandbox =
        Sandbox { id: id("trial"), files: Arc::new(files), prefix, home, is_system: false };
    let sandbox = Arc::new(sandbox);
    let viewer = Workspace::new(Arc::clone(&sandbox), Role::Viewer, None);
    let dry = Edit { dry_run: true, ..instead("old", "new") };
    assert_eq!(viewer.edit(&at("/f"), dry).await.unwrap().replaced, [1]);
    let refused = refusal(viewer.edit(&at("/f"), instead("old", "new"))).await;
    assert_eq!(refused, ErrorKind::Forbidden);
    let developer = Workspace::new(sandbox, Role::Developer, None);
    developer.edit(&at("/f"), instead("old", "new")).await.unwrap();
    assert_eq!(read(&*developer.sandbox().files, &at("/f")).await, "new");
}

#[tokio::test]
async fn an_edit_without_a_difference_writes_nothing() {
    let files = memory().await;
    write(&files, "/f", "same").await;
    let before = files.stat(&at("/f"), Links::Keep).await.unwrap();
    let edited = edit(&files, &at("/f"), instead("same", "same")).await.unwrap();
    assert_eq!((&edited.entry, &*edited.diff), (&before, ""));
    assert_eq!(edited.replaced, [1]);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let told = refused("a", all_of([])).await;
    assert_eq!(told, "invalid_argument: there is nothing to replace");
    let told = refused("a", instead("", "b")).await;
    assert_eq!(told, "invalid_argument: the text to replace is empty");
}

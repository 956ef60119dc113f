//! What errors say.

use engine::{
    ArchiveFormat, ArchiveLimits, Create, Depth, Error, If, OpenOptions, Page, Parents, Span,
    Target, Version,
};

use crate::archive::Tar;
use crate::body;
use crate::promise::promises;
use crate::tree::{Tree, at, create_new, replace, replace_if};

promises! {
    an_error_is_in_lower_case_without_a_full_stop;
    an_error_never_tells_where_the_tree_is_kept;
    an_error_of_a_link_never_tells_where_the_tree_is_kept needs Links;
}

/// One failure of every operation, and more than one where they fail for different reasons.
async fn failures(tree: &Tree) -> Vec<Error> {
    tree.put("/dir/file", "content").await;
    let (dir, file, missing) = (at("/dir"), at("/dir/file"), at("/missing"));
    let stale = If::Matches(vec![Version::new("never")]);
    let archive = || Tar::new().file("../escaped", "x").body();
    let limits = ArchiveLimits::default();
    [
        tree.stat(&missing, engine::Links::Follow).await.err(),
        tree.stat(&at("/dir/file/child"), engine::Links::Follow).await.err(),
        tree.list(&missing, Page::default()).await.err(),
        tree.list(&file, Page::default()).await.err(),
        tree.read(&missing, Span::Whole).await.err(),
        tree.read(&dir, Span::Whole).await.err(),
        tree.read(&file, Span::From(100)).await.err(),
        tree.try_put("/dir", "x", replace()).await.err(),
        tree.try_put("/dir/file", "x", create_new()).await.err(),
        tree.try_put("/dir/file", "x", replace_if(stale.clone())).await.err(),
        tree.write(&file, body::breaking_off("x"), replace()).await.err(),
        tree.open(&missing, OpenOptions::Read).await.err(),
        tree.open(&file, OpenOptions::Write(Create::New)).await.err(),
        tree.create_dir(&file, Parents::Create).await.err(),
        tree.remove(&missing, Depth::All, If::Always).await.err(),
        tree.remove(&dir, Depth::One, If::Always).await.err(),
        tree.remove(&file, Depth::One, stale).await.err(),
        tree.rename(&missing, &dir, Target::Replace).await.err(),
        tree.rename(&dir, &at("/dir/inner"), Target::New).await.err(),
        tree.copy(&missing, &dir, Target::Replace).await.err(),
        tree.copy(&file, &dir, Target::New).await.err(),
        tree.unpack(&dir, archive(), ArchiveFormat::Tar, limits).await.err(),
        tree.unpack(&file, archive(), ArchiveFormat::Tar, limits).await.err(),
        tree.pack(&missing, ArchiveFormat::Tar, limits).await.err(),
    ]
    .map(|failure| failure.expect("each of these must fail"))
    .into()
}

async fn an_error_is_in_lower_case_without_a_full_stop(tree: Tree) {
    for err in failures(&tree).await {
        let message = err.message();
        assert!(!message.is_empty() && !message.ends_with('.'), "{message:?}");
        assert!(!message.starts_with(char::is_uppercase), "{message:?}");
    }
}

async fn an_error_never_tells_where_the_tree_is_kept(tree: Tree) {
    for err in failures(&tree).await {
        tree.assert_keeps_its_place(&err);
    }
}

async fn an_error_of_a_link_never_tells_where_the_tree_is_kept(tree: Tree) {
    tree.link("/out", "../../../../etc/passwd").await;
    tree.link("/circle", "circle").await;
    for link in ["/out", "/circle"] {
        tree.assert_keeps_its_place(&tree.read(&at(link), Span::Whole).await.unwrap_err());
        tree.assert_keeps_its_place(&tree.try_put(link, "x", replace()).await.unwrap_err());
    }
}

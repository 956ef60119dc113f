//! Symbolic links that lead out of the tree.

use engine::{
    ArchiveFormat, ArchiveLimits, Create, Depth, ErrorKind, If, OpenOptions, Page, Parents, Span,
    Target,
};

use crate::promise::promises;
use crate::tree::{Tree, at, refused, replace};

promises! {
    a_link_that_leads_out_can_be_made_and_read needs Links;
    a_link_that_leads_out_is_not_looked_through needs Links;
    a_link_that_leads_out_is_not_read_through needs Links;
    a_link_that_leads_out_is_not_written_through needs Links;
    a_link_that_leads_out_is_not_opened_through needs Links;
    a_link_that_leads_out_is_not_listed_through needs Links;
    an_absolute_link_is_not_read_through needs Links;
    a_path_through_a_link_that_leads_out_is_refused needs Links;
    a_link_to_just_above_the_root_is_refused needs Links;
    a_link_that_leads_out_can_be_removed needs Links;
    a_removal_of_all_leaves_what_a_link_leads_out_to needs Links;
}

const OUT: ErrorKind = ErrorKind::OutsideSandbox;

async fn leading_out(tree: &Tree) {
    tree.link("/dir/out", "../../../../../../../../../../etc").await;
}

async fn a_link_that_leads_out_can_be_made_and_read(tree: Tree) {
    leading_out(&tree).await;
    assert!(tree.read_link(&at("/dir/out")).await.unwrap().ends_with("/etc"));
}

async fn a_link_that_leads_out_is_not_looked_through(tree: Tree) {
    leading_out(&tree).await;
    assert_eq!(tree.absence("/dir/out").await, OUT);
}

async fn a_link_that_leads_out_is_not_read_through(tree: Tree) {
    tree.link("/dir/passwd", "../../../../../../../../../../etc/passwd").await;
    assert_eq!(refused(tree.read(&at("/dir/passwd"), Span::Whole).await), OUT);
}

async fn a_link_that_leads_out_is_not_written_through(tree: Tree) {
    tree.link("/dir/link", "../../sandkeep-escaped").await;
    assert_eq!(refused(tree.try_put("/dir/link", "x", replace()).await), OUT);
}

async fn a_link_that_leads_out_is_not_opened_through(tree: Tree) {
    tree.link("/dir/link", "../../sandkeep-escaped").await;
    let options = OpenOptions::Write(Create::IfMissing);
    assert_eq!(refused(tree.open(&at("/dir/link"), options).await), OUT);
}

async fn a_link_that_leads_out_is_not_listed_through(tree: Tree) {
    leading_out(&tree).await;
    assert_eq!(refused(tree.list(&at("/dir/out"), Page::default()).await.map(drop)), OUT);
}

async fn an_absolute_link_is_not_read_through(tree: Tree) {
    tree.link("/passwd", "/etc/passwd").await;
    assert_eq!(refused(tree.read(&at("/passwd"), Span::Whole).await), OUT);
}

async fn a_path_through_a_link_that_leads_out_is_refused(tree: Tree) {
    leading_out(&tree).await;
    tree.put("/file", "x").await;
    let (inside, beneath) = (at("/file"), at("/dir/out/file"));
    assert_eq!(tree.absence("/dir/out/passwd").await, OUT);
    assert_eq!(refused(tree.try_put("/dir/out/file", "x", replace()).await), OUT);
    assert_eq!(refused(tree.create_dir(&beneath, Parents::Create).await), OUT);
    assert_eq!(refused(tree.remove(&beneath, Depth::All, If::Always).await), OUT);
    assert_eq!(refused(tree.rename(&inside, &beneath, Target::Replace).await), OUT);
    assert_eq!(refused(tree.copy(&inside, &beneath, Target::Replace).await), OUT);
    let archive = crate::archive::Tar::new().file("file", "x").body();
    assert_eq!(
        refused(tree.unpack(&beneath, archive, ArchiveFormat::Tar, ArchiveLimits::default()).await),
        OUT
    );
}

async fn a_link_to_just_above_the_root_is_refused(tree: Tree) {
    tree.link("/link", "..").await;
    assert_eq!(tree.absence("/link").await, OUT);
}

async fn a_link_that_leads_out_can_be_removed(tree: Tree) {
    leading_out(&tree).await;
    tree.remove(&at("/dir/out"), Depth::All, If::Always).await.unwrap();
    assert!(tree.names("/dir").await.is_empty());
}

async fn a_removal_of_all_leaves_what_a_link_leads_out_to(tree: Tree) {
    leading_out(&tree).await;
    tree.remove(&at("/dir"), Depth::All, If::Always).await.unwrap();
    assert!(tree.names("/").await.is_empty());
}

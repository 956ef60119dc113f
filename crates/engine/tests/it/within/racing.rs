//! Somebody who sees the whole swaps a directory for a link that leads out, and a part for a link,
//! while others work in the part.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{TryStreamExt as _, stream};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use sandkeep_engine::{
    ArchiveFormat, ArchiveLimits, Depth, FileSystem, If, Links, Page, Result, Span, Step, Target,
    edit,
};

use super::{part, private, trees};
use crate::contents::{at, replacing};
use crate::edit::instead;

const FOR: Duration = Duration::from_secs(2);

/// What was seen of what is private, and how much was done at all.
#[derive(Default)]
struct Seen {
    secrets: AtomicU64,
    served: AtomicU64,
}

impl Seen {
    fn note(&self, outcome: &Result<Vec<u8>>) {
        let Ok(content) = outcome else { return };
        self.served.fetch_add(1, Ordering::Relaxed);
        if content.windows(6).any(|word| word == b"secret" || word == b"canary") {
            self.secrets.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// One of many things that can be done in the directory that is swapped.
async fn attempt(files: &Arc<dyn FileSystem>, number: u64) -> Result<Vec<u8>> {
    let collected = |pieces: Vec<Bytes>| pieces.concat();
    let (file, dir) = (at("/part/dir/file"), at("/part/dir"));
    let new = at(&format!("/part/dir/new-{}/x", number % 16));
    let kept = at(&format!("/part/kept-{}", number % 16));
    match number % 8 {
        0 => files.read(&file, Span::Whole).await?.body.try_collect().await.map(collected),
        1 => {
            let body = stream::iter([Ok(Bytes::from_static(b"inside"))]);
            files.write(&file, Box::pin(body), replacing()).await.map(|_| Vec::new())
        }
        2 => {
            let body = stream::iter([Ok(Bytes::from_static(b"inside"))]);
            files.write(&new, Box::pin(body), replacing()).await.map(|_| Vec::new())
        }
        3 => {
            let entries: Vec<_> = files.list(&dir, Page::default()).await?.try_collect().await?;
            Ok(entries.iter().map(|entry| entry.path.as_str()).collect::<String>().into())
        }
        4 => {
            let packed = files.pack(&dir, ArchiveFormat::Tar, ArchiveLimits::default()).await?;
            packed.try_collect().await.map(collected)
        }
        5 => {
            files.copy(&file, &kept, Target::Replace).await?;
            files.read(&kept, Span::Whole).await?.body.try_collect().await.map(collected)
        }
        6 => edit(&**files, &file, instead("inside", "inside, too"))
            .await
            .map(|edited| edited.diff.into_bytes()),
        _ => {
            let gone = at(&format!("/part/dir/new-{}", number % 16));
            files.remove(&gone, Depth::All, If::Always).await.map(|()| Vec::new())
        }
    }
}

/// Lets four workers loose on a tree while two names change places.
async fn raced(files: &Arc<dyn FileSystem>, swap: impl Fn() + Send + Sync) -> Seen {
    let (seen, over, count) = (Seen::default(), AtomicBool::new(false), AtomicU64::new(0));
    let until = Instant::now() + FOR;
    let worker = async || {
        while Instant::now() < until {
            let number = count.fetch_add(1, Ordering::Relaxed);
            seen.note(&attempt(files, number).await);
            tokio::task::yield_now().await;
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                swap();
            }
        });
        let handle = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            handle.block_on(async { tokio::join!(worker(), worker(), worker(), worker()) })
        });
        over.store(true, Ordering::Relaxed);
    });
    seen
}

/// Swaps two names of a host's directory.
fn exchange(root: &Path, one: &str, other: &str) {
    renameat_with(CWD, root.join(one), CWD, root.join(other), RenameFlags::EXCHANGE).unwrap();
}

/// Swaps two names of a virtual tree.
fn swap_names(
    files: &Arc<dyn FileSystem>,
    one: &'static str,
    other: &'static str,
) -> impl Fn() + Send + Sync {
    let (files, handle) = (Arc::clone(files), tokio::runtime::Handle::current());
    move || {
        let step = |from: &str, to: &str| {
            let (from, to) = (at(from), at(to));
            Step::Rename { from, to, target: Target::New }
        };
        let steps = vec![step(one, "/aside"), step(other, one), step("/aside", other)];
        handle.block_on(files.batch(steps)).unwrap();
    }
}

async fn plant(files: &Arc<dyn FileSystem>) {
    files.symlink(&at("/part/other"), "../private").await.unwrap();
    files.symlink(&at("/link"), "private").await.unwrap();
}

/// What a race at a part must come to.
#[expect(clippy::print_stderr, reason = "the numbers are what one wants to know")]
async fn assert_confined(
    files: &Arc<dyn FileSystem>,
    names: (&'static str, &'static str),
    root: Option<&Path>,
) {
    let before = private(files).await;
    let view = part(files);
    let seen = match root {
        Some(root) => raced(&view, || exchange(root, &names.0[1..], &names.1[1..])).await,
        None => raced(&view, swap_names(files, names.0, names.1)).await,
    };
    let (served, secrets) = (seen.served.into_inner(), seen.secrets.into_inner());
    eprintln!("{served} attempts were served inside, {secrets} saw what is private");
    assert_eq!(secrets, 0);
    assert!(served >= 20, "only {served}: the attack proves nothing");
    // Put the names back where they were, so that what is private is found where it was.
    let link = files.stat(&at(names.0), Links::Keep).await.unwrap();
    if link.kind == sandkeep_engine::EntryKind::Symlink {
        match root {
            Some(root) => exchange(root, &names.0[1..], &names.1[1..]),
            None => {
                let swap = swap_names(files, names.0, names.1);
                tokio::task::block_in_place(swap);
            }
        }
    }
    assert_eq!(private(files).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_directory_of_a_host_that_is_swapped_for_a_link_leads_nobody_out_of_a_part() {
    let (trees, dirs) = trees().await;
    for (files, root) in [(&trees[2], &dirs[0]), (&trees[3], &dirs[2])] {
        plant(files).await;
        assert_confined(files, ("/part/dir", "/part/other"), Some(root.path())).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_directory_of_a_virtual_tree_that_is_swapped_leads_nobody_out_of_a_part() {
    let (trees, _dirs) = trees().await;
    for files in &trees[..2] {
        plant(files).await;
        assert_confined(files, ("/part/dir", "/part/other"), None).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_part_that_is_swapped_for_a_link_leads_nobody_out() {
    let (trees, dirs) = trees().await;
    for (files, root) in [(&trees[2], Some(dirs[0].path())), (&trees[0], None)] {
        plant(files).await;
        assert_confined(files, ("/part", "/link"), root).await;
    }
}

/// The attacks above are worth something: who sees the whole is led out by them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_races_lead_those_out_who_see_the_whole() {
    let (trees, dirs) = trees().await;
    for (files, root) in [(&trees[2], Some(dirs[0].path())), (&trees[0], None)] {
        plant(files).await;
        let seen = match root {
            Some(root) => raced(files, || exchange(root, "part/dir", "part/other")).await,
            None => raced(files, swap_names(files, "/part/dir", "/part/other")).await,
        };
        assert!(seen.secrets.into_inner() > 0, "nobody was led out");
    }
}

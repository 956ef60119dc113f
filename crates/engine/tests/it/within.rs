//! Views of a part of a tree: nothing leads out of them.

mod racing;
mod refusing;

use std::sync::Arc;

use sandkeep_engine::{
    Depth, Durability, ErrorKind, FileSystem, HostFs, HostOptions, If, Limits, Links, Mounts,
    Parents, Result, Target, edit,
};

use crate::contents::{Contents, at, contents, read, write};
use crate::edit::instead;
use crate::fixture::{memory, stored};

/// A tree in memory, one of objects, and a directory with staging and without, each with a part and
/// something private beside it. The directories last as long as what comes with them.
async fn trees() -> (Vec<Arc<dyn FileSystem>>, Vec<tempfile::TempDir>) {
    let dirs: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    let host = |root: usize, staging: Option<usize>| {
        let options = HostOptions {
            limits: Limits::default(),
            durability: Durability::Relaxed,
            mounts: Mounts::Stay,
            staging: staging.map(|at| dirs[at].path().to_owned()).into_iter().collect(),
        };
        HostFs::open(dirs[root].path(), options).unwrap()
    };
    let trees: Vec<Arc<dyn FileSystem>> = vec![
        Arc::new(memory().await),
        Arc::new(stored().await),
        Arc::new(host(0, Some(1))),
        Arc::new(host(2, None)),
    ];
    for files in &trees {
        write(&**files, "/part/dir/file", "inside").await;
        write(&**files, "/private/file", "secret").await;
        write(&**files, "/private/canary", "secret").await;
    }
    (trees, dirs)
}

fn part(files: &Arc<dyn FileSystem>) -> Arc<dyn FileSystem> {
    files.within(&at("/part")).unwrap()
}

/// What lies beside the part.
async fn private(files: &Arc<dyn FileSystem>) -> Contents {
    let mut all = contents(&**files).await;
    all.retain(|path, _| !path.starts_with(&at("/part")));
    all
}

#[tokio::test]
async fn a_part_is_seen_under_the_paths_of_the_whole() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        let part = part(files);
        assert_eq!(read(&*part, &at("/part/dir/file")).await, "inside");
        write(&*part, "/part/new/file", "new").await;
        assert_eq!(read(&**files, &at("/part/new/file")).await, "new");
        let entry = part.stat(&at("/part"), Links::Keep).await.unwrap();
        assert_eq!(entry.path, at("/part"));
        let edited = edit(&*part, &at("/part/new/file"), instead("new", "old")).await.unwrap();
        assert!(edited.diff.starts_with("--- a/part/new/file\n"), "{}", edited.diff);
        let usage = part.usage().await.unwrap();
        assert_eq!((usage.files, usage.directories, usage.bytes), (2, 3, 9));
        assert!(part.snapshots().is_none());
        assert_eq!(refusal_of(part.within(&at("/private"))), ErrorKind::OutsideSandbox);
        let dir = part.within(&at("/part/dir")).unwrap();
        assert_eq!(read(&*dir, &at("/part/dir/file")).await, "inside");
        assert_eq!(look(&*dir, "/part/new").await, Err(ErrorKind::OutsideSandbox));
    }
}

/// Whether anything is at a path.
async fn look(files: &dyn FileSystem, path: &str) -> Result<(), ErrorKind> {
    files.stat(&at(path), Links::Follow).await.map(drop).map_err(|err| err.kind())
}

fn refusal_of<T: std::fmt::Debug>(outcome: Result<T>) -> ErrorKind {
    outcome.unwrap_err().kind()
}

#[tokio::test]
async fn a_part_is_what_is_at_its_path_and_is_made_by_a_write() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        let part = files.within(&at("/new/part")).unwrap();
        assert_eq!(look(&*part, "/new/part").await, Err(ErrorKind::NotFound));
        write(&*part, "/new/part/file", "x").await;
        assert_eq!(read(&**files, &at("/new/part/file")).await, "x");
        files.rename(&at("/new"), &at("/old"), Target::New).await.unwrap();
        assert_eq!(look(&*part, "/new/part/file").await, Err(ErrorKind::NotFound));
        part.create_dir(&at("/new/part/dir"), Parents::Create).await.unwrap();
        assert_eq!(read(&**files, &at("/old/part/file")).await, "x");
    }
}

#[tokio::test]
async fn a_part_may_be_a_file() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        let path = at("/part/dir/file");
        let file = files.within(&path).unwrap();
        assert_eq!(read(&*file, &path).await, "inside");
        edit(&*file, &path, instead("inside", "changed")).await.unwrap();
        assert_eq!(read(&**files, &path).await, "changed");
        assert_eq!(look(&*file, "/part/dir").await, Err(ErrorKind::OutsideSandbox));
        assert_eq!(look(&*file, "/part/dir/file/x").await, Err(ErrorKind::NotADirectory));
        let new = files.within(&at("/part/upload")).unwrap();
        write(&*new, "/part/upload", "new").await;
        assert_eq!(read(&**files, &at("/part/upload")).await, "new");
        let gone = new.remove(&at("/part/upload"), Depth::One, If::Always).await;
        assert_eq!(refusal_of(gone), ErrorKind::InvalidArgument);
    }
}

#[tokio::test]
async fn links_that_stay_in_a_part_are_followed() {
    let (trees, _dirs) = trees().await;
    for files in &trees {
        let part = part(files);
        part.symlink(&at("/part/dir/way"), "../dir/file").await.unwrap();
        part.symlink(&at("/part/to-dir"), "dir").await.unwrap();
        assert_eq!(read(&*part, &at("/part/dir/way")).await, "inside");
        write(&*part, "/part/to-dir/way", "changed").await;
        assert_eq!(read(&*part, &at("/part/dir/file")).await, "changed");
    }
}

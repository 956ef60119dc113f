//! A tree as it looks: everything that a snapshot keeps of it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Paths relative to the root, and what is there. The root itself is not in it.
pub(crate) type Picture = BTreeMap<PathBuf, Thing>;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) mode: u32,
    pub(crate) modified: (i64, i64),
    pub(crate) body: Body,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Body {
    File(Vec<u8>),
    Directory,
    Link(PathBuf),
    Special,
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(content) => {
                let start = &content[..content.len().min(32)];
                write!(f, "File({} bytes: {:?})", content.len(), String::from_utf8_lossy(start))
            }
            Self::Directory => f.write_str("Directory"),
            Self::Link(target) => write!(f, "Link({target:?})"),
            Self::Special => f.write_str("Special"),
        }
    }
}

/// Looks at a tree.
pub(crate) fn picture(root: &Path) -> Picture {
    let mut picture = Picture::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(root.join(&dir)).unwrap() {
            let path = dir.join(entry.unwrap().file_name());
            let whole = root.join(&path);
            let metadata = fs::symlink_metadata(&whole).unwrap();
            let kind = metadata.file_type();
            let body = if kind.is_dir() {
                todo.push(path.clone());
                Body::Directory
            } else if kind.is_symlink() {
                Body::Link(fs::read_link(&whole).unwrap())
            } else if kind.is_fifo() || kind.is_socket() {
                Body::Special
            } else {
                Body::File(fs::read(&whole).unwrap())
            };
            let modified = (metadata.mtime(), metadata.mtime_nsec());
            picture.insert(path, Thing { mode: metadata.mode() & 0o7777, modified, body });
        }
    }
    picture
}

/// Fails with the first difference rather than with two whole trees.
pub(crate) fn assert_same(found: &Picture, wanted: &Picture) {
    for (path, thing) in wanted {
        assert_eq!(
            found.get(path),
            Some(thing),
            "{:?}",
            path.as_os_str().as_bytes().escape_ascii()
        );
    }
    let surplus: Vec<_> = found.keys().filter(|path| !wanted.contains_key(*path)).collect();
    assert!(surplus.is_empty(), "{surplus:?}");
}

/// The number of a file.
pub(crate) fn inode(path: &Path) -> u64 {
    fs::symlink_metadata(path).unwrap().ino()
}

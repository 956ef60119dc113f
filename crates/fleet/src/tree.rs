//! All that a tree holds, and whether it is as trees of a fleet always are.

use std::collections::BTreeMap;

use bytes::Bytes;
use engine::{EntryKind, FileSystem, Limits, Page, Result, SandboxPath, Span, Usage};
use futures::TryStreamExt as _;

use crate::outfit::{Outfit, TOKEN_DIRS, counter, pair, token};

/// All files of a tree with their contents, and what it says about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: BTreeMap<String, Bytes>,
    pub(crate) directories: u64,
    pub(crate) told: Usage,
}

impl Tree {
    /// Reads a tree that nobody changes meanwhile.
    pub(crate) async fn read(files: &dyn FileSystem) -> Result<Self> {
        let mut tree = Self { directories: 1, told: files.usage().await?, ..Self::default() };
        let mut dirs = vec![SandboxPath::root()];
        while let Some(dir) = dirs.pop() {
            let mut entries = files.list(&dir, Page::default()).await?;
            while let Some(entry) = entries.try_next().await? {
                match entry.kind {
                    EntryKind::Directory => {
                        tree.directories += 1;
                        dirs.push(entry.path);
                    }
                    EntryKind::File | EntryKind::Symlink | EntryKind::Special => {
                        let content = read(files, &entry.path).await?;
                        tree.files.insert(entry.path.to_string(), content);
                    }
                }
            }
        }
        Ok(tree)
    }

    /// The text of a file; of none, if it is not there.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        str::from_utf8(self.files.get(path)?).ok()
    }

    /// How much the files and directories are that were found.
    fn walked(&self) -> Usage {
        let bytes = self.files.values().map(|content| content.len() as u64).sum();
        Usage { bytes, files: self.files.len() as u64, directories: self.directories }
    }

    /// What no state of a tree may show, whenever it is looked at.
    pub(crate) fn complaints(&self, outfit: &Outfit) -> Vec<String> {
        let mut complaints = Vec::new();
        for [left, right] in (0..outfit.pairs).map(pair) {
            let (one, other) = (self.text(&left), self.text(&right));
            if one.is_none() || one != other {
                complaints.push(format!("a torn batch: {left} is {one:?}, {right} is {other:?}"));
            }
        }
        for name in 0..outfit.tokens {
            let places = (0..TOKEN_DIRS).map(|dir| token(name, dir));
            let found: Vec<_> = places.filter(|place| self.files.contains_key(place)).collect();
            let right = format!("token {name}");
            if found.len() != 1 || self.text(&found[0]) != Some(&right) {
                complaints.push(format!("token {name} is at {found:?}"));
            }
        }
        for path in (0..outfit.counters).map(counter) {
            if !self.files.contains_key(&path) {
                complaints.push(format!("{path} is gone"));
            }
        }
        if self.told != self.walked() {
            complaints.push(format!(
                "usage is told as {:?}, and is {:?}",
                self.told,
                self.walked()
            ));
        }
        complaints.extend(over(&outfit.limits, &self.walked()));
        complaints
    }
}

/// What is over a limit.
pub(crate) fn over(limits: &Limits, usage: &Usage) -> Option<String> {
    let is_over = limits.total_size.is_some_and(|most| usage.bytes > most)
        || limits.nodes.is_some_and(|most| usage.nodes() > most);
    is_over.then(|| format!("a limit is exceeded: {usage:?} of {limits:?}"))
}

/// The bytes of a file.
pub(crate) async fn read(files: &dyn FileSystem, path: &SandboxPath) -> Result<Bytes> {
    let content = files.read(path, Span::Whole).await?;
    let pieces: Vec<Bytes> = content.body.try_collect().await?;
    Ok(pieces.concat().into())
}

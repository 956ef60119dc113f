//! An entry with its content.

use bytes::Bytes;

use crate::files::whole;
use crate::{
    Entry, EntryKind, Error, ErrorKind, FileSystem as _, Result, SandboxPath, Span, UnixTime,
    VirtualFs,
};

/// A file, directory or link as one unit: what is known of it, and what it holds.
///
/// ```
/// # use sandkeep_engine::{EntryKind, StoredEntry};
/// let entry = StoredEntry::file(r"src\main.rs", "fn main() {}")?;
/// assert_eq!((entry.name(), entry.path.as_str()), ("main.rs", "/src/main.rs"));
/// assert_eq!((entry.kind, entry.is_directory(), entry.size()), (EntryKind::File, false, 12));
/// # Ok::<(), sandkeep_engine::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Where it is.
    pub path: SandboxPath,
    /// What it is.
    pub kind: EntryKind,
    /// The bytes of a file, or what a link holds; empty for a directory.
    pub content: Bytes,
    /// When it was made. The tree keeps this time itself: a set does not change it.
    pub created: Option<UnixTime>,
    /// When its content last changed; the time of the set when absent.
    pub modified: Option<UnixTime>,
    /// Permission bits; when absent, those that are there stay, and new ones are 0644 for a file
    /// and 0755 for a directory.
    pub mode: Option<u32>,
}

impl StoredEntry {
    /// A file that is to be set, with the usual mode and the time of the set.
    ///
    /// ```
    /// # use sandkeep_engine::StoredEntry;
    /// let entry = StoredEntry::file("/a.txt", "hello")?;
    /// assert_eq!((entry.mode, entry.modified), (None, None));
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn file(path: &str, content: impl Into<Bytes>) -> Result<Self> {
        Self::new(path, EntryKind::File, content.into())
    }

    /// A directory that is to be set.
    ///
    /// ```
    /// # use sandkeep_engine::StoredEntry;
    /// let entry = StoredEntry::directory("/src")?;
    /// assert!(entry.is_directory() && entry.content.is_empty());
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn directory(path: &str) -> Result<Self> {
        Self::new(path, EntryKind::Directory, Bytes::new())
    }

    fn new(path: &str, kind: EntryKind, content: Bytes) -> Result<Self> {
        let path = SandboxPath::clamped(path)?;
        Ok(Self { path, kind, content, created: None, modified: None, mode: None })
    }

    /// The last name of its path; a slash for the root.
    ///
    /// ```
    /// # use sandkeep_engine::StoredEntry;
    /// assert_eq!(StoredEntry::directory("/src/engine")?.name(), "engine");
    /// assert_eq!(StoredEntry::directory("/")?.name(), "/");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        if self.path.is_root() { self.path.as_str() } else { self.path.name() }
    }

    /// Whether it is a directory.
    ///
    /// ```
    /// # use sandkeep_engine::StoredEntry;
    /// assert!(!StoredEntry::file("/a", "")?.is_directory());
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn is_directory(&self) -> bool {
        self.kind == EntryKind::Directory
    }

    /// The length of its content in bytes.
    ///
    /// ```
    /// # use sandkeep_engine::StoredEntry;
    /// assert_eq!(StoredEntry::file("/a", "né")?.size(), 3);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn size(&self) -> u64 {
        self.content.len() as u64
    }
}

/// What is at an entry of a tree that does not change.
pub(super) async fn load(tree: &VirtualFs, entry: Entry) -> Result<StoredEntry> {
    let content = match entry.kind {
        EntryKind::Directory => Bytes::new(),
        EntryKind::File => whole(tree.read(&entry.path, Span::Whole).await?).await?,
        EntryKind::Symlink => Bytes::from(tree.read_link(&entry.path).await?),
        EntryKind::Special => {
            return Err(Error::new(ErrorKind::NotAFile, "a virtual tree has no special files"));
        }
    };
    let Entry { path, kind, created, modified, mode, .. } = entry;
    Ok(StoredEntry { path, kind, content, created, modified, mode })
}

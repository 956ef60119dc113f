//! Files, for programs that do not know async: the tree.

use std::sync::Arc;

use super::{BlockingReader, BlockingWriter, OwnRuntime};
use crate::{Depth, Entry, Files, Limits, Result, Target, Usage, WriteMode};

/// [`Files`] whose operations wait: each is the one of the same name there.
///
/// It must not be used within async code, not even on a thread that may block there: it refuses
/// with [`Unsupported`](crate::ErrorKind::Unsupported) instead of stopping everything else.
///
/// ```
/// # use sandkeep_engine::{BlockingFiles, Limits};
/// let files = BlockingFiles::in_memory(Limits::default())?;
/// files.write("notes/today.txt", "buy milk\n")?;
/// assert_eq!(files.read_lines("notes/today.txt")?, ["buy milk"]);
/// # Ok::<(), sandkeep_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BlockingFiles {
    pub(super) files: Files,
    pub(super) runtime: Arc<OwnRuntime>,
}

impl BlockingFiles {
    /// These files, with a runtime of their own.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use sandkeep_engine::*;
    /// # let dir = tempfile::tempdir().expect("a temporary directory can be made");
    /// # let (limits, durability, mounts) = (Limits::default(), Durability::Full, Mounts::Stay);
    /// # let options = HostOptions { limits, durability, mounts, staging: Vec::new() };
    /// let host = HostFs::open(dir.path(), options)?;
    /// let files = BlockingFiles::new(Files::new(Arc::new(host)))?;
    /// files.write("a.txt", "on the disk")?;
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn new(files: Files) -> Result<Self> {
        Ok(Self::on(files, OwnRuntime::start()?))
    }

    /// A tree of its own in memory, empty, with nothing of the host in reach.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, Limits};
    /// let limits = Limits { nodes: Some(100), ..Limits::default() };
    /// let files = BlockingFiles::in_memory(limits)?;
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn in_memory(limits: Limits) -> Result<Self> {
        let runtime = OwnRuntime::start()?;
        let files = runtime.wait(Files::in_memory(limits))?;
        Ok(Self::on(files, runtime))
    }

    pub(super) fn on(files: Files, runtime: Arc<OwnRuntime>) -> Self {
        Self { files, runtime }
    }

    /// Waits for anything else that [`Files`] can do.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, NewSnapshot, SandboxPath};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// let before = files.wait(async |files| {
    ///     files.snapshots()?.create(NewSnapshot::default()).await
    /// })?;
    /// files.write("a", "oops")?;
    /// files.wait(async |files| {
    ///     files.snapshots()?.restore(&before.id, &SandboxPath::root()).await
    /// })?;
    /// assert!(!files.exists("a")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn wait<T>(&self, work: impl AsyncFnOnce(&Files) -> Result<T>) -> Result<T> {
        self.runtime.wait(work(&self.files))
    }

    /// Opens a file to be read from its beginning.
    ///
    /// ```
    /// # use std::io::Read as _;
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", "hello")?;
    /// let mut text = String::new();
    /// files.open_reader("a")?.read_to_string(&mut text).expect("it is text");
    /// assert_eq!(text, "hello");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn open_reader(&self, path: &str) -> Result<BlockingReader> {
        let reader = self.runtime.wait(self.files.open_reader(path))?;
        Ok(BlockingReader::on(reader, Arc::clone(&self.runtime)))
    }

    /// Opens a file to be written.
    ///
    /// ```
    /// # use std::io::Write as _;
    /// # use sandkeep_engine::{BlockingFiles, WriteMode};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// let mut writer = files.open_writer("a", WriteMode::Append)?;
    /// writer.write_all(b"never finished").expect("there is room");
    /// drop(writer);
    /// assert!(!files.exists("a")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn open_writer(&self, path: &str, mode: WriteMode) -> Result<BlockingWriter> {
        let writer = self.files.open_writer(path, mode)?;
        Ok(BlockingWriter::on(writer, Arc::clone(&self.runtime)))
    }

    /// Whether anything is at `path`.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// assert!(files.exists("/")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn exists(&self, path: &str) -> Result<bool> {
        self.runtime.wait(self.files.exists(path))
    }

    /// Whether a file is at `path`.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// assert!(!files.is_file("/")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn is_file(&self, path: &str) -> Result<bool> {
        self.runtime.wait(self.files.is_file(path))
    }

    /// Whether a directory is at `path`.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// assert!(files.is_directory("/")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn is_directory(&self, path: &str) -> Result<bool> {
        self.runtime.wait(self.files.is_directory(path))
    }

    /// What is known of the file or directory at `path`; none if nothing is there.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// assert!(files.entry("missing")?.is_none());
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn entry(&self, path: &str) -> Result<Option<Entry>> {
        self.runtime.wait(self.files.entry(path))
    }

    /// Makes a directory and the ones that lead to it.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.create_directory("a/b")?;
    /// assert!(files.is_directory("a")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn create_directory(&self, path: &str) -> Result<Entry> {
        self.runtime.wait(self.files.create_directory(path))
    }

    /// The names in a directory, sorted by their bytes.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", "")?;
    /// assert_eq!(files.list_names("/")?, ["a"]);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn list_names(&self, path: &str) -> Result<Vec<String>> {
        self.runtime.wait(self.files.list_names(path))
    }

    /// The entries of a directory, sorted by the bytes of their names.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", "12345")?;
    /// assert_eq!(files.list_entries("/")?[0].size, 5);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn list_entries(&self, path: &str) -> Result<Vec<Entry>> {
        self.runtime.wait(self.files.list_entries(path))
    }

    /// How much the tree holds.
    ///
    /// ```
    /// # let files = sandkeep_engine::BlockingFiles::in_memory(Default::default())?;
    /// assert_eq!(files.usage()?.nodes(), 1);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn usage(&self) -> Result<Usage> {
        self.runtime.wait(self.files.usage())
    }

    /// Copies a file or a whole directory.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, Target};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", "1")?;
    /// files.copy("a", "b/c", Target::New)?;
    /// assert_eq!(files.read("b/c")?, "1");
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn copy(&self, from: &str, to: &str, target: Target) -> Result<Entry> {
        self.runtime.wait(self.files.copy(from, to, target))
    }

    /// Moves a file or a whole directory.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, Target};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// files.write("a", "1")?;
    /// files.rename("a", "b", Target::New)?;
    /// assert_eq!(files.list_names("/")?, ["b"]);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    #[doc(alias = "move")]
    pub fn rename(&self, from: &str, to: &str, target: Target) -> Result<Entry> {
        self.runtime.wait(self.files.rename(from, to, target))
    }

    /// Removes a file or a directory.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingFiles, Depth};
    /// # let files = BlockingFiles::in_memory(Default::default())?;
    /// files.write("a/b", "")?;
    /// files.remove("a", Depth::All)?;
    /// assert!(!files.exists("a")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    #[doc(alias = "delete")]
    pub fn remove(&self, path: &str, depth: Depth) -> Result<()> {
        self.runtime.wait(self.files.remove(path, depth))
    }
}

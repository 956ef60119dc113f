//! What every kind of tree can do. `conformance` holds the promises as tests.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;

use crate::archive::{ArchiveFormat, ArchiveLimits, Unpacked};
use crate::{
    Entry, Error, ErrorKind, Leader, NoticeStream, Result, SandboxPath, Snapshots, Step, UnixTime,
    Usage, Version, Watch,
};

/// A body on its way in or out. An error ends it.
pub type ByteStream = BoxStream<'static, Result<Bytes>>;
/// Entries as they are found. An error ends it.
pub type EntryStream = BoxStream<'static, Result<Entry>>;

/// One tree of files. No default bodies, so that a wrapper cannot forget to forward.
///
/// An operation that fails changes nothing. One that succeeds is durable when it returns, unless
/// the tree was opened with relaxed durability. Dropping a future abandons the operation: it
/// either did not happen or happened whole.
#[async_trait]
pub trait FileSystem: fmt::Debug + Send + Sync + 'static {
    /// What is at `path`.
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry>;

    /// The children of a directory, sorted by the bytes of their names; links are not followed.
    /// Fails here, not in the stream, when `dir` is missing or not a directory.
    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream>;

    /// The bytes of a regular file, as of the moment it was opened.
    async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content>;

    /// Puts a whole file in place, or appends to one.
    async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written>;

    /// A handle for reads and writes at any offset; it survives rename and removal.
    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>>;

    /// Makes a directory. With [`Parents::Create`] an existing directory is a success.
    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made>;

    /// Makes a symbolic link that holds `target` as it is. Parents are made.
    async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry>;

    /// What a symbolic link holds.
    async fn read_link(&self, link: &SandboxPath) -> Result<String>;

    /// Removes a file, a link itself, or a directory. The root cannot be removed.
    async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()>;

    /// Moves anything; links themselves. Parents of `to` are made. Onto itself is a success that
    /// changes nothing, into itself an [`InvalidArgument`](crate::ErrorKind::InvalidArgument).
    async fn rename(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry>;

    /// Copies a file, a link itself, or a tree, with modes and times. Otherwise as `rename`.
    async fn copy(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry>;

    /// Changes the mode or the time of a file or directory; links are followed.
    async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry>;

    /// How much the tree holds.
    async fn usage(&self) -> Result<Usage>;

    /// Unpacks an archive into a directory, which is made. A bad archive leaves nothing behind.
    async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked>;

    /// An archive of what a directory holds, or of one file, sorted. With limits the tree is
    /// measured before the first byte; special files are left out.
    async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream>;

    /// Takes steps in order, all of them or none: nobody sees a state between, and one that fails
    /// takes all back. Gives what is at each step's path afterwards. A tree that cannot do that
    /// refuses with [`Unsupported`](crate::ErrorKind::Unsupported).
    async fn batch(&self, steps: Vec<Step>) -> Result<Vec<Option<Entry>>>;

    /// What happens in a directory, or in everything beneath it, from now on or since a cursor.
    /// Links are not followed. Fails here when `dir` is missing or not a directory; when it goes
    /// later, the stream ends with [`NotFound`](crate::ErrorKind::NotFound), and when the whole
    /// tree goes, with [`Unavailable`](crate::ErrorKind::Unavailable).
    async fn watch(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream>;

    /// The snapshots of the tree, if it has any.
    fn snapshots(&self) -> Option<&dyn Snapshots>;

    /// Looks whether others changed the tree, so that everything that they did until now is seen.
    /// Without it, a tree that others change elsewhere may be shown as it was a moment ago.
    async fn refresh(&self) -> Result<()>;

    /// Who asks that changes of the tree be made through him, if anybody does. They may be made
    /// here all the same.
    fn leader(&self) -> Option<Leader>;

    /// A view of what is at `path` and beneath it, and of nothing else, under the same paths.
    ///
    /// - A path that lies elsewhere is [`OutsideSandbox`](crate::ErrorKind::OutsideSandbox).
    /// - So is one that a link leads out, at the moment of the operation: whoever changes the tree
    ///   meanwhile cannot change that. No link on the way to `path` is followed at all.
    /// - It is what is at `path` at any moment. Nothing may be there yet: a write makes it.
    /// - What is at `path` itself can be read and written, but not removed, moved or replaced by
    ///   something else, as the root of a tree cannot.
    /// - Usage is that of the part. Limits are those of the whole; a view has no snapshots.
    ///
    /// An open file stays open when it is moved out. The view of the root is the tree itself.
    fn within(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>>;
}

/// An open file. Writes are durable after [`OpenFile::sync`].
#[async_trait]
pub trait OpenFile: fmt::Debug + Send + Sync + 'static {
    /// What the file is now.
    async fn stat(&self) -> Result<Entry>;
    /// At most `len` bytes at `offset`; empty at or behind the end.
    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes>;
    /// Puts all of `bytes` at `offset`; a gap reads as zeros.
    async fn write_at(&self, offset: u64, bytes: Bytes) -> Result<()>;
    /// Cuts the file or lengthens it with zeros.
    async fn set_len(&self, len: u64) -> Result<()>;
    /// Waits until what was written is durable.
    async fn sync(&self) -> Result<()>;
}

/// Whether the last name of a path is followed when it is a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// The target is meant.
    Follow,
    /// The link itself is meant.
    Keep,
}

/// A part of a listing: what sorts after a name, and at most so many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Leave out everything up to and including this name.
    pub after: Option<String>,
    /// Stop after so many entries.
    pub limit: Option<usize>,
}

/// A part of a file. Its end is clamped to the file's; its start must lie within, except that an
/// empty file satisfies [`Span::Whole`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// All of it.
    Whole,
    /// From an offset to the end.
    From(u64),
    /// From an offset up to another.
    Between(Range<u64>),
    /// So many bytes at the end.
    Last(u64),
}

impl Span {
    /// Which bytes of a file of this size are meant.
    pub(crate) fn within(&self, size: u64) -> Result<Range<u64>> {
        if let Self::Between(range) = self
            && range.end < range.start
        {
            return Err(Error::new(ErrorKind::InvalidArgument, "the range ends before it starts"));
        }
        let range = match self {
            Self::Whole => return Ok(0..size),
            Self::From(start) => *start..size,
            Self::Between(range) => range.start..range.end.min(size),
            Self::Last(len) => size.saturating_sub(*len)..size,
        };
        if range.start >= size {
            let message = format!("the range lies outside the file of {size} bytes");
            return Err(Error::new(ErrorKind::RangeNotSatisfiable, message));
        }
        Ok(range)
    }
}

/// An open file's entry and the bytes that were asked for.
pub struct Content {
    /// What the file was when it was opened.
    pub entry: Entry,
    /// Which bytes these are.
    pub range: Range<u64>,
    /// The bytes.
    pub body: ByteStream,
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, range, body: _ } = self;
        f.debug_struct("Content").field("entry", entry).field("range", range).finish()
    }
}

/// How a write treats what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// The file must not exist.
    CreateNew,
    /// The body becomes the whole content; the mode of what it replaces stays.
    Replace,
    /// The body goes to the end; a missing file is made.
    Append,
    /// The body goes in place at an offset; a missing file is made, and a gap reads as zeros.
    Part(Part),
}

/// Where a part of a file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The offset of its first byte.
    pub offset: u64,
    /// How long the file must be afterwards, if that matters; another length is
    /// [`PreconditionFailed`](crate::ErrorKind::PreconditionFailed).
    pub total: Option<u64>,
}

/// Whether missing directories on the way are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parents {
    /// They are made.
    Create,
    /// They must be there.
    Require,
}

/// What the caller believes about the target. A wrong belief is
/// [`PreconditionFailed`](crate::ErrorKind::PreconditionFailed), and nothing changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum If {
    /// Nothing.
    Always,
    /// It exists.
    Exists,
    /// It does not exist.
    Missing,
    /// It exists in one of these versions.
    Matches(Vec<Version>),
    /// It is missing, or in none of these versions.
    Differs(Vec<Version>),
}

impl If {
    /// Whether a target of this version, or a missing one, is as expected.
    pub fn holds(&self, current: Option<&Version>) -> bool {
        match self {
            Self::Always => true,
            Self::Exists => current.is_some(),
            Self::Missing => current.is_none(),
            Self::Matches(versions) => current.is_some_and(|current| versions.contains(current)),
            Self::Differs(versions) => !current.is_some_and(|current| versions.contains(current)),
        }
    }
}

/// How a file is written.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// How what is there is treated.
    pub mode: WriteMode,
    /// Whether missing directories are made.
    pub parents: Parents,
    /// What the caller believes about the file.
    pub expected: If,
    /// How long the body will be, if known: a longer or shorter one is refused.
    pub length: Option<u64>,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file as it is now.
    pub entry: Entry,
    /// How many bytes the body had.
    pub bytes: u64,
    /// Whether the file is new.
    pub created: bool,
    /// Whether a mount pins the file, so that it could not be replaced at once.
    pub in_place: bool,
}

/// What making a directory did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The directory as it is now.
    pub entry: Entry,
    /// Whether it is new.
    pub created: bool,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenOptions {
    /// For reading only; it must exist.
    Read,
    /// For reading and writing. A file with several hard links is first made a file of its own.
    Write(Create),
}

/// Whether opening may make the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// It must exist.
    Never,
    /// It is made when missing, parents too.
    IfMissing,
    /// It must be new, parents are made.
    New,
}

/// How much a removal may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// A file, or a directory that is empty.
    One,
    /// A directory with everything in it.
    All,
}

/// What may be at the destination of a move or copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nothing.
    New,
    /// Anything: it is replaced whole, and never before the new one is ready.
    Replace,
    /// Directories are merged, files replaced; a file never replaces a directory or the reverse.
    Merge,
}

/// What to change; what is absent stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetadataChange {
    /// New permission bits; only 0777 of them.
    pub mode: Option<u32>,
    /// New time of modification.
    pub modified: Option<UnixTime>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_empty_file_is_no_error() {
        assert_eq!(Span::Whole.within(0).unwrap(), 0..0);
    }

    #[test]
    fn an_end_behind_the_file_is_clamped() {
        assert_eq!(Span::Between(2..99).within(10).unwrap(), 2..10);
    }

    #[test]
    fn a_start_behind_the_file_is_refused() {
        let err = Span::From(10).within(10).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::RangeNotSatisfiable);
    }

    #[test]
    fn more_than_the_file_holds_from_its_end_is_all_of_it() {
        assert_eq!(Span::Last(99).within(10).unwrap(), 0..10);
    }
}

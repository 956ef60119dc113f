//! A tree under test, with short words for what promises do most.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use engine::{
    ArchiveFormat, ArchiveLimits, DotDot, Entry, EntryKind, Error, ErrorKind, FileSystem, If,
    Links, Page, Parents, Part, Result, SandboxPath, Span, Version, WriteMode, WriteOptions,
    Written,
};
use futures::TryStreamExt as _;
use futures::future::join_all;

use crate::Fixture;
use crate::body;
use crate::fixture::PlantFifo;

/// A tree under test. It is a [`FileSystem`], and knows shorter words, which panic on failure.
#[derive(Clone)]
pub(crate) struct Tree {
    files: Arc<dyn FileSystem>,
    plant_fifo: Option<PlantFifo>,
    place: Option<PathBuf>,
}

impl Deref for Tree {
    type Target = dyn FileSystem;

    fn deref(&self) -> &Self::Target {
        &*self.files
    }
}

impl Tree {
    pub(crate) fn of(fixture: &Fixture) -> Self {
        let files = Arc::clone(&fixture.files);
        Self { files, plant_fifo: fixture.plant_fifo.clone(), place: fixture.place.clone() }
    }

    /// Makes a file of this content, whatever was there.
    pub(crate) async fn put(&self, file: &str, content: impl Into<Bytes>) -> Written {
        self.try_put(file, content, replace()).await.unwrap()
    }

    /// Makes many empty files, several at a time.
    pub(crate) async fn put_all(&self, files: impl Iterator<Item = String>) {
        for some in files.collect::<Vec<_>>().chunks(32) {
            join_all(some.iter().map(|file| self.put(file, ""))).await;
        }
    }

    /// Writes a body in one piece.
    pub(crate) async fn try_put(
        &self,
        file: &str,
        content: impl Into<Bytes>,
        options: WriteOptions,
    ) -> Result<Written> {
        self.write(&at(file), body::whole(content), options).await
    }

    /// Makes a directory and its parents.
    pub(crate) async fn make_dir(&self, dir: &str) -> Entry {
        self.create_dir(&at(dir), Parents::Create).await.unwrap().entry
    }

    /// Makes a symbolic link.
    pub(crate) async fn link(&self, link: &str, target: &str) -> Entry {
        self.symlink(&at(link), target).await.unwrap()
    }

    /// Puts a FIFO at a path.
    pub(crate) fn fifo(&self, path: &str) {
        let plant = self.plant_fifo.as_ref().expect("a fixture with Ability::Fifos plants them");
        plant(&at(path));
    }

    /// Holds that an error does not tell where the tree is kept.
    pub(crate) fn assert_keeps_its_place(&self, err: &Error) {
        if let Some(place) = self.place.as_deref().and_then(|place| place.to_str()) {
            assert!(!err.to_string().contains(place), "{err}");
        }
    }

    /// Holds that an archive is refused with this kind and changes nothing, whether or not the
    /// directory exists. Gives the last message.
    pub(crate) async fn refuses(
        &self,
        archive: &[u8],
        format: ArchiveFormat,
        limits: ArchiveLimits,
        kind: ErrorKind,
    ) -> String {
        self.put("/to/kept", "kept").await;
        let before = self.picture().await;
        let mut message = String::new();
        for dir in ["/to", "/new/dir"] {
            let body = body::whole(archive.to_vec());
            let outcome = self.unpack(&at(dir), body, format, limits).await;
            let err = outcome.expect_err("this must be refused");
            assert_eq!(err.kind(), kind, "{dir}: {err}");
            assert_eq!(self.picture().await, before);
            message = err.to_string();
        }
        message
    }

    /// What is at a path, links followed.
    pub(crate) async fn entry(&self, path: &str) -> Entry {
        self.stat(&at(path), Links::Follow).await.unwrap()
    }

    /// Why there is nothing at a path, links followed.
    pub(crate) async fn absence(&self, path: &str) -> ErrorKind {
        refused(self.stat(&at(path), Links::Follow).await)
    }

    /// The version of a file.
    pub(crate) async fn version(&self, file: &str) -> Version {
        self.entry(file).await.version.expect("a file has a version")
    }

    /// A part of a file.
    pub(crate) async fn part(&self, file: &str, span: Span) -> Result<Vec<u8>> {
        let content = self.read(&at(file), span).await?;
        let (entry, range) = (content.entry, content.range);
        let bytes = gather(content.body).await?;
        assert_eq!(range.end - range.start, bytes.len() as u64, "{range:?} of {entry:?}");
        Ok(bytes)
    }

    /// The bytes of a file.
    pub(crate) async fn content(&self, file: &str) -> Vec<u8> {
        self.part(file, Span::Whole).await.unwrap()
    }

    /// The text of a file.
    pub(crate) async fn text(&self, file: &str) -> String {
        String::from_utf8(self.content(file).await).unwrap()
    }

    /// A page of a listing.
    pub(crate) async fn page(&self, dir: &str, page: Page) -> Vec<Entry> {
        self.list(&at(dir), page).await.unwrap().try_collect().await.unwrap()
    }

    /// The names in a directory.
    pub(crate) async fn names(&self, dir: &str) -> Vec<String> {
        let children = self.page(dir, Page::default()).await;
        children.iter().map(|child| child.path.name().to_owned()).collect()
    }

    /// Everything beneath the root: every path with its kind, and with its content or why it
    /// has none. Two equal pictures mean that nothing changed.
    pub(crate) async fn picture(&self) -> BTreeMap<String, String> {
        let mut picture = BTreeMap::new();
        let mut dirs = vec![SandboxPath::root()];
        while let Some(dir) = dirs.pop() {
            for child in self.page(dir.as_str(), Page::default()).await {
                let shown = match child.kind {
                    EntryKind::Directory => "directory".to_owned(),
                    EntryKind::File | EntryKind::Symlink | EntryKind::Special => {
                        let content = self.part(child.path.as_str(), Span::Whole).await;
                        let content = content.map(|bytes| bytes.escape_ascii().to_string());
                        format!("{:?} {:?}", child.kind, content.map_err(|err| err.kind()))
                    }
                };
                picture.insert(child.path.to_string(), shown);
                if child.kind == EntryKind::Directory {
                    dirs.push(child.path);
                }
            }
        }
        picture
    }
}

/// The path that a text spells.
pub(crate) fn at(path: &str) -> SandboxPath {
    SandboxPath::parse(path, DotDot::Refuse).unwrap()
}

/// The kind of the failure that must have happened.
pub(crate) fn refused<T: Debug>(outcome: Result<T>) -> ErrorKind {
    outcome.expect_err("this must fail").kind()
}

/// All bytes of a body.
pub(crate) async fn gather(body: engine::ByteStream) -> Result<Vec<u8>> {
    let gathered = Vec::new();
    body.try_fold(gathered, |mut bytes, piece| async move {
        bytes.extend_from_slice(&piece);
        Ok(bytes)
    })
    .await
}

/// Writes the whole content and makes parents.
pub(crate) fn replace() -> WriteOptions {
    let (mode, parents, expected) = (WriteMode::Replace, Parents::Create, If::Always);
    WriteOptions { mode, parents, expected, length: None }
}

/// Writes the whole content if the file is as expected.
pub(crate) fn replace_if(expected: If) -> WriteOptions {
    WriteOptions { expected, ..replace() }
}

/// Writes the whole content of a known length.
pub(crate) fn replace_with(length: u64) -> WriteOptions {
    WriteOptions { length: Some(length), ..replace() }
}

/// Makes a file that must not exist.
pub(crate) fn create_new() -> WriteOptions {
    WriteOptions { mode: WriteMode::CreateNew, ..replace() }
}

/// Writes so many bytes at an offset.
pub(crate) fn part(offset: u64, length: u64) -> WriteOptions {
    let mode = WriteMode::Part(Part { offset, total: None });
    WriteOptions { mode, length: Some(length), ..replace() }
}

/// Adds to the end.
pub(crate) fn append() -> WriteOptions {
    WriteOptions { mode: WriteMode::Append, ..replace() }
}

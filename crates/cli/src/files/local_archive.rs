//! Local files and directories as one tar stream, built while it is sent.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Result, bail, ensure};
use bytes::{Bytes, BytesMut};
use engine::{ByteStream, Error, ErrorKind};
use tar::{Builder, EntryType, Header};
use tokio::sync::mpsc::Sender;

use crate::body;
use crate::local;

/// Local files and directories on their way into an archive.
pub(super) struct LocalArchive {
    /// Each with the name that it gets.
    roots: Vec<(PathBuf, OsString)>,
    /// The bytes of all files.
    pub(super) bytes: u64,
}

impl LocalArchive {
    /// Looks at everything that is to be sent, so that what cannot be sent is refused before
    /// anything is.
    pub(super) fn survey(locals: &[PathBuf]) -> Result<Self> {
        let mut names = HashSet::new();
        let mut roots = Vec::new();
        for given in locals {
            let path = local::canonical(given)?;
            // A link arrives under its own name with what it leads to; `.` under its real name.
            let Some(name) = given.file_name().or_else(|| path.file_name()) else {
                bail!("{} has no name of its own to arrive under", given.display());
            };
            ensure!(
                names.insert(name.to_owned()),
                "two of these are called {}, and one would replace the other",
                name.display()
            );
            let name = name.to_owned();
            roots.push((path, name));
        }
        let mut bytes = 0;
        for (path, _) in &roots {
            bytes += measure(path)?;
        }
        Ok(Self { roots, bytes })
    }

    /// The archive, and the thread that builds it.
    pub(super) fn stream(self) -> (ByteStream, JoinHandle<io::Result<()>>) {
        let (chunks, body) = body::channel();
        let thread = thread::spawn(move || {
            let built = self.build(chunks.clone());
            if let Err(err) = &built {
                let message = format!("the local files cannot be sent: {err}");
                // A receiver that is gone has an error of its own already.
                chunks.blocking_send(Err(Error::new(ErrorKind::BrokenBody, message))).ok();
            }
            built
        });
        (body, thread)
    }

    fn build(self, chunks: Sender<engine::Result<Bytes>>) -> io::Result<()> {
        let mut archive = Builder::new(Pipe { chunks, chunk: BytesMut::new() });
        let mut waiting: Vec<(PathBuf, PathBuf)> =
            self.roots.into_iter().rev().map(|(path, name)| (path, name.into())).collect();
        while let Some((path, name)) = waiting.pop() {
            if append(&mut archive, &path, &name)? == Kind::Directory {
                let inner = |child: PathBuf| {
                    let name = name.join(child.file_name().unwrap_or_default());
                    (child, name)
                };
                waiting.extend(local::children(&path)?.into_iter().rev().map(inner));
            }
        }
        archive.into_inner()?.flush()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    Link,
}

fn kind(path: &Path, metadata: &Metadata) -> io::Result<Kind> {
    match metadata.file_type() {
        kind if kind.is_file() => Ok(Kind::File),
        kind if kind.is_dir() => Ok(Kind::Directory),
        kind if kind.is_symlink() => Ok(Kind::Link),
        _ => {
            let message = format!("{} is no file, directory or link", path.display());
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
    }
}

/// The bytes of all files at and beneath `path`.
fn measure(path: &Path) -> Result<u64> {
    let mut bytes = 0;
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        let unreadable = || format!("{} cannot be read", path.display());
        let metadata = local::look_at_link(&path).with_context(unreadable)?;
        match kind(&path, &metadata)? {
            Kind::File => bytes += metadata.len(),
            Kind::Directory => waiting.extend(local::children(&path).with_context(unreadable)?),
            Kind::Link => {}
        }
    }
    Ok(bytes)
}

fn append(archive: &mut Builder<Pipe>, path: &Path, name: &Path) -> io::Result<Kind> {
    let metadata = local::look_at_link(path)?;
    let kind = kind(path, &metadata)?;
    let mut header = Header::new_gnu();
    header.set_mode(metadata.mode() & 0o777);
    header.set_mtime(u64::try_from(metadata.mtime()).unwrap_or(0));
    header.set_size(0);
    match kind {
        Kind::File => append_file(archive, &mut header, path, name)?,
        Kind::Directory => {
            header.set_entry_type(EntryType::Directory);
            archive.append_data(&mut header, name, io::empty())?;
        }
        Kind::Link => {
            header.set_entry_type(EntryType::Symlink);
            archive.append_link(&mut header, name, local::link_target(path)?)?;
        }
    }
    Ok(kind)
}

/// Appends a file at the length that it has when it is opened: the header goes out first, and a
/// file that grows or shrinks behind it would shift everything that follows.
fn append_file(
    archive: &mut Builder<Pipe>,
    header: &mut Header,
    path: &Path,
    name: &Path,
) -> io::Result<()> {
    let file = local::open(path)?;
    let length = file.metadata()?.len();
    header.set_size(length);
    let mut content = Counted { reader: file.take(length), count: 0 };
    archive.append_data(header, name, &mut content)?;
    if content.count < length {
        let message = format!("{} became shorter while it was read", path.display());
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
    }
    Ok(())
}

struct Counted<R> {
    reader: R,
    count: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count += read as u64;
        Ok(read)
    }
}

/// The end of the archive that the network takes from.
struct Pipe {
    chunks: Sender<engine::Result<Bytes>>,
    chunk: BytesMut,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= body::CHUNK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = self.chunk.split().freeze();
        self.chunks.blocking_send(Ok(chunk)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

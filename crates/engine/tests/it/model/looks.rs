//! Looking at both, and at files that are open in both.

use std::collections::BTreeMap;
use std::io::Read as _;

use futures::TryStreamExt as _;
use sandkeep_engine::{
    ArchiveFormat, ArchiveLimits, Create, Entry, ErrorKind, FileSystem as _, OpenOptions, Page,
    Parents, Result, Span, WriteMode,
};

use super::changes::links;
use super::compare::{Pair, assert_same, same_outcome};
use super::operation::Operation;
use super::reference::{Belief, Kind, Outcome, Reference};
use crate::contents::at;

impl Pair<'_> {
    pub(super) async fn look(&self, operation: &Operation) {
        match operation {
            Operation::Stat { path, follow } => {
                let real = self.files().stat(&at(path), links(*follow)).await;
                let ours = self.reference.found(path, *follow);
                if let Some((real, (_, number))) = same_outcome(real, ours) {
                    assert_same(&real, self.reference.thing(number));
                }
            }
            Operation::List { path, after, limit } => {
                let page = Page { after: after.clone(), limit: *limit };
                let real = self.listed(path, page).await;
                let ours = self.reference.found_directory(path);
                if let Some((real, dir)) = same_outcome(real, ours) {
                    let names = self.reference.names(&dir).into_iter();
                    let names =
                        names.filter(|name| after.as_ref().is_none_or(|after| name > after));
                    let names: Vec<_> = names.take(limit.unwrap_or(usize::MAX)).collect();
                    assert_eq!(real, names);
                }
            }
            Operation::Read { path, span } => {
                let real = self.content(path, span).await;
                let ours = self.reference.found_file(path);
                let ours = ours.and_then(|file| part(self.reference.file_bytes(file), span));
                if let Some((real, ours)) = same_outcome(real, ours) {
                    assert!(real == ours, "another part of the file");
                }
            }
            Operation::ReadLink { path } => {
                let real = self.files().read_link(&at(path)).await;
                let ours = self.reference.found(path, false).and_then(|(_, number)| {
                    match &self.reference.thing(number).kind {
                        Kind::Link(target) => Ok(target.clone()),
                        Kind::File(_) | Kind::Directory => Err(ErrorKind::InvalidArgument),
                    }
                });
                same_outcome(real, ours).iter().for_each(|(real, ours)| assert_eq!(real, ours));
            }
            Operation::Pack { path } => {
                let real = self.packed(path).await;
                let ours = self.reference.found(path, true).map(|(place, _)| place.path);
                if let Some((real, top)) = same_outcome(real, ours) {
                    assert!(real == packed(&self.reference, path, &top), "another archive");
                }
            }
            other => unreachable!("{other:?} changes something"),
        }
    }

    async fn listed(&self, path: &str, page: Page) -> Result<Vec<String>> {
        let entries: Vec<Entry> = self.files().list(&at(path), page).await?.try_collect().await?;
        Ok(entries.iter().map(|entry| entry.path.name().to_owned()).collect())
    }

    async fn content(&self, path: &str, span: &Span) -> Result<Vec<u8>> {
        let content = self.files().read(&at(path), span.clone()).await?;
        let pieces: Vec<bytes::Bytes> = content.body.try_collect().await?;
        Ok(pieces.concat())
    }

    /// The regular files of an archive of what is at a path.
    async fn packed(&self, path: &str) -> Result<BTreeMap<String, Vec<u8>>> {
        let stream =
            self.files().pack(&at(path), ArchiveFormat::Tar, ArchiveLimits::default()).await?;
        let pieces: Vec<bytes::Bytes> = stream.try_collect().await?;
        let bytes = pieces.concat();
        let mut archive = tar::Archive::new(&bytes[..]);
        let mut files = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            if entry.header().entry_type().is_file() {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).unwrap();
                files.insert(entry.path().unwrap().to_str().unwrap().to_owned(), bytes);
            }
        }
        Ok(files)
    }

    pub(super) async fn handle(&mut self, operation: &Operation) {
        match operation {
            Operation::Open { handle, path, create } => {
                let options = create.map_or(OpenOptions::Read, OpenOptions::Write);
                let real = self.files().open(&at(path), options).await;
                let ours = opened(&mut self.reference, path, *create);
                if let Some((real, file)) = same_outcome(real, ours) {
                    self.handles[*handle] = Some((real, file, create.is_some()));
                }
            }
            Operation::ReadAt { handle, offset, len } => {
                let Some((handle, file, _)) = &self.handles[*handle] else { return };
                let bytes = self.reference.file_bytes(*file);
                let start = bytes.len().min(*offset as usize);
                let end = bytes.len().min(start + len);
                assert_eq!(handle.read_at(*offset, *len).await.unwrap(), bytes[start..end]);
                assert_eq!(handle.stat().await.unwrap().size, bytes.len() as u64);
            }
            Operation::WriteAt { handle, offset, content } => {
                let Some((handle, file, writable)) = &self.handles[*handle] else { return };
                let real = handle.write_at(*offset, content.bytes().into()).await;
                let ours = check_writable(*writable).and_then(|()| {
                    self.reference.step(|tree| tree.write_at(*file, *offset, &content.bytes()))
                });
                same_outcome(real, ours);
            }
            Operation::SetLen { handle, len } => {
                let Some((handle, file, writable)) = &self.handles[*handle] else { return };
                let real = handle.set_len(*len).await;
                let ours = check_writable(*writable)
                    .and_then(|()| self.reference.step(|tree| tree.set_len(*file, *len)));
                same_outcome(real, ours);
            }
            Operation::Close { handle } => self.handles[*handle] = None,
            other => unreachable!("{other:?} is not about an open file"),
        }
    }
}

fn check_writable(writable: bool) -> Outcome<()> {
    if writable { Ok(()) } else { Err(ErrorKind::PermissionDenied) }
}

fn opened(tree: &mut Reference, path: &str, create: Option<Create>) -> Outcome<u64> {
    let make = |tree: &mut Reference| {
        tree.step(|tree| {
            tree.write(path, &[], WriteMode::CreateNew, Parents::Create, &Belief::Nothing)
        })
    };
    match create {
        None | Some(Create::Never) => tree.found_file(path),
        Some(Create::New) => make(tree),
        Some(Create::IfMissing) => match make(tree) {
            Err(ErrorKind::AlreadyExists) => tree.found_file(path),
            outcome => outcome,
        },
    }
}

/// The part of a file that a span means.
fn part(bytes: &[u8], span: &Span) -> Outcome<Vec<u8>> {
    let size = bytes.len() as u64;
    let (start, end) = match span {
        Span::Whole => return Ok(bytes.to_vec()),
        Span::Between(range) if range.end < range.start => return Err(ErrorKind::InvalidArgument),
        Span::Between(range) => (range.start, range.end.min(size)),
        Span::From(start) => (*start, size),
        Span::Last(len) => (size.saturating_sub(*len), size),
    };
    if start >= size {
        return Err(ErrorKind::RangeNotSatisfiable);
    }
    Ok(bytes[start as usize..end as usize].to_vec())
}

/// What an archive of a path must hold.
fn packed(tree: &Reference, path: &str, top: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for (rest, number) in tree.beneath(top) {
        if let Kind::File(bytes) = &tree.thing(number).kind {
            let name = match rest.strip_prefix('/') {
                Some(name) => name,
                None => path.rsplit('/').next().unwrap(),
            };
            files.insert(name.to_owned(), bytes.clone());
        }
    }
    files
}

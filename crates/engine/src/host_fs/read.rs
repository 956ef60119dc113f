//! Looking and reading. What the kernel's caches hold never leaves the thread.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt as _};

use super::meaning::{Meaning as _, entry, host_path};
use super::{HostFs, Tree, recent};
use crate::buffers::Buffer;
use crate::{
    ByteStream, Content, Entry, Error, ErrorKind, Links, Result, SandboxPath, Span, blocking,
};

const FIRST_STEP: u64 = 64 << 10;
const LARGEST_STEP: u64 = 256 << 10;
/// The most that is taken from a file that the kernel makes up, such as those of `/proc`.
const LARGEST_GENERATED: usize = 8 << 20;

impl HostFs {
    pub(super) async fn stat_at(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        if links == Links::Follow
            && let Some(stat) = self.tree.dir.stat_cached(&host_path(path)).meaning()?
        {
            return Ok(entry(path.clone(), &stat));
        }
        let path = path.clone();
        self.on_tree(move |tree| tree.stat(&path, links)).await
    }

    pub(super) async fn read_span(&self, file: &SandboxPath, span: &Span) -> Result<Content> {
        let cached = self.tree.dir.open_file_cached(&host_path(file)).meaning()?;
        let (opened, stat) = match cached {
            Some(found) => {
                recent::tend();
                found
            }
            None => {
                let file = file.clone();
                let open = move |tree: &Arc<Tree>| tree.dir.open_file(&host_path(&file)).meaning();
                let (opened, stat) = self.on_tree(open).await?;
                (Arc::new(opened), stat)
            }
        };
        if self.tree.dir.is_generated(&opened) {
            return self.read_generated(file, span, opened, stat).await;
        }
        let range = match span.within(stat.size) {
            Ok(range) => range,
            Err(err) => {
                blocking::drop_there(opened);
                return Err(err);
            }
        };
        let reading = Reading { file: opened, at: range.start, end: range.end, step: FIRST_STEP };
        Ok(Content { entry: entry(file.clone(), &stat), range, body: reading.into_stream() })
    }
}

impl HostFs {
    /// Reads a file whose length is known only when it was read. It has no version either.
    async fn read_generated(
        &self,
        file: &SandboxPath,
        span: &Span,
        opened: Arc<host::OpenedFile>,
        mut stat: host::Stat,
    ) -> Result<Content> {
        let content = blocking::run(move || read_to_end(&opened)).await?;
        stat.size = content.len() as u64;
        let range = span.within(stat.size)?;
        let within = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let asked = within.map_or_else(Bytes::new, |(start, end)| content.slice(start..end));
        let entry = Entry { version: None, ..entry(file.clone(), &stat) };
        Ok(Content { entry, range, body: stream::iter([Ok(asked)]).boxed() })
    }
}

fn read_to_end(file: &host::OpenedFile) -> Result<Bytes> {
    let mut content = Vec::new();
    let mut space = vec![0; 64 << 10];
    loop {
        let read = file.read_at(&mut space, content.len() as u64).meaning()?;
        content.extend_from_slice(space.get(..read).unwrap_or_default());
        if read == 0 {
            return Ok(Bytes::from(content));
        }
        if content.len() > LARGEST_GENERATED {
            let message = format!("the kernel gives more than {LARGEST_GENERATED} bytes");
            return Err(Error::new(ErrorKind::FileTooLarge, message));
        }
    }
}

impl Tree {
    pub(super) fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        let stat = if links == Links::Follow || path.is_root() {
            self.dir.stat(&host_path(path)).meaning()?
        } else {
            let spot = self.spot(path, Links::Keep, crate::Parents::Require)?;
            self.dir
                .stat_spot(&spot)
                .meaning()?
                .ok_or_else(|| super::meaning::meaning(host::Errno::NOENT.into()))?
        };
        Ok(entry(path.clone(), &stat))
    }
}

/// A file on its way out.
struct Reading {
    file: Arc<host::OpenedFile>,
    at: u64,
    end: u64,
    step: u64,
}

impl Reading {
    fn into_stream(self) -> ByteStream {
        stream::unfold(Some(self), |reading| async {
            let mut reading = reading.filter(|reading| reading.at < reading.end)?;
            match reading.next().await {
                Ok(piece) => Some((Ok(piece), Some(reading))),
                Err(err) => Some((Err(err), None)),
            }
        })
        .boxed()
    }

    async fn next(&mut self) -> Result<Bytes> {
        let want = usize::try_from((self.end - self.at).min(self.step)).unwrap_or(usize::MAX);
        let mut buffer = Buffer::of(want);
        let read = match self.file.read_cached(buffer.space(), self.at).meaning()? {
            Some(read) => read,
            None => {
                let (file, at) = (Arc::clone(&self.file), self.at);
                let (back, read) = blocking::run(move || {
                    let read = file.read_at(buffer.space(), at).meaning()?;
                    Ok((buffer, read))
                })
                .await?;
                buffer = back;
                read
            }
        };
        if read == 0 {
            return Err(Error::new(ErrorKind::Busy, "the file shrank while it was read"));
        }
        self.at += read as u64;
        self.step = (self.step * 2).min(LARGEST_STEP);
        Ok(buffer.filled(read))
    }
}

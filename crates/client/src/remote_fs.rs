//! Each operation of a file system as a request of `/v1/fs`.

use std::sync::Arc;

use async_trait::async_trait;
use engine::{
    ArchiveFormat, ArchiveLimits, ByteStream, Content, Depth, DotDot, Entry, EntryKind,
    EntryStream, Error, ErrorKind, FileSystem, If, Leader, Links, Made, MetadataChange,
    NoticeStream, OpenFile, OpenOptions, Page, Parents, Result, SandboxPath, Snapshots, Span, Step,
    Target, Unpacked, Usage, Watch, WriteMode, WriteOptions, Written,
};
use futures::StreamExt as _;
use http::Method;
use http::header::{CACHE_CONTROL, CONTENT_RANGE, CONTENT_TYPE, RANGE};

use crate::endpoint::{cannot_confine, with_json};
use crate::handle::ByPath;
use crate::transport::not_understood;
use crate::wire::{self, Relocation, Stat, Uploaded};
use crate::{Remote, conditions, handle, incoming, listing, outgoing};

#[async_trait]
impl FileSystem for Remote {
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        if links == Links::Keep {
            return Err(unsupported("look at a link itself"));
        }
        let answer = self.endpoint.send(self.about(Method::GET, "/v1/fs/stat", path)).await?;
        let headers = answer.headers().clone();
        let stat: Stat = self.endpoint.parse(answer).await?;
        Ok(stat.entry(path, &headers))
    }

    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        let mut request = self.about(Method::GET, "/v1/fs/entries", dir);
        if let Some(after) = &page.after {
            request = request.query(&[("after", after)]);
        }
        if let Some(limit) = page.limit {
            // A page of nothing cannot be asked for, yet it must fail where a page would.
            request = request.query(&[("limit", limit.max(1))]);
        }
        let body = incoming::stream(self.endpoint.send(request).await?, self.endpoint.address());
        let entries = listing::entries(body, dir);
        Ok(if page.limit == Some(0) { entries.take(0).boxed() } else { entries })
    }

    async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        if let Span::Between(range) = &span
            && range.end <= range.start
        {
            return incoming::read_nothing(self, file, range).await;
        }
        let mut request = self.about(Method::GET, "/v1/fs/file", file);
        if let Some(range) = conditions::range(&span) {
            request = request.header(RANGE, range);
        }
        incoming::content(self.endpoint.send(request).await?, file, &span, self.endpoint.address())
    }

    async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        if options.parents == Parents::Require {
            return Err(unsupported("insist that parents exist"));
        }
        let request = match options.mode {
            WriteMode::CreateNew | WriteMode::Replace => {
                self.about(Method::PUT, "/v1/fs/file", file)
            }
            WriteMode::Append => {
                self.about(Method::PATCH, "/v1/fs/file", file).header("x-append", "1")
            }
            WriteMode::Part(part) => {
                let place = conditions::placed(part, options.length)?;
                self.about(Method::PATCH, "/v1/fs/file", file).header(CONTENT_RANGE, place)
            }
        };
        let expected = conditions::for_write(options.mode, &options.expected)?;
        let request = conditions::applied(request, expected);
        let request = request.header(CONTENT_TYPE, "application/octet-stream");
        let (request, sent) = outgoing::attach(request, body, options.length);
        let answer = match sent.or(self.endpoint.send(request).await) {
            Err(err) => return Err(taken_if_new(err, &options, file)),
            Ok(answer) => answer,
        };
        self.written(answer, file, options.mode).await
    }

    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>> {
        handle::open(self, file, options).await
    }

    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        if parents == Parents::Require {
            return Err(unsupported("insist that parents exist"));
        }
        let answer = self.endpoint.send(self.about(Method::POST, "/v1/fs/mkdir", dir)).await?;
        let created = answer.headers().contains_key("x-created");
        Ok(Made { entry: wire::entry(dir.clone(), EntryKind::Directory, 0), created })
    }

    async fn symlink(&self, _link: &SandboxPath, _target: &str) -> Result<Entry> {
        Err(unsupported("make links"))
    }

    async fn read_link(&self, _link: &SandboxPath) -> Result<String> {
        Err(unsupported("read links"))
    }

    async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        let recursive = depth == Depth::All;
        let request = self.about(Method::DELETE, "/v1/fs/entry", path);
        let request = request.query(&[("recursive", recursive)]);
        self.endpoint
            .send(conditions::applied(request, conditions::header(&expected)))
            .await
            .map(drop)
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        self.relocate("/v1/fs/move", from, to, target).await
    }

    async fn copy(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        self.relocate("/v1/fs/copy", from, to, target).await
    }

    async fn set_metadata(&self, _path: &SandboxPath, _change: MetadataChange) -> Result<Entry> {
        Err(unsupported("change modes and times"))
    }

    async fn usage(&self) -> Result<Usage> {
        Err(unsupported("tell how much the tree holds"))
    }

    async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        refuse_all_but_tar(format)?;
        if limits != ArchiveLimits::default() {
            return Err(unsupported("limit what is unpacked"));
        }
        let request = self.about(Method::POST, "/v1/fs/upload-batch", dir);
        let request = request.header(CONTENT_TYPE, "application/x-tar");
        let (request, sent) = outgoing::attach(request, archive, None);
        let answer = sent.or(self.endpoint.send(request).await)?;
        let entries = wire::number(answer.headers(), "x-entries");
        let uploaded: Uploaded = self.endpoint.parse(answer).await?;
        let paths = uploaded.paths.iter().map(|path| SandboxPath::parse(path, DotDot::Clamp));
        let paths = paths.collect::<Result<Vec<_>>>().map_err(not_understood)?;
        Ok(Unpacked { entries: entries.unwrap_or(paths.len() as u64), paths })
    }

    async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream> {
        refuse_all_but_tar(format)?;
        let mut request = self.about(Method::GET, "/v1/fs/download-batch", path);
        let ArchiveLimits { bytes, entries, depth } = limits;
        for (name, most) in [("maxBytes", bytes), ("maxEntries", entries), ("maxDepth", depth)] {
            request = request.query(&most.map(|most| (name, most)).as_slice());
        }
        Ok(incoming::stream(self.endpoint.send(request).await?, self.endpoint.address()))
    }

    async fn batch(&self, _: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        Err(unsupported("take many steps as one"))
    }

    async fn watch(&self, _: &SandboxPath, _: Watch) -> Result<NoticeStream> {
        Err(unsupported("watch a directory"))
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        None
    }

    async fn refresh(&self) -> Result<()> {
        let root = self.about(Method::GET, "/v1/fs/stat", &SandboxPath::root());
        self.endpoint.send(root.header(CACHE_CONTROL, "no-cache")).await.map(drop)
    }

    fn leader(&self) -> Option<Leader> {
        None
    }

    fn within(&self, _: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        Err(cannot_confine())
    }
}

#[async_trait]
impl ByPath for Remote {
    async fn set_len(&self, _: &SandboxPath, _: u64) -> Result<()> {
        Err(unsupported("change the length of a file"))
    }
}

impl Remote {
    /// What a write did, from what the server tells of it.
    async fn written(
        &self,
        answer: reqwest::Response,
        file: &SandboxPath,
        mode: WriteMode,
    ) -> Result<Written> {
        let headers = answer.headers().clone();
        let created = mode == WriteMode::CreateNew || headers.contains_key("x-created");
        let bytes = self.endpoint.parse::<wire::Written>(answer).await?.bytes_written;
        let size = match (wire::number(&headers, "x-size"), mode) {
            (Some(size), _) => size,
            (None, WriteMode::CreateNew | WriteMode::Replace) => bytes,
            (None, WriteMode::Append | WriteMode::Part(_)) => {
                self.stat(file, Links::Follow).await?.size
            }
        };
        let mut entry = wire::entry(file.clone(), EntryKind::File, size);
        entry.version = wire::version(&headers);
        let in_place = headers.contains_key("x-in-place");
        Ok(Written { entry, bytes, created, in_place })
    }

    async fn relocate(
        &self,
        route: &str,
        from: &SandboxPath,
        to: &SandboxPath,
        target: Target,
    ) -> Result<Entry> {
        let overwrite = match target {
            Target::New => false,
            Target::Replace => true,
            Target::Merge => return Err(unsupported("merge directories")),
        };
        let relocation = Relocation { from: from.as_str(), to: to.as_str(), overwrite };
        let request = self.endpoint.request(Method::POST, route);
        self.endpoint.send(with_json(request, &relocation)?).await?;
        match self.stat(to, Links::Follow).await {
            // The answer names no kind. What cannot be looked at, such as a dangling link, is there
            // nevertheless, and is a file as far as this interface tells.
            Err(err) if err.kind() != ErrorKind::Io => {
                Ok(wire::entry(to.clone(), EntryKind::File, 0))
            }
            outcome => outcome,
        }
    }
}

/// A new file that finds its place taken. HTTP tells that as a failed precondition, or as what is
/// in the way.
fn taken_if_new(err: Error, options: &WriteOptions, file: &SandboxPath) -> Error {
    let failed = err.kind() == ErrorKind::PreconditionFailed && options.expected == If::Always;
    let taken = failed || matches!(err.kind(), ErrorKind::IsADirectory | ErrorKind::NotAFile);
    if options.mode == WriteMode::CreateNew && taken {
        return Error::new(ErrorKind::AlreadyExists, "something is there already").on(file);
    }
    err.on(file)
}

fn refuse_all_but_tar(format: ArchiveFormat) -> Result<()> {
    match format {
        ArchiveFormat::Tar => Ok(()),
        ArchiveFormat::TarGz | ArchiveFormat::TarZst | ArchiveFormat::Zip => {
            Err(unsupported("take or give archives other than plain tar"))
        }
    }
}

fn unsupported(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("/v1/fs cannot {what}"))
}

//! Each operation of a file system as a request about one sandbox.

use std::sync::Arc;

use async_trait::async_trait;
use engine::{
    ArchiveFormat, ArchiveLimits, ByteStream, Content, Depth, Entry, EntryStream, FileSystem, If,
    Leader, Links, Made, MetadataChange, NoticeStream, OpenFile, OpenOptions, Page, Parents, Point,
    Result, SandboxPath, Snapshots, Span, Step, Target, Unpacked, Usage, Watch, WriteMode,
    WriteOptions, Written,
};
use futures::StreamExt as _;
use http::Method;
use http::header::{CACHE_CONTROL, CONTENT_RANGE, CONTENT_TYPE, RANGE};
use reqwest::RequestBuilder;

use super::SandboxFs;
use super::steps::{self, Trip};
use super::wire::{Amount, Child, Length, Link, Mode, Stat, UnpackedBody, path};
use crate::elements::Elements;
use crate::endpoint::{cannot_confine, with_json};
use crate::handle::ByPath;
use crate::transport::not_understood;
use crate::{arriving, conditions, handle, incoming, outgoing};

#[async_trait]
impl FileSystem for SandboxFs {
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        let follow = links == Links::Follow;
        let request = self.look("fs-stat", path).query(&[("follow", follow)]);
        Ok(self.tell::<Stat>(request, path).await?.entry(path.clone()))
    }

    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        let mut request = self.look("fs-list", dir).query(&[("details", true)]);
        if let Some(after) = page.after.filter(|after| !after.is_empty()) {
            request = request.query(&[("cursor", dir.join(&after)?.as_str())]);
        }
        if let Some(limit) = page.limit {
            // A page of nothing cannot be asked for, yet it must fail where a page would.
            request = request.query(&[("limit", limit.max(1))]);
        }
        let body = incoming::stream(self.send(request, dir).await?, self.endpoint.address());
        let (elements, dir) = (Elements::of_field("{\"entries\":"), dir.clone());
        let entries = arriving::values(body, elements, move |element| {
            let child: Child = serde_json::from_slice(element).map_err(not_understood)?;
            child.entry(&dir)
        });
        Ok(if page.limit == Some(0) { entries.take(0).boxed() } else { entries })
    }

    async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        if let Span::Between(range) = &span
            && range.end <= range.start
        {
            return incoming::read_nothing(self, file, range).await;
        }
        let mut request = self.look("fs", file);
        if let Some(range) = conditions::range(&span) {
            request = request.header(RANGE, range);
        }
        let answer = self.send(request, file).await?;
        incoming::content(answer, file, &span, self.endpoint.address())
    }

    async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        let WriteOptions { mode, parents, expected, length } = options;
        let request = match mode {
            WriteMode::Replace => self.change(Method::PUT, "fs", file)?,
            WriteMode::CreateNew => self.change(Method::PUT, "fs", file)?.query(&[("new", true)]),
            WriteMode::Append => self.change(Method::PATCH, "fs", file)?.header("x-append", "1"),
            WriteMode::Part(part) => {
                let place = conditions::placed(part, length)?;
                self.change(Method::PATCH, "fs", file)?.header(CONTENT_RANGE, place)
            }
        };
        let request = with_parents(request, parents).header("prefer", "return=representation");
        let request = conditions::applied(request, conditions::header(&expected));
        let request = request.header(CONTENT_TYPE, "application/octet-stream");
        let (request, sent) = outgoing::attach(request, body, length);
        let answer = sent.or(self.send(request, file).await)?;
        let [created, in_place] =
            ["x-created", "x-in-place"].map(|name| answer.headers().contains_key(name));
        let stat: Stat = self.endpoint.parse(answer).await?;
        Ok(Written { entry: stat.entry(file.clone()), bytes: sent.bytes(), created, in_place })
    }

    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>> {
        if options != OpenOptions::Read {
            self.must_be_live().map_err(|err| err.on(file))?;
        }
        handle::open(self, file, options).await
    }

    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        let request = with_parents(self.change(Method::POST, "fs-mkdir", dir)?, parents);
        let answer = self.send(request, dir).await?;
        let created = answer.headers().contains_key("x-created");
        let stat: Stat = self.endpoint.parse(answer).await?;
        Ok(Made { entry: stat.entry(dir.clone()), created })
    }

    async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        let request = self.change(Method::PUT, "fs-link", link)?;
        let request = with_json(request, &Link { target: target.to_owned() })?;
        Ok(self.tell::<Stat>(request, link).await?.entry(link.clone()))
    }

    async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        Ok(self.tell::<Link>(self.look("fs-link", link), link).await?.target)
    }

    async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        let request = self.change(Method::DELETE, "fs", path)?;
        let request = request.query(&[("recursive", depth == Depth::All), ("must_exist", true)]);
        let request = conditions::applied(request, conditions::header(&expected));
        self.send(request, path).await.map(drop)
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        self.relocate("fs-move", from, to, target).await
    }

    async fn copy(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        self.relocate("fs-copy", from, to, target).await
    }

    async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        let body = Mode::new(change).map_err(|err| err.on(path))?;
        let request = with_json(self.change(Method::POST, "fs-chmod", path)?, &body)?;
        Ok(self.tell::<Stat>(request, path).await?.entry(path.clone()))
    }

    async fn usage(&self) -> Result<Usage> {
        let request = match &self.state {
            Point::Live => self.request(Method::GET, "stats"),
            Point::Snapshot(id) => self.about_snapshot(Method::GET, id, ""),
        };
        Ok(self.endpoint.tell::<Amount>(request).await?.into())
    }

    async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        let request = limited(self.change(Method::POST, "fs-archive", dir)?, limits);
        let request = request.query(&[("format", word(format))]);
        let (request, sent) = outgoing::attach(request, archive, None);
        let answer = sent.or(self.send(request, dir).await)?;
        let UnpackedBody { entries, paths } = self.endpoint.parse(answer).await?;
        let paths = paths.iter().map(|text| path(text)).collect::<Result<_>>()?;
        Ok(Unpacked { paths, entries })
    }

    async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream> {
        let request = limited(self.look("fs-archive", path), limits);
        let request = request.query(&[("format", word(format))]);
        Ok(incoming::stream(self.send(request, path).await?, self.endpoint.address()))
    }

    async fn batch(&self, steps: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        self.must_be_live()?;
        let spelled = steps.iter().map(steps::spelled).collect::<Result<Vec<_>>>()?;
        let request = self.request(Method::POST, "fs-batch");
        let left: Vec<Option<Stat>> = self.ask(request, &spelled).await?;
        left.into_iter().map(|stat| stat.map(Stat::entry_there).transpose()).collect()
    }

    async fn watch(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        self.watch_patiently(dir, wish, |_| {}).await
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        match self.state {
            Point::Live => Some(self),
            Point::Snapshot(_) => None,
        }
    }

    async fn refresh(&self) -> Result<()> {
        let root = SandboxPath::root();
        let request = self.look("fs-stat", &root).header(CACHE_CONTROL, "no-cache");
        self.send(request, &root).await.map(drop)
    }

    fn leader(&self) -> Option<Leader> {
        None
    }

    fn within(&self, _: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        Err(cannot_confine())
    }
}

#[async_trait]
impl ByPath for SandboxFs {
    async fn set_len(&self, file: &SandboxPath, len: u64) -> Result<()> {
        let request = self.change(Method::POST, "fs-truncate", file)?;
        self.send(with_json(request, &Length { size: len })?, file).await.map(drop)
    }
}

impl SandboxFs {
    async fn relocate(
        &self,
        route: &str,
        from: &SandboxPath,
        to: &SandboxPath,
        target: Target,
    ) -> Result<Entry> {
        self.must_be_live().map_err(|err| err.on(to))?;
        let trip = Trip { from: from.as_str(), to: to.as_str(), target: target.into() };
        let stat: Stat = self.ask(self.request(Method::POST, route), &trip).await?;
        Ok(stat.entry(to.clone()))
    }
}

fn with_parents(request: RequestBuilder, parents: Parents) -> RequestBuilder {
    match parents {
        Parents::Create => request,
        Parents::Require => request.query(&[("parents", false)]),
    }
}

/// A format as the wire spells it.
fn word(format: ArchiveFormat) -> &'static str {
    match format {
        ArchiveFormat::Tar => "tar",
        ArchiveFormat::TarGz => "tar.gz",
        ArchiveFormat::TarZst => "tar.zst",
        ArchiveFormat::Zip => "zip",
    }
}

fn limited(mut request: RequestBuilder, limits: ArchiveLimits) -> RequestBuilder {
    let ArchiveLimits { bytes, entries, depth } = limits;
    for (name, most) in [("max_bytes", bytes), ("max_entries", entries), ("max_depth", depth)] {
        request = request.query(&most.map(|most| (name, most)).as_slice());
    }
    request
}

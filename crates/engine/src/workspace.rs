//! One caller's hold on one sandbox: everything a face needs, and nothing else.

mod snapshots;
mod views;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::archive::{ArchiveLimits, Unpacked};
use crate::{
    ByteStream, Content, Depth, Entry, EntryStream, Error, ErrorKind, If, Leader, Links,
    MetadataChange, OpenFile, OpenOptions, Page, Parents, Result, Sandbox, SandboxPath, Span, Step,
    Target, Usage, WriteOptions, Written,
};

/// What a caller may do. Each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// May look.
    Viewer,
    /// May change files.
    Developer,
    /// May do everything.
    Owner,
}

/// A sandbox, held by a caller with a role and a deadline.
#[derive(Clone, Debug)]
pub struct Workspace {
    sandbox: Arc<Sandbox>,
    role: Role,
    deadline: Option<Duration>,
}

impl Workspace {
    /// A hold on `sandbox`. Each operation must end within `deadline`, if there is one; the bytes
    /// of an open body are not part of it.
    pub fn new(sandbox: Arc<Sandbox>, role: Role, deadline: Option<Duration>) -> Self {
        Self { sandbox, role, deadline }
    }

    /// The sandbox that is held.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// What is at `path`.
    pub async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        let work = self.sandbox.files.stat(path, links);
        self.run(Role::Viewer, "stat", path, work).await
    }

    /// The children of a directory.
    pub async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        self.run(Role::Viewer, "list", dir, self.sandbox.files.list(dir, page)).await
    }

    /// The bytes of a regular file.
    pub async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        self.run(Role::Viewer, "read", file, self.sandbox.files.read(file, span)).await
    }

    /// Puts a whole file in place, or appends to one.
    pub async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        let work = self.sandbox.files.write(file, body, options);
        self.run(Role::Developer, "write", file, work).await
    }

    /// A handle for reads and writes at any offset.
    pub async fn open(
        &self,
        file: &SandboxPath,
        options: OpenOptions,
    ) -> Result<Arc<dyn OpenFile>> {
        let role = match options {
            OpenOptions::Read => Role::Viewer,
            OpenOptions::Write(_) => Role::Developer,
        };
        self.run(role, "open", file, self.sandbox.files.open(file, options)).await
    }

    /// Makes a directory.
    pub async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Entry> {
        let work = self.sandbox.files.create_dir(dir, parents);
        self.run(Role::Developer, "create_dir", dir, work).await
    }

    /// Makes a symbolic link.
    pub async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        let work = self.sandbox.files.symlink(link, target);
        self.run(Role::Developer, "symlink", link, work).await
    }

    /// What a symbolic link holds.
    pub async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        self.run(Role::Viewer, "read_link", link, self.sandbox.files.read_link(link)).await
    }

    /// Removes a file, a link itself, or a directory.
    pub async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        let work = self.sandbox.files.remove(path, depth, expected);
        self.run(Role::Developer, "remove", path, work).await
    }

    /// Moves anything.
    pub async fn rename(
        &self,
        from: &SandboxPath,
        to: &SandboxPath,
        target: Target,
    ) -> Result<Entry> {
        let work = self.sandbox.files.rename(from, to, target);
        self.run(Role::Developer, "rename", from, work).await
    }

    /// Copies anything.
    pub async fn copy(
        &self,
        from: &SandboxPath,
        to: &SandboxPath,
        target: Target,
    ) -> Result<Entry> {
        let work = self.sandbox.files.copy(from, to, target);
        self.run(Role::Developer, "copy", from, work).await
    }

    /// Changes the mode or the time of a file or directory.
    pub async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        let work = self.sandbox.files.set_metadata(path, change);
        self.run(Role::Developer, "set_metadata", path, work).await
    }

    /// How much the tree holds.
    pub async fn usage(&self) -> Result<Usage> {
        let root = SandboxPath::root();
        self.run(Role::Viewer, "usage", &root, self.sandbox.files.usage()).await
    }

    /// Unpacks a tar archive into a directory.
    pub async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        let work = self.sandbox.files.unpack(dir, archive, limits);
        self.run(Role::Developer, "unpack", dir, work).await
    }

    /// A tar archive of what a directory holds, or of one file.
    pub async fn pack(&self, path: &SandboxPath, limits: ArchiveLimits) -> Result<ByteStream> {
        self.run(Role::Viewer, "pack", path, self.sandbox.files.pack(path, limits)).await
    }

    /// Takes steps in order, all of them or none.
    pub async fn batch(&self, steps: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        let work = self.sandbox.files.batch(steps);
        self.run(Role::Developer, "batch", &SandboxPath::root(), work).await
    }

    /// Looks whether others changed the tree.
    pub async fn refresh(&self) -> Result<()> {
        let root = SandboxPath::root();
        self.run(Role::Viewer, "refresh", &root, self.sandbox.files.refresh()).await
    }

    /// Who asks that changes of the tree be made through him.
    pub fn leader(&self) -> Option<Leader> {
        self.sandbox.files.leader()
    }

    async fn run<T>(
        &self,
        needed: Role,
        operation: &'static str,
        path: &SandboxPath,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if self.role < needed {
            let message = format!("the role {:?} may not {operation}", self.role);
            return Err(Error::new(ErrorKind::Forbidden, message.to_lowercase()).on(path));
        }
        let began = Instant::now();
        let outcome = match self.deadline {
            None => work.await,
            Some(deadline) => tokio::time::timeout(deadline, work).await.unwrap_or_else(|_| {
                Err(Error::new(ErrorKind::Timeout, "the operation took too long"))
            }),
        };
        let failure = outcome.as_ref().err().map(|err| err.kind().word());
        let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(operation, ?path, micros, failure, "operation");
        outcome.map_err(|err| err.on(path))
    }
}

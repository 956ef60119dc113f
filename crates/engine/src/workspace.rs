//! One caller's hold on one sandbox: everything a face needs, and nothing else.

mod changes;
mod snapshots;
mod views;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::archive::{ArchiveFormat, ArchiveLimits, Unpacked};
use crate::audit::{AuditEvent, AuditLog, Outcome, Pending, Recorder, Told, is_refusal};
use crate::{
    ByteStream, Content, Depth, Edit, Edited, Entry, EntryStream, Error, ErrorKind, If, Leader,
    Links, Made, MetadataChange, NoticeStream, OpenFile, OpenOptions, Page, Parents, Result,
    Sandbox, SandboxPath, Span, Target, Usage, Watch, WriteOptions, Written,
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
    recorder: Option<Recorder>,
}

impl Workspace {
    /// A hold on `sandbox`. Each operation must end within `deadline`, if there is one; the bytes
    /// of an open body are not part of it.
    pub fn new(sandbox: Arc<Sandbox>, role: Role, deadline: Option<Duration>) -> Self {
        Self { sandbox, role, deadline, recorder: None }
    }

    /// The same, with every change and every refusal written down.
    #[must_use]
    pub fn recorded(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// The sandbox that is held.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// What is at `path`.
    pub async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        let work = self.sandbox.files.stat(path, links);
        self.look("stat", path, work).await
    }

    /// The children of a directory.
    pub async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        self.look("list", dir, self.sandbox.files.list(dir, page)).await
    }

    /// The bytes of a regular file.
    pub async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        self.look("read", file, self.sandbox.files.read(file, span)).await
    }

    /// Puts a whole file in place, or appends to one.
    pub async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        let work = self.sandbox.files.write(file, body, options);
        self.change("write", Subject::at(file), work, told_written).await
    }

    /// Replaces text in a file. Whoever may look may also see what an edit would do.
    pub async fn edit(&self, file: &SandboxPath, wish: Edit) -> Result<Edited> {
        let is_dry = wish.dry_run;
        let work = crate::edit(&*self.sandbox.files, file, wish);
        if is_dry {
            return self.look("edit", file, work).await;
        }
        let told =
            |edited: &Edited| Told { bytes: Some(edited.entry.size), ..Told::entry(&edited.entry) };
        self.change("edit", Subject::at(file), work, told).await
    }

    /// A handle for reads and writes at any offset.
    pub async fn open(
        &self,
        file: &SandboxPath,
        options: OpenOptions,
    ) -> Result<Arc<dyn OpenFile>> {
        let work = self.sandbox.files.open(file, options);
        match options {
            OpenOptions::Read => self.look("open", file, work).await,
            OpenOptions::Write(_) => {
                self.change("open", Subject::at(file), work, |_| Told::default()).await
            }
        }
    }

    /// Makes a directory.
    pub async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        let work = self.sandbox.files.create_dir(dir, parents);
        let told = |made: &Made| Told::entry(&made.entry);
        self.change("create_dir", Subject::at(dir), work, told).await
    }

    /// Makes a symbolic link.
    pub async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        let work = self.sandbox.files.symlink(link, target);
        self.change("symlink", Subject::at(link), work, Told::entry).await
    }

    /// What a symbolic link holds.
    pub async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        self.look("read_link", link, self.sandbox.files.read_link(link)).await
    }

    /// Removes a file, a link itself, or a directory.
    pub async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        let work = self.sandbox.files.remove(path, depth, expected);
        self.change("remove", Subject::at(path), work, |()| Told::default()).await
    }

    /// Moves anything.
    pub async fn rename(
        &self,
        from: &SandboxPath,
        to: &SandboxPath,
        target: Target,
    ) -> Result<Entry> {
        let work = self.sandbox.files.rename(from, to, target);
        self.change("rename", Subject::moved(from, to), work, Told::entry).await
    }

    /// Copies anything.
    pub async fn copy(
        &self,
        from: &SandboxPath,
        to: &SandboxPath,
        target: Target,
    ) -> Result<Entry> {
        let work = self.sandbox.files.copy(from, to, target);
        self.change("copy", Subject::moved(from, to), work, Told::entry).await
    }

    /// Changes the mode or the time of a file or directory.
    pub async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        let work = self.sandbox.files.set_metadata(path, change);
        self.change("set_metadata", Subject::at(path), work, Told::entry).await
    }

    /// How much the tree holds.
    pub async fn usage(&self) -> Result<Usage> {
        let root = SandboxPath::root();
        self.look("usage", &root, self.sandbox.files.usage()).await
    }

    /// Unpacks an archive into a directory.
    pub async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        let work = self.sandbox.files.unpack(dir, archive, format, limits);
        let told = |unpacked: &Unpacked| Told { count: Some(unpacked.entries), ..Told::default() };
        self.change("unpack", Subject::at(dir), work, told).await
    }

    /// An archive of what a directory holds, or of one file.
    pub async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream> {
        self.look("pack", path, self.sandbox.files.pack(path, format, limits)).await
    }

    /// What happens in a directory, or in everything beneath it. The deadline is for the beginning.
    pub async fn watch(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        self.look("watch", dir, self.sandbox.files.watch(dir, wish)).await
    }

    /// Looks whether others changed the tree.
    pub async fn refresh(&self) -> Result<()> {
        let root = SandboxPath::root();
        self.look("refresh", &root, self.sandbox.files.refresh()).await
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
            let role = format!("{:?}", self.role).to_lowercase();
            let message = format!("the role {role} may not {operation}");
            return Err(Error::new(ErrorKind::Forbidden, message).on(path));
        }
        // The clock is not asked for what nobody hears.
        let began = tracing::enabled!(tracing::Level::DEBUG).then(Instant::now);
        let outcome = match self.deadline {
            None => work.await,
            Some(deadline) => tokio::time::timeout(deadline, work).await.unwrap_or_else(|_| {
                Err(Error::new(ErrorKind::Timeout, "the operation took too long"))
            }),
        };
        if let Some(began) = began {
            let failure = outcome.as_ref().err().map(|err| err.kind().word());
            let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            tracing::debug!(operation, ?path, micros, failure, "operation");
        }
        outcome.map_err(|err| err.on(path))
    }

    /// Writes down that somebody was refused before the tree was asked, and what he spelled where
    /// that is no path. What is no refusal, and what was written down already, is not.
    pub async fn note_refusal(&self, operation: &'static str, spelled: Option<&str>, err: &Error) {
        let is_news = self.recorder.as_ref().is_some_and(|recorder| !recorder.has_refused());
        let root = SandboxPath::root();
        let subject = Subject { id: spelled, ..Subject::at(err.path().unwrap_or(&root)) };
        if is_news
            && is_refusal(err.kind())
            && let Some(pending) = self.begin(operation, subject)
        {
            pending.end(Err(err)).await;
        }
    }

    /// Runs what only looks. It is written down if it tried what it may not.
    async fn look<T>(
        &self,
        operation: &'static str,
        path: &SandboxPath,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let outcome = self.run(Role::Viewer, operation, path, work).await;
        if let Err(err) = &outcome
            && is_refusal(err.kind())
            && let Some(pending) = self.begin(operation, Subject::at(path))
        {
            Box::pin(pending.end(Err(err))).await;
        }
        outcome
    }

    /// Runs a change, and writes down how it ended.
    async fn change<T>(
        &self,
        operation: &'static str,
        subject: Subject<'_>,
        work: impl Future<Output = Result<T>>,
        told: impl FnOnce(&T) -> Told,
    ) -> Result<T> {
        let pending = self.begin(operation, subject);
        let asked = subject.from.unwrap_or(subject.path);
        let outcome = self.run(Role::Developer, operation, asked, work).await;
        if let Some(pending) = pending {
            pending.end(outcome.as_ref().map(told)).await;
        }
        outcome
    }

    /// Begins to write down what is about to happen, if it is written down at all.
    fn begin(&self, operation: &'static str, subject: Subject<'_>) -> Option<Pending<'_>> {
        let recorder = self.recorder.as_ref()?;
        let Subject { path, from, id } = subject;
        let event = AuditEvent {
            sandbox: Some(self.sandbox.id.clone()),
            path: Some(path.clone()),
            from: from.cloned(),
            subject: id.map(Into::into),
            ..recorder.event(operation, Outcome::Abandoned)
        };
        let log = AuditLog::Sandbox(self.sandbox.id.clone());
        Some(recorder.begin(vec![log], event))
    }
}

/// What a change is about.
#[derive(Clone, Copy, Debug)]
struct Subject<'a> {
    path: &'a SandboxPath,
    /// Where it was before.
    from: Option<&'a SandboxPath>,
    /// The snapshot.
    id: Option<&'a str>,
}

impl<'a> Subject<'a> {
    fn at(path: &'a SandboxPath) -> Self {
        Self { path, from: None, id: None }
    }

    fn moved(from: &'a SandboxPath, to: &'a SandboxPath) -> Self {
        Self { from: Some(from), ..Self::at(to) }
    }
}

fn told_written(written: &Written) -> Told {
    Told { bytes: Some(written.bytes), ..Told::entry(&written.entry) }
}

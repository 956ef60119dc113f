//! Sandboxes are made.

use std::time::Duration;

use super::hosts::Opened;
use super::record::{Home, Record, check_labels};
use super::{NewKind, NewSandbox, Registered, Registry, exists};
use crate::virtual_fs::now;
use crate::{Error, ErrorKind, Point, Result, SandboxId, UnixTime};

/// How many letters an id has that is made up.
const MADE_UP: usize = 20;
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

impl Registry {
    /// Makes a sandbox. One that exists is left as it is.
    pub async fn create(&self, new: NewSandbox) -> Result<Registered> {
        check_labels(&new.labels)?;
        let id = match &new.id {
            Some(id) => id.clone(),
            None => made_up()?,
        };
        if self.is_main(&id) {
            return Err(exists(&id));
        }
        self.clear_away(&id).await?;
        let created = now();
        let expires = new.ttl.map(|ttl| after(created, ttl)).transpose()?;
        // First of all, so that whatever comes of this ends.
        if let Some(end) = expires {
            self.note_end(&id, end).await?;
        }
        let NewSandbox { prefix, labels, .. } = new.clone();
        let record = Record { home: Home::Store, prefix, labels, created, expires };
        match &new.kind {
            NewKind::Virtual => self.create_virtual(&id, &new, record).await?,
            NewKind::Fork { of, from } => self.fork(&id, &new, record, (of, from)).await?,
            NewKind::Host { root } => {
                self.create_host(&id, &new, record, root.as_deref()).await?;
            }
        }
        self.stat(&id).await
    }

    async fn create_virtual(&self, id: &SandboxId, new: &NewSandbox, record: Record) -> Result<()> {
        if self.load(id).await?.is_some() {
            return Err(exists(id));
        }
        self.shared.store.create(id, new.limits.unwrap_or_default()).await?;
        self.describe(id, &record).await
    }

    async fn fork(
        &self,
        id: &SandboxId,
        new: &NewSandbox,
        record: Record,
        (of, from): (&SandboxId, &Point),
    ) -> Result<()> {
        if self.load(id).await?.is_some() {
            return Err(exists(id));
        }
        let limits = match new.limits {
            Some(limits) => limits,
            None => self.stat(of).await?.limits,
        };
        let source = self.open(of).await?;
        let snapshots = source.files.snapshots().ok_or_else(|| {
            let message = format!("the sandbox `{of}` keeps no snapshots, so it cannot be forked");
            Error::new(ErrorKind::Unsupported, message)
        })?;
        snapshots.fork(from.clone(), id, limits).await?;
        self.describe(id, &record).await
    }

    /// Writes down what is known of a virtual sandbox that was just made.
    async fn describe(&self, id: &SandboxId, record: &Record) -> Result<()> {
        if self.put_new(id, record).await? {
            return Ok(());
        }
        // Somebody made a sandbox in a directory under that id meanwhile.
        self.shared.store.remove_root(id).await?;
        Err(exists(id))
    }

    async fn create_host(
        &self,
        id: &SandboxId,
        new: &NewSandbox,
        record: Record,
        wished: Option<&str>,
    ) -> Result<()> {
        if self.shared.store.has(id).await? || self.load(id).await?.is_some() {
            return Err(exists(id));
        }
        let Opened { files, directory } = self.shared.hosts.provide(id, wished, new).await?;
        drop(files);
        let record = Record { home: Home::Directory(directory.clone()), ..record };
        let is_ours = self.put_new(id, &record).await?;
        if is_ours && !self.shared.store.has(id).await? {
            return Ok(());
        }
        if is_ours && let Some((_, token)) = self.load(id).await? {
            self.forget(id, &token).await?;
        }
        if directory.made {
            self.shared.hosts.remove(&directory).await?;
        }
        Err(exists(id))
    }

    /// Finishes with a sandbox whose time is over, so that its id is free.
    async fn clear_away(&self, id: &SandboxId) -> Result<()> {
        match self.load(id).await? {
            Some((record, _)) if record.is_over(now()) => self.finish(id).await,
            Some(_) | None => Ok(()),
        }
    }
}

/// The moment that lies so much later.
pub(super) fn after(moment: UnixTime, ttl: Duration) -> Result<UnixTime> {
    let later = || {
        let UnixTime { seconds, nanoseconds } = moment;
        let seconds = seconds.checked_add(i64::try_from(ttl.as_secs()).ok()?)?;
        Some(UnixTime { seconds, nanoseconds })
    };
    match later() {
        Some(end) if !ttl.is_zero() => Ok(end),
        Some(_) | None => {
            let message = "a sandbox lives for at least a second, and not beyond all time";
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
    }
}

/// An id that nobody can guess. It begins with letters, as names of hosts should.
fn made_up() -> Result<SandboxId> {
    let letter = |random: u8| {
        let place = usize::from(random) % LETTERS.len();
        LETTERS.get(place).map_or('a', |letter| char::from(*letter))
    };
    let random: [u8; MADE_UP] = rand::random();
    SandboxId::parse(&format!("sbx-{}", random.map(letter).iter().collect::<String>()))
}

//! Sandboxes are made.
//!
//! The record comes first, for both kinds: whoever writes it has the id. A record whose tree was
//! never made is given up after a while.

use std::time::Duration;

use storage::{Expected, Token};

use super::grounds::Ground;
use super::record::{Home, Record, check_labels};
use super::{NewKind, NewSandbox, Registered, Registry, exists};
use crate::virtual_fs::now;
use crate::{AttachTarget, Error, ErrorKind, Point, Result, SandboxId, SandboxPath, UnixTime};

/// How many letters an id has that is made up.
const MADE_UP: usize = 20;
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// How long the maker of a record may take to make the tree, in seconds.
const MAKING: i64 = 60;
/// The first second of the year 10000, which no date spells.
const BEYOND: i64 = 253_402_300_800;

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
        let NewSandbox { prefix, labels, .. } = new.clone();
        let record = Record { home: Home::Store, prefix, labels, created, expires };
        match &new.kind {
            NewKind::Virtual => {
                let limits = new.limits.unwrap_or_default();
                let tree = async { self.shared.store.create(&id, limits).await.map(drop) };
                self.create_virtual(&id, &record, tree).await?;
            }
            NewKind::Fork { of, from } => {
                let tree = self.fork(&id, &new, (of, from));
                self.create_virtual(&id, &record, tree).await?;
            }
            NewKind::Host { root } => self.create_host(&id, &new, record, root.as_deref()).await?,
            NewKind::Attached { target, path } => {
                self.create_attached(&id, &new, record, (target, path)).await?;
            }
        }
        self.stat(&id).await
    }

    async fn create_virtual(
        &self,
        id: &SandboxId,
        record: &Record,
        tree: impl Future<Output = Result<()>>,
    ) -> Result<()> {
        let token = self.claim(id, record).await?;
        let made = tree.await;
        if made.is_err() {
            self.forget(id, &token).await?;
        }
        made
    }

    async fn fork(
        &self,
        id: &SandboxId,
        new: &NewSandbox,
        (of, from): (&SandboxId, &Point),
    ) -> Result<()> {
        let limits = match new.limits {
            Some(limits) => limits,
            None => self.stat(of).await?.limits,
        };
        let source = self.open(of).await?;
        let snapshots = source.files.snapshots().ok_or_else(|| {
            let message = format!("the sandbox `{of}` keeps no snapshots, so it cannot be forked");
            Error::new(ErrorKind::Unsupported, message)
        })?;
        snapshots.fork(from.clone(), id, limits).await
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
        let ground = self.shared.hosts.new_ground(id, wished)?;
        // Nothing is made in the directory of another sandbox.
        self.check_ground(id, &ground).await?;
        let directory = self.shared.hosts.provide(id, wished, new).await?;
        let record = Record { home: Home::Directory(directory.clone()), ..record };
        match self.claim(id, &record).await {
            Ok(token) => self.settle(id, &ground, &token).await,
            Err(err) => {
                if directory.made {
                    self.shared.hosts.remove(&directory).await?;
                }
                Err(err)
            }
        }
    }

    async fn create_attached(
        &self,
        id: &SandboxId,
        new: &NewSandbox,
        record: Record,
        (target, path): (&AttachTarget, &SandboxPath),
    ) -> Result<()> {
        if self.shared.store.has(id).await? || self.load(id).await?.is_some() {
            return Err(exists(id));
        }
        let limits = new.limits.unwrap_or_default();
        let attached = self.shared.attachments.provide(target, path, limits).await?;
        self.claim(id, &Record { home: Home::Attached(attached), ..record }).await.map(drop)
    }

    /// Marks where a sandbox lies, and gives it up if another one came there meanwhile: of two who
    /// mark first and look then, at least one sees the other. The directory stays, since the other
    /// one may have it.
    async fn settle(&self, id: &SandboxId, ground: &Ground, token: &Token) -> Result<()> {
        let marked = self.mark_ground(id, ground).await;
        let settled = match marked {
            Ok(()) => self.check_ground(id, ground).await,
            Err(err) => Err(err),
        };
        if settled.is_err() {
            self.clear_ground(id, ground).await?;
            self.forget(id, token).await?;
            self.shared.open.close(id);
        }
        settled
    }

    /// Takes an id, and remembers when it is free again.
    async fn claim(&self, id: &SandboxId, record: &Record) -> Result<Token> {
        let token = self.put(id, &Expected::Absent, record).await?.ok_or_else(|| exists(id))?;
        if let Some(end) = record.expires {
            self.note_end(id, end).await?;
        }
        Ok(token)
    }

    /// Finishes with a sandbox whose time is over or that was never made, so that its id is free.
    async fn clear_away(&self, id: &SandboxId) -> Result<()> {
        let Some((record, token)) = self.load(id).await? else { return Ok(()) };
        let moment = now();
        if record.is_over(moment) {
            return self.finish(id, Some((record, token))).await;
        }
        let is_old = record.created.seconds.saturating_add(MAKING) < moment.seconds;
        if record.home == Home::Store && is_old && !self.shared.store.has(id).await? {
            self.forget(id, &token).await?;
        }
        Ok(())
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
        Some(end) if !ttl.is_zero() && end.seconds < BEYOND => Ok(end),
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

//! Sandboxes that are open, so that the next request need not open them again.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::record::{Home, Record};
use super::{Registered, Registry, RegistryOptions, SandboxKind, missing};
use crate::garbage::drop_later;
use crate::virtual_fs::now;
use crate::{
    Error, ErrorKind, FileSystem, Limits, Result, Sandbox, SandboxId, SandboxPath, UnixTime,
    VirtualFs,
};

/// For how long what was read of a sandbox is believed where other servers change it too.
const BELIEVED: Duration = Duration::from_secs(2);
/// How often a sandbox is opened anew while others are closed.
const TRIES: usize = 64;

/// The sandboxes that are open.
#[derive(Debug)]
pub(super) struct OpenSandboxes {
    open: Mutex<HashMap<SandboxId, OpenSandbox>>,
    /// How often any was closed because it changed or ended.
    closed: AtomicU64,
    most: usize,
    idle: Duration,
}

#[derive(Debug)]
struct OpenSandbox {
    sandbox: Arc<Sandbox>,
    record: Option<Record>,
    /// Its tree, if the store keeps it.
    tree: Option<VirtualFs>,
    read: Instant,
    used: Instant,
}

impl OpenSandboxes {
    pub(super) fn new(options: &RegistryOptions) -> Self {
        let (open, closed) = (Mutex::default(), AtomicU64::default());
        Self { open, closed, most: options.most_open.max(1), idle: options.idle }
    }

    /// A sandbox that is open and whose time is not over, if what is known of it is young enough.
    fn find(&self, id: &SandboxId, believed: Option<Duration>) -> Option<Arc<Sandbox>> {
        let mut open = self.open.lock();
        let found = open.get_mut(id)?;
        if found.is_over() {
            open.remove(id);
            return None;
        }
        if believed.is_some_and(|most| found.read.elapsed() > most) {
            return None;
        }
        found.used = Instant::now();
        Some(Arc::clone(&found.sandbox))
    }

    /// The same sandbox again, if what was just read of it says that it is as it was.
    fn renew(&self, id: &SandboxId, record: Option<&Record>) -> Option<Arc<Sandbox>> {
        let mut open = self.open.lock();
        let found = open.get_mut(id).filter(|found| found.is(record))?;
        (found.read, found.used) = (Instant::now(), Instant::now());
        Some(Arc::clone(&found.sandbox))
    }

    /// Keeps a sandbox open, if none was closed since what it was opened from was read. Whoever was
    /// first opened it.
    fn keep(&self, opened: OpenSandbox, since: u64) -> Option<Arc<Sandbox>> {
        let mut open = self.open.lock();
        if self.closed.load(Ordering::SeqCst) != since {
            return None;
        }
        let id = opened.sandbox.id.clone();
        if let Some(found) = open.get(&id).filter(|found| found.is(opened.record.as_ref())) {
            return Some(Arc::clone(&found.sandbox));
        }
        let idle = if open.len() >= self.most { make_room(&mut open) } else { Vec::new() };
        let sandbox = Arc::clone(&opened.sandbox);
        let before = open.insert(id, opened);
        // Dropped without the lock: a tree may take a while.
        drop(open);
        drop_later((idle, before));
        Some(sandbox)
    }

    pub(super) fn close(&self, id: &SandboxId) {
        let closed = {
            let mut open = self.open.lock();
            self.closed.fetch_add(1, Ordering::SeqCst);
            open.remove(id)
        };
        drop_later(closed);
    }

    /// Closes those that nobody used for a while.
    pub(super) fn close_idle(&self) {
        let closed: Vec<_> = {
            let mut open = self.open.lock();
            let idle =
                |found: &mut OpenSandbox| !found.is_used() && found.used.elapsed() > self.idle;
            open.extract_if(|_, found| idle(found)).collect()
        };
        drop_later(closed);
    }
}

impl OpenSandbox {
    /// Whether it ended since it was opened.
    fn is_over(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.is_over(now()))
            || self.tree.as_ref().is_some_and(|tree| !tree.is_there())
    }

    /// Whether it is the sandbox that this record speaks of.
    fn is(&self, record: Option<&Record>) -> bool {
        self.record.as_ref() == record && !self.is_over()
    }

    /// Whether somebody works in it just now.
    fn is_used(&self) -> bool {
        Arc::strong_count(&self.sandbox) > 1
    }
}

/// Takes out an eighth of what nobody works in: those that were used longest ago.
fn make_room(open: &mut HashMap<SandboxId, OpenSandbox>) -> Vec<OpenSandbox> {
    let mut idle: Vec<_> = open
        .iter()
        .filter(|(_, found)| !found.is_used())
        .map(|(id, found)| (found.used, id.clone()))
        .collect();
    idle.sort_unstable_by_key(|(used, _)| *used);
    let most = (open.len() / 8).max(1);
    idle.into_iter().take(most).filter_map(|(_, id)| open.remove(&id)).collect()
}

impl Registry {
    /// A sandbox, ready to be worked in.
    pub async fn open(&self, id: &SandboxId) -> Result<Arc<Sandbox>> {
        if self.is_main(id) {
            return Ok(Arc::clone(self.main()));
        }
        let believed = self.shared.store.shelf.is_shared().then_some(BELIEVED);
        if let Some(sandbox) = self.shared.open.find(id, believed) {
            return Ok(sandbox);
        }
        for _ in 0..TRIES {
            let since = self.shared.open.closed.load(Ordering::SeqCst);
            if let Some(sandbox) = self.open_anew(id, since).await? {
                return Ok(sandbox);
            }
        }
        Err(Error::new(ErrorKind::Busy, "sandboxes are changed all the time"))
    }

    /// Opens a sandbox from what is written down now; none if any was closed meanwhile.
    async fn open_anew(&self, id: &SandboxId, since: u64) -> Result<Option<Arc<Sandbox>>> {
        let record = self.load(id).await?.map(|(record, _)| record);
        if record.as_ref().is_some_and(|record| record.is_over(now())) {
            return Err(missing(id));
        }
        if record.as_ref().is_none_or(|record| record.home == Home::Store) {
            // Notices that another server removed it.
            self.virtual_tree(id).await?;
        }
        if let Some(sandbox) = self.shared.open.renew(id, record.as_ref()) {
            return Ok(Some(sandbox));
        }
        let (files, tree): (Arc<dyn FileSystem>, _) = match record.as_ref().map(|it| &it.home) {
            Some(Home::Directory(directory)) => {
                let files = self.shared.hosts.find(directory).await?;
                (Arc::new(files.with_snapshots(self.shared.store.clone(), id.clone())), None)
            }
            Some(Home::Store) | None => {
                let tree = self.virtual_tree(id).await?;
                (Arc::new(tree.clone()), Some(tree))
            }
        };
        let prefix = record.as_ref().map_or_else(SandboxPath::root, |found| found.prefix.clone());
        let sandbox = Sandbox { id: id.clone(), files, prefix, home: SandboxPath::root() };
        let (sandbox, read, used) = (Arc::new(sandbox), Instant::now(), Instant::now());
        Ok(self.shared.open.keep(OpenSandbox { sandbox, record, tree, read, used }, since))
    }

    pub(super) async fn virtual_tree(&self, id: &SandboxId) -> Result<VirtualFs> {
        let store = &self.shared.store;
        let found = match store.sandbox(id).await {
            // Another server may have removed it, and made another one.
            Ok(files) if store.shelf.is_shared() && files.refresh().await.is_err() => {
                store.sandbox(id).await
            }
            found => found,
        };
        match found {
            Err(err) if err.kind() == ErrorKind::NotFound => Err(missing(id)),
            found => found,
        }
    }

    /// What is known of a sandbox.
    pub async fn stat(&self, id: &SandboxId) -> Result<Registered> {
        if self.is_main(id) && !self.shared.main.is_stored() {
            return Ok(self.shared.main.registered());
        }
        let record = self.load(id).await?.map(|(record, _)| record);
        if record.as_ref().is_some_and(|record| record.is_over(now())) {
            return Err(missing(id));
        }
        match &record {
            Some(Record { home: Home::Directory(directory), .. }) => {
                let limits = directory.limits;
                Ok(registered(id, record.as_ref(), limits, UnixTime::EPOCH))
            }
            Some(Record { home: Home::Store, .. }) | None => {
                let files = self.virtual_tree(id).await?;
                files.refresh().await?;
                let known = registered(id, record.as_ref(), files.limits(), files.created());
                Ok(Registered { is_main: self.is_main(id), ..known })
            }
        }
    }
}

/// What would be written down of a virtual sandbox that has no record.
pub(super) fn registered_record(known: &Registered) -> Record {
    Record {
        home: Home::Store,
        prefix: known.prefix.clone(),
        labels: known.labels.clone(),
        created: known.created,
        expires: known.expires,
    }
}

/// What is known of a sandbox, from its record and its root.
pub(super) fn registered(
    id: &SandboxId,
    record: Option<&Record>,
    limits: Limits,
    created: UnixTime,
) -> Registered {
    let kind = match record.map(|record| &record.home) {
        Some(Home::Directory(directory)) => {
            SandboxKind::Host { root: directory.path.clone(), made: directory.made }
        }
        Some(Home::Store) | None => SandboxKind::Virtual,
    };
    Registered {
        id: id.clone(),
        kind,
        prefix: record.map_or_else(SandboxPath::root, |record| record.prefix.clone()),
        limits,
        labels: record.map(|record| record.labels.clone()).unwrap_or_default(),
        created: record.map_or(created, |record| record.created),
        expires: record.and_then(|record| record.expires),
        is_main: false,
    }
}

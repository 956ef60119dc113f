//! The table of open sandboxes, so that the next request need not open them again.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::RegistryOptions;
use super::record::Record;
use crate::garbage::drop_later;
use crate::virtual_fs::now;
use crate::{Sandbox, SandboxId, VirtualFs};

/// The sandboxes that are open.
#[derive(Debug)]
pub(super) struct OpenSandboxes {
    table: Mutex<Table>,
    most: usize,
    idle: Duration,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<SandboxId, OpenSandbox>,
    /// Those that somebody is about to open.
    opening: HashMap<SandboxId, Arc<Opening>>,
}

/// What all share who are about to open one sandbox.
#[derive(Debug, Default)]
struct Opening {
    turn: tokio::sync::Mutex<()>,
    /// How often it was closed meanwhile because it changed or ended.
    closed: AtomicU64,
}

/// One of those who are about to open a sandbox.
#[derive(Debug)]
pub(super) struct Opener<'a> {
    sandboxes: &'a OpenSandboxes,
    id: &'a SandboxId,
    opening: Arc<Opening>,
}

/// A sandbox that is open, and what it was opened from.
#[derive(Debug)]
pub(super) struct OpenSandbox {
    pub(super) sandbox: Arc<Sandbox>,
    pub(super) record: Option<Record>,
    /// Its tree, if the store keeps it.
    pub(super) tree: Option<VirtualFs>,
    read: Instant,
    used: Instant,
}

impl OpenSandboxes {
    pub(super) fn new(options: &RegistryOptions) -> Self {
        Self { table: Mutex::default(), most: options.most_open.max(1), idle: options.idle }
    }

    /// How long a sandbox is held open that nobody works in.
    pub(super) fn idle(&self) -> Duration {
        self.idle
    }

    /// A sandbox that is open and whose time is not over, if what is known of it is young enough.
    pub(super) fn find(&self, id: &SandboxId, believed: Option<Duration>) -> Option<Arc<Sandbox>> {
        let mut table = self.table.lock();
        let found = table.open.get_mut(id)?;
        if found.is_over() {
            table.open.remove(id);
            return None;
        }
        if believed.is_some_and(|most| found.read.elapsed() > most) {
            return None;
        }
        found.used = Instant::now();
        Some(Arc::clone(&found.sandbox))
    }

    /// The same sandbox again, if what was just read of it says that it is as it was.
    pub(super) fn renew(&self, id: &SandboxId, record: Option<&Record>) -> Option<Arc<Sandbox>> {
        let mut table = self.table.lock();
        let found = table.open.get_mut(id).filter(|found| found.is(record))?;
        (found.read, found.used) = (Instant::now(), Instant::now());
        Some(Arc::clone(&found.sandbox))
    }

    /// Takes part in opening a sandbox.
    pub(super) fn begin<'a>(&'a self, id: &'a SandboxId) -> Opener<'a> {
        let opening = Arc::clone(self.table.lock().opening.entry(id.clone()).or_default());
        Opener { sandboxes: self, id, opening }
    }

    pub(super) fn close(&self, id: &SandboxId) {
        let closed = {
            let mut table = self.table.lock();
            if let Some(opening) = table.opening.get(id) {
                opening.closed.fetch_add(1, Ordering::SeqCst);
            }
            table.open.remove(id)
        };
        drop_later(closed);
    }

    /// Closes those that nobody used for a while.
    pub(super) fn close_idle(&self) {
        let closed: Vec<_> = {
            let mut table = self.table.lock();
            let idle =
                |found: &mut OpenSandbox| !found.is_used() && found.used.elapsed() > self.idle;
            table.open.extract_if(|_, found| idle(found)).collect()
        };
        drop_later(closed);
    }
}

impl Opener<'_> {
    /// How often the sandbox was closed so far.
    pub(super) fn closed(&self) -> u64 {
        self.opening.closed.load(Ordering::SeqCst)
    }

    /// Waits until no other one does what only one should do.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.opening.turn.lock().await
    }

    /// Keeps the sandbox open, if it was not closed since what it was opened from was read. Whoever
    /// was first opened it.
    pub(super) fn keep(&self, opened: OpenSandbox, since: u64) -> Option<Arc<Sandbox>> {
        let mut table = self.sandboxes.table.lock();
        if self.closed() != since {
            return None;
        }
        let open = &mut table.open;
        if let Some(found) = open.get(self.id).filter(|found| found.is(opened.record.as_ref())) {
            return Some(Arc::clone(&found.sandbox));
        }
        let idle = if open.len() >= self.sandboxes.most { make_room(open) } else { Vec::new() };
        let sandbox = Arc::clone(&opened.sandbox);
        let before = open.insert(self.id.clone(), opened);
        // Dropped without the lock: a tree may take a while.
        drop(table);
        drop_later((idle, before));
        Some(sandbox)
    }
}

impl Drop for Opener<'_> {
    fn drop(&mut self) {
        let mut table = self.sandboxes.table.lock();
        // The table's and ours: nobody else is about to open it.
        if Arc::strong_count(&self.opening) == 2 {
            table.opening.remove(self.id);
        }
    }
}

impl OpenSandbox {
    pub(super) fn new(sandbox: Sandbox, record: Option<Record>, tree: Option<VirtualFs>) -> Self {
        let (sandbox, read, used) = (Arc::new(sandbox), Instant::now(), Instant::now());
        Self { sandbox, record, tree, read, used }
    }

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

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::*;
    use crate::{Limits, SandboxPath, Store};

    fn id(name: &str) -> SandboxId {
        SandboxId::parse(name).unwrap()
    }

    async fn opened(name: &str) -> OpenSandbox {
        let tree = Store::in_memory().create(&id(name), Limits::default()).await.unwrap();
        let root = SandboxPath::root();
        let files = Arc::new(tree);
        OpenSandbox::new(
            Sandbox { id: id(name), files, prefix: root.clone(), home: root, is_system: false },
            None,
            None,
        )
    }

    #[tokio::test]
    async fn what_is_closed_while_it_is_opened_is_not_kept_and_others_are() {
        let open = OpenSandboxes::new(&RegistryOptions::default());
        let (a, b) = (id("a"), id("b"));
        let (one, other) = (open.begin(&a), open.begin(&b));
        let (since_one, since_other) = (one.closed(), other.closed());
        open.close(&a);
        assert!(one.keep(opened("a").await, since_one).is_none());
        assert!(other.keep(opened("b").await, since_other).is_some());
        assert!(one.keep(opened("a").await, one.closed()).is_some());
    }

    #[tokio::test]
    async fn those_who_open_one_sandbox_take_turns_and_leave_nothing() {
        let open = OpenSandboxes::new(&RegistryOptions::default());
        let (a, b) = (id("a"), id("b"));
        let (first, second, other) = (open.begin(&a), open.begin(&a), open.begin(&b));
        let turn = first.turn().await;
        let mut waiting = Box::pin(second.turn());
        assert!(poll!(&mut waiting).is_pending());
        drop(other.turn().await);
        drop(turn);
        drop(waiting.await);
        drop((first, second, other));
        assert!(open.table.lock().opening.is_empty());
    }
}

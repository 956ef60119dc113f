//! Looking back: in a snapshot, and in a fork, everything is as it was at one moment.

use engine::{
    FileSystem, Limits, NewSnapshot, Point, Result, SandboxId, SnapshotId, Snapshots, VirtualFs,
};
use rand::RngExt as _;

use super::Client;
use crate::furnish::put;
use crate::history::{Act, Outcome, mark};
use crate::outfit::outfit;
use crate::tree::{Tree, read};

impl Client {
    /// Takes a snapshot, checks it, sometimes forks it, and forgets it.
    pub(super) async fn look_back(&mut self, sandbox: u32, files: &VirtualFs) -> Result<()> {
        let id = SnapshotId::parse(&mark(self.id, self.next())).unwrap();
        let snapshots: &dyn Snapshots = files.snapshots().unwrap();
        let new = NewSnapshot { id: Some(id.clone()), ..NewSnapshot::default() };
        let created = self.act(sandbox, Act::Snapshot, snapshots.create(new)).await;
        if created != Outcome::Done {
            return Ok(());
        }
        let kept = snapshots.open(&id).await?;
        self.check_state(sandbox, "a snapshot", &*kept).await?;
        if snapshots.stat(&id).await?.usage != kept.usage().await? {
            self.complain(sandbox, "a snapshot tells another usage than its tree".to_owned());
        }
        if self.dice.random_bool(0.25) {
            self.fork(sandbox, snapshots, &id).await?;
        }
        self.act(sandbox, Act::Forget, snapshots.delete(&id)).await;
        Ok(())
    }

    async fn fork(&mut self, sandbox: u32, from: &dyn Snapshots, id: &SnapshotId) -> Result<()> {
        let to = SandboxId::parse(&format!("fork-{}", mark(self.id, self.next()))).unwrap();
        let work = from.fork(Point::Snapshot(id.clone()), &to, Limits::default());
        if self.act(sandbox, Act::Fork, work).await != Outcome::Done {
            return Ok(());
        }
        let files = self.store.sandbox(&to).await?;
        self.check_state(sandbox, "a fork", &files).await?;
        // What is written to a fork is there, and nowhere else.
        let [left, right] = crate::outfit::pair(0);
        files.batch(vec![put(&left, "fork"), put(&right, "fork")]).await?;
        let text = read(&files, &crate::outfit::at(&right)).await?;
        if text != "fork" {
            self.complain(sandbox, format!("a fork has {text:?} instead of what was written"));
        }
        drop(files);
        let store = self.store.clone();
        self.act(sandbox, Act::Discard, store.remove(&to)).await;
        Ok(())
    }

    async fn check_state(&self, sandbox: u32, what: &str, files: &dyn FileSystem) -> Result<()> {
        let tree = Tree::read(files).await?;
        for complaint in tree.complaints(&outfit(sandbox)) {
            self.complain(sandbox, format!("{what}: {complaint}"));
        }
        self.check_own(sandbox, files).await
    }
}

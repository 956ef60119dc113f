//! Snapshots of both, and archives put into both.

use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};
use sandkeep_engine::{
    ArchiveFormat, ArchiveLimits, ErrorKind, FileSystem as _, Limits, NewSnapshot, Point,
};

use super::compare::{Pair, Versions, check_tree, same_outcome, snapshot_id};
use super::operation::Operation;
use super::reference::{Outcome, Reference};
use crate::contents::at;

impl Pair<'_> {
    pub(super) async fn snapshot(&mut self, operation: &Operation) {
        let files = self.files().clone();
        let snapshots = files.snapshots().unwrap();
        match operation {
            Operation::Snapshot { snapshot } => {
                let id = Some(snapshot_id(*snapshot));
                let real = snapshots.create(NewSnapshot { id, ..NewSnapshot::default() }).await;
                let kept = &mut self.snapshots[*snapshot];
                let ours = if kept.is_some() { Err(ErrorKind::AlreadyExists) } else { Ok(()) };
                if let Some((real, ())) = same_outcome(real, ours) {
                    assert_eq!(real.usage, self.reference.usage());
                    *kept = Some(self.reference.clone());
                }
            }
            Operation::Restore { snapshot, path } => {
                let real = snapshots.restore(&snapshot_id(*snapshot), &at(path)).await;
                let ours = match &self.snapshots[*snapshot] {
                    Some(kept) => self.reference.step(|tree| tree.restore(kept, path)),
                    None => Err(ErrorKind::NotFound),
                };
                same_outcome(real, ours);
            }
            Operation::Forget { snapshot } => {
                let real = snapshots.delete(&snapshot_id(*snapshot)).await;
                let ours = self.snapshots[*snapshot].take().ok_or(ErrorKind::NotFound);
                same_outcome(real, ours);
            }
            Operation::Fork { snapshot, limits } => {
                let to = self.home.fresh_id();
                let point = snapshot.map_or(Point::Live, |slot| Point::Snapshot(snapshot_id(slot)));
                let real = snapshots.fork(point, &to, *limits).await;
                let tree = match snapshot {
                    Some(slot) => self.snapshots[*slot].clone().ok_or(ErrorKind::NotFound),
                    None => Ok(self.reference.clone()),
                };
                let ours = tree.and_then(|tree| forked(tree, *limits));
                if let Some(((), tree)) = same_outcome(real, ours) {
                    let fork = self.home.sandbox(&to).await;
                    assert_eq!(fork.limits(), *limits);
                    check_tree(&fork, &tree, &mut Versions::default()).await;
                    self.home.forget(&to).await;
                }
            }
            other => unreachable!("{other:?} is not about snapshots"),
        }
    }

    /// Unpacks an archive of these files.
    pub(super) async fn unpack(&mut self, path: &str, files: &BTreeMap<String, Vec<u8>>) {
        let mut archive = tar::Builder::new(Vec::new());
        for (name, bytes) in files {
            let mut header = tar::Header::new_ustar();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, name, &bytes[..]).unwrap();
        }
        let archive = stream::iter([Ok(archive.into_inner().unwrap().into())]).boxed();
        let real = self
            .files()
            .unpack(&at(path), archive, ArchiveFormat::Tar, ArchiveLimits::default())
            .await;
        let ours = self.reference.step(|tree| tree.unpack(path, files));
        same_outcome(real, ours);
    }
}

/// A copy of a tree within other limits.
fn forked(mut tree: Reference, limits: Limits) -> Outcome<Reference> {
    let usage = tree.usage();
    let over = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used > limit);
    if over(usage.bytes, limits.total_size) {
        return Err(ErrorKind::StorageFull);
    }
    if over(usage.nodes(), limits.nodes) {
        return Err(ErrorKind::TooManyNodes);
    }
    tree.limits = limits;
    let longest = tree.paths.values().map(|number| tree.file_len(*number)).max();
    tree.check_file_size(0, longest.unwrap_or_default())?;
    Ok(tree)
}

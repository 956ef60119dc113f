//! `sandkeep snapshot`: one command, on a tree of this machine.

mod create;
mod diff;
mod list;
mod restore;
mod transfer;

use std::sync::Arc;

use anyhow::Result;
use clap::ArgMatches;
use engine::{
    Error, ErrorKind, FileSystem, HostFs, Limits, Point, SandboxId, SnapshotId, Snapshots,
};
use serde_json::json;

use crate::command_line::{LimitFlags, Place, SnapshotCommand, SnapshotFlags};
use crate::failure::OrHint as _;
use crate::render::Output;
use crate::stores;
use crate::trees::{LocalTree, without_snapshots};

/// Runs one snapshot command.
pub(crate) fn run(flags: &SnapshotFlags, given: &ArgMatches) -> Result<()> {
    let place = flags.place(given)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut out = Output::new(flags.output.style());
        let done = match Kept::open(&place, &flags.command).await {
            Ok(kept) => kept.carry_out(&flags.command, &mut out).await,
            Err(err) => Err(err),
        };
        // What was found before a failure is still worth having.
        out.flush()?;
        match done {
            Ok(()) => Ok(()),
            Err(err) => match next(&err, &place) {
                Some(hint) => Err(err).or_hint(|| hint),
                None => Err(err),
            },
        }
    })
}

/// A tree that keeps snapshots.
struct Kept {
    files: Arc<dyn FileSystem>,
    /// The directory that it is, and the name of its snapshots.
    directory: Option<(HostFs, String)>,
    limits: Limits,
}

impl Kept {
    async fn open(place: &Place, command: &SnapshotCommand) -> Result<Self> {
        let tree = LocalTree::open(place, command.missing_store()).await?;
        let limits = tree.limits().unwrap_or_default();
        let directory = match (&tree, place) {
            (LocalTree::Directory(files), Place::Directory { name, .. }) => {
                Some((files.clone(), name.clone()))
            }
            (LocalTree::Directory(_) | LocalTree::Sandbox(_) | LocalTree::Container(_), _) => None,
        };
        if let (Some((files, _)), false) = (&directory, matches!(command, SnapshotCommand::Adopt)) {
            stores::check_snapshots(files, &place.words()).await?;
        }
        Ok(Self { files: tree.files(), directory, limits })
    }

    fn snapshots(&self) -> Result<&dyn Snapshots> {
        Ok(self.files.snapshots().ok_or_else(without_snapshots)?)
    }

    async fn carry_out(&self, command: &SnapshotCommand, out: &mut Output) -> Result<()> {
        let snapshots = self.snapshots()?;
        match command {
            SnapshotCommand::Create { name, words } => {
                create::run(name.as_ref(), words, snapshots, out).await
            }
            SnapshotCommand::List { limit, after } => {
                list::run(*limit, after.clone(), snapshots, out).await
            }
            SnapshotCommand::Show { name } => list::show(name, snapshots, out).await,
            SnapshotCommand::Diff { from, to } => diff::run(from, to, snapshots, out).await,
            SnapshotCommand::Restore { name, path, yes } => {
                restore::run(name, path, *yes, snapshots, out).await
            }
            SnapshotCommand::Fork { name, new, limits } => {
                self.fork(name, new, *limits, snapshots, out).await
            }
            SnapshotCommand::Export { name, output, since } => {
                transfer::export(name, output, since.as_ref(), snapshots, out).await
            }
            SnapshotCommand::Import { file, name, words } => {
                transfer::import(file, name.as_ref(), words, snapshots, out).await
            }
            SnapshotCommand::Delete { names } => delete(names, snapshots, out).await,
            SnapshotCommand::Adopt => self.adopt(out).await,
        }
    }

    async fn fork(
        &self,
        from: &Point,
        new: &SandboxId,
        limits: LimitFlags,
        snapshots: &dyn Snapshots,
        out: &mut Output,
    ) -> Result<()> {
        snapshots.fork(from.clone(), new, limits.wish().over(self.limits)).await?;
        out.done(&format!("made the sandbox {new}"), &json!({ "sandbox": new.as_str() }))
    }

    async fn adopt(&self, out: &mut Output) -> Result<()> {
        let Some((files, name)) = &self.directory else {
            let message = "a sandbox of a store has snapshots of its own";
            return Err(Error::new(ErrorKind::Unsupported, message))
                .or_hint(|| "name a directory: --dir DIR --snapshots URL".into());
        };
        files.adopt_snapshots().await?;
        out.done("the snapshots are those of this directory now", &json!({ "sandbox": name }))
    }
}

async fn delete(ids: &[SnapshotId], snapshots: &dyn Snapshots, out: &mut Output) -> Result<()> {
    for id in ids {
        snapshots.delete(id).await?;
        out.done(&format!("deleted {id}"), &json!({ "id": id.as_str() }))?;
    }
    Ok(())
}

/// What to do next, if there is something to say.
fn next(err: &anyhow::Error, place: &Place) -> Option<String> {
    let kind = err.downcast_ref::<Error>()?.kind();
    if kind == ErrorKind::NotFound {
        return Some(format!("see which there are: sandkeep snapshot list {}", place.words()));
    }
    (kind == ErrorKind::AlreadyExists).then(|| "choose another name".into())
}

//! One change: as a step of a batch, as an operation of its own, and on the reference.

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use sandkeep_engine::{Entry, FileSystem, If, Links, Result, Step, WriteOptions};

use super::operation::Change;
use super::reference::{Belief, Move, Outcome, Reference, Thing};
use crate::contents::at;

/// A change as a step of a batch.
pub(super) fn step(change: &Change, expected: If) -> Step {
    match change.clone() {
        Change::Write { path, content, mode, parents, guess: _ } => {
            let content = Bytes::from(content.bytes());
            Step::Write { file: at(&path), content, mode, parents, expected }
        }
        Change::CreateDir { path, parents } => Step::CreateDir { dir: at(&path), parents },
        Change::Symlink { path, target } => Step::Symlink { link: at(&path), target },
        Change::Remove { path, depth, guess: _ } => {
            Step::Remove { path: at(&path), depth, expected }
        }
        Change::Rename { from, to, target } => {
            Step::Rename { from: at(&from), to: at(&to), target }
        }
        Change::Copy { from, to, target } => Step::Copy { from: at(&from), to: at(&to), target },
        Change::SetMetadata { path, change } => Step::SetMetadata { path: at(&path), change },
        Change::Check { path, guess: _ } => Step::Check { path: at(&path), expected },
    }
}

/// Takes a step by the operation that does just that.
pub(super) async fn single(files: &dyn FileSystem, step: Step) -> Result<Option<Entry>> {
    match step {
        Step::Write { file, content, mode, parents, expected } => {
            let options = WriteOptions { mode, parents, expected, length: None };
            // In pieces, as a body comes.
            let pieces: Vec<_> =
                content.chunks(50_000).map(Bytes::copy_from_slice).map(Ok).collect();
            let written = files.write(&file, stream::iter(pieces).boxed(), options).await?;
            assert_eq!(written.bytes, content.len() as u64);
            assert_eq!(written.entry.path, file);
            Ok(Some(written.entry))
        }
        Step::CreateDir { dir, parents } => {
            files.create_dir(&dir, parents).await.map(|made| Some(made.entry))
        }
        Step::Symlink { link, target } => files.symlink(&link, &target).await.map(Some),
        Step::Remove { path, depth, expected } => {
            files.remove(&path, depth, expected).await.map(|()| None)
        }
        Step::Rename { from, to, target } => files.rename(&from, &to, target).await.map(Some),
        Step::Copy { from, to, target } => files.copy(&from, &to, target).await.map(Some),
        Step::SetMetadata { path, change } => files.set_metadata(&path, change).await.map(Some),
        step @ Step::Check { .. } => {
            let mut entries = files.batch(vec![step]).await?;
            Ok(entries.remove(0))
        }
    }
}

/// Makes a change to the reference; gives what is at its path afterwards.
pub(super) fn applied(
    tree: &mut Reference,
    change: &Change,
    belief: &Belief,
) -> Outcome<Option<Thing>> {
    let number = match change {
        Change::Write { path, content, mode, parents, guess: _ } => {
            Some(tree.write(path, &content.bytes(), *mode, *parents, belief)?)
        }
        Change::CreateDir { path, parents } => Some(tree.create_dir(path, *parents)?),
        Change::Symlink { path, target } => Some(tree.symlink(path, target)?),
        Change::Remove { path, depth, guess: _ } => {
            tree.remove(path, *depth, belief)?;
            None
        }
        Change::Rename { from, to, target } => {
            Some(tree.relocate(from, to, *target, Move::Rename)?)
        }
        Change::Copy { from, to, target } => Some(tree.relocate(from, to, *target, Move::Copy)?),
        Change::SetMetadata { path, change } => Some(tree.set_metadata(path, *change)?),
        Change::Check { path, guess: _ } => {
            let thing = tree.place(path, true)?.thing;
            tree.check(belief, thing)?;
            thing
        }
    };
    Ok(number.map(|number| tree.thing(number).clone()))
}

/// How links at the end of a path are treated.
pub(super) fn links(follow: bool) -> Links {
    if follow { Links::Follow } else { Links::Keep }
}

//! `delete`, `mkdir`, `move` and `copy`.

use anyhow::Result;
use engine::{Depth, Error, ErrorKind, If, Parents, SandboxPath, Target};
use serde_json::json;

use crate::command_line::{MoveFlags, RemoveFlags};
use crate::render::{EntryJson, Output, shown};

use super::tree::Tree;

/// Deletes paths, one after the other; the first failure ends it.
pub(super) async fn remove(flags: &RemoveFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let depth = if flags.recursive { Depth::All } else { Depth::One };
    for raw in &flags.paths {
        let path = tree.locate(raw)?;
        tree.files.remove(&path, depth, If::Always).await.map_err(|err| err.on(&path))?;
        let remark = format!("deleted {}", shown(path.as_str()));
        out.done(&remark, &json!({ "path": path.as_str() }))?;
    }
    Ok(())
}

/// Makes a directory.
pub(super) async fn make_dir(raw: &str, tree: &Tree, out: &mut Output) -> Result<()> {
    let path = tree.locate(raw)?;
    let made = tree.files.create_dir(&path, Parents::Create).await;
    let entry = made.map_err(|err| err.on(&path))?.entry;
    let remark = format!("{}/ is there", shown(entry.path.as_str()));
    out.done(&remark, &EntryJson::new(&entry))
}

/// Moves anything.
pub(super) async fn rename(flags: &MoveFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let (from, to) = (tree.locate(&flags.from)?, tree.locate(&flags.to)?);
    let moved = tree.files.rename(&from, &to, target(flags)).await;
    moved.map_err(|err| locate(err, &from, &to))?;
    say("moved", &from, &to, out)
}

/// Copies anything.
pub(super) async fn copy(flags: &MoveFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let (from, to) = (tree.locate(&flags.from)?, tree.locate(&flags.to)?);
    let copied = tree.files.copy(&from, &to, target(flags)).await;
    copied.map_err(|err| locate(err, &from, &to))?;
    say("copied", &from, &to, out)
}

fn target(flags: &MoveFlags) -> Target {
    if flags.overwrite { Target::Replace } else { Target::New }
}

/// The same error, at the path that it is about.
fn locate(err: Error, from: &SandboxPath, to: &SandboxPath) -> Error {
    let about_target = [ErrorKind::AlreadyExists, ErrorKind::DirectoryNotEmpty];
    if about_target.contains(&err.kind()) { err.on(to) } else { err.on(from) }
}

fn say(verb: &str, from: &SandboxPath, to: &SandboxPath, out: &mut Output) -> Result<()> {
    let remark = format!("{verb} {} to {}", shown(from.as_str()), shown(to.as_str()));
    out.done(&remark, &json!({ "from": from.as_str(), "to": to.as_str() }))
}

//! Changes that are made of several: a batch, and a file that is cut.

use super::{Role, Subject, Workspace};
use crate::audit::{AuditEvent, Told};
use crate::{Create, Entry, OpenOptions, Result, SandboxPath, Step};

/// How many steps of a batch have an event of their own. How many there were is told in any case.
const NAMED: usize = 256;

impl Workspace {
    /// Takes steps in order, all of them or none.
    ///
    /// The audit has an event for each of the first steps, and one for the whole.
    pub async fn batch(&self, steps: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        let root = SandboxPath::root();
        let mut pending = self.begin("batch", Subject::at(&root));
        let parts: Vec<_> = steps.iter().enumerate().filter_map(part).collect();
        if let Some(pending) = &mut pending {
            for (_, Part { operation, path, from, bytes }) in parts.iter().take(NAMED).cloned() {
                let (operation, path) = (operation.into(), Some(path));
                pending.add_part(|whole| AuditEvent { operation, path, from, bytes, ..whole });
            }
        }
        let told = Told {
            bytes: Some(parts.iter().filter_map(|(_, part)| part.bytes).sum()),
            count: Some(steps.len() as u64),
            ..Told::default()
        };
        let work = self.sandbox.files.batch(steps);
        let outcome = self.run(Role::Developer, "batch", &root, work).await;
        if let Some(mut pending) = pending {
            if let Ok(left) = &outcome {
                let entry = |number: usize| left.get(number).and_then(Option::as_ref);
                let version = |number| entry(number).and_then(|entry| entry.version.clone());
                let named = parts.iter().take(NAMED);
                pending.tell_versions(named.map(|(number, _)| version(*number)));
            }
            pending.end(outcome.as_ref().map(|_| told)).await;
        }
        outcome
    }

    /// Cuts a file, or lengthens it with zeros. It must be there.
    pub async fn truncate(&self, file: &SandboxPath, len: u64) -> Result<Entry> {
        let work = async {
            let open = self.sandbox.files.open(file, OpenOptions::Write(Create::Never)).await?;
            open.set_len(len).await?;
            open.sync().await?;
            open.stat().await
        };
        self.change("truncate", Subject::at(file), work, Told::entry).await
    }
}

/// A step, as the audit tells it.
#[derive(Clone, Debug)]
struct Part {
    operation: &'static str,
    path: SandboxPath,
    from: Option<SandboxPath>,
    bytes: Option<u64>,
}

/// What a step changes, if it changes anything.
fn part((number, step): (usize, &Step)) -> Option<(usize, Part)> {
    let at = |operation, path: &SandboxPath| {
        Some(Part { operation, path: path.clone(), from: None, bytes: None })
    };
    let moved = |operation, from: &SandboxPath, to: &SandboxPath| {
        Some(Part { operation, path: to.clone(), from: Some(from.clone()), bytes: None })
    };
    let part = match step {
        Step::Write { file, content, .. } => {
            at("write", file).map(|part| Part { bytes: Some(content.len() as u64), ..part })
        }
        Step::CreateDir { dir, .. } => at("create_dir", dir),
        Step::Symlink { link, .. } => at("symlink", link),
        Step::Remove { path, .. } => at("remove", path),
        Step::Rename { from, to, .. } => moved("rename", from, to),
        Step::Copy { from, to, .. } => moved("copy", from, to),
        Step::SetMetadata { path, .. } => at("set_metadata", path),
        Step::Check { .. } => None,
    };
    part.map(|part| (number, part))
}

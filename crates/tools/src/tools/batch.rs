//! `batch`.

use engine::{
    Depth, Entry, Error, ErrorKind, Parents, SandboxPath, Step, Target, Workspace, WriteMode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::room::Room;
use super::write_file::{bytes_of, check_size, expected, length_of};
use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata, Truncation, Unit};
use crate::reach::Manner;
use crate::shown::{Kind, size};
use crate::tool::{Effect, Needs, Tool};

/// The most steps of a batch.
const MOST_STEPS: usize = 1000;
/// What to do where something is there already. Not every step has a `force` that helps.
const WHERE_TAKEN: &str = "choose another name, or delete what is there in a step before";

/// Make many changes as one: all of them, in order, or none. Nobody sees a state between.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Batch {
    /// What is done, in order.
    #[schemars(length(min = 1, max = 1000))]
    steps: Vec<OneStep>,
}

/// One change of a batch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OneStep {
    /// What is done: `write` (path, content), `append` (path, content), `create_directory` (path),
    /// `delete` (path; with `recursive` a directory with everything in it), `move` or `copy` (path,
    /// to).
    operation: Operation,
    /// What it is done to.
    path: String,
    /// Where it is moved or copied to.
    to: Option<String>,
    /// What is written or appended.
    content: Option<String>,
    /// How `content` stands for bytes, as in `write_file`.
    encoding: Option<String>,
    /// `true` to delete a directory with everything in it.
    recursive: Option<bool>,
    /// For `write`, `false` to refuse to replace a file; for `move` and `copy`, `true` to replace
    /// what is there.
    force: Option<bool>,
    /// Do it only if the file at `path` still has this version.
    if_version: Option<String>,
}

/// What one step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Operation {
    /// Writes a whole file.
    Write,
    /// Adds to the end of a file.
    Append,
    /// Makes a directory, and those on the way.
    CreateDirectory,
    /// Deletes.
    Delete,
    /// Moves.
    Move,
    /// Copies.
    Copy,
}

/// What is there after a batch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BatchOutput {
    /// What is at the path of each step now, in the order of the steps.
    steps: Vec<StepOutput>,
}

/// What is at the path of a step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StepOutput {
    /// The path: of a move or copy, where it went.
    path: String,
    /// What is there; null if it was deleted.
    r#type: Option<Kind>,
    /// How many bytes a file has; null for everything else.
    size: Option<u64>,
    /// A token of a file's state.
    version: Option<String>,
}

impl Tool for Batch {
    const NAME: &'static str = "batch";
    const TITLE: &'static str = "Make many changes as one";
    const EFFECT: Effect = Effect::Replaces { idempotent: false };
    const NEEDS: Needs = Needs::Batches;
    type Output = BatchOutput;

    async fn run(self, call: &Call) -> Result<Done<BatchOutput>, Failure> {
        if self.steps.is_empty() || self.steps.len() > MOST_STEPS {
            let message = format!("a batch has 1 to {MOST_STEPS} steps");
            return Err(Error::new(ErrorKind::InvalidArgument, message).into());
        }
        let mut planned = Plan::default();
        for (number, step) in self.steps.into_iter().enumerate() {
            let named = |err: Error| named(&err, number + 1);
            planned.add(call, step).await.map_err(named)?;
        }
        let Plan { steps, paths, places, bytes } = planned;
        let held = common(call, &paths)?;
        let taken = |err| Failure::hinting(err, ErrorKind::AlreadyExists, WHERE_TAKEN);
        let left = held.batch(steps).await.map_err(taken)?;
        let left = places.iter().zip(left);
        let left = left.filter_map(|(place, entry)| Some(shown(call, place.as_ref()?, entry)));
        done(call, left.collect(), bytes)
    }
}

/// What all steps left, as far as one answer holds it.
fn done(call: &Call, mut steps: Vec<StepOutput>, bytes: u64) -> Result<Done<BatchOutput>, Failure> {
    let count = steps.len() as u64;
    let mut room = Room::new(None, call.settings.max_entries, call.settings.max_result_bytes)?;
    let cost = |step: &StepOutput| step.path.len() + step.version.as_ref().map_or(0, String::len);
    let cut = steps
        .iter()
        .enumerate()
        .find_map(|(told, step)| room.take(cost(step)).err().map(|reason| (told, reason)));
    let truncated = cut.map(|(told, reason)| {
        steps.truncate(told);
        let (returned, total) = (told as u64, Some(count));
        Truncation { returned, total, unit: Unit::Steps, reason, next: None }
    });
    let mut lines = vec![format!("did all {count} steps")];
    lines.extend(truncated.as_ref().map(Truncation::in_words));
    let (items, bytes_written) = (Some(count), Some(bytes));
    let metadata = Metadata { items, bytes_written, truncated, ..Metadata::default() };
    Ok(Done::new(BatchOutput { steps }, lines.join("\n")).with(metadata))
}

/// What is to be done, in the engine's words.
#[derive(Debug, Default)]
struct Plan {
    steps: Vec<Step>,
    /// Every path that a step names, and what becomes of a link there.
    paths: Vec<(SandboxPath, Manner)>,
    /// The path whose state each step tells; none for what was only checked.
    places: Vec<Option<SandboxPath>>,
    bytes: u64,
}

impl Plan {
    async fn add(&mut self, call: &Call, one: OneStep) -> engine::Result<()> {
        let path = call.path(&one.path)?;
        one.check().map_err(|err| err.on(&path))?;
        let manner = match one.operation {
            Operation::Write | Operation::Append | Operation::CreateDirectory => Manner::Follow,
            Operation::Delete | Operation::Move | Operation::Copy => Manner::Keep,
        };
        call.reach().part(&path, manner)?;
        self.paths.push((path.clone(), manner));
        let step = match one.operation {
            Operation::Write | Operation::Append => self.write(call, one, path.clone()).await?,
            Operation::CreateDirectory => {
                Step::CreateDir { dir: path.clone(), parents: Parents::Create }
            }
            Operation::Delete => {
                call.reach().demand_clear(&path)?;
                let depth = if one.recursive == Some(true) { Depth::All } else { Depth::One };
                let expected = expected(one.if_version.as_deref());
                Step::Remove { path: path.clone(), depth, expected }
            }
            Operation::Move | Operation::Copy => return self.relocate(call, &one, path),
        };
        self.steps.push(step);
        self.places.push(Some(path));
        Ok(())
    }

    async fn write(
        &mut self,
        call: &Call,
        one: OneStep,
        file: SandboxPath,
    ) -> engine::Result<Step> {
        let Some(content) = one.content else {
            let message = "`content` says what is written, and is missing";
            return Err(Error::new(ErrorKind::InvalidArgument, message).on(&file));
        };
        let content = bytes_of(call, content, one.encoding.as_deref())?;
        let mut before = 0;
        if one.operation == Operation::Append {
            before = self.length_of(call, &file).await?;
        }
        check_size(call, &file, before.saturating_add(content.len() as u64))?;
        self.bytes += content.len() as u64;
        let mode = match (one.operation, one.force) {
            (Operation::Append, _) => WriteMode::Append,
            (_, Some(false)) => WriteMode::CreateNew,
            (_, _) => WriteMode::Replace,
        };
        let expected = expected(one.if_version.as_deref());
        Ok(Step::Write { file, content, mode, parents: Parents::Create, expected })
    }

    /// How long a file is after the steps so far.
    async fn length_of(&self, call: &Call, file: &SandboxPath) -> engine::Result<u64> {
        let (mut path, mut added) = (file.clone(), 0_u64);
        for step in self.steps.iter().rev() {
            match step {
                Step::Write { file, content, mode, .. } if *file == path => {
                    added = added.saturating_add(content.len() as u64);
                    if *mode != WriteMode::Append {
                        return Ok(added);
                    }
                }
                Step::Remove { path: gone, .. } if path.starts_with(gone) => return Ok(added),
                Step::Rename { from, to, .. } | Step::Copy { from, to, .. }
                    if path.starts_with(to) =>
                {
                    path = moved(&path, to, from)?;
                }
                Step::Rename { from: gone, .. } if path.starts_with(gone) => return Ok(added),
                Step::Write { .. }
                | Step::CreateDir { .. }
                | Step::Symlink { .. }
                | Step::Remove { .. }
                | Step::Rename { .. }
                | Step::Copy { .. }
                | Step::SetMetadata { .. }
                | Step::Check { .. } => {}
            }
        }
        Ok(length_of(call, &path).await?.saturating_add(added))
    }

    fn relocate(&mut self, call: &Call, one: &OneStep, from: SandboxPath) -> engine::Result<()> {
        let Some(to) = one.to.as_deref() else {
            let message = "`to` says where it goes, and is missing";
            return Err(Error::new(ErrorKind::InvalidArgument, message).on(&from));
        };
        let to = call.path(to)?;
        call.reach().part(&to, Manner::Keep)?;
        call.reach().demand_clear(&from)?;
        call.reach().demand_clear(&to)?;
        if one.if_version.is_some() {
            self.paths.push((from.clone(), Manner::Follow));
            self.places.push(None);
            let expected = expected(one.if_version.as_deref());
            self.steps.push(Step::Check { path: from.clone(), expected });
        }
        let target = if one.force == Some(true) { Target::Replace } else { Target::New };
        self.paths.push((to.clone(), Manner::Keep));
        self.places.push(Some(to.clone()));
        self.steps.push(if one.operation == Operation::Move {
            Step::Rename { from, to, target }
        } else {
            Step::Copy { from, to, target }
        });
        Ok(())
    }
}

impl OneStep {
    /// Refuses what the operation does not heed: who sends it believes that it does something.
    fn check(&self) -> engine::Result<()> {
        let (mut writes, mut relocates) = (false, false);
        match self.operation {
            Operation::Write | Operation::Append => writes = true,
            Operation::Move | Operation::Copy => relocates = true,
            Operation::CreateDirectory | Operation::Delete => {}
        }
        let is = |operation| self.operation == operation;
        let (makes, deletes) = (is(Operation::CreateDirectory), is(Operation::Delete));
        let odd = [
            ("content", self.content.is_some() && !writes),
            ("encoding", self.encoding.is_some() && !writes),
            ("to", self.to.is_some() && !relocates),
            ("recursive", self.recursive == Some(true) && !deletes && !makes),
            ("force", self.force == Some(true) && !relocates && !is(Operation::Write)),
            ("ifVersion", self.if_version.is_some() && makes),
        ];
        match odd.into_iter().find(|(_, is_odd)| *is_odd) {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("`{name}` means nothing for this operation");
                Err(Error::new(ErrorKind::InvalidArgument, message))
            }
        }
    }
}

/// Where something beneath `from` is that is moved from there to `to`.
fn moved(path: &SandboxPath, from: &SandboxPath, to: &SandboxPath) -> engine::Result<SandboxPath> {
    path.strip(from)
        .unwrap_or_default()
        .split('/')
        .filter(|name| !name.is_empty())
        .try_fold(to.clone(), |path, name| path.join(name))
}

/// A hold on the one part of the tree in which all of these paths lie. Links lead no further than the
/// part that one step may use, so another step cannot borrow it.
fn common(call: &Call, paths: &[(SandboxPath, Manner)]) -> Result<Workspace, Failure> {
    let mut common = None;
    for (path, manner) in paths {
        let part = call.reach().part(path, *manner)?;
        if common.get_or_insert_with(|| part.clone()) != &part {
            let message =
                "the steps are in several parts of the tree, between which others are not allowed";
            let hint = "make one batch for each part";
            return Err(Failure::with_hint(Error::new(ErrorKind::Unsupported, message), hint));
        }
    }
    let part = common.unwrap_or_else(SandboxPath::root);
    Ok(call.whole().confined(&part)?)
}

/// The same error, with the number of the step that it is about.
fn named(err: &Error, number: usize) -> Error {
    let named = Error::new(err.kind(), format!("step {number}: {}", err.message()));
    match err.path() {
        Some(path) => named.on(path),
        None => named,
    }
}

fn shown(call: &Call, path: &SandboxPath, entry: Option<Entry>) -> StepOutput {
    StepOutput {
        path: call.shown(path),
        r#type: entry.as_ref().map(|entry| entry.kind.into()),
        size: entry.as_ref().and_then(size),
        version: entry.and_then(|entry| entry.version).map(|version| version.to_string()),
    }
}

//! `move` and `copy`.

use engine::{
    ArchiveFormat, ArchiveLimits, Entry, EntryKind, Error, ErrorKind, If, Links, Parents,
    SandboxPath, Span, Target, WriteMode, WriteOptions,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::write_file::taken_by_file;
use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::Done;
use crate::reach::Manner;
use crate::shown::{Kind, size};
use crate::tool::{Effect, Tool};

/// Move or rename a file, a directory or a link itself, in one step. Missing directories on the way
/// are made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Move {
    /// Where it is.
    #[serde(alias = "source")]
    from: String,
    /// Where it goes: the new path itself, not the directory to put it in.
    #[serde(alias = "destination")]
    to: String,
    /// `true` to replace what is there.
    force: Option<bool>,
}

/// Copy a file, a directory with everything in it, or a link itself. Missing directories on the way
/// are made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Copy {
    /// What is copied.
    #[serde(alias = "source")]
    from: String,
    /// Where the copy goes: the new path itself, not the directory to put it in.
    #[serde(alias = "destination")]
    to: String,
    /// `true` to replace what is there.
    force: Option<bool>,
}

/// What went where.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RelocateOutput {
    /// Where it was, or what was copied.
    from: String,
    /// Where it is now.
    to: String,
    /// What it is.
    r#type: Kind,
    /// How many bytes a file has; null for everything else.
    size: Option<u64>,
}

impl Tool for Move {
    const NAME: &'static str = "move";
    const TITLE: &'static str = "Move or rename";
    const EFFECT: Effect = Effect::Replaces { idempotent: false };
    type Output = RelocateOutput;

    async fn run(self, call: &Call) -> Result<Done<RelocateOutput>, Failure> {
        let (from, to) = (call.path(&self.from)?, call.path(&self.to)?);
        let force = self.force.unwrap_or_default();
        demand_clear(call, &from, &to)?;
        let Some(held) = call.around(&from, &to)? else {
            let message = "nothing can be moved from one allowed path to another in one step";
            let hint = "call copy, and then delete";
            return Err(Failure::with_hint(Error::new(ErrorKind::Unsupported, message), hint));
        };
        let moved = held.rename(&from, &to, target(force)).await;
        let entry = moved.map_err(|err| taken(err, &from, &to, force))?;
        Ok(done(call, &from, &to, &entry, "moved"))
    }
}

impl Tool for Copy {
    const NAME: &'static str = "copy";
    const TITLE: &'static str = "Copy a file or directory";
    const EFFECT: Effect = Effect::Replaces { idempotent: true };
    type Output = RelocateOutput;

    async fn run(self, call: &Call) -> Result<Done<RelocateOutput>, Failure> {
        let (from, to) = (call.path(&self.from)?, call.path(&self.to)?);
        let force = self.force.unwrap_or_default();
        demand_clear(call, &from, &to)?;
        let entry = match call.around(&from, &to)? {
            Some(held) => {
                let copied = held.copy(&from, &to, target(force)).await;
                copied.map_err(|err| taken(err, &from, &to, force))?
            }
            None => carry(call, &from, &to, force).await?,
        };
        Ok(done(call, &from, &to, &entry, "copied"))
    }
}

/// Copies from one part of the tree to another, of which neither sees the other.
async fn carry(
    call: &Call,
    from: &SandboxPath,
    to: &SandboxPath,
    force: bool,
) -> Result<Entry, Failure> {
    let (source, destination) = (call.at(from, Manner::Keep)?, call.at(to, Manner::Follow)?);
    if to.starts_with(from) {
        let message = "nothing can be copied into itself";
        return Err(Error::new(ErrorKind::InvalidArgument, message).on(to).into());
    }
    match source.stat(from, Links::Keep).await?.kind {
        EntryKind::File => {
            let content = source.read(from, Span::Whole).await?;
            let options = WriteOptions {
                mode: if force { WriteMode::Replace } else { WriteMode::CreateNew },
                parents: Parents::Create,
                expected: If::Always,
                length: Some(content.entry.size),
            };
            let written = destination.write(to, content.body, options).await;
            Ok(written.map_err(|err| taken_by_file(err, force))?.entry)
        }
        EntryKind::Directory => {
            let there = destination.stat(to, Links::Keep).await;
            if !there.is_err_and(|err| err.kind() == ErrorKind::NotFound) {
                let message = "something is there, and a directory is not copied over it";
                return Err(Error::new(ErrorKind::AlreadyExists, message).on(to).into());
            }
            let format = ArchiveFormat::Tar;
            let limits = ArchiveLimits::default();
            let archive = source.pack(from, format, limits).await?;
            destination.unpack(to, archive, format, limits).await?;
            Ok(destination.stat(to, Links::Keep).await?)
        }
        EntryKind::Symlink | EntryKind::Special => {
            let message = "a link cannot be copied from one allowed path to another";
            Err(Error::new(ErrorKind::Unsupported, message).on(from).into())
        }
    }
}

/// What to do where something is at the destination: `force` helps, unless it is set already or
/// would replace what is moved itself.
fn taken(err: Error, from: &SandboxPath, to: &SandboxPath, force: bool) -> Failure {
    let hint = match (force, from.starts_with(to)) {
        (true, _) => return err.into(),
        (false, true) => "choose another name",
        (false, false) => "choose another name, or set `force` to replace it",
    };
    Failure::hinting(err, ErrorKind::AlreadyExists, hint)
}

fn demand_clear(call: &Call, from: &SandboxPath, to: &SandboxPath) -> engine::Result<()> {
    call.reach().demand_clear(from)?;
    call.reach().demand_clear(to)
}

fn target(force: bool) -> Target {
    if force { Target::Replace } else { Target::New }
}

fn done(
    call: &Call,
    from: &SandboxPath,
    to: &SandboxPath,
    entry: &Entry,
    verb: &str,
) -> Done<RelocateOutput> {
    let (from, to) = (call.shown(from), call.shown(to));
    let text = format!("{verb} {from} to {to}");
    Done::new(RelocateOutput { from, to, r#type: entry.kind.into(), size: size(entry) }, text)
}

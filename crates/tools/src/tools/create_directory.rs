//! `create_directory`.

use engine::{EntryKind, Error, ErrorKind, Links, Parents, SandboxPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::Done;
use crate::reach::Manner;
use crate::tool::{Effect, Tool};

/// Make a directory, and those on the way to it. One that is there already is a success.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateDirectory {
    /// The directory.
    path: String,
    /// `false` to make this directory alone: its parent must be there. Parents are made by default.
    recursive: Option<bool>,
}

/// What was made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateDirectoryOutput {
    /// The directory.
    path: String,
    /// Whether it is new; `false` if it was there already.
    created: bool,
}

impl Tool for CreateDirectory {
    const NAME: &'static str = "create_directory";
    const TITLE: &'static str = "Make a directory";
    const EFFECT: Effect = Effect::Adds { idempotent: true };
    type Output = CreateDirectoryOutput;

    async fn run(self, call: &Call) -> Result<Done<CreateDirectoryOutput>, Failure> {
        let dir = call.path(&self.path)?;
        let created = make(call, &dir, self.recursive.unwrap_or(true)).await?;
        let path = call.shown(&dir);
        let text =
            if created { format!("made {path}") } else { format!("{path} was there already") };
        Ok(Done::new(CreateDirectoryOutput { path, created }, text))
    }
}

/// Makes the parents first and then the directory alone, since only that says whether it is new.
async fn make(call: &Call, dir: &SandboxPath, recursive: bool) -> engine::Result<bool> {
    let held = call.at(dir, Manner::Follow)?;
    let mut outcome = held.create_dir(dir, Parents::Require).await;
    if recursive
        && let Err(err) = &outcome
        && err.kind() == ErrorKind::NotFound
    {
        let above = dir.parent().filter(|parent| call.reach().shows(parent));
        outcome = match above {
            Some(parent) => {
                call.at(&parent, Manner::Follow)?.create_dir(&parent, Parents::Create).await?;
                held.create_dir(dir, Parents::Require).await
            }
            // What is above an allowed directory is nobody's business but its own.
            None => held.create_dir(dir, Parents::Create).await,
        };
    }
    match outcome {
        Ok(_) => Ok(true),
        Err(err) if err.kind() == ErrorKind::AlreadyExists => {
            let there = held.stat(dir, Links::Follow).await?;
            if there.kind == EntryKind::Directory {
                return Ok(false);
            }
            let message = "something that is no directory is there already";
            Err(Error::new(ErrorKind::AlreadyExists, message).on(dir))
        }
        Err(err) => Err(err),
    }
}

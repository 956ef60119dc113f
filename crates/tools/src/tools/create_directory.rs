//! `create_directory`.

use engine::{EntryKind, Error, ErrorKind, Links, Parents, SandboxPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::write_file::parents;
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
        let created = make(call, &dir, parents(self.recursive)).await?;
        let path = call.shown(&dir);
        let text =
            if created { format!("made {path}") } else { format!("{path} was there already") };
        Ok(Done::new(CreateDirectoryOutput { path, created }, text))
    }
}

/// One change of the tree, which is made whole or not at all and says whether it is new.
async fn make(call: &Call, dir: &SandboxPath, parents: Parents) -> engine::Result<bool> {
    let held = call.at(dir, Manner::Follow)?;
    match held.create_dir(dir, parents).await {
        Ok(made) => Ok(made.created),
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

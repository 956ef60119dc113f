//! `delete`.

use engine::{Depth, ErrorKind, If, Links};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::Done;
use crate::reach::Manner;
use crate::shown::Kind;
use crate::tool::{Effect, Tool};

/// Delete a file, a link itself, or an empty directory; with `recursive`, a directory with
/// everything in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Delete {
    /// What is deleted.
    path: String,
    /// `true` to delete a directory with everything in it.
    recursive: Option<bool>,
    /// `true` for a success even if nothing is there.
    force: Option<bool>,
}

/// What was deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeleteOutput {
    /// What was to be deleted.
    path: String,
    /// Whether it was; `false` if nothing was there.
    deleted: bool,
    /// What it was; null if nothing was there.
    r#type: Option<Kind>,
}

impl Tool for Delete {
    const NAME: &'static str = "delete";
    const TITLE: &'static str = "Delete a file or directory";
    const EFFECT: Effect = Effect::Replaces { idempotent: true };
    type Output = DeleteOutput;

    async fn run(self, call: &Call) -> Result<Done<DeleteOutput>, Failure> {
        let path = call.path(&self.path)?;
        let held = call.at(&path, Manner::Keep)?;
        call.reach().demand_clear(&path)?;
        let depth = if self.recursive == Some(true) { Depth::All } else { Depth::One };
        let work = async {
            let there = held.stat(&path, Links::Keep).await?;
            held.remove(&path, depth, If::Always).await.map(|()| Kind::from(there.kind))
        };
        let shown = call.shown(&path);
        match work.await {
            Ok(kind) => {
                let text = format!("deleted the {} {shown}", kind.word());
                let output = DeleteOutput { path: shown, deleted: true, r#type: Some(kind) };
                Ok(Done::new(output, text))
            }
            Err(err) if self.force == Some(true) && err.kind() == ErrorKind::NotFound => {
                let text = format!("nothing was at {shown}");
                Ok(Done::new(DeleteOutput { path: shown, deleted: false, r#type: None }, text))
            }
            Err(err) => Err(err.into()),
        }
    }
}

//! `fs-batch`: many changes as one.

use axum::Json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use engine::{Depth, Error, ErrorKind, If, Parents, Part, Result, SandboxPath, Step, WriteMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::batch_fields::Steps;
use super::entry::ModeBody;
use super::errors::{Refusals, explain};
use super::paths;
use super::relocate::WireTarget;
use super::wire::Stat;
use crate::json_body;
use crate::problem::Problem;
use crate::visit::{MayChange, Visit};

/// The longest batch, in bytes of JSON. It is held whole while it happens.
const MOST_BYTES: usize = 16 << 20;

/// One change of a batch. Paths begin at the root of the sandbox.
#[derive(Clone, Debug, Serialize, ToSchema, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum WireStep {
    /// Puts a file in place, appends to one, or writes a part of it.
    Write {
        path: String,
        /// The content, if it is text.
        text: Option<String>,
        /// The content in base64, if it is not.
        base64: Option<String>,
        #[serde(default)]
        mode: WireMode,
        /// Where the content of a `part` goes.
        offset: Option<u64>,
        /// How long the file must be after a `part`.
        total: Option<u64>,
        /// `false` to write only where the directory is there already.
        parents: Option<bool>,
        if_match: Option<Versions>,
        if_none_match: Option<Versions>,
    },
    /// Makes a directory.
    Mkdir {
        path: String,
        /// `false` to make one directory alone, which must be new.
        parents: Option<bool>,
    },
    /// Makes a symbolic link.
    Link {
        path: String,
        /// What it holds.
        target: String,
    },
    /// Removes a file, a link itself, or a directory; it must be there.
    Remove {
        path: String,
        /// `false` to remove a directory only if it is empty.
        recursive: Option<bool>,
        if_match: Option<Versions>,
        if_none_match: Option<Versions>,
    },
    /// Moves anything.
    Move {
        from: String,
        to: String,
        #[serde(default)]
        target: WireTarget,
    },
    /// Copies anything.
    Copy {
        from: String,
        to: String,
        #[serde(default)]
        target: WireTarget,
    },
    /// Changes the mode or the time of a file or directory.
    Chmod {
        path: String,
        /// Permission bits, in octal.
        mode: Option<String>,
        /// When it last changed (RFC 3339).
        modified: Option<String>,
    },
    /// Changes nothing; fails when what is there is not as expected.
    Check { path: String, if_match: Option<Versions>, if_none_match: Option<Versions> },
}

/// How a write treats what is there.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireMode {
    /// The content becomes the whole file.
    #[default]
    Replace,
    /// The file must not be there.
    Create,
    /// The content goes to the end.
    Append,
    /// The content goes to `offset`.
    Part,
}

/// Versions of a file: one, several, or `*` for any.
#[derive(Clone, Debug, Serialize, ToSchema, JsonSchema)]
#[serde(untagged)]
pub(super) enum Versions {
    /// One, or `*`.
    One(String),
    /// Any of these, 64 at most.
    Many(Vec<String>),
}

impl Versions {
    /// The versions; none for any.
    fn listed(&self) -> Option<Vec<engine::Version>> {
        let version = |text: &String| engine::Version::new(text.trim_matches('"'));
        match self {
            Self::One(any) if any == "*" => None,
            Self::One(text) => Some(vec![version(text)]),
            Self::Many(texts) => Some(texts.iter().map(version).collect()),
        }
    }
}

/// Take many steps, all of them or none.
///
/// Nobody sees a state between. There are at most 10,000 steps. Answers what is at the path of each step afterwards, or `null`. A
/// sandbox of kind `host` cannot do that.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fs-batch",
    operation_id = "batchSandboxChanges",
    tag = "sandbox files",
    params(("id" = String, Path, description = "The sandbox")),
    request_body = Vec<WireStep>,
    responses(
        (status = 200, description = "All of it happened", body = Vec<Option<Stat>>),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn batch(
    visit: Visit,
    _: MayChange,
    json_body::Json(Steps(steps)): json_body::Json<Steps, MOST_BYTES>,
) -> Result<Json<Vec<Option<Stat>>>, Problem> {
    let taken = async {
        let strip = visit.strip_workspace_prefix;
        let steps = steps.into_iter().map(|step| step.meant(strip)).collect::<Result<_>>()?;
        visit.workspace.batch(steps).await
    };
    let left = taken.await.map_err(|err| explain(&err))?;
    Ok(Json(left.iter().map(|entry| entry.as_ref().map(Stat::new)).collect()))
}

impl WireStep {
    /// The step that this means to the engine.
    fn meant(self, strip: bool) -> Result<Step> {
        let at = |text: &str| paths::of_text(text, strip);
        Ok(match self {
            Self::Write {
                path,
                text,
                base64,
                mode,
                offset,
                total,
                parents,
                if_match,
                if_none_match,
            } => {
                let file = at(&path)?;
                Step::Write {
                    content: content(text, base64).map_err(|err| err.on(&file))?,
                    mode: write_mode(mode, offset, total).map_err(|err| err.on(&file))?,
                    parents: parents_of(parents),
                    expected: expected(&file, if_match, if_none_match)?,
                    file,
                }
            }
            Self::Mkdir { path, parents } => {
                Step::CreateDir { dir: at(&path)?, parents: parents_of(parents) }
            }
            Self::Link { path, target } => Step::Symlink { link: at(&path)?, target },
            Self::Remove { path, recursive, if_match, if_none_match } => {
                let path = at(&path)?;
                let depth = if recursive == Some(false) { Depth::One } else { Depth::All };
                let expected = expected(&path, if_match, if_none_match)?;
                Step::Remove { path, depth, expected }
            }
            Self::Move { from, to, target } => {
                Step::Rename { from: at(&from)?, to: at(&to)?, target: target.into() }
            }
            Self::Copy { from, to, target } => {
                Step::Copy { from: at(&from)?, to: at(&to)?, target: target.into() }
            }
            Self::Chmod { path, mode, modified } => {
                let path = at(&path)?;
                let change = ModeBody { mode, modified }.change().map_err(|err| err.on(&path))?;
                Step::SetMetadata { path, change }
            }
            Self::Check { path, if_match, if_none_match } => {
                let path = at(&path)?;
                Step::Check { expected: expected(&path, if_match, if_none_match)?, path }
            }
        })
    }
}

fn content(text: Option<String>, base64: Option<String>) -> Result<Bytes> {
    match (text, base64) {
        (Some(text), None) => Ok(text.into()),
        (None, Some(base64)) => match STANDARD.decode(base64) {
            Ok(bytes) => Ok(bytes.into()),
            Err(_) => Err(refuse("`base64` is not base64")),
        },
        (Some(_), Some(_)) | (None, None) => Err(refuse("a write has either `text` or `base64`")),
    }
}

fn write_mode(mode: WireMode, offset: Option<u64>, total: Option<u64>) -> Result<WriteMode> {
    match (mode, offset, total) {
        (WireMode::Part, Some(offset), total) => Ok(WriteMode::Part(Part { offset, total })),
        (WireMode::Part, None, _) => Err(refuse("a part needs an `offset`")),
        (WireMode::Replace, None, None) => Ok(WriteMode::Replace),
        (WireMode::Create, None, None) => Ok(WriteMode::CreateNew),
        (WireMode::Append, None, None) => Ok(WriteMode::Append),
        (WireMode::Replace | WireMode::Create | WireMode::Append, _, _) => {
            Err(refuse("`offset` and `total` are about a part"))
        }
    }
}

fn parents_of(parents: Option<bool>) -> Parents {
    if parents == Some(false) { Parents::Require } else { Parents::Create }
}

fn expected(
    path: &SandboxPath,
    if_match: Option<Versions>,
    differs: Option<Versions>,
) -> Result<If> {
    let (if_match, differs) = (if_match.map(|it| it.listed()), differs.map(|it| it.listed()));
    Ok(match (if_match, differs) {
        (None, None) => If::Always,
        (Some(None), None) => If::Exists,
        (Some(Some(versions)), None) => If::Matches(versions),
        (None, Some(None)) => If::Missing,
        (None, Some(Some(versions))) => If::Differs(versions),
        (Some(_), Some(_)) => {
            return Err(
                refuse("`if_match` and `if_none_match` cannot be checked together").on(path)
            );
        }
    })
}

fn refuse(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

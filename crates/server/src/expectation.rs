//! What a change may expect of its target.

use engine::{Error, ErrorKind, If, Links, Result, SandboxPath, Workspace};
use http::HeaderMap;

use crate::conditions::{Conditions, Expected};
use crate::problem::Problem;

/// The expectation that the headers of a change spell. What cannot be looked up is told by
/// `failed`.
pub(crate) async fn expected(
    workspace: &Workspace,
    headers: &HeaderMap,
    path: &SandboxPath,
    links: Links,
    failed: impl Fn(Error) -> Problem,
) -> Result<If, Problem> {
    match Conditions::read(headers)?.expected()? {
        Expected::If(expected) => Ok(expected),
        Expected::UnmodifiedSince(date) => {
            unmodified_since(workspace, path, links, date).await.map_err(failed)
        }
    }
}

// A date cannot be checked together with the change. The version that had the date can. An older
// one than the store has would be refused with the change, when its body is gone, so that the newest
// is looked for.
async fn unmodified_since(
    workspace: &Workspace,
    path: &SandboxPath,
    links: Links,
    date: i64,
) -> Result<If> {
    workspace.refresh().await?;
    let entry = match workspace.stat(path, links).await {
        Err(err) if err.kind() == ErrorKind::NotFound => return Ok(If::Missing),
        found => found?,
    };
    let unmodified = entry.modified.is_some_and(|modified| modified.seconds <= date);
    match entry.version {
        Some(version) if unmodified => Ok(If::Matches(vec![version])),
        Some(_) | None => Err(unmet().on(path)),
    }
}

/// The error of a file that is not as expected.
pub(crate) fn unmet() -> Error {
    Error::new(ErrorKind::PreconditionFailed, "the file is not in the expected state")
}

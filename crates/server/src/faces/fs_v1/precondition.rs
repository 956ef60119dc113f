//! What a change may expect of its target.

use engine::{Error, ErrorKind, If, Links, Result};
use http::HeaderMap;

use super::errors::{Asked, explain};
use super::paths::Place;
use crate::conditions::{Conditions, Expected};
use crate::problem::Problem;
use crate::visit::Visit;

/// The expectation that the headers of a change spell.
pub(super) async fn expected(
    app: &Visit,
    headers: &HeaderMap,
    place: &Place,
    links: Links,
) -> Result<If, Problem> {
    match Conditions::read(headers)?.expected()? {
        Expected::If(expected) => Ok(expected),
        Expected::UnmodifiedSince(date) => {
            let found = unmodified_since(app, place, links, date).await;
            found.map_err(|err| explain(app, &err, Asked::Any, &[place]))
        }
    }
}

// A date cannot be checked together with the change. The version that had the date can. An older
// one than the store has would be refused with the change, when its body is gone, so that the newest
// is looked for.
async fn unmodified_since(app: &Visit, place: &Place, links: Links, date: i64) -> Result<If> {
    app.workspace.refresh().await?;
    let entry = match app.workspace.stat(&place.path, links).await {
        Err(err) if err.kind() == ErrorKind::NotFound => return Ok(If::Missing),
        found => found?,
    };
    let unmodified = entry.modified.is_some_and(|modified| modified.seconds <= date);
    match entry.version {
        Some(version) if unmodified => Ok(If::Matches(vec![version])),
        Some(_) | None => Err(failed().on(&place.path)),
    }
}

/// The error of a file that is not as expected.
pub(super) fn failed() -> Error {
    Error::new(ErrorKind::PreconditionFailed, "the file is not in the expected state")
}

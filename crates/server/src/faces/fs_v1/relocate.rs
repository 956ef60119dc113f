//! `POST /v1/fs/move` and `POST /v1/fs/copy`.

use engine::{EntryKind, Error, ErrorKind, Links, Result, Target};

use super::errors::{Asked, Problems, explain};
use super::paths::Place;
use super::wire::{FsMoveRequest, FsMoveResponse, FsSessionQuery};
use crate::json_body::Json;
use crate::problem::Problem;
use crate::query::Query;
use crate::visit::Visit;

/// Move or rename anything; links themselves.
///
/// With `overwrite` what is at the destination is replaced whole, and never before the move
/// succeeds.
#[utoipa::path(
    post,
    path = "/v1/fs/move",
    operation_id = "move",
    tag = "files",
    params(FsSessionQuery),
    request_body = FsMoveRequest,
    responses((status = 200, description = "It is there", body = FsMoveResponse), Problems),
    security(("bearer" = []))
)]
pub(super) async fn r#move(
    app: Visit,
    Query(query): Query<FsSessionQuery>,
    Json(request): Json<FsMoveRequest>,
) -> Result<axum::Json<FsMoveResponse>, Problem> {
    relocate(&app, &query, &request).await.map(axum::Json)
}

/// Moves what a request names.
pub(in crate::faces) async fn relocate(
    app: &Visit,
    query: &FsSessionQuery,
    request: &FsMoveRequest,
) -> Result<FsMoveResponse, Problem> {
    let trip = Trip::plan(app, query, request)?;
    trip.check(app).await.map_err(|err| trip.explain(app, &err))?;
    let moved = app.workspace.rename(&trip.from.path, &trip.to.path, trip.target).await;
    moved.map_err(|err| trip.explain(app, &err))?;
    Ok(trip.response())
}

/// Copy a file, a link itself, or a tree, with modes and times.
///
/// With `overwrite` what is at the destination is replaced whole.
#[utoipa::path(
    post,
    path = "/v1/fs/copy",
    operation_id = "copy",
    tag = "files",
    params(FsSessionQuery),
    request_body = FsMoveRequest,
    responses((status = 200, description = "It is there", body = FsMoveResponse), Problems),
    security(("bearer" = []))
)]
pub(super) async fn copy(
    app: Visit,
    Query(query): Query<FsSessionQuery>,
    Json(request): Json<FsMoveRequest>,
) -> Result<axum::Json<FsMoveResponse>, Problem> {
    let trip = Trip::plan(&app, &query, &request)?;
    trip.check(&app).await.map_err(|err| trip.explain(&app, &err))?;
    let copied = app.workspace.copy(&trip.from.path, &trip.to.path, trip.target).await;
    copied.map_err(|err| trip.explain(&app, &err))?;
    Ok(axum::Json(trip.response()))
}

/// From one place to another.
struct Trip {
    from: Place,
    to: Place,
    target: Target,
}

impl Trip {
    fn plan(app: &Visit, query: &FsSessionQuery, request: &FsMoveRequest) -> Result<Self, Problem> {
        let session = query.session_id.as_deref();
        let from = app.place(&request.from, session)?;
        let to = app.place(&request.to, session)?;
        let overwrite = request.overwrite == Some(true);
        let target = if overwrite { Target::Replace } else { Target::New };
        Ok(Self { from, to, target })
    }

    /// The rules of this face that the engine does not know.
    async fn check(&self, app: &Visit) -> Result<()> {
        self.from.check(app, Links::Keep).await?;
        if !self.to.allows(EntryKind::File) && self.check_kind(app).await.is_err() {
            // What this server saw last may be old, and a refusal goes by what is there now.
            app.workspace.refresh().await?;
            self.check_kind(app).await?;
        }
        // An empty destination is more likely forgotten than meant to replace the whole home.
        if self.to.is_base() && self.from.path != self.to.path {
            let message = "destination already exists";
            return Err(Error::new(ErrorKind::AlreadyExists, message).on(&self.to.path));
        }
        Ok(())
    }

    /// Refuses what cannot be at the destination, going by its spelling.
    async fn check_kind(&self, app: &Visit) -> Result<()> {
        let source = app.workspace.stat(&self.from.path, Links::Keep).await?;
        if self.to.allows(source.kind) {
            return Ok(());
        }
        let message = "path ends in a slash but no directory is meant to be there";
        Err(Error::new(ErrorKind::NotADirectory, message).on(&self.to.path))
    }

    fn explain(&self, app: &Visit, err: &Error) -> Problem {
        explain(app, err, Asked::Destination, &[&self.from, &self.to])
    }

    fn response(self) -> FsMoveResponse {
        FsMoveResponse { from: self.from.shown, to: self.to.shown }
    }
}

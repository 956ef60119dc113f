//! `?snapshot=`: which state of a sandbox is looked at.

use engine::{Error, ErrorKind, Point, SnapshotId, Workspace};

use super::errors::explain;
use crate::problem::Problem;
use crate::query::{FromParams, Params};
use crate::visit::Visit;

/// Which state of the sandbox is looked at.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AsOf {
    /// Look at this snapshot instead of the sandbox as it is now.
    #[param(nullable = false)]
    snapshot: Option<String>,
}

impl FromParams for AsOf {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { snapshot: params.optional("snapshot")? })
    }
}

impl AsOf {
    /// The caller's hold on that state.
    pub(super) async fn workspace(&self, visit: &Visit) -> Result<Workspace, Problem> {
        let Some(id) = &self.snapshot else { return Ok(visit.workspace.clone()) };
        if visit.caller.claim.is_some() || visit.caller.prefix().is_some() {
            let message = "whoever sees a part of a sandbox sees it as it is now";
            return Err(explain(&Error::new(ErrorKind::Forbidden, message)));
        }
        let held = async { visit.workspace.at_snapshot(&SnapshotId::parse(id)?).await };
        held.await.map_err(|err| explain(&err))
    }
}

/// The state that a snapshot is, or the present one without it.
pub(super) fn point(id: Option<&str>) -> engine::Result<Point> {
    match id {
        Some(id) => SnapshotId::parse(id).map(Point::Snapshot),
        None => Ok(Point::Live),
    }
}

//! One request: who asks, and the sandbox that it is about.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath};
use engine::{
    Error, ErrorKind, Recorder, Role, Sandbox, SandboxId, SandboxPath, SessionOwner, Workspace,
};
use http::request::Parts;
use http::{StatusCode, Uri};
use percent_encoding::percent_decode_str;

use crate::app::App;
use crate::caller::Caller;
use crate::faces::{self, Named};
use crate::problem::{Class, Problem};
use crate::refusals::Docket;

/// What a request about a sandbox needs: the server, and the caller's hold on the sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    app: Arc<App>,
    /// Held, so that the sandbox is not closed and opened a second time while somebody works in it.
    held: Arc<Sandbox>,
    pub(crate) caller: Caller,
    pub(crate) workspace: Workspace,
}

impl Visit {
    /// Whether it is about the sandbox that the server was started with.
    pub(crate) fn is_main(&self) -> bool {
        self.held.id == self.app.registry.main().id
    }

    /// Whose sessions the caller's are.
    pub(crate) fn owner(&self) -> SessionOwner {
        SessionOwner { by: self.caller.actor, sandbox: self.held.id.clone() }
    }

    /// The same visit, whose deeds another recorder writes down.
    pub(crate) fn recorded(&self, recorder: Recorder) -> Self {
        Self { workspace: self.workspace.clone().recorded(recorder), ..self.clone() }
    }

    /// The server.
    pub(crate) fn app(&self) -> &Arc<App> {
        &self.app
    }
}

impl Deref for Visit {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl FromRequestParts<Arc<App>> for Visit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        // Nobody asks for it twice, and a copy costs more than a small read may.
        parts.extensions.remove::<Self>().ok_or_else(stranger)
    }
}

/// The problem of a request that no gate was passed by. No route that is guarded comes here.
pub(crate) fn stranger() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, Class::NOT_FOUND, "no sandbox is named")
}

/// Opens the sandbox that a request is about, if it is about one.
pub(crate) async fn enter(
    app: &Arc<App>,
    parts: &mut Parts,
    docket: &Docket,
) -> Result<(), Problem> {
    if let Some(visit) = visit(app, parts, docket).await? {
        parts.extensions.insert(visit);
    }
    Ok(())
}

async fn visit(app: &Arc<App>, parts: &Parts, docket: &Docket) -> Result<Option<Visit>, Problem> {
    let Some(caller) = parts.extensions.get::<Caller>().cloned() else { return Ok(None) };
    let Some(matched) = parts.extensions.get::<MatchedPath>() else { return Ok(None) };
    let own = || caller.only_sandbox().unwrap_or(&app.registry.main().id).clone();
    let id = match faces::named(matched.as_str(), &parts.method, &parts.uri) {
        Named::None => return Ok(None),
        Named::Own => own(),
        Named::ById(id) => id?,
    };
    let outcome = async {
        if !caller.may_see(&id) {
            return Err(unknown(&id));
        }
        let held = app.registry.open(&id).await?;
        let seen = match caller.prefix() {
            None => Arc::clone(&held),
            Some(prefix) => Arc::new(part_of(&held, prefix)?),
        };
        Ok((held, seen))
    };
    let (held, sandbox) = outcome.await.map_err(|err: Error| faces::problem(&err))?;
    docket.entered(&sandbox);
    let recorder = parts.extensions.get::<Recorder>().cloned().ok_or_else(stranger)?;
    let workspace = Workspace::new(sandbox, caller.role(), None).recorded(recorder);
    Ok(Some(Visit { app: Arc::clone(app), held, caller, workspace }))
}

/// A sandbox of which nothing is seen but what lies beneath a directory. Relative paths begin there.
fn part_of(sandbox: &Sandbox, prefix: &SandboxPath) -> engine::Result<Sandbox> {
    let files = sandbox.files.within(prefix)?;
    Ok(Sandbox { files, home: prefix.clone(), ..sandbox.clone() })
}

/// The id that an address names: `/v1/sandboxes/{id}`, and whatever follows. The router would read
/// the whole address at once, and what follows may be no text.
pub(crate) fn id_of(parts: &Parts) -> engine::Result<SandboxId> {
    id_in(&parts.uri)
}

/// The id that an address names, if it names one.
pub(crate) fn id_in(uri: &Uri) -> engine::Result<SandboxId> {
    let name = uri.path().split('/').nth(3).unwrap_or_default();
    let text = percent_decode_str(name).decode_utf8();
    // What cannot be an id is nobody's.
    let id = text.ok().and_then(|text| SandboxId::parse(&text).ok());
    id.ok_or_else(|| Error::new(ErrorKind::SandboxNotFound, "there is no such sandbox"))
}

/// The error of a sandbox that is not there for this caller.
pub(crate) fn unknown(id: &SandboxId) -> Error {
    Error::new(ErrorKind::SandboxNotFound, format!("there is no sandbox `{id}`"))
}

/// Somebody who may change files. Asked for before a body is read.
#[derive(Debug)]
pub(crate) struct MayChange;

impl FromRequestParts<Arc<App>> for MayChange {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().ok_or_else(stranger)?;
        demand(caller, Role::Developer, "change files").map_err(|err| faces::problem(&err))?;
        Ok(Self)
    }
}

/// Refuses a caller whose role is too small for what concerns no tree.
pub(crate) fn demand(caller: &Caller, needed: Role, what: &str) -> engine::Result<()> {
    if caller.role() >= needed {
        return Ok(());
    }
    let role = format!("{:?}", caller.role()).to_lowercase();
    Err(Error::new(ErrorKind::Forbidden, format!("the role {role} may not {what}")))
}

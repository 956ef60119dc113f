//! Whoever is refused is written down, whichever part of the server refused him.
//!
//! The passage to all guarded routes looks at the answers. What the engine or a deed wrote down
//! already is not written twice; everything else is, so that no route can forget to.

use std::sync::{Arc, OnceLock};

use axum::extract::{MatchedPath, Request};
use engine::{AuditEvent, AuditLog, ErrorKind, Outcome, Recorder, Sandbox, SandboxId};
use http::{Method, Uri};

use crate::app::App;
use crate::caller::Caller;
use crate::faces::{self, Subject};
use crate::observe;
use crate::problem::Told;

/// What becomes known of a request while it is answered.
#[derive(Debug, Default)]
pub(crate) struct Docket {
    caller: OnceLock<(Caller, Recorder)>,
    sandbox: OnceLock<Arc<Sandbox>>,
}

impl Docket {
    /// Whoever asks was let in.
    pub(crate) fn let_in(&self, caller: &Caller, recorder: &Recorder) {
        self.caller.get_or_init(|| (caller.clone(), recorder.clone()));
    }

    /// He is in a sandbox.
    pub(crate) fn entered(&self, sandbox: &Arc<Sandbox>) {
        self.sandbox.get_or_init(|| Arc::clone(sandbox));
    }
}

/// A request of which it is written down if it is refused.
#[derive(Debug)]
pub(crate) struct Witness {
    asked: Asked,
    docket: Docket,
}

impl Witness {
    /// Looks at a request before anybody decides on it.
    pub(crate) fn of(request: &Request) -> Self {
        Self { asked: Asked::of(request), docket: Docket::default() }
    }

    /// What becomes known of the request.
    pub(crate) fn docket(&self) -> &Docket {
        &self.docket
    }

    /// The request's id.
    pub(crate) fn id(&self) -> Option<Arc<str>> {
        self.asked.request.clone()
    }

    /// Writes down that the request was refused, if the problem that it was told is a refusal.
    pub(crate) async fn note(self, app: &App, told: &Told) {
        if let Some(refused) = Refused::of(&self.docket, &self.asked, told) {
            let log = refused.log(app).await;
            app.audit.record(log, refused.event(app)).await;
        }
    }
}

/// What a request asks for, as long as nothing else is known of it.
#[derive(Debug)]
struct Asked {
    route: Option<MatchedPath>,
    method: Method,
    uri: Uri,
    request: Option<Arc<str>>,
}

impl Asked {
    fn of(request: &Request) -> Self {
        Self {
            route: request.extensions().get::<MatchedPath>().cloned(),
            method: request.method().clone(),
            uri: request.uri().clone(),
            request: observe::id_in(request.headers()),
        }
    }

    fn route(&self) -> &str {
        self.route.as_ref().map_or("", MatchedPath::as_str)
    }
}

/// A request that was refused.
struct Refused<'a> {
    known: &'a Docket,
    asked: &'a Asked,
    outcome: Outcome,
    sandbox: Option<SandboxId>,
    /// Whether it came no further than the gate.
    is_outside: bool,
}

impl<'a> Refused<'a> {
    fn of(known: &'a Docket, asked: &'a Asked, told: &Told) -> Option<Self> {
        let is_written = |(_, recorder): &(Caller, Recorder)| Recorder::has_refused(recorder);
        if known.caller.get().is_some_and(is_written) {
            return None;
        }
        let named = faces::sandbox_in(asked.route(), &asked.uri).and_then(Result::ok);
        let inside = known.sandbox.get().map(|sandbox| sandbox.id.clone());
        let caller = known.caller.get().map(|(caller, _)| caller);
        let unseen = caller.is_some_and(|caller| {
            told.is_kind(ErrorKind::SandboxNotFound.word())
                && named.as_ref().is_some_and(|id| !caller.may_see(id))
        });
        let outcome = match (told.is_refusal, caller) {
            (true, _) => Outcome::Refused(told.reason.clone().into()),
            (false, _) if unseen => Outcome::Refused("the key may not see the sandbox".into()),
            // Whether he would have been let in could not be found out.
            (false, None) => Outcome::Failed(told.kind()?),
            (false, Some(_)) => return None,
        };
        let is_outside = caller.is_none() || unseen || told.is_kind("too_many_requests");
        Some(Self { known, asked, outcome, sandbox: inside.or(named), is_outside })
    }

    /// Where it is read from again. Nobody begins a log for a sandbox that was never there.
    async fn log(&self, app: &App) -> AuditLog {
        match &self.sandbox {
            _ if self.is_outside => AuditLog::Gate,
            Some(id) if app.registry.stat(id).await.is_ok() => AuditLog::Sandbox(id.clone()),
            Some(_) | None => AuditLog::Server,
        }
    }

    fn event(self, app: &App) -> AuditEvent {
        let Self { known, asked, outcome, sandbox, .. } = self;
        let operation = faces::operation(asked.route(), &asked.method).unwrap_or("request");
        let tree = known.sandbox.get().map(|sandbox| &**sandbox);
        let strip = app.strip_workspace_prefix;
        let Subject { path, id } = faces::subject(asked.route(), &asked.uri, tree, strip);
        let by = known.caller.get().and_then(|(caller, _)| caller.actor);
        let request = asked.request.clone();
        let event = AuditEvent::new(operation, outcome);
        AuditEvent { by, sandbox, path, subject: id, request, ..event }
    }
}

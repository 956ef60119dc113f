//! What is done to the server itself, written down.

use std::future::Future;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use engine::{Actor, AuditEvent, AuditLog, Error, ErrorKind, Outcome, Result, SandboxId};
use http::request::Parts;

use crate::app::App;
use crate::caller::Caller;
use crate::observe;
use crate::problem::Problem;
use crate::visit::stranger;

/// Somebody who is about to change what concerns more than one tree.
#[derive(Clone, Debug)]
pub(crate) struct Doer {
    app: Arc<App>,
    pub(crate) caller: Caller,
    request: Option<Arc<str>>,
}

impl FromRequestParts<Arc<App>> for Doer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(stranger)?;
        let request = observe::id_in(&parts.headers);
        Ok(Self { app: Arc::clone(app), caller, request })
    }
}

impl Doer {
    async fn check_still_good(&self) -> Result<()> {
        let Some(Actor::Key(id)) = self.caller.actor else { return Ok(()) };
        match self.app.keys.find(&id).await? {
            Some(_) => Ok(()),
            None => Err(Error::new(ErrorKind::Forbidden, "the key was revoked meanwhile")),
        }
    }

    /// Does something and writes down how it ended. What it is done to may only be known then.
    pub(crate) async fn does<T>(
        &self,
        operation: &'static str,
        sandbox: Option<&SandboxId>,
        work: impl Future<Output = Result<T>>,
        made: impl FnOnce(&T) -> Option<SandboxId>,
    ) -> Result<T> {
        // Whoever was let in may have taken his time to say what he wants.
        let outcome = match self.check_still_good().await {
            Ok(()) => work.await,
            Err(err) => Err(err),
        };
        let (ended, made) = match &outcome {
            Ok(done) => (Outcome::Done, made(done)),
            Err(err) if err.kind() == ErrorKind::Forbidden => {
                (Outcome::Refused(err.message().to_owned().into()), None)
            }
            Err(err) => (Outcome::Failed(Error::kind(err)), None),
        };
        let event = AuditEvent {
            by: self.caller.actor,
            sandbox: sandbox.cloned().or(made),
            request: self.request.clone(),
            ..AuditEvent::new(operation, ended)
        };
        self.app.audit.record(AuditLog::Server, event).await;
        outcome
    }
}

//! What is done to the server itself, written down.

use std::future::Future;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use engine::{
    Actor, AuditEvent, AuditLog, Error, ErrorKind, Outcome, Recorder, Result, SandboxId,
    SandboxPath, Told,
};
use http::request::Parts;

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::visit::stranger;

/// Somebody who is about to change what concerns more than one tree.
#[derive(Clone, Debug)]
pub(crate) struct Doer {
    app: Arc<App>,
    pub(crate) caller: Caller,
    recorder: Recorder,
}

impl FromRequestParts<Arc<App>> for Doer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(stranger)?;
        let recorder = parts.extensions.get::<Recorder>().cloned().ok_or_else(stranger)?;
        Ok(Self { app: Arc::clone(app), caller, recorder })
    }
}

/// Something that is about to be done.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    operation: &'static str,
    sandbox: Option<SandboxId>,
    subject: Option<Arc<str>>,
    path: Option<SandboxPath>,
    logs: Vec<AuditLog>,
}

impl Deed {
    /// Something that concerns the server.
    pub(crate) fn new(operation: &'static str) -> Self {
        let logs = vec![AuditLog::Server];
        Self { operation, sandbox: None, subject: None, path: None, logs }
    }

    /// Something that concerns one sandbox alone, in which the caller is.
    pub(crate) fn inside(operation: &'static str, sandbox: &SandboxId) -> Self {
        let logs = vec![AuditLog::Sandbox(sandbox.clone())];
        Self { sandbox: Some(sandbox.clone()), logs, ..Self::new(operation) }
    }

    /// The same, done to a sandbox.
    pub(crate) fn to(self, sandbox: &SandboxId) -> Self {
        Self { sandbox: Some(sandbox.clone()), ..self }.also_in(sandbox)
    }

    /// The same, about something that has an id.
    pub(crate) fn about(self, id: &str) -> Self {
        Self { subject: Some(id.into()), ..self }
    }

    /// The same, at a path.
    pub(crate) fn at(self, path: Option<SandboxPath>) -> Self {
        Self { path, ..self }
    }

    /// The same, told in the log of a sandbox as well.
    pub(crate) fn also_in(mut self, sandbox: &SandboxId) -> Self {
        self.logs.push(AuditLog::Sandbox(sandbox.clone()));
        self
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

    /// Does something and writes down how it ended. What it is done to may only be known then. If
    /// the caller goes away meanwhile, that is written down.
    pub(crate) async fn does<T>(
        &self,
        deed: Deed,
        work: impl Future<Output = Result<T>>,
        told: impl FnOnce(&T) -> Told,
    ) -> Result<T> {
        let Deed { operation, sandbox, subject, path, mut logs } = deed;
        if logs.first() == Some(&AuditLog::Server) {
            self.forget_missing(&mut logs).await;
        }
        let event = self.recorder.event(operation, Outcome::Abandoned);
        let pending = self.recorder.begin(logs, AuditEvent { sandbox, subject, path, ..event });
        // Whoever was let in may have taken his time to say what he wants.
        let outcome = match self.check_still_good().await {
            Ok(()) => work.await,
            Err(err) => Err(err),
        };
        pending.end(outcome.as_ref().map(told)).await;
        outcome
    }

    /// Nobody begins a log for a sandbox that was never there.
    async fn forget_missing(&self, logs: &mut Vec<AuditLog>) {
        let mut there = Vec::new();
        for log in logs.drain(..) {
            let is_there = match &log {
                AuditLog::Sandbox(id) => self.app.registry.stat(id).await.is_ok(),
                AuditLog::Server | AuditLog::Gate => true,
            };
            there.extend(is_there.then_some(log));
        }
        *logs = there;
    }
}

#[cfg(test)]
mod tests {
    use engine::{Limits, Sandbox, Store};
    use futures::FutureExt as _;

    use super::*;
    use crate::options::{Access, Options};

    #[tokio::test]
    async fn a_deed_whose_doer_goes_away_in_the_middle_is_written_down() {
        let (id, root) = (SandboxId::parse("main").unwrap(), SandboxPath::root());
        let files = Store::in_memory().create(&id, Limits::default()).await.unwrap();
        let sandbox = Sandbox {
            id,
            files: Arc::new(files),
            prefix: root.clone(),
            home: root,
            is_system: false,
        };
        let app = App::new(sandbox, Options::new(Access::Open)).unwrap();
        let recorder = Recorder::new(app.audit.clone(), Some(Actor::Token), Some("r-1".into()));
        let caller = Caller::owner(Some(Actor::Token));
        let doer = Doer { app: Arc::clone(&app), caller, recorder };
        let endless = std::future::pending::<Result<()>>();
        let deed = Deed::new("revoke_key").about("abcdefghij01");
        let mut doing = Box::pin(doer.does(deed, endless, |()| Told::default()));
        assert!(doing.as_mut().now_or_never().is_none());
        drop(doing);
        let page = app.audit.events(&AuditLog::Server, None, 9).await.unwrap();
        let [event] = &page.events[..] else { panic!("{:?}", page.events) };
        assert_eq!((&*event.operation, &event.outcome), ("revoke_key", &Outcome::Abandoned));
        assert_eq!(event.subject.as_deref(), Some("abcdefghij01"));
    }
}

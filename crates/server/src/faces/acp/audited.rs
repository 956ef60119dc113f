//! What is asked here, as the audit tells it.
//!
//! What the engine does is written down by the engine. A method that this face itself refuses is
//! written down here, because its answer is a success of HTTP.

use engine::{AuditEvent, AuditLog, Outcome, Recorder};
use http::Method as Verb;

use super::arguments::Arguments;
use super::methods::Method;
use crate::faces::{Subject, spelled};
use crate::problem::Problem;
use crate::visit::Visit;

const OPERATIONS: &[(&str, &str, &str)] = &[
    ("POST", "/v2/rpc", "call"),
    ("GET", "/v2/rpc", "listen"),
    ("HEAD", "/v2/rpc", "listen"),
    ("DELETE", "/v2/rpc", "close_connection"),
    ("GET", "/v2/fs/file", "read"),
    ("HEAD", "/v2/fs/file", "read"),
    ("PUT", "/v2/fs/file", "write"),
    ("POST", "/v2/fs/upload-batch", "unpack"),
];

/// What a request of a route is called.
pub(in crate::faces) fn operation(route: &str, verb: &Verb) -> Option<&'static str> {
    let mut rows = OPERATIONS.iter();
    rows.find(|(known, at, _)| verb == known && *at == route).map(|(_, _, word)| *word)
}

/// What a call is about, as it was spelled.
pub(super) fn subject(visit: &Visit, arguments: &Arguments) -> Subject {
    let names = ["path", "from", "cwd", "sessionId", "session_id"];
    let Some(text) = names.into_iter().find_map(|name| arguments.peek(name)) else {
        return Subject::default();
    };
    let sandbox = visit.workspace.sandbox();
    match text.starts_with('/').then(|| sandbox.locate(text).ok()).flatten() {
        Some(path) => Subject { path: Some(path), id: None },
        None => Subject { path: None, id: spelled(text) },
    }
}

/// Writes down that a method was refused, if it was and nobody has.
pub(super) async fn note(
    visit: &Visit,
    recorder: &Recorder,
    method: Method,
    subject: Subject,
    problem: &Problem,
) {
    let told = problem.told();
    if !told.is_refusal || recorder.has_refused() {
        return;
    }
    let sandbox = visit.workspace.sandbox().id.clone();
    let event = recorder.event(method.audited(), Outcome::Refused(told.reason.into()));
    let Subject { path, id } = subject;
    let event = AuditEvent { sandbox: Some(sandbox.clone()), path, subject: id, ..event };
    visit.audit.record(AuditLog::Sandbox(sandbox), event).await;
}

//! A session, as it is told.

use engine::{Session, UnixTime};
use serde_json::{Map, Value, json};

use crate::dates;
use crate::visit::Visit;

/// The note that says which agent a session is for.
pub(super) const AGENT: &str = "agent";

/// A session as `_sandboxagent/session/get` tells it.
pub(super) fn info(visit: &Visit, session: &Session) -> Value {
    let mut info = json!({
        "agentMode": "build",
        "createdAt": milliseconds(session.created),
        "directory": visit.workspace.sandbox().outward(&session.directory),
        "ended": session.ended,
        "eventCount": session.events,
        "permissionMode": "default",
        "sessionId": &*session.id,
        "updatedAt": milliseconds(session.updated),
    });
    if let Some(fields) = info.as_object_mut() {
        // What a client noted comes first, but not before what is so.
        let noted = notes(session).filter(|(name, _)| !is_fact(name));
        fields.extend(noted);
        if session.ended {
            let ended = json!({"reason": "terminated", "terminatedBy": "daemon"});
            fields.insert("terminationInfo".to_owned(), ended);
        }
    }
    info.sort_all_objects();
    info
}

/// A session as ACP tells it.
pub(super) fn in_acp(visit: &Visit, session: &Session) -> Value {
    let mut ours: Map<String, Value> = notes(session).filter(|(name, _)| !is_fact(name)).collect();
    ours.insert("createdAt".to_owned(), json!(milliseconds(session.created)));
    ours.insert("updatedAt".to_owned(), json!(milliseconds(session.updated)));
    ours.insert("ended".to_owned(), json!(session.ended));
    ours.insert("eventCount".to_owned(), json!(session.events));
    let mut told = json!({
        "cwd": visit.workspace.sandbox().outward(&session.directory),
        "sessionId": &*session.id,
        "updatedAt": dates::rfc3339(session.updated),
    });
    if let (Some(fields), Some(title)) = (told.as_object_mut(), ours.get("title")) {
        fields.insert("title".to_owned(), title.clone());
    }
    if let Some(fields) = told.as_object_mut() {
        fields.insert("_meta".to_owned(), json!({"sandboxagent.dev": ours}));
    }
    told.sort_all_objects();
    told
}

/// The agent that a session is for, if it was opened for one.
pub(in crate::faces::acp) fn agent_of(session: &Session) -> Option<String> {
    session.notes.get(AGENT).and_then(|text| serde_json::from_str(text).ok())
}

/// A text as a note.
pub(super) fn text_of(text: &str) -> String {
    Value::from(text).to_string()
}

/// What a client noted, as it sent it.
fn notes(session: &Session) -> impl Iterator<Item = (String, Value)> {
    let read = |text: &String| serde_json::from_str(text).unwrap_or_default();
    session.notes.iter().map(move |(name, text)| (name.clone(), read(text)))
}

/// Whether the server itself says what a field is.
fn is_fact(name: &str) -> bool {
    let facts = ["createdAt", "directory", "ended", "eventCount", "sessionId", "updatedAt"];
    facts.contains(&name) || name == "terminationInfo"
}

fn milliseconds(time: UnixTime) -> i64 {
    time.seconds.saturating_mul(1000).saturating_add(i64::from(time.nanoseconds / 1_000_000))
}

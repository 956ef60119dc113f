//! Sessions by method. They are the same that `/v1/sessions` opens.

mod info;
mod opening;

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine::{Session, SessionPage};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::connections::Connection;
use super::rpc::Outcome;
use crate::faces::fs_v1::session_problem;
use crate::problem::Problem;
use crate::visit::Visit;

pub(super) use info::agent_of;
pub(super) use opening::{fork, load, new};

/// How many sessions one answer names.
const PAGE: usize = 200;
/// What followers of a session are told when it ends.
const ENDED: &str = "_sandboxagent/session/ended";

/// `session/list`: as ACP tells of sessions.
pub(super) fn list(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let directory = asked.optional("cwd")?;
    let directory = directory.map(|cwd| opening::directory(visit, &cwd)).transpose()?;
    let (page, cursor) = page(visit, &mut asked, |session| {
        directory.as_ref().is_none_or(|directory| session.directory == *directory)
    })?;
    let sessions: Vec<Value> =
        page.sessions.iter().map(|session| info::in_acp(visit, session)).collect();
    Ok(Outcome::Long(json!({"nextCursor": cursor, "sessions": sessions})))
}

/// `_sandboxagent/session/list`.
pub(super) fn infos(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let (page, cursor) = page(visit, &mut asked, |_| true)?;
    let sessions: Vec<Value> =
        page.sessions.iter().map(|session| info::info(visit, session)).collect();
    Ok(Outcome::Long(json!({"nextCursor": cursor, "sessions": sessions})))
}

/// `_sandboxagent/session/get`.
pub(super) fn info(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let id = asked.required_session()?;
    let session = visit.sessions.find(&visit.owner(), &id);
    let session = session.map_err(|err| session_problem(&err, &id))?;
    Ok(Outcome::Value(info::info(visit, &session)))
}

/// `_sandboxagent/session/terminate`. Files can still be asked for by the session's name.
pub(super) fn terminate(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let (owner, id) = (visit.owner(), asked.required_session()?);
    let failed = |err| session_problem(&err, &id);
    let had_ended = visit.sessions.end(&owner, &id).map_err(failed)?;
    if !had_ended {
        let data = json!({"reason": "terminated", "terminated_by": "daemon"});
        let params = json!({"data": data, "session_id": id});
        let notice = json!({"jsonrpc": "2.0", "method": ENDED, "params": params});
        visit.connections.tell_end(owner.by, &id, &notice);
        visit.sessions.count_event(&owner, &id).map_err(failed)?;
    }
    Ok(Outcome::Value(json!({
        "alreadyEnded": had_ended,
        "reason": "terminated",
        "terminated": !had_ended,
        "terminatedBy": "daemon",
    })))
}

/// `_sandboxagent/session/detach`: the connection is told no more of the session.
pub(super) fn detach(
    visit: &Visit,
    connection: &Connection,
    mut asked: Arguments,
) -> Result<Outcome, Problem> {
    let id = asked.required_session()?;
    // Also of one that is not there any more.
    connection.leave(&id);
    let session = visit.sessions.find(&visit.owner(), &id);
    session.map_err(|err| session_problem(&err, &id))?;
    Ok(Outcome::Value(json!({})))
}

/// `_sandboxagent/session/set_metadata`: what is null is forgotten.
pub(super) fn set_metadata(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let id = asked.required_session()?;
    let metadata = asked.object("metadata")?.ok_or_else(|| {
        Problem::invalid_request(&format!("{} requires params.metadata", asked.method()))
            .hint("send `metadata` as an object")
    })?;
    if metadata.contains_key(info::AGENT) {
        return Err(Problem::invalid_request("the agent of a session cannot be changed")
            .hint("open another session for another agent"));
    }
    let changes: BTreeMap<_, _> = metadata
        .into_iter()
        .map(|(name, value)| (name, (!value.is_null()).then(|| value.to_string())))
        .collect();
    let changed = visit.sessions.note(&visit.owner(), &id, changes);
    changed.map_err(|err| session_problem(&err, &id))?;
    Ok(Outcome::Value(json!({})))
}

/// One page of the caller's sessions, and where the next begins.
fn page(
    visit: &Visit,
    asked: &mut Arguments,
    chosen: impl Fn(&Session) -> bool,
) -> Result<(SessionPage, Option<String>), Problem> {
    let after = asked.optional("cursor")?.map(|cursor| id_in(&cursor)).transpose()?;
    let page = visit.sessions.list(&visit.owner(), after.as_deref(), PAGE, chosen);
    let last = page.sessions.last().filter(|_| page.more);
    let cursor = last.map(|session| URL_SAFE_NO_PAD.encode(session.id.as_bytes()));
    Ok((page, cursor))
}

fn id_in(cursor: &str) -> Result<String, Problem> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
        Problem::invalid_request("params.cursor is no cursor of this server")
            .hint("send the nextCursor of the page before, or leave it out")
    })
}

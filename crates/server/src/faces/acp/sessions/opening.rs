//! `session/new`, `session/load`, `session/resume` and `session/fork`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{ErrorKind, SandboxPath, Session};
use serde_json::{Value, json};
use uuid::Uuid;

use super::info::{AGENT, text_of};
use crate::faces::acp::arguments::Arguments;
use crate::faces::acp::connections::Connection;
use crate::faces::acp::greeting;
use crate::faces::acp::rpc::Outcome;
use crate::faces::fs_v1::sessions::usual_directory;
use crate::faces::fs_v1::{problem, session_problem};
use crate::problem::Problem;
use crate::visit::Visit;

/// How many counted ids are tried before a random one is taken.
const TRIES: usize = 16;

/// `session/new`: by the id that the client wants, if it wants one.
pub(in crate::faces::acp) fn new(
    visit: &Visit,
    connection: &Connection,
    asked: Arguments,
) -> Result<Outcome, Problem> {
    let Wish { directory, id, notes } = Wish::read(visit, connection, asked)?;
    connection.check_room(id.as_deref())?;
    let directory = directory.unwrap_or_else(|| usual_directory(visit));
    let session = match id {
        Some(id) => create(visit, &id, directory, notes)?,
        None => create_somewhere(visit, connection.agent, &directory, &notes)?,
    };
    opened(connection, &session)
}

/// `session/load` and `session/resume`: a session that is not there is opened by that id.
pub(in crate::faces::acp) fn load(
    visit: &Visit,
    connection: &Connection,
    mut asked: Arguments,
) -> Result<Outcome, Problem> {
    let id = asked.required_session()?;
    let Wish { directory, notes, .. } = Wish::read(visit, connection, asked)?;
    connection.check_room(Some(&id))?;
    let resumed = visit.sessions.resume(&visit.owner(), &id, directory.clone());
    let session = match resumed {
        Ok(session) => session,
        Err(err) if err.kind() == ErrorKind::SessionNotFound => {
            create(visit, &id, directory.unwrap_or_else(|| usual_directory(visit)), notes)?
        }
        Err(err) => return Err(session_problem(&err, &id)),
    };
    opened(connection, &session)
}

/// `session/fork`: another session that begins as one is.
pub(in crate::faces::acp) fn fork(
    visit: &Visit,
    connection: &Connection,
    mut asked: Arguments,
) -> Result<Outcome, Problem> {
    let id = asked.required_session()?;
    let origin = visit.sessions.find(&visit.owner(), &id);
    let origin = origin.map_err(|err| session_problem(&err, &id))?;
    let wish = Wish::read(visit, connection, asked)?;
    connection.check_room(wish.id.as_deref())?;
    let directory = wish.directory.unwrap_or(origin.directory);
    let mut notes = origin.notes;
    notes.extend(wish.notes);
    let session = match wish.id {
        Some(id) => create(visit, &id, directory, notes)?,
        None => create_somewhere(visit, connection.agent, &directory, &notes)?,
    };
    opened(connection, &session)
}

/// What a client wants of a session.
struct Wish {
    directory: Option<SandboxPath>,
    id: Option<String>,
    /// Each as JSON.
    notes: BTreeMap<String, String>,
}

impl Wish {
    fn read(visit: &Visit, connection: &Connection, mut asked: Arguments) -> Result<Self, Problem> {
        let cwd = asked.optional("cwd")?;
        let directory = cwd.map(|cwd| directory(visit, &cwd)).transpose()?;
        refuse_servers(asked.take("mcpServers"))?;
        let mut meta = asked.meta()?;
        let id = meta.optional("requestedSessionId")?;
        let agent = match meta.optional(AGENT)? {
            Some(name) => greeting::agent(&name)?,
            None => connection.agent,
        };
        let rest = meta.rest().into_iter().filter(|(_, value)| !value.is_null());
        let mut notes: BTreeMap<String, String> =
            rest.map(|(name, value)| (name, value.to_string())).collect();
        notes.insert(AGENT.to_owned(), text_of(agent));
        Ok(Self { directory, id, notes })
    }
}

/// The directory that a client means: absolute, as the sandbox sees it.
pub(super) fn directory(visit: &Visit, cwd: &str) -> Result<SandboxPath, Problem> {
    if !cwd.starts_with('/') {
        return Err(Problem::invalid_request("params.cwd must be an absolute path")
            .hint("leave it out to work in the server's directory"));
    }
    // Whoever asks for everything that there is means the whole sandbox.
    if cwd.bytes().all(|byte| byte == b'/') {
        return Ok(SandboxPath::root());
    }
    visit.workspace.sandbox().locate(cwd).map_err(|err| problem(&err))
}

fn refuse_servers(servers: Option<Value>) -> Result<(), Problem> {
    match servers {
        None => Ok(()),
        Some(Value::Array(servers)) if servers.is_empty() => Ok(()),
        Some(_) => Err(Problem::invalid_request("this server connects no agent to MCP servers")
            .kind("unsupported")
            .hint("send an empty array as mcpServers")),
    }
}

fn create(
    visit: &Visit,
    id: &str,
    directory: SandboxPath,
    notes: BTreeMap<String, String>,
) -> Result<Session, Problem> {
    let created = visit.sessions.create(&visit.owner(), id, directory, notes);
    created.map_err(|err| session_problem(&err, id))
}

/// Opens a session by an id that nobody chose.
fn create_somewhere(
    visit: &Visit,
    agent: &str,
    directory: &SandboxPath,
    notes: &BTreeMap<String, String>,
) -> Result<Session, Problem> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    for _ in 0..TRIES {
        let id = format!("{agent}-session-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let created = visit.sessions.create(&visit.owner(), &id, directory.clone(), notes.clone());
        match created {
            Err(err) if err.kind() == ErrorKind::SessionExists => {}
            created => return created.map_err(|err| session_problem(&err, &id)),
        }
    }
    let id = format!("{agent}-session-{}", Uuid::new_v4().simple());
    create(visit, &id, directory.clone(), notes.clone())
}

fn opened(connection: &Connection, session: &Session) -> Result<Outcome, Problem> {
    connection.follow(&session.id)?;
    Ok(Outcome::Value(json!({
        "availableModes": [],
        "configOptions": [],
        "sessionId": &*session.id,
    })))
}

//! The agent that the server brings: it says back what it is told, and deals with the client's files
//! when it is asked to, so that both directions of the protocol can be tried without a model.
//!
//! It touches nothing of the server: files are read and written by the client, where the client says
//! that it can. It is pure: a message and the time go in, messages come out.

mod memory;
mod speech;
mod turn;
mod wish;

use std::collections::HashMap;
use std::time::Instant;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, AgentCapabilities, CancelNotification, FileSystemCapabilities,
    Implementation, InitializeRequest, InitializeResponse, LoadSessionRequest, LoadSessionResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, SessionId, StopReason,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::memory::Memory;
use self::speech::{Speaker, json};
use self::turn::{Flow, Scene, Turn};
use super::Said;
use crate::jsonrpc::{Call, Failure, Id, Message, Reply};

/// How many sessions one client may have.
const MOST_SESSIONS: usize = 64;
/// How many of them may be in a turn at once.
const MOST_TURNS: usize = 8;
/// The longest id of a session, and the longest directory.
const LONGEST_ID: usize = 256;
const LONGEST_DIRECTORY: usize = 4096;
/// What the protocol says of a session that is not there.
const NOT_FOUND: i64 = -32002;

/// The mock, as one client meets it.
#[derive(Debug, Default)]
pub(crate) struct Mock {
    client: FileSystemCapabilities,
    sessions: HashMap<SessionId, Session>,
    opened: u64,
    /// How often a session was adopted by now.
    adopted: u64,
    requests: u64,
}

#[derive(Debug)]
struct Session {
    directory: String,
    memory: Memory,
    turn: Option<Turn>,
    /// When it was last adopted.
    adopted: u64,
}

impl Session {
    fn new(directory: String) -> Self {
        Self { directory, memory: Memory::default(), turn: None, adopted: 0 }
    }
}

impl Mock {
    /// Takes a message. What it says about it comes back in the order in which it is said.
    pub(crate) fn hear(&mut self, message: Message, now: Instant) -> Vec<Said> {
        let mut said = Vec::new();
        match message {
            Message::Request(id, call) => self.request(id, call, now, &mut said),
            Message::Notification(call) => self.notification(call, now, &mut said),
            Message::Response(id, outcome) => self.response(&id, &outcome, now, &mut said),
            Message::Invalid(reply) => said.push(Said::Reply(Id::Null, reply)),
        }
        said
    }

    /// When it has something to say of its own accord, if nobody says anything before.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let turns = self.sessions.values().filter_map(|session| session.turn.as_ref());
        turns.filter_map(Turn::deadline).min()
    }

    /// Takes note of the time.
    pub(crate) fn passed(&mut self, now: Instant) -> Vec<Said> {
        let is_due = |session: &Session| {
            let deadline = session.turn.as_ref().and_then(Turn::deadline);
            deadline.is_some_and(|deadline| deadline <= now)
        };
        let due = self.sessions.iter().filter(|(_, session)| is_due(session));
        let due: Vec<SessionId> = due.map(|(id, _)| id.clone()).collect();
        let mut said = Vec::new();
        for id in due {
            self.in_turn(&id, now, &mut said, Turn::passed);
        }
        said
    }

    /// Makes a session known that somebody else opened, or where it works by now. Whoever adopts
    /// does so before every prompt: the one that was not wanted for longest is forgotten for a new one.
    pub(crate) fn adopt(&mut self, id: &str, directory: &str) {
        let id = SessionId::new(id);
        if !self.sessions.contains_key(&id) && self.check_room().is_err() {
            let quiet = self.sessions.iter().filter(|(_, session)| session.turn.is_none());
            let oldest = quiet.min_by_key(|(_, session)| session.adopted);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                self.sessions.remove(&oldest);
            }
        }
        self.adopted += 1;
        let session = self.sessions.entry(id).or_insert_with(|| Session::new(String::new()));
        session.adopted = self.adopted;
        directory.clone_into(&mut session.directory);
    }

    /// Whether a session is in a turn.
    pub(crate) fn is_in_turn(&self, id: &str) -> bool {
        self.sessions.get(&SessionId::new(id)).is_some_and(|session| session.turn.is_some())
    }

    /// Ends the turn of a session, if it is in one.
    pub(crate) fn cancel(&mut self, id: &str, now: Instant) -> Vec<Said> {
        let mut said = Vec::new();
        self.in_turn(&SessionId::new(id), now, &mut said, cancelled);
        said
    }

    /// Ends all turns, and forgets all sessions.
    pub(crate) fn end(&mut self, now: Instant) -> Vec<Said> {
        let (ids, mut said): (Vec<_>, _) = (self.sessions.keys().cloned().collect(), Vec::new());
        for id in ids {
            self.in_turn(&id, now, &mut said, cancelled);
        }
        self.sessions.clear();
        said
    }

    /// Forgets a session. A turn that it is in is cancelled.
    pub(crate) fn forget(&mut self, id: &str, now: Instant) -> Vec<Said> {
        let (id, mut said) = (SessionId::new(id), Vec::new());
        self.in_turn(&id, now, &mut said, cancelled);
        self.sessions.remove(&id);
        said
    }

    /// Whether it asked its client something by this id, and waits for the answer.
    pub(crate) fn awaits(&self, id: &Id) -> bool {
        let mut turns = self.sessions.values().filter_map(|session| session.turn.as_ref());
        turns.any(|turn| turn.awaits(id))
    }

    fn request(&mut self, id: Id, call: Call, now: Instant, said: &mut Vec<Said>) {
        let names = AGENT_METHOD_NAMES;
        let outcome = match call.method.as_str() {
            method if method == names.initialize => self.initialize(call),
            method if method == names.session_new => self.open(call),
            method if method == names.session_load => self.load(call, said),
            method if method == names.session_prompt => {
                // It is answered when its turn ends.
                match self.prompt(id.clone(), call, now, said) {
                    Ok(()) => return,
                    Err(failure) => Err(failure),
                }
            }
            method => Err(Failure::method_not_found(method)),
        };
        let reply = match outcome {
            Ok(result) => Reply::result(id.clone(), result),
            Err(failure) => Reply::failed(id.clone(), failure),
        };
        said.push(Said::Reply(id, reply));
    }

    fn notification(&mut self, call: Call, now: Instant, said: &mut Vec<Said>) {
        // Nobody is told what is wrong with a notification.
        if call.method == AGENT_METHOD_NAMES.session_cancel
            && let Ok(CancelNotification { session_id, .. }) = params(call)
        {
            self.in_turn(&session_id, now, said, cancelled);
        }
    }

    /// An answer to what nobody asked, or does not wait for any more, means nothing.
    fn response(
        &mut self,
        id: &Id,
        outcome: &Result<Value, Value>,
        now: Instant,
        said: &mut Vec<Said>,
    ) {
        let awaits = |session: &Session| session.turn.as_ref().is_some_and(|turn| turn.awaits(id));
        let found = self.sessions.iter().find(|(_, session)| awaits(session));
        if let Some(session) = found.map(|(id, _)| id.clone()) {
            self.in_turn(&session, now, said, |turn, scene| turn.answered(outcome, scene));
        }
    }

    fn initialize(&mut self, call: Call) -> Result<Value, Failure> {
        let request: InitializeRequest = params(call)?;
        self.client = request.client_capabilities.fs;
        let me = Implementation::new("mock", env!("CARGO_PKG_VERSION")).title("Sandkeep's mock");
        Ok(json(
            // One version is spoken, whichever the client would like.
            InitializeResponse::new(ProtocolVersion::V1)
                .agent_capabilities(AgentCapabilities::new().load_session(true))
                .agent_info(me),
        ))
    }

    fn open(&mut self, call: Call) -> Result<Value, Failure> {
        let NewSessionRequest { cwd, .. } = params(call)?;
        let directory = directory(cwd.to_str())?;
        self.check_room()?;
        self.opened += 1;
        let id = SessionId::new(format!("mock-session-{}", self.opened));
        self.sessions.insert(id.clone(), Session::new(directory));
        Ok(json(NewSessionResponse::new(id)))
    }

    fn load(&mut self, call: Call, said: &mut Vec<Said>) -> Result<Value, Failure> {
        let LoadSessionRequest { session_id, cwd, .. } = params(call)?;
        let directory = directory(cwd.to_str())?;
        let session = self.sessions.get_mut(&session_id);
        let session = session.ok_or_else(|| unknown(&session_id))?;
        session.directory = directory;
        let recalled = session.memory.recall();
        said.extend(recalled.map(|(speaker, text)| speech::update(&session_id, speaker, text)));
        Ok(json(LoadSessionResponse::new()))
    }

    fn prompt(
        &mut self,
        id: Id,
        call: Call,
        now: Instant,
        said: &mut Vec<Said>,
    ) -> Result<(), Failure> {
        let PromptRequest { session_id, prompt, .. } = params(call)?;
        let words = wish::words(&prompt)?;
        let turns = self.sessions.values().filter(|session| session.turn.is_some()).count();
        let session = self.sessions.get_mut(&session_id);
        let session = session.ok_or_else(|| unknown(&session_id))?;
        if session.turn.is_some() {
            return Err(in_a_turn());
        }
        if turns >= MOST_TURNS {
            let message = format!("{MOST_TURNS} sessions are in a turn, which is the most");
            return Err(Failure::invalid_request(message));
        }
        session.turn = Some(Turn::new(id, &words));
        session.memory.keep(Speaker::Client, words);
        self.in_turn(&session_id, now, said, Turn::go_on);
        Ok(())
    }

    /// Does something with the turn of a session, if it is in one.
    fn in_turn(
        &mut self,
        id: &SessionId,
        now: Instant,
        said: &mut Vec<Said>,
        act: impl FnOnce(&mut Turn, &mut Scene<'_>) -> Flow,
    ) {
        let Self { client, sessions, requests, .. } = self;
        let Some(Session { directory, memory, turn, .. }) = sessions.get_mut(id) else { return };
        let Some(under_way) = turn else { return };
        let mut scene = Scene { session: id, directory, client, memory, requests, said, now };
        if act(under_way, &mut scene) == Flow::Ended {
            *turn = None;
        }
    }

    fn check_room(&self) -> Result<(), Failure> {
        if self.sessions.len() < MOST_SESSIONS {
            return Ok(());
        }
        let message = format!("{MOST_SESSIONS} sessions are open, which is the most");
        Err(Failure::invalid_request(message))
    }
}

/// Ends a turn because its client wants it to end.
fn cancelled(turn: &mut Turn, scene: &mut Scene<'_>) -> Flow {
    turn.end(StopReason::Cancelled, scene);
    Flow::Ended
}

/// The failure of a prompt in a session that is in a turn.
pub(in crate::faces::acp) fn in_a_turn() -> Failure {
    let message = "the session is in a turn: wait for its end, or send session/cancel";
    Failure::invalid_request(message)
}

/// What a method is called with.
fn params<T: DeserializeOwned>(call: Call) -> Result<T, Failure> {
    let Call { method, params } = call;
    let params = params.unwrap_or_else(|| json!({}));
    serde_json::from_value(params)
        .map_err(|err| Failure::invalid_params(format!("{method}: {err}")))
}

/// The protocol demands absolute paths, so that both sides mean the same.
fn directory(text: Option<&str>) -> Result<String, Failure> {
    match text {
        Some(text) if text.starts_with('/') && text.len() <= LONGEST_DIRECTORY => {
            Ok(text.to_owned())
        }
        Some(_) | None => {
            let message = format!(
                "cwd must be an absolute path of at most {LONGEST_DIRECTORY} bytes, such as /"
            );
            Err(Failure::invalid_params(message))
        }
    }
}

fn unknown(id: &SessionId) -> Failure {
    let shown: String = id.0.chars().take(LONGEST_ID).collect();
    Failure::new(NOT_FOUND, format!("session not found: {shown}"))
        .with_data(json!({"sessionId": shown}))
}

#[cfg(test)]
mod tests;

//! Whose a session is, how many there are, and how long they are kept.
//!
//! A session belongs to the key that opened it, in the sandbox in which it did. To everybody else it is
//! not there.

use std::collections::HashMap;
use std::sync::Arc;

use engine::SessionOwner;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use parking_lot::Mutex;
use tokio::time::Instant;
use uuid::Uuid;

use crate::options::AgentRoom;
use crate::problem::{Class, Problem};

/// How many answers of one session are under way at a time: requests, and streams of events.
const MOST_ANSWERS: usize = 512;

/// The sessions of a server, by their ids.
#[derive(Debug)]
pub(super) struct Owners {
    room: AgentRoom,
    open: Mutex<HashMap<Arc<str>, Arc<Session>>>,
}

/// A session that somebody opened.
#[derive(Debug)]
pub(super) struct Session {
    owner: SessionOwner,
    use_of_it: Mutex<Use>,
}

/// When it was used last, and how many answers are under way: whoever listens uses it.
#[derive(Clone, Copy, Debug)]
struct Use {
    last: Instant,
    answers: usize,
}

/// A place for a session that is about to be opened. It is given back unless it is taken.
#[derive(Debug)]
pub(super) struct Place<'a> {
    owners: &'a Owners,
    id: Arc<str>,
}

/// An answer that is under way.
#[derive(Debug)]
pub(super) struct InUse(Arc<Session>);

impl Owners {
    pub(super) fn new(room: AgentRoom) -> Self {
        Self { room, open: Mutex::default() }
    }

    /// A place for another session of somebody.
    pub(super) fn place(&self, owner: SessionOwner) -> Result<Place<'_>, Problem> {
        let mut open = self.open.lock();
        let of_all = open.len() >= self.room.most;
        let own = open.values().filter(|session| session.owner.by == owner.by).count();
        if of_all || own >= self.room.each {
            let whose = if of_all { "the server" } else { "the key" };
            return Err(too_many(&format!("{whose} has as many MCP sessions open as it may")));
        }
        let id: Arc<str> = Uuid::new_v4().to_string().into();
        let now = Use { last: Instant::now(), answers: 0 };
        let session = Session { owner, use_of_it: Mutex::new(now) };
        open.insert(Arc::clone(&id), Arc::new(session));
        Ok(Place { owners: self, id })
    }

    /// The session of this id, if it is his who asks for it.
    pub(super) fn find(&self, owner: &SessionOwner, id: &str) -> Result<Arc<Session>, Problem> {
        match self.open.lock().get(id) {
            Some(session) if session.owner == *owner => {
                session.use_of_it.lock().last = Instant::now();
                Ok(Arc::clone(session))
            }
            // The same words, but it is written down.
            Some(_) => Err(unknown().refusal()),
            None => Err(unknown()),
        }
    }

    /// Forgets a session that has ended.
    pub(super) fn forget(&self, id: &str) {
        self.open.lock().remove(id);
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Waits until nobody has used a session for long, or it is not there any more.
    pub(super) async fn idleness(&self, id: &str) {
        loop {
            let Some(session) = self.open.lock().get(id).cloned() else { return };
            let Use { last, answers } = *session.use_of_it.lock();
            let since = if answers > 0 { Instant::now() } else { last };
            if since.elapsed() >= self.room.idle {
                return;
            }
            drop(session);
            tokio::time::sleep_until(since + self.room.idle).await;
        }
    }
}

impl Place<'_> {
    /// Gives the place to the session of this id.
    pub(super) fn take(self, id: &Arc<str>) {
        let mut open = self.owners.open.lock();
        if let Some(session) = open.remove(&self.id) {
            open.insert(Arc::clone(id), session);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.owners.forget(&self.id);
    }
}

impl InUse {
    /// An answer of a session begins, unless too many are under way.
    pub(super) fn begin(session: Arc<Session>) -> Result<Self, Problem> {
        if session.use_of_it.lock().answers >= MOST_ANSWERS {
            let message = format!("at most {MOST_ANSWERS} answers of a session are under way");
            return Err(too_many(&message).hint("wait for answers before you ask for more"));
        }
        Ok(Self::of(session))
    }

    /// An answer of a session begins.
    pub(super) fn of(session: Arc<Session>) -> Self {
        session.use_of_it.lock().answers += 1;
        Self(session)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut use_of_it = self.0.use_of_it.lock();
        *use_of_it = Use { last: Instant::now(), answers: use_of_it.answers.saturating_sub(1) };
    }
}

/// The problem of a session that is not there, or is another's.
pub(super) fn unknown() -> Problem {
    Problem::plain(StatusCode::NOT_FOUND, Class::SESSION_NOT_FOUND, "there is no such MCP session")
        .kind("session_not_found")
        .hint("begin another: POST /mcp with initialize and without Mcp-Session-Id")
}

fn too_many(message: &str) -> Problem {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, Class::LIMIT_EXCEEDED, message)
        .message(message)
        .kind("too_many_requests")
        .hint("close sessions that are not needed with DELETE /mcp, or use the protocol of 2026-07-28, which has none")
        .header(RETRY_AFTER, HeaderValue::from_static("60"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engine::{Actor, KeyId, SandboxId};

    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    fn owners(most: usize, each: usize) -> Owners {
        Owners::new(AgentRoom { most, each, idle: IDLE })
    }

    fn owner(key: &str, sandbox: &str) -> SessionOwner {
        let by = Some(Actor::Key(KeyId::parse(key).unwrap()));
        SessionOwner { by, sandbox: SandboxId::parse(sandbox).unwrap() }
    }

    fn open(owners: &Owners, owner: SessionOwner, id: &str) -> Result<(), String> {
        let place = owners.place(owner).map_err(|it| it.details().kind.clone().unwrap())?;
        place.take(&id.into());
        Ok(())
    }

    #[tokio::test]
    async fn a_session_is_of_one_key_in_one_sandbox() {
        let owners = owners(9, 9);
        let one = owner("aaaaaaaaaaaa", "box");
        open(&owners, one.clone(), "s").unwrap();
        assert!(owners.find(&one, "s").is_ok());
        let nobodys = owners.find(&one, "t").unwrap_err();
        for other in [owner("bbbbbbbbbbbb", "box"), owner("aaaaaaaaaaaa", "other")] {
            let foreign = owners.find(&other, "s").unwrap_err();
            let told = |problem: &Problem| serde_json::to_value(problem.details()).unwrap();
            assert_eq!(told(&foreign), told(&nobodys));
            assert!(foreign.told().is_refusal && !nobodys.told().is_refusal);
        }
    }

    #[tokio::test]
    async fn their_number_is_bounded_for_each_key_and_for_all() {
        let owners = owners(3, 2);
        let (one, other) = (owner("aaaaaaaaaaaa", "box"), owner("bbbbbbbbbbbb", "box"));
        assert_eq!(open(&owners, one.clone(), "1"), Ok(()));
        assert_eq!(open(&owners, one.clone(), "2"), Ok(()));
        assert_eq!(open(&owners, one.clone(), "3"), Err("too_many_requests".to_owned()));
        assert_eq!(open(&owners, other.clone(), "4"), Ok(()));
        assert_eq!(open(&owners, other.clone(), "5"), Err("too_many_requests".to_owned()));
        owners.forget("1");
        // A place that is not taken is given back.
        drop(owners.place(other).unwrap());
        assert_eq!(open(&owners, one, "6"), Ok(()));
        assert_eq!(owners.count(), 3);
    }

    #[tokio::test]
    async fn so_many_answers_of_a_session_are_under_way_and_no_more() {
        let owners = owners(9, 9);
        let one = owner("aaaaaaaaaaaa", "box");
        open(&owners, one.clone(), "s").unwrap();
        let begin = || InUse::begin(owners.find(&one, "s").unwrap());
        let mut answers: Vec<_> = (0..MOST_ANSWERS).map(|_| begin().unwrap()).collect();
        assert_eq!(begin().unwrap_err().details().kind.as_deref(), Some("too_many_requests"));
        answers.pop();
        assert!(begin().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_neither_asks_nor_listens_is_idle() {
        let owners = owners(9, 9);
        let one = owner("aaaaaaaaaaaa", "box");
        open(&owners, one.clone(), "s").unwrap();
        let begin = Instant::now();
        let listening = InUse::of(owners.find(&one, "s").unwrap());
        let leaving = async {
            tokio::time::sleep(3 * IDLE).await;
            drop(listening);
        };
        tokio::join!(owners.idleness("s"), leaving);
        assert!(begin.elapsed() >= 4 * IDLE, "{:?}", begin.elapsed());
    }
}

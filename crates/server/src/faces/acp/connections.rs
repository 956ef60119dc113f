//! Who is connected. A connection is a name that a client calls itself by, and the messages for it.
//!
//! A connection belongs to whoever opened it. To everybody else it is not there, so that its number
//! needs no secret.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use engine::Actor;
use http::header::{HeaderName, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::time::Instant;
use uuid::Uuid;

use super::agents::agent::{Agent, Replies};
use super::outbox::{CommonStore, Outbox, OutboxRoom};
use crate::options::AgentRoom;
use crate::problem::{Class, Problem};

/// How a client says which connection is meant, and is told.
pub(super) const CONNECTION_ID: HeaderName = HeaderName::from_static("x-acp-connection-id");
/// What a client is told that wants to be sure: the id, and behind a dot what no other connection
/// has. Numbers begin anew with every server, and a client that comes back after that would find
/// another's connection under its own.
pub(super) const NAME_IN_FULL: HeaderName = HeaderName::from_static("x-acp-connection-name");
/// What a connection's id begins with.
const PREFIX: &str = "acp_conn_";
/// What is kept for a client that is away.
const OUTBOX: OutboxRoom = OutboxRoom { messages: 2048, bytes: 1024 * 1024 };
/// What is kept for all clients together, beyond a little for each.
const COMMON: usize = 64 * 1024 * 1024;
/// How many sessions one connection may follow.
const MOST_FOLLOWED: usize = 256;

/// The connections of a server. Idle ones go when others come.
#[derive(Debug)]
pub(crate) struct Connections {
    table: Mutex<Table>,
    room: AgentRoom,
    common: Arc<CommonStore>,
    /// Held while a turn begins, so that no two begin in one session.
    beginning: Mutex<()>,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    open: HashMap<u64, Arc<Connection>>,
}

impl Table {
    /// The connection that an id means, or a name in full.
    fn named(&self, id: &str) -> Option<&Arc<Connection>> {
        let (id, mark) = id.split_once('.').map_or((id, None), |(id, mark)| (id, Some(mark)));
        let connection = self.open.get(&number_in(id)?)?;
        mark.is_none_or(|mark| mark == connection.mark).then_some(connection)
    }
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    number: u64,
    /// What no other connection of any server has.
    mark: String,
    by: Option<Actor>,
    /// The agent that its client wants to talk to.
    pub(super) agent: &'static str,
    pub(super) outbox: Arc<Outbox>,
    /// The agent itself, if the server brings it.
    pub(super) mock: Option<Arc<Agent>>,
    used: Mutex<Instant>,
    /// The sessions whose news its client is told.
    followed: Mutex<BTreeSet<Arc<str>>>,
}

impl Connections {
    pub(crate) fn new(room: AgentRoom) -> Self {
        let (table, beginning) = Default::default();
        Self { table, room, common: CommonStore::new(COMMON), beginning }
    }

    /// Opens a connection.
    pub(super) fn open(
        &self,
        by: Option<Actor>,
        agent: &'static str,
    ) -> Result<Arc<Connection>, Problem> {
        self.forget_idle();
        let mut table = self.table.lock();
        let AgentRoom { most, each, .. } = self.room;
        let own = || table.open.values().filter(|connection| connection.by == by).count();
        if Actor::has_a_share(by) && own() >= each {
            return Err(too_many(&format!("the key has {each} connections, which is the most")));
        }
        if table.open.len() >= most {
            return Err(too_many(&format!("there are {most} connections, which is the most")));
        }
        table.last += 1;
        let outbox = Outbox::new(OUTBOX, &self.common, by);
        let is_mock = agent == "mock";
        let connection = Arc::new(Connection {
            number: table.last,
            mark: Uuid::new_v4().simple().to_string(),
            by,
            agent,
            mock: is_mock.then(|| Agent::mock(Arc::clone(&outbox), Replies::ToWhoeverWaits)),
            outbox,
            used: Mutex::new(Instant::now()),
            followed: Mutex::default(),
        });
        table.open.insert(connection.number, Arc::clone(&connection));
        Ok(connection)
    }

    /// The connection that a request names, if it is the caller's own. That is a use of it.
    pub(super) fn find(&self, by: Option<Actor>, id: &str) -> Result<Arc<Connection>, Problem> {
        let found = self.table.lock().named(id).cloned();
        match found {
            Some(connection) if self.is_idle(&connection) => {
                self.table.lock().open.remove(&connection.number);
                connection.end();
                Err(unknown())
            }
            Some(connection) if connection.by == by => {
                *connection.used.lock() = Instant::now();
                Ok(connection)
            }
            // The same words, but it is written down.
            Some(_) => Err(unknown().refusal()),
            None => Err(unknown()),
        }
    }

    /// Closes a connection, if it is the caller's own. One that is not there is closed already.
    pub(super) fn close(&self, by: Option<Actor>, id: &str) -> Result<(), Problem> {
        let closed = {
            let mut table = self.table.lock();
            match table.named(id) {
                Some(connection) if connection.by != by => return Err(unknown().refusal()),
                Some(connection) => {
                    let number = connection.number;
                    table.open.remove(&number)
                }
                None => None,
            }
        };
        if let Some(connection) = closed {
            connection.end();
        }
        Ok(())
    }

    /// The connections of somebody that follow a session.
    pub(super) fn followers(&self, by: Option<Actor>, session: &str) -> Vec<Arc<Connection>> {
        let following = |connection: &&Arc<Connection>| {
            connection.by == by && connection.followed.lock().contains(session)
        };
        self.table.lock().open.values().filter(following).cloned().collect()
    }

    /// Begins a turn in a session, unless it is in one by any connection of its owner: then nothing.
    pub(super) fn begin_turn<T>(
        &self,
        by: Option<Actor>,
        session: &str,
        begin: impl FnOnce() -> T,
    ) -> Option<T> {
        let _held = self.beginning.lock();
        let followers = self.followers(by, session);
        let mut agents = followers.iter().filter_map(|connection| connection.mock.as_ref());
        (!agents.any(|agent| agent.is_in_turn(session))).then(begin)
    }

    /// Ends the turn that a session is in, by whichever connection of its owner.
    pub(super) fn cancel_turn(&self, by: Option<Actor>, session: &str) {
        for connection in self.followers(by, session) {
            connection.mock.iter().for_each(|mock| mock.cancel(session));
        }
    }

    /// Tells every connection of somebody that follows a session that it has ended, and no more of it
    /// then. How many there are.
    pub(super) fn tell_end(
        &self,
        by: Option<Actor>,
        session: &str,
        message: &impl Serialize,
    ) -> usize {
        let listeners = self.followers(by, session);
        for connection in &listeners {
            connection.leave(session);
            connection.outbox.post(message);
        }
        listeners.len()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.forget_idle();
        self.table.lock().open.len()
    }

    fn forget_idle(&self) {
        let idle: Vec<_> = {
            let mut table = self.table.lock();
            table.open.extract_if(|_, connection| self.is_idle(connection)).collect()
        };
        for (_, connection) in idle {
            connection.end();
        }
    }

    /// Whether nobody has used a connection for long. Whoever listens uses it.
    fn is_idle(&self, connection: &Connection) -> bool {
        let mut used = connection.used.lock();
        if connection.outbox.is_read() {
            *used = Instant::now();
        }
        used.elapsed() >= self.room.idle
    }
}

impl Connection {
    /// Tells the client what happens in a session from now on.
    pub(super) fn follow(&self, session: &Arc<str>) -> Result<(), Problem> {
        let mut followed = self.followed.lock();
        check_room(&followed, Some(session))?;
        followed.insert(Arc::clone(session));
        Ok(())
    }

    /// Refuses a session that could not be followed, before it is opened.
    pub(super) fn check_room(&self, session: Option<&str>) -> Result<(), Problem> {
        check_room(&self.followed.lock(), session)
    }

    /// Ends it: nobody waits for its agent, or listens, any more.
    fn end(&self) {
        self.mock.iter().for_each(|mock| mock.end());
        self.outbox.close();
    }

    /// Tells it no more.
    pub(super) fn leave(&self, session: &str) {
        self.followed.lock().remove(session);
        self.mock.iter().for_each(|mock| mock.forget(session));
    }

    /// The header by which its client is told its name in full.
    pub(super) fn name_in_full(&self) -> HeaderValue {
        let text = format!("{self}.{}", self.mark);
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(PREFIX))
    }

    /// The header by which its client is told its id.
    pub(super) fn header(&self) -> HeaderValue {
        let text = self.to_string();
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(PREFIX))
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.number)
    }
}

fn check_room(followed: &BTreeSet<Arc<str>>, session: Option<&str>) -> Result<(), Problem> {
    if followed.len() < MOST_FOLLOWED || session.is_some_and(|session| followed.contains(session)) {
        return Ok(());
    }
    let message = format!("a connection follows at most {MOST_FOLLOWED} sessions");
    Err(Problem::new(StatusCode::BAD_REQUEST, Class::LIMIT_EXCEEDED, &message)
        .message(&message)
        .kind("limit_exceeded")
        .hint("detach from one with _sandboxagent/session/detach"))
}

/// The id of the connection that a request names, if it names one.
pub(super) fn named(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(CONNECTION_ID).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        // What cannot be read is nobody's.
        (Some(value), None) => Ok(Some(value.to_str().unwrap_or_default())),
        (Some(_), Some(_)) => Err(Problem::invalid_request("more than one x-acp-connection-id")
            .hint("send the header once")),
    }
}

/// The number in an id. Another spelling of the same number is no id.
fn number_in(id: &str) -> Option<u64> {
    let digits = id.strip_prefix(PREFIX)?;
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// The problem of a connection that is not there, or is another's.
pub(super) fn unknown() -> Problem {
    Problem::plain(StatusCode::NOT_FOUND, Class::CLIENT_NOT_FOUND, "unknown ACP client id")
        .kind("connection_not_found")
        .hint("open a connection: POST /v2/rpc with initialize and without x-acp-connection-id")
}

/// The problem of one connection too many.
pub(super) fn too_many(message: &str) -> Problem {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, Class::LIMIT_EXCEEDED, message)
        .message(message)
        .kind("too_many_requests")
        .hint("close connections that are not needed with DELETE /v2/rpc")
        .header(RETRY_AFTER, HeaderValue::from_static("60"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engine::KeyId;
    use futures::FutureExt as _;
    use serde_json::json;

    use super::*;
    use crate::jsonrpc::Call;

    const IDLE: Duration = Duration::from_secs(60);

    fn connections(most: usize, each: usize) -> Connections {
        Connections::new(AgentRoom { most, each, idle: IDLE })
    }

    fn key(id: &str) -> Option<Actor> {
        Some(Actor::Key(KeyId::parse(id).unwrap()))
    }

    fn kind(problem: &Problem) -> &str {
        problem.details().kind.as_deref().unwrap()
    }

    #[tokio::test]
    async fn ids_are_counted_from_one() {
        let connections = connections(9, 9);
        let ids = [1, 2].map(|_| connections.open(None, "mock").unwrap().to_string());
        assert_eq!(ids, ["acp_conn_1", "acp_conn_2"]);
        assert!(connections.find(None, "acp_conn_2").is_ok());
        for wrong in ["acp_conn_02", "acp_conn_+2", "acp_conn_3", "2", "", "acp_conn_"] {
            assert_eq!(kind(&connections.find(None, wrong).unwrap_err()), "connection_not_found");
        }
    }

    #[tokio::test]
    async fn a_name_in_full_is_of_one_connection_and_no_other_servers() {
        let (before, now) = (connections(9, 9), connections(9, 9));
        let open = |connections: &Connections| {
            connections.open(None, "mock").unwrap().name_in_full().to_str().unwrap().to_owned()
        };
        let (old, new) = (open(&before), open(&now));
        assert!(before.find(None, &old).is_ok() && now.find(None, &new).is_ok());
        assert!(now.find(None, "acp_conn_1").is_ok());
        for wrong in [&old, "acp_conn_1.", ".", &format!("{new}."), &format!("{new}x")] {
            assert_eq!(kind(&now.find(None, wrong).unwrap_err()), "connection_not_found");
            now.close(None, wrong).unwrap();
        }
        assert_eq!(now.count(), 1);
        now.close(None, &new).unwrap();
        assert_eq!(now.count(), 0);
    }

    #[tokio::test]
    async fn a_connection_of_another_key_is_not_there() {
        let connections = connections(9, 9);
        let (one, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
        connections.open(one, "mock").unwrap();
        let unknown = connections.find(other, "acp_conn_9").unwrap_err();
        for stranger in [other, Some(Actor::Token), None] {
            let foreign = connections.find(stranger, "acp_conn_1").unwrap_err();
            let told = |problem: &Problem| serde_json::to_value(problem.details()).unwrap();
            assert_eq!(told(&foreign), told(&unknown));
            assert!(foreign.told().is_refusal && !unknown.told().is_refusal);
            let kept = connections.close(stranger, "acp_conn_1").unwrap_err();
            assert!(kept.told().is_refusal);
        }
        assert!(connections.find(one, "acp_conn_1").is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_neither_asks_nor_listens_is_forgotten() {
        let connections = connections(9, 9);
        let quiet = connections.open(None, "mock").unwrap();
        let listening = connections.open(None, "mock").unwrap();
        let reader = listening.outbox.read(None).await.unwrap();
        tokio::time::advance(IDLE / 2).await;
        connections.find(None, "acp_conn_1").unwrap();
        tokio::time::advance(IDLE / 2).await;
        assert_eq!(connections.count(), 2);
        tokio::time::advance(IDLE).await;
        assert_eq!(connections.count(), 1);
        assert!(connections.find(None, &quiet.to_string()).is_err());
        drop(reader);
        tokio::time::advance(IDLE).await;
        assert!(connections.find(None, &listening.to_string()).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_ends_with_its_connection_however_that_ends() {
        let connections = connections(9, 9);
        let begin = |connection: &Connection| {
            let mock = connection.mock.as_ref().unwrap();
            mock.adopt("s", "/");
            let prompt = json!([{"type": "text", "text": "wait 60\nwait 60"}]);
            let params = Some(json!({"sessionId": "s", "prompt": prompt}));
            mock.ask(1.into(), Call { method: "session/prompt".to_owned(), params }).answer
        };
        for number in 0..3 {
            let connection = connections.open(None, "mock").unwrap();
            let turn = begin(&connection);
            if number > 0 {
                tokio::time::advance(IDLE).await;
            }
            match number {
                0 => connections.close(None, &connection.to_string()).unwrap(),
                1 => assert_eq!(connections.count(), 0),
                _ => drop(connections.find(None, &connection.to_string()).unwrap_err()),
            }
            let reply = turn.now_or_never().expect("the turn goes on").unwrap();
            let reply = serde_json::to_value(reply).unwrap();
            assert_eq!(reply["result"]["stopReason"], "cancelled");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn their_number_is_bounded_for_each_key_and_for_all() {
        let connections = connections(4, 2);
        let one = key("aaaaaaaaaaaa");
        let open = |by| connections.open(by, "mock").map(drop).map_err(|it| kind(&it).to_owned());
        assert_eq!([open(one), open(one)], [Ok(()), Ok(())]);
        assert_eq!(open(one), Err("too_many_requests".to_owned()));
        assert_eq!([open(None), open(None)], [Ok(()), Ok(())]);
        assert_eq!(open(key("bbbbbbbbbbbb")), Err("too_many_requests".to_owned()));
        connections.close(one, "acp_conn_1").unwrap();
        assert_eq!(open(one), Ok(()));
        tokio::time::advance(IDLE).await;
        assert_eq!(open(one), Ok(()));
        assert_eq!(connections.count(), 1);
    }

    #[tokio::test]
    async fn only_whoever_follows_a_session_is_told_of_it() {
        let connections = connections(9, 9);
        let session: Arc<str> = "s1".into();
        let [one, other] = [None, None].map(|by| connections.open(by, "mock").unwrap());
        one.follow(&session).unwrap();
        assert_eq!(connections.tell_end(None, "s1", &json!(1)), 1);
        assert_eq!(connections.tell_end(key("aaaaaaaaaaaa"), "s1", &json!(1)), 0);
        other.follow(&session).unwrap();
        one.leave("s1");
        assert_eq!(connections.tell_end(None, "s1", &json!(2)), 1);
        assert_eq!((one.outbox.post(&3), other.outbox.post(&3)), (2, 2));
        let many = (0..MOST_FOLLOWED).map(|n| one.follow(&n.to_string().into()));
        assert!(many.into_iter().all(|followed| followed.is_ok()));
        assert!(one.follow(&session).is_err());
        assert!(one.check_room(None).is_err() && one.check_room(Some("s1")).is_err());
        assert!(one.check_room(Some("0")).is_ok());
        // What has ended is followed no more.
        assert_eq!(connections.tell_end(None, "0", &json!(4)), 1);
        assert_eq!(connections.tell_end(None, "0", &json!(5)), 0);
        assert!(one.follow(&session).is_ok());
    }
}

//! The agents that clients talk with, by the names that the clients chose.
//!
//! An agent belongs to whoever began it: nobody else can use it, or learn that there is one. Two
//! clients with keys of their own may choose the same name.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use engine::Actor;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::agent::{Agent, Replies};
use super::errors;
use super::wire::AgentServerInfo;
use crate::faces::acp::outbox::{CommonStore, Outbox, OutboxRoom};
use crate::problem::Problem;

/// How many there may be, and for how long.
const ROOM: Room = Room { most: 1024, each: 64, idle: Duration::from_hours(1) };
/// What each keeps for a client that was cut off.
const OUTBOX: OutboxRoom = OutboxRoom { messages: 1024, bytes: 4 * 1024 * 1024 };
/// What all of them keep together, beyond a little of each.
const COMMON: usize = 32 * 1024 * 1024;
/// The longest name.
const LONGEST_ID: usize = 256;

/// All agents that somebody talks with.
#[derive(Debug)]
pub(crate) struct AgentServers {
    open: Mutex<HashMap<Name, Server>>,
    common: Arc<CommonStore>,
    room: Room,
}

#[derive(Clone, Copy, Debug)]
struct Room {
    /// Of everybody together.
    most: usize,
    /// Of one key.
    each: usize,
    /// How long one is kept that nobody talks with or listens to.
    idle: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Name {
    by: Option<Actor>,
    id: String,
}

/// An agent that somebody talks with.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) kind: Kind,
    pub(super) agent: Arc<Agent>,
    pub(super) outbox: Arc<Outbox>,
    created: Timestamp,
    used: Instant,
}

/// Which agents the server brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Mock,
}

impl Kind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Mock => "mock",
        }
    }
}

impl AgentServers {
    pub(crate) fn new() -> Self {
        Self::with(ROOM)
    }

    fn with(room: Room) -> Self {
        Self { open: Mutex::default(), common: CommonStore::new(COMMON), room }
    }

    /// The agent of this name, if the caller began one. It is not idle then.
    pub(super) fn find(&self, by: Option<Actor>, id: &str) -> Option<Server> {
        let mut open = self.open.lock();
        self.forget_idle(&mut open);
        let server = open.get_mut(&Name { by, id: id.to_owned() })?;
        server.used = Instant::now();
        Some(server.clone())
    }

    /// The agent of this name, begun if there is none.
    pub(super) fn open(&self, by: Option<Actor>, id: &str, kind: Kind) -> Result<Server, Problem> {
        if id.is_empty() || id.len() > LONGEST_ID || id.chars().any(char::is_control) {
            let message = "a server id is 1 to 256 bytes without control characters";
            return Err(Problem::invalid_request(message).hint("choose another server id"));
        }
        let mut open = self.open.lock();
        self.forget_idle(&mut open);
        let name = Name { by, id: id.to_owned() };
        if let Some(server) = open.get(&name) {
            return Ok(server.clone());
        }
        self.check_room(&open, by)?;
        let outbox = Outbox::new(OUTBOX, &self.common, by);
        let agent = match kind {
            Kind::Mock => Agent::mock(Arc::clone(&outbox), Replies::Everywhere),
        };
        let (created, used) = (Timestamp::now(), Instant::now());
        let server = Server { kind, agent, outbox, created, used };
        open.insert(name, server.clone());
        Ok(server)
    }

    fn check_room(&self, open: &HashMap<Name, Server>, by: Option<Actor>) -> Result<(), Problem> {
        let Room { most, each, .. } = self.room;
        let message =
            if Actor::has_a_share(by) && open.keys().filter(|name| name.by == by).count() >= each {
                format!("the key talks with {each} agents, which is the most")
            } else if open.len() >= most {
                format!("{most} agents are talked with, which is the most")
            } else {
                return Ok(());
            };
        Err(errors::too_many(&message))
    }

    /// Ends an agent, if the caller began one of this name.
    pub(super) fn close(&self, by: Option<Actor>, id: &str) {
        let closed = self.open.lock().remove(&Name { by, id: id.to_owned() });
        if let Some(server) = closed {
            server.outbox.close();
        }
    }

    /// The caller's own, the oldest first.
    pub(super) fn list(&self, by: Option<Actor>) -> Vec<AgentServerInfo> {
        let mut open = self.open.lock();
        self.forget_idle(&mut open);
        let own = open.iter().filter(|(name, _)| name.by == by);
        let own = own.map(|(name, server)| AgentServerInfo {
            server_id: name.id.clone(),
            agent: server.kind.word().to_owned(),
            created_at_ms: u64::try_from(server.created.as_millisecond()).unwrap_or_default(),
        });
        let mut own: Vec<_> = own.collect();
        drop(open);
        own.sort_by(|a, b| (a.created_at_ms, &a.server_id).cmp(&(b.created_at_ms, &b.server_id)));
        own
    }

    fn forget_idle(&self, open: &mut HashMap<Name, Server>) {
        open.retain(|_, server| {
            if server.outbox.is_read() {
                server.used = Instant::now();
            }
            server.used.elapsed() < self.room.idle
        });
    }
}

#[cfg(test)]
mod tests {
    use engine::KeyId;

    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn servers(most: usize, each: usize) -> AgentServers {
        AgentServers::with(Room { most, each, idle: HOUR })
    }

    fn key(id: &str) -> Option<Actor> {
        Some(Actor::Key(KeyId::parse(id).unwrap()))
    }

    fn open(servers: &AgentServers, by: Option<Actor>, id: &str) -> Result<(), u16> {
        servers.open(by, id, Kind::Mock).map(drop).map_err(|problem| problem.details().status)
    }

    fn names(servers: &AgentServers, by: Option<Actor>) -> Vec<String> {
        servers.list(by).into_iter().map(|info| info.server_id).collect()
    }

    #[tokio::test]
    async fn an_agent_belongs_to_whoever_began_it() {
        let servers = servers(9, 9);
        let (one, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
        open(&servers, one, "s1").unwrap();
        for stranger in [other, Some(Actor::Token), None] {
            assert!(servers.find(stranger, "s1").is_none());
            assert!(names(&servers, stranger).is_empty());
            servers.close(stranger, "s1");
            open(&servers, stranger, "s1").unwrap();
        }
        assert_eq!(names(&servers, one), ["s1"]);
    }

    #[tokio::test]
    async fn an_agent_is_begun_once() {
        let servers = servers(9, 9);
        let first = servers.open(None, "s1", Kind::Mock).unwrap();
        let second = servers.open(None, "s1", Kind::Mock).unwrap();
        assert!(Arc::ptr_eq(&first.agent, &second.agent));
        servers.close(None, "s1");
        assert!(servers.find(None, "s1").is_none());
    }

    #[tokio::test]
    async fn a_key_takes_no_more_than_its_share_and_all_no_more_than_there_is() {
        let servers = servers(3, 1);
        let (one, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
        open(&servers, one, "s1").unwrap();
        assert_eq!(open(&servers, one, "s2"), Err(429));
        open(&servers, other, "s1").unwrap();
        open(&servers, None, "s1").unwrap();
        assert_eq!(open(&servers, None, "s2"), Err(429));
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_agent_ends_and_one_that_is_listened_to_does_not() {
        let servers = servers(9, 9);
        open(&servers, None, "idle").unwrap();
        let heard = servers.open(None, "heard", Kind::Mock).unwrap();
        let listener = heard.outbox.read(None).await.unwrap();
        tokio::time::advance(HOUR).await;
        assert_eq!(names(&servers, None), ["heard"]);
        drop(listener);
        tokio::time::advance(HOUR / 2).await;
        assert!(servers.find(None, "heard").is_some());
        tokio::time::advance(HOUR / 2).await;
        assert!(servers.find(None, "heard").is_some());
        tokio::time::advance(HOUR).await;
        assert!(servers.find(None, "heard").is_none());
    }

    #[tokio::test]
    async fn a_name_is_short_and_can_be_shown() {
        let servers = servers(9, 9);
        for wrong in ["", "a\nb", &"x".repeat(LONGEST_ID + 1)] {
            assert_eq!(open(&servers, None, wrong), Err(400));
        }
        assert_eq!(open(&servers, None, &"x".repeat(LONGEST_ID)), Ok(()));
    }
}

//! Ids that give relative paths a working directory.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::{Actor, Error, ErrorKind, Result, SandboxId, SandboxPath};

/// The open sessions of all sandboxes. Idle ones make room when the table is full.
///
/// A session belongs to whoever opened it: nobody else can use it, or learn that there is one.
#[derive(Debug)]
pub struct Sessions {
    open: Mutex<HashMap<Owner, HashMap<String, Session>>>,
    room: SessionRoom,
}

/// How many sessions there may be, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionRoom {
    /// Of everybody together.
    pub most: usize,
    /// Of one key.
    pub each: usize,
    /// How long one is kept after its last use.
    pub idle: Duration,
}

/// Whose sessions they are, and in which sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Owner {
    by: Option<Actor>,
    sandbox: SandboxId,
}

#[derive(Debug)]
struct Session {
    directory: SandboxPath,
    used: Instant,
}

impl Sessions {
    /// An empty table.
    pub fn new(room: SessionRoom) -> Self {
        Self { open: Mutex::default(), room }
    }

    /// Opens a session in a sandbox, whose relative paths begin at `directory`.
    pub fn create(
        &self,
        sandbox: &SandboxId,
        by: Option<Actor>,
        id: &str,
        directory: SandboxPath,
    ) -> Result<()> {
        if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) {
            let message = "a session id is 1 to 256 bytes without control characters";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let mut open = self.open.lock();
        open.retain(|_, sessions| {
            sessions.retain(|_, session| session.used.elapsed() < self.room.idle);
            !sessions.is_empty()
        });
        let owner = Owner { by, sandbox: sandbox.clone() };
        if open.get(&owner).is_some_and(|sessions| sessions.contains_key(id)) {
            let message = format!("session already exists: {id}");
            return Err(Error::new(ErrorKind::SessionExists, message));
        }
        self.check_room(&open, by)?;
        let session = Session { directory, used: Instant::now() };
        open.entry(owner).or_default().insert(id.into(), session);
        Ok(())
    }

    fn check_room(
        &self,
        open: &HashMap<Owner, HashMap<String, Session>>,
        by: Option<Actor>,
    ) -> Result<()> {
        let SessionRoom { most, each, .. } = self.room;
        let count = |of: &dyn Fn(&Owner) -> bool| -> usize {
            open.iter().filter(|(owner, _)| of(owner)).map(|(_, sessions)| sessions.len()).sum()
        };
        // Whoever has the server's own token, or needs none, is the operator.
        let is_key = matches!(by, Some(Actor::Key(_)));
        let message = if is_key && count(&|owner| owner.by == by) >= each {
            format!("the key has {each} sessions open, which is the most")
        } else if count(&|_| true) >= most {
            format!("{most} sessions are open, which is the most")
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::LimitExceeded, message))
    }

    /// Where the relative paths of a session begin.
    pub fn directory(
        &self,
        sandbox: &SandboxId,
        by: Option<Actor>,
        id: &str,
    ) -> Result<SandboxPath> {
        let mut open = self.open.lock();
        let owner = Owner { by, sandbox: sandbox.clone() };
        match open.get_mut(&owner).and_then(|sessions| sessions.get_mut(id)) {
            Some(session) if session.used.elapsed() < self.room.idle => {
                session.used = Instant::now();
                Ok(session.directory.clone())
            }
            _ => {
                let message = format!("session not found: {id}");
                Err(Error::new(ErrorKind::SessionNotFound, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyId;

    fn table(most: usize, idle: Duration) -> Sessions {
        Sessions::new(SessionRoom { most, each: most, idle })
    }

    fn main() -> SandboxId {
        SandboxId::parse("main").unwrap()
    }

    fn key(id: &str) -> Option<Actor> {
        Some(Actor::Key(KeyId::parse(id).unwrap()))
    }

    fn open(sessions: &Sessions, by: Option<Actor>, id: &str) -> Result<(), ErrorKind> {
        let opened = sessions.create(&main(), by, id, SandboxPath::root());
        opened.map_err(|err| err.kind())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn sandboxes_have_sessions_of_their_own() {
        let sessions = table(2, LONG);
        let other = SandboxId::parse("other").unwrap();
        open(&sessions, None, "s1").unwrap();
        assert!(sessions.directory(&other, None, "s1").is_err());
        sessions.create(&other, None, "s1", SandboxPath::root()).unwrap();
        let full = sessions.create(&other, None, "s2", SandboxPath::root()).unwrap_err();
        assert_eq!(full.kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn a_session_belongs_to_whoever_opened_it() {
        let sessions = table(9, LONG);
        let (one, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
        open(&sessions, one, "s1").unwrap();
        for stranger in [other, Some(Actor::Token), None] {
            let found = sessions.directory(&main(), stranger, "s1");
            assert_eq!(found.unwrap_err().kind(), ErrorKind::SessionNotFound);
            open(&sessions, stranger, "s1").unwrap();
        }
        assert!(sessions.directory(&main(), one, "s1").is_ok());
    }

    #[test]
    fn a_key_takes_no_more_than_its_share() {
        let sessions = Sessions::new(SessionRoom { most: 9, each: 2, idle: LONG });
        let (one, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
        open(&sessions, one, "s1").unwrap();
        let elsewhere = SandboxId::parse("other").unwrap();
        sessions.create(&elsewhere, one, "s2", SandboxPath::root()).unwrap();
        assert_eq!(open(&sessions, one, "s3"), Err(ErrorKind::LimitExceeded));
        assert_eq!(open(&sessions, other, "s3"), Ok(()));
        // The operator has no share but all of it.
        for id in ["s1", "s2", "s3"] {
            assert_eq!(open(&sessions, Some(Actor::Token), id), Ok(()));
        }
    }

    #[test]
    fn a_session_remembers_its_directory() {
        let sessions = table(2, LONG);
        open(&sessions, None, "s1").unwrap();
        assert!(sessions.directory(&main(), None, "s1").unwrap().is_root());
    }

    #[test]
    fn an_id_is_taken_once() {
        let sessions = table(2, LONG);
        open(&sessions, None, "s1").unwrap();
        assert_eq!(open(&sessions, None, "s1"), Err(ErrorKind::SessionExists));
    }

    #[test]
    fn an_unknown_session_is_not_found() {
        let err = table(2, LONG).directory(&main(), None, "nobody").unwrap_err();
        assert_eq!(err.kind(), ErrorKind::SessionNotFound);
    }

    #[test]
    fn a_full_table_refuses_more() {
        let sessions = table(1, LONG);
        open(&sessions, None, "s1").unwrap();
        assert_eq!(open(&sessions, None, "s2"), Err(ErrorKind::LimitExceeded));
    }

    #[test]
    fn an_idle_session_is_forgotten_and_makes_room() {
        let sessions = table(1, Duration::ZERO);
        open(&sessions, None, "s1").unwrap();
        assert!(sessions.directory(&main(), None, "s1").is_err());
        open(&sessions, None, "s2").unwrap();
    }
}

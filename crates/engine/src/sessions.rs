//! Ids that give relative paths a working directory.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::{Error, ErrorKind, Result, SandboxId, SandboxPath};

/// The open sessions of all sandboxes. Idle ones make room when the table is full.
#[derive(Debug)]
pub struct Sessions {
    open: Mutex<HashMap<SandboxId, HashMap<String, Session>>>,
    most: usize,
    idle: Duration,
}

#[derive(Debug)]
struct Session {
    directory: SandboxPath,
    used: Instant,
}

impl Sessions {
    /// An empty table of at most `most` sessions, each kept for `idle` after its last use.
    pub fn new(most: usize, idle: Duration) -> Self {
        Self { open: Mutex::default(), most, idle }
    }

    /// Opens a session in a sandbox, whose relative paths begin at `directory`.
    pub fn create(&self, sandbox: &SandboxId, id: &str, directory: SandboxPath) -> Result<()> {
        if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) {
            let message = "a session id is 1 to 256 bytes without control characters";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let mut open = self.open.lock();
        open.retain(|_, sessions| {
            sessions.retain(|_, session| session.used.elapsed() < self.idle);
            !sessions.is_empty()
        });
        if open.get(sandbox).is_some_and(|sessions| sessions.contains_key(id)) {
            let message = format!("session already exists: {id}");
            return Err(Error::new(ErrorKind::SessionExists, message));
        }
        if open.values().map(HashMap::len).sum::<usize>() >= self.most {
            let message = format!("{} sessions are open, which is the most", self.most);
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        let session = Session { directory, used: Instant::now() };
        open.entry(sandbox.clone()).or_default().insert(id.into(), session);
        Ok(())
    }

    /// Where the relative paths of a session begin.
    pub fn directory(&self, sandbox: &SandboxId, id: &str) -> Result<SandboxPath> {
        let mut open = self.open.lock();
        match open.get_mut(sandbox).and_then(|sessions| sessions.get_mut(id)) {
            Some(session) if session.used.elapsed() < self.idle => {
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

    fn table(most: usize, idle: Duration) -> Sessions {
        Sessions::new(most, idle)
    }

    fn main() -> SandboxId {
        SandboxId::parse("main").unwrap()
    }

    #[test]
    fn sandboxes_have_sessions_of_their_own() {
        let sessions = table(2, Duration::from_secs(60));
        let other = SandboxId::parse("other").unwrap();
        sessions.create(&main(), "s1", SandboxPath::root()).unwrap();
        assert!(sessions.directory(&other, "s1").is_err());
        sessions.create(&other, "s1", SandboxPath::root()).unwrap();
        let full = sessions.create(&other, "s2", SandboxPath::root()).unwrap_err();
        assert_eq!(full.kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn a_session_remembers_its_directory() {
        let sessions = table(2, Duration::from_secs(60));
        sessions.create(&main(), "s1", SandboxPath::root()).unwrap();
        assert!(sessions.directory(&main(), "s1").unwrap().is_root());
    }

    #[test]
    fn an_id_is_taken_once() {
        let sessions = table(2, Duration::from_secs(60));
        sessions.create(&main(), "s1", SandboxPath::root()).unwrap();
        let err = sessions.create(&main(), "s1", SandboxPath::root()).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::SessionExists);
    }

    #[test]
    fn an_unknown_session_is_not_found() {
        let err = table(2, Duration::from_secs(60)).directory(&main(), "nobody").unwrap_err();
        assert_eq!(err.kind(), ErrorKind::SessionNotFound);
    }

    #[test]
    fn a_full_table_refuses_more() {
        let sessions = table(1, Duration::from_secs(60));
        sessions.create(&main(), "s1", SandboxPath::root()).unwrap();
        let err = sessions.create(&main(), "s2", SandboxPath::root()).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn an_idle_session_is_forgotten_and_makes_room() {
        let sessions = table(1, Duration::ZERO);
        sessions.create(&main(), "s1", SandboxPath::root()).unwrap();
        assert!(sessions.directory(&main(), "s1").is_err());
        sessions.create(&main(), "s2", SandboxPath::root()).unwrap();
    }
}

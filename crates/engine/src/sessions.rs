//! Ids that give relative paths a working directory, and what is noted about them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::virtual_fs::now;
use crate::{Actor, Error, ErrorKind, Result, SandboxId, SandboxPath, UnixTime};

/// What all notes of one session may take, in bytes.
const MOST_NOTES: usize = 4096;

/// The open sessions of all sandboxes. Idle ones make room when others come, and those that ended when
/// the table is full.
///
/// A session belongs to whoever opened it: nobody else can use it, or learn that there is one.
#[derive(Debug)]
pub struct Sessions {
    open: Mutex<Open>,
    room: SessionRoom,
}

type Open = HashMap<SessionOwner, BTreeMap<Arc<str>, Kept>>;

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
pub struct SessionOwner {
    /// Who opened them; none where nobody needs to say who he is.
    pub by: Option<Actor>,
    /// Where their files are.
    pub sandbox: SandboxId,
}

/// What is known of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// What it is called by whoever opened it.
    pub id: Arc<str>,
    /// Where its relative paths begin.
    pub directory: SandboxPath,
    /// When it was opened.
    pub created: UnixTime,
    /// When it was last changed.
    pub updated: UnixTime,
    /// Whether somebody ended it. Its directory still means what it meant.
    pub ended: bool,
    /// How many events were told about it.
    pub events: u64,
    /// What its client noted, by name.
    pub notes: BTreeMap<String, String>,
}

/// Some sessions of one owner, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// Whether there are more behind the last.
    pub more: bool,
}

#[derive(Debug)]
struct Kept {
    session: Session,
    used: Instant,
}

impl Sessions {
    /// An empty table.
    pub fn new(room: SessionRoom) -> Self {
        Self { open: Mutex::default(), room }
    }

    /// Opens a session, whose relative paths begin at `directory`.
    pub fn create(
        &self,
        owner: &SessionOwner,
        id: &str,
        directory: SandboxPath,
        notes: BTreeMap<String, String>,
    ) -> Result<Session> {
        if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) {
            let message = "a session id is 1 to 256 bytes without control characters";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        check_notes(&notes)?;
        let mut open = self.open.lock();
        open.retain(|_, sessions| {
            sessions.retain(|_, kept| kept.used.elapsed() < self.room.idle);
            !sessions.is_empty()
        });
        if open.get(owner).is_some_and(|sessions| sessions.contains_key(id)) {
            let message = format!("session already exists: {id}");
            return Err(Error::new(ErrorKind::SessionExists, message));
        }
        self.make_room(&mut open, owner.by)?;
        let (id, time): (Arc<str>, _) = (id.into(), now());
        let session = Session {
            id: Arc::clone(&id),
            directory,
            created: time,
            updated: time,
            ended: false,
            events: 0,
            notes,
        };
        let kept = Kept { session: session.clone(), used: Instant::now() };
        open.entry(owner.clone()).or_default().insert(id, kept);
        Ok(session)
    }

    /// Refuses one more session if there is no room, and none that ended to make some.
    fn make_room(&self, open: &mut Open, by: Option<Actor>) -> Result<()> {
        let SessionRoom { most, each, .. } = self.room;
        let message = if Actor::has_a_share(by) && !has_room(open, each, |owner| owner.by == by) {
            format!("the key has {each} sessions open, which is the most")
        } else if !has_room(open, most, |_| true) {
            format!("{most} sessions are open, which is the most")
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::LimitExceeded, message))
    }

    /// Where the relative paths of a session begin.
    pub fn directory(&self, owner: &SessionOwner, id: &str) -> Result<SandboxPath> {
        self.with(owner, id, |session| Ok(session.directory.clone()))
    }

    /// What is known of a session.
    pub fn find(&self, owner: &SessionOwner, id: &str) -> Result<Session> {
        self.with(owner, id, |session| Ok(session.clone()))
    }

    /// The sessions of an owner whose ids sort behind one, at most so many of those that are chosen.
    pub fn list(
        &self,
        owner: &SessionOwner,
        after: Option<&str>,
        limit: usize,
        chosen: impl Fn(&Session) -> bool,
    ) -> SessionPage {
        let open = self.open.lock();
        let Some(sessions) = open.get(owner) else { return SessionPage::default() };
        let behind = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut left = sessions
            .range::<str, _>((behind, Bound::Unbounded))
            .map(|(_, kept)| kept)
            .filter(|kept| kept.used.elapsed() < self.room.idle && chosen(&kept.session));
        let page = left.by_ref().take(limit).map(|kept| kept.session.clone()).collect();
        SessionPage { sessions: page, more: left.next().is_some() }
    }

    /// Goes on with a session, at another directory if one is named. It has not ended any more.
    pub fn resume(
        &self,
        owner: &SessionOwner,
        id: &str,
        directory: Option<SandboxPath>,
    ) -> Result<Session> {
        self.with(owner, id, |session| {
            session.directory = directory.unwrap_or_else(|| session.directory.clone());
            session.ended = false;
            session.updated = now();
            Ok(session.clone())
        })
    }

    /// Ends a session. Whether it had ended before.
    pub fn end(&self, owner: &SessionOwner, id: &str) -> Result<bool> {
        self.with(owner, id, |session| {
            session.updated = if session.ended { session.updated } else { now() };
            Ok(std::mem::replace(&mut session.ended, true))
        })
    }

    /// Changes notes of a session: those with a text are set, the others go.
    pub fn note(
        &self,
        owner: &SessionOwner,
        id: &str,
        changes: BTreeMap<String, Option<String>>,
    ) -> Result<Session> {
        self.with(owner, id, |session| {
            let mut notes = session.notes.clone();
            for (name, text) in changes {
                match text {
                    Some(text) => drop(notes.insert(name, text)),
                    None => drop(notes.remove(&name)),
                }
            }
            check_notes(&notes)?;
            session.notes = notes;
            session.updated = now();
            Ok(session.clone())
        })
    }

    /// Counts an event that was told about a session.
    pub fn count_event(&self, owner: &SessionOwner, id: &str) -> Result<()> {
        self.with(owner, id, |session| {
            session.events += 1;
            session.updated = now();
            Ok(())
        })
    }

    /// Does something with a session that is there, which is a use of it.
    fn with<T>(
        &self,
        owner: &SessionOwner,
        id: &str,
        work: impl FnOnce(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let mut open = self.open.lock();
        match open.get_mut(owner).and_then(|sessions| sessions.get_mut(id)) {
            Some(kept) if kept.used.elapsed() < self.room.idle => {
                kept.used = Instant::now();
                work(&mut kept.session)
            }
            _ => {
                let message = format!("session not found: {id}");
                Err(Error::new(ErrorKind::SessionNotFound, message))
            }
        }
    }
}

/// Whether there are fewer sessions of some owners than so many, once the one of them that ended and was
/// not used for longest has gone.
fn has_room(open: &mut Open, most: usize, of: impl Fn(&SessionOwner) -> bool) -> bool {
    let theirs = || open.iter().filter(|(owner, _)| of(owner));
    if theirs().map(|(_, sessions)| sessions.len()).sum::<usize>() < most {
        return true;
    }
    let all = theirs().flat_map(|(owner, sessions)| sessions.values().map(move |it| (owner, it)));
    let ended = all.filter(|(_, kept)| kept.session.ended).min_by_key(|(_, kept)| kept.used);
    let Some((owner, id)) =
        ended.map(|(owner, kept)| (owner.clone(), Arc::clone(&kept.session.id)))
    else {
        return false;
    };
    if let Some(sessions) = open.get_mut(&owner) {
        sessions.remove(&id);
        if sessions.is_empty() {
            open.remove(&owner);
        }
    }
    true
}

fn check_notes(notes: &BTreeMap<String, String>) -> Result<()> {
    let bytes: usize = notes.iter().map(|(name, text)| name.len() + text.len()).sum();
    if bytes <= MOST_NOTES {
        return Ok(());
    }
    let message = format!("the notes of a session have at most {MOST_NOTES} bytes");
    Err(Error::new(ErrorKind::LimitExceeded, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyId;

    fn table(most: usize, idle: Duration) -> Sessions {
        Sessions::new(SessionRoom { most, each: most, idle })
    }

    fn owner(by: Option<Actor>, sandbox: &str) -> SessionOwner {
        SessionOwner { by, sandbox: SandboxId::parse(sandbox).unwrap() }
    }

    fn main(by: Option<Actor>) -> SessionOwner {
        owner(by, "main")
    }

    fn key(id: &str) -> Option<Actor> {
        Some(Actor::Key(KeyId::parse(id).unwrap()))
    }

    fn open_in(sessions: &Sessions, owner: &SessionOwner, id: &str) -> Result<(), ErrorKind> {
        let opened = sessions.create(owner, id, SandboxPath::root(), BTreeMap::new());
        opened.map(drop).map_err(|err| err.kind())
    }

    fn open(sessions: &Sessions, by: Option<Actor>, id: &str) -> Result<(), ErrorKind> {
        open_in(sessions, &main(by), id)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn sandboxes_have_sessions_of_their_own() {
        let sessions = table(2, LONG);
        let other = owner(None, "other");
        open(&sessions, None, "s1").unwrap();
        assert!(sessions.directory(&other, "s1").is_err());
        open_in(&sessions, &other, "s1").unwrap();
        assert_eq!(open_in(&sessions, &other, "s2"), Err(ErrorKind::LimitExceeded));
    }

    #[test]
    fn a_session_belongs_to_whoever_opened_it() {
        let sessions = table(9, LONG);
        let (one, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
        open(&sessions, one, "s1").unwrap();
        for stranger in [other, Some(Actor::Token), None] {
            let found = sessions.directory(&main(stranger), "s1");
            assert_eq!(found.unwrap_err().kind(), ErrorKind::SessionNotFound);
            let listed = sessions.list(&main(stranger), None, 9, |_| true);
            assert_eq!(listed, SessionPage::default());
            open(&sessions, stranger, "s1").unwrap();
        }
        assert!(sessions.directory(&main(one), "s1").is_ok());
    }

    #[test]
    fn a_key_takes_no_more_than_its_share() {
        let sessions = Sessions::new(SessionRoom { most: 9, each: 2, idle: LONG });
        let (one, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
        open(&sessions, one, "s1").unwrap();
        open_in(&sessions, &owner(one, "other"), "s2").unwrap();
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
        assert!(sessions.directory(&main(None), "s1").unwrap().is_root());
    }

    #[test]
    fn an_id_is_taken_once() {
        let sessions = table(2, LONG);
        open(&sessions, None, "s1").unwrap();
        assert_eq!(open(&sessions, None, "s1"), Err(ErrorKind::SessionExists));
    }

    #[test]
    fn an_unknown_session_is_not_found() {
        let err = table(2, LONG).directory(&main(None), "nobody").unwrap_err();
        assert_eq!(err.kind(), ErrorKind::SessionNotFound);
    }

    #[test]
    fn a_full_table_refuses_more() {
        let sessions = table(1, LONG);
        open(&sessions, None, "s1").unwrap();
        assert_eq!(open(&sessions, None, "s2"), Err(ErrorKind::LimitExceeded));
    }

    #[test]
    fn sessions_that_ended_make_room_and_the_longest_unused_first() {
        let sessions = table(3, LONG);
        for id in ["s1", "s2", "s3"] {
            open(&sessions, None, id).unwrap();
        }
        for id in ["s2", "s1"] {
            sessions.end(&main(None), id).unwrap();
        }
        let ids = || -> Vec<String> {
            let page = sessions.list(&main(None), None, 9, |_| true);
            page.sessions.iter().map(|session| session.id.to_string()).collect()
        };
        open(&sessions, None, "s4").unwrap();
        assert_eq!(ids(), ["s1", "s3", "s4"]);
        open(&sessions, None, "s5").unwrap();
        assert_eq!(ids(), ["s3", "s4", "s5"]);
        assert_eq!(open(&sessions, None, "s6"), Err(ErrorKind::LimitExceeded));
    }

    #[test]
    fn a_key_at_its_share_makes_room_of_its_own_sessions_alone() {
        let sessions = Sessions::new(SessionRoom { most: 4, each: 2, idle: LONG });
        let (one, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
        for (by, id) in [(other, "s1"), (other, "s2"), (one, "s1"), (one, "s2")] {
            open(&sessions, by, id).unwrap();
        }
        sessions.end(&main(other), "s1").unwrap();
        assert_eq!(open(&sessions, one, "s3"), Err(ErrorKind::LimitExceeded));
        assert!(sessions.find(&main(other), "s1").is_ok());
        sessions.end(&main(one), "s1").unwrap();
        open(&sessions, one, "s3").unwrap();
        assert!(sessions.find(&main(one), "s1").is_err());
        // Where everything is full, whatever ended goes.
        open(&sessions, None, "s1").unwrap();
        assert!(sessions.find(&main(other), "s1").is_err());
    }

    #[test]
    fn an_idle_session_is_forgotten_and_makes_room() {
        let sessions = table(1, Duration::ZERO);
        open(&sessions, None, "s1").unwrap();
        assert!(sessions.directory(&main(None), "s1").is_err());
        assert_eq!(sessions.list(&main(None), None, 9, |_| true), SessionPage::default());
        open(&sessions, None, "s2").unwrap();
    }

    #[test]
    fn sessions_are_listed_page_by_page_in_the_order_of_their_ids() {
        let sessions = table(9, LONG);
        for id in ["s3", "s1", "s4", "s2"] {
            open(&sessions, None, id).unwrap();
        }
        let ids = |page: &SessionPage| -> Vec<String> {
            page.sessions.iter().map(|session| session.id.to_string()).collect()
        };
        let first = sessions.list(&main(None), None, 3, |_| true);
        assert_eq!((ids(&first), first.more), (vec!["s1".into(), "s2".into(), "s3".into()], true));
        let rest = sessions.list(&main(None), Some("s3"), 3, |_| true);
        assert_eq!((ids(&rest), rest.more), (vec!["s4".to_owned()], false));
        let chosen = sessions.list(&main(None), None, 1, |session| &*session.id == "s4");
        assert_eq!((ids(&chosen), chosen.more), (vec!["s4".to_owned()], false));
    }

    #[test]
    fn a_session_that_ended_keeps_its_directory_and_may_go_on() {
        let sessions = table(2, LONG);
        open(&sessions, None, "s1").unwrap();
        assert!(!sessions.end(&main(None), "s1").unwrap());
        assert!(sessions.end(&main(None), "s1").unwrap());
        assert!(sessions.find(&main(None), "s1").unwrap().ended);
        assert!(sessions.directory(&main(None), "s1").unwrap().is_root());
        let elsewhere = SandboxPath::clamped("a").unwrap();
        let session = sessions.resume(&main(None), "s1", Some(elsewhere.clone())).unwrap();
        assert_eq!((session.ended, &session.directory), (false, &elsewhere));
        assert_eq!(sessions.resume(&main(None), "s1", None).unwrap().directory, elsewhere);
    }

    #[test]
    fn notes_are_set_and_taken_away_and_have_a_largest_size() {
        let sessions = table(2, LONG);
        open(&sessions, None, "s1").unwrap();
        let change = |name: &str, text: Option<String>| {
            let changes = [(name.to_owned(), text)].into();
            sessions.note(&main(None), "s1", changes).map_err(|err| err.kind())
        };
        change("title", Some("one".into())).unwrap();
        let kept = change("model", Some("m".into())).unwrap().notes;
        assert_eq!(kept.len(), 2);
        assert_eq!(change("more", Some("x".repeat(MOST_NOTES))), Err(ErrorKind::LimitExceeded));
        assert_eq!(sessions.find(&main(None), "s1").unwrap().notes, kept);
        assert_eq!(change("title", None).unwrap().notes.len(), 1);
        let much = [("a".to_owned(), "x".repeat(MOST_NOTES))].into();
        let refused = sessions.create(&main(None), "s2", SandboxPath::root(), much);
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn events_are_counted() {
        let sessions = table(2, LONG);
        open(&sessions, None, "s1").unwrap();
        sessions.count_event(&main(None), "s1").unwrap();
        sessions.count_event(&main(None), "s1").unwrap();
        assert_eq!(sessions.find(&main(None), "s1").unwrap().events, 2);
    }
}

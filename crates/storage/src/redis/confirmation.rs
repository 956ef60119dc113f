//! How a server shows that a change lasts as the URL demands.

use redis::{Cmd, Value};

use super::answer::{self, checked};
use super::failure;
use crate::{Error, ErrorKind, Result};

/// How many milliseconds a confirmation is waited for.
const PATIENCE: u32 = 5000;

/// What is asked after every change, in the same round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Confirmation {
    /// How many replicas must have it.
    pub(super) replicas: u32,
    /// What the server says of its journal.
    pub(super) journal: Journal,
}

/// What a server says of its journal after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Journal {
    /// It is not asked.
    Trusted,
    /// That it still is configured to sync before it answers, for it cannot be made to wait.
    Always,
    /// That the change is synced, for which it waits.
    Synced,
}

impl Confirmation {
    /// The commands that ask whether what was written before them is confirmed.
    ///
    /// The server waits for what was written on this connection. Who tries a change again, on
    /// another connection, may have nothing left to write; so something is always written.
    pub(super) fn commands(self, pulse: Vec<u8>) -> Vec<Cmd> {
        let mut commands = Vec::new();
        if self.waits() {
            commands.push(Cmd::set(pulse, ""));
        }
        if self.replicas > 0 {
            commands.push(redis::cmd("WAIT").arg(self.replicas).arg(PATIENCE).take());
        }
        match self.journal {
            Journal::Trusted => {}
            Journal::Always => commands.push(question()),
            Journal::Synced => {
                commands.push(redis::cmd("WAITAOF").arg(1).arg(0).arg(PATIENCE).take());
            }
        }
        commands
    }

    /// Whether the answers to these commands say that all is confirmed.
    pub(super) fn check(self, answers: Vec<Value>) -> Result<()> {
        let mut answers = answers.into_iter();
        let mut next = || answers.next().ok_or_else(failure::unexpected);
        if self.waits() {
            checked(next()?)?;
        }
        if self.replicas > 0 && answer::number(next()?)? < u64::from(self.replicas) {
            return Err(unconfirmed("too few replicas confirm"));
        }
        match self.journal {
            Journal::Trusted => Ok(()),
            Journal::Always if syncs_always(&checked(next()?)?) => Ok(()),
            Journal::Always => Err(unsynced()),
            Journal::Synced => check_synced(next()?),
        }
    }

    fn waits(self) -> bool {
        self.replicas > 0 || self.journal == Journal::Synced
    }
}

/// How many servers have synced it: this one, and then the replicas.
fn check_synced(answer: Value) -> Result<()> {
    let synced = answer::many(answer)?.into_iter().next();
    if answer::number(synced.ok_or_else(failure::unexpected)?)? == 0 {
        return Err(unconfirmed("the disk of redis is too slow"));
    }
    Ok(())
}

/// What asks a server how it keeps its journal.
pub(super) fn question() -> Cmd {
    redis::cmd("CONFIG").arg("GET").arg("append*").take()
}

/// Whether a server answers that it has a journal, and syncs it before it answers.
pub(super) fn syncs_always(answer: &Value) -> bool {
    let (pairs, _) = answer.as_sequence().unwrap_or_default().as_chunks();
    let says = |name: &[u8], value: &[u8]| {
        let is = |text: &Value, bytes| matches!(text, Value::BulkString(text) if text == bytes);
        pairs.iter().any(|[known, set]| is(known, name) && is(set, value))
    };
    says(b"appendonly", b"yes") && says(b"appendfsync", b"always")
}

/// That nothing makes sure that the journal is synced.
pub(super) fn unsynced() -> Error {
    Error::new(
        ErrorKind::Unsafe,
        "durability=fsync needs redis with appendfsync always, or of version 7.2 and later",
    )
}

fn unconfirmed(message: &'static str) -> Error {
    Error::new(ErrorKind::Unavailable, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: Value = Value::Okay;

    fn configured(pairs: &[(&str, &str)]) -> Value {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        Value::Array(pairs.iter().flat_map(|(name, value)| [text(name), text(value)]).collect())
    }

    #[test]
    fn nothing_is_asked_unless_it_is_demanded() {
        let confirmation = Confirmation { replicas: 0, journal: Journal::Trusted };
        assert!(confirmation.commands(Vec::new()).is_empty());
        confirmation.check(Vec::new()).unwrap();
    }

    #[test]
    fn too_few_replicas_are_no_confirmation() {
        let confirmation = Confirmation { replicas: 2, journal: Journal::Trusted };
        assert_eq!(confirmation.commands(Vec::new()).len(), 2);
        confirmation.check(vec![OK, Value::Int(2)]).unwrap();
        let err = confirmation.check(vec![OK, Value::Int(1)]).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn a_journal_that_is_not_synced_is_no_confirmation() {
        let confirmation = Confirmation { replicas: 1, journal: Journal::Synced };
        assert_eq!(confirmation.commands(Vec::new()).len(), 3);
        let synced = |local| Value::Array(vec![Value::Int(local), Value::Int(0)]);
        confirmation.check(vec![OK, Value::Int(1), synced(1)]).unwrap();
        let err = confirmation.check(vec![OK, Value::Int(1), synced(0)]).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn a_journal_that_is_not_always_synced_is_no_confirmation() {
        let confirmation = Confirmation { replicas: 0, journal: Journal::Always };
        assert_eq!(confirmation.commands(Vec::new()).len(), 1);
        let always = ("appendfsync", "always");
        let sound = configured(&[("appenddirname", "a"), always, ("appendonly", "yes")]);
        confirmation.check(vec![sound]).unwrap();
        for unsound in [
            configured(&[("appendonly", "yes"), ("appendfsync", "everysec")]),
            configured(&[("appendonly", "no"), always]),
            configured(&[]),
        ] {
            let err = confirmation.check(vec![unsound]).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::Unsafe);
        }
    }
}

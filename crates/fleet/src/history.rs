//! What the clients of a fleet did, as they told it.

use std::collections::HashMap;
use std::fmt;

use engine::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::piece::Piece;

/// What a client wants of a sandbox. Its number says which of its files, counters and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Act {
    /// Sets a counter, unless it changed since it was read.
    Count { counter: u32, to: u64 },
    /// Makes or replaces an own file.
    Write { name: u32, piece: Piece },
    /// Adds to the end of an own file.
    Append { name: u32, piece: Piece },
    /// Moves an own file to a new name.
    Move { from: u32, to: u32 },
    /// Removes an own file.
    Remove { name: u32 },
    /// Writes its own mark to both files of a pair.
    Pair { pair: u32 },
    /// Carries tokens from one directory to another.
    Carry { tokens: Vec<Ride> },
    /// Takes a snapshot.
    Snapshot,
    /// Forgets a snapshot.
    Forget,
    /// Makes a sandbox that begins like this one.
    Fork,
    /// Takes that sandbox away.
    Discard,
    /// Removes all files of a client whose process is dead.
    Sweep { client: u32 },
}

/// One token's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ride {
    pub(crate) token: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl Act {
    /// What it is called in figures.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Count { .. } => "count",
            Self::Write { .. } => "write",
            Self::Append { .. } => "append",
            Self::Move { .. } => "move",
            Self::Remove { .. } => "remove",
            Self::Pair { .. } => "pair",
            Self::Carry { .. } => "carry",
            Self::Snapshot => "snapshot",
            Self::Forget => "forget",
            Self::Fork => "fork",
            Self::Discard => "discard",
            Self::Sweep { .. } => "sweep",
        }
    }
}

/// What came of an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// It happened.
    Done,
    /// It did not happen: the kind of the error, and its words.
    Refused(String, String),
    /// Nobody knows.
    InDoubt(String, String),
}

impl Outcome {
    pub(crate) fn of<T>(outcome: &engine::Result<T>) -> Self {
        match outcome {
            Ok(_) => Self::Done,
            Err(err) if is_doubtful(err) => {
                Self::InDoubt(err.kind().word().into(), err.to_string())
            }
            Err(err) => Self::Refused(err.kind().word().into(), err.to_string()),
        }
    }
}

/// Whether nobody knows if the operation happened.
///
/// [`Busy`](ErrorKind::Busy) is none of these: others were faster each time, and that is known.
pub(crate) fn is_doubtful(err: &Error) -> bool {
    matches!(
        err.kind(),
        ErrorKind::InDoubt | ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Io
    )
}

/// One line of what a client tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Line {
    /// An act begins, at a time in microseconds.
    Begun { client: u32, number: u64, at: u64, sandbox: u32, act: Act },
    /// The act of that number is over.
    Ended { client: u32, number: u64, at: u64, outcome: Outcome },
    /// The client saw what must never be seen.
    Broken { client: u32, sandbox: u32, words: String },
    /// The client could not read what it wanted.
    Unread { client: u32, words: String },
}

/// One act of one client.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    pub(crate) client: u32,
    pub(crate) number: u64,
    pub(crate) sandbox: u32,
    pub(crate) act: Act,
    /// In microseconds.
    pub(crate) began: u64,
    /// None if its process was killed meanwhile.
    pub(crate) end: Option<(u64, Outcome)>,
}

impl Deed {
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.end, Some((_, Outcome::Done)))
    }

    pub(crate) fn is_in_doubt(&self) -> bool {
        matches!(self.end, None | Some((_, Outcome::InDoubt(..))))
    }

    /// When it was over, if it is known that it is.
    pub(crate) fn ended(&self) -> u64 {
        match &self.end {
            Some((at, Outcome::Done | Outcome::Refused(..))) => *at,
            // Its effect may have come at any time since.
            Some((_, Outcome::InDoubt(..))) | None => u64::MAX,
        }
    }

    /// What tells it from all others, as it is written into files.
    pub(crate) fn mark(&self) -> String {
        mark(self.client, self.number)
    }
}

/// What tells an act from all others.
pub(crate) fn mark(client: u32, number: u64) -> String {
    format!("{client}-{number}")
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, number, sandbox, act, began, end } = self;
        write!(f, "client {client} act {number} in {sandbox} at {began}: {act:?} ")?;
        match end {
            Some((at, outcome)) => {
                write!(f, "→ {outcome:?} after {} µs", at.saturating_sub(*began))
            }
            None => f.write_str("→ killed"),
        }
    }
}

/// Everything that clients told.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// In the order in which they began, for each client.
    pub(crate) deeds: Vec<Deed>,
    /// What must never be seen, and was.
    pub(crate) broken: Vec<String>,
    /// How often a client could not read, and why.
    pub(crate) unread: Vec<String>,
}

impl History {
    /// Adds what one process told.
    pub(crate) fn add(&mut self, lines: Vec<Line>) {
        let mut begun: HashMap<(u32, u64), usize> = HashMap::new();
        for line in lines {
            match line {
                Line::Begun { client, number, at, sandbox, act } => {
                    begun.insert((client, number), self.deeds.len());
                    self.deeds.push(Deed { client, number, sandbox, act, began: at, end: None });
                }
                Line::Ended { client, number, at, outcome } => {
                    let at_deed = begun[&(client, number)];
                    self.deeds[at_deed].end = Some((at, outcome));
                }
                Line::Broken { client, sandbox, words } => {
                    self.broken.push(format!("client {client} in {sandbox}: {words}"));
                }
                Line::Unread { words, .. } => self.unread.push(words),
            }
        }
    }

    /// Adds what others told.
    pub(crate) fn extend(&mut self, others: &Self) {
        let Self { deeds, broken, unread } = others.clone();
        self.deeds.extend(deeds);
        self.broken.extend(broken);
        self.unread.extend(unread);
    }

    /// The acts in one sandbox.
    pub(crate) fn of_sandbox(&self, sandbox: u32) -> impl Iterator<Item = &Deed> {
        self.deeds.iter().filter(move |deed| deed.sandbox == sandbox)
    }
}

//! Where a watch was, as a short text that a client keeps.

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind, Result};

/// Where a watch was. Opaque; as text it is short, and made of letters, digits, `-` and `~`, so
/// that it needs no escaping in a query or as the id of a server-sent event.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cursor(pub(crate) Mark);

/// What a cursor says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    /// Behind a notice of a post, which watches a host directory.
    Notice { post: u64, number: u64 },
    /// At a state of a virtual tree.
    State(StateMark),
    /// Between two states: so many of their differences beneath a directory were told.
    Between { from: StateMark, to: StateMark, told: u64, scope: u64 },
}

/// What a state of a virtual tree is known by, on every server that opened the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StateMark {
    pub(crate) sequence: u64,
    pub(crate) hash: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Mark::Notice { post, number } => write!(f, "h{post:x}-{number:x}"),
            Mark::State(state) => write!(f, "v{state}"),
            Mark::Between { from, to, told, scope } => {
                write!(f, "v{from}~{to}~{told:x}-{scope:x}")
            }
        }
    }
}

impl fmt::Display for StateMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}", self.sequence, self.hash)
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cursor({self})")
    }
}

impl FromStr for Cursor {
    type Err = Error;

    /// The cursor that a text spells. One that no watch ever gave is only found out by watching.
    fn from_str(text: &str) -> Result<Self> {
        let mark = parse(text).filter(|mark| Self(mark.clone()).to_string() == text);
        let not_one = || Error::new(ErrorKind::InvalidArgument, "the text is not a cursor");
        mark.map(Self).ok_or_else(not_one)
    }
}

fn parse(text: &str) -> Option<Mark> {
    if let Some(rest) = text.strip_prefix('h') {
        let (post, number) = pair(rest)?;
        return Some(Mark::Notice { post, number });
    }
    let mut parts = text.strip_prefix('v')?.split('~');
    let from = state(parts.next()?)?;
    let Some(to) = parts.next() else { return Some(Mark::State(from)) };
    let (to, (told, scope)) = (state(to)?, pair(parts.next()?)?);
    parts.next().is_none().then_some(Mark::Between { from, to, told, scope })
}

fn state(text: &str) -> Option<StateMark> {
    pair(text).map(|(sequence, hash)| StateMark { sequence, hash })
}

fn pair(text: &str) -> Option<(u64, u64)> {
    let (one, other) = text.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(one)?, number(other)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark() -> impl Strategy<Value = Mark> {
        let state = || {
            (any::<u64>(), any::<u64>()).prop_map(|(sequence, hash)| StateMark { sequence, hash })
        };
        let notice = (any::<u64>(), any::<u64>());
        prop_oneof![
            notice.prop_map(|(post, number)| Mark::Notice { post, number }),
            state().prop_map(Mark::State),
            (state(), state(), any::<u64>(), any::<u64>())
                .prop_map(|(from, to, told, scope)| Mark::Between { from, to, told, scope }),
        ]
    }

    proptest! {
        #[test]
        fn a_cursor_comes_back_from_its_text(mark in mark()) {
            let text = Cursor(mark.clone()).to_string();
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-~".contains(&byte)));
            prop_assert!(text.len() <= 110);
            prop_assert_eq!(text.parse::<Cursor>().unwrap().0, mark);
        }

        #[test]
        fn a_cursor_has_one_spelling(text in "[hv][0-9a-fA-F+~-]{0,40}") {
            if let Ok(cursor) = text.parse::<Cursor>() {
                prop_assert_eq!(cursor.to_string(), text);
            }
        }

        #[test]
        fn what_is_no_cursor_is_refused(text in any::<String>()) {
            if let Err(err) = text.parse::<Cursor>() {
                prop_assert_eq!(err.kind(), ErrorKind::InvalidArgument);
            }
        }
    }
}

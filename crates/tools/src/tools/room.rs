//! How much one answer still holds.

use engine::{Error, ErrorKind, Result};

use crate::outcome::Why;

/// What an entry costs beside its own text: the words around it.
const AROUND: u64 = 96;

/// Room for entries in one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    entries: u64,
    asked: bool,
    bytes: u64,
    is_empty: bool,
}

impl Room {
    /// Room for as many entries as were asked for, and no more than may be.
    pub(crate) fn new(asked: Option<u64>, most: usize, bytes: u64) -> Result<Self> {
        if asked == Some(0) {
            let message = "`limit` must be at least 1";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let most = most as u64;
        let entries = asked.map_or(most, |asked| asked.min(most));
        let asked = asked.is_some_and(|asked| asked <= most);
        Ok(Self { entries, asked, bytes, is_empty: true })
    }

    /// How many entries have room.
    pub(crate) fn entries(&self) -> usize {
        usize::try_from(self.entries).unwrap_or(usize::MAX)
    }

    /// Why there is no room for more entries.
    pub(crate) fn why(&self) -> Why {
        if self.asked { Why::Limit } else { Why::Budget }
    }

    /// Takes the room of an entry with so many bytes of text, or says why there is none. The first
    /// always has room: behind none, nobody could go on.
    pub(crate) fn take(&mut self, text: usize) -> std::result::Result<(), Why> {
        let cost = AROUND + text as u64;
        if self.entries == 0 {
            return Err(self.why());
        }
        if self.bytes < cost && !self.is_empty {
            return Err(Why::Budget);
        }
        self.is_empty = false;
        self.entries -= 1;
        self.bytes = self.bytes.saturating_sub(cost);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_and_a_budget_are_told_apart() {
        let mut asked = Room::new(Some(1), 10, 1 << 20).unwrap();
        assert_eq!(asked.take(1), Ok(()));
        assert_eq!(asked.take(1), Err(Why::Limit));
        let mut many = Room::new(None, 1, 1 << 20).unwrap();
        assert_eq!(many.take(1), Ok(()));
        assert_eq!(many.take(1), Err(Why::Budget));
        let mut small = Room::new(Some(5), 10, 50).unwrap();
        assert_eq!(small.take(1), Ok(()));
        assert_eq!(small.take(1), Err(Why::Budget));
        assert!(Room::new(Some(0), 10, 50).is_err());
    }
}

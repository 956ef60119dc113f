//! What differs between two states, as it arrives.

use engine::{ByteStream, Difference, DifferenceKind, DifferenceStream, Result};
use serde::Deserialize;

use super::wire::{Stat, path};
use crate::arriving;
use crate::lines::Lines;
use crate::transport::not_understood;

/// One path that differs.
#[derive(Debug, Deserialize)]
struct DifferenceBody {
    path: String,
    change: Change,
    from: Option<String>,
    before: Option<Stat>,
    after: Option<Stat>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    Added,
    Removed,
    Modified,
    Renamed,
}

/// The differences that a body tells, one a line.
pub(super) fn differences(body: ByteStream) -> DifferenceStream {
    arriving::values(body, Lines::default(), |line| {
        let body: DifferenceBody = serde_json::from_slice(line).map_err(not_understood)?;
        body.difference()
    })
}

impl DifferenceBody {
    fn difference(self) -> Result<Difference> {
        let kind = match (self.change, self.from) {
            (Change::Added, _) => DifferenceKind::Added,
            (Change::Removed, _) => DifferenceKind::Removed,
            (Change::Modified, _) => DifferenceKind::Modified,
            (Change::Renamed, Some(from)) => DifferenceKind::Renamed { from: path(&from)? },
            (Change::Renamed, None) => return Err(not_understood("renamed from nowhere")),
        };
        Ok(Difference {
            path: path(&self.path)?,
            kind,
            before: self.before.map(Stat::entry_there).transpose()?,
            after: self.after.map(Stat::entry_there).transpose()?,
        })
    }
}

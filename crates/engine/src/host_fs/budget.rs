//! How much of its limits a tree has used.
//!
//! Counted once at the start, kept by our own changes, and counted again from time to time, since
//! processes in the sandbox change the tree without asking us.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Tree;
use super::meaning::Meaning as _;
use crate::{Limits, Result};

/// Offsets are signed numbers to the kernel.
const LARGEST_FILE: u64 = i64::MAX as u64;
/// A count takes at most this part of the time, and so do all counts together.
pub(super) const RESCAN_SHARE: u32 = 20;
const RESCAN_SOONEST: Duration = Duration::from_secs(30);

/// The running count of a limited tree.
#[derive(Debug)]
pub(super) struct Budget {
    limits: Limits,
    used: Mutex<Used>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Used {
    bytes: i64,
    nodes: i64,
    /// How many changes of ours are under way, and how many began so far.
    under_way: u64,
    begun: u64,
}

/// Room taken for a change that is under way; given back when dropped before [`Taken::keep`].
#[must_use]
pub(super) struct Taken<'a> {
    budget: Option<&'a Budget>,
    amount: (i64, i64),
}

impl Budget {
    /// Counts the tree, if it has limits that need that.
    pub(super) fn open(dir: &host::Dir, limits: Limits) -> Result<Option<Self>> {
        if limits.total_size.is_none() && limits.nodes.is_none() {
            return Ok(None);
        }
        let budget = Self { limits, used: Mutex::default() };
        budget.count(dir)?;
        Ok(Some(budget))
    }

    /// Counts the tree. A count during which we changed something ourselves means nothing, since
    /// nobody knows whether it saw the change; it is left for the next time.
    fn count(&self, dir: &host::Dir) -> Result<()> {
        let before = *self.used.lock();
        let tally = dir.tally().meaning()?;
        let mut used = self.used.lock();
        if before.under_way == 0 && used.begun == before.begun {
            used.bytes = whole(tally.bytes);
            used.nodes = whole(tally.files + tally.directories);
        }
        Ok(())
    }

    fn take(&self, (bytes, nodes): (i64, i64)) -> Result<()> {
        let mut used = self.used.lock();
        let count = |used: i64, more: i64| used.saturating_add(more).max(0).unsigned_abs();
        let before = (count(used.bytes, 0), count(used.nodes, 0));
        self.limits.check(before, (count(used.bytes, bytes), count(used.nodes, nodes)))?;
        used.bytes = used.bytes.saturating_add(bytes);
        used.nodes = used.nodes.saturating_add(nodes);
        used.under_way += 1;
        used.begun += 1;
        Ok(())
    }
}

impl Tree {
    /// Takes room for so many more bytes and nodes, which may be fewer.
    pub(super) fn take(&self, bytes: i64, nodes: i64) -> Result<Taken<'_>> {
        let amount = (bytes, nodes);
        if let Some(budget) = &self.budget {
            budget.take(amount)?;
        }
        Ok(Taken { budget: self.budget.as_deref(), amount })
    }

    /// Refuses a file that is longer than a file may be.
    pub(super) fn check_file_size(&self, size: u64) -> Result<()> {
        self.limits.check_file_size(size, LARGEST_FILE)
    }

    /// What a removal will give back, as bytes and nodes; nothing where nobody counts.
    pub(super) fn weigh(&self, spot: &host::Spot) -> Result<(i64, i64)> {
        if self.budget.is_none() {
            return Ok((0, 0));
        }
        let tally = self.dir.tally_at(spot).meaning()?;
        Ok((whole(tally.bytes), whole(tally.files + tally.directories)))
    }
}

impl Taken<'_> {
    /// The change is done.
    pub(super) fn keep(mut self) {
        self.amount = (0, 0);
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(budget) = self.budget {
            // Giving back never exceeds a limit.
            let (bytes, nodes) = self.amount;
            let mut used = budget.used.lock();
            used.bytes = used.bytes.saturating_sub(bytes);
            used.nodes = used.nodes.saturating_sub(nodes);
            used.under_way -= 1;
        }
    }
}

impl Tree {
    /// Removes what dead processes left unfinished; when to count the tree, if anybody must.
    pub(super) fn sweep(&self) -> Option<Duration> {
        if let Err(err) = self.dir.sweep() {
            tracing::warn!(error = &err as &dyn std::error::Error, "unfinished files may remain");
        }
        self.budget.as_ref().map(|_| RESCAN_SOONEST)
    }

    /// Counts the tree; when to count it again.
    pub(super) fn recount(&self) -> Option<Duration> {
        let budget = self.budget.as_ref()?;
        let began = Instant::now();
        if let Err(err) = budget.count(&self.dir) {
            tracing::warn!(error = &err as &dyn std::error::Error, "the tree was not counted");
        }
        Some((began.elapsed() * RESCAN_SHARE).max(RESCAN_SOONEST))
    }
}

/// Counts as signed numbers; what exceeds them is more than any disk holds.
pub(super) fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

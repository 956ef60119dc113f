//! Through whom the changes of a sandbox are made, where several servers share a store.
//!
//! Any server may change any tree at any time: compare-and-swap keeps that right. But servers that
//! change the same tree at once overtake each other, and each of them applies its changes again.
//! So a server that others can reach asks in the root record, with each of its commits, that for a
//! few seconds all changes be sent to it. Nothing relies on anybody doing so.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::BufMut as _;

use crate::tree::{Damaged, Input, put_text};

use super::trunk::Trunk;

/// How long a lease lasts after the last commit.
const LASTS: Duration = Duration::from_secs(10);
/// How much a clock may be ahead of ours before its leases are taken for mistakes.
const SKEW: Duration = Duration::from_secs(60);
/// How long an address is at most.
const LONGEST: u64 = 255;
/// What tells a lease from what later versions may put in its place.
const KIND: u8 = 1;

/// A server's request that changes be made through it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    /// Who asks: a writer, as the root calls them.
    pub(crate) owner: u128,
    /// Until when, in milliseconds since 1970 by his clock.
    pub(crate) until: u64,
    /// How he is reached. What that means is for those who speak to him.
    pub(crate) address: Arc<str>,
}

impl Lease {
    /// A lease that begins now.
    fn new(owner: u128, address: Arc<str>) -> Self {
        Self { owner, until: millis(SystemTime::now() + LASTS), address }
    }

    fn is_valid(&self) -> bool {
        let now = SystemTime::now();
        (millis(now)..millis(now + LASTS + SKEW)).contains(&self.until)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![KIND];
        out.put_u128_le(self.owner);
        out.put_u64_le(self.until);
        put_text(&mut out, &self.address);
        out
    }

    /// Reads a lease that says to be so long.
    pub(crate) fn decode(input: &mut Input, length: u32) -> Result<Self, Damaged> {
        if input.byte()? != KIND {
            return Err(Damaged("it was written by a later version"));
        }
        let (owner, until) = (u128::from_le_bytes(input.array()?), input.fixed_u64()?);
        let lease = Self { owner, until, address: input.text(LONGEST)? };
        if lease.encode().len() as u64 != u64::from(length) {
            return Err(Damaged("a lease is longer or shorter than it says"));
        }
        Ok(lease)
    }
}

/// A server through which changes of a tree are better made.
#[derive(Debug)]
pub struct Leader {
    trunk: Arc<Trunk>,
    lease: Lease,
}

impl Leader {
    /// How it is reached, in its own words.
    pub fn address(&self) -> &str {
        &self.lease.address
    }

    /// Says that it cannot be reached. Changes are made here for a while.
    pub fn distrust(&self) {
        let distrust = Distrust { owner: self.lease.owner, since: Instant::now() };
        *self.trunk.distrusted.lock() = Some(distrust);
    }

    /// Says that it made a change, or may have. Whoever looks at the tree from now on sees it.
    pub fn is_done(&self) {
        self.trunk.fresh.outdate();
    }
}

/// A server that could not be reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distrust {
    owner: u128,
    since: Instant,
}

impl Distrust {
    /// Who was away may be back when a lease would have ended.
    fn is_of(self, owner: u128) -> bool {
        self.owner == owner && self.since.elapsed() < LASTS
    }
}

impl Trunk {
    /// The server through which changes are better made, if that is another one.
    pub(super) fn leader(self: &Arc<Self>) -> Option<Leader> {
        let lease = self.state.look().root.lease.clone()?;
        let is_other = self.is_led_by_another(&lease);
        is_other.then(|| Leader { trunk: Arc::clone(self), lease })
    }

    /// The lease to put into the next root.
    pub(super) fn next_lease(&self, now: Option<&Lease>) -> Option<Lease> {
        let theirs = now.filter(|lease| self.is_led_by_another(lease));
        let ours = || Some(Lease::new(self.shelf.writer, self.shelf.address.clone()?));
        theirs.cloned().or_else(ours)
    }

    fn is_led_by_another(&self, lease: &Lease) -> bool {
        let is_other = lease.owner != self.shelf.writer && lease.is_valid();
        is_other && !self.distrusted.lock().is_some_and(|distrust| distrust.is_of(lease.owner))
    }
}

/// Whether an address is short enough for a lease.
pub(super) fn fits(address: &str) -> bool {
    !address.is_empty() && address.len() as u64 <= LONGEST
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

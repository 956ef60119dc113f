//! Everything that one store holds, brought to another.
//!
//! Refs are read first, then objects are sent, and refs are written last: whatever a ref of the
//! copy leads to was there when the ref was read, and is there. The sorted listings of both stores
//! are walked side by side, and what the other has is not sent again, so that a copy that broke off
//! goes on where it was.
//!
//! - `claim`: the mark of a copy that is not finished
//! - `ledger`: which refs copies may have written
//! - `gap`: what one store has and the other lacks
//! - `sending`: objects on their way
//! - `roll`: the refs

mod claim;
mod gap;
mod ledger;
mod roll;
mod sending;

use std::ops::AddAssign;
use std::sync::Arc;

use self::claim::Claim;
use self::gap::Gap;
use self::sending::Sending;
use crate::{ErrorKind, Listed, Result, Storage};

pub use self::claim::is_unfinished_copy;

/// How often what changed meanwhile is fetched. Each time is shorter than the one before it, and
/// who changes all the time must be copied as he was at some moment.
const ROUNDS: u32 = 3;

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// What is missing is being counted; so many objects were looked at.
    Counting(Amount),
    /// Objects are being sent.
    Sending {
        /// What was sent.
        sent: Amount,
        /// What there was to send.
        of: Amount,
    },
}

/// What a copy found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// It went on with a copy that broke off.
    pub resumed: bool,
    /// What was sent.
    pub sent: Amount,
    /// What was there already.
    pub present: Amount,
    /// How many refs the copy has.
    pub refs: u64,
    /// Objects that were deleted after they were listed. A collector did that, so that nothing
    /// should lead to them; who wants to be sure checks the copy.
    pub vanished: u64,
}

/// So many objects, and their bytes as they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many there are.
    pub objects: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

impl Amount {
    fn of<'a>(listed: impl IntoIterator<Item = &'a Listed>) -> Self {
        let mut amount = Self::default();
        for Listed { size, .. } in listed {
            amount += Self { objects: 1, bytes: *size };
        }
        amount
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, more: Self) {
        self.objects += more.objects;
        self.bytes += more.bytes;
    }
}

/// Copies all objects and refs of one store to another, which holds no refs yet or is a copy that
/// broke off. It may be broken off at any moment, and goes on when it is called again.
///
/// The store that is copied from may be in use. The other one may not, until this returns: it bears
/// a mark for so long ([`is_unfinished_copy`]). Those who had it open before do not see the mark:
/// what they wrote is neither overwritten nor removed, and ends the copy. All refs are held in
/// memory, and at most 64 MiB of objects.
pub async fn copy(
    from: &Arc<dyn Storage>,
    to: &Arc<dyn Storage>,
    progress: impl Fn(Progress),
) -> Result<Copied> {
    let mut claim = Claim::on(from, to).await?;
    let filled = fill(from, to, &mut claim, progress).await;
    let is_in_use = filled.as_ref().is_err_and(|err| err.kind() == ErrorKind::InUse);
    if is_in_use {
        claim.give_up().await?;
    } else if filled.is_ok() {
        claim.lift().await?;
    }
    filled
}

/// Brings everything to a store that was claimed.
async fn fill(
    from: &Arc<dyn Storage>,
    to: &Arc<dyn Storage>,
    claim: &mut Claim<'_>,
    progress: impl Fn(Progress),
) -> Result<Copied> {
    // Whoever uses the store is told before hours of sending.
    claim.present().await?;
    let mut copied = Copied { resumed: claim.resumes, ..Copied::default() };
    let mut refs = roll::read(&**from).await?;
    let mut missing = count(from, to, &progress).await?;
    for round in 1..=ROUNDS {
        send(from, to, &mut copied, |sent| progress(Progress::Sending { sent, of: missing }))
            .await?;
        // A ref that is as it was before kept what it leads to from being collected.
        let now = roll::read(&**from).await?;
        if now == refs || round == ROUNDS {
            break;
        }
        refs = now;
        missing = count(from, to, &|_| ()).await?;
        missing += copied.sent;
    }
    copied.refs = refs.len() as u64;
    roll::write(to, refs, claim).await?;
    Ok(copied)
}

/// How much there is to send.
async fn count(
    from: &Arc<dyn Storage>,
    to: &Arc<dyn Storage>,
    progress: &impl Fn(Progress),
) -> Result<Amount> {
    let (mut gap, mut seen, mut missing) =
        (Gap::between(&**from, &**to), Amount::default(), Amount::default());
    while let Some(page) = gap.next().await? {
        missing += Amount::of(&page.missing);
        seen += page.present;
        seen += Amount::of(&page.missing);
        progress(Progress::Counting(seen));
    }
    Ok(missing)
}

/// Sends what is missing; says each time how much was sent in all.
async fn send(
    from: &Arc<dyn Storage>,
    to: &Arc<dyn Storage>,
    copied: &mut Copied,
    progress: impl Fn(Amount),
) -> Result<()> {
    // What vanished for a root that was read again since is of no concern any more, and what was
    // sent in an earlier round is not what was there already.
    let sent_before = copied.sent;
    (copied.vanished, copied.present) = (0, Amount::default());
    let (mut gap, mut sending) = (Gap::between(&**from, &**to), Sending::new(from, to));
    let mut note = |sent: sending::Sent| {
        copied.sent += sent.amount;
        copied.vanished += sent.vanished;
        progress(copied.sent);
    };
    let mut present = Amount::default();
    while let Some(page) = gap.next().await? {
        present += page.present;
        for batch in sending::batches(page.missing) {
            sending.send(batch).await?.into_iter().for_each(&mut note);
        }
    }
    while let Some(sent) = sending.next().await? {
        note(sent);
    }
    copied.present.objects = present.objects.saturating_sub(sent_before.objects);
    copied.present.bytes = present.bytes.saturating_sub(sent_before.bytes);
    Ok(())
}

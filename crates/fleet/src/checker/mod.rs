//! Whether trees are what the acknowledged history says.

mod counters;
mod own_files;
mod pairs;
#[cfg(test)]
mod tests;

use engine::ErrorKind;

use crate::history::{Act, Deed, History, Outcome};
use crate::outfit::{COLD, HOT, outfit};
use crate::tree::Tree;

/// What is not as it must be in one sandbox, in words.
pub(crate) fn complaints(sandbox: u32, history: &History, tree: &Tree) -> Vec<String> {
    debug_assert!((HOT..=COLD).contains(&sandbox));
    let deeds: Vec<&Deed> = history.of_sandbox(sandbox).collect();
    let mut complaints = tree.complaints(&outfit(sandbox));
    for counter in 0..outfit(sandbox).counters {
        complaints.extend(counters::complaints(counter, &deeds, tree));
    }
    for pair in 0..outfit(sandbox).pairs {
        complaints.extend(pairs::complaints(pair, &deeds, tree));
    }
    complaints.extend(own_files::complaints(&deeds, tree));
    complaints.into_iter().map(|words| format!("sandbox {sandbox}: {words}")).collect()
}

/// Acts that were refused for a reason that there cannot have been.
pub(crate) fn refusals(history: &History) -> Vec<String> {
    let is_odd = |deed: &&Deed| match &deed.end {
        Some((_, Outcome::Refused(kind, _))) => {
            let kind = ErrorKind::from_word(kind);
            !kind.is_some_and(|kind| may_be_refused(&deed.act, kind))
        }
        Some((_, Outcome::Done | Outcome::InDoubt(..))) | None => false,
    };
    let odd = history.deeds.iter().filter(is_odd);
    odd.map(|deed| format!("refused without a reason: {deed}")).collect()
}

/// Whether others, or a limit, can be the reason why an act is refused.
fn may_be_refused(act: &Act, kind: ErrorKind) -> bool {
    let full = matches!(kind, ErrorKind::StorageFull | ErrorKind::TooManyNodes);
    let by_others = match act {
        Act::Count { .. } => full || kind == ErrorKind::PreconditionFailed,
        Act::Write { .. } | Act::Append { .. } | Act::Pair { .. } => full,
        // Somebody else carried the token away. A directory that is made for it is a node more.
        Act::Carry { .. } => full || kind == ErrorKind::NotFound,
        // The client never made a file there.
        Act::Sweep { .. } => kind == ErrorKind::NotFound,
        Act::Move { .. }
        | Act::Remove { .. }
        | Act::Snapshot
        | Act::Forget
        | Act::Fork
        | Act::Discard => false,
    };
    by_others || kind == ErrorKind::Busy
}

/// Acts that explain a complaint, the last ones if there are many.
fn shown<'a>(deeds: impl Iterator<Item = &'a Deed>) -> String {
    const MOST: usize = 12;
    let deeds: Vec<String> = deeds.map(|deed| format!("\n    {deed}")).collect();
    let left_out = deeds.len().saturating_sub(MOST);
    let note = if left_out > 0 { format!("\n    {left_out} more before") } else { String::new() };
    note + &deeds[left_out..].concat()
}

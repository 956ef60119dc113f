//! No update of a counter is lost: everybody who set it on set it on from what was there.

use std::collections::BTreeMap;

use super::shown;
use crate::history::{Act, Deed};
use crate::outfit;
use crate::tree::Tree;

/// What is wrong with one counter.
pub(super) fn complaints(counter: u32, deeds: &[&Deed], tree: &Tree) -> Vec<String> {
    let path = outfit::counter(counter);
    let text = tree.text(&path).unwrap_or_default();
    let Some((last, author)) = parse(text) else { return vec![format!("{path} is {text:?}")] };
    let tries = Tries::of(counter, deeds);
    let mut complaints = Vec::new();
    for count in 1..=last.max(tries.greatest()) {
        let found = tries.wrong(count, last).map(|words| format!("{path} {words}"));
        complaints.extend(found.map(|words| words + &shown(tries.of_count(count))));
    }
    let may_be = |deed: &Deed| deed.mark() == author && (deed.is_done() || deed.is_in_doubt());
    if last > 0 && !tries.of_count(last).any(may_be) {
        let tries = shown(tries.of_count(last));
        complaints.push(format!("{path} is {text:?}, which that client was not told{tries}"));
    }
    complaints
}

/// The count, and the mark of the act that set it.
fn parse(text: &str) -> Option<(u64, &str)> {
    let (count, author) = text.split_once(' ')?;
    Some((count.parse().ok()?, author))
}

/// Who tried to set a counter to what.
struct Tries<'a>(BTreeMap<u64, Vec<&'a Deed>>);

impl<'a> Tries<'a> {
    fn of(counter: u32, deeds: &[&'a Deed]) -> Self {
        let mut tries: BTreeMap<u64, Vec<&Deed>> = BTreeMap::new();
        for deed in deeds {
            if let Act::Count { counter: one, to } = deed.act
                && one == counter
            {
                tries.entry(to).or_default().push(deed);
            }
        }
        Self(tries)
    }

    fn of_count(&self, count: u64) -> impl Iterator<Item = &'a Deed> {
        self.0.get(&count).into_iter().flatten().copied()
    }

    fn greatest(&self) -> u64 {
        self.0.keys().next_back().copied().unwrap_or_default()
    }

    /// What is wrong with one count of a counter that ended at `last`.
    fn wrong(&self, count: u64, last: u64) -> Option<String> {
        let done = self.of_count(count).filter(|deed| deed.is_done()).count();
        let may_be = self.of_count(count).any(Deed::is_in_doubt);
        if done > 0 && count > last {
            return Some(format!("lost an update: it is {last}, {count} was acknowledged"));
        }
        if done > 1 {
            return Some(format!("lost an update: it became {count} {done} times"));
        }
        (done == 0 && !may_be && count <= last).then(|| format!("became {count} by nobody's doing"))
    }
}

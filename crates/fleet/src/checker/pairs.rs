//! What a pair holds was written to it, and by nobody whom somebody else wrote over.

use super::shown;
use crate::history::{Act, Deed};
use crate::outfit;
use crate::tree::Tree;

/// What is wrong with one pair. Whether its files are equal is seen in the tree alone.
pub(super) fn complaints(pair: u32, deeds: &[&Deed], tree: &Tree) -> Option<String> {
    let [left, _] = outfit::pair(pair);
    let text = tree.text(&left)?;
    let writes = || deeds.iter().copied().filter(|deed| deed.act == Act::Pair { pair });
    let author = writes().find(|deed| deed.mark() == text);
    // Nobody's write is from before the first one.
    let settled = match author {
        Some(deed) if deed.is_done() || deed.is_in_doubt() => deed.ended(),
        None if text == "start" => 0,
        Some(_) | None => {
            let writes = shown(writes());
            return Some(format!("{left} is {text:?}, which nobody wrote{writes}"));
        }
    };
    // An act that began when that one was over came after it.
    let later = || writes().filter(|deed| deed.is_done() && deed.began > settled);
    later().next()?;
    let writes = shown(author.into_iter().chain(later()));
    Some(format!("a lost update: {left} is {text:?}, although others wrote later{writes}"))
}

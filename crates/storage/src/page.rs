//! Where a page of a listing begins.

use std::ops::Bound;

/// Behind `after`, but not before `first`.
pub(crate) fn start<K: Ord>(first: K, after: Option<K>) -> Bound<K> {
    match after {
        Some(after) if after >= first => Bound::Excluded(after),
        Some(_) | None => Bound::Included(first),
    }
}

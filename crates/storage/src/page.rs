//! Where a page of a listing begins.

use std::ops::Bound;

/// The beginning of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<K> {
    pub(crate) key: K,
    /// Whether the page has what is behind the key, without the key itself.
    pub(crate) is_behind: bool,
}

impl<K> Start<K> {
    /// The same for a sorted map.
    pub(crate) fn bound(self) -> Bound<K> {
        if self.is_behind { Bound::Excluded(self.key) } else { Bound::Included(self.key) }
    }
}

/// Behind `after`, but not before `first`.
pub(crate) fn start<K: Ord>(first: K, after: Option<K>) -> Start<K> {
    match after {
        Some(after) if after >= first => Start { key: after, is_behind: true },
        Some(_) | None => Start { key: first, is_behind: false },
    }
}

//! Work that began long ago, for tests: no test waits for hours.

use std::sync::Arc;
use std::time::Duration;

use storage::MemoryStorage;

use super::Hold;
use crate::virtual_fs::Store;

impl Store {
    /// A store that others may have open, too.
    pub(crate) fn shared() -> Self {
        let mut store = Self::flushing(Arc::new(MemoryStorage::default()));
        Arc::get_mut(&mut store.shelf).unwrap().staleness = Some(Duration::ZERO);
        store
    }

    /// Begins to store objects, so long ago.
    pub(crate) fn begun(&self, ago: Duration) -> Option<Hold> {
        let mut work = self.shelf.pins.begin();
        let works = Arc::clone(&work.works);
        let mut works = works.lock();
        works.began.remove(&work.began);
        work.began.0 -= ago;
        works.began.insert(work.began);
        drop(works);
        Some(Hold::Work(work))
    }
}

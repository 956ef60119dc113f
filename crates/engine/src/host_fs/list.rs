//! Listings, in batches: a directory of any size costs the same memory.

use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use super::Tree;
use super::meaning::{Meaning as _, entry, host_path};
use crate::{Entry, EntryStream, Page, Result, SandboxPath, blocking, name};

/// How many entries are looked at before they are handed on.
const BATCH: usize = 512;

/// Opens a listing and looks at its first entries.
pub(super) fn open(tree: &Arc<Tree>, dir: SandboxPath, page: Page) -> Result<EntryStream> {
    let listing = tree.dir.list(&host_path(&dir)).meaning()?;
    let left = page.limit.unwrap_or(usize::MAX);
    let after = page.after.map(|after| name::to_bytes(&after).into_owned());
    let after = after.as_deref().map(std::ffi::OsStr::from_bytes);
    let names = tree.dir.in_order(&listing, after, left).meaning()?;
    let host = Arc::clone(&tree.dir);
    let cursor = Cursor { host, listing, names, left, dir };
    let (first, cursor) = cursor.next()?;
    let rest = stream::try_unfold(cursor, |cursor| async {
        let Some(cursor) = cursor else { return Ok(None) };
        blocking::run(move || cursor.next().map(Some)).await
    });
    let batches = stream::once(async { Ok(first) }).chain(rest);
    Ok(batches.map_ok(|batch| stream::iter(batch).map(Ok)).try_flatten().boxed())
}

struct Cursor {
    host: Arc<host::Dir>,
    listing: host::Listing,
    names: host::InOrder,
    left: usize,
    dir: SandboxPath,
}

impl Cursor {
    /// The next entries, and where to go on unless that was all. What vanished meanwhile is left out.
    fn next(mut self) -> Result<(Vec<Entry>, Option<Self>)> {
        let mut entries = Vec::new();
        while entries.len() < BATCH {
            if self.left == 0 {
                return Ok((entries, None));
            }
            let Some(name) = self.names.next(&self.listing).meaning()? else {
                return Ok((entries, None));
            };
            if let Some(stat) = self.host.stat_listed(&self.listing, name).meaning()? {
                self.left -= 1;
                entries.push(entry(self.dir.child(&name::to_text(name.as_bytes())), &stat));
            }
        }
        Ok((entries, Some(self)))
    }
}

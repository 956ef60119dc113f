//! Listings of a directory in a state that stays as it is.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::vec;

use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{Stream, StreamExt as _};

use crate::path::Children;
use crate::tree::{Cursor, InMemory, Node, glance};
use crate::{Entry, EntryStream, Links, Page, Result, SandboxPath};

use super::VirtualFs;
use super::change::{not_a_directory, not_found};
use super::entry::entry;
use super::trunk::{State, Trunk};

/// How many entries are made at a time when something must be fetched for them: about as many as
/// the pages hold that are fetched at once, so that all of them are used while they are at hand.
const AT_ONCE: usize = 1024;

impl VirtualFs {
    pub(super) async fn list_dir(&self, path: &SandboxPath, page: Page) -> Result<EntryStream> {
        self.trunk.check_there()?;
        let state = self.state().await?;
        let after = page.after.as_deref();
        let seen = glance(&state.root.tree, path).filter(|_| path.starts_with(&self.floor));
        let cursor = match seen.and_then(Node::directory) {
            Some(dir) => Cursor::after(dir, after),
            None => Box::pin(self.cursor(&state, path, after)).await?,
        };
        let (trunk, left) = (Arc::clone(&self.trunk), page.limit.unwrap_or(usize::MAX));
        let listing = Listing { trunk, state, paths: Children::of(path), cursor, left };
        let ready = Vec::new().into_iter();
        Ok(Entries { ready, listing: Some(listing), fetching: None }.boxed())
    }

    /// Where a listing begins.
    async fn cursor(
        &self,
        state: &State,
        path: &SandboxPath,
        after: Option<&str>,
    ) -> Result<Cursor> {
        let cursor = self.trunk.read(state, |root, source| {
            let way = self.way(root, path, Links::Follow, source)?;
            let node = match way.item() {
                Some(item) => &item.node,
                None if way.path().is_root() => &root.tree,
                None => return Err(not_found().into()),
            };
            Ok(Cursor::after(node.directory().ok_or_else(not_a_directory)?, after))
        });
        cursor.await
    }
}

/// The entries of a directory: one after the other while its pages are in memory, some at a time
/// when one must be fetched.
struct Entries {
    ready: vec::IntoIter<Entry>,
    /// None while entries are fetched, and after an error.
    listing: Option<Listing>,
    fetching: Option<BoxFuture<'static, (Listing, Result<Vec<Entry>>)>>,
}

struct Listing {
    trunk: Arc<Trunk>,
    state: Arc<State>,
    paths: Children,
    cursor: Cursor,
    left: usize,
}

impl Stream for Entries {
    type Item = Result<Entry>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(entry) = self.ready.next() {
                return Poll::Ready(Some(Ok(entry)));
            }
            if let Some(fetching) = &mut self.fetching {
                let (listing, entries) = ready!(fetching.poll_unpin(cx));
                self.fetching = None;
                match entries {
                    Ok(entries) if entries.is_empty() => return Poll::Ready(None),
                    Ok(entries) => {
                        (self.ready, self.listing) = (entries.into_iter(), Some(listing));
                    }
                    Err(err) => return Poll::Ready(Some(Err(err))),
                }
                continue;
            }
            let Some(listing) = &mut self.listing else { return Poll::Ready(None) };
            if let Some(next) = listing.at_hand() {
                return Poll::Ready(next.map(Ok));
            }
            self.fetching = self.listing.take().map(|listing| listing.fetch().boxed());
        }
    }
}

impl Listing {
    /// The next entry, or the end, if its page is in memory.
    fn at_hand(&mut self) -> Option<Option<Entry>> {
        if self.left == 0 {
            return Some(None);
        }
        let item = self.cursor.look(&InMemory).ok()?;
        self.left -= 1;
        Some(item.map(|item| entry(self.paths.named(&item.name), &item.node)))
    }

    /// The next few entries; none at the end. It waits for the first of them only: what must be
    /// fetched for others can be fetched when they are asked for.
    async fn fetch(mut self) -> (Self, Result<Vec<Entry>>) {
        let most = self.left.min(AT_ONCE);
        let mut entries = Vec::with_capacity(most.min(64));
        self.cursor.will_take(self.left);
        let (cursor, paths) = (&mut self.cursor, &mut self.paths);
        let work = self.trunk.read(&self.state, |_, source| {
            while entries.len() < most {
                match cursor.look(source) {
                    Ok(Some(item)) => entries.push(entry(paths.named(&item.name), &item.node)),
                    Err(need) if entries.is_empty() => return Err(need.into()),
                    Ok(None) | Err(_) => break,
                }
            }
            Ok(())
        });
        let outcome = work.await;
        self.left -= entries.len();
        (self, outcome.map(|()| entries))
    }
}

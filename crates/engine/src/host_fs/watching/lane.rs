//! An instance of inotify, and whom its watches belong to.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::nodes::NodeId;
use super::post::{Happened, Post};
use crate::Result;
use crate::host_fs::Meaning as _;

/// Posts that share an instance of inotify: there are only some 100 for all programs of a user.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) watches: host::Watches,
    state: Mutex<Routes>,
}

#[derive(Debug, Default)]
struct Routes {
    /// A directory has one watch, whoever watches it and under whichever path.
    owners: HashMap<host::Watch, Vec<(Weak<Post>, NodeId)>>,
    posts: Vec<Weak<Post>>,
}

/// What came of the wish to watch a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It is watched.
    Watched(host::Watch),
    /// The post watches it already, as another of its directories.
    Elsewhere(host::Watch, NodeId),
}

impl Lane {
    pub(super) fn new() -> Result<Self> {
        let watches = host::Watches::new().meaning()?;
        Ok(Self { watches, state: Mutex::default() })
    }

    pub(super) fn join(&self, post: &Weak<Post>) {
        self.state.lock().posts.push(Weak::clone(post));
    }

    /// The posts that are left.
    pub(super) fn posts(&self) -> Vec<Arc<Post>> {
        let mut state = self.state.lock();
        state.posts.retain(|post| post.strong_count() > 0);
        state.posts.iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.state.lock().posts.iter().filter(|post| post.strong_count() > 0).count()
    }

    /// Watches an open directory for a post.
    pub(super) fn add(
        &self,
        dir: &host::Listing,
        post: &Weak<Post>,
        node: NodeId,
    ) -> host::Result<Added> {
        // Held meanwhile, so that whoever reads the first event finds whom it belongs to.
        let mut state = self.state.lock();
        let watch = self.watches.add(dir)?;
        let owners = state.owners.entry(watch).or_default();
        match owners.iter().find(|(owner, _)| Weak::ptr_eq(owner, post)) {
            Some((_, known)) if *known != node => {
                return Ok(Added::Elsewhere(watch, *known));
            }
            Some(_) => {}
            None => owners.push((Weak::clone(post), node)),
        }
        Ok(Added::Watched(watch))
    }

    /// Gives up watches of a post.
    pub(super) fn remove(&self, post: *const Post, watches: impl IntoIterator<Item = host::Watch>) {
        let mut state = self.state.lock();
        for watch in watches {
            let Some(owners) = state.owners.get_mut(&watch) else { continue };
            owners.retain(|(owner, _)| owner.as_ptr() != post);
            if owners.is_empty() {
                state.owners.remove(&watch);
                self.watches.remove(watch);
            }
        }
    }

    /// Brings what the kernel has to tell to those whom it concerns; gives them, and whether there
    /// may be more.
    pub(super) fn deliver(&self) -> Result<(Vec<Arc<Post>>, bool)> {
        let mut concerned: Vec<Arc<Post>> = Vec::new();
        let mut is_overflown = false;
        let more = self.watches.read(&mut |event| {
            let (watch, happened) = match event {
                host::Event::Overflow => {
                    is_overflown = true;
                    return;
                }
                host::Event::Ended(watch) => (watch, Happened::Ended(watch)),
                host::Event::Named { watch, name, is_dir, happening } => {
                    (watch, Happened::Named { name: name.to_owned(), is_dir, happening })
                }
            };
            self.route(watch, &happened, &mut concerned);
        });
        if is_overflown {
            concerned = self.posts();
            concerned.iter().for_each(|post| post.lose());
        }
        Ok((concerned, more.meaning()?))
    }

    fn route(&self, watch: host::Watch, happened: &Happened, concerned: &mut Vec<Arc<Post>>) {
        let mut state = self.state.lock();
        let owners = match happened {
            // The kernel has forgotten it, too.
            Happened::Ended(_) => state.owners.remove(&watch).unwrap_or_default(),
            Happened::Named { .. } => state.owners.get(&watch).cloned().unwrap_or_default(),
        };
        drop(state);
        for (post, node) in owners.iter().filter_map(|(post, node)| Some((post.upgrade()?, *node)))
        {
            post.receive(node, happened.clone());
            if !concerned.iter().any(|known| Arc::ptr_eq(known, &post)) {
                concerned.push(post);
            }
        }
    }
}

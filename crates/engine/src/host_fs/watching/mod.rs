//! Watching a host directory: the kernel tells what happens, one thread listens for all trees.
//!
//! - `post`: one watched directory, and what was told of it
//! - `scene`: what happens there, told in the tree's own paths
//! - `nodes`: the directories beneath it, by name
//! - `writing`: files that somebody is writing to
//! - `lane`: an instance of inotify, and whom its watches belong to
//! - `sentry`: the thread, and which lanes there are

mod lane;
mod nodes;
mod post;
mod scene;
mod sentry;
mod writing;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use parking_lot::Mutex;

use self::post::Post;
use super::{HostFs, Tree};
use crate::watch::{MOST_STREAMS, Reader, too_many};
use crate::{Error, ErrorKind, Notice, NoticeStream, Result, SandboxPath, Watch, blocking};

/// How long a directory is watched after the last one left, who may come back.
const MEMORY: Duration = Duration::from_mins(5);
/// How many directories of one tree may be watched at a time, those that nobody watches any more
/// included.
const MOST_OF_A_TREE: usize = 64;
/// How many directories may be watched in this process.
const MOST: usize = 4096;

static WATCHED: AtomicUsize = AtomicUsize::new(0);

/// What of a tree is watched.
#[derive(Debug, Default)]
pub(super) struct Posts {
    posts: Mutex<HashMap<Key, Arc<Post>>>,
    streams: AtomicUsize,
}

/// Which directory, and whether everything beneath it.
pub(super) type Key = (SandboxPath, bool);

impl Posts {
    /// The post that watches a directory; a new one if there is none.
    fn find(&self, tree: &Arc<Tree>, key: Key) -> Result<Arc<Post>> {
        let mut posts = self.posts.lock();
        if let Some(post) = posts.get(&key).filter(|post| !post.is_over()) {
            post.occupy();
            return Ok(Arc::clone(post));
        }
        if posts.len() >= MOST_OF_A_TREE {
            let left = posts.iter().filter_map(|(key, post)| Some((post.left()?, key)));
            let oldest = left.min_by_key(|(left, _)| *left).map(|(_, key)| key.clone());
            posts.remove(&oldest.ok_or_else(too_many)?);
        }
        let post = Post::new(tree, key.clone())?;
        post.occupy();
        posts.insert(key, Arc::clone(&post));
        Ok(post)
    }

    /// Watches a directory no more, if this is still the post that does.
    fn forget(&self, key: &Key, post: &Post) {
        let mut posts = self.posts.lock();
        let is_meant = posts.get(key).is_some_and(|known| std::ptr::eq(&raw const **known, post));
        let forgotten = is_meant.then(|| posts.remove(key));
        drop(posts);
        drop(forgotten);
    }
}

/// A stream's hold on a post.
struct Seat {
    tree: Arc<Tree>,
    post: Arc<Post>,
}

impl Seat {
    fn take(tree: &Arc<Tree>, key: Key) -> Result<Self> {
        let streams = &tree.posts.streams;
        let is_full = streams.fetch_add(1, Ordering::Relaxed) >= MOST_STREAMS;
        let found = if is_full { Err(too_many()) } else { tree.posts.find(tree, key) };
        match found {
            Ok(post) => Ok(Self { tree: Arc::clone(tree), post }),
            Err(err) => {
                streams.fetch_sub(1, Ordering::Relaxed);
                Err(err)
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.post.leave();
        self.tree.posts.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HostFs {
    pub(super) async fn watch_dir(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        let seat = Seat::take(&self.tree, (dir.clone(), wish.recursive))?;
        let post = Arc::clone(&seat.post);
        let standing = seat.post.standing.get_or_try_init(|| blocking::run(move || post.stand()));
        if let Err(err) = standing.await {
            // Whoever asks next begins anew, and may have better luck.
            self.tree.posts.forget(&seat.post.key, &seat.post);
            return Err(err);
        }
        let (reader, first) = seat.post.ring.begin(wish.after.as_ref());
        Ok(stream_of(seat, reader, first))
    }
}

fn stream_of(seat: Seat, reader: Reader, first: Notice) -> NoticeStream {
    let batches = stream::try_unfold((seat, reader), |(seat, mut reader)| async move {
        let notices = reader.next(&seat.post.ring).await?;
        Ok::<_, Error>(Some((notices, (seat, reader))))
    });
    let rest = batches.map_ok(|notices| stream::iter(notices.into_iter().map(Ok))).try_flatten();
    stream::once(async { Ok(first) }).chain(rest).boxed()
}

/// One of the directories that may be watched in this process.
#[derive(Debug)]
struct Place;

impl Place {
    fn take() -> Result<Self> {
        let place = Self;
        if WATCHED.fetch_add(1, Ordering::Relaxed) >= MOST {
            let message = format!("the server watches {MOST} directories, and no more");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        WATCHED.fetch_sub(1, Ordering::Relaxed);
    }
}

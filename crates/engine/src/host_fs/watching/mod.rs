//! Watching a host directory: the kernel tells what happens, one thread listens for all trees.
//!
//! - `post`: one watched directory, and what was told of it
//! - `scene`: what happens there, told in the tree's own paths
//! - `nodes`: the directories beneath it, by name
//! - `writing`: files that somebody is writing to
//! - `places`: how many directories may be watched
//! - `lane`: an instance of inotify, and whom its watches belong to
//! - `sentry`: the thread, and which lanes there are

mod lane;
mod nodes;
mod places;
mod post;
mod scene;
mod sentry;
mod writing;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use parking_lot::Mutex;

use self::places::Places;
use self::post::Post;
use super::HostFs;
use crate::garbage::drop_later;
use crate::watch::{MOST_STREAMS, Reader, too_many};
use crate::{Error, ErrorKind, Notice, NoticeStream, Result, SandboxPath, Watch, blocking};

/// How long a directory is watched after the last one left, who may come back.
const MEMORY: Duration = Duration::from_mins(5);
/// How many directories of one tree may be watched at a time, those that nobody watches any more
/// included.
const MOST_OF_A_TREE: usize = 64;

/// What of a tree is watched, through all its views.
#[derive(Debug, Default)]
pub(super) struct Posts {
    posts: Mutex<HashMap<Key, Arc<Post>>>,
    streams: AtomicUsize,
    /// How many directories the kernel watches for the tree.
    places: Arc<Places>,
}

/// What a post watches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The part of the tree that no link may lead out of: another view of the same path may lead to
    /// another directory.
    floor: PathBuf,
    dir: SandboxPath,
    /// Whether everything beneath it is meant.
    recursive: bool,
}

impl Posts {
    /// The post that watches a directory; a new one if there is none.
    fn find(self: &Arc<Self>, root: &Arc<host::Dir>, key: Key) -> Result<Arc<Post>> {
        let mut posts = self.posts.lock();
        if let Some(post) = posts.get(&key).filter(|post| !post.is_over()) {
            post.occupy();
            return Ok(Arc::clone(post));
        }
        if posts.len() >= MOST_OF_A_TREE {
            let left = posts.iter().filter_map(|(key, post)| Some((post.left()?, key)));
            let oldest = left.min_by_key(|(left, _)| *left).map(|(_, key)| key.clone());
            drop_later(posts.remove(&oldest.ok_or_else(too_many)?));
        }
        let post = Post::new(self, root, key.clone())?;
        post.occupy();
        posts.insert(key, Arc::clone(&post));
        Ok(post)
    }

    /// Watches no more what nobody watches; whether there was anything. Blocks.
    fn clear(&self) -> bool {
        let left = |post: &Post| post.left().is_some();
        let cleared: Vec<_> = self.posts.lock().extract_if(|_, post| left(post)).collect();
        !cleared.is_empty()
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
    posts: Arc<Posts>,
    post: Arc<Post>,
}

impl Seat {
    fn take(posts: &Arc<Posts>, root: &Arc<host::Dir>, key: Key) -> Result<Self> {
        let is_full = posts.streams.fetch_add(1, Ordering::Relaxed) >= MOST_STREAMS;
        let found = if is_full { Err(too_many()) } else { posts.find(root, key) };
        match found {
            Ok(post) => Ok(Self { posts: Arc::clone(posts), post }),
            Err(err) => {
                posts.streams.fetch_sub(1, Ordering::Relaxed);
                Err(err)
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.post.leave();
        self.posts.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HostFs {
    pub(super) async fn watch_dir(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        let floor = self.tree.dir.floor().into();
        let key = Key { floor, dir: dir.clone(), recursive: wish.recursive };
        let seat = match self.stand(key.clone()).await {
            // Those whom nobody watches make room, before anybody is refused.
            Err(err) if err.kind() == ErrorKind::LimitExceeded => {
                let is_room = self.on_tree(|tree| Ok(tree.posts.clear())).await?;
                if is_room { self.stand(key).await? } else { return Err(err) }
            }
            outcome => outcome?,
        };
        let (reader, first) = seat.post.ring.begin(wish.after.as_ref());
        Ok(stream_of(seat, reader, first))
    }

    /// A seat at a post that stands.
    async fn stand(&self, key: Key) -> Result<Seat> {
        let seat = Seat::take(&self.tree.posts, &self.tree.dir, key)?;
        let post = Arc::clone(&seat.post);
        let standing = seat.post.standing.get_or_try_init(|| blocking::run(move || post.stand()));
        if let Err(err) = standing.await {
            // Whoever asks next begins anew, and may have better luck.
            seat.posts.forget(&seat.post.key, &seat.post);
            return Err(err);
        }
        Ok(seat)
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

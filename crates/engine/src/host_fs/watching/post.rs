//! One watched directory: what the kernel tells of it comes in, notices go out.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::lane::Lane;
use super::nodes::NodeId;
use super::places::{Places, PostPlace};
use super::scene::{Scene, Stage, Trouble};
use super::{Key, MEMORY, Posts, sentry};
use crate::watch::Ring;
use crate::{Error, ErrorKind, Loss, NoticeKind, Result};

/// How many events may wait. Beyond that it is quicker to look at everything anew.
const MOST_WAITING: usize = 65_536;
/// How often a tree in which things move is looked at before it is left for later.
const TRIES: usize = 4;

/// A watched directory.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) key: Key,
    pub(super) ring: Ring,
    /// Whether the kernel was asked to watch.
    pub(super) standing: OnceCell<()>,
    /// Those of the same tree.
    posts: Weak<Posts>,
    root: Arc<host::Dir>,
    places: Arc<Places>,
    lane: Arc<Lane>,
    own: Weak<Self>,
    inbox: Mutex<Inbox>,
    scene: Mutex<Scene>,
    /// Whether somebody is at work on the scene.
    is_busy: AtomicBool,
    /// Whether something must be told later although nothing more may happen.
    is_restless: AtomicBool,
    streams: Mutex<Streams>,
    /// When it was last looked after.
    checked: Mutex<Instant>,
    _place: PostPlace,
}

/// What the kernel told and nobody has looked at.
#[derive(Debug, Default)]
struct Inbox {
    events: Vec<(NodeId, Happened)>,
    /// Whether some of it got lost.
    is_lost: bool,
}

/// Something that happened in a directory, or to its watch.
#[derive(Clone, Debug)]
pub(super) enum Happened {
    Ended(host::Watch),
    Named { name: OsString, is_dir: bool, happening: host::Happening },
}

#[derive(Debug)]
struct Streams {
    count: usize,
    left: Instant,
}

impl Post {
    pub(super) fn new(posts: &Arc<Posts>, root: &Arc<host::Dir>, key: Key) -> Result<Arc<Self>> {
        let (place, lane) = (PostPlace::take()?, sentry::lane()?);
        let post = Arc::new_cyclic(|own: &Weak<Self>| Self {
            scene: Mutex::new(Scene::new(&key)),
            key,
            ring: Ring::new(),
            standing: OnceCell::new(),
            posts: Arc::downgrade(posts),
            root: Arc::clone(root),
            places: Arc::clone(&posts.places),
            lane,
            own: Weak::clone(own),
            inbox: Mutex::default(),
            is_busy: AtomicBool::new(false),
            is_restless: AtomicBool::new(false),
            streams: Mutex::new(Streams { count: 0, left: Instant::now() }),
            checked: Mutex::new(Instant::now()),
            _place: place,
        });
        post.lane.join(&post.own);
        Ok(post)
    }

    /// Begins to watch. May take as long as it takes to look at every directory.
    pub(super) fn stand(&self) -> Result<()> {
        self.is_busy.store(true, Ordering::Release);
        let stood = self.stand_anew();
        self.take_turns();
        stood
    }

    fn stand_anew(&self) -> Result<()> {
        let (mut scene, stage) = (self.scene.lock(), self.stage());
        for _ in 0..TRIES {
            match scene.stand(&stage) {
                Ok(()) => return Ok(()),
                Err(Trouble::Over(err)) => {
                    self.leave_scene(&mut scene);
                    return Err(err);
                }
                Err(Trouble::Lost(_)) => {}
            }
        }
        self.leave_scene(&mut scene);
        Err(Error::new(ErrorKind::Busy, "the directories keep moving"))
    }

    /// Has the kernel watch nothing more: here, where it may take its time, and not where the last
    /// stream ends.
    fn leave_scene(&self, scene: &mut Scene) {
        self.lane.remove(self.own.as_ptr(), scene.leave());
    }

    /// Takes in what happened in a directory.
    pub(super) fn receive(&self, node: NodeId, happened: Happened) {
        let mut inbox = self.inbox.lock();
        if inbox.events.len() >= MOST_WAITING {
            *inbox = Inbox { events: Vec::new(), is_lost: true };
        }
        if !inbox.is_lost {
            inbox.events.push((node, happened));
        }
    }

    /// Takes in that nobody knows what happened.
    pub(super) fn lose(&self) {
        *self.inbox.lock() = Inbox { events: Vec::new(), is_lost: true };
    }

    /// Whether the caller is the one who goes to work on what came in.
    pub(super) fn begin_turn(&self) -> bool {
        self.standing.initialized() && !self.is_busy.swap(true, Ordering::AcqRel)
    }

    /// Tells what came in until nothing is left.
    pub(super) fn take_turns(&self) {
        loop {
            self.turn();
            self.is_busy.store(false, Ordering::Release);
            let is_done = self.inbox.lock().events.is_empty();
            if is_done || !self.begin_turn() {
                return;
            }
        }
    }

    fn turn(&self) {
        let Some(posts) = self.posts.upgrade().filter(|_| !self.is_over()) else { return };
        *self.checked.lock() = Instant::now();
        if self.left().is_some_and(|left| left.elapsed() > MEMORY) {
            return posts.forget(&self.key, self);
        }
        let mut scene = self.scene.lock();
        let Inbox { events, is_lost } = std::mem::take(&mut *self.inbox.lock());
        let stage = self.stage();
        let outcome = match is_lost {
            true => Err(Trouble::Lost(Loss::Overflow)),
            false => scene.follow(&stage, events),
        };
        scene.flush(&stage);
        match outcome {
            Ok(()) => {}
            Err(Trouble::Over(err)) => self.end(&posts, &mut scene, &err),
            Err(Trouble::Lost(why)) => match scene.stand(&stage) {
                Ok(()) => self.ring.tell([NoticeKind::Resync { why }]),
                Err(Trouble::Over(err)) => self.end(&posts, &mut scene, &err),
                // Things still move; the next turn tries again.
                Err(Trouble::Lost(_)) => self.lose(),
            },
        }
        let is_restless = scene.is_restless() || self.inbox.lock().is_lost;
        self.is_restless.store(is_restless, Ordering::Relaxed);
    }

    /// Tells no more. Whoever watches the directory next begins anew.
    fn end(&self, posts: &Posts, scene: &mut Scene, err: &Error) {
        self.leave_scene(scene);
        self.ring.end(err);
        posts.forget(&self.key, self);
    }

    fn stage(&self) -> Stage<'_> {
        Stage {
            root: &self.root,
            places: &self.places,
            lane: &self.lane,
            post: &self.own,
            ring: &self.ring,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.ring.is_over()
    }

    /// Whether it should be looked after although nothing was told.
    pub(super) fn is_due(&self, pause: Duration) -> bool {
        let is_late = self.checked.lock().elapsed() >= pause;
        self.standing.initialized() && !self.is_over() && (is_late || self.is_restless())
    }

    pub(super) fn is_restless(&self) -> bool {
        self.is_restless.load(Ordering::Relaxed) || self.is_busy.load(Ordering::Relaxed)
    }

    /// Counts one who watches.
    pub(super) fn occupy(&self) {
        self.streams.lock().count += 1;
    }

    /// One who watched is gone.
    pub(super) fn leave(&self) {
        let mut streams = self.streams.lock();
        (streams.count, streams.left) = (streams.count.saturating_sub(1), Instant::now());
    }

    /// When the last one left, if nobody watches.
    pub(super) fn left(&self) -> Option<Instant> {
        let streams = self.streams.lock();
        (streams.count == 0).then_some(streams.left)
    }
}

/// The kernel need not watch for nobody.
impl Drop for Post {
    fn drop(&mut self) {
        let own = self.own.as_ptr();
        self.lane.remove(own, self.scene.get_mut().leave());
    }
}

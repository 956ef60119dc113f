//! The thread that listens to the kernel, for all trees of the process.

use std::sync::{Arc, LazyLock, Weak};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, Handle};
use tokio::time::sleep;

use super::lane::Lane;
use super::post::Post;
use crate::{Error, ErrorKind, Result, blocking};

/// How many instances of inotify are used. Each remembers some 16,000 events, so that what happens
/// in one tree does not push out what happens in others, as long as there are few of them.
const LANES: usize = 16;
/// How many threads follow what happens; a large directory that is moved in occupies one.
const FOLLOWERS: usize = 4;
/// How often posts are looked after that have something to tell later.
const SHORT: Duration = Duration::from_millis(25);
/// How often they are looked after anyway: directories may move without a word of the kernel.
const LONG: Duration = Duration::from_secs(2);

static SENTRY: LazyLock<Sentry> = LazyLock::new(Sentry::default);

#[derive(Debug, Default)]
struct Sentry {
    runtime: Mutex<Option<Handle>>,
    lanes: Mutex<Vec<Weak<Lane>>>,
}

/// A lane for a new post: one of its own while there are few.
pub(super) fn lane() -> Result<Arc<Lane>> {
    let runtime = SENTRY.runtime()?;
    let mut lanes = SENTRY.lanes.lock();
    lanes.retain(|lane| lane.strong_count() > 0);
    let emptiest = lanes.iter().filter_map(Weak::upgrade).min_by_key(|lane| lane.len());
    let is_free = emptiest.as_ref().is_some_and(|lane| lane.len() == 0);
    if lanes.len() < LANES && !is_free {
        match Lane::new() {
            Ok(lane) => {
                let lane = Arc::new(lane);
                lanes.push(Arc::downgrade(&lane));
                runtime.spawn(listen(Arc::clone(&lane)));
                return Ok(lane);
            }
            // Other programs of the user have them all; one can be shared.
            Err(err) if emptiest.is_none() => return Err(no_instance(err)),
            Err(_) => {}
        }
    }
    emptiest.ok_or_else(|| Error::new(ErrorKind::Busy, "the server is busy"))
}

fn no_instance(err: Error) -> Error {
    let message = "the machine watches no more directories: see fs.inotify.max_user_instances";
    Error::new(ErrorKind::LimitExceeded, message).because(err)
}

impl Sentry {
    /// A runtime of our own: those who watch come and go with theirs.
    fn runtime(&self) -> Result<Handle> {
        let mut known = self.runtime.lock();
        if let Some(handle) = &*known {
            return Ok(handle.clone());
        }
        let busy = |err| Error::new(ErrorKind::Busy, "no thread could be started").because(err);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(FOLLOWERS)
            .thread_name("sandkeep-watch")
            .build()
            .map_err(busy)?;
        let handle = runtime.handle().clone();
        let listen = move || runtime.block_on(std::future::pending::<()>());
        thread::Builder::new().name("sandkeep-watch".into()).spawn(listen).map_err(busy)?;
        *known = Some(handle.clone());
        Ok(handle)
    }
}

/// Listens for as long as anybody is there.
async fn listen(lane: Arc<Lane>) {
    #[expect(
        deprecated,
        reason = "what replaces it is unsafe, for the sake of descriptors that change or close; \
                  this one is the lane's and lives as long"
    )]
    let events = AsyncFd::with_interest(Listened(lane), Interest::READABLE);
    let Ok(events) = events else {
        tracing::error!("no directory can be watched");
        return;
    };
    let lane = &events.get_ref().0;
    while !is_deserted(lane) {
        let is_restless = lane.posts().iter().any(|post| post.is_restless());
        tokio::select! {
            ready = events.readable() => {
                let Ok(mut ready) = ready else { return };
                match lane.deliver() {
                    Ok((concerned, more)) => {
                        concerned.into_iter().for_each(follow);
                        if !more {
                            ready.clear_ready();
                        }
                    }
                    Err(err) => {
                        tracing::error!(error = &err as &dyn std::error::Error, "events are lost");
                        lane.posts().iter().for_each(|post| post.lose());
                        sleep(LONG).await;
                    }
                }
            }
            () = sleep(if is_restless { SHORT } else { LONG }) => {
                lane.posts().into_iter().filter(|post| post.is_due(LONG)).for_each(follow);
            }
        }
    }
}

/// Whether nobody is there any more, nor can come: whoever looks for a lane does not find it.
fn is_deserted(lane: &Arc<Lane>) -> bool {
    let mut lanes = SENTRY.lanes.lock();
    // One that was just found is held by somebody who has not joined it yet.
    let is_deserted = lane.len() == 0 && Arc::strong_count(lane) == 1;
    if is_deserted {
        lanes.retain(|known| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(lane)));
    }
    is_deserted
}

/// Lets a post follow what happened, where it may take its time.
fn follow(post: Arc<Post>) {
    if post.begin_turn() {
        drop(tokio::spawn(async move {
            let followed = blocking::run(move || {
                post.take_turns();
                Ok(())
            });
            if let Err(err) = followed.await {
                tracing::error!(error = &err as &dyn std::error::Error, "a watch broke off");
            }
        }));
    }
}

/// A lane whose descriptor can be waited for.
struct Listened(Arc<Lane>);

impl std::os::fd::AsRawFd for Listened {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        std::os::fd::AsFd::as_fd(&self.0.watches).as_raw_fd()
    }
}

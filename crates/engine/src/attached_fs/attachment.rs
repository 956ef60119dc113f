//! What a sandbox is attached to, and the tree that is held of it at the moment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use host::Process;
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use super::hold::{self, Hold};
use super::{AttachedOptions, gone};
use crate::{
    AttachTarget, ContainerName, ContainerState, Containers, Error, ErrorKind, Result, SandboxId,
    SandboxPath, Store,
};

/// For how long a container that was not there is taken to be away still.
const PAUSE: Duration = Duration::from_secs(1);
/// How often a container is asked for that starts and ends meanwhile.
const TRIES: usize = 3;

/// A tree of a container or a process.
#[derive(Debug)]
pub(super) struct Attachment {
    own: Weak<Self>,
    source: Source,
    pub(super) target: AttachTarget,
    path: SandboxPath,
    options: AttachedOptions,
    pub(super) snapshots: Option<(Store, SandboxId)>,
    /// Whether trees are tended while they are held.
    pub(super) tended: AtomicBool,
    current: Mutex<Option<Arc<Hold>>>,
    /// Held by the one who attaches anew.
    turn: tokio::sync::Mutex<Turn>,
}

/// How attaching anew goes.
#[derive(Debug, Default)]
struct Turn {
    /// Why it failed last, and when.
    failed: Option<(Instant, Error)>,
    /// What is under way still. It goes on when whoever began it waits no longer, and the next one
    /// waits for it: a tree that never answers holds one thread, however often it is asked for.
    opening: Option<JoinHandle<Result<()>>>,
}

/// Where the process is found.
#[derive(Debug)]
pub(super) enum Source {
    Container(ContainerName, Arc<dyn Containers>),
    Process { pid: u32, birth: Option<String>, found: Mutex<Option<Arc<Process>>> },
}

impl Attachment {
    pub(super) fn new(
        (source, target): (Source, AttachTarget),
        path: SandboxPath,
        options: AttachedOptions,
        snapshots: Option<(Store, SandboxId)>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            own: Weak::clone(own),
            source,
            target,
            path,
            options,
            snapshots,
            tended: AtomicBool::new(false),
            current: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        })
    }

    /// The tree as it is now: looked at before every operation, and found anew if it is another one.
    pub(super) async fn hold(&self) -> Result<Arc<Hold>> {
        match self.held() {
            Some(hold) => Ok(hold),
            None => self.attach().await.map_err(away),
        }
    }

    /// The tree that is held, if it is still the one.
    pub(super) fn held(&self) -> Option<Arc<Hold>> {
        let hold = self.current.lock().clone()?;
        if hold.is_still() {
            return Some(hold);
        }
        self.let_go(&hold);
        None
    }

    /// Holds a tree no more, unless that is another one by now.
    pub(super) fn let_go(&self, hold: &Arc<Hold>) {
        let dropped = {
            let mut current = self.current.lock();
            current.take_if(|current| Arc::ptr_eq(current, hold))
        };
        drop(dropped);
    }

    /// Attaches anew, one at a time for all who ask. What was away is not looked for again at once.
    /// What there never was is [`ErrorKind::NotFound`].
    pub(super) async fn attach(&self) -> Result<Arc<Hold>> {
        let mut turn = self.turn.lock().await;
        if let Some(hold) = self.held() {
            return Ok(hold);
        }
        if let Some((when, err)) = &turn.failed
            && when.elapsed() < PAUSE
        {
            return Err(again(err));
        }
        // What nobody waited for to its end tells of a while ago.
        let under_way = turn.opening.take().filter(|opening| !opening.is_finished());
        let opening = turn.opening.insert(match under_way {
            Some(opening) => opening,
            None => self.begin()?,
        });
        let outcome = opening.await.unwrap_or_else(|err| {
            Err(Error::new(ErrorKind::Io, "the server broke off as it attached").because(err))
        });
        turn.opening = None;
        let outcome = outcome.and_then(|()| self.held().ok_or_else(|| gone(&self.target)));
        turn.failed = outcome.as_ref().err().map(|err| (Instant::now(), again(err)));
        outcome
    }

    /// Begins to open the tree.
    fn begin(&self) -> Result<JoinHandle<Result<()>>> {
        let own = self.own.upgrade().ok_or_else(|| gone(&self.target))?;
        Ok(tokio::spawn(async move { own.open().await }.in_current_span()))
    }

    async fn open(&self) -> Result<()> {
        let process = self.process().await?;
        let target = self.target.clone();
        let mut hold = Hold::open(process, &self.path, self.options, target).await?;
        if let Some((store, id)) = &self.snapshots {
            hold.keep_snapshots(store.clone(), id.clone());
        }
        if self.tended.load(Ordering::SeqCst) {
            hold.files.tend()?;
        }
        let hold = Arc::new(hold);
        hold::watch_over(&hold, Weak::clone(&self.own))?;
        *self.current.lock() = Some(hold);
        Ok(())
    }

    async fn process(&self) -> Result<Arc<Process>> {
        match &self.source {
            Source::Container(name, containers) => self.of_container(name, &**containers).await,
            Source::Process { pid, birth, found } => {
                let held = found.lock().clone();
                if let Some(process) = held {
                    return Ok(process);
                }
                let process = hold::process(&self.target, *pid).await?;
                let born = process.birth().map_err(|err| hold::meaning(err, &self.target))?;
                if birth.as_ref().is_some_and(|birth| *birth != born) {
                    return Err(gone(&self.target));
                }
                *found.lock() = Some(Arc::clone(&process));
                Ok(process)
            }
        }
    }

    /// The process that a container runs as. It is asked for once more when the process is held: a
    /// number that was given to another process meanwhile is noticed.
    async fn of_container(
        &self,
        name: &ContainerName,
        containers: &dyn Containers,
    ) -> Result<Arc<Process>> {
        let mut state = containers.find(name).await?;
        for _ in 0..TRIES {
            let pid = match &state {
                ContainerState::Missing => {
                    let message = format!("there is no container `{name}`");
                    return Err(Error::new(ErrorKind::NotFound, message));
                }
                ContainerState::Stopped => return Err(gone(&self.target)),
                ContainerState::Running { pid, .. } => *pid,
            };
            let process = hold::process(&self.target, pid).await;
            let now = containers.find(name).await?;
            match process {
                Ok(process) if now == state => return Ok(process),
                Err(err) if now == state => return Err(unseen(err, &self.target)),
                Ok(_) | Err(_) => state = now,
            }
        }
        Err(Error::new(ErrorKind::SandboxUnavailable, format!("{} keeps restarting", self.target)))
    }
}

/// A container runs, and we do not see its process.
fn unseen(err: Error, target: &AttachTarget) -> Error {
    if err.kind() != ErrorKind::NotFound {
        return err;
    }
    let message = format!(
        "{target} runs as a process that the server cannot see: both must be on one machine, and \
         the server needs the machine's process ids (--pid=host, if it is in a container itself)"
    );
    Error::new(ErrorKind::SandboxUnavailable, message).because(err)
}

/// The same error where the tree was there before: it may be again. That its engine says nothing
/// either changes nothing for whoever works in the sandbox.
fn away(err: Error) -> Error {
    if ![ErrorKind::NotFound, ErrorKind::Unavailable].contains(&err.kind()) {
        return err;
    }
    Error::new(ErrorKind::SandboxUnavailable, err.message().to_owned()).because(err)
}

/// The same error for the next who asks.
fn again(err: &Error) -> Error {
    Error::new(err.kind(), err.message().to_owned())
}

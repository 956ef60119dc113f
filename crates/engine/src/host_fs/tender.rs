//! One thread that takes care of all trees of the process.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Tree;
use crate::{Error, ErrorKind, Result};

/// How long the thread waits when no tree needs it.
const LONG: Duration = Duration::from_hours(1);

/// How the thread is told of a new tree.
static NEWCOMERS: Mutex<Option<Sender<Weak<Tree>>>> = Mutex::new(None);

/// Sweeps the tree once and then counts it from time to time, for as long as it is open.
pub(super) fn tend(tree: &Arc<Tree>) -> Result<()> {
    let mut newcomers = NEWCOMERS.lock();
    let mut tree = Arc::downgrade(tree);
    if let Some(sender) = &*newcomers {
        match sender.send(tree) {
            Ok(()) => return Ok(()),
            Err(unsent) => tree = unsent.0,
        }
    }
    let (sender, receiver) = channel();
    thread::Builder::new()
        .name("sandkeep-tend".into())
        .spawn(move || keep_tending(&receiver))
        .map_err(|err| Error::new(ErrorKind::Busy, "no thread could be started").because(err))?;
    // The thread has only just begun to listen.
    let _unheard = sender.send(tree);
    *newcomers = Some(sender);
    Ok(())
}

/// Trees by the moment they are due, and by the order in which they came.
type Due = BTreeMap<(Instant, Reverse<u64>), Weak<Tree>>;

fn keep_tending(newcomers: &Receiver<Weak<Tree>>) {
    let (mut due, mut count) = (Due::new(), 0);
    let mut note = |due: &mut Due, tree: Weak<Tree>, pause: Option<Duration>| {
        if let Some(at) = pause.and_then(|pause| Instant::now().checked_add(pause)) {
            count += 1;
            due.insert((at, Reverse(count)), tree);
        }
    };
    loop {
        let next = due.first_key_value().map(|((at, _), _)| *at);
        let pause = next.map_or(LONG, |at| at.saturating_duration_since(Instant::now()));
        match newcomers.recv_timeout(pause) {
            Ok(tree) => {
                let pause = tree.upgrade().and_then(|tree| tree.sweep());
                note(&mut due, tree, pause);
            }
            Err(RecvTimeoutError::Timeout) => {
                let Some((_, tree)) = due.pop_first() else { continue };
                let pause = tree.upgrade().and_then(|tree| tree.recount());
                note(&mut due, tree, pause);
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

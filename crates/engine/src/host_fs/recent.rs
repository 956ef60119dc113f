//! Lets go of small files that stayed open because they might be read again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;

/// A file that nobody reads is closed after one to two of these.
const TURN: Duration = Duration::from_secs(1);

/// Whether somebody does it already.
static TENDED: AtomicBool = AtomicBool::new(false);

/// Makes sure that files which are open now are closed when nobody reads them any more.
pub(super) fn tend() {
    // Nearly always it is so, and to look changes nothing.
    if TENDED.load(Ordering::Relaxed) || TENDED.swap(true, Ordering::AcqRel) {
        return;
    }
    let tending = Tending;
    if let Ok(runtime) = Handle::try_current() {
        drop(runtime.spawn(turn_by_turn(tending)));
    }
}

async fn turn_by_turn(mut tending: Tending) {
    loop {
        tokio::time::sleep(TURN).await;
        if host::forget_unused() {
            continue;
        }
        drop(tending);
        // Whoever kept one just now believed that it is seen to.
        if !host::keeps_any() || TENDED.swap(true, Ordering::AcqRel) {
            return;
        }
        tending = Tending;
    }
}

/// Held by whoever does it; somebody else has to when his runtime ends.
struct Tending;

impl Drop for Tending {
    fn drop(&mut self) {
        TENDED.store(false, Ordering::Release);
    }
}

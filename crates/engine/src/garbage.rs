//! What takes long to take apart is dropped by a thread that nobody waits for.

use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How often the thread looks for more. Waking it takes longer than to remove a tree in memory, so
/// while it is there nobody does.
const PAUSE: Duration = Duration::from_millis(10);
/// For how long there must have been nothing before the thread ends.
const LINGER: Duration = Duration::from_secs(1);

/// There is room for so many things.
const SOME: usize = 16;

static PILE: Mutex<Pile> = Mutex::new(Pile { things: Vec::new(), is_attended: false });

struct Pile {
    things: Vec<Box<dyn Send>>,
    is_attended: bool,
}

/// Drops something, but not here and now.
pub(crate) fn drop_later(thing: impl Send + 'static) {
    let mut pile = PILE.lock();
    pile.things.push(Box::new(thing));
    if pile.is_attended {
        return;
    }
    let thread = thread::Builder::new().name("sandkeep-free".to_owned()).spawn(attend);
    pile.is_attended = thread.is_ok();
    if !pile.is_attended {
        let things = std::mem::take(&mut pile.things);
        drop(pile);
        drop(things);
    }
}

fn attend() {
    let mut last = Instant::now();
    loop {
        let mut pile = PILE.lock();
        if pile.things.is_empty() && last.elapsed() > LINGER {
            pile.is_attended = false;
            return;
        }
        let things = std::mem::replace(&mut pile.things, Vec::with_capacity(SOME));
        drop(pile);
        if !things.is_empty() {
            drop(things);
            last = Instant::now();
        }
        thread::sleep(PAUSE);
    }
}

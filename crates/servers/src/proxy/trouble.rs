//! The troubles that a proxy makes, thrown with dice.

use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::StdRng;

use super::connection::Direction;

/// What goes wrong between a client and a server; nothing by default.
///
/// Probabilities are from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trouble {
    /// The longest time that each read waits before it is forwarded.
    pub delay: Duration,
    /// How probable it is, for each read, that its connection is cut.
    ///
    /// A request is cut off somewhere, or else it arrives and its answer is lost: one as often as
    /// the other. An answer is cut off somewhere.
    pub cut: f64,
    /// How probable it is that a new connection is closed at once.
    pub refuse: f64,
    /// How probable it is, for each read, that its connection stands still for a while.
    pub stall: f64,
    /// The longest time that it stands still.
    pub stall_time: Duration,
}

/// What becomes of what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Passes,
    /// It passes, but what the server says to it does not.
    AnswerIsLost,
    /// So many bytes of it pass, and then the connection is cut.
    CutAfter(usize),
}

impl Trouble {
    pub(super) fn refuses(self, dice: &mut StdRng) -> bool {
        dice.random_bool(self.refuse)
    }

    /// How long a read waits.
    pub(super) fn pause(self, dice: &mut StdRng) -> Duration {
        let delay = self.delay.mul_f64(dice.random());
        let stall = self.stall_time.mul_f64(dice.random());
        if dice.random_bool(self.stall) { delay + stall } else { delay }
    }

    pub(super) fn fate(self, direction: Direction, length: usize, dice: &mut StdRng) -> Fate {
        if !dice.random_bool(self.cut) {
            return Fate::Passes;
        }
        if direction == Direction::Up && dice.random_bool(0.5) {
            return Fate::AnswerIsLost;
        }
        Fate::CutAfter(dice.random_range(0..length))
    }
}

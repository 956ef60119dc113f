//! A time by which something has to happen, which is set and lifted again by every request.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// A deadline that is running or is not.
///
/// The timer behind it is not touched when a deadline is set or lifted: it goes on, and when it fires too
/// early, it is set anew. So it costs something once in the time of a deadline, and not at every request.
#[derive(Debug, Default)]
pub(crate) struct Deadline {
    due: Option<Instant>,
    timer: Option<Timer>,
}

#[derive(Debug)]
struct Timer {
    sleep: Pin<Box<Sleep>>,
    /// When it fires, and whom it wakes then.
    at: Instant,
    wakes: Waker,
}

impl Deadline {
    /// Begins, unless it is running already.
    pub(crate) fn start(&mut self, after: Duration) {
        if self.due.is_none() {
            self.due = Some(far(Instant::now(), after));
        }
    }

    /// Lifts it.
    pub(crate) fn stop(&mut self) {
        self.due = None;
    }

    /// Begins unless it is running already, and is ready when it has passed.
    pub(crate) fn poll_within(&mut self, after: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        let due = *self.due.get_or_insert_with(|| far(now, after));
        self.poll_due(due, now, cx)
    }

    /// Ready when it has passed; never if it is not running.
    pub(crate) fn poll_passed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(due) = self.due else { return Poll::Pending };
        self.poll_due(due, Instant::now(), cx)
    }

    fn poll_due(&mut self, due: Instant, now: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if now >= due {
            return Poll::Ready(());
        }
        if let Some(timer) = &self.timer
            && (now < timer.at && timer.at <= due)
            && timer.wakes.will_wake(cx.waker())
        {
            return Poll::Pending;
        }
        let timer = self.timer.get_or_insert_with(|| Timer {
            sleep: Box::pin(tokio::time::sleep_until(due)),
            at: due,
            wakes: cx.waker().clone(),
        });
        timer.sleep.as_mut().reset(due);
        timer.at = due;
        timer.wakes.clone_from(cx.waker());
        timer.sleep.as_mut().poll(cx)
    }
}

/// As long as an hour of some decades is never, and what is longer cannot be told from it.
fn far(now: Instant, after: Duration) -> Instant {
    const NEVER: Duration = Duration::from_hours(24 * 365 * 30);
    now.checked_add(after).unwrap_or_else(|| now + NEVER)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use futures::poll;

    use super::*;

    const SHORT: Duration = Duration::from_millis(40);
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn it_passes_when_its_time_is_over_and_not_before() {
        let (mut deadline, began) = (Deadline::default(), Instant::now());
        poll_fn(|cx| deadline.poll_within(SHORT, cx)).await;
        assert!(began.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn one_that_is_lifted_and_set_again_counts_from_then() {
        let mut deadline = Deadline::default();
        assert!(poll!(poll_fn(|cx| deadline.poll_within(SHORT, cx))).is_pending());
        tokio::time::sleep(SHORT / 2).await;
        deadline.stop();
        let again = Instant::now();
        // The timer of the first fires meanwhile.
        poll_fn(|cx| deadline.poll_within(SHORT, cx)).await;
        assert!(again.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn a_shorter_one_does_not_wait_for_the_timer_of_a_longer_one() {
        let mut deadline = Deadline::default();
        assert!(poll!(poll_fn(|cx| deadline.poll_within(LONG, cx))).is_pending());
        deadline.stop();
        let passing = poll_fn(|cx| deadline.poll_within(SHORT, cx));
        tokio::time::timeout(LONG / 2, passing).await.unwrap();
    }

    #[tokio::test]
    async fn one_that_is_not_running_never_passes() {
        let mut deadline = Deadline::default();
        assert!(poll!(poll_fn(|cx| deadline.poll_passed(cx))).is_pending());
        deadline.start(SHORT);
        deadline.stop();
        tokio::time::sleep(SHORT * 2).await;
        assert!(poll!(poll_fn(|cx| deadline.poll_passed(cx))).is_pending());
    }

    #[tokio::test]
    async fn whoever_waits_now_is_woken_and_not_whoever_waited_before() {
        let mut deadline = Deadline::default();
        let mut nobody = Context::from_waker(Waker::noop());
        assert!(deadline.poll_within(SHORT, &mut nobody).is_pending());
        let passing = poll_fn(|cx| deadline.poll_passed(cx));
        tokio::time::timeout(LONG / 2, passing).await.unwrap();
    }

    #[tokio::test]
    async fn the_longest_time_of_all_is_no_trouble() {
        let mut deadline = Deadline::default();
        assert!(poll!(poll_fn(|cx| deadline.poll_within(Duration::MAX, cx))).is_pending());
    }
}

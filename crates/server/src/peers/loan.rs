//! The body of a request that is lent to another server.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::timeout;

/// How long another server may neither take anything of a request nor answer it. By then it has given
/// up on its store, which it asks for a minute, and then for another what became of a commit.
const SILENCE: Duration = Duration::from_secs(150);

/// What the owner of a body keeps of it.
#[derive(Clone, Debug)]
pub(super) struct Loan(Arc<Mutex<Terms>>);

#[derive(Debug)]
struct Terms {
    /// The body, until somebody begins to read it.
    body: Option<Body>,
    turn: Turn,
}

/// Who is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The other server, which took something since it was last asked.
    Taker,
    /// The other server, which did not.
    SilentTaker,
    /// The client, who has yet to send more.
    Client,
}

impl Loan {
    /// Lends a body to whoever reads what comes with it.
    pub(super) fn of(body: Body) -> (Self, Lent) {
        let loan = Self(Arc::new(Mutex::new(Terms { body: Some(body), turn: Turn::Taker })));
        (loan.clone(), Lent { loan, body: None })
    }

    /// The body, if nobody began to read it.
    pub(super) fn back(&self) -> Option<Body> {
        self.0.lock().body.take()
    }

    /// Waits for the answer to a request with this body, or until the other server is silent.
    pub(super) async fn wait<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        let mut answer = pin!(answer);
        loop {
            if let Ok(answer) = timeout(SILENCE, &mut answer).await {
                return Some(answer);
            }
            let mut terms = self.0.lock();
            match terms.turn {
                Turn::Client => {}
                Turn::Taker => terms.turn = Turn::SilentTaker,
                Turn::SilentTaker => return None,
            }
        }
    }
}

/// A lent body.
#[derive(Debug)]
pub(super) struct Lent {
    loan: Loan,
    body: Option<Body>,
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.body.is_none() {
            self.body = self.loan.back();
        }
        let frame = match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        };
        self.loan.0.lock().turn = if frame.is_ready() { Turn::Taker } else { Turn::Client };
        frame
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Some(body) => body.is_end_stream(),
            None => self.loan.0.lock().body.as_ref().is_none_or(HttpBody::is_end_stream),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Some(body) => body.size_hint(),
            None => self.loan.0.lock().body.as_ref().map(HttpBody::size_hint).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::pending;

    use futures::{StreamExt as _, stream};
    use http_body_util::BodyExt as _;
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_silent_is_not_waited_for_for_ever() {
        let (loan, _lent) = Loan::of(Body::from("x"));
        let begin = Instant::now();
        assert_eq!(loan.wait(pending::<()>()).await, None);
        assert!((SILENCE..=SILENCE * 2).contains(&begin.elapsed()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_may_take_its_time_and_so_may_a_long_body() {
        let slow = stream::iter(0..20).then(|number| async move {
            sleep(SILENCE * if number == 0 { 5 } else { 1 } / 2).await;
            Ok::<_, Infallible>(Bytes::from_static(b"x"))
        });
        let (loan, lent) = Loan::of(Body::from_stream(slow));
        let body = loan.wait(lent.collect()).await.unwrap().unwrap();
        assert_eq!(body.to_bytes().len(), 20);
    }

    #[tokio::test]
    async fn a_body_comes_back_unless_it_was_begun() {
        let (loan, lent) = Loan::of(Body::from("x"));
        assert!(!lent.is_end_stream());
        drop(lent);
        assert!(loan.back().is_some());
        let (loan, mut lent) = Loan::of(Body::from("x"));
        assert!(lent.frame().await.is_some());
        assert!(loan.back().is_none());
    }
}

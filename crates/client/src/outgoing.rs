//! Bodies on their way to the server.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use engine::{ByteStream, Error, ErrorKind, Result};
use futures::{StreamExt as _, stream};
use http::header::CONTENT_LENGTH;
use parking_lot::Mutex;
use reqwest::{Body, RequestBuilder};

/// What became of a body: how much of it was sent, and why it broke if it did. HTTP knows only that
/// it broke off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent(Arc<Mutex<(u64, Option<Error>)>>);

impl Sent {
    /// The outcome of a request, whose own failure is only a consequence if the body broke.
    pub(crate) fn or<T>(&self, outcome: Result<T>) -> Result<T> {
        match self.0.lock().1.take() {
            Some(err) => Err(err),
            None => outcome,
        }
    }

    /// How many bytes were sent.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.lock().0
    }
}

/// The request with this body, which is streamed, and word of what became of it.
///
/// A body of an announced length must have it to the byte: a shorter or longer one breaks before
/// the server could take it for whole.
pub(crate) fn attach(
    request: RequestBuilder,
    body: ByteStream,
    length: Option<u64>,
) -> (RequestBuilder, Sent) {
    let outcome = Sent::default();
    let sending = Sending { body, sent: 0, length, outcome: outcome.clone() };
    let pieces = stream::unfold(Some(sending), |sending| async { sending?.next().await });
    let request = match length {
        Some(length) => request.header(CONTENT_LENGTH, length),
        None => request,
    };
    (request.body(Body::wrap_stream(pieces)), outcome)
}

struct Sending {
    body: ByteStream,
    sent: u64,
    length: Option<u64>,
    outcome: Sent,
}

type Step = Option<(io::Result<Bytes>, Option<Sending>)>;

impl Sending {
    async fn next(mut self) -> Step {
        match self.piece().await {
            Ok(Some(piece)) => Some((Ok(piece), Some(self))),
            Ok(None) => None,
            Err(err) => {
                let broken = io::Error::other(err.to_string());
                self.outcome.0.lock().1 = Some(err);
                Some((Err(broken), None))
            }
        }
    }

    /// The next piece that is not empty.
    async fn piece(&mut self) -> Result<Option<Bytes>> {
        let Some(piece) = self.take().await? else {
            return match self.length {
                Some(length) if self.sent < length => Err(broken("the body is too short")),
                _ => Ok(None),
            };
        };
        self.sent = self.sent.saturating_add(piece.len() as u64);
        self.outcome.0.lock().0 = self.sent;
        let excess = match self.length {
            None => false,
            // Behind the announced length nobody asks for more, so that it is looked at now.
            Some(length) if self.sent == length => self.take().await?.is_some(),
            Some(length) => self.sent > length,
        };
        if excess { Err(broken("the body is too long")) } else { Ok(Some(piece)) }
    }

    async fn take(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self.body.next().await.transpose()? {
                Some(piece) if piece.is_empty() => {}
                piece => return Ok(piece),
            }
        }
    }
}

fn broken(message: &'static str) -> Error {
    Error::new(ErrorKind::BrokenBody, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sent(pieces: &[&'static str], length: Option<u64>) -> Result<String> {
        let outcome = Sent::default();
        let body = stream::iter(pieces.to_vec()).map(|piece| Ok(Bytes::from(piece))).boxed();
        let mut sending = Some(Sending { body, sent: 0, length, outcome: outcome.clone() });
        let mut gathered = String::new();
        while let Some(step) = sending.take() {
            let Some((piece, rest)) = step.next().await else { break };
            sending = rest;
            gathered.extend(piece.ok().map(|piece| String::from_utf8(piece.into()).unwrap()));
        }
        outcome.or(Ok(gathered))
    }

    #[tokio::test]
    async fn a_body_of_the_announced_length_goes_out() {
        assert_eq!(sent(&["ab", "", "cd", ""], Some(4)).await.unwrap(), "abcd");
        assert_eq!(sent(&["ab", "", "cd"], None).await.unwrap(), "abcd");
        assert_eq!(sent(&[""], Some(0)).await.unwrap(), "");
    }

    #[tokio::test]
    async fn a_body_of_another_length_breaks() {
        for length in [0, 2, 3, 5] {
            let err = sent(&["ab", "cd"], Some(length)).await.unwrap_err();
            assert_eq!(err.kind(), ErrorKind::BrokenBody, "{length}");
        }
    }
}

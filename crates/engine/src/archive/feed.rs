//! A body from the async side, read on a thread that may block.

use std::future::Future;
use std::io::{self, Read};
use std::pin::pin;

use bytes::{Buf as _, Bytes};
use futures::StreamExt as _;
use futures::future::{self, Either};
use tokio::sync::mpsc;

use crate::{ByteStream, Error, ErrorKind, Result};

/// How many pieces may wait.
const WAITING: usize = 4;

enum Piece {
    Bytes(Bytes),
    Broken(Error),
    End,
}

/// The end that reads.
pub(crate) struct FeedReader {
    pieces: mpsc::Receiver<Piece>,
    piece: Bytes,
    ended: bool,
}

/// The end that is fed.
pub(crate) struct Feed {
    body: ByteStream,
    pieces: mpsc::Sender<Piece>,
}

/// Splits a body into the two ends.
pub(crate) fn feed(body: ByteStream) -> (FeedReader, Feed) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let reader = FeedReader { pieces: receiver, piece: Bytes::new(), ended: false };
    (reader, Feed { body, pieces: sender })
}

/// Feeds the reader until `work` has its result.
pub(crate) async fn drive<T>(feed: Feed, work: impl Future<Output = Result<T>>) -> Result<T> {
    let Feed { mut body, pieces } = feed;
    let feeding = async move {
        while let Some(piece) = body.next().await {
            let (piece, last) = match piece {
                Ok(bytes) => (Piece::Bytes(bytes), false),
                Err(err) => (Piece::Broken(err), true),
            };
            if pieces.send(piece).await.is_err() || last {
                return;
            }
        }
        let _reader_is_done = pieces.send(Piece::End).await;
    };
    // Work that is done, or has failed, does not wait for a body that goes on.
    let (feeding, work) = (pin!(feeding), pin!(work));
    match future::select(work, feeding).await {
        Either::Left((done, _)) => done,
        Either::Right(((), work)) => work.await,
    }
}

impl Read for FeedReader {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            if self.ended {
                return Ok(0);
            }
            match self.pieces.blocking_recv() {
                Some(Piece::Bytes(bytes)) => self.piece = bytes,
                Some(Piece::Broken(err)) => return Err(io::Error::other(err)),
                Some(Piece::End) => self.ended = true,
                // The caller is gone; what came so far must not pass for all of it.
                None => {
                    let err = Error::new(ErrorKind::BrokenBody, "the body broke off");
                    return Err(io::Error::other(err));
                }
            }
        }
        let len = space.len().min(self.piece.len());
        self.piece.copy_to_slice(space.get_mut(..len).unwrap_or_default());
        Ok(len)
    }
}

//! Bodies from blocking readers: a thread reads ahead by a few chunks and no more.

use std::io::{self, Read};
use std::thread;

use bytes::Bytes;
use engine::{ByteStream, Error, ErrorKind, Result};
use futures::{StreamExt as _, stream};
use tokio::sync::mpsc;

/// Chunks that wait between the reader and the network.
const AHEAD: usize = 4;
/// How long a chunk is at most.
pub(crate) const CHUNK: usize = 128 << 10;

/// Everything that `reader` gives. Nothing is read that nobody waits for.
pub(crate) fn from_reader(mut reader: impl Read + Send + 'static) -> ByteStream {
    let (chunks, body) = channel();
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            let chunk = match reader.read(&mut buffer) {
                Ok(0) => return,
                Ok(len) => Ok(Bytes::copy_from_slice(buffer.get(..len).unwrap_or_default())),
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(err) => Err(broken(err)),
            };
            let last = chunk.is_err();
            if chunks.blocking_send(chunk).is_err() || last {
                return;
            }
        }
    });
    body
}

/// A text as a body.
pub(crate) fn from_text(text: &str) -> ByteStream {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    stream::once(async { Ok(bytes) }).boxed()
}

/// A body, and the end that a thread feeds.
pub(crate) fn channel() -> (mpsc::Sender<Result<Bytes>>, ByteStream) {
    let (chunks, mut waiting) = mpsc::channel(AHEAD);
    (chunks, stream::poll_fn(move |context| waiting.poll_recv(context)).boxed())
}

fn broken(err: io::Error) -> Error {
    Error::new(ErrorKind::BrokenBody, format!("the input cannot be read: {err}")).because(err)
}

//! Bodies that arrive in pieces, stall, break off or never end.

use bytes::Bytes;
use engine::{ByteStream, Error, ErrorKind};
use futures::{StreamExt as _, stream};
use tokio::sync::oneshot;

/// A body in one piece.
pub(crate) fn whole(content: impl Into<Bytes>) -> ByteStream {
    pieces([content.into()])
}

/// A body in these pieces.
pub(crate) fn pieces<I>(pieces: I) -> ByteStream
where
    I: IntoIterator<Item = Bytes>,
    I::IntoIter: Send + 'static,
{
    stream::iter(pieces.into_iter().map(Ok)).boxed()
}

/// A body that breaks off behind `start`.
pub(crate) fn breaking_off(start: impl Into<Bytes>) -> ByteStream {
    let failure = Error::new(ErrorKind::BrokenBody, "the body broke off");
    stream::iter([Ok(start.into()), Err(failure)]).boxed()
}

/// A body that stalls for ever behind `start`, and word of when it is asked for more.
pub(crate) fn stalling(start: impl Into<Bytes>) -> (ByteStream, oneshot::Receiver<()>) {
    let (stalled, word) = oneshot::channel();
    let rest = stream::once(async move {
        // The receiver is gone only when the promise is over.
        stalled.send(()).ok();
        futures::future::pending().await
    });
    (pieces([start.into()]).chain(rest).boxed(), word)
}

/// A body without end.
pub(crate) fn endless() -> ByteStream {
    stream::repeat_with(|| Ok(Bytes::from_static(&[b'x'; 64 * 1024]))).boxed()
}

/// So many bytes in which no part looks like another.
pub(crate) fn pattern(len: usize) -> Bytes {
    let words = (0..=len as u64 / 8).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    bytes.truncate(len);
    bytes.into()
}

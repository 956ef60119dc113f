//! Work that ends when its token is cancelled.

use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use tokio_util::sync::CancellationToken;

use crate::{Error, ErrorKind, Result};

/// The outcome of `work`, unless the token is cancelled first. Work that is ready is not thrown
/// away, and none is begun with a token that was cancelled before.
pub(super) async fn unless<T>(
    token: &CancellationToken,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    token.run_until_cancelled(work).await.unwrap_or_else(|| Err(cancelled()))
}

/// A stream that ends with an error as soon as the token is cancelled.
pub(super) fn stream_unless<T: Send + 'static>(
    token: &CancellationToken,
    stream: impl Stream<Item = Result<T>> + Send + 'static,
) -> BoxStream<'static, Result<T>> {
    let going = (stream.boxed(), token.clone());
    stream::try_unfold(going, |(mut stream, token)| async {
        let next = token.run_until_cancelled(stream.next()).await.ok_or_else(cancelled)?;
        Ok(next.transpose()?.map(|item| (item, (stream, token))))
    })
    .boxed()
}

fn cancelled() -> Error {
    Error::new(ErrorKind::Timeout, "the operation was cancelled")
}

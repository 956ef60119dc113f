//! Many values in one answer: each is held only until it is asked for, however many there are.

use std::collections::VecDeque;

use engine::{ByteStream, Result};
use futures::stream::BoxStream;
use futures::{StreamExt as _, stream};

use crate::elements::Malformed;
use crate::transport::not_understood;

/// Finds where one value ends and the next begins, whatever pieces the bytes arrive in.
pub(crate) trait Split: Send + 'static {
    /// Takes bytes up to the end of the next value, if they reach it. `bytes` keeps the rest.
    fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Vec<u8>>, Malformed>;

    /// Says whether all that must come came.
    fn finish(&self) -> Result<(), Malformed>;
}

/// The values of a body that `split` takes apart and `read` understands.
pub(crate) fn values<T: Send + 'static>(
    body: ByteStream,
    split: impl Split,
    read: impl Fn(&[u8]) -> Result<T> + Send + 'static,
) -> BoxStream<'static, Result<T>> {
    let arriving = Arriving { body, split, read, found: VecDeque::new() };
    stream::try_unfold(arriving, |mut arriving| async {
        Ok(arriving.next().await?.map(|value| (value, arriving)))
    })
    .boxed()
}

pub(crate) struct Arriving<S, R, T> {
    pub(crate) body: ByteStream,
    pub(crate) split: S,
    pub(crate) read: R,
    /// What the last piece of the body held; a piece is a few hundred values at most.
    pub(crate) found: VecDeque<T>,
}

impl<S: Split, R: Fn(&[u8]) -> Result<T>, T> Arriving<S, R, T> {
    pub(crate) async fn next(&mut self) -> Result<Option<T>> {
        while self.found.is_empty() {
            let Some(piece) = self.body.next().await.transpose()? else {
                self.split.finish().map_err(not_understood)?;
                return Ok(None);
            };
            let mut rest = &piece[..];
            while let Some(value) = self.split.next(&mut rest).map_err(not_understood)? {
                self.found.push_back((self.read)(&value)?);
            }
        }
        Ok(self.found.pop_front())
    }
}

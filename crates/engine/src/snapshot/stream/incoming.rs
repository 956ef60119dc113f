//! The blocks of a stream that comes in pieces of any size.

use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;

use super::broken;
use super::head::{BlockHead, HEAD, Header, Next};
use crate::tree::Damaged;
use crate::{ByteStream, Result};

/// A stream that is being read.
pub(crate) struct Incoming {
    stream: ByteStream,
    /// What came and was not taken yet.
    piece: Bytes,
    /// Sees everything but the payloads, whose hashes it sees.
    hash: blake3::Hasher,
    blocks: u64,
}

impl Incoming {
    /// Reads the header.
    pub(crate) async fn open(stream: ByteStream) -> Result<(Header, Self)> {
        let (piece, hash) = (Bytes::new(), blake3::Hasher::new());
        let mut incoming = Self { stream, piece, hash, blocks: 0 };
        let start = incoming.upto(Header::FORMAT_LEN).await?;
        Header::check_format(&start)?;
        let rest = incoming.take(Header::REST_LEN).await?;
        incoming.hash.update(&start).update(&rest);
        Ok((Header::decode(&start, &rest).map_err(broken)?, incoming))
    }

    /// The next block; none when the stream ended as it must.
    pub(crate) async fn next(&mut self) -> Result<Option<(BlockHead, Bytes)>> {
        let head = self.take(HEAD).await?;
        match Next::decode(&head).map_err(broken)? {
            Next::Block(block) => {
                self.hash.update(&head);
                self.blocks += 1;
                let payload = self.take(block.payload).await?;
                Ok(Some((block, payload)))
            }
            Next::End(trailer, digest) => {
                self.hash.update(head.get(..HEAD - digest.as_bytes().len()).unwrap_or_default());
                if trailer.blocks != self.blocks || self.hash.finalize() != digest {
                    return Err(broken(Damaged("its trailer does not fit what came before")));
                }
                match self.upto(1).await?.is_empty() {
                    true => Ok(None),
                    false => Err(broken(Damaged("something follows its end"))),
                }
            }
        }
    }

    /// The next bytes, all of them.
    async fn take(&mut self, len: usize) -> Result<Bytes> {
        let taken = self.upto(len).await?;
        if taken.len() == len { Ok(taken) } else { Err(broken(Damaged("it is cut off"))) }
    }

    /// The next bytes, fewer at the end. What lies in one piece is not copied.
    async fn upto(&mut self, len: usize) -> Result<Bytes> {
        let mut taken = BytesMut::new();
        while taken.len() < len {
            if self.piece.is_empty() {
                match self.stream.next().await {
                    Some(piece) => self.piece = piece?,
                    None => break,
                }
            }
            let more = self.piece.split_to(self.piece.len().min(len - taken.len()));
            if more.len() == len {
                return Ok(more);
            }
            taken.reserve(len - taken.len());
            taken.extend_from_slice(&more);
        }
        Ok(taken.freeze())
    }
}

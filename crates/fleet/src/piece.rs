//! What clients write.

use serde::{Deserialize, Serialize};

/// Bytes that a few numbers tell, so that a history is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    pub(crate) seed: u64,
    pub(crate) len: usize,
}

impl Piece {
    /// The bytes, which no compressor makes shorter.
    pub(crate) fn bytes(self) -> Vec<u8> {
        let mut state = self.seed | 1 << 63;
        let noise = std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        });
        let mut bytes = noise.take(self.len / 8 + 1).collect::<Vec<_>>().into_flattened();
        bytes.truncate(self.len);
        bytes
    }
}

/// What a file of these pieces holds.
pub(crate) fn content(pieces: &[Piece]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| piece.bytes()).collect()
}

//! Bytes for files: such as nothing can shorten, and such as people write.

/// Numbers that look random, and are the same in every run.
#[derive(Clone, Debug)]
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        // It must not be zero, and alike seeds must not give alike numbers.
        Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// xorshift64*.
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Bytes that do not repeat.
pub(super) fn noise(length: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(length as u64);
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&numbers.next().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// How often noise is made another than the noise before.
const STRIDE: usize = 512;

/// Makes noise different from all noise of another number, so that whoever keeps alike pieces once
/// finds none.
pub(super) fn stamp(noise: &mut [u8], number: u64) {
    for (position, piece) in noise.chunks_mut(STRIDE).enumerate() {
        let mark = (number << 20 | position as u64).to_le_bytes();
        if let Some(place) = piece.get_mut(..mark.len()) {
            place.copy_from_slice(&mark);
        }
    }
}

/// The content of a large file, piece by piece.
pub(super) struct Pieces {
    piece: Vec<u8>,
    left: u64,
    number: u64,
}

impl Pieces {
    pub(super) fn new(length: u64) -> Self {
        Self { piece: noise(1 << 20), left: length, number: 0 }
    }

    /// The next piece; nothing behind the last.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(self.piece.len());
        self.left -= length as u64;
        self.number += 1;
        stamp(&mut self.piece, self.number);
        self.piece.get(..length).filter(|piece| !piece.is_empty())
    }
}

/// What is looked for in text.
pub(super) const NEEDLE: &str = "needle-";
const WORDS: [&str; 24] = [
    "let",
    "return",
    "match",
    "the",
    "of",
    "connection",
    "buffer",
    "self",
    "result",
    "String",
    "value",
    "path",
    "while",
    "impl",
    "need",
    "error",
    "file",
    "into",
    "0x1f",
    "->",
    "{",
    "}",
    "==",
    "async",
];

/// About so many bytes of lines of words. One line has the needle, if wanted.
pub(super) fn text(length: usize, seed: u64, needle: bool) -> Vec<u8> {
    let mut numbers = Numbers::new(seed);
    let mut text = String::with_capacity(length + 128);
    let place = length / 2;
    let mut is_due = needle;
    while text.len() < length {
        for _ in 0..4 + numbers.below(8) {
            text.push_str(WORDS.get(numbers.below(WORDS.len())).unwrap_or(&"word"));
            text.push(' ');
        }
        if is_due && text.len() >= place {
            text.push_str(NEEDLE);
            text.push_str(&seed.to_string());
            is_due = false;
        }
        text.push('\n');
    }
    text.into_bytes()
}

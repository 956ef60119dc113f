//! Buffers for file content, used again instead of being cleared and allocated anew.

use bytes::Bytes;
use parking_lot::Mutex;

/// The size of the buffers that are kept.
const KEPT_SIZE: usize = 256 << 10;
/// How many are kept: enough for the streams that move at one moment on a small machine.
const KEPT: usize = 32;

static FREE: Mutex<Vec<Box<[u8]>>> = Mutex::new(Vec::new());

/// Memory to read into.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: Box<[u8]>,
    len: usize,
}

impl Buffer {
    /// A buffer of `len` bytes, with whatever content.
    pub(crate) fn of(len: usize) -> Self {
        let kept = if len == KEPT_SIZE { FREE.lock().pop() } else { None };
        Self { memory: kept.unwrap_or_else(|| vec![0; len].into()), len }
    }

    /// The space to read into.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// The first `len` bytes, shared; the memory comes back when the last share is dropped.
    pub(crate) fn filled(mut self, len: usize) -> Bytes {
        self.len = len.min(self.memory.len());
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.memory.get(..self.len).unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.memory.len() == KEPT_SIZE {
            let mut free = FREE.lock();
            if free.len() < KEPT {
                free.push(std::mem::take(&mut self.memory));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_buffer_shows_what_was_read() {
        let mut buffer = Buffer::of(8);
        buffer.space()[..3].copy_from_slice(b"abc");
        assert_eq!(&buffer.filled(3)[..], b"abc");
    }

    #[test]
    fn memory_comes_back_only_after_the_last_share_is_gone() {
        let mut buffer = Buffer::of(KEPT_SIZE);
        buffer.space().fill(7);
        let bytes = buffer.filled(KEPT_SIZE);
        let share = bytes.slice(10..20);
        drop(bytes);
        let mut other = Buffer::of(KEPT_SIZE);
        other.space().fill(9);
        assert_eq!(&share[..], [7; 10]);
    }
}

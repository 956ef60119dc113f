//! Buffers for file content, used again instead of being cleared and allocated anew.

use bytes::Bytes;
use parking_lot::Mutex;

/// The size of the buffers that are kept: for small files, and for the pieces of large ones.
const SMALL: usize = 16 << 10;
const LARGE: usize = 256 << 10;
/// How many of each are kept: enough for the streams that move at one moment on a small machine.
const KEPT: usize = 32;

static FREE_SMALL: Mutex<Vec<Box<[u8]>>> = Mutex::new(Vec::new());
static FREE_LARGE: Mutex<Vec<Box<[u8]>>> = Mutex::new(Vec::new());

/// Memory to read into.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: Box<[u8]>,
    /// How much of it is used.
    len: usize,
}

impl Buffer {
    /// A buffer of `len` bytes, with whatever content.
    pub(crate) fn of(len: usize) -> Self {
        // What is a little longer than a small one is not worth a large one.
        let size = if len <= SMALL { SMALL } else { len };
        let kept = free(size).and_then(|free| free.lock().pop());
        Self { memory: kept.unwrap_or_else(|| vec![0; size].into()), len }
    }

    /// The space to read into.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.memory.get_mut(..self.len).unwrap_or_default()
    }

    /// The first `len` bytes, shared; the memory comes back when the last share is dropped.
    pub(crate) fn filled(mut self, len: usize) -> Bytes {
        self.len = len.min(self.len);
        Bytes::from_owner(self)
    }
}

/// Where buffers of a size wait to be used again, if they do.
fn free(size: usize) -> Option<&'static Mutex<Vec<Box<[u8]>>>> {
    match size {
        SMALL => Some(&FREE_SMALL),
        LARGE => Some(&FREE_LARGE),
        _ => None,
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.memory.get(..self.len).unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(free) = free(self.memory.len()) {
            let mut free = free.lock();
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
    fn a_small_buffer_is_as_long_as_it_was_asked_for() {
        for len in [0, 1, 4096, SMALL, SMALL + 1] {
            assert_eq!(Buffer::of(len).space().len(), len);
            assert_eq!(Buffer::of(len).filled(len + 1).len(), len);
        }
    }

    #[test]
    fn memory_comes_back_only_after_the_last_share_is_gone() {
        let mut buffer = Buffer::of(LARGE);
        buffer.space().fill(7);
        let bytes = buffer.filled(LARGE);
        let share = bytes.slice(10..20);
        drop(bytes);
        let mut other = Buffer::of(LARGE);
        other.space().fill(9);
        assert_eq!(&share[..], [7; 10]);
    }
}

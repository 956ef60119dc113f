//! Reading the bytes of a stored page or record, none of which are trusted.

use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use storage::{ObjectId, frame};

use super::codec::{CHECK, Decoded, check_of, is_name};
use super::file::{Extent, LARGEST_FILE, Piece};
use super::{DEEPEST, Damaged, MOST, Name, Sum};
use crate::{MAX_NAME, UnixTime};

/// Bytes that are read from the front; what is missing is damage.
#[derive(Debug)]
pub(crate) struct Input(pub(crate) Bytes);

impl Input {
    /// What a record of this format holds. Its last bytes tell whether the others are right.
    pub(crate) fn record(bytes: &Bytes, format: u8) -> Decoded<Self> {
        // A later version may check otherwise, so its number is looked at first.
        if bytes.first().is_some_and(|first| *first != format) {
            return Err(Damaged("it was written by a later version"));
        }
        let (content, check) = bytes.split_last_chunk::<CHECK>().ok_or(CUT)?;
        if content.is_empty() || check_of(content) != *check {
            return Err(Damaged("its bytes are not those that were written"));
        }
        Ok(Self(bytes.slice(1..content.len())))
    }

    pub(crate) fn byte(&mut self) -> Decoded<u8> {
        self.0.try_get_u8().map_err(|_| CUT)
    }

    pub(crate) fn fixed_u64(&mut self) -> Decoded<u64> {
        self.0.try_get_u64_le().map_err(|_| CUT)
    }

    pub(crate) fn fixed_u32(&mut self) -> Decoded<u32> {
        self.0.try_get_u32_le().map_err(|_| CUT)
    }

    /// A number in its one shortest form.
    pub(crate) fn number(&mut self) -> Decoded<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            let fits = part.leading_zeros() >= shift;
            if !fits || (byte == 0 && shift > 0) {
                break;
            }
            number |= part << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Damaged("a number cannot be"))
    }

    /// How many things follow, each of at least one byte.
    pub(super) fn count(&mut self, possible: RangeInclusive<usize>) -> Decoded<usize> {
        let count = usize::try_from(self.number()?).ok();
        let count = count.filter(|count| *count <= self.0.len()).ok_or(CUT)?;
        if possible.contains(&count) { Ok(count) } else { Err(Damaged("a count cannot be")) }
    }

    pub(crate) fn bytes(&mut self, most: u64) -> Decoded<Bytes> {
        let len = self.number()?;
        if len > most {
            return Err(Damaged("a value is too long"));
        }
        let len = usize::try_from(len).ok().filter(|len| *len <= self.0.len()).ok_or(CUT)?;
        Ok(self.0.split_to(len))
    }

    pub(crate) fn text(&mut self, most: u64) -> Decoded<Arc<str>> {
        self.text_as(most)
    }

    fn text_as<T: for<'a> From<&'a str>>(&mut self, most: u64) -> Decoded<T> {
        let bytes = self.bytes(most)?;
        std::str::from_utf8(&bytes).map(T::from).map_err(|_| Damaged("a text is not UTF-8"))
    }

    /// A name that a directory can hold.
    pub(crate) fn name(&mut self) -> Decoded<Name> {
        // A byte that is not UTF-8 is spelled with four.
        let name: Name = self.text_as(4 * MAX_NAME as u64)?;
        if is_name(&name) { Ok(name) } else { Err(Damaged("a name cannot be")) }
    }

    pub(crate) fn time(&mut self) -> Decoded<UnixTime> {
        let folded = self.number()?;
        let seconds = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        let nanoseconds = u32::try_from(self.number()?).ok().filter(|rest| *rest < 1_000_000_000);
        Ok(UnixTime { seconds, nanoseconds: nanoseconds.ok_or(Damaged("a time cannot be"))? })
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let mut array = [0; N];
        self.0.try_copy_to_slice(&mut array).map_err(|_| CUT)?;
        Ok(array)
    }

    pub(crate) fn id(&mut self) -> Decoded<ObjectId> {
        Ok(ObjectId(self.array()?))
    }

    /// How many bytes of a file something stands for.
    pub(super) fn len(&mut self, possible: RangeInclusive<u64>) -> Decoded<u64> {
        let len = self.number()?;
        if possible.contains(&len) { Ok(len) } else { Err(Damaged("its lengths cannot be")) }
    }

    /// What is beneath a link, which is something.
    pub(super) fn sum(&mut self) -> Decoded<Sum> {
        let sum = Sum {
            names: self.number()?,
            bytes: self.number()?,
            files: self.number()?,
            directories: self.number()?,
            links: self.number()?,
            depth: self.number()?,
            largest: self.number()?,
        };
        let possible = sum.names > 0
            && sum.names <= sum.nodes()
            && (1..=sum.nodes().min(DEEPEST)).contains(&sum.depth)
            && sum.largest <= sum.bytes
            && sum.bytes.max(sum.nodes()) <= MOST;
        if possible { Ok(sum) } else { Err(Damaged("a sum cannot be")) }
    }

    /// Extents that follow each other; gives how many bytes they are, too.
    pub(super) fn extents(&mut self, most: usize) -> Decoded<(Vec<Extent>, u64)> {
        let count = self.count(1..=most)?;
        let extents = (0..count).map(|_| self.extent()).collect::<Decoded<Vec<_>>>()?;
        let len = extents.iter().map(|extent| extent.len).sum();
        Ok((extents, len))
    }

    fn extent(&mut self) -> Decoded<Extent> {
        match self.byte()? {
            0 => Ok(Extent::hole(self.len(1..=LARGEST_FILE)?)),
            1 => {
                let id = self.id()?;
                let start = u32::try_from(self.number()?).map_err(|_| OUTSIDE)?;
                let longest = (frame::MAX_PLAIN as u64).checked_sub(start.into()).ok_or(OUTSIDE)?;
                Ok(Extent { piece: Piece::Stored(id), start, len: self.len(1..=longest)? })
            }
            _ => Err(Damaged("it was written by a later version")),
        }
    }

    /// Nothing may follow.
    pub(crate) fn ends(&self) -> Decoded<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Damaged("it is longer than it says")) }
    }
}

const CUT: Damaged = Damaged("it is cut off");
const OUTSIDE: Damaged = Damaged("an extent lies outside of its chunk");

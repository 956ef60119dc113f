//! How a ref is stored. The format is permanent.
//!
//! ```text
//! 0       1 if the ref has a value, 0 if it was removed
//! 1..17   random
//! 17..    the value
//! ```
//!
//! Most buckets tell writes apart by a hash of their bytes. The random bytes make them differ.
//!
//! A ref that was removed leaves such a record only in a bucket that cannot remove on a condition:
//! there it is the one way to remove a ref without removing what somebody else wrote meanwhile.

use bytes::{BufMut as _, Bytes, BytesMut};

use super::bucket::Stored;
use crate::{Error, ErrorKind, Ref, Result, Token};

const HEAD: usize = 17;
const REMOVED: u8 = 0;
const THERE: u8 = 1;

/// What is known of a ref.
pub(super) enum Current {
    /// It is not there.
    Absent,
    /// It was removed, and this write says so.
    Removed(Token),
    /// It has a value.
    There(Ref),
}

impl Current {
    pub(super) fn of(stored: Option<Stored>) -> Result<Self> {
        let Some(Stored { mut bytes, token }) = stored else { return Ok(Self::Absent) };
        match bytes.first() {
            Some(&THERE) if bytes.len() >= HEAD => {
                let value = bytes.split_off(HEAD);
                Ok(Self::There(Ref { value, token }))
            }
            Some(&REMOVED) => Ok(Self::Removed(token)),
            Some(_) | None => Err(Error::new(ErrorKind::Corrupt, "a ref cannot be read")),
        }
    }

    /// The value, if there is one.
    pub(super) fn value(self) -> Option<Ref> {
        match self {
            Self::There(current) => Some(current),
            Self::Absent | Self::Removed(_) => None,
        }
    }
}

/// The record of a value.
pub(super) fn of_value(value: &[u8]) -> Bytes {
    record(THERE, value)
}

/// The record of a ref that is no more.
pub(super) fn of_removed() -> Bytes {
    record(REMOVED, &[])
}

fn record(kind: u8, value: &[u8]) -> Bytes {
    let random: [u8; HEAD - 1] = rand::random();
    let mut record = BytesMut::with_capacity(HEAD + value.len());
    record.put_u8(kind);
    record.put_slice(&random);
    record.put_slice(value);
    record.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: Bytes) -> Result<Current> {
        Current::of(Some(Stored { bytes, token: Token::new("t") }))
    }

    #[test]
    fn a_record_is_laid_out_as_the_table_says() {
        let (one, two) = (of_value(b"value"), of_value(b"value"));
        assert_eq!((one[0], &one[17..]), (1, &b"value"[..]));
        assert_ne!(one, two);
        assert_eq!((of_removed()[0], of_removed().len()), (0, 17));
    }

    #[test]
    fn a_value_survives_its_record() {
        let Current::There(current) = read(of_value(b"")).unwrap() else { panic!("no value") };
        assert_eq!((current.value, current.token), (Bytes::new(), Token::new("t")));
        assert!(matches!(read(of_removed()).unwrap(), Current::Removed(_)));
        assert!(matches!(Current::of(None).unwrap(), Current::Absent));
    }

    #[test]
    fn what_is_no_record_is_corrupt() {
        for bytes in [&b""[..], b"\x02", b"\x01short"] {
            let err = read(Bytes::from_static(bytes)).err().unwrap();
            assert_eq!(err.kind(), ErrorKind::Corrupt);
        }
    }
}

//! What is kept in the database. The format is permanent.
//!
//! ```text
//! objects   domain, id   ->  the sealed object
//! heads     domain, id   ->  generation (16 bytes), stored size (8 bytes, little endian)
//! refs      key          ->  token (16 bytes), value
//! ```
//!
//! The heads let a listing tell tokens and times without reading what the objects hold.

use bytes::Bytes;

use crate::frame::Generation;
use crate::{Error, ErrorKind, Listed, ObjectKey, Ref, RefKey, Result, Token};

/// What a listing tells of an object.
pub(super) struct Head {
    pub(super) generation: Generation,
    pub(super) size: u64,
}

impl Head {
    const LEN: usize = Generation::LEN + 8;

    pub(super) fn encode(&self) -> Vec<u8> {
        [self.generation.as_bytes(), &self.size.to_le_bytes()].concat()
    }

    pub(super) fn decode(stored: &[u8]) -> Result<Self> {
        let split = stored.split_first_chunk().filter(|_| stored.len() == Self::LEN);
        let parts = split.and_then(|(generation, size)| Some((generation, size.first_chunk()?)));
        let (generation, size) = parts.ok_or_else(|| corrupt("the head of an object"))?;
        let generation = Generation::from_bytes(*generation);
        Ok(Self { generation, size: u64::from_le_bytes(*size) })
    }

    pub(super) fn listed(&self, key: ObjectKey) -> Listed {
        let (token, written) = (self.generation.token(), self.generation.written());
        Listed { key, token, written, size: self.size }
    }
}

pub(super) fn object_key(stored: &[u8]) -> Result<ObjectKey> {
    ObjectKey::from_bytes(stored).ok_or_else(|| corrupt("the key of an object"))
}

pub(super) fn ref_key(stored: &[u8]) -> Result<RefKey> {
    let key = str::from_utf8(stored).ok().and_then(|key| RefKey::new(key).ok());
    key.ok_or_else(|| corrupt("the key of a ref"))
}

pub(super) fn encode_ref(value: &Ref) -> Vec<u8> {
    [value.token.as_bytes(), &value.value].concat()
}

pub(super) fn decode_ref(stored: &Bytes) -> Result<Ref> {
    const TOKEN: usize = 16;
    if stored.len() < TOKEN {
        return Err(corrupt("a ref"));
    }
    Ok(Ref { token: Token::new(stored.slice(..TOKEN)), value: stored.slice(TOKEN..) })
}

fn corrupt(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("{what} is not as it was written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_laid_out_as_the_table_says() {
        let head = Head { generation: Generation::from_bytes([7; 16]), size: 0x0102 };
        let stored = [&[7; 16][..], &[2, 1, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(head.encode(), stored);
        let decoded = Head::decode(&stored).unwrap();
        assert_eq!((decoded.generation, decoded.size), (head.generation, head.size));
    }

    #[test]
    fn a_ref_is_laid_out_as_the_table_says() {
        let value = Ref { token: Token::new(vec![7; 16]), value: "value".into() };
        let stored = [&[7; 16][..], b"value"].concat();
        assert_eq!(encode_ref(&value), stored);
        assert_eq!(decode_ref(&stored.into()).unwrap(), value);
    }

    #[test]
    fn what_is_torn_is_corrupt() {
        for stored in [&[][..], &[7; 15], &[7; 23], &[7; 25]] {
            assert_eq!(Head::decode(stored).map(drop).unwrap_err().kind(), ErrorKind::Corrupt);
        }
        assert_eq!(decode_ref(&vec![7; 15].into()).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(ref_key(b"A").unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(object_key(&[7; 47]).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

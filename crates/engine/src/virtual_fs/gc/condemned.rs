//! What a later round shall delete, as the store keeps it.
//!
//! ```text
//! gc/condemned/DOMAIN/TIME-RANDOM   ->   format, 1; then for each object
//!                                        id (32 bytes), stored size (number), token (bytes)
//! ```
//!
//! DOMAIN is in hex, TIME in milliseconds since 1970. Should any of it be lost, the objects are
//! condemned anew. One without objects says that the family was looked at then, and that there was
//! nothing to condemn.

use std::time::SystemTime;

use bytes::Bytes;
use storage::{Domain, Expected, ObjectId, ObjectKey, RefKey, Storage, Token};

use crate::Result;
use crate::tree::{Damaged, Input, put_number};

use super::super::meaning::meaning;

/// Where all of it lies.
const CONDEMNED: &str = "gc/condemned/";
/// How many objects one ref condemns: it stays below 32 KiB.
pub(super) const TOGETHER: usize = 512;
const FORMAT: u8 = 1;
const LONGEST_TOKEN: u64 = 1024;

/// One object that nothing leads to, as it was stored then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) id: ObjectId,
    pub(super) token: Token,
    pub(super) size: u64,
}

/// Where what is condemned of one family lies.
pub(super) fn prefix(domain: Domain) -> String {
    format!("{CONDEMNED}{domain}/")
}

/// Writes down some objects of a family, or that there were none.
pub(super) async fn write(
    storage: &dyn Storage,
    domain: Domain,
    now: SystemTime,
    sentences: &[Sentence],
) -> Result<()> {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let random = rand::random::<u64>();
    let key = format!("{}{:013}-{random:016x}", prefix(domain), since.as_millis());
    let key = RefKey::new(&key).map_err(meaning)?;
    storage.swap(&key, &Expected::Absent, encode(sentences)).await.map_err(meaning)?;
    Ok(())
}

/// The families of which something is written down.
pub(super) async fn domains(storage: &dyn Storage) -> Result<Vec<Domain>> {
    let (mut domains, mut after) = (Vec::new(), None);
    loop {
        let next = storage.list_refs(CONDEMNED, after.as_ref(), 1).await.map_err(meaning)?;
        let Some((key, _)) = next.into_iter().next() else { return Ok(domains) };
        let domain = key.as_str().strip_prefix(CONDEMNED).and_then(|rest| rest.split('/').next());
        let domain = domain.unwrap_or_default();
        domains.extend(parse(domain));
        // Times are digits, which sort before letters.
        after = Some(RefKey::new(&format!("{CONDEMNED}{domain}/z")).map_err(meaning)?);
    }
}

/// The domain that so many hex digits spell.
fn parse(hex: &str) -> Option<Domain> {
    let digits = hex.bytes().map(|digit| char::from(digit).to_digit(16));
    let digits: Vec<u8> = digits.collect::<Option<Vec<_>>>()?.iter().map(|d| *d as u8).collect();
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair.iter().fold(0, |n, d| n << 4 | d)).collect();
    bytes.try_into().ok().filter(|_| hex.len() == 32).map(Domain)
}

fn encode(sentences: &[Sentence]) -> Bytes {
    let mut out = vec![FORMAT];
    for Sentence { id, token, size } in sentences {
        out.extend_from_slice(&id.0);
        put_number(&mut out, *size);
        put_number(&mut out, token.as_bytes().len() as u64);
        out.extend_from_slice(token.as_bytes());
    }
    out.into()
}

pub(super) fn decode(value: &Bytes) -> Result<Vec<Sentence>, Damaged> {
    let mut input = Input(value.clone());
    if input.byte()? != FORMAT {
        return Err(Damaged("it was written by a later version"));
    }
    let mut sentences = Vec::new();
    while !input.0.is_empty() {
        let (id, size) = (input.id()?, input.number()?);
        let token = Token::new(input.bytes(LONGEST_TOKEN)?);
        sentences.push(Sentence { id, token, size });
    }
    Ok(sentences)
}

/// What comes of such bytes that are read and written again; nothing if they are refused.
#[cfg(fuzzing)]
pub(crate) fn again(value: &Bytes) -> Option<Vec<u8>> {
    decode(value).ok().map(|sentences| encode(&sentences).to_vec())
}

/// What a storage calls some objects.
pub(super) fn exact(domain: Domain, sentences: &[Sentence]) -> Vec<(ObjectKey, Token)> {
    let exact =
        |sentence: &Sentence| (ObjectKey { domain, id: sentence.id }, sentence.token.clone());
    sentences.iter().map(exact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_condemned_is_read_back() {
        let sentence = |n: u8| {
            let (id, token) = (ObjectId([n; 32]), Token::new(vec![n; usize::from(n)]));
            Sentence { id, token, size: 1 << n }
        };
        let sentences: Vec<_> = (0..40).map(sentence).collect();
        assert_eq!(decode(&encode(&sentences)).unwrap(), sentences);
    }

    #[test]
    fn what_is_cut_off_is_not_taken_for_less() {
        let (id, token) = (ObjectId([7; 32]), Token::new("token"));
        let whole = encode(&[Sentence { id, token, size: 300 }]);
        for len in (0..whole.len()).filter(|len| *len != 1) {
            assert!(decode(&whole.slice(..len)).is_err(), "{len}");
        }
    }

    #[test]
    fn a_domain_survives_its_digits() {
        let domain = Domain::random();
        assert_eq!(parse(&domain.to_string()), Some(domain));
        assert_eq!(parse(&domain.to_string()[1..]), None);
        assert_eq!(parse("zz"), None);
    }
}

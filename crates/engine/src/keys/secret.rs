//! The part of a key that only its holder knows.

use std::fmt;

use rand::TryRng as _;
use rand::rngs::SysRng;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::{Error, ErrorKind, Result};

use super::id::{self, KeyId};

const BEGINNING: &str = "ask_";
/// How many letters a secret has: 32 of 62 are 190 bits.
const LEN: usize = 32;
const ID_LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const SECRET_LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A whole key, `ask_<id>_<secret>`. Nobody but its maker ever sees it.
#[derive(Clone)]
pub struct KeyText(String);

/// What is kept of a secret: its SHA-256. Compared in constant time.
#[derive(Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl KeyText {
    /// The key itself, to be shown to its maker and to nobody else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A key that nobody has, with what is kept of it.
    pub(super) fn random() -> Result<(KeyId, SecretHash, Self)> {
        let id = KeyId::of(random_letters::<{ id::LEN }>(ID_LETTERS)?).ok_or_else(no_letters)?;
        let secret = random_letters::<LEN>(SECRET_LETTERS)?;
        let secret = std::str::from_utf8(&secret).map_err(|_| no_letters())?;
        Ok((id, SecretHash::of(secret), Self(format!("{BEGINNING}{id}_{secret}"))))
    }
}

/// What a text that somebody presents says, if it can be a key at all.
pub(super) fn parse(text: &str) -> Option<(KeyId, SecretHash)> {
    let (id, rest) = text.strip_prefix(BEGINNING)?.split_at_checked(id::LEN)?;
    let secret = rest.strip_prefix('_')?;
    let fits = secret.len() == LEN && secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let id = KeyId::of(id.as_bytes().try_into().ok()?)?;
    fits.then(|| (id, SecretHash::of(secret)))
}

impl SecretHash {
    /// What is kept of a secret, such as the server's own token.
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret).into())
    }

    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl PartialEq for SecretHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for SecretHash {}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash")
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyText")
    }
}

/// Bytes of the operating system's own randomness.
pub(super) fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).map_err(|err| {
        Error::new(ErrorKind::Io, "the machine gives no random numbers").because(err)
    })?;
    Ok(bytes)
}

/// Letters of an alphabet, each as likely as the others.
fn random_letters<const N: usize>(alphabet: &[u8]) -> Result<[u8; N]> {
    let mut letters = [0; N];
    let mut places = letters.iter_mut();
    // A byte beyond the last whole round would favour the first letters.
    let fair = 256 - 256 % alphabet.len();
    loop {
        let bytes = random_bytes::<64>()?.map(usize::from);
        for byte in bytes.into_iter().filter(|byte| *byte < fair) {
            let Some(place) = places.next() else { return Ok(letters) };
            *place = *alphabet.get(byte % alphabet.len()).ok_or_else(no_letters)?;
        }
    }
}

fn no_letters() -> Error {
    Error::new(ErrorKind::Io, "a key could not be made")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_new_key_is_what_it_is_parsed_as() {
        let (id, hash, text) = KeyText::random().unwrap();
        assert_eq!(text.expose().len(), 4 + 12 + 1 + 32);
        assert_eq!(parse(text.expose()), Some((id, hash)));
    }

    #[test]
    fn no_two_keys_are_alike_and_every_letter_occurs() {
        let keys: Vec<_> = (0..500).map(|_| KeyText::random().unwrap()).collect();
        let ids: HashSet<_> = keys.iter().map(|(id, ..)| *id).collect();
        assert_eq!(ids.len(), keys.len());
        let secrets = keys.iter().flat_map(|(_, _, text)| text.expose()[17..].bytes());
        let letters: HashSet<u8> = secrets.collect();
        assert_eq!(letters, SECRET_LETTERS.iter().copied().collect());
    }

    #[test]
    fn what_is_no_key_is_told_at_once() {
        let (_, _, text) = KeyText::random().unwrap();
        let key = text.expose();
        let wrong = [
            "",
            "ask_",
            &key[1..],
            &key[..48],
            &format!("{key}x"),
            &format!("{key}\n"),
            &key.replacen("ask_", "ASK_", 1),
            &key.replacen("ask_", "ask-", 1),
            &format!("{}_{}", &key[..10], &key[11..]),
            &format!("{}é{}", &key[..20], &key[22..]),
            &format!("ask_é{}", &key[6..]),
        ];
        for text in wrong {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn debug_shows_neither_key_nor_hash() {
        let (_, hash, text) = KeyText::random().unwrap();
        assert_eq!(format!("{text:?} {hash:?}"), "KeyText SecretHash");
    }
}

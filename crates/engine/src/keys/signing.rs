//! What the holder of a key may hand on without handing on his key: a text that allows one thing for
//! a while.
//!
//! The text says who signed it, what it allows and until when, and a binding to the signer's secret;
//! the signature is over all of that. When the key is revoked, what it signed is void.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use storage::{Expected, Ref, RefKey, Storage, Swap};
use subtle::ConstantTimeEq as _;

use crate::tree::{Damaged, Input, put_check, put_text, put_time};
use crate::virtual_fs::{doubtful, meaning, now};
use crate::{DotDot, Error, ErrorKind, MAX_PATH, Result, SandboxId, SandboxPath, UnixTime};

use super::secret::random_bytes;
use super::{Actor, SecretHash};

/// Where the secret is kept that signs.
const SIGNING: &str = "secrets/signing";
/// The format of both the secret and the texts.
const FORMAT: u8 = 1;
const SIGNATURE: usize = 32;
const BINDING: usize = 16;
/// What tells the two uses of the secret apart. They are part of the format.
const OF_CLAIMS: &[u8] = b"sandkeep 1 claim";
const OF_BINDINGS: &[u8] = b"sandkeep 1 binding";
const LONGEST_ID: u64 = 63;
/// A byte that is not UTF-8 is spelled with four.
const LONGEST_PATH: u64 = 4 * MAX_PATH as u64;

/// What a signed text allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who signed it. It allows nothing that he may not do.
    pub by: Actor,
    /// The sandbox that it is for.
    pub sandbox: SandboxId,
    /// What may be done.
    pub access: Access,
    /// Where it may be done.
    pub path: SandboxPath,
    /// From when on it allows nothing any more.
    pub expires: UnixTime,
}

/// What a signed text allows at its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// To read one file.
    ReadFile,
    /// To write one file.
    WriteFile,
    /// To read a directory and what is beneath it.
    ReadDirectory,
    /// To write what is beneath a directory.
    WriteDirectory,
}

/// Signs, and knows what it signed.
#[derive(Clone)]
pub struct Signer([u8; 32]);

/// A text with a right signature, which has not expired. What it claims is told to those who know
/// the signer's secret as it is now.
#[derive(Clone, Debug)]
pub struct Signed {
    claim: Claim,
    binding: [u8; BINDING],
    signer: Signer,
}

impl Signed {
    /// Who signed it.
    pub fn by(&self) -> Actor {
        self.claim.by
    }

    /// What it allows, if whoever signed it still has this secret.
    pub fn claim(self, secret: &SecretHash) -> Option<Claim> {
        let is_bound = self.signer.binding(secret).ct_eq(&self.binding);
        bool::from(is_bound).then_some(self.claim)
    }
}

impl Signer {
    /// A text that whoever has it may use as the claim says, in letters that a URL needs not escape.
    /// `secret` is that of the one who signs.
    pub fn sign(&self, claim: &Claim, secret: &SecretHash) -> String {
        let Claim { by, sandbox, access, path, expires } = claim;
        let mut text = vec![FORMAT, access.byte()];
        by.put(&mut text);
        put_time(&mut text, *expires);
        put_text(&mut text, sandbox.as_str());
        put_text(&mut text, path.as_str());
        text.extend(self.binding(secret));
        let signature = self.mac(OF_CLAIMS, &text);
        text.extend(signature);
        URL_SAFE_NO_PAD.encode(text)
    }

    /// What a text says. None if we did not sign it, or if it has expired.
    pub fn verify(&self, text: &str) -> Option<Signed> {
        let text = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (content, signature) = text.split_last_chunk::<SIGNATURE>()?;
        if !bool::from(self.mac(OF_CLAIMS, content).ct_eq(signature)) {
            return None;
        }
        let (claim, binding) = read(Bytes::copy_from_slice(content)).ok()?;
        let is_over = claim.expires <= now();
        (!is_over).then(|| Signed { claim, binding, signer: self.clone() })
    }

    /// The same at every time.
    #[cfg(fuzzing)]
    pub(super) fn fixed() -> Self {
        Self([7; 32])
    }

    /// The one secret of a store; made here if nobody did.
    pub(super) async fn load(storage: &dyn Storage) -> Result<Self> {
        let key = RefKey::new(SIGNING).map_err(meaning)?;
        if let Some(Ref { value, .. }) = storage.load(&key).await.map_err(meaning)? {
            return Self::decode(&value);
        }
        let new = Self(random_bytes()?);
        match storage.swap(&key, &Expected::Absent, new.encode()).await.map_err(doubtful)? {
            Swap::Won(_) => Ok(new),
            Swap::Lost(Some(Ref { value, .. })) => Self::decode(&value),
            Swap::Lost(None) => {
                Err(Error::new(ErrorKind::Busy, "the secret of the store was just removed"))
            }
        }
    }

    fn encode(&self) -> Bytes {
        let mut out = vec![FORMAT];
        out.extend_from_slice(&self.0);
        put_check(&mut out);
        out.into()
    }

    fn decode(bytes: &Bytes) -> Result<Self> {
        let read = || {
            let mut input = Input::record(bytes, FORMAT)?;
            let secret = input.array()?;
            input.ends()?;
            Ok(Self(secret))
        };
        read().map_err(|err: Damaged| {
            let message = "the secret of the store cannot be read";
            Error::new(ErrorKind::Io, message).because(err)
        })
    }

    /// What ties a text to a secret, and tells nothing of it.
    fn binding(&self, secret: &SecretHash) -> [u8; BINDING] {
        let mac = self.mac(OF_BINDINGS, secret.as_bytes());
        mac.first_chunk().copied().unwrap_or_default()
    }

    fn mac(&self, use_of: &[u8], content: &[u8]) -> [u8; SIGNATURE] {
        // A key of the block's length fits without being hashed first.
        let mut block = [0; 64];
        block.iter_mut().zip(self.0).for_each(|(place, byte)| *place = byte);
        let mac = Hmac::<Sha256>::new(&block.into());
        mac.chain_update(use_of).chain_update(content).finalize().into_bytes().into()
    }
}

fn read(content: Bytes) -> Result<(Claim, [u8; BINDING]), Damaged> {
    let mut input = Input(content);
    if input.byte()? != FORMAT {
        return Err(Damaged("it was written by a later version"));
    }
    let access = Access::of(input.byte()?)?;
    let by = Actor::read(&mut input)?;
    let expires = input.time()?;
    let unfit = |_| Damaged("a name cannot be");
    let sandbox = SandboxId::parse(&input.text(LONGEST_ID)?).map_err(unfit)?;
    let path = SandboxPath::parse(&input.text(LONGEST_PATH)?, DotDot::Refuse).map_err(unfit)?;
    let binding = input.array()?;
    input.ends()?;
    Ok((Claim { by, sandbox, access, path, expires }, binding))
}

impl Access {
    fn byte(self) -> u8 {
        match self {
            Self::ReadFile => 0,
            Self::WriteFile => 1,
            Self::ReadDirectory => 2,
            Self::WriteDirectory => 3,
        }
    }

    fn of(byte: u8) -> Result<Self, Damaged> {
        match byte {
            0 => Ok(Self::ReadFile),
            1 => Ok(Self::WriteFile),
            2 => Ok(Self::ReadDirectory),
            3 => Ok(Self::WriteDirectory),
            _ => Err(Damaged("it was written by a later version")),
        }
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer")
    }
}

#[cfg(test)]
mod tests;

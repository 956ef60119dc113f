//! Content that proves itself: its first bytes say which and how long, the rest follows from them.

use crate::dice::Dice;

const HEAD: usize = 16;

/// The content of a version, `len` bytes of it, at least 16.
pub(crate) fn pattern(version: u64, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 8);
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&u64::try_from(len).unwrap().to_le_bytes());
    let mut dice = Dice::new(version);
    while bytes.len() < len {
        bytes.extend_from_slice(&dice.roll().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Which version a whole file is; what is wrong with one that is torn.
pub(crate) fn version_of(bytes: &[u8]) -> Result<u64, String> {
    let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (Some(version), Some(len)) = (word(0), word(HEAD / 2)) else {
        return Err(format!("cut to {} bytes", bytes.len()));
    };
    if len != u64::try_from(bytes.len()).unwrap() {
        return Err(format!("{} bytes of {len}", bytes.len()));
    }
    if bytes != pattern(version, bytes.len()) {
        return Err(format!("mixed content in {len} bytes of version {version}"));
    }
    Ok(version)
}

//! What stands behind a content whose header did not know it.

use std::io::Read;

use super::super::bad;
use super::DESCRIPTOR;
use super::content::Measured;
use super::source::Source;
use crate::Result;

/// With a signature and sizes of eight bytes.
const LONGEST: usize = 24;

/// Takes a descriptor, which must tell what was measured.
///
/// Programs do not agree on it: the signature may be absent, and sizes have four bytes or eight,
/// whatever the header says. So each form is made of what was measured and looked for, the longest
/// first: where a shorter one is right too, the next record would have to begin with zeros.
pub(super) fn check<R: Read>(source: &mut Source<R>, measured: Measured) -> Result<()> {
    let there = source.peek(LONGEST)?;
    let signature = DESCRIPTOR.to_le_bytes();
    let forms = [
        long(&signature, measured),
        short(&signature, measured),
        long(&[], measured),
        short(&[], measured),
    ];
    let right = forms.iter().find(|form| !form.is_empty() && there.starts_with(form));
    let right = right.ok_or_else(|| {
        bad("a member is not what is told behind it, or it is stored and does not say how long it is")
    })?;
    source.take(right.len());
    Ok(())
}

pub(super) fn long(signature: &[u8], measured: Measured) -> Vec<u8> {
    let Measured { crc, compressed, size } = measured;
    [signature, &crc.to_le_bytes(), &compressed.to_le_bytes(), &size.to_le_bytes()].concat()
}

/// Nothing if the sizes are too large for it.
pub(super) fn short(signature: &[u8], measured: Measured) -> Vec<u8> {
    let (Ok(compressed), Ok(size)) =
        (u32::try_from(measured.compressed), u32::try_from(measured.size))
    else {
        return Vec::new();
    };
    let crc = measured.crc.to_le_bytes();
    [signature, &crc, &compressed.to_le_bytes(), &size.to_le_bytes()].concat()
}

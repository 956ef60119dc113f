//! What a header says behind its name.

use super::super::bad;
use super::fields::Fields;
use super::{TIMESTAMP, UNICODE_PATH, ZIP_64};
use crate::Result;

/// The extra fields of a header, as far as we know them.
#[derive(Default)]
pub(super) struct Extra<'a> {
    /// Numbers that are too large for the header, in its order.
    pub(super) large: Option<Fields<'a>>,
    /// Seconds since 1970.
    pub(super) modified: Option<i32>,
    /// The checksum of the name in the header, and the same name in UTF-8.
    pub(super) name: Option<(u32, &'a [u8])>,
}

impl<'a> Extra<'a> {
    pub(super) fn read(extra: &'a [u8]) -> Result<Self> {
        let (mut fields, mut known) = (Fields(extra), Self::default());
        // Programs that align content leave up to three bytes that are no field.
        while fields.0.len() >= 4 {
            let (id, len) = (fields.u16()?, fields.u16()?);
            let field = Fields(fields.bytes(usize::from(len))?);
            // Two fields of one kind let two readers see two different archives.
            let is_twice = match id {
                ZIP_64 => known.large.replace(field).is_some(),
                TIMESTAMP => known.timestamp(field)?,
                UNICODE_PATH => known.unicode_path(field)?,
                _ => false,
            };
            if is_twice {
                return Err(bad("a member has two extra fields of one kind"));
            }
        }
        Ok(known)
    }

    fn timestamp(&mut self, mut field: Fields<'_>) -> Result<bool> {
        let has_modified = field.bytes(1)?.iter().any(|flags| flags & 1 != 0);
        if !has_modified {
            return Ok(false);
        }
        Ok(self.modified.replace(field.u32()?.cast_signed()).is_some())
    }

    fn unicode_path(&mut self, mut field: Fields<'a>) -> Result<bool> {
        if field.bytes(1)? != [1] {
            return Ok(false);
        }
        let checksum = field.u32()?;
        Ok(self.name.replace((checksum, field.0)).is_some())
    }

    /// A number of the header: if it has only ones, it stands here.
    pub(super) fn large(&mut self, short: u32) -> Result<u64> {
        match &mut self.large {
            Some(large) if short == u32::MAX => large.u64(),
            _ => Ok(u64::from(short)),
        }
    }
}

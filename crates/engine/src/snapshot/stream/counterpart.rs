//! The file that another state has at the same path: what of a new file is in it already.

use std::collections::HashMap;

use crate::snapshot::identity::{Key, is_same_place};
use crate::tree::{Extent, File, Need, Source};

/// How many chunks of a file are looked for elsewhere in it.
const INDEXED: usize = 64 << 10;

/// A file that is known on the other side.
#[derive(Debug)]
pub(super) struct Counterpart {
    file: File,
    /// Where each chunk begins, or would, were it there from its first byte on.
    index: HashMap<Key, u64>,
    /// How far the file is indexed.
    indexed: u64,
    /// Nothing before this may be used again.
    floor: u64,
}

impl Counterpart {
    pub(super) fn new(file: &File) -> Self {
        Self { file: file.clone(), index: HashMap::new(), indexed: 0, floor: 0 }
    }

    /// Where the bytes of an extent at offset `at` of the new file are in this one, and how many.
    pub(super) fn find(
        &mut self,
        at: u64,
        extent: &Extent,
        source: &dyn Source,
    ) -> Result<Option<(u64, u64)>, Need> {
        let mut found = self.look(at, extent, source)?;
        if found.is_none() {
            found = match self.indexed(extent, source)? {
                Some(offset) => self.look(offset, extent, source)?,
                None => None,
            };
        }
        if let Some((offset, len)) = found {
            self.floor = offset + len;
        }
        Ok(found)
    }

    fn look(
        &self,
        offset: u64,
        extent: &Extent,
        source: &dyn Source,
    ) -> Result<Option<(u64, u64)>, Need> {
        if offset < self.floor {
            return Ok(None);
        }
        let there = self.file.extent_at(offset, source)?;
        let same = there.filter(|there| is_same_place(there, extent));
        Ok(same.map(|there| (offset, there.len.min(extent.len))))
    }

    /// Where the file has the chunk of an extent. Only a file whose chunks moved is searched.
    fn indexed(&mut self, extent: &Extent, source: &dyn Source) -> Result<Option<u64>, Need> {
        while self.index.len() < INDEXED
            && let Some(there) = self.file.extent_at(self.indexed, source)?
        {
            if let Some(key) = Key::chunk(&there) {
                let begin = self.indexed.wrapping_sub(u64::from(there.start));
                self.index.entry(key).or_insert(begin);
            }
            self.indexed += there.len;
        }
        let begin = Key::chunk(extent).and_then(|key| self.index.get(&key));
        Ok(begin.map(|begin| begin.wrapping_add(u64::from(extent.start))))
    }
}

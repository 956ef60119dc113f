//! What files hold.

use sandkeep_engine::{ErrorKind, Parents, Part, WriteMode};

use super::change::Belief;
use super::{Kind, Outcome, Reference};

impl Reference {
    pub(crate) fn write(
        &mut self,
        path: &str,
        content: &[u8],
        mode: WriteMode,
        parents: Parents,
        belief: &Belief,
    ) -> Outcome<u64> {
        let place = self.place(path, mode != WriteMode::CreateNew)?;
        if place.thing.is_some() && mode == WriteMode::CreateNew {
            return Err(ErrorKind::AlreadyExists);
        }
        if place.thing.is_none() && parents == Parents::Require && place.missing > 1 {
            return Err(ErrorKind::NotFound);
        }
        if self.is_directory(&place.path) {
            return Err(ErrorKind::IsADirectory);
        }
        self.check(belief, place.thing)?;
        let old = place.thing.map(|number| self.thing(number).clone());
        let held = match &old {
            Some(thing) => file_bytes(&thing.kind).to_vec(),
            None => Vec::new(),
        };
        let new = self.joined(&held, content, mode)?;
        let whole = matches!(mode, WriteMode::CreateNew | WriteMode::Replace);
        let file = match (place.thing, old) {
            (Some(number), _) if !whole => {
                self.refill(number, new);
                number
            }
            // Whoever has the old file open keeps it; the new one takes over what is known of it.
            (_, Some(mut thing)) => {
                thing.kind = Kind::File(new);
                thing.modified = None;
                thing.version = self.next();
                let number = self.next();
                self.things.insert(number, thing);
                number
            }
            (_, None) => self.make(Kind::File(new)),
        };
        self.put(&place, file);
        Ok(file)
    }

    /// What becomes of the bytes of a file.
    fn joined(&self, held: &[u8], content: &[u8], mode: WriteMode) -> Outcome<Vec<u8>> {
        let (offset, total) = match mode {
            WriteMode::CreateNew | WriteMode::Replace => {
                self.check_file_size(0, content.len() as u64)?;
                return Ok(content.to_vec());
            }
            WriteMode::Append => (held.len() as u64, None),
            WriteMode::Part(Part { offset, total }) => (offset, total),
        };
        let new = overwritten(held, offset, content);
        self.check_file_size(held.len() as u64, new.len() as u64)?;
        if total.is_some_and(|total| total != new.len() as u64) {
            return Err(ErrorKind::PreconditionFailed);
        }
        Ok(new)
    }

    /// Gives a file other bytes in place.
    fn refill(&mut self, file: u64, bytes: Vec<u8>) {
        let version = self.next();
        let thing = self.things.get_mut(&file).unwrap();
        thing.kind = Kind::File(bytes);
        thing.modified = None;
        thing.version = version;
    }

    pub(crate) fn file_bytes(&self, file: u64) -> &[u8] {
        file_bytes(&self.thing(file).kind)
    }

    /// Writes to an open file, wherever it is.
    pub(crate) fn write_at(&mut self, file: u64, offset: u64, content: &[u8]) -> Outcome<()> {
        let new = overwritten(self.file_bytes(file), offset, content);
        self.check_file_size(self.file_len(file), new.len() as u64)?;
        self.refill(file, new);
        Ok(())
    }

    pub(crate) fn set_len(&mut self, file: u64, len: u64) -> Outcome<()> {
        self.check_file_size(self.file_len(file), len)?;
        let mut bytes = self.file_bytes(file).to_vec();
        bytes.resize(len as usize, 0);
        self.refill(file, bytes);
        Ok(())
    }
}

fn overwritten(held: &[u8], offset: u64, content: &[u8]) -> Vec<u8> {
    let (mut bytes, offset) = (held.to_vec(), offset as usize);
    if !content.is_empty() {
        bytes.resize(bytes.len().max(offset + content.len()), 0);
        bytes[offset..offset + content.len()].copy_from_slice(content);
    }
    bytes
}

fn file_bytes(kind: &Kind) -> &[u8] {
    match kind {
        Kind::File(bytes) => bytes,
        Kind::Directory | Kind::Link(_) => &[],
    }
}

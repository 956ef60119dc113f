//! The names of a directory in a tree, beside those of a directory on the host.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use crate::tree::{Cursor, Directory, Item, Name};
use crate::{Result, name};

use super::reader::Reader;

/// What a cursor holds of a tree, about.
const CURSOR_SIZE: usize = 32 << 10;

/// The names that a tree has in a directory, taken in order beside those that a host has there.
///
/// A name that is not UTF-8 sorts otherwise as text than as bytes; such odd names are passed over.
pub(super) struct KnownNames {
    pub(super) dir: Directory,
    cursor: Option<Cursor>,
    /// The last one that was taken from the cursor.
    passed: Option<Name>,
    next: Option<Arc<Item>>,
    /// Whether an odd one was passed over.
    pub(super) has_odd: bool,
}

impl KnownNames {
    pub(super) fn of(dir: Directory) -> Self {
        Self { dir, cursor: None, passed: None, next: None, has_odd: false }
    }

    /// The next one that sorts before `name`; it is then passed.
    pub(super) fn before(&mut self, name: &str, reader: &Reader) -> Result<Option<Arc<Item>>> {
        let is_before = self.peek(reader)?.is_some_and(|item| *item.name < *name);
        Ok(if is_before { self.next.take() } else { None })
    }

    /// The one of that name, if it is next; it is then passed.
    pub(super) fn take(&mut self, name: &str, reader: &Reader) -> Result<Option<Arc<Item>>> {
        let is_it = self.peek(reader)?.is_some_and(|item| *item.name == *name);
        Ok(if is_it { self.next.take() } else { None })
    }

    /// The one of the name that a host calls `name` and a tree `text`; those before it are passed.
    pub(super) fn pass_to(
        &mut self,
        name: &OsStr,
        text: &str,
        reader: &Reader,
    ) -> Result<Option<Arc<Item>>> {
        if is_odd(name, text) {
            return reader.find(&self.dir, text);
        }
        while self.before(text, reader)?.is_some() {}
        self.take(text, reader)
    }

    /// How much memory it takes to go on where it is, about.
    pub(super) fn size(&self) -> usize {
        self.cursor.as_ref().map_or(0, |_| CURSOR_SIZE)
    }

    /// Lets go of that memory.
    pub(super) fn shrink(&mut self) {
        self.cursor = None;
    }

    /// The next one of those that are left.
    pub(super) fn rest(&mut self, reader: &Reader) -> Result<Option<Arc<Item>>> {
        self.peek(reader)?;
        Ok(self.next.take())
    }

    fn peek(&mut self, reader: &Reader) -> Result<Option<&Arc<Item>>> {
        while self.next.is_none() && self.dir.top.is_some() {
            let after = || Cursor::after(&self.dir, self.passed.as_deref());
            let cursor = self.cursor.get_or_insert_with(after);
            let Some(item) = reader.next(cursor)? else { break };
            self.passed = Some(item.name.clone());
            if matches!(name::to_bytes(&item.name), Cow::Owned(_)) {
                self.has_odd = true;
                continue;
            }
            self.next = Some(item);
        }
        Ok(self.next.as_ref())
    }
}

/// Whether a name is another text than its bytes.
pub(super) fn is_odd(name: &OsStr, text: &str) -> bool {
    name.as_bytes() != text.as_bytes()
}

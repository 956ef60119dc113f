//! Nodes of a snapshot, made as files out of sight.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::host_fs::{Meaning as _, host_time};
use crate::tree::{Body, Cursor, Directory, File, Name, Node};
use crate::{Error, ErrorKind, Limits, Result, name};

use super::reader::Reader;

/// Offsets are signed numbers to the kernel.
const LARGEST_FILE: u64 = i64::MAX as u64;

/// Makes nodes of one snapshot.
pub(super) struct Maker<'a> {
    pub(super) reader: &'a Reader,
    pub(super) limits: Limits,
}

/// A directory that is being made, and the last name that was made in it.
struct Level {
    dir: Directory,
    after: Option<Name>,
    mode: u32,
    modified: host::Time,
}

impl Level {
    fn of(node: &Node, dir: &Directory) -> Self {
        let (mode, modified) = (u32::from(node.mode), host_time(node.modified));
        Self { dir: dir.clone(), after: None, mode, modified }
    }
}

impl Maker<'_> {
    /// Makes a node with everything beneath it. Does not recurse: a tree may be deeper than the
    /// stack.
    pub(super) fn make(&self, stage: &mut host::Stage, name: &OsStr, node: &Node) -> Result<()> {
        let mut levels: Vec<Level> = self.begin(stage, name, node)?.into_iter().collect();
        let mut cursor = None;
        while let Some(level) = levels.last_mut() {
            let after = || Cursor::after(&level.dir, level.after.as_deref());
            let next = self.reader.next(cursor.get_or_insert_with(after))?;
            let Some(item) = next else {
                stage.finish_dir(level.mode, level.modified).meaning()?;
                levels.pop();
                cursor = None;
                continue;
            };
            level.after = Some(item.name.clone());
            if let Some(lower) =
                self.begin(stage, host_name(&host_bytes(&item.name)?), &item.node)?
            {
                levels.push(lower);
                cursor = None;
            }
        }
        Ok(())
    }

    /// Makes a file or a link, or begins a directory.
    fn begin(&self, stage: &mut host::Stage, name: &OsStr, node: &Node) -> Result<Option<Level>> {
        let modified = host_time(node.modified);
        match &node.body {
            Body::Directory(dir) => {
                stage.begin_dir(name).meaning()?;
                return Ok(Some(Level::of(node, dir)));
            }
            Body::Symlink(target) => {
                let target = name::to_bytes(target);
                stage.make_link(name, OsStr::from_bytes(&target), modified).meaning()?;
            }
            Body::File(file) => {
                self.limits.check_file_size(file.len(), LARGEST_FILE)?;
                let made = stage.begin_file(name).meaning()?;
                self.fill(&made, file)?;
                stage.finish_file(&made, u32::from(node.mode), modified).meaning()?;
            }
        }
        Ok(None)
    }

    /// Writes the content of a file; holes stay holes.
    fn fill(&self, made: &host::OpenedFile, file: &File) -> Result<()> {
        let (mut at, len) = (0, file.len());
        made.set_len(len).meaning()?;
        while at < len {
            let extent = self.reader.work(|source| Ok(file.extent_at(at, source)?))?;
            let Some(extent) = extent else { break };
            if let Some(bytes) = self.reader.bytes(&extent)? {
                made.write_all_at(&bytes, at).meaning()?;
            }
            at += extent.len;
        }
        Ok(())
    }
}

/// The bytes of a name on the host. A snapshot that came from elsewhere may hold names that are
/// not for files.
pub(super) fn host_bytes(text: &str) -> Result<Cow<'_, [u8]>> {
    let bytes = name::to_bytes(text);
    if host::is_reserved(OsStr::from_bytes(&bytes)) {
        let message = "the snapshot holds a name that is reserved for unfinished files";
        return Err(Error::new(ErrorKind::InvalidPath, message));
    }
    Ok(bytes)
}

pub(super) fn host_name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

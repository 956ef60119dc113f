//! Whether a host file is what a snapshot has.

use std::ffi::OsStr;

use crate::Result;
use crate::host_fs::{Meaning as _, Tree, is_gone, unix_time};
use crate::name;
use crate::tree::{Body, File, Node};

use super::fingerprint::Fingerprints;
use super::reader::Reader;

/// How many bytes of a hole are compared at a time.
const STEP: u64 = 256 << 10;

/// Compares host files with those of one snapshot.
pub(super) struct Comparison<'a> {
    tree: &'a Tree,
    reader: &'a Reader,
    fingerprints: Fingerprints,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(tree: &'a Tree, reader: &'a Reader) -> Self {
        Self { tree, reader, fingerprints: Fingerprints::of(reader.family()) }
    }

    /// Whether a name in a directory, which is in this state, is a file or link like the node. The
    /// content is only read where the rest is the same and nothing tells that it was not changed.
    pub(super) fn is_same(
        &self,
        dir: &host::Listing,
        name: &OsStr,
        stat: &host::Stat,
        node: &Node,
    ) -> Result<bool> {
        let looks_alike =
            stat.mode == u32::from(node.mode) && unix_time(stat.modified) == node.modified;
        match (&node.body, stat.kind) {
            (Body::File(_), host::Kind::File) if node.stamp == self.fingerprints.stamp(stat) => {
                Ok(true)
            }
            (Body::File(file), host::Kind::File) if looks_alike && file.len() == stat.size => {
                self.has_content(dir, name, file)
            }
            // The mode of a link means nothing.
            (Body::Symlink(target), host::Kind::Symlink) => {
                let is_of_then = unix_time(stat.modified) == node.modified;
                Ok(is_of_then && holds(dir, name, target)?)
            }
            (Body::File(_) | Body::Directory(_) | Body::Symlink(_), _) => Ok(false),
        }
    }

    fn has_content(&self, dir: &host::Listing, name: &OsStr, file: &File) -> Result<bool> {
        let (opened, _) = match self.tree.dir.open_listed(dir, name) {
            // It is something else by now.
            Err(err) if is_gone(err) || err == host::Error::Special => return Ok(false),
            outcome => outcome.meaning()?,
        };
        let mut at = 0;
        while at < file.len() {
            let extent = self.reader.work(|source| Ok(file.extent_at(at, source)?))?;
            let Some(extent) = extent else { return Ok(false) };
            let part = match self.reader.bytes(&extent)? {
                Some(bytes) => bytes,
                None => zeros(extent.len),
            };
            if !begins_with(&opened, at, &part)? {
                return Ok(false);
            }
            at += part.len() as u64;
        }
        Ok(true)
    }
}

fn zeros(len: u64) -> bytes::Bytes {
    static ZEROS: [u8; STEP as usize] = [0; STEP as usize];
    let len = usize::try_from(len.min(STEP)).unwrap_or_default();
    bytes::Bytes::from_static(ZEROS.get(..len).unwrap_or_default())
}

/// Whether a file has these bytes at an offset.
fn begins_with(file: &host::OpenedFile, at: u64, bytes: &[u8]) -> Result<bool> {
    let mut space = vec![0; bytes.len()];
    let mut read = 0;
    while let Some(rest) = space.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + read as u64).meaning()? {
            0 => return Ok(false),
            more => read += more,
        }
    }
    Ok(space == bytes)
}

fn holds(dir: &host::Listing, name: &OsStr, target: &str) -> Result<bool> {
    match dir.read_link(name) {
        Err(host::Error::Os(host::Errno::NOENT | host::Errno::INVAL)) => Ok(false),
        outcome => Ok(outcome.meaning()?.as_encoded_bytes() == &*name::to_bytes(target)),
    }
}

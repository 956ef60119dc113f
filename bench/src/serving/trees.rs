//! Trees of files, on the disk and as archives.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;

use super::content::{noise, stamp, text};

/// How a tree is filled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Filling {
    Empty,
    /// So many bytes each, which differ from file to file.
    Noise(usize),
    /// So many bytes of text each; every so manyth file has what is looked for.
    Text(usize, usize),
}

/// A tree of files, all alike.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) files: usize,
    /// How many of them are in a directory; all of them in one without.
    pub(super) each: Option<usize>,
    pub(super) filling: Filling,
}

impl Tree {
    pub(super) fn name(&self, number: usize) -> String {
        match self.each {
            None => format!("f{number:07}"),
            Some(each) => format!("d{:05}/f{number:07}", number / each.max(1)),
        }
    }

    /// Makes some of the files beneath a directory of this machine.
    pub(super) fn plant(&self, dir: &Path, some: Range<usize>) -> Result<()> {
        std::fs::create_dir_all(dir)?;
        let mut content = self.content();
        for number in some {
            let path = dir.join(self.name(number));
            if self.each.is_some_and(|each| number % each == 0) {
                std::fs::create_dir_all(path.parent().unwrap_or(dir))?;
            }
            std::fs::write(path, content.of(number))?;
        }
        Ok(())
    }

    /// Some of the files as a tar archive.
    pub(super) fn archive(&self, some: Range<usize>) -> Result<Vec<u8>> {
        let mut builder = tar::Builder::new(Vec::new());
        let mut content = self.content();
        for number in some {
            let bytes = content.of(number);
            let mut header = tar::Header::new_ustar();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_mtime(1_700_000_000);
            builder.append_data(&mut header, self.name(number), bytes)?;
        }
        Ok(builder.into_inner()?)
    }

    /// What a file holds, by its number.
    pub(super) fn content_of(&self, number: usize) -> Vec<u8> {
        self.content().of(number).to_vec()
    }

    fn content(&self) -> Content {
        let bytes = match self.filling {
            Filling::Noise(length) => noise(length),
            Filling::Empty | Filling::Text(..) => Vec::new(),
        };
        Content { filling: self.filling, bytes }
    }
}

/// What files hold, one after the other.
struct Content {
    filling: Filling,
    bytes: Vec<u8>,
}

impl Content {
    fn of(&mut self, number: usize) -> &[u8] {
        match self.filling {
            Filling::Empty => {}
            Filling::Noise(_) => stamp(&mut self.bytes, number as u64),
            Filling::Text(length, nth) => {
                self.bytes = text(length, number as u64, number.is_multiple_of(nth));
            }
        }
        &self.bytes
    }
}

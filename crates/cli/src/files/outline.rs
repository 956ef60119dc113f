//! `tree`: a directory and everything beneath it.
//!
//! Directories are read page by page, so that however deep and wide the tree is, only one page a
//! level is held and nothing stays open on the server.

use std::collections::VecDeque;

use anyhow::Result;
use engine::{Entry, EntryKind, Page, SandboxPath};
use futures::TryStreamExt as _;

use crate::command_line::TreeFlags;
use crate::render::{EntryJson, Output, counted, shown};

use super::tree::Tree;

/// Entries that are asked for at once.
const PAGE: usize = 500;

/// Shows a directory and everything beneath it, down to a depth.
pub(super) async fn run(flags: &TreeFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let root = tree.locate(&flags.path)?;
    let mut drawing = Drawing::default();
    let mut levels = vec![Level::open(root.clone(), tree).await?];
    drawing.begin(&root, out)?;
    while let Some(level) = levels.last_mut() {
        let Some(entry) = level.next(tree).await? else {
            levels.pop();
            continue;
        };
        drawing.entry(&entry, &levels, out)?;
        if entry.kind == EntryKind::Directory {
            if levels.len() < flags.depth {
                levels.push(Level::open(entry.path, tree).await?);
            } else {
                drawing.cut += 1;
            }
        }
    }
    drawing.end(flags.depth, out)
}

/// A directory that is being read.
struct Level {
    dir: SandboxPath,
    waiting: VecDeque<Entry>,
    whole: bool,
}

impl Level {
    async fn open(dir: SandboxPath, tree: &Tree) -> Result<Self> {
        let mut level = Self { dir, waiting: VecDeque::new(), whole: false };
        level.fill(None, tree).await?;
        Ok(level)
    }

    /// The next entry. The page after it is fetched first, so that the last one is known as such.
    async fn next(&mut self, tree: &Tree) -> Result<Option<Entry>> {
        let Some(entry) = self.waiting.pop_front() else { return Ok(None) };
        if self.waiting.is_empty() && !self.whole {
            self.fill(Some(entry.path.name().to_owned()), tree).await?;
        }
        Ok(Some(entry))
    }

    async fn fill(&mut self, after: Option<String>, tree: &Tree) -> Result<()> {
        let page = Page { after, limit: Some(PAGE) };
        let entries = tree.files.list(&self.dir, page).await.map_err(|err| err.on(&self.dir))?;
        self.waiting = entries.try_collect().await?;
        self.whole = self.waiting.len() < PAGE;
        Ok(())
    }
}

#[derive(Default)]
struct Drawing {
    files: u64,
    directories: u64,
    /// Directories that were not entered.
    cut: u64,
}

impl Drawing {
    fn begin(&self, root: &SandboxPath, out: &mut Output) -> Result<()> {
        if out.json() { out.bytes(b"[") } else { out.line(&shown(root.as_str())) }
    }

    fn entry(&mut self, entry: &Entry, levels: &[Level], out: &mut Output) -> Result<()> {
        let first = self.files + self.directories == 0;
        let mark = match entry.kind {
            EntryKind::Directory => "/",
            EntryKind::Symlink => "@",
            EntryKind::File | EntryKind::Special => "",
        };
        match entry.kind {
            EntryKind::Directory => self.directories += 1,
            EntryKind::File | EntryKind::Symlink | EntryKind::Special => self.files += 1,
        }
        if out.json() {
            let mut json = EntryJson::new(entry);
            json.depth = Some(levels.len());
            out.bytes(if first { b"\n" } else { b",\n" })?;
            return out.bytes(serde_json::to_string(&json)?.as_bytes());
        }
        out.line(&format!("{}{}{mark}", branches(levels), shown(entry.path.name())))
    }

    fn end(&self, depth: usize, out: &mut Output) -> Result<()> {
        let Self { files, directories, cut } = self;
        if out.json() {
            return out.line(if files + directories == 0 { "]" } else { "\n]" });
        }
        let (directories, files) = (counted(*directories, "directory"), counted(*files, "file"));
        out.line(&format!("\n{directories}, {files}"))?;
        match *cut {
            0 => Ok(()),
            cut => {
                let cut = counted(cut, "directory");
                out.line(&format!("not entered: {cut} at level {depth}; go deeper with --depth"))
            }
        }
    }
}

/// The lines before a name: whether more comes on each level above, and on its own.
fn branches(levels: &[Level]) -> String {
    let more = |level: &Level| !level.waiting.is_empty();
    let Some((own, above)) = levels.split_last() else { return String::new() };
    let mut lines: String =
        above.iter().map(|level| if more(level) { "│   " } else { "    " }).collect();
    lines.push_str(if more(own) { "├── " } else { "└── " });
    lines
}

//! The differences that an edit made, as `diff -u` would tell them.
//!
//! Which parts changed is known, so nothing but those is compared: the time it takes grows with
//! what changed, not with the file, and large or hostile parts are not compared at all.
//!
//! - `lines`: parts of a text as whole lines
//! - `changes`: which of those lines changed
//! - `hunk`: lines that are told together
//! - `name`: how a path is written in a diff

mod changes;
mod hunk;
mod lines;
mod name;

use std::time::{Duration, Instant};

use memchr::memchr_iter;

use self::changes::{Change, changes};
use self::hunk::Hunk;
use super::letters::Text;
use super::splices::Splices;
use crate::SandboxPath;

/// So many lines around a change are told.
const CONTEXT: usize = 3;
/// How long lines are compared; after that, larger parts are told as changed.
const PATIENCE: Duration = Duration::from_millis(200);

/// A unified diff.
pub(super) struct Told {
    pub(super) diff: String,
    /// Whether there is more than that.
    pub(super) is_cut: bool,
}

/// The differences between two texts of a file, in at most so many bytes.
pub(super) fn between(
    old: &Text,
    new: &Text,
    splices: Splices,
    file: &SandboxPath,
    most: usize,
) -> Told {
    let deadline = Instant::now() + PATIENCE;
    let mut regions = lines::whole(splices.into_parts(), &old.body, &new.body);
    if old.is_marked(0) {
        lines::hold_first(&mut regions, &old.body);
    }
    let mut diff = Diff { old, new, most, text: String::new(), hunk: None, done: Place::default() };
    let is_whole = regions
        .iter()
        .all(|region| changes(region, old, new, deadline).iter().all(|change| diff.add(change)));
    let is_whole = is_whole && diff.close();
    diff.finish(file, is_whole)
}

/// A place in both texts, behind everything that was looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The offset in the old text.
    offset: usize,
    old_line: usize,
    new_line: usize,
}

struct Diff<'a> {
    old: &'a Text,
    new: &'a Text,
    most: usize,
    text: String,
    hunk: Option<Hunk>,
    done: Place,
}

impl Diff<'_> {
    /// Adds a change. Says whether there is room for more.
    fn add(&mut self, change: &Change) -> bool {
        let same = self.old.body.get(self.done.offset..change.old.start).unwrap_or_default();
        let same_lines = memchr_iter(b'\n', same).count();
        let is_near = self.hunk.is_some() && same_lines <= 2 * CONTEXT;
        if !is_near && !self.close() {
            return false;
        }
        let start = self.hunk.as_ref().map_or_else(
            || lines::last(&self.old.body, self.done.offset..change.old.start, CONTEXT),
            |_| self.done.offset,
        );
        let context = start..change.old.start;
        self.done.old_line += same_lines;
        self.done.new_line += same_lines;
        let count = lines::count(&self.old.body, &context);
        let (old_line, new_line) = (self.done.old_line - count, self.done.new_line - count);
        let hunk = self.hunk.get_or_insert_with(|| Hunk::at(old_line, new_line, self.most));
        hunk.keep(self.old, context);
        hunk.remove(self.old, change.old.clone());
        hunk.insert(self.new, change.new.clone());
        self.done.offset = change.old.end;
        self.done.old_line += lines::count(&self.old.body, &change.old);
        self.done.new_line += lines::count(&self.new.body, &change.new);
        self.text.len() + hunk.len() <= self.most
    }

    /// Ends the hunk, if one is open. Says whether there was room for it.
    fn close(&mut self) -> bool {
        let Some(mut hunk) = self.hunk.take() else { return true };
        let end = lines::first(&self.old.body, self.done.offset, CONTEXT);
        hunk.keep(self.old, self.done.offset..end);
        let hunk = hunk.told();
        let fits = self.text.len() + hunk.len() <= self.most;
        if fits {
            self.text.push_str(&hunk);
        }
        fits
    }

    fn finish(self, file: &SandboxPath, is_whole: bool) -> Told {
        if self.text.is_empty() && is_whole {
            return Told { diff: String::new(), is_cut: false };
        }
        let (a, b) = (name::told("a", file), name::told("b", file));
        let mut diff = format!("--- {a}\n+++ {b}\n{}", self.text);
        if !is_whole {
            diff.push_str("... more differs than is told here\n");
        }
        Told { diff, is_cut: !is_whole }
    }
}

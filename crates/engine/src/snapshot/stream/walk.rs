//! A tree as records, in the order of a walk.

use std::sync::Arc;

use super::block::Plan;
use super::moved::Moved;
use super::pieces::FileWalk;
use super::recent::Sent;
use super::record::About;
use super::{CHUNKS_BACK, DIRECTORIES_BACK};
use crate::snapshot::identity::{Key, PartKey, is_same_body};
use crate::tree::{Ahead, Body, Directory, File, Item, Node, Pair, Pairs, Source, Stop};

/// Where a walk is.
#[derive(Debug)]
pub(crate) struct Walk {
    /// The root directory, until it was entered, and that of the other state.
    root: Option<(Node, Directory)>,
    levels: Vec<Level>,
    file: Option<FileWalk>,
    chunks: Sent<PartKey>,
    directories: Sent<Key>,
    moved: Moved,
}

/// A directory that the walk is in.
#[derive(Debug)]
struct Level {
    pairs: Pairs,
    top: Option<Key>,
}

impl Walk {
    /// A walk through `root` that passes what `other` has. A whole tree is what an empty one lacks.
    pub(crate) fn new(root: &Node, other: &Directory, moved: Moved) -> Self {
        Self {
            root: Some((root.clone(), other.clone())),
            levels: Vec::new(),
            file: None,
            chunks: Sent::within(CHUNKS_BACK),
            directories: Sent::within(DIRECTORIES_BACK),
            moved,
        }
    }

    /// Goes on until the plan is full or the walk is over. When something is needed first, both
    /// stay as they are, and the walk goes on from there.
    pub(crate) fn fill(&mut self, plan: &mut Plan, source: &dyn Source) -> Result<(), Stop> {
        let mut goes_on = true;
        while goes_on && !plan.is_full() {
            goes_on = self.step(plan, source).inspect_err(|_| self.foresee(source))?;
        }
        Ok(())
    }

    /// Says what the walk will need.
    fn foresee(&self, source: &dyn Source) {
        let levels = self.levels.iter().map(|level| &level.pairs);
        source.foresee(&mut Ahead::of(levels, beneath, source));
    }

    /// Goes on by one record or so; false at the end.
    fn step(&mut self, plan: &mut Plan, source: &dyn Source) -> Result<bool, Stop> {
        if let Some((root, other)) = self.root.take() {
            plan.records.root(&root);
            self.enter(&other, root.directory().unwrap_or(&Directory::default()));
            return Ok(true);
        }
        if let Some(file) = &mut self.file {
            if !file.step(plan, &mut self.chunks, source)? {
                self.file = None;
            }
            return Ok(true);
        }
        let Some(level) = self.levels.last_mut() else { return Ok(false) };
        match level.pairs.next(source)? {
            None => self.leave(plan),
            Some(Pair::Old(item)) => plan.records.removed(&item.name),
            Some(Pair::New(item)) => self.put(plan, &item, None),
            Some(Pair::Both(old, new)) if is_same(&old.node, &new.node) => {}
            Some(Pair::Both(old, new)) => self.put(plan, &new, Some(&old.node)),
        }
        Ok(true)
    }

    fn enter(&mut self, other: &Directory, dir: &Directory) {
        let top = dir.top.as_ref().map(Key::page);
        self.levels.push(Level { pairs: Pairs::of(other, dir), top });
    }

    fn leave(&mut self, plan: &mut Plan) {
        plan.records.leave();
        let left = self.levels.pop();
        if !self.levels.is_empty() {
            self.directories.push(left.and_then(|level| level.top));
        }
    }

    /// Writes an item that is not in the other state, or not as it is.
    fn put(&mut self, plan: &mut Plan, item: &Arc<Item>, old: Option<&Node>) {
        match &item.node.body {
            Body::Symlink(target) => plan.records.link(item, target),
            Body::Directory(dir) => self.put_directory(plan, item, dir, old),
            Body::File(File::Inline(bytes)) => plan.small_file(item, bytes),
            Body::File(file @ File::Pieces { .. }) => self.put_file(plan, item, file, old),
        }
    }

    fn put_directory(&mut self, plan: &mut Plan, item: &Item, dir: &Directory, old: Option<&Node>) {
        let top = dir.top.as_ref().map(Key::page);
        if let Some(distance) = top.and_then(|top| self.directories.distance(&top)) {
            return plan.records.like(item, distance);
        }
        let is_same = |old: &Node| is_same_body(&old.body, &item.node.body);
        if !old.is_some_and(is_same)
            && let Some(path) = self.moved.place(&item.node)
        {
            return plan.records.kept(item, path);
        }
        match old.and_then(Node::directory) {
            Some(old) => {
                plan.records.changed(item);
                self.enter(old, dir);
            }
            None => {
                plan.records.directory(item);
                self.enter(&Directory::default(), dir);
            }
        }
    }

    fn put_file(&mut self, plan: &mut Plan, item: &Item, file: &File, old: Option<&Node>) {
        if old.is_some_and(|old| is_same_body(&old.body, &item.node.body)) {
            plan.records.file(item, file.len());
            plan.records.same(0, file.len());
        } else if let Some(path) = self.moved.place(&item.node) {
            plan.records.kept(item, path);
        } else {
            plan.records.file(item, file.len());
            self.file = Some(FileWalk::new(file, old.and_then(Node::file)));
        }
    }
}

/// Whether two nodes show the same to everybody, but for their versions.
fn is_same(one: &Node, other: &Node) -> bool {
    About::of(one) == About::of(other) && is_same_body(&one.body, &other.body)
}

/// What the walk goes into, unless the other side has it elsewhere.
fn beneath(pair: &Pair) -> Option<Pairs> {
    match pair {
        Pair::Old(_) => None,
        Pair::New(item) => Some(Pairs::of(&Directory::default(), item.node.directory()?)),
        Pair::Both(old, new) if is_same(&old.node, &new.node) => None,
        Pair::Both(old, new) => {
            let old = old.node.directory().cloned().unwrap_or_default();
            Some(Pairs::of(&old, new.node.directory()?))
        }
    }
}

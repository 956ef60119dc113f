//! A host tree brought back to what a snapshot has.
//!
//! What differs is made out of sight and listed in a journal; then it is exchanged entry by entry.
//! What is the same keeps its number, its owner and whatever else the kernel knows of it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use crate::blocking::Waiting;
use crate::host_fs::{Meaning as _, Tree, host_path, host_time, note};
use crate::tree::{Body, Cursor, Directory, End, Item, Name, Node, Way, resolve_within};
use crate::{Error, ErrorKind, Links, Result, SandboxPath, name};

use super::compare::Comparison;
use super::known_names::KnownNames;
use super::reader::Reader;
use super::stage::{Maker, host_bytes, host_name};

/// Brings back the tree at `path`, whole once it is begun. May block. What nobody waits for any more is
/// not begun.
pub(super) fn restore(
    tree: &Tree,
    reader: &Reader,
    path: &SandboxPath,
    waiting: &Waiting,
) -> Result<()> {
    let root = &reader.root().tree;
    // No link is followed, for the reason that virtual trees have.
    let above = path.parent().unwrap_or_else(SandboxPath::root);
    let way = reader.work(|source| resolve_within(root, &above, path, Links::Keep, source))?;
    let path = way.path();
    let node = match &way.end {
        End::Root => Some(root),
        End::Item(item) => Some(&item.node),
        End::Missing(_) => None,
    };
    let room = tree.make_room(&path, node.map(Node::sum).unwrap_or_default())?;
    let mut plan = Plan {
        restore: tree.dir.begin_restore(&host_path(&path)).meaning()?,
        live: tree.dir.descend().meaning()?,
        maker: Maker { reader, limits: tree.limits },
        comparison: Comparison::new(tree, reader),
        levels: Vec::new(),
        waiting,
    };
    plan.prepare(&way, &path, node).map_err(|err| err.on(&path))?;
    waiting.check()?;
    let leftover = plan.restore.exchange(|spot| tree.hold(spot));
    note(leftover.meaning()?);
    room.fill()
}

/// A restore in the making: both trees are walked side by side.
struct Plan<'a> {
    restore: host::Restore<'a>,
    live: host::Descent,
    maker: Maker<'a>,
    comparison: Comparison<'a>,
    levels: Vec<Level>,
    waiting: &'a Waiting,
}

/// A directory that is in both trees, and the last name of it that was compared.
struct Level {
    dir: Directory,
    after: Option<Name>,
    /// How it looks and how it will, unless that is not for us to say.
    looks: Option<(host::Look, host::Look)>,
    is_changed: bool,
}

impl Plan<'_> {
    fn prepare(&mut self, way: &Way, path: &SandboxPath, node: Option<&Node>) -> Result<()> {
        if let (true, Some(Body::Directory(dir))) = (path.is_root(), node.map(|node| &node.body)) {
            // The root's own mode and time are the operator's.
            self.levels.push(Level {
                dir: (**dir).clone(),
                after: None,
                looks: None,
                is_changed: false,
            });
            return self.compare();
        }
        let mut above: Vec<&str> = path.segments().collect();
        let Some(last) = above.pop() else { return Ok(()) };
        for (depth, name) in above.iter().enumerate() {
            match self.live.enter(host_name(&host_bytes(name)?)) {
                Err(host::Error::Os(host::Errno::NOENT)) => {
                    return match node {
                        Some(node) => self.put_chain(way, depth, last, node),
                        None => Ok(()),
                    };
                }
                Err(host::Error::Os(host::Errno::LOOP)) => {
                    let message = "a symbolic link is in the way";
                    return Err(Error::new(ErrorKind::NotADirectory, message));
                }
                outcome => outcome.meaning()?,
            }
        }
        match node {
            Some(node) => {
                self.visit(last, node)?;
                self.compare()
            }
            None => self.remove(host_name(&host_bytes(last)?)),
        }
    }

    /// Compares directories until all that were entered are left again.
    fn compare(&mut self) -> Result<()> {
        let mut cursor = None;
        while let Some(level) = self.levels.last_mut() {
            self.waiting.check()?;
            let after = || Cursor::after(&level.dir, level.after.as_deref());
            let next = self.maker.reader.next(cursor.get_or_insert_with(after))?;
            let depth = self.live.depth();
            match next {
                Some(item) => {
                    level.after = Some(item.name.clone());
                    self.visit(&item.name, &item.node)?;
                }
                None => self.close()?,
            }
            if self.live.depth() != depth {
                cursor = None;
            }
        }
        Ok(())
    }

    fn visit(&mut self, text: &str, node: &Node) -> Result<()> {
        let bytes = host_bytes(text)?;
        let name = host_name(&bytes);
        let here = self.live.here().meaning()?;
        let there = here.stat(name).meaning()?;
        match (&there, &node.body) {
            (Some(stat), Body::Directory(dir)) if stat.kind == host::Kind::Directory => {
                self.live.enter(name).meaning()?;
                let look = host::Look { mode: stat.mode, modified: stat.modified };
                let looks = Some((look, look_of(node)));
                let dir = (**dir).clone();
                self.levels.push(Level { dir, after: None, looks, is_changed: false });
                Ok(())
            }
            (Some(stat), _) if self.comparison.is_same(here, name, stat, node)? => Ok(()),
            (Some(_) | None, _) => self.put(name, node, there.as_ref()),
        }
    }

    /// What has the name gives way to the node.
    fn put(&mut self, name: &OsStr, node: &Node, there: Option<&host::Stat>) -> Result<()> {
        let slot = self.restore.slot(self.live.here().meaning()?, there).meaning()?;
        let path = self.live.path().join(name);
        let writable = Node { mode: node.mode | 0o700, ..node.clone() };
        let is_closed = node.directory().is_some() && node.mode != writable.mode;
        // A directory that its owner may not write in could not be moved into place.
        let made = if is_closed { &writable } else { node };
        self.maker.make(self.restore.stage(), &slot, made)?;
        self.restore.put(&path).meaning()?;
        if is_closed {
            let look = look_of(node);
            let was = there.map(|there| host::Look { mode: there.mode, modified: there.modified });
            self.restore.dress(&path, was.unwrap_or(look), look).meaning()?;
        }
        self.note_change();
        Ok(())
    }

    /// Makes a node and the directories above it that are missing, as the snapshot has them.
    fn put_chain(&mut self, way: &Way, depth: usize, last: &str, node: &Node) -> Result<()> {
        let missing: Vec<&Arc<Item>> = way.dirs.iter().skip(depth).collect();
        let Some(first) = missing.first() else { return Ok(()) };
        let first = host_bytes(&first.name)?.into_owned();
        let slot = self.restore.slot(self.live.here().meaning()?, None).meaning()?;
        let path = self.live.path().join(OsStr::from_bytes(&first));
        let stage = self.restore.stage();
        stage.begin_dir(&slot).meaning()?;
        for dir in missing.iter().skip(1) {
            stage.begin_dir(host_name(&host_bytes(&dir.name)?)).meaning()?;
        }
        self.maker.make(stage, host_name(&host_bytes(last)?), node)?;
        for dir in missing.iter().rev() {
            let look = look_of(&dir.node);
            stage.finish_dir(look.mode | 0o700, look.modified).meaning()?;
        }
        self.restore.put(&path).meaning()
    }

    /// What has the name goes.
    fn remove(&mut self, name: &OsStr) -> Result<()> {
        if self.live.here().meaning()?.stat(name).meaning()?.is_some() {
            let path = self.live.path().join(name);
            self.restore.remove(&path).meaning()?;
            self.note_change();
        }
        Ok(())
    }

    /// Leaves a directory: what the snapshot does not have goes, and it gets its look.
    fn close(&mut self) -> Result<()> {
        self.remove_surplus()?;
        let Some(Level { looks, is_changed, .. }) = self.levels.pop() else { return Ok(()) };
        if let Some((old, new)) = looks
            && (is_changed || old.mode & 0o777 != new.mode || old.modified != new.modified)
        {
            let path = PathBuf::from(self.live.path());
            self.restore.dress(&path, old, new).meaning()?;
        }
        self.live.leave();
        Ok(())
    }

    fn remove_surplus(&mut self) -> Result<()> {
        let Some(level) = self.levels.last() else { return Ok(()) };
        let mut known = KnownNames::of(level.dir.clone());
        let mut last = None;
        loop {
            let here = self.live.here().meaning()?;
            let names = here.names(last.as_deref(), usize::MAX).meaning()?;
            for there in names.iter() {
                let text = name::to_text(there.as_bytes());
                if known.pass_to(there, &text, self.maker.reader)?.is_none() {
                    let path = self.live.path().join(there);
                    self.restore.remove(&path).meaning()?;
                    self.note_change();
                }
            }
            last = names.iter().last().map(OsStr::to_owned);
            if !names.more {
                return Ok(());
            }
        }
    }

    fn note_change(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.is_changed = true;
        }
    }
}

fn look_of(node: &Node) -> host::Look {
    host::Look { mode: u32::from(node.mode), modified: host_time(node.modified) }
}

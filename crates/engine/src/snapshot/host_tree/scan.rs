//! A host tree, read into the pages and chunks of a store.

use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use crate::blocking::Waiting;
use crate::host_fs::{Meaning as _, Tree, is_gone};
use crate::tree::{Body, DEEPEST, Item, Name, Node};
use crate::virtual_fs::{Root, now};
use crate::{Error, ErrorKind, Limits, Result, SandboxPath, name};

use super::content::{self, Taken};
use super::fingerprint::{Fingerprints, unmatched};
use super::keeper::Keeper;
use super::level::{Found, Level, node};
use super::reader::Reader;

/// How often a name that stands for something else each time is looked at.
const TRIES: usize = 4;
/// How much memory the names of directories that were begun may take.
const BEGUN: usize = 8 << 20;

/// Scans a tree. Of the files, only those are read that are not what `known` has. May block.
///
/// Each file is as it was at one moment; all of them together need not be. What nobody waits for any
/// more ends before the next one.
pub(super) fn scan(
    tree: &Tree,
    reader: Reader,
    known: Option<Root>,
    waiting: &Waiting,
) -> Result<Root> {
    let mut live = tree.dir.descend().meaning()?;
    let top = live.here().meaning()?.own_stat().meaning()?;
    let family = *reader.family();
    // No two states of a sandbox have the same, and exports are known by it.
    let clock = reader.trunk.own_stamp().time;
    let known = known.map(|root| Arc::new(Item { name: "".into(), node: root.tree }));
    let mut scan = Scan {
        dir: &tree.dir,
        live,
        mount: top.mount,
        fingerprints: Fingerprints::of(&family),
        keeper: Keeper::new(reader),
        levels: vec![Level::new("".into(), top, known)],
        waiting,
    };
    let tree = scan.run()?;
    Ok(Root { tree, clock, ..Root::new(family, Limits::default(), now()) })
}

struct Scan<'a> {
    dir: &'a host::Dir,
    live: host::Descent,
    /// The mount that the tree lies on; others are left out.
    mount: u64,
    fingerprints: Fingerprints,
    keeper: Keeper,
    levels: Vec<Level>,
    waiting: &'a Waiting,
}

/// What became of a look at a name.
enum Look {
    /// It is what the index has.
    Known,
    Changed(Box<Node>),
    /// The scan went down into it.
    Entered,
    /// It stands for something else by now.
    Another,
    LeftOut,
}

impl Scan<'_> {
    fn run(&mut self) -> Result<Node> {
        loop {
            self.waiting.check()?;
            if let Err(err) = self.live.here() {
                self.abandon(err)?;
                continue;
            }
            let here = self.live.here().meaning()?;
            let found = match self.levels.last_mut() {
                Some(level) => level.next(here, &mut self.keeper)?,
                None => None,
            };
            match found {
                Some(found) => self.visit(&found).map_err(|err| err.on(&self.path(&found.text)))?,
                None => {
                    if let Some(root) = self.close()? {
                        return Ok(root);
                    }
                }
            }
            if self.keeper.is_full() {
                self.keeper.store(self.levels.iter_mut().map(|level| &mut level.held))?;
            }
        }
    }

    fn visit(&mut self, found: &Found) -> Result<()> {
        if self.levels.len() as u64 > DEEPEST {
            let message = format!("the tree is deeper than {DEEPEST} levels");
            return Err(Error::new(ErrorKind::InvalidPath, message));
        }
        for _ in 0..TRIES {
            match self.look(found)? {
                Look::Known | Look::Entered => return Ok(()),
                Look::Changed(node) => return self.put(found.text.clone(), *node),
                Look::Another => {}
                Look::LeftOut => break,
            }
        }
        if found.known.is_some() { self.forget(&found.text) } else { Ok(()) }
    }

    fn look(&mut self, found: &Found) -> Result<Look> {
        let here = self.live.here().meaning()?;
        let Some(stat) = here.stat(&found.name).meaning()? else { return Ok(Look::LeftOut) };
        if stat.mount != self.mount {
            tracing::warn!(path = %self.path(&found.text), "a mount is left out of a snapshot");
            return Ok(Look::LeftOut);
        }
        match stat.kind {
            host::Kind::File => self.file(found, &stat),
            host::Kind::Directory => self.enter(found, stat),
            host::Kind::Symlink => self.link(found, &stat),
            host::Kind::Special => {
                let path = self.path(&found.text);
                tracing::warn!(%path, "a FIFO, socket or device is left out of a snapshot");
                Ok(Look::LeftOut)
            }
        }
    }

    fn file(&mut self, found: &Found, stat: &host::Stat) -> Result<Look> {
        let known = found.known.as_ref().map(|item| &item.node);
        let known = known.filter(|node| node.file().is_some());
        if known.is_some_and(|node| node.stamp == self.fingerprints.stamp(stat)) {
            return Ok(Look::Known);
        }
        let here = self.live.here().meaning()?;
        let taken = content::take_in(&mut self.keeper, self.dir, here, &found.name)?;
        let Some(Taken { file, stat, is_steady }) = taken else { return Ok(Look::Another) };
        let stamp = if is_steady { self.fingerprints.lasting(&stat) } else { unmatched() };
        if !is_steady {
            tracing::warn!(path = %self.path(&found.text), "a file changed while it was read");
        }
        Ok(Look::Changed(Box::new(node(&stat, stamp, Body::File(file)))))
    }

    fn link(&mut self, found: &Found, stat: &host::Stat) -> Result<Look> {
        let target = match self.live.here().meaning()?.read_link(&found.name) {
            // What the kernel answers when it is no link any more.
            Err(host::Error::Os(host::Errno::NOENT | host::Errno::INVAL)) => {
                return Ok(Look::Another);
            }
            outcome => outcome.meaning()?,
        };
        let target: Arc<str> = name::to_text(target.as_bytes()).into();
        let node = node(stat, self.fingerprints.lasting(stat), Body::Symlink(target));
        let is_known = found.known.as_ref().is_some_and(|known| is_same_link(&known.node, &node));
        Ok(if is_known { Look::Known } else { Look::Changed(Box::new(node)) })
    }

    fn enter(&mut self, found: &Found, stat: host::Stat) -> Result<Look> {
        match self.live.enter(&found.name) {
            Err(err) if is_gone(err) => return Ok(Look::Another),
            outcome => outcome.meaning()?,
        }
        let known = found.known.as_ref().filter(|item| item.node.directory().is_some());
        let level = Level::new(found.text.clone(), stat, known.map(Arc::clone));
        self.levels.push(level);
        self.shrink();
        Ok(Look::Entered)
    }

    /// Lets go of names that will be needed last, when all of them take too much memory.
    fn shrink(&mut self) {
        let mut size: usize = self.levels.iter().map(Level::size).sum();
        for level in &mut self.levels {
            if size <= BEGUN {
                break;
            }
            size -= level.size();
            level.shrink();
        }
    }

    fn put(&mut self, name: Name, node: Node) -> Result<()> {
        if let Some(level) = self.levels.last_mut() {
            level.held = self.keeper.with(&level.held, Item { name, node })?;
        }
        Ok(())
    }

    fn forget(&mut self, name: &str) -> Result<()> {
        if let Some(level) = self.levels.last_mut() {
            level.held = self.keeper.without(&level.held, name)?;
        }
        Ok(())
    }

    /// Leaves a directory that was read to its end; gives it if it is the root.
    fn close(&mut self) -> Result<Option<Node>> {
        self.live.leave();
        let Some(mut level) = self.levels.pop() else { return Ok(None) };
        if self.levels.is_empty() {
            self.keeper.store([&mut level.held].into_iter())?;
        }
        let (is_root, stat) = (self.levels.is_empty(), level.stat());
        let stamp = match is_root {
            true => self.fingerprints.origin(stat),
            false => self.fingerprints.lasting(stat),
        };
        let name = level.name.clone();
        let (node, is_known) = level.close(stamp);
        if is_root {
            return Ok(Some(node));
        }
        if !is_known {
            self.put(name, node)?;
        }
        Ok(None)
    }

    /// Leaves a directory that was removed or replaced meanwhile, and forgets it.
    fn abandon(&mut self, err: host::Error) -> Result<()> {
        let level = self.levels.pop().filter(|_| is_gone(err) && !self.levels.is_empty());
        let Some(level) = level else { return Err(err).meaning() };
        self.live.leave();
        self.forget(&level.name)
    }

    /// The path of a name where the scan is.
    fn path(&self, name: &str) -> SandboxPath {
        let dirs = self.levels.iter().skip(1).map(|level| &*level.name);
        dirs.chain([name]).fold(SandboxPath::root(), |path, name| path.child(name))
    }
}

/// Whether two links are the same, whatever their stamps.
fn is_same_link(one: &Node, other: &Node) -> bool {
    let looks = |node: &Node| (node.mode, node.created, node.modified);
    match (&one.body, &other.body) {
        (Body::Symlink(target), Body::Symlink(new)) => target == new && looks(one) == looks(other),
        (Body::File(_) | Body::Directory(_) | Body::Symlink(_), _) => false,
    }
}

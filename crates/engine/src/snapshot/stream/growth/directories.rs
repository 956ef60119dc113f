//! What records do to the directory that began last.

use std::sync::Arc;

use super::{Growth, not_relative, refuse, unfit};
use crate::Result;
use crate::snapshot::stream::broken;
use crate::snapshot::stream::record::{About, Named};
use crate::tree::{Body, Directory, Item, Name, NamesInOrder, Node, Source, Stop, Sum};

/// After so many changes of one directory its new pages are stored.
const FLUSHED_AFTER: u64 = 4096;

/// A directory that grows.
#[derive(Debug)]
pub(super) struct Level {
    name: Name,
    about: About,
    /// The name that came last.
    last: Option<Name>,
    names: Names,
}

#[derive(Debug)]
enum Names {
    New(NamesInOrder),
    /// What the other state has, with the changes so far.
    Changed {
        was: Node,
        held: Directory,
        changes: u64,
    },
}

impl Growth {
    pub(super) fn begin(&mut self, about: About) -> Result<()> {
        if !self.levels.is_empty() || self.root.is_some() {
            return Err(refuse("it has more than one root"));
        }
        let names = match &self.other {
            Some(other) => changed(other.root.tree.clone()),
            None => Names::New(NamesInOrder::default()),
        };
        self.levels.push(Level { name: "".into(), about, last: None, names });
        Ok(())
    }

    pub(super) fn enter(&mut self, named: Named) -> Result<()> {
        self.push_level(named, Names::New(NamesInOrder::default()))
    }

    pub(super) async fn enter_changed(&mut self, named: Named) -> Result<()> {
        let was = self.there(&named.name).await?.filter(|was| was.directory().is_some());
        let was = was.ok_or_else(|| unfit("a directory that it changes is not there"))?;
        self.push_level(named, changed(was))
    }

    fn push_level(&mut self, named: Named, names: Names) -> Result<()> {
        let Named { name, about } = named;
        self.pass(&name)?;
        self.count(Sum { directories: 1, ..Sum::default() }, 1)?;
        self.levels.push(Level { name, about, last: None, names });
        Ok(())
    }

    pub(super) async fn leave(&mut self) -> Result<()> {
        self.check_no_file()?;
        let level = self.levels.pop().ok_or_else(|| refuse("it leaves more than it enters"))?;
        let Level { name, about, names, .. } = level;
        let dir = match names {
            Names::New(names) => names.finish(&mut self.pages).map_err(broken)?,
            Names::Changed { held, .. } => self.flushed(held)?,
        };
        let node = self.node(about, Body::Directory(Box::new(dir.clone())));
        if self.levels.is_empty() {
            self.root = Some(node);
            return Ok(());
        }
        self.directories.push(dir);
        self.insert(Item { name, node }).await
    }

    pub(super) async fn remove(&mut self, name: &Name) -> Result<()> {
        self.pass(name)?;
        if self.there(name).await?.is_none() {
            return Err(unfit("a name that it removes is not there"));
        }
        let heights = self.family.heights;
        self.change(|held, source| Ok(held.without(name, &heights, source)?)).await
    }

    pub(super) async fn keep(&mut self, named: Named, path: &str) -> Result<()> {
        let other = self.other.as_ref().ok_or_else(not_relative)?;
        let find = self.trunk.read(other, |root, source| {
            let mut node = root.tree.clone();
            for name in path.split('/') {
                let dir = node.directory().cloned().unwrap_or_default();
                match dir.find(name, source)? {
                    Some(item) => node = item.node.clone(),
                    None => return Ok(None),
                }
            }
            Ok(Some(node))
        });
        let was = find.await?.ok_or_else(|| unfit("a path that it keeps is not there"))?;
        // What is the same in every way keeps its version.
        let is_same = About::of(&was) == named.about;
        let node = if is_same { was } else { self.node(named.about, was.body) };
        self.place(named.name, node).await
    }

    /// Puts a new node into the directory that began last.
    pub(super) async fn put(&mut self, named: Named, body: Body) -> Result<()> {
        let node = self.node(named.about, body);
        self.place(named.name, node).await
    }

    async fn place(&mut self, name: Name, node: Node) -> Result<()> {
        self.pass(&name)?;
        let sum = node.sum();
        self.count(sum, sum.depth)?;
        self.insert(Item { name, node }).await
    }

    pub(super) async fn insert(&mut self, item: Item) -> Result<()> {
        let heights = self.family.heights;
        if let Some(Level { names: Names::New(names), .. }) = self.levels.last_mut() {
            return names.push(item, &heights, &mut self.pages).map_err(broken);
        }
        let item = Arc::new(item);
        self.change(|held, source| Ok(held.with(Arc::clone(&item), &heights, source)?)).await
    }

    /// Changes the directory that began last, which the other state has, too.
    async fn change(
        &mut self,
        change: impl Fn(&Directory, &dyn Source) -> Result<Directory, Stop>,
    ) -> Result<()> {
        let other = self.other.as_ref().ok_or_else(not_relative)?;
        let Some(Names::Changed { held, changes, .. }) =
            self.levels.last_mut().map(|level| &mut level.names)
        else {
            return Err(refuse("it changes a directory that is new"));
        };
        *held = self.trunk.read(other, |_, source| change(held, source)).await?;
        *changes += 1;
        if changes.is_multiple_of(FLUSHED_AFTER) {
            let whole = std::mem::take(held);
            let whole = self.flushed(whole)?;
            self.store().await?;
            if let Some(Names::Changed { held, .. }) =
                self.levels.last_mut().map(|level| &mut level.names)
            {
                *held = whole;
            }
        }
        Ok(())
    }

    /// What the other state has under a name of the directory that began last.
    pub(super) async fn there(&self, name: &str) -> Result<Option<Node>> {
        let was = match self.levels.last().map(|level| &level.names) {
            Some(Names::Changed { was, .. }) => was.directory(),
            Some(Names::New(_)) | None => None,
        };
        let (Some(other), Some(was)) = (&self.other, was) else { return Ok(None) };
        let item = self.trunk.read(other, |_, source| Ok(was.find(name, source)?)).await?;
        Ok(item.map(|item| item.node.clone()))
    }

    /// Passes on to a name, which must sort behind the last.
    pub(super) fn pass(&mut self, name: &Name) -> Result<()> {
        self.check_no_file()?;
        let level = self.levels.last_mut().ok_or_else(|| refuse("a name is in no directory"))?;
        if level.last.as_ref().is_some_and(|last| last >= name) {
            return Err(refuse("its names are not in order"));
        }
        level.last = Some(name.clone());
        Ok(())
    }
}

fn changed(was: Node) -> Names {
    let held = was.directory().cloned().unwrap_or_default();
    Names::Changed { was, held, changes: 0 }
}

//! What another state has that is elsewhere now.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::MAX_PATH;
use crate::snapshot::identity::{Key, is_same_body};
use crate::tree::{Ahead, Body, Directory, File, Node, Pair, Pairs, Source, Stop, Top};

/// How much of what went is looked at. A tree that went cost nothing to remove, however large.
const MOST: usize = 64 << 10;
/// How many names are looked at before others get their turn.
const AT_ONCE: usize = 4096;

/// The directories and longer files of another state that are no longer where they were, by what
/// they hold.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    places: HashMap<Key, (Node, String)>,
    /// The directories that are looked at, with their paths.
    levels: Vec<(Pairs, String)>,
    seen: usize,
}

impl Moved {
    /// Nothing is known yet of what is in `old` and not in `new`.
    pub(crate) fn between(old: &Directory, new: &Directory) -> Self {
        let levels = vec![(Pairs::of(old, new), String::new())];
        Self { places: HashMap::new(), levels, seen: 0 }
    }

    /// Looks around; false when everything was seen.
    pub(crate) fn look(&mut self, source: &dyn Source) -> Result<bool, Stop> {
        for _ in 0..AT_ONCE {
            let Some((pairs, dir)) = self.levels.last_mut() else { return Ok(false) };
            let (old, new) = match pairs.next(source) {
                Err(need) => {
                    let levels = self.levels.iter().map(|(pairs, _)| pairs);
                    source.foresee(&mut Ahead::of(levels, beneath, source));
                    return Err(need.into());
                }
                Ok(None) => {
                    self.levels.pop();
                    continue;
                }
                Ok(Some(Pair::New(_))) => continue,
                Ok(Some(Pair::Old(old))) => (old, None),
                Ok(Some(Pair::Both(old, new))) => (old, Some(new)),
            };
            if new.as_ref().is_some_and(|new| is_same_body(&old.node.body, &new.node.body)) {
                continue;
            }
            let path =
                if dir.is_empty() { old.name.to_string() } else { format!("{dir}/{}", old.name) };
            if path.len() <= MAX_PATH {
                let new = new.as_ref().and_then(|new| new.node.directory());
                self.note(&old.node, new, path);
            }
            self.seen += 1;
            if self.seen >= MOST {
                self.levels.clear();
            }
        }
        Ok(true)
    }

    /// Notes what went, and looks into it if it is a directory that was not seen before.
    fn note(&mut self, old: &Node, new: Option<&Directory>, path: String) {
        let Some(key) = key(&old.body) else { return };
        let Entry::Vacant(place) = self.places.entry(key) else { return };
        if let Some(dir) = old.directory() {
            let pairs = Pairs::of(dir, new.unwrap_or(&Directory::default()));
            self.levels.push((pairs, path.clone()));
        }
        place.insert((old.clone(), path));
    }

    /// Where the other state has what this node holds.
    pub(super) fn place(&self, node: &Node) -> Option<&str> {
        let (there, path) = self.places.get(&key(&node.body)?)?;
        is_same_body(&there.body, &node.body).then_some(path)
    }
}

/// What is looked into.
fn beneath(pair: &Pair) -> Option<Pairs> {
    match pair {
        Pair::New(_) => None,
        Pair::Old(old) => Some(Pairs::of(old.node.directory()?, &Directory::default())),
        Pair::Both(old, new) if is_same_body(&old.node.body, &new.node.body) => None,
        Pair::Both(old, new) => {
            let new = new.node.directory().cloned().unwrap_or_default();
            Some(Pairs::of(old.node.directory()?, &new))
        }
    }
}

/// The key of a page or chunk that this holds before others; none for what is small.
fn key(body: &Body) -> Option<Key> {
    match body {
        Body::Directory(dir) => dir.top.as_ref().map(Key::page),
        Body::File(File::Pieces { top: Top::Many(link), .. }) => Some(Key::page(link)),
        Body::File(File::Pieces { top: Top::Few(extents), .. }) => {
            extents.iter().find_map(Key::chunk)
        }
        Body::File(File::Inline(_)) | Body::Symlink(_) => None,
    }
}

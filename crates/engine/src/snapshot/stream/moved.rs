//! What another state has that is elsewhere now.

use std::collections::HashMap;

use super::identity::{Key, is_same_body};
use crate::MAX_PATH;
use crate::tree::{Body, Directory, File, Node, Pair, Pairs, Source, Stop, Top};

/// How many directories and files are remembered.
const MOST: usize = 64 << 10;
/// How many names are looked at before others get their turn.
const AT_ONCE: usize = 4096;

/// The directories and longer files of another state that are no longer where they were, by what
/// they hold.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    places: HashMap<Key, (Node, String)>,
    levels: Vec<(Pairs, String)>,
}

impl Moved {
    /// Nothing is known yet of what is in `old` and not in `new`.
    pub(crate) fn between(old: &Directory, new: &Directory) -> Self {
        Self { places: HashMap::new(), levels: vec![(Pairs::of(old, new), String::new())] }
    }

    /// Looks around; false when everything was seen.
    pub(crate) fn look(&mut self, source: &dyn Source) -> Result<bool, Stop> {
        for _ in 0..AT_ONCE {
            let Some((pairs, dir)) = self.levels.last_mut() else { return Ok(false) };
            let (old, new) = match pairs.next(source)? {
                None => {
                    self.levels.pop();
                    continue;
                }
                Some(Pair::New(_)) => continue,
                Some(Pair::Old(old)) => (old, None),
                Some(Pair::Both(old, new)) => (old, Some(new)),
            };
            if new.as_ref().is_some_and(|new| is_same_body(&old.node.body, &new.node.body)) {
                continue;
            }
            let path =
                if dir.is_empty() { old.name.to_string() } else { format!("{dir}/{}", old.name) };
            if path.len() > MAX_PATH {
                continue;
            }
            if let Some(held) = old.node.directory() {
                let new = new.as_ref().and_then(|new| new.node.directory()).cloned();
                self.levels.push((Pairs::of(held, &new.unwrap_or_default()), path.clone()));
            }
            if let Some(key) = key(&old.node.body) {
                self.places.entry(key).or_insert_with(|| (old.node.clone(), path));
            }
            if self.places.len() >= MOST {
                self.levels.clear();
            }
        }
        Ok(true)
    }

    /// Where the other state has what this node holds.
    pub(super) fn place(&self, node: &Node) -> Option<&str> {
        let (there, path) = self.places.get(&key(&node.body)?)?;
        is_same_body(&there.body, &node.body).then_some(path)
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

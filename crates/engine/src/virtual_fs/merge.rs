//! One tree poured into another: directories are united, files replaced.

use std::sync::Arc;

use crate::tree::{Body, Cursor, Directory, Draft, Item, Name, Need, Node, Source, Stop};
use crate::{Error, ErrorKind};

/// How many of the names that follow are looked at when something must be fetched.
const FORESEEN: usize = 2048;
/// How many of the directories around the walk are looked at.
const LEVELS: usize = 16;

/// A directory that is being united with another, and where in it the walk is.
struct Level {
    name: Option<Name>,
    into: Node,
    held: Directory,
    from: Cursor,
}

/// What `there` becomes when `node` is poured into it. A file never replaces a directory, nor the
/// reverse.
pub(super) fn merge(draft: &Draft<'_>, there: &Node, node: &Node) -> Result<Node, Stop> {
    let Some(first) = level(None, there, node)? else { return Ok(node.clone()) };
    let mut levels = vec![first];
    while !levels.is_empty() {
        match step(draft, &mut levels) {
            Ok(None) => {}
            Ok(Some(merged)) => return Ok(merged),
            Err(Stop::Failed(err)) => return Err(err.into()),
            Err(Stop::Need(need)) => {
                draft.source.foresee(&mut Foresight::of(&levels, draft.source));
                return Err(need.into());
            }
        }
    }
    Ok(node.clone())
}

/// Goes on by one name; gives the whole at the end.
fn step(draft: &Draft<'_>, levels: &mut Vec<Level>) -> Result<Option<Node>, Stop> {
    let Some(level) = levels.last_mut() else { return Ok(None) };
    if let Some(item) = level.from.next(draft.source)? {
        let there = level.held.find(&item.name, draft.source)?;
        let deeper = there.map(|there| self::level(Some(&item.name), &there.node, &item.node));
        match deeper.transpose()?.flatten() {
            Some(deeper) => levels.push(deeper),
            None => put(draft, level, item)?,
        }
        return Ok(None);
    }
    let Some(Level { name, into, held, .. }) = levels.pop() else { return Ok(None) };
    let body = Body::Directory(Box::new(held));
    let node = Node { modified: draft.now, stamp: draft.stamp, body, ..into };
    match (levels.last_mut(), name) {
        (Some(above), Some(name)) => {
            put(draft, above, Arc::new(Item { name, node })).map(|()| None)
        }
        _ => Ok(Some(node)),
    }
}

/// Two directories as a level of the walk; none if neither is one.
fn level(name: Option<&Name>, there: &Node, node: &Node) -> Result<Option<Level>, Error> {
    match (there.directory(), node.directory()) {
        (Some(held), Some(poured)) => Ok(Some(Level {
            name: name.cloned(),
            into: there.clone(),
            held: held.clone(),
            from: Cursor::after(poured, None),
        })),
        (None, None) => Ok(None),
        (Some(_), None) => {
            Err(Error::new(ErrorKind::IsADirectory, "a file cannot replace a directory"))
        }
        (None, Some(_)) => {
            Err(Error::new(ErrorKind::NotADirectory, "a directory cannot replace a file"))
        }
    }
}

fn put(draft: &Draft<'_>, level: &mut Level, item: Arc<Item>) -> Result<(), Stop> {
    level.held = level.held.with(item, &draft.heights, draft.source)?;
    Ok(())
}

/// What the names that follow will need: those that are at hand, and as far as they are.
struct Foresight<'a> {
    /// Directories with what is poured into each, the innermost last.
    levels: Vec<(Directory, Cursor)>,
    names: usize,
    source: &'a dyn Source,
}

impl<'a> Foresight<'a> {
    fn of(levels: &[Level], source: &'a dyn Source) -> Self {
        let near = levels.get(levels.len().saturating_sub(LEVELS)..).unwrap_or_default();
        let levels = near.iter().map(|level| (level.held.clone(), level.from.clone())).collect();
        Self { levels, names: FORESEEN, source }
    }
}

impl Iterator for Foresight<'_> {
    type Item = Need;

    fn next(&mut self) -> Option<Need> {
        while let Some(names) = self.names.checked_sub(1) {
            self.names = names;
            let (held, from) = self.levels.last_mut()?;
            let found = match from.next(self.source) {
                Ok(Some(item)) => held.find(&item.name, self.source).map(|there| (there, item)),
                Ok(None) => {
                    self.levels.pop();
                    continue;
                }
                // The cursor has told what follows in its directory.
                Err(need) => {
                    self.levels.pop();
                    return Some(need);
                }
            };
            match found {
                Ok((there, item)) => {
                    let there = there.as_ref().and_then(|there| there.node.directory());
                    let both = there.zip(item.node.directory());
                    let deeper = |(there, poured): (&Directory, &Directory)| {
                        (there.clone(), Cursor::after(poured, None))
                    };
                    self.levels.extend(both.map(deeper));
                }
                Err(need) => return Some(need),
            }
        }
        None
    }
}

//! One tree poured into another: directories are united, files replaced.

use std::sync::Arc;

use crate::tree::{Body, Cursor, Directory, Draft, Item, Name, Node, Stop};
use crate::{Error, ErrorKind};

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
    while let Some(level) = levels.last_mut() {
        if let Some(item) = level.from.next(draft.source)? {
            let there = level.held.find(&item.name, draft.source)?;
            match there.map(|there| self::level(Some(&item.name), &there.node, &item.node)) {
                Some(deeper) => match deeper? {
                    Some(deeper) => levels.push(deeper),
                    None => put(draft, level, item)?,
                },
                None => put(draft, level, item)?,
            }
            continue;
        }
        let Some(Level { name, into, held, .. }) = levels.pop() else { break };
        let body = Body::Directory(Box::new(held));
        let node = Node { modified: draft.now, stamp: draft.stamp, body, ..into };
        match (levels.last_mut(), name) {
            (Some(above), Some(name)) => put(draft, above, Arc::new(Item { name, node }))?,
            _ => return Ok(node),
        }
    }
    Ok(node.clone())
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

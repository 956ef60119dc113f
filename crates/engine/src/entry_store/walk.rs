//! Finding entries of a tree that does not change.

use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::files::is_absence;
use crate::walk::Walk;
use crate::{
    Entry, EntryKind, EntryStream, FileSystem as _, Links, Page, Result, SandboxPath, VirtualFs,
};

/// An entry and everything beneath it, parents first, siblings in order.
pub(super) async fn beneath(tree: Arc<VirtualFs>, top: Entry) -> Result<EntryStream> {
    let itself = stream::iter([Ok(top.clone())]);
    if top.kind != EntryKind::Directory {
        return Ok(itself.boxed());
    }
    Ok(itself.chain(Walk::begin(tree, &top).await?.into_stream()).boxed())
}

/// Every entry whose path begins with a text. What follows its last slash is the beginning of a
/// name, as it is.
pub(super) async fn beginning_with(tree: Arc<VirtualFs>, prefix: &str) -> Result<EntryStream> {
    let prefix = prefix.replace('\\', "/");
    let (dir, start) = prefix.rsplit_once('/').unwrap_or(("", &prefix));
    let dir = SandboxPath::clamped(dir)?;
    if dir.is_root() && start.is_empty() {
        let root = tree.stat(&dir, Links::Keep).await?;
        return beneath(tree, root).await;
    }
    let Some(tops) = children(&tree, &dir, start).await? else {
        return Ok(stream::empty().boxed());
    };
    let found = tops.and_then(move |top| beneath(Arc::clone(&tree), top));
    Ok(found.try_flatten().boxed())
}

/// The children of a directory whose names begin with a text; none if there is no such directory.
async fn children(tree: &VirtualFs, dir: &SandboxPath, start: &str) -> Result<Option<EntryStream>> {
    // A listing begins behind a name, so a child of exactly that name is looked up by itself.
    let exact = match dir.join(start).ok() {
        Some(path) => tree.stat(&path, Links::Keep).await.ok(),
        None => None,
    };
    let after = (!start.is_empty()).then(|| start.to_owned());
    let rest = match tree.list(dir, Page { after, limit: None }).await {
        Err(err) if is_absence(err.kind()) => return Ok(None),
        listing => listing?,
    };
    let start = start.to_owned();
    let rest = rest.try_take_while(move |entry| {
        let begins = entry.path.name().starts_with(&start);
        async move { Ok(begins) }
    });
    Ok(Some(stream::iter(exact.map(Ok)).chain(rest).boxed()))
}

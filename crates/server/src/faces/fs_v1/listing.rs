//! The entries of a directory as JSON that is written while they are found.

use std::mem;

use axum::body::Body;
use bytes::Bytes;
use engine::{EntryStream, Page, Result, SandboxPath, Workspace};
use futures::{Stream, StreamExt as _, TryStreamExt as _, stream};

use super::paths::Place;
use super::wire::FsEntry;
use crate::problem::{logged, render};

/// About how many bytes of JSON go out at once.
const CHUNK: usize = 16 * 1024;
/// The largest page that is kept in memory until it is known whether there is another.
const KEPT: usize = 1000;

/// One page of a directory.
pub(super) struct Listing {
    pub(super) entries: EntryStream,
    /// The name after which the next page begins, if there is one.
    pub(super) next_after: Option<String>,
}

/// Opens a page. Whether there is a next one must be known before the first byte is sent, so that
/// one entry more than asked for is looked up.
pub(super) async fn open(workspace: &Workspace, dir: &SandboxPath, page: Page) -> Result<Listing> {
    let Some(limit) = page.limit else {
        return Ok(Listing { entries: workspace.list(dir, page).await?, next_after: None });
    };
    let ahead = Page { after: page.after.clone(), limit: Some(limit.saturating_add(1)) };
    let mut entries = workspace.list(dir, ahead).await?;
    if limit > KEPT {
        return open_long(workspace, dir, page, limit, entries).await;
    }
    let mut kept = Vec::new();
    let mut next_after = None;
    while let Some(entry) = entries.try_next().await? {
        if kept.len() == limit {
            next_after = kept.last().map(|last: &engine::Entry| last.path.name().to_owned());
            break;
        }
        kept.push(entry);
    }
    Ok(Listing { entries: stream::iter(kept).map(Ok).boxed(), next_after })
}

// A long page is walked twice instead of being kept. The second walk ends at the name where the
// first one did, so that no entry falls between two pages when others come meanwhile. Should that
// very name be gone, the page runs over, and the next one repeats some entries.
async fn open_long(
    workspace: &Workspace,
    dir: &SandboxPath,
    page: Page,
    limit: usize,
    scout: EntryStream,
) -> Result<Listing> {
    let next_after = name_before_cut(scout, limit).await?;
    let most = limit.saturating_mul(2);
    let entries = workspace.list(dir, Page { after: page.after, limit: Some(most) }).await?;
    let Some(end) = next_after.clone() else { return Ok(Listing { entries, next_after }) };
    let mut ended = false;
    let within = entries.try_take_while(move |entry| {
        let within = !mem::replace(&mut ended, entry.path.name() == end);
        async move { Ok(within) }
    });
    Ok(Listing { entries: within.boxed(), next_after })
}

/// The name of the last entry that belongs to a page; none if all of them do.
async fn name_before_cut(mut entries: EntryStream, limit: usize) -> Result<Option<String>> {
    let mut last = String::new();
    for _ in 0..limit {
        let Some(entry) = entries.try_next().await? else { return Ok(None) };
        entry.path.name().clone_into(&mut last);
    }
    Ok(entries.try_next().await?.map(|_| last))
}

/// The entries as a JSON array. Fails if the first of them cannot be had; a later failure breaks
/// the body off, so that no client takes a part for the whole. A short one has a known length.
pub(super) async fn body(entries: EntryStream, place: &Place) -> Result<Body> {
    let mut chunks = Box::pin(chunks(entries, place.clone()));
    let first = chunks.try_next().await?.unwrap_or_default();
    let Some(second) = chunks.try_next().await? else { return Ok(Body::from(first)) };
    let begun = stream::iter([Ok(first), Ok(second)]);
    let path = place.path.clone();
    Ok(Body::from_stream(begun.chain(chunks.map_err(move |err| logged(err, &path)))))
}

fn chunks(entries: EntryStream, place: Place) -> impl Stream<Item = Result<Bytes>> {
    // What comes before the next entry; none behind the end.
    let before = Some(b'[');
    stream::try_unfold((entries, before), move |(mut entries, before)| {
        let place = place.clone();
        async move {
            let Some(mut before) = before else { return Ok(None) };
            let mut json = Vec::with_capacity(CHUNK + CHUNK / 4);
            while json.len() < CHUNK {
                let Some(entry) = entries.try_next().await? else {
                    json.extend(if before == b'[' { "[]" } else { "]" }.bytes());
                    return Ok(Some((json.into(), (entries, None))));
                };
                json.push(mem::replace(&mut before, b','));
                let shown = place.shown_child(entry.path.name());
                json.extend(render(&FsEntry::new(&entry, shown)));
            }
            Ok(Some((json.into(), (entries, Some(before)))))
        }
    })
}

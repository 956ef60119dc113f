//! `/v1/sandboxes/{id}/fs-list`: what a directory holds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use engine::{
    Entry, EntryKind, EntryStream, Error, ErrorKind, ListQuery, SandboxPath, UnixTime, Workspace,
};
use futures::{Stream, StreamExt as _, TryStreamExt as _, stream};
use http::header::CONTENT_TYPE;

use super::as_of::AsOf;
use super::errors::{Refusals, explain_look, shown};
use super::paths::{self, Place};
use super::wire::{ListedEntry, Listing, ListingQuery, Order, SortBy, Stat};
use crate::browsers::ASK_AGAIN;
use crate::problem::{Problem, logged, render};
use crate::query::Query;
use crate::visit::Visit;

/// About how many bytes of JSON go out at once.
const CHUNK: usize = 16 * 1024;
/// The most entries that are sorted by anything but their names.
const MOST_SORTED: usize = 10_000;

/// List a directory.
///
/// Sorted by name unless `sort` says otherwise; links are listed themselves. The answer is written
/// while it is found, so that the fields behind `entries` come last.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/fs-list/{path}",
    operation_id = "listSandboxDirectory",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The directory, from the root of the sandbox on; \
            the root without it"),
        ListingQuery,
        AsOf
    ),
    responses((status = 200, description = "What it holds", body = Listing), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn list(
    visit: Visit,
    place: Place,
    Query(query): Query<ListingQuery>,
    Query(as_of): Query<AsOf>,
) -> Result<Response, Problem> {
    let workspace = as_of.workspace(&visit).await?;
    let failed = |err: Error| explain_look(&err);
    let wish = ListQuery {
        depth: match query.recursive {
            Some(true) => query.depth.map(whole),
            Some(false) | None => Some(1),
        },
        names: query.glob.clone(),
        kind: query.kind.map(EntryKind::from),
        after: None,
    };
    let dir = &place.path;
    let page = match query.sort {
        SortBy::Name if query.order == Order::Ascending => {
            by_name(&workspace, dir, wish, &query).await
        }
        SortBy::Name | SortBy::Size | SortBy::Modified => {
            sorted(&workspace, dir, wish, &query).await
        }
    };
    let page = page.map_err(failed)?;
    let body = body(page, Spelling::new(dir, &query)).await.map_err(failed)?;
    Ok(([(CONTENT_TYPE, "application/json")], ASK_AGAIN, body).into_response())
}

/// Entries that are still to come, and what is to be said of them at the end.
struct Page {
    entries: EntryStream,
    /// How many there are at most.
    limit: Option<usize>,
    /// How many came before, if all are to be counted.
    skipped: Option<u64>,
    /// How many are known to come behind those entries.
    beyond: u64,
    /// Whether the path of the last entry tells where to go on.
    has_cursor: bool,
}

async fn by_name(
    workspace: &Workspace,
    dir: &SandboxPath,
    mut wish: ListQuery,
    query: &ListingQuery,
) -> engine::Result<Page> {
    // A cursor is a path as it is, even if it begins with a word that clients' paths lose.
    wish.after = query.cursor.as_deref().map(|cursor| paths::of_text(cursor, false)).transpose()?;
    let mut entries = workspace.list_tree(dir, wish).await?;
    let mut skipped = 0;
    while skipped < query.offset.unwrap_or_default() && entries.try_next().await?.is_some() {
        skipped += 1;
    }
    let counts = query.offset.is_some() || (query.limit.is_none() && query.cursor.is_none());
    let (limit, skipped) = (query.limit.map(whole), counts.then_some(skipped));
    Ok(Page { entries, limit, skipped, beyond: 0, has_cursor: true })
}

/// The first entries by another order than that of their names. So many are held at once.
async fn sorted(
    workspace: &Workspace,
    dir: &SandboxPath,
    wish: ListQuery,
    query: &ListingQuery,
) -> engine::Result<Page> {
    if query.cursor.is_some() {
        let message = "a cursor goes on in the order of the names alone";
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    let offset = whole(query.offset.unwrap_or_default());
    let limit = whole(query.limit.unwrap_or(MOST_SORTED as u64)).saturating_add(offset);
    if limit > MOST_SORTED {
        let message = format!("at most {MOST_SORTED} entries are sorted at once");
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    }
    let mut entries = workspace.list_tree(dir, wish).await?;
    let (mut first, mut total) = (BinaryHeap::new(), 0_u64);
    while let Some(entry) = entries.try_next().await? {
        total += 1;
        first.push(Ranked { rank: rank(&entry, query), entry });
        if first.len() > limit {
            first.pop();
        }
    }
    let beyond = total - first.len() as u64;
    let skipped = offset.min(first.len());
    let kept = first.into_sorted_vec().into_iter().skip(offset).map(|ranked| Ok(ranked.entry));
    let entries = stream::iter(kept.collect::<Vec<_>>()).boxed();
    Ok(Page { entries, limit: None, skipped: Some(skipped as u64), beyond, has_cursor: false })
}

/// Where an entry stands; those with the greatest ranks are let go. Of equals, the name decides.
type Rank = (Direction, String);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Up((i128, String)),
    Down(Reverse<(i128, String)>),
}

struct Ranked {
    rank: Rank,
    entry: Entry,
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

fn rank(entry: &Entry, query: &ListingQuery) -> Rank {
    // What is in a directory comes before its next sibling, whatever their names.
    let name = entry.path.as_str().replace('/', "\0");
    let key = match query.sort {
        SortBy::Name => (0, name.clone()),
        SortBy::Size => (ListedEntry::size_of(entry).into(), String::new()),
        SortBy::Modified => (entry.modified.map_or(i128::MIN, nanoseconds), String::new()),
    };
    match query.order {
        Order::Ascending => (Direction::Up(key), name),
        Order::Descending => (Direction::Down(Reverse(key)), name),
    }
}

fn nanoseconds(time: UnixTime) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
}

/// The page as JSON. Fails if the first entries cannot be had; a later failure breaks the body off.
async fn body(page: Page, spelling: Spelling) -> engine::Result<Body> {
    let path = spelling.dir.clone();
    let mut chunks = Box::pin(chunks(page, spelling));
    let first = chunks.try_next().await?.unwrap_or_default();
    let Some(second) = chunks.try_next().await? else { return Ok(Body::from(first)) };
    let begun = stream::iter([Ok(first), Ok(second)]);
    Ok(Body::from_stream(begun.chain(chunks.map_err(move |err| logged(err, &path)))))
}

/// How far a page was written.
struct Writing {
    page: Page,
    spelling: Spelling,
    count: u64,
    last: Option<SandboxPath>,
    is_over: bool,
}

fn chunks(page: Page, spelling: Spelling) -> impl Stream<Item = engine::Result<Bytes>> {
    let begun = Writing { page, spelling, count: 0, last: None, is_over: false };
    stream::try_unfold(begun, |mut writing| async {
        if writing.is_over {
            return Ok(None);
        }
        Ok(Some((writing.chunk().await?, writing)))
    })
}

impl Writing {
    /// The next bytes of the answer.
    async fn chunk(&mut self) -> engine::Result<Bytes> {
        let mut json = Vec::with_capacity(CHUNK + CHUNK / 4);
        if self.last.is_none() {
            json.extend(br#"{"entries":["#);
        }
        while json.len() < CHUNK {
            let is_full = self.page.limit.is_some_and(|most| self.count == most as u64);
            let next = if is_full { None } else { self.page.entries.try_next().await? };
            let Some(entry) = next else {
                json.extend(self.end(is_full).await?);
                break;
            };
            if self.count > 0 {
                json.push(b',');
            }
            json.extend(self.spelling.spell(&entry));
            self.count += 1;
            self.last = Some(entry.path);
        }
        Ok(json.into())
    }

    /// What stands behind the entries.
    async fn end(&mut self, is_full: bool) -> engine::Result<Vec<u8>> {
        self.is_over = true;
        let Page { entries, skipped, beyond, has_cursor, .. } = &mut self.page;
        let mut more = *beyond;
        while is_full && entries.try_next().await?.is_some() {
            more += 1;
            if skipped.is_none() {
                break;
            }
        }
        let total = skipped.map(|skipped| skipped + self.count + more);
        let cursor = self.last.as_ref().filter(|_| more > 0 && *has_cursor).map(shown);
        Ok(Listing::end(total, more > 0, cursor))
    }
}

/// What is told of each entry.
struct Spelling {
    dir: SandboxPath,
    /// Whether its path from the directory on is told.
    has_path: bool,
    /// Whether everything is told.
    has_details: bool,
}

impl Spelling {
    fn new(dir: &SandboxPath, query: &ListingQuery) -> Self {
        let (has_path, has_details) = (query.recursive == Some(true), query.details == Some(true));
        Self { dir: dir.clone(), has_path, has_details }
    }

    fn spell(&self, entry: &Entry) -> Vec<u8> {
        let beneath = || entry.path.strip(&self.dir).unwrap_or_default().to_owned();
        let (path, stat) =
            (self.has_path.then(beneath), self.has_details.then(|| Stat::new(entry)));
        render(&ListedEntry::new(entry, path, stat))
    }
}

fn whole(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

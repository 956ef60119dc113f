//! Looking for names and for lines of text in a tree.
//!
//! The walk is ours, so that a search goes nowhere that a listing would not; `ripgrep`'s libraries
//! say what matches.
//!
//! - `query`: what is looked for, and how much of it
//! - `candidates`: which entries are looked at
//! - `ignores`: what ignore files leave out
//! - `content`: the lines of one file
//! - `findings`: what comes out, and why it ended

mod candidates;
mod content;
mod findings;
mod ignores;
mod query;

use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt as _};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

pub use self::findings::{Finding, FoundLine, SearchEnd, SearchSummary};
pub use self::query::{Letters, Pattern, SearchBudget, SearchQuery, Syntax};

use self::candidates::{Candidate, Candidates};
use self::content::LineSearch;
use self::findings::{Looked, Tally};
use crate::{EntryKind, Error, ErrorKind, FileSystem, Links, Result, SandboxPath};

/// How many files one task looks into.
const IN_A_ROW: usize = 16;
/// How many tasks there are at least, so that one waits for the disk while another searches.
const AT_ONCE: usize = 4;

/// What a search finds, in the order of the walk. The last is always [`Finding::End`]; an error
/// ends it without.
pub type FindingStream = BoxStream<'static, Result<Finding>>;

/// Looks for names, or for lines in files, at `path` and beneath. Links are not followed.
///
/// Fails here, not in the stream, when there is nothing at `path` or the query makes no sense.
pub async fn search(
    files: Arc<dyn FileSystem>,
    path: &SandboxPath,
    query: &SearchQuery,
) -> Result<FindingStream> {
    let lines = query.content.as_ref().map(|pattern| LineSearch::new(pattern, &query.budget));
    let lines = lines.transpose()?.map(Arc::new);
    let top = files.stat(path, Links::Follow).await?;
    let candidates = Candidates::begin(Arc::clone(&files), &top, query).await?;
    let candidates = candidates.into_stream();
    let looked = match lines {
        None => candidates.map(|candidate| candidate.map(look_at_name)).boxed(),
        Some(lines) => look_into_all(files, lines, candidates),
    };
    Ok(Tally::new(&query.budget, looked).into_stream().boxed())
}

fn look_at_name(candidate: Candidate) -> Looked {
    let Candidate { entry, fits, is_floor } = candidate;
    let mut looked = if fits { Looked::name(entry) } else { Looked::nothing() };
    looked.is_floor = is_floor;
    looked
}

/// Looks into files on all processors. What is found comes in the order of the walk.
fn look_into_all(
    files: Arc<dyn FileSystem>,
    lines: Arc<LineSearch>,
    candidates: BoxStream<'static, Result<Candidate>>,
) -> BoxStream<'static, Result<Looked>> {
    let tasks = AT_ONCE.max(1 + Handle::current().metrics().num_workers());
    let some = candidates.ready_chunks(IN_A_ROW).map(move |some| {
        let looking = look_into_some(Arc::clone(&files), Arc::clone(&lines), some);
        // Nobody goes on searching for whoever has left.
        AbortOnDropHandle::new(tokio::spawn(looking))
    });
    let looked = some.buffered(tasks).flat_map(|looked| {
        stream::iter(looked.unwrap_or_else(|err| match err.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => vec![Err(Error::new(ErrorKind::Unavailable, "the server is stopping"))],
        }))
    });
    looked.boxed()
}

/// Looks into one file after the other, until as much was found or read as may be in all.
async fn look_into_some(
    files: Arc<dyn FileSystem>,
    lines: Arc<LineSearch>,
    candidates: Vec<Result<Candidate>>,
) -> Vec<Result<Looked>> {
    let mut all = Vec::with_capacity(candidates.len());
    let (mut found, mut bytes) = (0, 0);
    for candidate in candidates {
        let looked = look_into(&files, &lines, candidate).await;
        let is_last = looked.as_ref().map_or(true, |looked| {
            found += looked.count();
            bytes += looked.bytes;
            lines.is_enough(found, bytes)
        });
        all.push(looked);
        if is_last {
            break;
        }
    }
    all
}

async fn look_into(
    files: &Arc<dyn FileSystem>,
    lines: &Arc<LineSearch>,
    candidate: Result<Candidate>,
) -> Result<Looked> {
    let Candidate { entry, fits, is_floor } = candidate?;
    let mut looked = match fits && entry.kind == EntryKind::File {
        true => Arc::clone(lines).look_into(files, &entry).await?,
        false => Looked::nothing(),
    };
    looked.is_floor = is_floor;
    Ok(looked)
}

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

use futures::stream::{BoxStream, StreamExt as _};

pub use self::findings::{Finding, FoundLine, SearchEnd, SearchSummary};
pub use self::query::{Letters, Pattern, SearchBudget, SearchQuery, Syntax};

use self::candidates::{Candidate, Candidates};
use self::content::LineSearch;
use self::findings::{Looked, Tally};
use crate::{EntryKind, FileSystem, Links, Result, SandboxPath};

/// How many files are read at a time.
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
    let looked = candidates.into_stream().map(move |candidate| {
        let (files, lines) = (Arc::clone(&files), lines.clone());
        async move {
            let Candidate { entry, fits, is_floor } = candidate?;
            let mut looked = match lines {
                None if fits => Looked::name(entry),
                Some(lines) if fits && entry.kind == EntryKind::File => {
                    lines.look_into(&files, &entry).await?
                }
                None | Some(_) => Looked::nothing(),
            };
            looked.is_floor = is_floor;
            Ok(looked)
        }
    });
    Ok(Tally::new(&query.budget, looked.buffered(AT_ONCE).boxed()).into_stream().boxed())
}

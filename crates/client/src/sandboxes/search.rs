//! Names and lines that a server finds in a sandbox.

use engine::{
    Finding, FindingStream, FoundLine, Letters, Pattern, Result, SandboxPath, SearchEnd,
    SearchQuery, SearchSummary, Syntax,
};
use http::Method;
use serde::{Deserialize, Serialize};

use super::SandboxFs;
use super::wire::{Stat, path};
use crate::endpoint::with_json;
use crate::lines::Lines;
use crate::transport::not_understood;
use crate::{arriving, incoming};

impl SandboxFs {
    /// Looks for names, or for lines in files, at `path` and beneath. The server reads the files;
    /// only what it finds is sent.
    pub async fn search(&self, path: &SandboxPath, query: &SearchQuery) -> Result<FindingStream> {
        let request = self.look_by(Method::POST, "fs-search", path);
        let answer = self.send(with_json(request, &SearchRequest::new(query))?, path).await?;
        let body = incoming::stream(answer, self.endpoint.address());
        Ok(arriving::values(body, Lines::default(), |line| {
            let body: FindingBody = serde_json::from_slice(line).map_err(not_understood)?;
            body.finding()
        }))
    }
}

/// What is looked for.
#[derive(Debug, Serialize)]
struct SearchRequest<'a> {
    pattern: Option<&'a str>,
    literal: bool,
    letters: &'static str,
    words: bool,
    glob: Option<&'a str>,
    hidden: bool,
    ignore: bool,
    max_depth: Option<usize>,
    max_results: usize,
    max_bytes: u64,
    max_millis: u64,
}

impl<'a> SearchRequest<'a> {
    fn new(query: &'a SearchQuery) -> Self {
        let SearchQuery { names, content, hidden, heed_ignore_files, depth, budget } = query;
        let is = |wanted: fn(&Pattern) -> bool| content.as_ref().is_some_and(wanted);
        let letters = match content.as_ref().map(|pattern| pattern.letters) {
            None | Some(Letters::Exact) => "exact",
            Some(Letters::Alike) => "alike",
            Some(Letters::Smart) => "smart",
        };
        Self {
            pattern: content.as_ref().map(|pattern| pattern.text.as_str()),
            literal: is(|pattern| pattern.syntax == Syntax::Literal),
            letters,
            words: is(|pattern| pattern.words),
            glob: names.as_deref(),
            hidden: *hidden,
            ignore: *heed_ignore_files,
            max_depth: *depth,
            max_results: budget.results,
            max_bytes: budget.bytes,
            max_millis: u64::try_from(budget.time.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// One line of the answer.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum FindingBody {
    Name(Stat),
    Line(LineBody),
    End(EndBody),
}

#[derive(Debug, Deserialize)]
struct LineBody {
    path: String,
    line: u64,
    offset: u64,
    text: String,
    cut: bool,
    matches: Vec<[usize; 2]>,
}

#[derive(Debug, Deserialize)]
struct EndBody {
    reason: String,
    results: u64,
    files: u64,
    bytes: u64,
    binary: u64,
    unreadable: u64,
}

impl FindingBody {
    fn finding(self) -> Result<Finding> {
        match self {
            Self::Name(stat) => stat.entry_there().map(Finding::Entry),
            Self::Line(found) => found.line().map(Finding::Line),
            Self::End(end) => end.summary().map(Finding::End),
        }
    }
}

impl LineBody {
    fn line(self) -> Result<FoundLine> {
        let Self { path: file, line, offset, text, cut, matches } = self;
        let matches = matches.into_iter().map(|[start, end]| start..end).collect();
        Ok(FoundLine { path: path(&file)?, number: line, offset, text, is_cut: cut, matches })
    }
}

impl EndBody {
    fn summary(self) -> Result<SearchSummary> {
        let Self { reason, results, files, bytes, binary, unreadable } = self;
        let end = SearchEnd::from_word(&reason)
            .ok_or_else(|| not_understood("a search ended for no known reason"))?;
        Ok(SearchSummary { end, results, files, bytes, binary, unreadable })
    }
}

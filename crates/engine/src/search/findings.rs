//! What comes out of a search, and why it ended.

use std::collections::VecDeque;
use std::ops::Range;

use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use tokio::time::{Instant, timeout_at};

use super::query::SearchBudget;
use crate::{Entry, Result, SandboxPath};

/// One thing that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A name that matches, where names alone are looked for.
    Entry(Entry),
    /// A line that matches.
    Line(FoundLine),
    /// That was all, or all that there was budget for.
    End(SearchSummary),
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLine {
    /// The file.
    pub path: SandboxPath,
    /// Which line, from 1 on.
    pub number: u64,
    /// Where the line begins in the file, as it was read: a file in UTF-16 is counted in UTF-8.
    pub offset: u64,
    /// The line without its end, and of a long one about the first kilobyte.
    pub text: String,
    /// Whether the line goes on.
    pub is_cut: bool,
    /// Which bytes of `text` match.
    pub matches: Vec<Range<usize>>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchSummary {
    /// Why.
    pub end: SearchEnd,
    /// How many names or lines were found.
    pub results: u64,
    /// How many files were searched.
    pub files: u64,
    /// How many bytes of them were read.
    pub bytes: u64,
    /// How many files were left out because they hold no text.
    pub binary: u64,
    /// How many files could not be read.
    pub unreadable: u64,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// Everything was searched.
    Complete,
    /// There are more results than were asked for.
    Results,
    /// As many bytes were read as may be.
    Bytes,
    /// The time was up.
    Time,
    /// Everything was searched but what lies deeper than was asked for.
    Depth,
}

impl SearchEnd {
    /// The reason as a word of the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Results => "results",
            Self::Bytes => "bytes",
            Self::Time => "time",
            Self::Depth => "depth",
        }
    }

    /// The reason that a word of the wire names.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Complete, Self::Results, Self::Bytes, Self::Time, Self::Depth];
        all.into_iter().find(|end| end.word() == word)
    }
}

/// What a look at one candidate brought.
#[derive(Debug, Default)]
pub(super) struct Looked {
    found: Vec<Finding>,
    pub(super) bytes: u64,
    files: u64,
    binary: u64,
    unreadable: u64,
    /// Whether it is a directory that lies too deep to be gone into.
    pub(super) is_floor: bool,
}

impl Looked {
    pub(super) fn name(entry: Entry) -> Self {
        Self { found: vec![Finding::Entry(entry)], ..Self::default() }
    }

    pub(super) fn lines(lines: Vec<FoundLine>) -> Self {
        let found = lines.into_iter().map(Finding::Line).collect();
        Self { found, files: 1, ..Self::default() }
    }

    pub(super) fn binary() -> Self {
        Self { binary: 1, ..Self::default() }
    }

    pub(super) fn unreadable() -> Self {
        Self { unreadable: 1, ..Self::default() }
    }

    pub(super) fn nothing() -> Self {
        Self::default()
    }

    /// How much was found.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }
}

/// A search under way, and what it took so far.
pub(super) struct Tally {
    budget: SearchBudget,
    until: Instant,
    summary: SearchSummary,
    /// How it ends if nothing ends it before.
    at_last: SearchEnd,
    waiting: VecDeque<Finding>,
    /// What is still to come; none when the end was told.
    looked: Option<BoxStream<'static, Result<Looked>>>,
}

impl Tally {
    pub(super) fn new(budget: &SearchBudget, looked: BoxStream<'static, Result<Looked>>) -> Self {
        let results = budget.results.min(SearchBudget::MOST_RESULTS);
        let summary = SearchSummary {
            end: SearchEnd::Complete,
            results: 0,
            files: 0,
            bytes: 0,
            binary: 0,
            unreadable: 0,
        };
        Self {
            budget: SearchBudget { results, ..*budget },
            until: Instant::now() + budget.time,
            summary,
            at_last: SearchEnd::Complete,
            waiting: VecDeque::new(),
            looked: Some(looked),
        }
    }

    pub(super) fn into_stream(self) -> impl Stream<Item = Result<Finding>> {
        stream::try_unfold(self, |mut tally| async {
            Ok(tally.next().await?.map(|finding| (finding, tally)))
        })
    }

    async fn next(&mut self) -> Result<Option<Finding>> {
        loop {
            if let Some(finding) = self.waiting.pop_front() {
                return Ok(Some(finding));
            }
            let Some(looked) = &mut self.looked else { return Ok(None) };
            let now = Instant::now();
            match timeout_at(self.until, looked.next()).await {
                // What is always ready never times out.
                _ if now >= self.until => self.end(SearchEnd::Time),
                Err(_) => self.end(SearchEnd::Time),
                Ok(None) => self.end(self.at_last),
                Ok(Some(looked)) => self.add(looked?),
            }
        }
    }

    fn add(&mut self, looked: Looked) {
        self.summary.files += looked.files;
        self.summary.bytes += looked.bytes;
        self.summary.binary += looked.binary;
        self.summary.unreadable += looked.unreadable;
        if looked.is_floor {
            self.at_last = SearchEnd::Depth;
        }
        for finding in looked.found {
            if self.summary.results >= self.budget.results as u64 {
                return self.end(SearchEnd::Results);
            }
            self.summary.results += 1;
            self.waiting.push_back(finding);
        }
        if self.summary.bytes >= self.budget.bytes {
            self.end(SearchEnd::Bytes);
        }
    }

    fn end(&mut self, end: SearchEnd) {
        self.summary.end = end;
        self.waiting.push_back(Finding::End(self.summary));
        self.looked = None;
    }
}

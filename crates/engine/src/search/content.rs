//! The lines of one file that match.

use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{StreamExt as _, TryStreamExt as _};
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use memchr::memchr;

use super::findings::{FoundLine, Looked};
use super::query::{Letters, Pattern, SearchBudget, Syntax};
use crate::archive::{drive, feed};
use crate::{ByteStream, Entry, Error, ErrorKind, FileSystem, Result, SandboxPath, Span, blocking};

/// Files up to this length are searched in one piece, where they are.
const SHORT: u64 = 256 << 10;
/// How long a line is at most that is looked at.
const LONGEST_LINE: usize = 4 << 20;
/// How much of a line is told.
const TOLD: usize = 1024;
/// How much memory a regular expression may take.
const PATTERN_SIZE: usize = 10 << 20;

/// A search for lines.
pub(super) struct LineSearch {
    matcher: RegexMatcher,
    /// One line more than may be told, so that it is known whether there are more.
    lines: usize,
    bytes: u64,
}

impl LineSearch {
    pub(super) fn new(pattern: &Pattern, budget: &SearchBudget) -> Result<Self> {
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(pattern.letters == Letters::Alike);
        builder.case_smart(pattern.letters == Letters::Smart);
        builder.fixed_strings(pattern.syntax == Syntax::Literal);
        builder.word(pattern.words).line_terminator(Some(b'\n'));
        builder.size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE);
        let matcher = builder.build(&pattern.text).map_err(|err| {
            let words = err.to_string();
            let why = words.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let message = format!("the pattern cannot be used: {why}");
            Error::new(ErrorKind::InvalidArgument, message)
        })?;
        let lines = budget.results.min(SearchBudget::MOST_RESULTS) + 1;
        Ok(Self { matcher, lines, bytes: budget.bytes })
    }

    /// Whether a search ends with so many lines, and so many bytes read.
    pub(super) fn is_enough(&self, lines: usize, bytes: u64) -> bool {
        lines >= self.lines || bytes >= self.bytes
    }

    /// Searches a file, or as much of it as may be read.
    pub(super) async fn look_into(
        self: Arc<Self>,
        files: &Arc<dyn FileSystem>,
        entry: &Entry,
    ) -> Result<Looked> {
        let content = match files.read(&entry.path, Span::Whole).await {
            Ok(content) => content,
            Err(err) => return missed(err),
        };
        let bytes = content.range.end.min(self.bytes);
        let (path, body) = (entry.path.clone(), within(content.body, bytes));
        let mut looked = if bytes <= SHORT {
            match body.try_collect::<Vec<Bytes>>().await {
                Ok(mut pieces) => match (pieces.pop(), pieces.is_empty()) {
                    (Some(whole), true) => self.search_whole(path, &whole)?,
                    (last, _) => {
                        pieces.extend(last);
                        self.search_whole(path, &pieces.concat())?
                    }
                },
                Err(err) => return missed(err),
            }
        } else {
            let (reader, feed) = feed(body);
            drive(feed, blocking::run(move || self.search(path, reader))).await?
        };
        looked.bytes = bytes;
        Ok(looked)
    }

    /// Searches a file that is in memory.
    fn search_whole(&self, path: SandboxPath, content: &[u8]) -> Result<Looked> {
        // What is spelled in UTF-16 has to become UTF-8 first, and holds zeros before.
        if [b"\xFF\xFE", b"\xFE\xFF"].iter().any(|mark| content.starts_with(*mark)) {
            return self.search(path, content);
        }
        if memchr(0, content).is_some() {
            return Ok(Looked::binary());
        }
        let mut lines = Lines::of(self, path);
        let searched = SEARCHER
            .with_borrow_mut(|searcher| searcher.search_slice(&self.matcher, content, &mut lines));
        lines.told(searched)
    }

    fn search(&self, path: SandboxPath, content: impl Read) -> Result<Looked> {
        let mut lines = Lines::of(self, path);
        let searched = searcher().search_reader(&self.matcher, content, &mut lines);
        lines.told(searched)
    }
}

thread_local! {
    /// It has a buffer, which is not made anew for every file.
    static SEARCHER: RefCell<Searcher> = RefCell::new(searcher());
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(LONGEST_LINE))
        .build()
}

impl Lines<'_> {
    fn of(search: &LineSearch, path: SandboxPath) -> Lines<'_> {
        Lines { search, path, found: Vec::new(), is_binary: false }
    }

    /// What a file came to that was searched.
    fn told(self, searched: io::Result<()>) -> Result<Looked> {
        match searched {
            Ok(()) if self.is_binary => Ok(Looked::binary()),
            Ok(()) => Ok(Looked::lines(self.found)),
            Err(err) => match err.downcast::<Error>() {
                Ok(err) => missed(err),
                // A line is too long to be one.
                Err(_) => Ok(Looked::binary()),
            },
        }
    }
}

/// A file that cannot be read is no reason to end a search: others change the tree, shorten what is
/// read, and may have made files that nobody may read.
fn missed(err: Error) -> Result<Looked> {
    use ErrorKind as Kind;
    let kind = err.kind();
    if matches!(kind, Kind::NotFound | Kind::NotADirectory | Kind::IsADirectory) {
        return Ok(Looked::nothing());
    }
    let is_unreadable = matches!(
        kind,
        Kind::PermissionDenied | Kind::NotAFile | Kind::OutsideSandbox | Kind::Locked | Kind::Busy
    );
    if is_unreadable { Ok(Looked::unreadable()) } else { Err(err) }
}

/// The beginning of a body.
fn within(body: ByteStream, most: u64) -> ByteStream {
    let mut left = most;
    let cut = body.try_take_while(move |_| std::future::ready(Ok(left > 0))).map_ok(move |piece| {
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        left -= len as u64;
        piece.slice(..len)
    });
    cut.boxed()
}

/// The lines that are found.
struct Lines<'a> {
    search: &'a LineSearch,
    path: SandboxPath,
    found: Vec<FoundLine>,
    is_binary: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = without_end(found.bytes());
        let mut spans = Vec::new();
        let told = self.search.matcher.find_iter(line, |span| {
            spans.push(span.start()..span.end());
            span.end() < TOLD
        });
        told.map_err(io::Error::other)?;
        let (text, matches) = told_of(line, &spans);
        self.found.push(FoundLine {
            path: self.path.clone(),
            number: found.line_number().unwrap_or_default(),
            offset: found.absolute_byte_offset(),
            text,
            is_cut: line.len() > TOLD,
            matches,
        });
        Ok(self.found.len() < self.search.lines)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The beginning of a line as text, and where the matches are in it. What is no UTF-8 is replaced,
/// which moves what comes behind it.
fn told_of(line: &[u8], spans: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let mut end = line.len().min(TOLD);
    // A letter is not cut in two.
    while end < line.len() && end > TOLD - 4 && line.get(end).is_some_and(|byte| byte >> 6 == 0b10)
    {
        end -= 1;
    }
    let text = |end: usize| String::from_utf8_lossy(line.get(..end).unwrap_or_default());
    let matches = spans.iter().filter(|span| span.start <= end).map(|span| {
        let place = |at: usize| text(at.min(end)).len();
        place(span.start)..place(span.end)
    });
    let matches = matches.collect();
    (text(end).into_owned(), matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_moves_the_matches_behind_it() {
        let (text, matches) = told_of(b"\xff ab ab", &[2..4, 5..7]);
        assert_eq!(text, "\u{fffd} ab ab");
        assert_eq!(&text[matches[0].clone()], "ab");
    }

    #[test]
    fn a_long_line_is_cut_between_letters() {
        let line = "é".repeat(TOLD);
        let (text, matches) =
            told_of(format!("x{line}").as_bytes(), &[1..3, 1021..1023, 1500..1502]);
        assert!(text.len() <= TOLD && text.ends_with('é'), "{}", text.len());
        assert_eq!(matches, [1..3, 1021..1023]);
    }
}

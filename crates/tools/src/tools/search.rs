//! `search`.

use std::time::Duration;

use engine::{
    Error, ErrorKind, Finding, FoundLine, Letters, Pattern, SearchBudget, SearchEnd, SearchQuery,
    SearchSummary, Syntax,
};
use futures::TryStreamExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_directory::STRIDE;
use super::room::Room;
use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata, Truncation, Unit, Why};
use crate::shown::Kind;
use crate::tool::{Effect, Tool};

/// How much of its time a call searches; the rest is for the answer.
const SHARE: f64 = 0.8;

/// Find lines in files, or files by name. Lines are found with `content`, which files are searched
/// is chosen with `names`. What `.gitignore` names, hidden files and binary files are left out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Search {
    /// Where to look: a directory or a file; without it, the directory where relative paths begin.
    path: Option<String>,
    /// The text that lines must hold; without it, names alone are looked for.
    content: Option<String>,
    /// A glob that names must fit: `*.rs` at any depth, `src/**/*.rs` from `path` on.
    names: Option<String>,
    /// `true` to read `content` as a regular expression.
    regex: Option<bool>,
    /// Whether capital letters matter. By default they do if `content` has one.
    case_sensitive: Option<bool>,
    /// `true` to find `content` only as a word of its own.
    whole_word: Option<bool>,
    /// `true` to look at names that begin with a dot too.
    hidden: Option<bool>,
    /// `true` to look at what `.gitignore` names too.
    include_ignored: Option<bool>,
    /// How many matches to tell at most.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchOutput {
    /// Lines or names, file by file.
    matches: Vec<Match>,
    /// How many files were searched; null, as the other counts, if the answer was full before.
    files_searched: Option<u64>,
    /// How many bytes of them were read.
    bytes_searched: Option<u64>,
    /// How many files were left out because they hold no text.
    binary_files: Option<u64>,
    /// How many files could not be read.
    unreadable_files: Option<u64>,
}

/// A line or a name that fits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Match {
    /// The file.
    path: String,
    /// What it is, where names were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Kind")]
    r#type: Option<Kind>,
    /// Which line, from 1 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    line: Option<u64>,
    /// The line without its end; of a long one, about the first kilobyte.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    text: Option<String>,
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search files";
    const EFFECT: Effect = Effect::Looks;
    type Output = SearchOutput;

    async fn run(self, call: &Call) -> Result<Done<SearchOutput>, Failure> {
        if self.content.is_none() && self.names.is_none() {
            let message = "neither `content` nor `names` says what to look for";
            return Err(Error::new(ErrorKind::InvalidArgument, message).into());
        }
        let path = call.path_or_home(self.path.as_deref())?;
        let most = call.settings.max_entries.min(SearchBudget::MOST_RESULTS);
        let mut room = Room::new(self.limit, most, call.settings.max_result_bytes)?;
        let why = room.why();
        let query = self.query(call, room.entries());
        let mut found = call.to_look(&path)?.search(&path, &query).await?;
        let (mut matches, mut summary, mut is_cut) = (Vec::new(), None, None);
        while let Some(finding) = found.try_next().await? {
            let one = match finding {
                Finding::End(end) => {
                    summary = Some(end);
                    break;
                }
                Finding::Entry(entry) => Match {
                    path: call.shown(&entry.path),
                    r#type: Some(entry.kind.into()),
                    line: None,
                    text: None,
                },
                Finding::Line(line) => of_line(call, line),
            };
            let cost = one.path.len() + one.text.as_ref().map_or(0, String::len);
            if let Err(why) = room.take(cost) {
                is_cut = Some(why);
                break;
            }
            matches.push(one);
            if (matches.len() as u64).is_multiple_of(STRIDE) {
                call.report(matches.len() as u64, None, "matches found").await;
            }
        }
        let is_cut = is_cut.or_else(|| match summary?.end {
            SearchEnd::Complete => None,
            SearchEnd::Results => Some(why),
            SearchEnd::Bytes => Some(Why::Bytes),
            SearchEnd::Time => Some(Why::Time),
            SearchEnd::Depth => Some(Why::Depth),
        });
        Ok(done(matches, summary, is_cut))
    }
}

impl Search {
    fn query(self, call: &Call, results: usize) -> SearchQuery {
        let letters = match self.case_sensitive {
            None => Letters::Smart,
            Some(true) => Letters::Exact,
            Some(false) => Letters::Alike,
        };
        let syntax = if self.regex.unwrap_or_default() { Syntax::Regex } else { Syntax::Literal };
        let words = self.whole_word.unwrap_or_default();
        let time = call.settings.timeout.mul_f64(SHARE).max(Duration::from_millis(1));
        SearchQuery {
            names: self.names,
            content: self.content.map(|text| Pattern { text, syntax, letters, words }),
            hidden: self.hidden.unwrap_or_default(),
            heed_ignore_files: !self.include_ignored.unwrap_or_default(),
            depth: Some(call.settings.max_depth),
            budget: SearchBudget { results, time, ..SearchBudget::default() },
        }
    }
}

fn of_line(call: &Call, line: FoundLine) -> Match {
    let FoundLine { path, number, mut text, is_cut, .. } = line;
    if is_cut {
        text.push('…');
    }
    Match { path: call.shown(&path), r#type: None, line: Some(number), text: Some(text) }
}

fn done(
    matches: Vec<Match>,
    summary: Option<SearchSummary>,
    is_cut: Option<Why>,
) -> Done<SearchOutput> {
    let count = matches.len() as u64;
    let truncated = is_cut.map(|reason| Truncation {
        returned: count,
        total: None,
        unit: Unit::Matches,
        reason,
        next: None,
    });
    let output = SearchOutput {
        matches,
        files_searched: summary.map(|summary| summary.files),
        bytes_searched: summary.map(|summary| summary.bytes),
        binary_files: summary.map(|summary| summary.binary),
        unreadable_files: summary.map(|summary| summary.unreadable),
    };
    let text = in_words(&output, truncated.as_ref());
    Done::new(output, text).with(Metadata { items: Some(count), truncated, ..Metadata::default() })
}

fn in_words(output: &SearchOutput, truncated: Option<&Truncation>) -> String {
    let line = |one: &Match| {
        let path = one.path.replace('\n', "\\n");
        match (one.line, &one.text) {
            (Some(number), Some(text)) => format!("{path}:{number}: {text}"),
            _ => path,
        }
    };
    let mut lines: Vec<String> = output.matches.iter().map(line).collect();
    if lines.is_empty() {
        lines.push(format!("nothing found in {} files", output.files_searched.unwrap_or(0)));
    }
    lines.extend(truncated.map(Truncation::in_words));
    lines.join("\n")
}

//! `search`: names and lines, as they are found.

use anyhow::Result;
use engine::{Finding, FoundLine, SearchEnd, SearchSummary};
use futures::TryStreamExt as _;
use owo_colors::OwoColorize as _;
use serde::Serialize;

use crate::command_line::SearchFlags;
use crate::render::{EntryJson, Output, counted, harmless, shown, size};

use super::tree::Tree;

/// One line of JSON.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Json<'a> {
    Entry(EntryJson<'a>),
    #[serde(rename_all = "camelCase")]
    Line {
        path: &'a str,
        number: u64,
        offset: u64,
        text: &'a str,
        is_cut: bool,
        matches: Vec<[usize; 2]>,
    },
    #[serde(rename_all = "camelCase")]
    End {
        reason: &'static str,
        results: u64,
        files: u64,
        bytes: u64,
        binary: u64,
        unreadable: u64,
    },
}

/// Shows what a search finds.
pub(super) async fn run(flags: &SearchFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let path = tree.locate(&flags.path)?;
    let found = tree.search(&path, &flags.query()).await;
    let mut found = found.map_err(|err| err.on(&path))?;
    while let Some(finding) = found.try_next().await? {
        if out.json() {
            out.value(&json(&finding))?;
            continue;
        }
        match finding {
            Finding::Entry(entry) => out.line(&shown(entry.path.as_str()))?,
            Finding::Line(line) => out.line(&words(&line, out.coloured))?,
            Finding::End(summary) => remark(&summary),
        }
    }
    Ok(())
}

fn json(finding: &Finding) -> Json<'_> {
    match finding {
        Finding::Entry(entry) => Json::Entry(EntryJson::new(entry)),
        Finding::Line(FoundLine { path, number, offset, text, is_cut, matches }) => Json::Line {
            path: path.as_str(),
            number: *number,
            offset: *offset,
            text,
            is_cut: *is_cut,
            matches: matches.iter().map(|found| [found.start, found.end]).collect(),
        },
        Finding::End(SearchSummary { end, results, files, bytes, binary, unreadable }) => {
            let (results, files, bytes) = (*results, *files, *bytes);
            let (binary, unreadable) = (*binary, *unreadable);
            Json::End { reason: end.word(), results, files, bytes, binary, unreadable }
        }
    }
}

/// `path:line: text`, with what matches in colour.
fn words(line: &FoundLine, coloured: bool) -> String {
    let path = shown(line.path.as_str());
    let more = if line.is_cut { "…" } else { "" };
    if !coloured {
        return format!("{path}:{}: {}{more}", line.number, harmless(&line.text));
    }
    let (mut text, mut end) = (String::new(), 0);
    let part = |from: usize, to: usize| harmless(line.text.get(from..to).unwrap_or_default());
    for found in &line.matches {
        text += &part(end, found.start);
        text += &part(found.start, found.end).red().bold().to_string();
        end = found.end;
    }
    text += &part(end, line.text.len());
    format!("{}:{}: {text}{more}", path.magenta(), line.number.green())
}

/// What people should know of how it ended; for programs it is the last line.
#[expect(clippy::print_stderr, reason = "a remark for people goes beside the data")]
fn remark(summary: &SearchSummary) {
    let SearchSummary { end, results, files, bytes, unreadable, .. } = summary;
    let searched = format!("{} searched, {}", counted(*files, "file"), size(*bytes));
    match end {
        SearchEnd::Complete if *results == 0 => eprintln!("nothing found ({searched})"),
        SearchEnd::Complete => {}
        SearchEnd::Results => {
            let results = counted(*results, "result");
            eprintln!("there is more: stopped after {results}; raise --max-results");
        }
        SearchEnd::Bytes => eprintln!("stopped early ({searched}); raise --max-bytes"),
        SearchEnd::Time => eprintln!("stopped early ({searched}); raise --max-time"),
        SearchEnd::Depth => eprintln!("there may be more, deeper ({searched}); raise --max-depth"),
    }
    if *unreadable > 0 {
        eprintln!("{} could not be read", counted(*unreadable, "file"));
    }
}

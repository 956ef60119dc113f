//! `sandkeep watch`: what happens in a tree, as it happens.

use std::sync::Arc;

use anyhow::Result;
use client::Presence;
use engine::{
    DotDot, EntryKind, ErrorKind, FileSystem, Notice, NoticeKind, NoticeStream, SandboxPath, Watch,
};
use futures::TryStreamExt as _;
use owo_colors::OwoColorize as _;
use serde::Serialize;

use crate::command_line::WatchFlags;
use crate::failure::OrHint as _;
use crate::remote;
use crate::render::{Output, entry_kind, shown};
use crate::trees::{LocalTree, Missing};

/// A notice as a program reads it.
#[derive(Serialize)]
struct NoticeJson<'a> {
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    cursor: String,
}

/// Tells what happens until it is ended.
pub(crate) fn run(flags: &WatchFlags) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut out = Output::new(flags.output.style());
        let done = match open(flags).await {
            Ok(tree) => follow(flags, &tree, &mut out).await,
            Err(err) => Err(err),
        };
        match flags.place() {
            Some(_) => done,
            None => remote::advised(done, &flags.server.endpoint, Some("--dir DIR")),
        }
    })
}

/// Where the directory is.
enum Tree {
    Here(Arc<dyn FileSystem>),
    OfAServer(client::SandboxFs),
}

async fn open(flags: &WatchFlags) -> Result<Tree> {
    Ok(match flags.place() {
        Some(place) => Tree::Here(LocalTree::open(&place, Missing::Refused).await?.files()),
        None => Tree::OfAServer(flags.server.server()?.sandbox(&flags.sandbox)),
    })
}

impl Tree {
    async fn watch(
        &self,
        dir: &SandboxPath,
        wish: Watch,
        tell: fn(Presence),
    ) -> engine::Result<NoticeStream> {
        match self {
            Self::Here(files) => files.watch(dir, wish).await,
            Self::OfAServer(files) => files.watch_patiently(dir, wish, tell).await,
        }
    }
}

async fn follow(flags: &WatchFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let dir = SandboxPath::parse(&flags.path, DotDot::Clamp)?;
    // A program sees it by what it is told next.
    let tell = if out.json() { |_| {} } else { |presence| remark(presence_words(presence)) };
    let mut notices = match tree.watch(&dir, flags.wish(), tell).await {
        Err(err) if err.kind() == ErrorKind::NotFound => Err(err.on(&dir))
            .or_hint(|| "make the directory first, or watch the one above it".into())?,
        outcome => outcome.map_err(|err| err.on(&dir))?,
    };
    let mut is_first = true;
    while let Some(notice) = notices.try_next().await? {
        if out.json() {
            out.value(&json(&notice))?;
        } else if notice.kind == NoticeKind::Here {
            // Afterwards there is nothing to see where nothing happened.
            if is_first {
                remark(&format!("watching {}", shown(dir.as_str())));
            }
        } else {
            let line = words(&notice, out.coloured);
            out.line(&line)?;
        }
        is_first = false;
        // Whoever reads wants to know it now.
        out.flush()?;
    }
    Ok(())
}

/// Tells people how it goes.
#[expect(clippy::print_stderr, reason = "a remark for people goes beside the data")]
fn remark(words: &str) {
    eprintln!("{words}");
}

fn presence_words(presence: Presence) -> &'static str {
    match presence {
        Presence::Away => "the server is away: waiting for it, for a minute at most",
        Presence::Back => "the server is back",
    }
}

fn json(notice: &Notice) -> NoticeJson<'_> {
    let cursor = notice.cursor.to_string();
    let change = word(&notice.kind);
    let bare = NoticeJson { change, path: None, from: None, kind: None, reason: None, cursor };
    match &notice.kind {
        NoticeKind::Here => bare,
        NoticeKind::Created { path, entry }
        | NoticeKind::Modified { path, entry }
        | NoticeKind::Removed { path, entry } => {
            NoticeJson { path: Some(path.as_str()), kind: entry.map(entry_kind), ..bare }
        }
        NoticeKind::Renamed { from, path, entry } => NoticeJson {
            path: Some(path.as_str()),
            from: Some(from.as_str()),
            kind: entry.map(entry_kind),
            ..bare
        },
        NoticeKind::Resync { why } => NoticeJson { reason: Some(why.word()), ..bare },
    }
}

fn word(kind: &NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Here => "here",
        NoticeKind::Created { .. } => "created",
        NoticeKind::Modified { .. } => "modified",
        NoticeKind::Removed { .. } => "removed",
        NoticeKind::Renamed { .. } => "renamed",
        NoticeKind::Resync { .. } => "resync",
    }
}

/// `created   /path`; directories end with a slash.
fn words(notice: &Notice, coloured: bool) -> String {
    let at = |path: &SandboxPath, entry: &Option<EntryKind>| {
        let slash = if *entry == Some(EntryKind::Directory) && !path.is_root() { "/" } else { "" };
        format!("{}{slash}", shown(path.as_str()))
    };
    let rest = match &notice.kind {
        NoticeKind::Here => String::new(),
        NoticeKind::Created { path, entry }
        | NoticeKind::Modified { path, entry }
        | NoticeKind::Removed { path, entry } => at(path, entry),
        NoticeKind::Renamed { from, path, entry } => {
            format!("{} -> {}", at(from, entry), at(path, entry))
        }
        NoticeKind::Resync { why } => {
            format!("something may have been missed, list everything anew: {why}")
        }
    };
    let word = format!("{:<9}", word(&notice.kind));
    if coloured { format!("{} {rest}", word.cyan()) } else { format!("{word} {rest}") }
}

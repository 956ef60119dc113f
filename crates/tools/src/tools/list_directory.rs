//! `list_directory`.

use engine::{Entry, EntryKind, Error, ErrorKind, ListQuery, SandboxPath};
use futures::TryStreamExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::room::Room;
use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata, Truncation, Unit, Why};
use crate::shown::{Kind, size, time};
use crate::tool::{Effect, Tool};

/// After how many entries somebody who listens is told how far a listing is.
pub(crate) const STRIDE: u64 = 100;

/// List what is in a directory, sorted by name, with type and length; with `recursive`, what is
/// beneath it too. Links are told of and not followed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListDirectory {
    /// The directory; without it, the one where relative paths begin.
    path: Option<String>,
    /// `true` to list what is beneath its directories too.
    recursive: Option<bool>,
    /// How many levels to list with `recursive`: 1 is the directory's own entries.
    #[schemars(range(min = 1))]
    depth: Option<usize>,
    /// Only names that fit this glob, such as `*.rs`; with a slash in it, paths from the directory
    /// on.
    pattern: Option<String>,
    /// Only entries of this type.
    r#type: Option<Kind>,
    /// How many entries to list at most.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Go on behind this path, which an earlier call told.
    after: Option<String>,
}

/// What is in a directory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListOutput {
    /// The directory.
    path: String,
    /// What is in it.
    entries: Vec<Listed>,
}

/// One entry.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Listed {
    /// What it is called.
    name: String,
    /// What it is.
    r#type: Kind,
    /// How many bytes a file has; null for everything else.
    size: Option<u64>,
    /// Where it is.
    path: String,
    /// When its content last changed (RFC 3339); null where nobody knows.
    modified_at: Option<String>,
}

impl Tool for ListDirectory {
    const NAME: &'static str = "list_directory";
    const TITLE: &'static str = "List a directory";
    const EFFECT: Effect = Effect::Looks;
    type Output = ListOutput;

    async fn run(self, call: &Call) -> Result<Done<ListOutput>, Failure> {
        let dir = call.path_or_home(self.path.as_deref())?;
        let levels = match (self.recursive.unwrap_or_default(), self.depth) {
            (false, None) => Levels { count: 1, are_enough: true },
            (_, wish) => Levels::of(wish, call)?,
        };
        // Where only some entries are told, they do not tell whether there are deeper ones.
        let is_picky = self.pattern.is_some() || self.r#type.is_some();
        let query = ListQuery {
            depth: Some(levels.count),
            names: self.pattern,
            kind: self.r#type.map(EntryKind::from),
            after: self.after.as_deref().map(|path| call.path(path)).transpose()?,
        };
        let (most, bytes) = (call.settings.max_entries, call.settings.max_result_bytes);
        let room = Room::new(self.limit, most, bytes)?;
        let mut listing = Listing { room, entries: Vec::new(), last: None, is_cut: None };
        listing.fill(call, &dir, query, levels.floor(&dir)).await?;
        if is_picky && listing.is_cut.is_none() && levels.hide_some(call, &dir).await? {
            listing.is_cut = Some(Why::Depth);
        }
        Ok(listing.done(call, &dir))
    }
}

/// How many levels are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    pub(crate) count: usize,
    /// Whoever asked for so many knows that there may be more.
    are_enough: bool,
}

impl Levels {
    /// As many as were asked for, and no more than may be.
    pub(crate) fn of(wish: Option<usize>, call: &Call) -> engine::Result<Self> {
        let most = call.settings.max_depth;
        match wish {
            Some(0) => {
                let message = "`depth` must be at least 1";
                Err(Error::new(ErrorKind::InvalidArgument, message))
            }
            Some(count) if count <= most => Ok(Self { count, are_enough: true }),
            Some(_) | None => Ok(Self { count: most, are_enough: false }),
        }
    }

    /// How deep a directory lies of which one should tell that nobody looked into it.
    pub(crate) fn floor(self, dir: &SandboxPath) -> Option<usize> {
        (!self.are_enough).then(|| dir.depth() + self.count)
    }

    /// Whether there is such a directory.
    async fn hide_some(self, call: &Call, dir: &SandboxPath) -> engine::Result<bool> {
        let Some(floor) = self.floor(dir) else { return Ok(false) };
        let kind = Some(EntryKind::Directory);
        let query = ListQuery { depth: Some(self.count), kind, ..ListQuery::default() };
        let mut found = call.to_look(dir)?.list_tree(dir, query).await?;
        while let Some(entry) = found.try_next().await? {
            if entry.path.depth() == floor {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

struct Listing {
    room: Room,
    entries: Vec<Listed>,
    last: Option<SandboxPath>,
    is_cut: Option<Why>,
}

impl Listing {
    async fn fill(
        &mut self,
        call: &Call,
        dir: &SandboxPath,
        query: ListQuery,
        deepest: Option<usize>,
    ) -> engine::Result<()> {
        let mut found = call.to_look(dir)?.list_tree(dir, query).await?;
        while let Some(entry) = found.try_next().await? {
            let shown = call.shown(&entry.path);
            if let Err(why) = self.room.take(shown.len() + entry.path.name().len()) {
                self.is_cut = Some(why);
                return Ok(());
            }
            let is_floor = deepest == Some(entry.path.depth());
            if is_floor && entry.kind == EntryKind::Directory {
                self.is_cut = Some(Why::Depth);
            }
            self.entries.push(listed(&entry, shown));
            self.last = Some(entry.path);
            let count = self.entries.len() as u64;
            if count.is_multiple_of(STRIDE) {
                call.report(count, None, "entries listed").await;
            }
        }
        Ok(())
    }

    fn done(self, call: &Call, dir: &SandboxPath) -> Done<ListOutput> {
        let Self { entries, last, is_cut, .. } = self;
        let count = entries.len() as u64;
        let truncated = is_cut.map(|reason| {
            let resumes = reason != Why::Depth;
            let next = last.filter(|_| resumes).map(|last| after(&call.shown(&last)));
            Truncation { returned: count, total: None, unit: Unit::Entries, reason, next }
        });
        let output = ListOutput { path: call.shown(dir), entries };
        let text = in_words(&output, truncated.as_ref());
        let metadata = Metadata { items: Some(count), truncated, ..Metadata::default() };
        Done::new(output, text).with(metadata)
    }
}

/// The argument that goes on behind a path.
pub(crate) fn after(path: &str) -> Map<String, Value> {
    Map::from_iter([("after".to_owned(), Value::from(path))])
}

fn listed(entry: &Entry, path: String) -> Listed {
    Listed {
        name: entry.path.name().to_owned(),
        r#type: entry.kind.into(),
        size: size(entry),
        path,
        modified_at: entry.modified.and_then(time),
    }
}

impl From<Kind> for EntryKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::File,
            Kind::Directory => Self::Directory,
            Kind::Symlink => Self::Symlink,
            Kind::Other => Self::Special,
        }
    }
}

fn in_words(output: &ListOutput, truncated: Option<&Truncation>) -> String {
    let mut lines: Vec<String> = output.entries.iter().map(line).collect();
    if lines.is_empty() {
        lines.push(format!("{} is empty", output.path));
    }
    lines.extend(truncated.map(Truncation::in_words));
    lines.join("\n")
}

fn line(entry: &Listed) -> String {
    // A name may hold a line break.
    let path = entry.path.replace('\n', "\\n");
    match (entry.r#type, entry.size) {
        (Kind::Directory, _) => format!("{path}/"),
        (Kind::File, Some(size)) => format!("{path} ({size} bytes)"),
        (kind, _) => format!("{path} ({})", kind.word()),
    }
}

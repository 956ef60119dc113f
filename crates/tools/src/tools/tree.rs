//! `tree`.

use engine::{Entry, EntryKind, ListQuery};
use futures::TryStreamExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_directory::{Levels, STRIDE, after};
use super::room::Room;
use crate::call::Call;
use crate::failure::Failure;
use crate::outcome::{Done, Metadata, Truncation, Unit, Why};
use crate::tool::{Effect, Tool};

/// Draw what is beneath a directory as an indented tree: the shortest way to see a whole project.
/// Directories end with a slash. Links are not followed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Tree {
    /// The directory; without it, the one where relative paths begin.
    path: Option<String>,
    /// How many levels to draw: 1 is the directory's own entries.
    #[schemars(range(min = 1))]
    depth: Option<usize>,
    /// How many entries to draw at most.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Go on behind this path, which an earlier call told.
    after: Option<String>,
}

/// What is beneath a directory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeOutput {
    /// The directory.
    path: String,
    /// The drawing: one entry a line, two spaces a level.
    tree: String,
    /// How many files and links are drawn.
    files: u64,
    /// How many directories are drawn.
    directories: u64,
    /// The lengths of the files that are drawn, added up.
    bytes: u64,
}

impl Tool for Tree {
    const NAME: &'static str = "tree";
    const TITLE: &'static str = "Draw a directory tree";
    const EFFECT: Effect = Effect::Looks;
    type Output = TreeOutput;

    async fn run(self, call: &Call) -> Result<Done<TreeOutput>, Failure> {
        let dir = call.path_or_home(self.path.as_deref())?;
        let levels = Levels::of(self.depth, call)?;
        let after_path = self.after.as_deref().map(|path| call.path(path)).transpose()?;
        let query =
            ListQuery { depth: Some(levels.count), after: after_path, ..ListQuery::default() };
        let mut room =
            Room::new(self.limit, call.settings.max_entries, call.settings.max_result_bytes)?;
        let mut output = TreeOutput {
            path: call.shown(&dir),
            tree: String::new(),
            files: 0,
            directories: 0,
            bytes: 0,
        };
        let (mut is_cut, mut last, mut count) = (None, None, 0_u64);
        let deepest = levels.floor(&dir);
        let mut found = call.to_look(&dir)?.list_tree(&dir, query).await?;
        while let Some(entry) = found.try_next().await? {
            if let Err(why) = room.take(entry.path.name().len()) {
                is_cut = Some(why);
                break;
            }
            if deepest == Some(entry.path.depth()) && entry.kind == EntryKind::Directory {
                is_cut = Some(Why::Depth);
            }
            output.draw(&entry, entry.path.depth().saturating_sub(dir.depth() + 1));
            last = Some(entry.path);
            count += 1;
            if count.is_multiple_of(STRIDE) {
                call.report(count, None, "entries drawn").await;
            }
        }
        let truncated = is_cut.map(|reason| {
            let last = last.filter(|_| reason != Why::Depth);
            let next = last.map(|last| after(&call.shown(&last)));
            Truncation { returned: count, total: None, unit: Unit::Entries, reason, next }
        });
        let text = in_words(&output, truncated.as_ref());
        let metadata = Metadata { items: Some(count), truncated, ..Metadata::default() };
        Ok(Done::new(output, text).with(metadata))
    }
}

impl TreeOutput {
    fn draw(&mut self, entry: &Entry, level: usize) {
        let name = entry.path.name().replace('\n', "\\n");
        let mark = match entry.kind {
            EntryKind::Directory => "/",
            EntryKind::Symlink => "@",
            EntryKind::File | EntryKind::Special => "",
        };
        self.tree.push_str(&format!("{:indent$}{name}{mark}\n", "", indent = level * 2));
        match entry.kind {
            EntryKind::Directory => self.directories += 1,
            EntryKind::File => {
                self.files += 1;
                self.bytes += entry.size;
            }
            EntryKind::Symlink | EntryKind::Special => self.files += 1,
        }
    }
}

fn in_words(output: &TreeOutput, truncated: Option<&Truncation>) -> String {
    let TreeOutput { path, tree, files, directories, bytes } = output;
    let mut text = format!("{path}\n{tree}");
    text.push_str(&format!("{directories} directories, {files} files, {bytes} bytes"));
    if let Some(truncated) = truncated {
        text.push('\n');
        text.push_str(&truncated.in_words());
    }
    text
}

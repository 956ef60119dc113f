//! What ignore files leave out, as `git` reads them.

use futures::TryStreamExt as _;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::{Entry, EntryKind, ErrorKind, FileSystem, Result, SandboxPath, Span};

/// The files whose lines are heeded; the later one has the last word.
const FILES: [&str; 2] = [".gitignore", ".ignore"];
/// Where `git` keeps what nobody wants to find.
const GIT: &str = ".git";
/// A longer file is nobody's list of names.
const LONGEST: u64 = 1 << 20;

/// The ignore files from the root down to the directory that a walk is in.
pub(super) struct Ignores {
    levels: Vec<(SandboxPath, Vec<Gitignore>)>,
}

impl Ignores {
    /// Those that count in a directory.
    pub(super) async fn down_to(files: &dyn FileSystem, dir: &SandboxPath) -> Result<Self> {
        let mut above: Vec<_> =
            std::iter::successors(Some(dir.clone()), SandboxPath::parent).collect();
        above.reverse();
        let mut ignores = Self { levels: Vec::new() };
        for dir in &above {
            ignores.enter(files, dir).await?;
        }
        Ok(ignores)
    }

    /// Goes into a directory, and out of those that it does not lie in.
    pub(super) async fn enter(&mut self, files: &dyn FileSystem, dir: &SandboxPath) -> Result<()> {
        self.levels.retain(|(above, _)| dir.starts_with(above) && above != dir);
        let mut rules = Vec::new();
        for name in FILES {
            let Some(text) = text_of(files, &dir.join(name)?).await? else { continue };
            let mut builder = GitignoreBuilder::new(dir.as_str());
            for line in text.lines() {
                // A line that makes no sense leaves nothing out.
                drop(builder.add_line(None, line));
            }
            rules.extend(builder.build());
        }
        if !rules.is_empty() {
            self.levels.push((dir.clone(), rules));
        }
        Ok(())
    }

    /// Whether an entry is left out.
    pub(super) fn hide(&self, entry: &Entry) -> bool {
        if entry.path.name() == GIT {
            return true;
        }
        let is_dir = entry.kind == EntryKind::Directory;
        let above = self.levels.iter().rev().filter(|(dir, _)| entry.path.starts_with(dir));
        let rules = above.flat_map(|(_, rules)| rules.iter().rev());
        for rules in rules {
            match rules.matched(entry.path.as_str(), is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// The text of an ignore file, if it is one.
async fn text_of(files: &dyn FileSystem, file: &SandboxPath) -> Result<Option<String>> {
    let content = match files.read(file, Span::Whole).await {
        Ok(content) if content.range.end <= LONGEST => content,
        Ok(_) => return Ok(None),
        Err(err) if is_none(err.kind()) => return Ok(None),
        Err(err) => return Err(err),
    };
    let text: Vec<_> = content.body.try_collect().await?;
    Ok(Some(String::from_utf8_lossy(&text.concat()).into_owned()))
}

/// Whether there is no ignore file that could be read, which is no fault of the search.
fn is_none(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound
            | ErrorKind::NotAFile
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::PermissionDenied
            | ErrorKind::OutsideSandbox
            | ErrorKind::TooManyLinks
    )
}

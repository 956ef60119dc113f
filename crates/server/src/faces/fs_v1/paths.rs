//! What a client's path means, and how it is shown back.

use engine::{DotDot, Entry, EntryKind, Error, ErrorKind, Links, Result, Sandbox, SandboxPath};

use super::errors::{Asked, explain, session_problem};
use crate::problem::Problem;
use crate::visit::Visit;

/// A place in the sandbox, with the spelling that its client knows it by.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Where it is in the tree.
    pub(super) path: SandboxPath,
    /// What the client is told: an absolute path.
    pub(super) shown: String,
    /// An absolute path that ends in a slash can only mean a directory.
    needs_directory: bool,
    /// The path was empty or `.`.
    is_base: bool,
}

impl Visit {
    /// The place that a path means. Absolute ones never look at the session.
    pub(super) fn place(&self, raw: &str, session: Option<&str>) -> Result<Place, Problem> {
        let sandbox = self.workspace.sandbox();
        if raw.starts_with('/') {
            return absolute(sandbox, raw).map_err(|err| explain(self, &err, Asked::Any, &[]));
        }
        let base = match session {
            None => sandbox.home.clone(),
            Some(id) => {
                let found = self.sessions.directory(&self.owner(), id);
                found.map_err(|err| session_problem(&err, id))?
            }
        };
        let Some(cleaned) = cleaned(raw) else {
            return Err(Problem::invalid_request(&format!("invalid relative path: {raw}"))
                .kind(ErrorKind::InvalidPath.word())
                .refusal()
                .hint("leave out `..`, or send an absolute path"));
        };
        let place = relative(sandbox, &base, &cleaned);
        place.map_err(|err| explain(self, &err, Asked::Any, &[]))
    }
}

impl Place {
    /// How something beneath this place is shown.
    pub(super) fn shown_child(&self, rest: &str) -> String {
        shown_beneath(&self.shown, rest)
    }

    /// Whether the path was empty, which never names a destination.
    pub(super) fn is_base(&self) -> bool {
        self.is_base
    }

    /// Whether the spelling of the path lets this kind be there.
    pub(super) fn allows(&self, kind: EntryKind) -> bool {
        !self.needs_directory || kind == EntryKind::Directory
    }

    /// The entry again, if the spelling of the path lets it be what it is.
    pub(super) fn fitting(&self, entry: Entry) -> Result<Entry> {
        if self.allows(entry.kind) {
            return Ok(entry);
        }
        Err(Error::new(ErrorKind::NotADirectory, "path ends in a slash but is not a directory")
            .on(&self.path))
    }

    /// Looks whether what is there fits the spelling of the path, if that is in question. It is
    /// refused only by what is there now.
    pub(super) async fn check(&self, app: &Visit, links: Links) -> Result<()> {
        if !self.needs_directory || self.look(app, links).await.is_ok() {
            return Ok(());
        }
        app.workspace.refresh().await?;
        self.look(app, links).await
    }

    async fn look(&self, app: &Visit, links: Links) -> Result<()> {
        let entry = app.workspace.stat(&self.path, links).await?;
        self.fitting(entry).map(drop)
    }

    /// Refuses a path that can only mean a directory where a file is wanted.
    pub(super) fn must_be_file(&self) -> Result<()> {
        if self.allows(EntryKind::File) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotAFile, "path ends in a slash").on(&self.path))
    }
}

fn absolute(sandbox: &Sandbox, raw: &str) -> Result<Place> {
    let path = sandbox.locate(raw)?;
    let ends_in_slash = ["/", "/.", "/.."].iter().any(|end| raw.ends_with(end));
    // The root is a directory however it is spelled.
    let needs_directory = ends_in_slash && !path.is_root();
    Ok(Place { path, shown: raw.to_owned(), needs_directory, is_base: false })
}

fn relative(sandbox: &Sandbox, base: &SandboxPath, cleaned: &str) -> Result<Place> {
    let shown = shown_beneath(&sandbox.outward(base), cleaned);
    let path = base.resolve(cleaned, DotDot::Refuse)?;
    Ok(Place { path, shown, needs_directory: false, is_base: cleaned.is_empty() })
}

/// The path that a text means, and how it is shown.
#[cfg(fuzzing)]
pub(crate) fn meant(sandbox: &Sandbox, raw: &str) -> Option<(SandboxPath, String)> {
    let place = match raw.starts_with('/') {
        true => absolute(sandbox, raw),
        false => relative(sandbox, &sandbox.home, &cleaned(raw)?),
    };
    place.ok().map(|Place { path, shown, .. }| (path, shown))
}

/// A relative path without its empty and `.` segments; none if it has a `..`.
fn cleaned(raw: &str) -> Option<String> {
    let segments: Vec<&str> =
        raw.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    (!segments.contains(&"..")).then(|| segments.join("/"))
}

/// `rest` beneath a directory, which keeps a slash at its end when there is no rest.
fn shown_beneath(dir: &str, rest: &str) -> String {
    if dir.ends_with('/') { format!("{dir}{rest}") } else { format!("{dir}/{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_loses_dots_and_slashes() {
        assert_eq!(cleaned("./a//b/./c/").as_deref(), Some("a/b/c"));
        assert_eq!(cleaned(".").as_deref(), Some(""));
        assert_eq!(cleaned("a/..").as_deref(), None);
        assert_eq!(cleaned("..a/...").as_deref(), Some("..a/..."));
    }

    #[test]
    fn the_base_itself_is_shown_with_a_slash() {
        assert_eq!(shown_beneath("/home/u", ""), "/home/u/");
        assert_eq!(shown_beneath("/", ""), "/");
        assert_eq!(shown_beneath("/", "a"), "/a");
        assert_eq!(shown_beneath("/home/u/", "a"), "/home/u/a");
    }
}

//! What went wrong, and what to do next.

use std::time::Duration;

use engine::{Error, ErrorKind, Page, SandboxPath};
use futures::TryStreamExt as _;
use tokio::time::{Instant, timeout_at};

use crate::call::Call;
use crate::outcome::{Metadata, ToolResult};
use crate::tool::ToolEntry;

/// How many names of a directory are looked at for one that is like the one that is missing.
const MOST_NAMES: usize = 2000;
/// How many letters are compared with letters at most: nobody else runs meanwhile.
const MOST_COMPARED: usize = 4 << 20;
/// How many such names are told.
const MOST_SUGGESTIONS: usize = 3;
/// How long they are looked for.
const PATIENCE: Duration = Duration::from_secs(1);
/// How much of a wrong argument is repeated, in bytes.
const MOST_REPEATED: usize = 500;
/// How alike a name must be, from 0 to 1.
const ALIKE: f64 = 0.75;

/// A call that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    error: Error,
    /// What to do next, where the kind of failure does not say enough.
    hint: Option<String>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, hint: None }
    }
}

impl Failure {
    /// A failure with advice of its own.
    pub(crate) fn with_hint(error: Error, hint: impl Into<String>) -> Self {
        Self { error, hint: Some(hint.into()) }
    }

    /// The same, if the error is of this kind; others get the usual advice.
    pub(crate) fn hinting(error: Error, kind: ErrorKind, hint: &'static str) -> Self {
        let hint = (error.kind() == kind).then(|| hint.to_owned());
        Self { error, hint }
    }

    /// A change where nothing may be changed, whoever asks.
    pub(crate) fn read_only(tool: &str) -> Self {
        let message = format!("`{tool}` changes files, and here they can only be looked at");
        let hint = "use a tool that only looks, such as read_file, list_directory or search";
        Self::with_hint(Error::new(ErrorKind::Forbidden, message), hint)
    }

    /// Arguments that contradict the schema.
    pub(crate) fn bad_arguments<E: std::fmt::Display>(
        err: &serde_path_to_error::Error<E>,
        tool: &str,
    ) -> Self {
        // Both repeat what was sent, which may be as long as a file.
        let (place, what) = (shortened(err.path().to_string()), shortened(err.inner().to_string()));
        let message = match place.as_str() {
            "." | "" => what,
            place => format!("`{place}`: {what}"),
        };
        let hint = format!("call `{tool}` with arguments that fit its schema");
        Self::with_hint(Error::new(ErrorKind::InvalidArgument, message), hint)
    }

    /// Arguments that have no names.
    pub(crate) fn no_object(tool: &str) -> Self {
        let message = "the arguments must be an object";
        let hint = format!("call `{tool}` with arguments that fit its schema");
        Self::with_hint(Error::new(ErrorKind::InvalidArgument, message), hint)
    }

    /// A result that cannot be written as JSON.
    pub(crate) fn unspeakable(err: &serde_json::Error) -> Self {
        let message = "the result cannot be written down";
        Error::new(ErrorKind::Io, message).because(err.to_string()).into()
    }

    pub(crate) fn error(&self) -> &Error {
        &self.error
    }

    /// The result that it is, by the time at which the call must end. It names no path of the host
    /// and no words of the machine: the engine's errors hold neither.
    pub(crate) async fn explain(
        self,
        call: &Call,
        tool: &ToolEntry,
        until: Instant,
        metadata: Metadata,
    ) -> ToolResult {
        let Self { error, hint: own } = self;
        let kind = error.kind();
        let suggestions = match error.path() {
            Some(path) if kind == ErrorKind::NotFound => {
                let enough = until.min(Instant::now() + PATIENCE);
                timeout_at(enough, near_names(call, path)).await.unwrap_or_default()
            }
            Some(_) | None => Vec::new(),
        };
        let path = error.path().map(|path| call.shown(path));
        let said = match &path {
            Some(path) => format!("{}: {path}", error.message()),
            None => error.message().to_owned(),
        };
        let hint = match (suggestions.as_slice(), own) {
            ([], Some(own)) => own,
            ([], None) => hint_here(kind, call),
            (names, _) => format!("did you mean {}?", names.join(", or ")),
        };
        let told = format!("{said} ({hint})");
        let metadata = Metadata {
            kind: Some(kind.word().to_owned()),
            path,
            hint: Some(hint),
            suggestions,
            retryable: Some(is_passing(kind, tool)),
            ..metadata
        };
        ToolResult {
            success: false,
            data: None,
            text: told.clone(),
            error: Some(told),
            metadata,
            kind: Some(kind),
        }
    }
}

fn shortened(mut text: String) -> String {
    if text.len() > MOST_REPEATED {
        text.truncate(text.floor_char_boundary(MOST_REPEATED));
        text.push('…');
    }
    text
}

/// Names beside the one that is missing, the most alike first. Where the directory itself is
/// missing, names like that of the first one on the way that is.
async fn near_names(call: &Call, path: &SandboxPath) -> Vec<String> {
    let mut missing = path.clone();
    while let Some(parent) = missing.parent() {
        let names = match call.to_look(&parent) {
            Ok(held) => held.list(&parent, Page { after: None, limit: Some(MOST_NAMES) }).await,
            Err(err) => Err(err),
        };
        match names {
            Ok(entries) => {
                let wanted = missing.name().to_lowercase();
                let found: Vec<SandboxPath> =
                    entries.map_ok(|entry| entry.path).try_collect().await.unwrap_or_default();
                // It is there: something else is missing.
                if found.contains(&missing) {
                    return Vec::new();
                }
                return alike(&wanted, &found).map(|path| call.shown(path)).collect();
            }
            Err(err) if err.kind() == ErrorKind::NotFound => missing = parent,
            Err(_) => return Vec::new(),
        }
    }
    Vec::new()
}

fn alike<'a>(wanted: &str, found: &'a [SandboxPath]) -> impl Iterator<Item = &'a SandboxPath> {
    let mut scored: Vec<(f64, &SandboxPath)> = Vec::new();
    let mut compared = 0;
    for path in found {
        let name = path.name().to_lowercase();
        compared += wanted.len() * name.len();
        if compared > MOST_COMPARED {
            break;
        }
        let score = strsim::jaro_winkler(wanted, &name)
            .max(strsim::normalized_damerau_levenshtein(wanted, &name));
        if score >= ALIKE {
            scored.push((score, path));
        }
    }
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.into_iter().take(MOST_SUGGESTIONS).map(|(_, path)| path)
}

/// Whether the same call may succeed later, and may be made again without a look.
fn is_passing(kind: ErrorKind, tool: &ToolEntry) -> bool {
    if kind == ErrorKind::Timeout {
        // It may have been done at the last moment, and must not be done twice then.
        return tool.may_be_repeated();
    }
    matches!(
        kind,
        ErrorKind::Busy
            | ErrorKind::Locked
            | ErrorKind::Unavailable
            | ErrorKind::SandboxUnavailable
    )
}

fn hint_here(kind: ErrorKind, call: &Call) -> String {
    let allowed = &call.settings.allowed_paths;
    if kind == ErrorKind::OutsideSandbox && !allowed.is_empty() {
        let names: Vec<String> = allowed.iter().take(10).map(|path| call.shown(path)).collect();
        return format!("use a path beneath {}", names.join(" or "));
    }
    hint(kind).to_owned()
}

/// What to do after a failure of a kind.
pub fn hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "call list_directory on its parent to see what is there",
        ErrorKind::NotADirectory => "call file_info to see what it is",
        ErrorKind::IsADirectory => "call list_directory to see what is in it",
        ErrorKind::NotAFile => "only regular files can be read and written",
        ErrorKind::AlreadyExists => "choose another name, or delete what is there first",
        ErrorKind::DirectoryNotEmpty => "set `recursive` to delete everything in it",
        ErrorKind::InvalidPath => {
            "a name has at most 255 bytes, a path at most 4096, and neither holds a NUL"
        }
        ErrorKind::InvalidArgument => "change the arguments; the same call will fail again",
        ErrorKind::OutsideSandbox => "use a path inside the sandbox",
        ErrorKind::PermissionDenied => "the file's permissions do not allow it; use another file",
        ErrorKind::Forbidden => "this needs a key that may do more",
        ErrorKind::ReadOnly => "nothing can be changed there; write to another directory",
        ErrorKind::TooManyLinks => "the links lead to each other; delete one of them",
        ErrorKind::FileTooLarge => "use a smaller file, or read a part of it",
        ErrorKind::StorageFull => "delete something first",
        ErrorKind::TooManyNodes => "delete some files or directories first",
        ErrorKind::PreconditionFailed => "it changed meanwhile; read it again and decide anew",
        ErrorKind::RangeNotSatisfiable => "call file_info to see how long the file is",
        ErrorKind::Busy => "call again in a second",
        ErrorKind::Locked => "another process holds the file; call again later",
        ErrorKind::BadArchive => "send a whole archive",
        ErrorKind::LimitExceeded => "ask for less at once",
        ErrorKind::BrokenBody => "call again with the whole content",
        ErrorKind::Timeout => "ask for less at once, or allow more time; nothing is half done",
        ErrorKind::Unsupported => "this sandbox cannot do that",
        ErrorKind::Unavailable => "the sandbox is away for now; call again later",
        ErrorKind::SandboxUnavailable => "its container does not run; call again when it does",
        ErrorKind::InDoubt => "look whether it happened before you repeat it",
        ErrorKind::SandboxNotFound => "name a sandbox that exists",
        ErrorKind::SessionNotFound => "open the session first",
        ErrorKind::SessionExists => "use the session as it is, or choose another id",
        ErrorKind::Io => "the server's log says more",
    }
}

#[cfg(test)]
mod tests {
    use engine::DotDot;

    use super::*;

    #[test]
    fn long_names_are_compared_only_as_long_as_nobody_waits() {
        let path = |name: &str| SandboxPath::parse(&format!("/{name}"), DotDot::Refuse).unwrap();
        let long = "x".repeat(250);
        let mut found = vec![path(&"y".repeat(250)); 2000];
        found.push(path(&long));
        assert_eq!(alike(&long, &found).count(), 0);
        found.insert(0, path(&long));
        assert_eq!(alike(&long, &found).count(), 1);
    }
}

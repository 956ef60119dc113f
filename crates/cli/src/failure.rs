//! How the program fails: in words, with the next thing to do, and with an exit code.

use std::fmt;
use std::io;
use std::process::ExitCode;

use engine::ErrorKind;
use serde::Serialize;

use crate::render::{harmless, shown};

/// An error and the next thing to do.
#[derive(Debug)]
pub(crate) struct Hinted {
    hint: String,
    error: anyhow::Error,
}

/// Nobody reads stdout any more, which ends the program without a word.
#[derive(Debug)]
pub(crate) struct NobodyReads;

/// How a failure is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// For people.
    Words,
    /// One JSON object.
    Json,
}

/// Adds the next thing to do to an error.
pub(crate) trait OrHint<T> {
    /// The same result; an error carries the hint.
    fn or_hint(self, hint: impl FnOnce() -> String) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrHint<T> for Result<T, E> {
    fn or_hint(self, hint: impl FnOnce() -> String) -> anyhow::Result<T> {
        self.map_err(|err| Hinted { hint: hint(), error: err.into() }.into())
    }
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl std::error::Error for Hinted {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl fmt::Display for NobodyReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads the output")
    }
}

impl std::error::Error for NobodyReads {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorJson<'a> {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    exit_code: u8,
}

/// Says on stderr what went wrong. The exit code of the program.
#[expect(clippy::print_stderr, reason = "this is where the program speaks of failure")]
pub(crate) fn report(err: &anyhow::Error, style: Style) -> ExitCode {
    if err.is::<NobodyReads>() {
        return ExitCode::SUCCESS;
    }
    if let Some(misuse) = err.downcast_ref::<clap::Error>() {
        // A stderr that nobody reads changes nothing about the outcome.
        misuse.print().ok();
        return ExitCode::from(2);
    }
    let hinted = err.downcast_ref::<Hinted>();
    let (cause, hint) = match hinted {
        Some(Hinted { hint, error }) => (error, Some(hint.as_str())),
        None => (err, None),
    };
    let engine = cause.downcast_ref::<engine::Error>();
    let exit_code = exit_code(cause);
    let message = message(cause);
    match style {
        Style::Words => {
            eprintln!("error: {}", shown(&message));
            hint.into_iter().for_each(|hint| eprintln!("hint: {}", harmless(hint)));
        }
        Style::Json => {
            let kind = engine.map(|err| err.kind().word());
            let path = engine.and_then(|err| err.path()).map(engine::SandboxPath::as_str);
            let line = ErrorJson { error: message, kind, path, hint, exit_code };
            eprintln!("{}", serde_json::to_string(&line).unwrap_or_default());
        }
    }
    exit_code.into()
}

/// What went wrong, from the outermost context inwards. The cause behind an engine error is for a
/// server's log; its own words are enough here.
fn message(err: &anyhow::Error) -> String {
    let mut words = Vec::new();
    for cause in err.chain() {
        words.push(cause.to_string());
        if cause.is::<engine::Error>() {
            break;
        }
    }
    words.join(": ")
}

fn exit_code(err: &anyhow::Error) -> u8 {
    let cause = err.chain().find_map(|cause| {
        let engine = cause.downcast_ref::<engine::Error>().map(|err| code_of(err.kind()));
        engine.or_else(|| cause.downcast_ref::<io::Error>().map(|err| code_of_io(err.kind())))
    });
    cause.unwrap_or(1)
}

/// The exit code of each kind; the table in `sandkeep fs --help` is this one.
fn code_of(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidPath | ErrorKind::InvalidArgument => 2,
        ErrorKind::NotFound | ErrorKind::SandboxNotFound | ErrorKind::SessionNotFound => 3,
        ErrorKind::OutsideSandbox
        | ErrorKind::PermissionDenied
        | ErrorKind::Forbidden
        | ErrorKind::ReadOnly => 4,
        ErrorKind::AlreadyExists
        | ErrorKind::DirectoryNotEmpty
        | ErrorKind::PreconditionFailed
        | ErrorKind::Locked
        | ErrorKind::SessionExists => 5,
        ErrorKind::Unavailable | ErrorKind::SandboxUnavailable | ErrorKind::Busy => 6,
        ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::NotAFile
        | ErrorKind::TooManyLinks
        | ErrorKind::FileTooLarge
        | ErrorKind::StorageFull
        | ErrorKind::TooManyNodes
        | ErrorKind::RangeNotSatisfiable
        | ErrorKind::BadArchive
        | ErrorKind::LimitExceeded
        | ErrorKind::BrokenBody
        | ErrorKind::Timeout
        | ErrorKind::InDoubt
        | ErrorKind::Unsupported
        | ErrorKind::Io => 1,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most of these many kinds are just failures")]
fn code_of_io(kind: io::ErrorKind) -> u8 {
    match kind {
        io::ErrorKind::NotFound => 3,
        io::ErrorKind::PermissionDenied => 4,
        io::ErrorKind::AlreadyExists => 5,
        _ => 1,
    }
}

//! The next thing to do after a failure, as a command where there is one.

use anyhow::Error;
use engine::{ErrorKind, SandboxPath};

use crate::command_line::{ConnectionFlags, FilesCommand};
use crate::remote;
use crate::render::quoted;

/// What to do next, if there is something to say.
pub(super) fn next(
    err: &Error,
    command: &FilesCommand,
    connection: &ConnectionFlags,
) -> Option<String> {
    let err = err.downcast_ref::<engine::Error>()?;
    let fs = |words: &str| format!("{}{words}", program(connection));
    let path = err.path().map_or("PATH".into(), |path| quoted(path.as_str()));
    match err.kind() {
        ErrorKind::NotFound => {
            let parent = err.path().and_then(SandboxPath::parent);
            let parent = parent.map_or("/".into(), |parent| quoted(parent.as_str()));
            Some(format!("see what is there: {}", fs(&format!("list {parent}"))))
        }
        ErrorKind::DirectoryNotEmpty if matches!(command, FilesCommand::Delete(_)) => {
            Some(format!("delete all of it: {}", fs(&format!("delete -r {path}"))))
        }
        ErrorKind::AlreadyExists
            if matches!(command, FilesCommand::Move(_) | FilesCommand::Copy(_)) =>
        {
            Some("replace it with --overwrite".into())
        }
        ErrorKind::AlreadyExists if matches!(command, FilesCommand::Write(_)) => {
            Some("leave out --create-new to replace it".into())
        }
        ErrorKind::IsADirectory | ErrorKind::DirectoryNotEmpty => {
            Some(format!("see what is in it: {}", fs(&format!("list {path}"))))
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            Some(format!("see what it is: {}", fs(&format!("stat {path}"))))
        }
        ErrorKind::PreconditionFailed | ErrorKind::InDoubt => {
            Some(format!("see its version now: {}", fs(&format!("stat {path}"))))
        }
        ErrorKind::RangeNotSatisfiable => {
            Some(format!("see how long it is: {}", fs(&format!("stat {path}"))))
        }
        ErrorKind::Forbidden => Some(remote::forbidden(err)),
        ErrorKind::SandboxNotFound => Some(remote::which_sandboxes(&connection.endpoint)),
        ErrorKind::SessionNotFound => Some("leave out --session-id, or open the session".into()),
        ErrorKind::SandboxUnavailable => Some("start its container".into()),
        // An answer names a path; where there is none, there was no answer.
        ErrorKind::Unavailable if err.path().is_none() => Some(unreachable(connection)),
        ErrorKind::Busy | ErrorKind::Locked | ErrorKind::Timeout => Some("try again".into()),
        ErrorKind::StorageFull | ErrorKind::TooManyNodes => {
            Some(format!("make room: {}", fs("delete -r PATH")))
        }
        ErrorKind::OutsideSandbox if connection.place().is_none() => {
            Some("see where the sandbox lies: ".to_owned() + &fs("stat ."))
        }
        ErrorKind::NotAFile
        | ErrorKind::Unavailable
        | ErrorKind::InvalidPath
        | ErrorKind::InvalidArgument
        | ErrorKind::OutsideSandbox
        | ErrorKind::PermissionDenied
        | ErrorKind::ReadOnly
        | ErrorKind::TooManyLinks
        | ErrorKind::FileTooLarge
        | ErrorKind::BadArchive
        | ErrorKind::LimitExceeded
        | ErrorKind::BrokenBody
        | ErrorKind::Unsupported
        | ErrorKind::SessionExists
        | ErrorKind::Io => advice(err, command, connection),
    }
}

/// What the server advises, where the command itself has no better idea.
fn advice(
    err: &engine::Error,
    command: &FilesCommand,
    connection: &ConnectionFlags,
) -> Option<String> {
    if err.kind() == ErrorKind::ReadOnly && connection.at.is_some() {
        return Some("leave out --at to change the tree as it is now".into());
    }
    let strict = matches!(command, FilesCommand::Download(flags) if flags.strict);
    if strict && err.kind() == ErrorKind::BadArchive {
        return Some("leave out --strict to fetch everything else".into());
    }
    client::hint(err).map(str::to_owned)
}

/// The beginning of a command on the same tree.
fn program(connection: &ConnectionFlags) -> String {
    let at = connection.at.as_ref().map_or_else(String::new, |id| format!("--at {id} "));
    match connection.place() {
        Some(place) => format!("sandkeep fs {} {at}", place.words()),
        None => {
            let sandbox = connection.sandbox_of_server();
            let sandbox = sandbox.map_or_else(String::new, |id| format!("--sandbox {id} "));
            format!("sandkeep fs {}{sandbox}{at}", remote::words(&connection.endpoint))
        }
    }
}

fn unreachable(connection: &ConnectionFlags) -> String {
    match connection.place() {
        Some(_) => "try again".into(),
        None => remote::unreachable(&connection.endpoint, Some("--dir DIR")),
    }
}

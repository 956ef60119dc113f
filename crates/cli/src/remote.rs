//! What to do next when a server cannot or does not want to.

use anyhow::Result;
use engine::{Error, ErrorKind};

use crate::command_line::DEFAULT_ENDPOINT;
use crate::failure::OrHint as _;
use crate::render::quoted;

/// The same outcome; a failure says what to do about it, if there is something to say. `local` are
/// flags that work without a server, if any do.
pub(crate) fn advised(done: Result<()>, endpoint: &str, local: Option<&str>) -> Result<()> {
    let Err(err) = done else { return Ok(()) };
    let hint = err.downcast_ref::<Error>().and_then(|err| next(err, endpoint, local));
    match hint {
        Some(hint) => Err(err).or_hint(|| hint),
        None => Err(err),
    }
}

fn next(err: &Error, endpoint: &str, local: Option<&str>) -> Option<String> {
    let kind = err.kind();
    if kind == ErrorKind::Forbidden {
        return Some(forbidden(err));
    }
    if kind == ErrorKind::SandboxNotFound {
        return Some(which_sandboxes(endpoint));
    }
    if kind == ErrorKind::AlreadyExists {
        return Some("choose another name".into());
    }
    if kind == ErrorKind::Unavailable {
        return Some(unreachable(endpoint, local));
    }
    // What is missing or wrong here are no paths, of which the server's own advice speaks.
    let is_ours = [ErrorKind::NotFound, ErrorKind::InvalidArgument].contains(&kind);
    client::hint(err).filter(|_| !is_ours).map(str::to_owned)
}

/// The flags that mean this server, followed by a space; none if it is the usual one.
pub(crate) fn words(endpoint: &str) -> String {
    match endpoint {
        DEFAULT_ENDPOINT => String::new(),
        other => format!("--endpoint {} ", quoted(other)),
    }
}

/// What to do where nobody listens. `local` are flags that work without a server, if any do.
pub(crate) fn unreachable(endpoint: &str, local: Option<&str>) -> String {
    match (endpoint, local) {
        (DEFAULT_ENDPOINT, Some(local)) => {
            format!("start a server with `sandkeep serve DIR`, or work without one with {local}")
        }
        (DEFAULT_ENDPOINT, None) => {
            "start a server with `sandkeep serve DIR`, or name one with --endpoint URL".into()
        }
        (other, _) => format!("check that a server listens at {other}"),
    }
}

/// What to do about a token that is wrong, or a key that allows too little.
pub(crate) fn forbidden(err: &Error) -> String {
    // A server that knows who asks says what he lacks; one that does not has no more to say.
    match client::hint(err) {
        Some(hint) if !client::is_stranger(err) => {
            format!("{hint}: --token KEY, or SANDKEEP_TOKEN")
        }
        Some(_) | None => "give the server's token with --token or SANDKEEP_TOKEN".into(),
    }
}

/// How to see which sandboxes a server has.
pub(crate) fn which_sandboxes(endpoint: &str) -> String {
    format!("see which there are: sandkeep sandbox list {}", words(endpoint)).trim_end().to_owned()
}

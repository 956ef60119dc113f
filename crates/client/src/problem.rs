//! Answers that say what went wrong, as errors of the engine.

use bytes::BytesMut;
use engine::{DotDot, Error, ErrorKind, SandboxPath};
use http::StatusCode;
use reqwest::Response;
use serde::Deserialize;

use crate::hint::Hint;

/// Far more than a problem needs.
const LONGEST: usize = 64 << 10;

/// The error that an answer reports.
pub(crate) async fn explain(mut answer: Response) -> Error {
    let status = answer.status();
    let mut body = BytesMut::new();
    // An answer that breaks off still has a status, which says enough.
    while let Ok(Some(piece)) = answer.chunk().await {
        if body.len() + piece.len() > LONGEST {
            break;
        }
        body.extend_from_slice(&piece);
    }
    let problem = serde_json::from_slice(&body).unwrap_or_default();
    error(status, problem)
}

/// What went wrong, as either interface says it: problem details (RFC 9457) with a kind and a hint,
/// or an `error` with them and with the path it ends with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    r#type: String,
    detail: String,
    error: Option<String>,
    kind: Option<String>,
    path: Option<String>,
    hint: Option<String>,
}

fn error(status: StatusCode, problem: Problem) -> Error {
    let told = problem.kind.as_deref().and_then(ErrorKind::from_word);
    let kind = told.unwrap_or_else(|| guess(status, &problem));
    let (message, path) = split(&problem);
    let message = match message {
        "" => format!("the server answers {status}"),
        message => message.to_owned(),
    };
    let mut err = Error::new(kind, message);
    if let Some(path) = path {
        err = err.on(&path);
    }
    match problem.hint.or_else(|| advice(status)) {
        Some(hint) if status == StatusCode::UNAUTHORIZED => {
            err.because(Hint::new(hint).for_stranger())
        }
        Some(hint) => err.because(Hint::new(hint)),
        None => err,
    }
}

/// The message without its path, and the path.
fn split(problem: &Problem) -> (&str, Option<SandboxPath>) {
    let Some(error) = problem.error.as_deref() else { return split_detail(problem) };
    let parted = problem.path.as_deref().and_then(|text| {
        let path = SandboxPath::parse(text, DotDot::Refuse).ok()?;
        Some((error.strip_suffix(text)?.strip_suffix(": ")?, Some(path)))
    });
    parted.unwrap_or((error, None))
}

/// The detail without the words of its type before it and without the path behind it.
fn split_detail(problem: &Problem) -> (&str, Option<SandboxPath>) {
    let word = problem.r#type.rsplit(':').next().unwrap_or_default();
    let lead = format!("{}: ", word.replace('_', " "));
    // Of a session, the words of the type are the whole message.
    let lead = if word.starts_with("session_") { "" } else { &lead };
    let detail = problem.detail.strip_prefix(lead).unwrap_or(&problem.detail);
    // No message holds these three characters, but a path may: the first are the border.
    let border = detail.find(": /");
    let split = border.and_then(|at| detail.split_at_checked(at));
    let parted = split.and_then(|(message, rest)| {
        let path = SandboxPath::parse(rest.strip_prefix(": ")?, DotDot::Clamp).ok()?;
        Some((message, Some(path)))
    });
    parted.unwrap_or((detail, None))
}

/// The kind of a failure that names none, as other servers of this interface answer.
fn guess(status: StatusCode, problem: &Problem) -> ErrorKind {
    let says = |phrase| problem.detail.contains(phrase);
    match status {
        _ if problem.r#type.ends_with("session_not_found") => ErrorKind::SessionNotFound,
        _ if says("path not found") => ErrorKind::NotFound,
        _ if says("path is not a file") => ErrorKind::IsADirectory,
        _ if says("path is not a directory") => ErrorKind::NotADirectory,
        _ if says("destination already exists") => ErrorKind::AlreadyExists,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ErrorKind::Forbidden,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => {
            ErrorKind::Unsupported
        }
        StatusCode::PRECONDITION_FAILED => ErrorKind::PreconditionFailed,
        StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::FileTooLarge,
        StatusCode::RANGE_NOT_SATISFIABLE => ErrorKind::RangeNotSatisfiable,
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => ErrorKind::Timeout,
        StatusCode::TOO_MANY_REQUESTS => ErrorKind::Busy,
        StatusCode::SERVICE_UNAVAILABLE => ErrorKind::Unavailable,
        StatusCode::INSUFFICIENT_STORAGE => ErrorKind::StorageFull,
        status if status.is_client_error() => ErrorKind::InvalidArgument,
        _ => ErrorKind::Io,
    }
}

fn advice(status: StatusCode) -> Option<String> {
    let advice = match status {
        StatusCode::UNAUTHORIZED => "give the token that the server printed when it started",
        StatusCode::NOT_FOUND => "is the endpoint the address of a Sandkeep server?",
        status if status.is_redirection() => "redirects are not followed; use the final address",
        _ => return None,
    };
    Some(advice.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hint, is_stranger};

    fn read(status: u16, body: &str) -> Error {
        let problem = serde_json::from_str(body).unwrap_or_default();
        error(StatusCode::from_u16(status).unwrap(), problem)
    }

    #[test]
    fn a_problem_is_the_error_it_was() {
        let err = read(
            400,
            r#"{"type":"urn:sandbox-agent:error:invalid_request","title":"Invalid Request",
                "status":400,"detail":"invalid request: path not found: /home/u/x: /y",
                "kind":"not_found","hint":"list the parent directory"}"#,
        );
        assert_eq!(err.kind(), ErrorKind::NotFound);
        assert_eq!(err.message(), "path not found");
        assert_eq!(err.path().unwrap().as_str(), "/home/u/x: /y");
        assert_eq!(hint(&err), Some("list the parent directory"));
    }

    #[test]
    fn an_error_with_a_path_is_the_error_it_was() {
        let err = read(
            404,
            r#"{"error":"path not found: a: b/c","kind":"not_found","path":"a: b/c",
                "hint":"list the parent directory"}"#,
        );
        assert_eq!((err.kind(), err.message()), (ErrorKind::NotFound, "path not found"));
        assert_eq!(err.path().unwrap().as_str(), "/a: b/c");
        assert_eq!(hint(&err), Some("list the parent directory"));
        let err =
            read(409, r#"{"error":"there is one already: .","kind":"already_exists","path":"."}"#);
        assert!(err.path().unwrap().is_root());
    }

    #[test]
    fn an_error_without_a_path_stands_as_it_is() {
        let err = read(404, r#"{"error":"sandbox: not found","kind":"sandbox_not_found"}"#);
        assert_eq!(err.kind(), ErrorKind::SandboxNotFound);
        assert_eq!((err.message(), err.path()), ("sandbox: not found", None));
    }

    #[test]
    fn a_missing_session_is_named_whole() {
        let err = read(
            404,
            r#"{"type":"urn:sandbox-agent:error:session_not_found",
                "detail":"session not found: no","kind":"session_not_found"}"#,
        );
        assert_eq!(err.message(), "session not found: no");
    }

    #[test]
    fn the_words_of_every_type_are_taken_off() {
        let err = read(
            412,
            r#"{"type":"urn:sandbox-agent:error:stream_error",
                "detail":"stream error: the file has changed","kind":"precondition_failed"}"#,
        );
        assert_eq!(err.kind(), ErrorKind::PreconditionFailed);
        assert_eq!(err.to_string(), "the file has changed");
    }

    #[test]
    fn a_wrong_token_is_forbidden_and_says_what_to_do() {
        let err = read(
            401,
            r#"{"type":"urn:sandbox-agent:error:token_invalid","detail":"token invalid"}"#,
        );
        assert_eq!(err.kind(), ErrorKind::Forbidden);
        assert!(hint(&err).unwrap().contains("token"));
        assert!(is_stranger(&err));
    }

    #[test]
    fn who_is_known_and_may_not_is_no_stranger_whatever_the_words_are() {
        let err = read(403, r#"{"error":"no","kind":"forbidden","hint":"token, role, key"}"#);
        assert_eq!(err.kind(), ErrorKind::Forbidden);
        assert!(!is_stranger(&err));
    }

    #[test]
    fn a_problem_without_a_kind_is_known_by_its_words() {
        let err = read(
            400,
            r#"{"type":"urn:sandbox-agent:error:invalid_request",
                "detail":"invalid request: path is not a directory: /file"}"#,
        );
        assert_eq!(err.kind(), ErrorKind::NotADirectory);
    }

    #[test]
    fn an_answer_that_is_no_problem_still_tells_its_status() {
        let err = read(502, "<html>bad gateway</html>");
        assert_eq!(err.kind(), ErrorKind::Io);
        assert!(err.message().contains("502"));
        let err = read(301, "");
        assert!(hint(&err).unwrap().contains("redirects"));
    }
}

//! Problems in the words of JSON-RPC: the same object that HTTP would answer, as data.

use http::StatusCode;

use crate::jsonrpc::{Failure, Reply};
use crate::problem::Problem;
#[cfg(test)]
use crate::problem::ProblemDetails;

/// What was asked for is not there.
const NOT_FOUND: i64 = -32002;
/// It was understood, and not done.
const REFUSED: i64 = -32001;

/// The failure that a problem is.
pub(super) fn failure(problem: &Problem) -> Failure {
    let details = problem.details();
    Failure::new(code(details.status), details.detail.clone())
        .with_data(serde_json::to_value(details).unwrap_or_default())
}

fn code(status: u16) -> i64 {
    match status {
        400 | 413 | 415 | 422 => Failure::INVALID_PARAMS,
        404 => NOT_FOUND,
        500 => Failure::INTERNAL,
        _ => REFUSED,
    }
}

/// An answer to what is no message, with a problem as data as everything else has.
pub(super) fn with_problem(reply: Reply) -> Reply {
    reply.explained(|failure| {
        let hint = match failure.code {
            Failure::PARSE => "send one JSON value in UTF-8",
            _ => "send an object with jsonrpc \"2.0\", a method and an id, or an array of them",
        };
        let problem = Problem::unreadable(StatusCode::BAD_REQUEST, failure.message.clone());
        let data = serde_json::to_value(problem.hint(hint).details()).unwrap_or_default();
        failure.with_data(data)
    })
}

/// The failure of a method that nobody knows.
pub(super) fn unknown_method(name: &str) -> Failure {
    // A name may be as long as a message.
    let shown: String = name.chars().take(100).collect();
    let failure = Failure::method_not_found(&shown);
    let problem = Problem::unreadable(StatusCode::NOT_FOUND, failure.message.clone())
        .kind("unsupported")
        .hint("the answer to initialize names the methods that there are");
    failure.with_data(serde_json::to_value(problem.details()).unwrap_or_default())
}

/// What of this face is in no other table.
#[cfg(test)]
pub(in crate::faces) fn table() -> String {
    use std::fmt::Write as _;

    use super::{base64_text, connections, greeting, prompt, transport};

    let mut text = String::from(
        "
## /v2

Over HTTP as `/v1/fs`, and beyond that the kinds below. A method that fails is answered with 200 and a JSON-RPC error whose `data` is the \
problem: its code is -32602 for 400, 413, 415 and 422, -32002 for 404, -32603 for 500, and -32001 for the \
others. What is no JSON is -32700, what is no message -32600, and a method that is not there -32601.

| kind | status | type | title | hint |
|---|---|---|---|---|
",
    );
    let problems = [
        greeting::agent("…").unwrap_err(),
        connections::unknown(),
        connections::too_many("…"),
        transport::already_active(),
        prompt::ended("…"),
        super::agents::errors::not_installed("…"),
        prompt::too_slow(),
        base64_text::too_large("…"),
    ];
    for problem in problems {
        let ProblemDetails { r#type, title, status, kind, hint, .. } = problem.details();
        let word = r#type.trim_start_matches("urn:sandbox-agent:error:");
        let [kind, hint] = [kind, hint].map(|text| text.as_deref().unwrap());
        writeln!(text, "| `{kind}` | {status} | `{word}` | {title} | {hint} |").unwrap();
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::problem::Class;

    #[test]
    fn a_failure_carries_the_problem() {
        let problem = Problem::invalid_request("path not found: /a").hint("look");
        let failure = failure(&problem);
        assert_eq!(failure.code, Failure::INVALID_PARAMS);
        assert_eq!(failure.message, "invalid request: path not found: /a");
        let data = failure.data.unwrap();
        assert_eq!((&data["status"], &data["hint"]), (&json!(400), &json!("look")));
        assert_eq!(data["type"], "urn:sandbox-agent:error:invalid_request");
    }

    #[test]
    fn codes_tell_what_kind_of_failure_it_is() {
        let of = |status: StatusCode| failure(&Problem::plain(status, Class::CONFLICT, "x")).code;
        assert_eq!(of(StatusCode::NOT_FOUND), NOT_FOUND);
        assert_eq!(of(StatusCode::CONFLICT), REFUSED);
        assert_eq!(of(StatusCode::FORBIDDEN), REFUSED);
        assert_eq!(of(StatusCode::INTERNAL_SERVER_ERROR), Failure::INTERNAL);
    }
}

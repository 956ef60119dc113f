//! JSON-RPC 2.0 without a method: what a client sends is taken apart here, and what it is answered
//! is put together.

mod message;
mod reply;

use serde_json::Value;

pub(crate) use message::{Call, Id, Message};
pub(crate) use reply::{Failure, Reply};

/// How many members a batch may have.
pub(crate) const MOST_MEMBERS: usize = 64;

/// What one body holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Incoming {
    /// A message by itself.
    One(Message),
    /// A batch, of at least one and at most [`MOST_MEMBERS`] messages.
    Many(Vec<Message>),
}

/// What a body holds, or what its sender is answered if it cannot be told.
pub(crate) fn parse(body: &[u8]) -> Result<Incoming, Reply> {
    match serde_json::from_slice(body) {
        Ok(Value::Array(members)) => batch(members).map(Incoming::Many),
        Ok(value) => Ok(Incoming::One(Message::of(value))),
        // The words of the parser tell the place, and nothing of the server.
        Err(err) => Err(Reply::failed(Id::Null, Failure::parse(format!("invalid JSON: {err}")))),
    }
}

fn batch(members: Vec<Value>) -> Result<Vec<Message>, Reply> {
    if members.is_empty() {
        let failure = Failure::invalid_request("a batch must have at least one member");
        return Err(Reply::failed(Id::Null, failure));
    }
    if members.len() > MOST_MEMBERS {
        let words = format!("a batch has at most {MOST_MEMBERS} members");
        return Err(Reply::failed(Id::Null, Failure::invalid_request(words)));
    }
    Ok(members.into_iter().map(Message::of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(body: &str) -> i64 {
        parse(body.as_bytes()).unwrap_err().failure().unwrap().code
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for body in ["", "{", "{]", "nul", "{\"a\":1}{", "\u{feff}{}", "[1,", "\"\u{1}\""] {
            assert_eq!(code_of(body), Failure::PARSE, "{body}");
        }
        assert_eq!(parse(b"\xff\xfe").unwrap_err().failure().unwrap().code, Failure::PARSE);
    }

    #[test]
    fn json_that_is_too_deep_is_a_parse_error() {
        assert_eq!(code_of(&"[".repeat(100_000)), Failure::PARSE);
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert_eq!(code_of(&deep), Failure::PARSE);
    }

    // A float that is not read to its last digit is another id, for which nobody waits.
    #[test]
    fn an_id_that_is_a_float_comes_back_digit_by_digit() {
        let body = r#"{"jsonrpc":"2.0","id":1.3034546188519294e+190,"method":"m"}"#;
        let Ok(Incoming::One(Message::Request(id, _))) = parse(body.as_bytes()) else {
            panic!("no request")
        };
        assert_eq!(serde_json::to_string(&id).unwrap(), "1.3034546188519294e+190");
    }

    #[test]
    fn an_empty_batch_is_one_invalid_request() {
        assert_eq!(code_of("[]"), Failure::INVALID_REQUEST);
    }

    #[test]
    fn a_batch_has_a_largest_size() {
        let of = |count| format!("[{}]", vec!["1"; count].join(","));
        assert!(matches!(parse(of(MOST_MEMBERS).as_bytes()), Ok(Incoming::Many(_))));
        assert_eq!(code_of(&of(MOST_MEMBERS + 1)), Failure::INVALID_REQUEST);
    }

    #[test]
    fn each_member_of_a_batch_is_judged_alone() {
        let body = r#"[1,{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},[]]"#;
        let Ok(Incoming::Many(members)) = parse(body.as_bytes()) else { panic!("no batch") };
        assert!(matches!(
            &members[..],
            [
                Message::Invalid(_),
                Message::Request(..),
                Message::Notification(_),
                Message::Invalid(_)
            ]
        ));
    }
}

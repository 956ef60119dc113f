//! One message that a client sent.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Number, Value};

use super::reply::{Failure, Reply};

/// The longest text that is an id. It is kept as long as somebody waits for an answer.
const LONGEST_ID: usize = 256;

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// Somebody waits for the answer.
    Request(Id, Call),
    /// Nobody does.
    Notification(Call),
    /// An answer to what the server asked its client.
    Response(Id, Result<Value, Value>),
    /// What is none of these, with what its sender is told.
    Invalid(Reply),
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) method: String,
    /// An object or an array; none if it was left out or null.
    pub(crate) params: Option<Value>,
}

/// What tells answers apart: a text, a number, or nothing. It is sent back as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// The id of whoever's own could not be found out, and of whoever chose it.
    Null,
    Number(Number),
    Text(String),
}

impl Message {
    /// What a value means.
    pub(crate) fn of(value: Value) -> Self {
        match value {
            Value::Object(fields) => Self::of_fields(fields),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Self::invalid(Id::Null, "JSON-RPC payload must be an object"),
        }
    }

    fn of_fields(mut fields: Map<String, Value>) -> Self {
        let id = match fields.remove("id").map(Id::of) {
            None => None,
            Some(Ok(id)) => Some(id),
            Some(Err(words)) => return Self::invalid(Id::Null, words),
        };
        let told = id.clone().unwrap_or(Id::Null);
        match fields.remove("jsonrpc") {
            None => return Self::invalid(told, "JSON-RPC payload must include jsonrpc field"),
            Some(Value::String(version)) if version == "2.0" => {}
            Some(_) => return Self::invalid(told, "jsonrpc must be '2.0'"),
        }
        let method = match fields.remove("method") {
            None => return Self::response(id, fields),
            Some(Value::String(method)) => method,
            Some(_) => return Self::invalid(told, "method must be a string"),
        };
        if fields.contains_key("result") || fields.contains_key("error") {
            let words = "JSON-RPC request/notification must not include result or error";
            return Self::invalid(told, words);
        }
        let params = match fields.remove("params") {
            None | Some(Value::Null) => None,
            Some(params @ (Value::Object(_) | Value::Array(_))) => Some(params),
            Some(_) => return Self::invalid(told, "params must be an object or an array"),
        };
        let call = Call { method, params };
        match id {
            Some(id) => Self::Request(id, call),
            None => Self::Notification(call),
        }
    }

    fn response(id: Option<Id>, mut fields: Map<String, Value>) -> Self {
        let Some(id) = id else {
            let words = "JSON-RPC payload must include either method or id";
            return Self::invalid(Id::Null, words);
        };
        match (fields.remove("result"), fields.remove("error")) {
            (Some(result), None) => Self::Response(id, Ok(result)),
            (None, Some(error)) => Self::Response(id, Err(error)),
            (None, None) => Self::invalid(id, "a message must have a method, a result or an error"),
            (Some(_), Some(_)) => {
                Self::invalid(id, "a response must not have both a result and an error")
            }
        }
    }

    fn invalid(id: Id, words: &str) -> Self {
        Self::Invalid(Reply::failed(id, Failure::invalid_request(words)))
    }
}

impl Id {
    /// The id that a value is, or why it can be none.
    fn of(value: Value) -> Result<Self, &'static str> {
        match value {
            Value::Null => Ok(Self::Null),
            Value::Number(number) => Ok(Self::Number(number)),
            Value::String(text) if text.len() > LONGEST_ID => Err("an id has at most 256 bytes"),
            Value::String(text) => Ok(Self::Text(text)),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err("id must be a string, a number or null")
            }
        }
    }

    /// The number that it is, if it is a count.
    pub(crate) fn as_count(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            Self::Null | Self::Text(_) => None,
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(value: Value) -> (Value, String) {
        let Message::Invalid(reply) = Message::of(value) else { panic!("it is valid") };
        let json = serde_json::to_value(&reply).unwrap();
        assert_eq!(json["error"]["code"], Failure::INVALID_REQUEST);
        (json["id"].clone(), json["error"]["message"].as_str().unwrap().to_owned())
    }

    #[test]
    fn an_id_is_a_text_a_number_or_null_and_comes_back_as_it_was() {
        for id in
            [json!(1), json!(-7), json!(1.5), json!(u64::MAX), json!("a"), json!(""), json!(null)]
        {
            let Message::Request(read, _) =
                Message::of(json!({"jsonrpc": "2.0", "id": id, "method": "m"}))
            else {
                panic!("{id} is no id")
            };
            assert_eq!(serde_json::to_value(read).unwrap(), id);
        }
        for id in [json!(true), json!([1]), json!({})] {
            let (told, words) = refused(json!({"jsonrpc": "2.0", "id": id, "method": "m"}));
            assert_eq!(
                (told, words.as_str()),
                (json!(null), "id must be a string, a number or null")
            );
        }
    }

    #[test]
    fn an_id_has_a_longest_length() {
        let of = |length| json!({"jsonrpc": "2.0", "id": "x".repeat(length), "method": "m"});
        assert!(matches!(Message::of(of(LONGEST_ID)), Message::Request(..)));
        let (told, words) = refused(of(LONGEST_ID + 1));
        assert_eq!((told, words.as_str()), (json!(null), "an id has at most 256 bytes"));
    }

    #[test]
    fn a_message_without_an_id_is_a_notification() {
        let message = Message::of(json!({"jsonrpc": "2.0", "method": "m", "params": [1]}));
        let call = Call { method: "m".to_owned(), params: Some(json!([1])) };
        assert_eq!(message, Message::Notification(call));
    }

    #[test]
    fn the_version_must_be_there_and_right() {
        let words = "JSON-RPC payload must include jsonrpc field";
        assert_eq!(refused(json!({"id": 4, "method": "m"})), (json!(4), words.to_owned()));
        for version in [json!("1.0"), json!(2.0), json!(null)] {
            let (id, words) = refused(json!({"jsonrpc": version, "id": 4, "method": "m"}));
            assert_eq!((id, words.as_str()), (json!(4), "jsonrpc must be '2.0'"));
        }
    }

    #[test]
    fn what_has_neither_a_method_nor_an_id_means_nothing() {
        let (_, words) = refused(json!({"jsonrpc": "2.0"}));
        assert_eq!(words, "JSON-RPC payload must include either method or id");
        assert_eq!(refused(json!({"jsonrpc": "2.0", "id": 1})).0, json!(1));
        assert_eq!(refused(json!([])).1, "JSON-RPC payload must be an object");
    }

    #[test]
    fn a_method_and_params_have_their_kinds() {
        assert_eq!(refused(json!({"jsonrpc": "2.0", "id": 1, "method": 1})).0, json!(1));
        let of =
            |params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": "m", "params": params});
        for params in [json!(1), json!("a"), json!(false)] {
            assert_eq!(refused(of(params)).1, "params must be an object or an array");
        }
        assert!(matches!(
            Message::of(of(json!(null))),
            Message::Request(_, Call { params: None, .. })
        ));
    }

    #[test]
    fn a_response_has_a_result_or_an_error() {
        let of = |rest: Value| {
            let mut message = json!({"jsonrpc": "2.0", "id": 1});
            message.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            message
        };
        assert_eq!(
            Message::of(of(json!({"result": null}))),
            Message::Response(1.into(), Ok(Value::Null))
        );
        let error = json!({"code": 1, "message": "m"});
        let response = Message::Response(1.into(), Err(error.clone()));
        assert_eq!(Message::of(of(json!({"error": error}))), response);
        refused(of(json!({"result": 1, "error": 2})));
        refused(of(json!({"method": "m", "result": 1})));
    }
}

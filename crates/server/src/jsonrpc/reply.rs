//! What a message is answered, with the fields in the order of the wire: by name.

use serde::Serialize;
use serde_json::Value;

use super::message::Id;

/// The answer to one message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    id: Id,
    outcome: Result<Value, Box<Failure>>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Failure {
    pub(crate) code: i64,
    /// What programs are told beyond the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
    pub(crate) message: String,
}

impl Reply {
    pub(crate) fn result(id: Id, result: Value) -> Self {
        Self { id, outcome: Ok(result) }
    }

    pub(crate) fn failed(id: Id, failure: Failure) -> Self {
        Self { id, outcome: Err(Box::new(failure)) }
    }

    /// Why there is no result, if there is none.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.outcome.as_ref().err().map(|failure| &**failure)
    }

    /// The same, with its failure told in more words.
    pub(crate) fn explained(self, more: impl FnOnce(Failure) -> Failure) -> Self {
        let outcome = self.outcome.map_err(|failure| Box::new(more(*failure)));
        Self { outcome, ..self }
    }

    /// The same to whoever sent this id.
    pub(crate) fn to(self, id: Id) -> Self {
        Self { id, ..self }
    }

    /// The same with a failure in place of what came of it.
    pub(crate) fn instead(self, failure: Failure) -> Self {
        Self { outcome: Err(Box::new(failure)), ..self }
    }

    /// Compact JSON.
    pub(crate) fn render(&self) -> Vec<u8> {
        crate::problem::render(self)
    }
}

impl Failure {
    pub(crate) const PARSE: i64 = -32700;
    pub(crate) const INVALID_REQUEST: i64 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
    pub(crate) const INVALID_PARAMS: i64 = -32602;
    pub(crate) const INTERNAL: i64 = -32603;

    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, data: None, message: message.into() }
    }

    /// What was sent is no JSON.
    pub(crate) fn parse(message: impl Into<String>) -> Self {
        Self::new(Self::PARSE, message)
    }

    /// What was sent is no message.
    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_REQUEST, message)
    }

    /// Nobody here knows the method.
    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("method not found: {method}"))
    }

    /// The method cannot be called like that.
    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

impl Serialize for Reply {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Succeeded<'a> {
            id: &'a Id,
            jsonrpc: &'static str,
            result: &'a Value,
        }
        #[derive(Serialize)]
        struct Failed<'a> {
            error: &'a Failure,
            id: &'a Id,
            jsonrpc: &'static str,
        }
        let (id, jsonrpc) = (&self.id, "2.0");
        match &self.outcome {
            Ok(result) => Succeeded { id, jsonrpc, result }.serialize(serializer),
            Err(error) => Failed { error, id, jsonrpc }.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(reply: &Reply) -> String {
        String::from_utf8(reply.render()).unwrap()
    }

    #[test]
    fn a_result_is_told_with_its_id() {
        let reply = Reply::result(7.into(), json!({"path": "/a"}));
        assert_eq!(text(&reply), r#"{"id":7,"jsonrpc":"2.0","result":{"path":"/a"}}"#);
        assert_eq!(
            text(&Reply::result(Id::Null, Value::Null)),
            r#"{"id":null,"jsonrpc":"2.0","result":null}"#
        );
    }

    #[test]
    fn a_failure_has_a_code_and_data_where_there_is_some() {
        let bare = Reply::failed(Id::Text("a\"".to_owned()), Failure::method_not_found("m"));
        let error = r#"{"error":{"code":-32601,"message":"method not found: m"},"id":"a\"","jsonrpc":"2.0"}"#;
        assert_eq!(text(&bare), error);
        let more = bare.explained(|failure| failure.with_data(json!({"status": 404})));
        assert_eq!(more.failure().unwrap().data, Some(json!({"status": 404})));
    }
}

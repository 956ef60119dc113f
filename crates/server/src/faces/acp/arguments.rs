//! What a method is called with.

use serde_json::{Map, Value};

use crate::problem::Problem;

/// The longest text that is read as an argument, unless it is content: as in a query.
const MOST_BYTES: usize = 8192;
/// Where this protocol puts what ACP has no field for.
const OURS: &str = "sandboxagent.dev";

/// The params of one call, by name. What nobody asks for may be anything.
#[derive(Clone, Debug)]
pub(super) struct Arguments {
    method: String,
    fields: Map<String, Value>,
}

impl Arguments {
    /// Those of a call.
    pub(super) fn of(method: &str, params: Option<Value>) -> Result<Self, Problem> {
        let method = method.to_owned();
        match params {
            None => Ok(Self { method, fields: Map::new() }),
            Some(Value::Object(fields)) => Ok(Self { method, fields }),
            Some(_) => Err(Problem::invalid_request(&format!("{method} takes params by name"))
                .hint("send params as an object")),
        }
    }

    /// The method that they are for.
    pub(super) fn method(&self) -> &str {
        &self.method
    }

    /// A text that may be absent.
    pub(super) fn optional(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let text = self.text(name)?;
        match &text {
            Some(text) if text.len() > MOST_BYTES => Err(self
                .wrong(&format!("params.{name} is longer than {MOST_BYTES} bytes"))
                .hint("a path has at most 4096 bytes")),
            _ => Ok(text),
        }
    }

    /// A text that must be there.
    pub(super) fn required(&mut self, name: &str) -> Result<String, Problem> {
        self.optional(name)?.ok_or_else(|| self.missing(name))
    }

    /// A text of any length, by one of two names, that must be there.
    pub(super) fn content(&mut self, name: &str, other: &str) -> Result<String, Problem> {
        let (one, two) = (self.text(name)?, self.text(other)?);
        one.or(two).ok_or_else(|| self.missing(name))
    }

    /// Whether something is so; not, if it is absent.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool, Problem> {
        match self.fields.remove(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(is_so)) => Ok(is_so),
            Some(_) => Err(self
                .wrong(&format!("params.{name} is neither true nor false"))
                .hint(format!("send `{name}` as true or false, or leave it out"))),
        }
    }

    /// A whole number of at least one that may be absent.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>, Problem> {
        match self.fields.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) if number.as_u64().is_some_and(|number| number > 0) => {
                Ok(number.as_u64())
            }
            Some(_) => Err(self
                .wrong(&format!("params.{name} is not a whole number of at least 1"))
                .hint(format!("send `{name}` as a number, or leave it out"))),
        }
    }

    /// The session, by either of its names or by both.
    pub(super) fn session(&mut self) -> Result<Option<String>, Problem> {
        match (self.optional("sessionId")?, self.optional("session_id")?) {
            (Some(one), Some(other)) if one != other => Err(self
                .wrong("params.sessionId and params.session_id differ")
                .hint("send one of the two")),
            (one, other) => Ok(one.or(other)),
        }
    }

    /// The session, which must be named.
    pub(super) fn required_session(&mut self) -> Result<String, Problem> {
        self.session()?.ok_or_else(|| self.missing("sessionId"))
    }

    /// What ACP has no field for: `_meta["sandboxagent.dev"]`.
    pub(super) fn meta(&mut self) -> Result<Self, Problem> {
        let wrong = |it: &Self| {
            let message = format!("params._meta[\"{OURS}\"] is not an object");
            it.wrong(&message).hint("send it as an object, or leave it out")
        };
        let fields = match self.fields.remove("_meta") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(mut meta)) => match meta.remove(OURS) {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(fields)) => fields,
                Some(_) => return Err(wrong(self)),
            },
            Some(_) => return Err(wrong(self)),
        };
        Ok(Self { method: self.method.clone(), fields })
    }

    /// One of them as it is, which must be an object if it is there.
    pub(super) fn object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, Problem> {
        match self.fields.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(fields)),
            Some(_) => Err(self
                .wrong(&format!("params.{name} is not an object"))
                .hint(format!("send `{name}` as an object, or leave it out"))),
        }
    }

    /// One of them as it is.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name).filter(|value| !value.is_null())
    }

    /// All that are left.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.fields
    }

    /// One of them, left where it is.
    pub(super) fn peek(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        match self.fields.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.missing(name)),
        }
    }

    fn missing(&self, name: &str) -> Problem {
        let Self { method, .. } = self;
        Problem::invalid_request(&format!("{method} requires params.{name}"))
            .hint(format!("send `{name}` as a text"))
    }

    fn wrong(&self, what: &str) -> Problem {
        Problem::invalid_request(&format!("{}: {what}", self.method))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(params: Value) -> Arguments {
        Arguments::of("m", Some(params)).unwrap()
    }

    fn words<T: std::fmt::Debug>(refused: Result<T, Problem>) -> String {
        refused.unwrap_err().details().detail.clone()
    }

    #[test]
    fn params_go_by_name() {
        assert!(Arguments::of("m", None).is_ok());
        assert_eq!(
            words(Arguments::of("m", Some(json!([1])))),
            "invalid request: m takes params by name"
        );
    }

    #[test]
    fn a_text_that_is_missing_or_no_text_is_asked_for() {
        let expected = "invalid request: m requires params.path";
        assert_eq!(words(arguments(json!({})).required("path")), expected);
        assert_eq!(words(arguments(json!({"path": 1})).required("path")), expected);
        assert_eq!(words(arguments(json!({"path": null})).required("path")), expected);
        assert_eq!(arguments(json!({"path": "p"})).required("path").unwrap(), "p");
        let long = "x".repeat(MOST_BYTES + 1);
        assert!(arguments(json!({"path": long})).required("path").is_err());
        assert!(arguments(json!({"c": long})).content("c", "d").is_ok());
    }

    #[test]
    fn a_flag_is_true_or_false_and_nothing_else() {
        assert!(arguments(json!({"f": true})).flag("f").unwrap());
        assert!(!arguments(json!({"f": null})).flag("f").unwrap());
        assert!(arguments(json!({"f": "true"})).flag("f").is_err());
        assert!(arguments(json!({"n": 0})).number("n").is_err());
        assert_eq!(arguments(json!({"n": 7})).number("n").unwrap(), Some(7));
    }

    #[test]
    fn a_session_has_two_names_that_may_agree_and_may_not_differ() {
        let session = |params| arguments(params).session();
        assert_eq!(session(json!({"session_id": "a"})).unwrap().as_deref(), Some("a"));
        assert_eq!(
            session(json!({"sessionId": "a", "session_id": "a"})).unwrap().as_deref(),
            Some("a")
        );
        assert!(session(json!({"sessionId": "a", "session_id": "b"})).is_err());
    }

    #[test]
    fn what_is_ours_lies_in_meta() {
        let mut params = arguments(json!({"_meta": {"sandboxagent.dev": {"agent": "mock"}}}));
        assert_eq!(params.meta().unwrap().peek("agent"), Some("mock"));
        assert!(arguments(json!({"_meta": 1})).meta().is_err());
        assert!(arguments(json!({"_meta": {"sandboxagent.dev": []}})).meta().is_err());
        assert!(arguments(json!({})).meta().unwrap().rest().is_empty());
    }
}

//! Somebody who is connected by `/v2`.

use serde_json::{Value, json};

use super::listener::Listener;
use crate::http::{Answer, Ask, Server, ask};

/// A client, with a key or a token of its own, or none.
pub(crate) struct Client<'a> {
    pub(crate) server: &'a Server,
    pub(crate) key: Option<String>,
    /// Its connection, if it has one.
    pub(crate) connection: Option<String>,
}

/// What opens a connection.
pub(crate) fn greeting(agent: &str) -> Value {
    let meta = json!({"sandboxagent.dev": {"agent": agent}});
    let params = json!({"protocolVersion": 1, "clientInfo": {"name": "a test", "version": "v2"}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

impl<'a> Client<'a> {
    /// Somebody who is not connected yet.
    pub(crate) fn stranger(server: &'a Server) -> Self {
        Self { server, key: None, connection: None }
    }

    pub(crate) async fn connect(server: &'a Server) -> Self {
        Self::stranger(server).connected("mock").await
    }

    pub(crate) async fn with_key(server: &'a Server, key: &str) -> Self {
        let stranger = Self { key: Some(key.to_owned()), ..Self::stranger(server) };
        stranger.connected("mock").await
    }

    pub(crate) async fn connected(self, agent: &str) -> Self {
        let answer = self.post(&greeting(agent)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let connection = answer.header("x-acp-connection-id").map(ToOwned::to_owned);
        assert!(connection.is_some());
        Self { connection, ..self }
    }

    /// A request with what shows who this is.
    pub(crate) fn ask(&self, method: &'static str, target: &str) -> Ask {
        let mut ask = ask(method, target);
        if let Some(key) = &self.key {
            ask = ask.header("authorization", &format!("Bearer {key}"));
        }
        match &self.connection {
            Some(connection) => ask.header("x-acp-connection-id", connection),
            None => ask,
        }
    }

    pub(crate) async fn send_text(&self, body: &str) -> Answer {
        let ask = self.ask("POST", "/v2/rpc").header("content-type", "application/json");
        self.server.send(ask.body(body)).await
    }

    pub(crate) async fn post(&self, message: &Value) -> Answer {
        self.send_text(&message.to_string()).await
    }

    /// The whole answer to a request with the id 7.
    pub(crate) async fn reply(&self, method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let answer = self.post(&message).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("x-acp-connection-id"), self.connection.as_deref());
        let reply = answer.json();
        assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(7)), "{reply}");
        reply
    }

    /// What comes of a method that succeeds.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let reply = self.reply(method, params).await;
        assert!(reply.get("error").is_none(), "{reply}");
        reply["result"].clone()
    }

    /// What comes of a method that fails: the error.
    pub(crate) async fn fail(&self, method: &str, params: Value) -> Value {
        let reply = self.reply(method, params).await;
        assert!(reply.get("result").is_none(), "{reply}");
        let error = reply["error"].clone();
        assert!(error["code"].is_i64() && error["message"].is_string(), "{error}");
        error
    }

    /// Does something with files: the short name of the method.
    pub(crate) async fn files(&self, method: &str, params: Value) -> Value {
        self.call(&format!("_sandboxagent/fs/{method}"), params).await
    }

    /// Fails at something with files: the problem.
    pub(crate) async fn fails(&self, method: &str, params: Value) -> Value {
        self.fail(&format!("_sandboxagent/fs/{method}"), params).await["data"].clone()
    }

    /// Opens a session by its id.
    pub(crate) async fn session(&self, id: &str) -> Value {
        let meta = json!({"sandboxagent.dev": {"requestedSessionId": id}});
        self.call("session/new", json!({"_meta": meta, "mcpServers": []})).await
    }

    pub(crate) fn listening(&self, last: Option<u64>) -> Ask {
        let ask = self.ask("GET", "/v2/rpc").header("accept", "text/event-stream");
        match last {
            Some(last) => ask.header("last-event-id", &last.to_string()),
            None => ask,
        }
    }

    pub(crate) async fn listen(&self, last: Option<u64>) -> Listener {
        let (listener, answer) = Listener::open(self.server, self.listening(last)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
        listener
    }
}

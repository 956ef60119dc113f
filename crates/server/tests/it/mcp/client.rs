//! Somebody who speaks MCP by `/mcp`, byte by byte.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::{Answer, Ask, SOON, Server, answer, ask};

/// The last version that has sessions.
pub(crate) const GREETED: &str = "2025-11-25";
/// The version in which every request stands alone.
pub(crate) const MODERN: &str = "2026-07-28";

/// A client, with a key or a token of its own, or none.
pub(crate) struct Client<'a> {
    pub(crate) server: &'a Server,
    pub(crate) key: Option<String>,
    /// Its session, if it has one.
    pub(crate) session: Option<String>,
    /// What stands behind `/mcp` in its addresses.
    pub(crate) query: &'static str,
}

/// What opens a session.
pub(crate) fn greeting() -> Value {
    let info = json!({"name": "a test", "version": "1"});
    let params = json!({"protocolVersion": GREETED, "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// A request with the id 7.
#[expect(clippy::needless_pass_by_value, reason = "it is written where it is passed")]
pub(crate) fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

/// The same as 2026-07-28 has it: with all that it needs.
pub(crate) fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(method, params)
}

impl<'a> Client<'a> {
    /// Somebody who has no session.
    pub(crate) fn stranger(server: &'a Server) -> Self {
        Self { server, key: None, session: None, query: "" }
    }

    pub(crate) async fn connect(server: &'a Server) -> Self {
        Self::stranger(server).greeted().await
    }

    pub(crate) async fn with_key(server: &'a Server, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..Self::stranger(server) }.greeted().await
    }

    pub(crate) async fn greeted(self) -> Self {
        let (answer, _) = Stream::open(self.server, self.post(&greeting())).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let session = answer.header("mcp-session-id").map(ToOwned::to_owned);
        assert!(session.is_some());
        let greeted = Self { session, ..self };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(greeted.send(&ready).await.status, 202);
        greeted
    }

    /// A request with what shows who this is.
    pub(crate) fn ask(&self, method: &'static str) -> Ask {
        let mut ask = ask(method, &format!("/mcp{}", self.query))
            .header("accept", "application/json, text/event-stream");
        if let Some(key) = &self.key {
            ask = ask.header("authorization", &format!("Bearer {key}"));
        }
        match &self.session {
            Some(session) => {
                ask.header("mcp-session-id", session).header("mcp-protocol-version", GREETED)
            }
            None => ask,
        }
    }

    pub(crate) fn post(&self, message: &Value) -> Ask {
        let ask = self.ask("POST").header("content-type", "application/json");
        ask.body(message.to_string())
    }

    /// A request of 2026-07-28, with the headers that repeat it.
    pub(crate) fn alone(&self, message: &Value) -> Ask {
        let mut ask = self.post(message).header("mcp-protocol-version", MODERN);
        ask = ask.header("mcp-method", message["method"].as_str().unwrap());
        let params = &message["params"];
        match params["name"].as_str().or(params["uri"].as_str()) {
            Some(name) => ask.header("mcp-name", name),
            None => ask,
        }
    }

    pub(crate) async fn send(&self, message: &Value) -> Answer {
        self.server.send(self.post(message)).await
    }

    /// The whole answer to a request in a session.
    pub(crate) async fn reply(&self, method: &str, params: Value) -> Value {
        let (answer, mut stream) =
            Stream::open(self.server, self.post(&request(method, params))).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        stream.until(|message| message["id"] == 7).await
    }

    /// What comes of a request in a session that succeeds.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let reply = self.reply(method, params).await;
        assert!(reply.get("error").is_none(), "{reply}");
        reply["result"].clone()
    }

    /// Calls a tool.
    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Value {
        self.call("tools/call", json!({"name": name, "arguments": arguments})).await
    }

    pub(crate) fn listening(&self) -> Ask {
        self.ask("GET")
    }
}

/// An answer that is a stream of events.
pub(crate) struct Stream {
    stream: TcpStream,
    unread: String,
}

impl Stream {
    /// Sends a request, and tells how its answer begins.
    pub(crate) async fn open(server: &Server, ask: Ask) -> (Answer, Self) {
        let mut stream = server.connect().await;
        stream.write_all(&ask.into_bytes()).await.unwrap();
        let answer = answer(&mut stream, false).await;
        (answer, Self { stream, unread: String::new() })
    }

    /// The next message; none when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let reading = async {
            loop {
                while let Some((event, rest)) = self.unread.split_once("\n\n") {
                    let data = event.lines().filter_map(|line| line.strip_prefix("data:"));
                    let data: String = data.map(str::trim_start).collect();
                    self.unread = rest.to_owned();
                    if !data.is_empty() {
                        return Some(serde_json::from_str(&data).unwrap());
                    }
                }
                let piece = self.chunk().await?;
                self.unread.push_str(&piece);
            }
        };
        tokio::time::timeout(SOON, reading).await.expect("no message in time")
    }

    /// Reads on until a message is the one that is waited for.
    pub(crate) async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await.expect("the stream ended too early");
            if is_it(&message) {
                return message;
            }
        }
    }

    async fn chunk(&mut self) -> Option<String> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.push(self.stream.read_u8().await.ok()?);
        }
        let length = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        self.stream.read_exact(&mut chunk).await.ok()?;
        chunk.truncate(length);
        (length > 0).then(|| String::from_utf8(chunk).unwrap())
    }
}

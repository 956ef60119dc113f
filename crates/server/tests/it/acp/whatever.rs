//! Messages that nobody planned, made of the pieces of good ones.
//!
//! The short form sends 3,000 of them, the long one (`SANDKEEP_LONG=1`) 100,000. A failure names its
//! seed; `SANDKEEP_SEED=…` begins there again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::client::Client;
use crate::http::{Answer, Server, answer};

const METHODS: &[&str] = &[
    "initialize",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/list",
    "session/cancel",
    "session/prompt",
    "_sandboxagent/session/list",
    "_sandboxagent/session/get",
    "_sandboxagent/session/terminate",
    "_sandboxagent/session/detach",
    "_sandboxagent/session/set_metadata",
    "_sandboxagent/fs/list_entries",
    "_sandboxagent/fs/stat",
    "_sandboxagent/fs/mkdir",
    "_sandboxagent/fs/move",
    "_sandboxagent/fs/delete_entry",
    "_sandboxagent/fs/read_file",
    "_sandboxagent/fs/write_file",
    "_sandboxagent/fs/upload_batch",
    "_sandboxagent/fs/x",
    "rpc.discover",
    "",
    "\u{0}",
];

const NAMES: &[&str] = &[
    "path",
    "from",
    "to",
    "overwrite",
    "recursive",
    "sessionId",
    "session_id",
    "contentBase64",
    "content_base64",
    "limit",
    "after",
    "cursor",
    "cwd",
    "mcpServers",
    "_meta",
    "metadata",
    "protocolVersion",
    "prompt",
    "clientCapabilities",
    "unknown",
];

const TEXTS: &[&str] = &[
    "a",
    "a/b",
    "./a",
    "../a",
    "a/../../b",
    "/",
    "/etc/passwd",
    "",
    ".",
    "..",
    "a\u{0}b",
    "a//b/",
    "~",
    "\u{202e}x",
    "\u{fffd}",
    "𝒳",
    "s",
    "s1",
    "aGVsbG8=",
    "====",
    "a b+c%2F",
    "mock",
    "-1",
    "null",
    "{}",
    "\n",
    "\r\n\r\nHTTP/1.1",
    "wait 0",
    "acp_conn_1",
];

/// Something that makes messages.
struct Maker {
    random: StdRng,
}

impl Maker {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.random_range(0..from.len())]
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    /// Any value, not too deep.
    fn value(&mut self, depth: u32) -> Value {
        match self.random.random_range(0..if depth == 0 { 7 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.chance(50)),
            2 => json!(self.random.random::<i64>()),
            3 => json!(self.random.random::<f64>() * 1e300),
            4 => json!(self.random.random_range(0..4)),
            5 => json!(self.pick(TEXTS)),
            6 => {
                let long = self.random.random_range(0..5000);
                json!(self.pick(TEXTS).repeat(long / 8))
            }
            7 => (0..self.random.random_range(0..5)).map(|_| self.value(depth - 1)).collect(),
            _ => self.object(depth - 1),
        }
    }

    fn object(&mut self, depth: u32) -> Value {
        let mut fields = Map::new();
        for _ in 0..self.random.random_range(0..6) {
            let name = self.pick(NAMES).to_owned();
            fields.insert(name, self.value(depth));
        }
        fields.into()
    }

    /// What fits a name, most of the time.
    fn argument(&mut self, name: &str) -> Value {
        if self.chance(15) {
            return self.value(3);
        }
        match name {
            "overwrite" | "recursive" => json!(self.chance(50)),
            "limit" => json!(self.random.random_range(1..5)),
            "mcpServers" => json!([]),
            "protocolVersion" => json!(1),
            "_meta" => {
                let id = self.pick(&["s", "s1", "s2", ""]);
                let ours = json!({"agent": self.pick(&["mock", "claude", "x"]), "requestedSessionId": id, "title": self.value(2)});
                json!({"sandboxagent.dev": ours})
            }
            "metadata" => self.object(2),
            "prompt" => {
                json!([{"type": "text", "text": self.pick(&["hello", "read a", "write a b", ""])}])
            }
            "sessionId" | "session_id" => json!(self.pick(&["s", "s1", "s2"])),
            _ => json!(self.pick(TEXTS)),
        }
    }

    fn params(&mut self) -> Value {
        if self.chance(10) {
            return self.value(4);
        }
        let mut fields = Map::new();
        for name in NAMES {
            if self.chance(30) {
                fields.insert((*name).to_owned(), self.argument(name));
            }
        }
        fields.into()
    }

    fn message(&mut self) -> Value {
        if self.chance(5) {
            return self.value(4);
        }
        let mut message = json!({"jsonrpc": "2.0", "method": self.pick(METHODS)});
        let fields = message.as_object_mut().unwrap();
        if self.chance(85) {
            let id =
                if self.chance(80) { json!(self.random.random::<u32>()) } else { self.value(2) };
            fields.insert("id".to_owned(), id);
        }
        if self.chance(90) {
            fields.insert("params".to_owned(), self.params());
        }
        // Something is often wrong with it.
        if self.chance(20) {
            let name = self.pick(&["jsonrpc", "method", "id", "result", "error", "params"]);
            if self.chance(50) {
                fields.remove(name);
            } else {
                fields.insert(name.to_owned(), self.value(2));
            }
        }
        message
    }

    /// A body: a message, a batch, or one that is broken.
    fn body(&mut self) -> Vec<u8> {
        let body = match self.random.random_range(0..10) {
            0 => (0..self.random.random_range(0..70)).map(|_| self.message()).collect(),
            _ => self.message(),
        };
        let mut bytes = body.to_string().into_bytes();
        if self.chance(10) {
            for _ in 0..self.random.random_range(1..4) {
                let place = self.random.random_range(0..bytes.len());
                match self.random.random_range(0..3) {
                    0 => bytes[place] = self.random.random(),
                    1 => drop(bytes.remove(place)),
                    _ => bytes.truncate(place.max(1)),
                }
                if bytes.is_empty() {
                    bytes.push(b'x');
                }
            }
        }
        bytes
    }
}

/// Asserts that an answer is one that a client can make something of.
fn check(sent: &[u8], answer: &Answer) {
    let told = || format!("{}\nto {}", answer.text(), String::from_utf8_lossy(sent));
    assert!(matches!(answer.status, 200 | 202 | 400..500), "{}: {}", answer.status, told());
    if answer.status == 202 {
        assert!(answer.body.is_empty(), "{}", told());
        return;
    }
    let json = answer.json();
    if answer.status == 200 {
        let replies = json.as_array().cloned().unwrap_or_else(|| vec![json]);
        assert!(!replies.is_empty(), "{}", told());
        replies.iter().for_each(|reply| check_reply(reply, &told));
    } else {
        assert_eq!(json["status"], answer.status, "{}", told());
        assert!(json["type"].is_string() && json["detail"].is_string(), "{}", told());
    }
}

fn check_reply(reply: &Value, told: &impl Fn() -> String) {
    assert_eq!(reply["jsonrpc"], "2.0", "{}", told());
    let has = |name| reply.get(name).is_some();
    assert!(has("id") && !reply["id"].is_object() && !reply["id"].is_array(), "{}", told());
    assert_ne!(has("result"), has("error"), "{}", told());
    if let Some(error) = reply.get("error") {
        assert!(error["message"].is_string() && error["code"].is_i64(), "{}", told());
        assert_ne!(error["code"], -32603, "{}", told());
        let status = error["data"]["status"].as_u64().unwrap_or_default();
        assert!((400..500).contains(&status), "{}", told());
    }
}

fn wish() -> (u64, u64) {
    let said = |name| std::env::var(name).ok();
    let seed = said("SANDKEEP_SEED").and_then(|text| text.parse().ok());
    let long = said("SANDKEEP_LONG").is_some_and(|value| value == "1");
    (seed.unwrap_or_else(rand::random), if long { 100_000 } else { 3000 })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "whoever sees it fail needs the seed")]
async fn whatever_is_sent_is_answered_in_time_and_never_by_a_fault() {
    let (seed, count) = wish();
    println!("SANDKEEP_SEED={seed}");
    // A panic in a task of its own would end in no answer.
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        usual(panic);
    }));
    let server = Server::start().await;
    server.put("a/b", "hello");
    let client = Client::connect(&server).await;
    client.session("s").await;
    let stranger = Client::stranger(&server);
    let mut maker = Maker { random: StdRng::seed_from_u64(seed) };
    let mut line: TcpStream = server.connect().await;
    for number in 0..count {
        let body = maker.body();
        // Some are not connected.
        let sender = if maker.chance(5) { &stranger } else { &client };
        let ask = sender.ask("POST", "/v2/rpc").header("content-type", "application/json");
        let bytes = ask.body(body.clone()).into_bytes();
        let sending = async {
            line.write_all(&bytes).await.unwrap();
            answer(&mut line, false).await
        };
        let answer = tokio::time::timeout(Duration::from_secs(20), sending).await;
        assert!(answer.is_ok(), "{number}: no answer to {}", String::from_utf8_lossy(&body));
        let answer = answer.unwrap();
        check(&body, &answer);
        if answer.header("connection") == Some("close") {
            line = server.connect().await;
        }
    }
    // It is as well as before, and so is the connection.
    client.files("list_entries", json!({})).await;
    assert_eq!(server.get("/v1/health").await.status, 200);
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
}

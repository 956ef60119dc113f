//! `/v1/acp`: clients that talk with an agent.

use serde_json::{Value, json};
use server::{Access, Options};

use super::listener::{Event, Listener};
use crate::http::{Answer, Ask, SOON, Server, ask};

const TOKEN: &str = "the-token";

/// A client with a key of its own, or none.
struct Client<'a> {
    server: &'a Server,
    key: Option<String>,
    id: String,
}

impl<'a> Client<'a> {
    fn new(server: &'a Server, id: &str) -> Self {
        Self { server, key: None, id: id.to_owned() }
    }

    fn with_key(server: &'a Server, id: &str, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..Self::new(server, id) }
    }

    fn ask(&self, method: &'static str, query: &str) -> Ask {
        let ask = ask(method, &format!("/v1/acp/{}{query}", self.id));
        match &self.key {
            Some(key) => ask.header("authorization", &format!("Bearer {key}")),
            None => ask,
        }
    }

    async fn post(&self, query: &str, message: &Value) -> Answer {
        let ask = self.ask("POST", query).header("content-type", "application/json");
        self.server.send(ask.body(message.to_string())).await
    }

    /// The result of a request.
    async fn call(&self, id: u64, method: &str, params: Value) -> Value {
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        message["params"] = params;
        let answer = self.post("?agent=mock", &message).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let answer = answer.json();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)));
        answer["result"].clone()
    }

    async fn prompt(&self, id: u64, session: &str, text: &str) -> Value {
        let prompt = json!([{"type": "text", "text": text}]);
        self.call(id, "session/prompt", json!({"sessionId": session, "prompt": prompt})).await
    }

    /// Begins an agent, with a session whose id is `mock-session-1`.
    async fn begin(&self, capabilities: Value) {
        let mut params = json!({"protocolVersion": 1});
        params["clientCapabilities"] = capabilities;
        assert_eq!(self.call(0, "initialize", params).await["protocolVersion"], 1);
        let made = self.call(1, "session/new", json!({"cwd": "/project", "mcpServers": []})).await;
        assert_eq!(made["sessionId"], "mock-session-1");
    }

    async fn listen(&self, last: Option<u64>) -> Listener {
        let mut ask = self.ask("GET", "").header("accept", "text/event-stream");
        if let Some(last) = last {
            ask = ask.header("last-event-id", &last.to_string());
        }
        let (listener, answer) = Listener::open(self.server, ask).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
        listener
    }
}

fn files() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}})
}

fn greeting() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}})
}

fn cancel(session: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
}

/// What the mock said in words.
fn words(events: &[Event]) -> String {
    let text = |event: &Event| {
        event.data["params"]["update"]["content"]["text"].as_str().unwrap_or_default().to_owned()
    };
    events.iter().map(text).collect()
}

async fn with_keys() -> Server {
    Server::with(Options::new(Access::Token(TOKEN.into()))).await
}

async fn key(server: &Server, wish: &Value) -> (String, String) {
    let ask = ask("POST", "/v1/keys")
        .header("authorization", &format!("Bearer {TOKEN}"))
        .header("content-type", "application/json");
    let made = server.send(ask.body(wish.to_string())).await.json();
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    (text("key"), text("id"))
}

#[tokio::test]
async fn a_client_greets_an_agent_opens_a_session_and_prompts_it() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    let answer = client.prompt(2, "mock-session-1", "hello there").await;
    assert_eq!(answer, json!({"stopReason": "end_turn"}));
}

#[tokio::test]
async fn everything_that_an_agent_says_is_on_the_stream_and_its_answers_too() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    client.prompt(2, "mock-session-1", "hello there").await;
    let mut listener = client.listen(None).await;
    let events = listener.take(6).await;
    let ids: Vec<_> = events.iter().map(|event| event.id).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6]);
    assert_eq!([&events[0].data["id"], &events[1].data["id"]], [&json!(0), &json!(1)]);
    assert_eq!(words(&events), "mock: hello there");
    let end = json!({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}});
    assert_eq!(events[5].data, end);
}

#[tokio::test]
async fn whoever_was_cut_off_gets_exactly_what_he_missed() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    let mut first = client.listen(None).await;
    first.take(2).await;
    drop(first);
    client.prompt(2, "mock-session-1", "while you were away").await;
    let mut second = client.listen(Some(2)).await;
    let missed = second.take(2).await;
    assert_eq!(missed[0].id, 3);
    drop(second);
    let mut third = client.listen(Some(4)).await;
    let (said, rest) = (words(&missed), third.turn().await);
    assert_eq!(format!("{said}{}", words(&rest)), "mock: while you were away");
    assert_eq!(rest[0].id, 5);
}

#[tokio::test]
async fn several_may_listen_at_once() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    let (mut one, mut other) = (client.listen(Some(2)).await, client.listen(Some(2)).await);
    client.prompt(2, "mock-session-1", "hello").await;
    assert_eq!(one.take(3).await, other.take(3).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_reads_and_writes_files_at_its_client() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(files()).await;
    let mut listener = client.listen(Some(2)).await;
    let turn = client.prompt(2, "mock-session-1", "read a.txt\nwrite b.txt from the mock");
    let serving = async {
        let asked = listener.next().await.unwrap().data;
        assert_eq!(asked["method"], "fs/read_text_file");
        let params = json!({"sessionId": "mock-session-1", "path": "/project/a.txt"});
        assert_eq!(asked["params"], params);
        let file = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": "hello"}});
        assert_eq!(client.post("", &file).await.status, 202);
        let mut said = Vec::new();
        let asked = loop {
            let event = listener.next().await.unwrap();
            if event.data["method"] == "fs/write_text_file" {
                break event.data;
            }
            said.push(event);
        };
        assert_eq!(words(&said), "mock: a.txt has 5 bytes: hello");
        assert_eq!(asked["params"]["path"], "/project/b.txt");
        assert_eq!(asked["params"]["content"], "from the mock");
        let done = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}});
        assert_eq!(client.post("", &done).await.status, 202);
    };
    let (answer, ()) = tokio::join!(turn, serving);
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(server.names(), Vec::<String>::new());
}

#[tokio::test]
async fn a_client_that_offers_no_files_is_told_so_in_words() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    client.prompt(2, "mock-session-1", "write a.txt x").await;
    let events = client.listen(Some(2)).await.turn().await;
    assert!(words(&events).contains("the client does not offer fs.writeTextFile"), "{events:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_is_cancelled_ends_at_once() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    let mut listener = client.listen(Some(2)).await;
    let cancelling = async {
        // The turn has begun when it has said something.
        listener.next().await.unwrap();
        assert_eq!(client.post("", &cancel("mock-session-1")).await.status, 202);
    };
    let turn = client.prompt(2, "mock-session-1", "one moment\nwait 60\nnever said");
    let both = async { tokio::join!(turn, cancelling) };
    let (answer, ()) = tokio::time::timeout(SOON, both).await.expect("it is not cancelled");
    assert_eq!(answer, json!({"stopReason": "cancelled"}));
    assert_eq!(client.prompt(3, "mock-session-1", "again").await["stopReason"], "end_turn");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_of_one_agent_do_not_wait_for_each_other() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    let made = client.call(2, "session/new", json!({"cwd": "/", "mcpServers": []})).await;
    assert_eq!(made["sessionId"], "mock-session-2");
    let slow = client.prompt(3, "mock-session-1", "wait 1");
    let quick = async {
        client.prompt(4, "mock-session-2", "quick").await;
        std::time::Instant::now()
    };
    let slow = async {
        slow.await;
        std::time::Instant::now()
    };
    let (slow, quick) = tokio::join!(slow, quick);
    assert!(quick < slow);
}

#[tokio::test]
async fn agents_are_listed_and_ended() {
    let server = Server::start().await;
    server.get("/v1/acp").await.is_json(r#"{"servers":[]}"#);
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    let list = server.get("/v1/acp").await.json();
    let [info] = &list["servers"].as_array().unwrap()[..] else { panic!("{list}") };
    assert_eq!((&info["serverId"], &info["agent"]), (&json!("s1"), &json!("mock")));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let age = now.as_millis() - u128::from(info["createdAtMs"].as_u64().unwrap());
    assert!(age < 60_000, "{age}");
    let mut listener = client.listen(Some(2)).await;
    for _ in 0..2 {
        let ended = server.send(client.ask("DELETE", "")).await;
        assert_eq!((ended.status, ended.text()), (204, ""));
    }
    assert_eq!(listener.next().await, None);
    server.get("/v1/acp").await.is_json(r#"{"servers":[]}"#);
    assert_eq!(client.post("", &greeting()).await.status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_for_an_agent_that_was_ended() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    let mut listener = client.listen(Some(2)).await;
    let prompt = json!([{"type": "text", "text": "a\nwait 60"}]);
    let params = json!({"sessionId": "mock-session-1", "prompt": prompt});
    let prompt = json!({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params});
    let ending = async {
        listener.next().await.unwrap();
        assert_eq!(server.send(client.ask("DELETE", "")).await.status, 204);
    };
    let (answer, ()) = tokio::join!(client.post("", &prompt), ending);
    let (word, title) = ("session_not_found", "Session Not Found");
    answer.is_problem(404, word, title, "session not found: s1");
}

#[tokio::test]
async fn the_first_message_names_the_agent() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    let words = "missing required 'agent' query parameter for first POST to /v1/acp/s1";
    client.post("", &greeting()).await.is_invalid(words);
    let answer = client.post("?agent=zzz", &greeting()).await;
    let (word, title) = ("unsupported_agent", "Unsupported Agent");
    answer.is_problem(400, word, title, "unsupported agent: zzz");
    assert_eq!(answer.json()["agent"], "zzz");
    for agent in ["claude", "codex", "opencode", "amp"] {
        let answer = client.post(&format!("?agent={agent}"), &greeting()).await;
        let (word, title) = ("agent_not_installed", "Agent Not Installed");
        answer.is_problem(404, word, title, &format!("agent not installed: {agent}"));
        assert_eq!(answer.json()["agent"], *agent);
        answer.is_kind(404, "agent_not_installed");
    }
    server.get("/v1/acp").await.is_json(r#"{"servers":[]}"#);
    assert_eq!(client.post("?agent=mock", &greeting()).await.status, 200);
    assert_eq!(client.post("", &greeting()).await.status, 200);
}

#[tokio::test]
async fn another_agent_under_the_same_name_is_a_conflict() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.post("?agent=mock", &greeting()).await;
    let answer = client.post("?agent=codex", &greeting()).await;
    let message = "server 's1' already exists for agent 'mock'; requested 'codex'";
    answer.is_problem(409, "conflict", "Conflict", &format!("conflict: {message}"));
    assert_eq!(answer.json()["details"]["message"], message);
    let answer = client.post("?agent=zzz", &greeting()).await;
    answer.is_kind(400, "unsupported_agent");
}

#[tokio::test]
async fn whoever_only_asks_how_a_stream_begins_takes_nobodys_place() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    // As many as there may be.
    let mut first = client.listen(Some(2)).await;
    let _others = futures::future::join_all((0..3).map(|_| client.listen(Some(2)))).await;
    let answer = server.send(client.ask("HEAD", "")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
    client.prompt(2, "mock-session-1", "hello").await;
    assert_eq!(first.next().await.unwrap().id, 3);
}

#[tokio::test]
async fn an_unknown_agent_cannot_be_listened_to() {
    let server = Server::start().await;
    let answer = server.get("/v1/acp/nobody").await;
    let (word, title) = ("session_not_found", "Session Not Found");
    answer.is_problem(404, word, title, "session not found: nobody");
    assert_eq!(answer.json()["sessionId"], "nobody");
    assert_eq!(server.send(ask("DELETE", "/v1/acp/nobody")).await.status, 204);
}

#[tokio::test]
async fn headers_say_what_is_sent_and_what_is_taken() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    let body = greeting().to_string();
    let plain = client.ask("POST", "?agent=mock").header("content-type", "text/plain");
    let answer = server.send(plain.body(body.clone())).await;
    let (word, title) = ("unsupported_media_type", "Unsupported Media Type");
    let detail = "unsupported media type: content-type must be application/json";
    answer.is_problem(415, word, title, detail);
    let html = client.ask("POST", "?agent=mock").header("content-type", "application/json");
    let answer = server.send(html.header("accept", "text/html").body(body)).await;
    let detail = "not acceptable: accept must allow application/json";
    answer.is_problem(406, "not_acceptable", "Not Acceptable", detail);
    let answer = server.send(client.ask("GET", "").header("accept", "application/json")).await;
    let detail = "not acceptable: accept must allow text/event-stream";
    answer.is_problem(406, "not_acceptable", "Not Acceptable", detail);
    for last in ["x", "-1", "1.5", ""] {
        let answer = server.send(client.ask("GET", "").header("last-event-id", last)).await;
        answer.is_invalid("Last-Event-ID must be a positive integer");
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_begins_nothing() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    let send = async |body: &str| {
        let ask = client.ask("POST", "?agent=mock").header("content-type", "application/json");
        server.send(ask.body(body)).await
    };
    for (body, words) in [
        ("[]", "request body must be a JSON-RPC object"),
        ("7", "request body must be a JSON-RPC object"),
        (r#"{"id":1,"method":"m"}"#, "JSON-RPC payload must include jsonrpc field"),
        (r#"{"jsonrpc":"1.0","method":"m"}"#, "jsonrpc must be '2.0'"),
        (r#"{"jsonrpc":"2.0"}"#, "JSON-RPC payload must include either method or id"),
    ] {
        send(body).await.is_invalid(words);
    }
    for body in ["", "{", "\u{feff}{}", &"[".repeat(10_000), r#"{"jsonrpc":"2.0","id":{}}"#] {
        send(body).await.is_kind(400, "invalid_argument");
    }
    send(&format!("\"{}\"", "x".repeat(1024 * 1024))).await.is_kind(413, "limit_exceeded");
    server.get("/v1/acp").await.is_json(r#"{"servers":[]}"#);
}

#[tokio::test]
async fn an_unknown_method_and_bad_params_are_errors_of_the_protocol() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    for (message, code) in [
        (json!({"jsonrpc": "2.0", "id": "a", "method": "nope"}), -32601),
        (json!({"jsonrpc": "2.0", "id": "a", "method": "session/new", "params": {}}), -32602),
        (json!({"jsonrpc": "2.0", "id": "a", "method": "session/load", "params": []}), -32602),
    ] {
        let answer = client.post("", &message).await;
        assert_eq!((answer.status, &answer.json()["id"]), (200, &json!("a")));
        assert_eq!(answer.json()["error"]["code"], code);
    }
    // Nobody asked for it, or nobody waits for it any more: no reason to end a conversation.
    let answer = json!({"jsonrpc": "2.0", "id": 99, "result": {}});
    assert_eq!(client.post("", &answer).await.status, 202);
}

#[tokio::test]
async fn a_name_may_hold_any_sign_and_has_a_longest_length() {
    let server = Server::start().await;
    let client = Client::new(&server, "a%20%2F%C3%BC%3F");
    assert_eq!(client.post("?agent=mock", &greeting()).await.status, 200);
    let list = server.get("/v1/acp").await.json();
    assert_eq!(list["servers"][0]["serverId"], "a /ü?");
    let long = Client::new(&server, &"x".repeat(257));
    let words = "a server id is 1 to 256 bytes without control characters";
    long.post("?agent=mock", &greeting()).await.is_invalid(words);
    let broken = Client::new(&server, "%ff");
    assert_eq!(broken.post("?agent=mock", &greeting()).await.status, 400);
}

#[tokio::test]
async fn an_agent_belongs_to_the_key_that_began_it() {
    let server = with_keys().await;
    let (one, _) = key(&server, &json!({"role": "viewer"})).await;
    let (other, _) = key(&server, &json!({"role": "owner"})).await;
    let first = Client::with_key(&server, "s1", &one);
    first.begin(json!({})).await;
    for stranger in [other.as_str(), TOKEN] {
        let stranger = Client::with_key(&server, "s1", stranger);
        let unheard = server.send(stranger.ask("GET", "")).await;
        unheard.is_kind(404, "session_not_found");
        stranger.post("", &greeting()).await.is_kind(400, "invalid_argument");
        assert_eq!(server.send(stranger.ask("DELETE", "")).await.status, 204);
        // A name that somebody else chose too means another agent.
        stranger.begin(json!({})).await;
    }
    let list = ask("GET", "/v1/acp").header("authorization", &format!("Bearer {one}"));
    let list = server.send(list).await.json();
    assert_eq!(list["servers"].as_array().unwrap().len(), 1);
    first.prompt(2, "mock-session-1", "still here").await;
}

#[tokio::test]
async fn a_key_talks_with_so_many_agents_and_no_more() {
    let server = with_keys().await;
    let (key, _) = key(&server, &json!({"role": "viewer"})).await;
    for number in 0..64 {
        let client = Client::with_key(&server, &format!("s{number}"), &key);
        assert_eq!(client.post("?agent=mock", &greeting()).await.status, 200);
    }
    let answer = Client::with_key(&server, "more", &key).post("?agent=mock", &greeting()).await;
    answer.is_kind(429, "too_many_requests");
    assert!(answer.header("retry-after").is_some());
    let first = Client::with_key(&server, "s0", &key);
    assert_eq!(server.send(first.ask("DELETE", "")).await.status, 204);
    let answer = Client::with_key(&server, "more", &key).post("?agent=mock", &greeting()).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_viewer_can_have_nothing_written_at_the_server() {
    let server = with_keys().await;
    server.put("there.txt", "as it was");
    let (key, _) = key(&server, &json!({"role": "viewer"})).await;
    let client = Client::with_key(&server, "s1", &key);
    client.begin(files()).await;
    let mut listener = client.listen(Some(2)).await;
    let text = format!("write {} changed", server.shown("there.txt"));
    let turn = client.prompt(2, "mock-session-1", &text);
    let serving = async {
        let asked = listener.next().await.unwrap().data;
        let done = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}});
        client.post("", &done).await;
    };
    tokio::join!(turn, serving);
    assert_eq!(
        (server.names(), server.content("there.txt")),
        (vec!["there.txt".into()], "as it was".into())
    );
}

#[tokio::test]
async fn a_stream_ends_with_the_key_that_opened_it() {
    let server = with_keys().await;
    let (key, id) = key(&server, &json!({"role": "viewer"})).await;
    let client = Client::with_key(&server, "s1", &key);
    client.begin(json!({})).await;
    let mut listener = client.listen(Some(2)).await;
    let revoke = ask("DELETE", &format!("/v1/keys/{id}"));
    let revoke = revoke.header("authorization", &format!("Bearer {TOKEN}"));
    assert_eq!(server.send(revoke).await.status, 204);
    assert_eq!(listener.next().await, None);
    assert_eq!(client.post("", &greeting()).await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_keeps_nobody_waiting() {
    let server = Server::start().await;
    let client = Client::new(&server, "s1");
    client.begin(json!({})).await;
    let mut listener = client.listen(Some(2)).await;
    let prompt = json!([{"type": "text", "text": "a\nwait 60"}]);
    let params = json!({"sessionId": "mock-session-1", "prompt": prompt});
    let prompt = json!({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params});
    let body = prompt.to_string();
    let ask = client.ask("POST", "").header("content-type", "application/json").body(body);
    let mut stream = server.connect().await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, &ask.into_bytes()).await.unwrap();
    listener.next().await.unwrap();
    let Server { stop, ended, .. } = server;
    stop.send(()).unwrap();
    let answer = crate::http::answer(&mut stream, false).await;
    answer.is_kind(503, "unavailable");
    tokio::time::timeout(SOON, ended).await.expect("it does not end").unwrap().unwrap();
}

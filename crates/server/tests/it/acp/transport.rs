//! How messages come and go: the rules of `/v2/rpc` that are those of HTTP.

use serde_json::{Value, json};
use server::{Access, Options};

use super::client::{Client, greeting};
use crate::http::{Server, ask};

#[tokio::test]
async fn a_greeting_opens_a_connection_that_is_counted_from_one() {
    let server = Server::start().await;
    let answer = Client::stranger(&server).post(&greeting("mock")).await;
    assert_eq!((answer.status, answer.header("x-acp-connection-id")), (200, Some("acp_conn_1")));
    let result = &answer.json()["result"];
    assert_eq!(result["protocolVersion"], 1);
    let ours = &result["agentCapabilities"]["_meta"]["sandboxagent.dev"];
    for word in ["fsListEntries", "fsUploadBatch", "sessionList", "sessionEndedNotification"] {
        assert_eq!(ours["extensions"][word], true, "{word}");
    }
    for word in ["agentList", "agentInstall", "sessionListModels"] {
        assert_eq!(ours["extensions"][word], false, "{word}");
    }
    assert_eq!(Client::connect(&server).await.connection.as_deref(), Some("acp_conn_2"));
}

#[tokio::test]
async fn a_greeting_without_an_id_is_accepted_and_opens_a_connection_too() {
    let server = Server::start().await;
    let mut message = greeting("mock");
    message.as_object_mut().unwrap().remove("id");
    let answer = Client::stranger(&server).post(&message).await;
    assert_eq!((answer.status, answer.text()), (202, ""));
    assert_eq!(answer.header("x-acp-connection-id"), Some("acp_conn_1"));
}

#[tokio::test]
async fn file_work_is_the_same_for_every_agent() {
    let server = Server::start().await;
    server.put("f.txt", "hello");
    for agent in ["mock", "claude", "codex", "opencode", "amp"] {
        let client = Client::stranger(&server).connected(agent).await;
        let stat = client.files("stat", json!({"path": "f.txt"})).await;
        assert_eq!(stat["size"], 5, "{agent}");
    }
}

#[tokio::test]
async fn an_agent_that_is_missing_or_unknown_is_a_400_that_says_so() {
    let server = Server::start().await;
    let stranger = Client::stranger(&server);
    let answer = stranger.post(&greeting("zzz")).await;
    answer.is_problem(400, "unsupported_agent", "Unsupported Agent", "unsupported agent: zzz");
    assert_eq!(answer.json()["agent"], "zzz");
    let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
    let words = "initialize requires params._meta[\"sandboxagent.dev\"].agent";
    stranger.post(&bare).await.is_invalid(words);
    stranger.post(&greeting("")).await.is_invalid(words);
}

#[tokio::test]
async fn the_first_message_must_be_a_greeting() {
    let server = Server::start().await;
    let stranger = Client::stranger(&server);
    let words = "first ACP request without client id must be initialize";
    let stat = json!({"jsonrpc": "2.0", "id": 1, "method": "_sandboxagent/fs/stat"});
    stranger.post(&stat).await.is_invalid(words);
    let words = "first ACP request must include method";
    stranger.post(&json!({"jsonrpc": "2.0", "id": 1, "result": 1})).await.is_invalid(words);
    stranger.post(&json!([greeting("mock")])).await.is_invalid(words);
}

#[tokio::test]
async fn an_unknown_connection_is_404_for_whoever_calls_or_listens() {
    let server = Server::start().await;
    let lost = Client { connection: Some("acp_conn_9".to_owned()), ..Client::stranger(&server) };
    let stat = json!({"jsonrpc": "2.0", "id": 1, "method": "_sandboxagent/fs/stat"});
    for answer in [lost.post(&stat).await, server.send(lost.listening(None)).await] {
        let words = "unknown ACP client id";
        answer.is_problem(404, "client_not_found", "ACP client not found", words);
        answer.is_kind(404, "connection_not_found");
    }
    // The greeting does not revive it.
    assert_eq!(lost.post(&greeting("mock")).await.status, 404);
}

#[tokio::test]
async fn two_connection_headers_are_refused() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let ask = client.ask("DELETE", "/v2/rpc").header("x-acp-connection-id", "acp_conn_1");
    server.send(ask).await.is_invalid("more than one x-acp-connection-id");
}

#[tokio::test]
async fn a_message_must_say_that_it_is_json_and_take_json() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "session/list"}).to_string();
    for kind in ["text/plain", "application/x-tar", "application/vnd.api+json", ""] {
        let ask = client.ask("POST", "/v2/rpc").header("content-type", kind).body(&*message);
        assert_eq!(server.send(ask).await.status, 415, "{kind}");
    }
    let untyped = client.ask("POST", "/v2/rpc").body(&*message);
    server.send(untyped).await.is_kind(415, "invalid_argument");
    let json =
        client.ask("POST", "/v2/rpc").header("content-type", "application/json; charset=utf-8");
    let taking = |accept: &str| json.clone().header("accept", accept).body(&*message);
    server.send(taking("text/html")).await.is_kind(406, "not_acceptable");
    for accept in ["application/json, text/event-stream", "*/*", "application/*"] {
        assert_eq!(server.send(taking(accept)).await.status, 200, "{accept}");
    }
}

#[tokio::test]
async fn an_agent_in_a_header_is_refused() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let ask = client.ask("POST", "/v2/rpc").header("content-type", "application/json");
    let ask = ask.header("x-acp-agent", "mock").body("{}");
    server.send(ask).await.is_invalid("x-acp-agent is not a header of this server");
}

#[tokio::test]
async fn whoever_listens_must_take_events_and_name_his_connection() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let picky = client.ask("GET", "/v2/rpc").header("accept", "application/json");
    server.send(picky).await.is_kind(406, "not_acceptable");
    let words = "missing x-acp-connection-id header";
    server.get("/v2/rpc").await.is_invalid(words);
    server.send(ask("DELETE", "/v2/rpc")).await.is_invalid(words);
    let wrong = client.ask("GET", "/v2/rpc").header("last-event-id", "one");
    server.send(wrong).await.is_invalid("Last-Event-ID must be a positive integer");
}

#[tokio::test]
async fn a_connection_is_closed_as_often_as_one_likes_and_its_sessions_stay() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("my-session").await;
    let mut listener = client.listen(None).await;
    for _ in 0..2 {
        let answer = server.send(client.ask("DELETE", "/v2/rpc")).await;
        assert_eq!((answer.status, answer.text()), (204, ""));
    }
    assert_eq!(listener.next().await, None);
    let gone = client.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "session/list"})).await;
    assert_eq!(gone.status, 404);
    let other = Client::connect(&server).await;
    let found = other.call("_sandboxagent/session/get", json!({"sessionId": "my-session"})).await;
    assert_eq!(found["sessionId"], "my-session");
}

#[tokio::test]
async fn whoever_is_connected_may_be_greeted_again_but_not_for_another_agent() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let params = greeting("mock")["params"].clone();
    assert_eq!(client.call("initialize", params).await["protocolVersion"], 1);
    let error = client.fail("initialize", greeting("claude")["params"].clone()).await;
    assert_eq!(error["data"]["status"], 409);
    let wrong = client.fail("initialize", json!({"protocolVersion": "one"})).await;
    assert_eq!(wrong["code"], -32602);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_413() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let long = format!("\"{}\"", "x".repeat(2 * 1024 * 1024));
    client.send_text(&long).await.is_kind(413, "limit_exceeded");
}

#[tokio::test]
async fn what_is_no_route_is_404_and_another_method_405() {
    let server = Server::start().await;
    for target in ["/v2/fs/mkdir?path=a", "/v2/fs/entries", "/v2/fs/stat", "/v2/sessions", "/v2"] {
        assert_eq!(server.send(ask("POST", target)).await.status, 404, "{target}");
    }
    assert_eq!(server.send(ask("PUT", "/v2/rpc")).await.status, 405);
}

#[tokio::test]
async fn every_route_asks_for_the_token() {
    let server = Server::with(Options::new(Access::Token("secret".to_owned()))).await;
    let routes = [
        ("GET", "/v2/health"),
        ("POST", "/v2/rpc"),
        ("GET", "/v2/rpc"),
        ("DELETE", "/v2/rpc"),
        ("GET", "/v2/fs/file?path=a"),
        ("PUT", "/v2/fs/file?path=a"),
        ("POST", "/v2/fs/upload-batch"),
    ];
    for (method, target) in routes {
        server.send(ask(method, target)).await.is_kind(401, "token_invalid");
    }
    let health = ask("GET", "/v2/health").header("authorization", "Bearer secret");
    server.send(health).await.is_json(r#"{"status":"ok"}"#);
    let client = Client::with_key(&server, "secret").await;
    assert_eq!(client.files("list_entries", Value::Null).await, json!({"entries": []}));
}

#[tokio::test]
async fn pages_that_are_invited_see_the_connection_and_when_to_come_back() {
    let mut options = Options::new(Access::Open);
    options.cors.origins = vec!["https://app.example".to_owned()];
    let server = Server::with(options).await;
    let asked = ask("GET", "/v2/health").header("origin", "https://app.example");
    let exposed = server.send(asked).await;
    let exposed = exposed.header("access-control-expose-headers").unwrap().to_owned();
    assert!(
        exposed.contains("x-acp-connection-id") && exposed.contains("retry-after"),
        "{exposed}"
    );
}

#[tokio::test]
async fn connections_are_counted_in_the_metrics() {
    let server = Server::start().await;
    let count = async || {
        let text = server.get("/metrics").await.text().to_owned();
        let line = text.lines().find(|line| line.starts_with("sandkeep_http_agent_connections "));
        line.unwrap().rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(count().await, "0");
    let client = Client::connect(&server).await;
    Client::connect(&server).await;
    assert_eq!(count().await, "2");
    server.send(client.ask("DELETE", "/v2/rpc")).await;
    assert_eq!(count().await, "1");
}

#[tokio::test]
async fn a_greeting_without_an_id_that_cannot_be_meant_is_a_400_and_no_answer() {
    let server = Server::start().await;
    let mut message = greeting("mock");
    message["params"]["protocolVersion"] = json!("one");
    let answered = Client::stranger(&server).post(&message).await;
    assert_eq!((answered.status, &answered.json()["error"]["code"]), (200, &json!(-32602)));
    message.as_object_mut().unwrap().remove("id");
    let refused = Client::stranger(&server).post(&message).await;
    refused.is_invalid("initialize: params.protocolVersion is not a version");
    assert!(refused.header("x-acp-connection-id").is_none());
}

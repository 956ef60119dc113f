//! What is said and answered.

use serde_json::{Value, json};

use super::client::{Client, GREETED, MODERN, Stream, modern, request};
use crate::http::{Server, ask};

#[tokio::test]
async fn a_session_is_greeted_and_lists_and_calls_tools() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let listed = client.call("tools/list", json!({})).await;
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"read_file") && names.contains(&"write_file"));
    // A directory can take no batches, and has no snapshots here.
    assert!(!names.contains(&"batch") && !names.contains(&"snapshot"));
    let read = &listed["tools"][0];
    assert_eq!(read["annotations"]["readOnlyHint"], true);
    assert!(read["inputSchema"]["properties"]["path"].is_object());
    assert!(read["outputSchema"]["properties"]["data"].is_object());
    client.tool("write_file", json!({"path": "a.txt", "content": "hi\n"})).await;
    assert_eq!(server.content("a.txt"), "hi\n");
    let result = client.tool("read_file", json!({"path": "a.txt"})).await;
    assert_eq!(result["content"], json!([{"type": "text", "text": "hi\n"}]));
    assert_eq!(result["structuredContent"]["data"]["content"], "hi\n");
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn a_request_of_2026_stands_alone() {
    let server = Server::start().await;
    server.put("a.txt", "hi");
    let client = Client::stranger(&server);
    let found = server.send(client.alone(&modern("server/discover", json!({})))).await;
    assert_eq!(found.status, 200, "{}", found.text());
    let found = found.json();
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)) && versions.contains(&json!(GREETED)));
    assert!(found["result"]["instructions"].as_str().unwrap().contains("sandbox `test`"));
    let call = modern("tools/call", json!({"name": "read_file", "arguments": {"path": "a.txt"}}));
    let answer = server.send(client.alone(&call)).await;
    assert_eq!(answer.header("mcp-session-id"), None);
    assert_eq!(answer.json()["result"]["content"][0]["text"], "hi");
}

#[tokio::test]
async fn a_tool_that_fails_is_a_result_and_a_tool_that_is_none_is_an_error() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    for arguments in [json!({"path": "none"}), json!({}), json!({"path": 1}), json!({"pth": "a"})] {
        let result = client.tool("read_file", arguments).await;
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["success"]),
            (&json!(true), &json!(false))
        );
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
    }
    let unknown = client.reply("tools/call", json!({"name": "rm", "arguments": {}})).await;
    assert_eq!(unknown["error"]["code"], -32602);
    let unfit = client.reply("tools/call", json!({"arguments": {}})).await;
    assert_eq!(unfit["error"]["code"], -32602);
    let unknown = client.reply("tools/destroy", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
}

#[tokio::test]
async fn resources_are_read_and_what_is_none_is_refused() {
    let server = Server::start().await;
    server.put("a b.txt", "text");
    std::fs::write(server.host("raw"), [0xff, 0]).unwrap();
    let client = Client::connect(&server).await;
    let listed = client.call("resources/list", json!({})).await;
    let uri = |name: &str| format!("sandkeep://test{}", server.shown(name));
    assert_eq!(listed["resources"][1]["uri"], uri("a%20b.txt"));
    let read = client.call("resources/read", json!({"uri": uri("a%20b.txt")})).await;
    assert_eq!(read["contents"][0]["text"], "text");
    let read = client.call("resources/read", json!({"uri": uri("raw")})).await;
    assert_eq!(read["contents"][0]["blob"], "/wA=");
    for (uri, code) in [
        (uri("none"), -32002),
        (uri("../x"), -32602),
        ("sandkeep://test/etc/passwd".to_owned(), -32602),
        ("file:///etc/passwd".to_owned(), -32602),
        (String::new(), -32602),
    ] {
        let reply = client.reply("resources/read", json!({"uri": uri})).await;
        assert_eq!(reply["error"]["code"], code, "{uri}: {reply}");
    }
}

#[tokio::test]
async fn a_resource_that_is_too_long_says_how_long_it_is() {
    let server = Server::start().await;
    let file = std::fs::File::create(server.host("long")).unwrap();
    file.set_len(17 << 20).unwrap();
    let client = Client::connect(&server).await;
    let uri = format!("sandkeep://test{}", server.shown("long"));
    let reply = client.reply("resources/read", json!({"uri": uri})).await;
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(message.contains("17825792 bytes") && message.contains("read_file"), "{message}");
}

#[tokio::test]
async fn what_is_no_message_is_refused_with_a_reason() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let send = |body: &str, kind: &str| {
        server.send(client.ask("POST").header("content-type", kind).body(body))
    };
    for body in ["", "{", "nonsense", "[]", "[1]", "{}", "null", "{\"jsonrpc\":\"1.0\",\"id\":1}"] {
        let answer = send(body, "application/json").await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        assert!(answer.json()["error"]["message"].is_string(), "{body}: {}", answer.text());
    }
    send("{}", "text/plain").await.is_kind(415, "invalid_argument");
    let plain = client.post(&request("tools/list", json!({})));
    let picky = ask("POST", "/mcp")
        .header("accept", "text/html")
        .header("content-type", "application/json");
    server.send(picky.body("{}")).await.is_kind(406, "not_acceptable");
    // Whoever takes everything takes both.
    let anything = ask("POST", "/mcp").header("content-type", "application/json");
    let alone = modern("server/discover", json!({}));
    let anything =
        anything.header("mcp-protocol-version", MODERN).header("mcp-method", "server/discover");
    assert_eq!(server.send(anything.body(alone.to_string())).await.status, 200);
    drop(plain);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let server = Server::start().await;
    let client = Client::stranger(&server);
    let body = vec![b' '; (33 << 20) + 1];
    let ask = client.ask("POST").header("content-type", "application/json").body(body);
    server.send(ask).await.is_kind(413, "limit_exceeded");
}

#[tokio::test]
async fn a_message_that_holds_too_much_or_something_twice_is_refused() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let many = format!("[{}0]", "0,".repeat(200_000));
    for (field, value, why) in
        [("values", many.as_str(), "too many values"), ("path", "\"b\"", "twice")]
    {
        let arguments = format!("{{\"path\":\"a\",\"{field}\":{value}}}");
        let params = format!("{{\"name\":\"exists\",\"arguments\":{arguments}}}");
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{params}}}"
        );
        let ask = client.ask("POST").header("content-type", "application/json").body(body);
        let refused = server.send(ask).await;
        assert_eq!(refused.status, 400);
        let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(why), "{message}");
    }
}

#[tokio::test]
async fn outside_of_a_session_nothing_but_its_beginning_is_heard() {
    let server = Server::start().await;
    let client = Client::stranger(&server);
    for message in [
        request("tools/list", json!({})),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ] {
        server.send(client.post(&message)).await.is_kind(400, "invalid_argument");
    }
    server.send(client.ask("GET")).await.is_kind(400, "invalid_argument");
    server.send(client.ask("DELETE")).await.is_kind(400, "invalid_argument");
    let modern = client.ask("GET").header("mcp-protocol-version", MODERN);
    let refused = server.send(modern).await;
    refused.is_kind(405, "method_not_allowed");
    assert_eq!(refused.header("allow"), Some("POST"));
}

#[tokio::test]
async fn an_id_that_is_not_answered_yet_cannot_be_used_again() {
    let server = Server::start().await;
    for number in 0..300 {
        server.put(&format!("many/{number}"), &"x".repeat(20_000));
    }
    let client = Client::connect(&server).await;
    let slow = json!({"name": "search", "arguments": {"content": "(x+x+)+y", "regex": true}});
    let (_, mut first) = Stream::open(&server, client.post(&request("tools/call", slow))).await;
    let second: Value = client.reply("tools/list", json!({})).await;
    // Either the first was over by then, or the second is refused; both are answered.
    let refused =
        second["error"]["message"].as_str().is_some_and(|it| it.contains("not answered yet"));
    assert!(refused || second["result"]["tools"].is_array(), "{second}");
    assert_eq!(first.until(|message| message["id"] == 7).await["id"], 7);
}

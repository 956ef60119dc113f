//! `_sandboxagent/fs/…`: the eight methods.

use serde_json::{Value, json};

use super::client::Client;
use crate::http::{Server, encoded};
use crate::tar_archive::archive;

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[tokio::test]
async fn a_listing_has_names_paths_types_sizes_and_times() {
    let server = Server::start().await;
    server.put("b.txt", "hello");
    server.put("a/x", "");
    let client = Client::connect(&server).await;
    let listed = client.files("list_entries", json!({"path": "."})).await;
    let entries = listed["entries"].as_array().unwrap();
    let names: Vec<_> = entries.iter().map(|it| (&it["name"], &it["entryType"])).collect();
    assert_eq!(names, [(&json!("a"), &json!("directory")), (&json!("b.txt"), &json!("file"))]);
    assert_eq!(entries[1]["path"], server.shown("b.txt"));
    assert_eq!(entries[1]["size"], 5);
    assert!(entries[1]["modified"].as_str().unwrap().ends_with("+00:00"));
    // Without params it is the home.
    assert_eq!(client.files("list_entries", Value::Null).await["entries"], listed["entries"]);
}

#[tokio::test]
async fn a_listing_comes_page_by_page_if_one_likes() {
    let server = Server::start().await;
    for name in ["a", "b", "c"] {
        server.put(name, "");
    }
    let client = Client::connect(&server).await;
    let first = client.files("list_entries", json!({"limit": 2})).await;
    assert_eq!((first["entries"].as_array().unwrap().len(), &first["nextAfter"]), (2, &json!("b")));
    let rest = client.files("list_entries", json!({"limit": 2, "after": "b"})).await;
    assert_eq!(rest["entries"][0]["name"], "c");
    assert_eq!(rest.get("nextAfter"), None);
}

#[tokio::test]
async fn a_long_listing_comes_whole() {
    let server = Server::start().await;
    for number in 0..3000 {
        server.put(&format!("file-{number:05}"), "");
    }
    let client = Client::connect(&server).await;
    let listed = client.files("list_entries", json!({})).await;
    assert_eq!(listed["entries"].as_array().unwrap().len(), 3000);
}

#[tokio::test]
async fn directories_are_made_and_files_moved_looked_at_and_deleted() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let made = client.files("mkdir", json!({"path": "d/e"})).await;
    assert_eq!(made, json!({"path": server.shown("d/e")}));
    server.put("f.txt", "hello");
    let moved = client.files("move", json!({"from": "f.txt", "to": "d/g.txt"})).await;
    assert_eq!(moved, json!({"from": server.shown("f.txt"), "to": server.shown("d/g.txt")}));
    let stat = client.files("stat", json!({"path": "d/g.txt"})).await;
    assert_eq!((&stat["entryType"], &stat["size"]), (&json!("file"), &json!(5)));
    assert_eq!(stat["path"], server.shown("d/g.txt"));
    let gone = client.files("delete_entry", json!({"path": "d/g.txt"})).await;
    assert_eq!(gone, json!({"path": server.shown("d/g.txt")}));
    let full = client.fails("delete_entry", json!({"path": "d"})).await;
    assert_eq!((&full["kind"], &full["status"]), (&json!("directory_not_empty"), &json!(409)));
    client.files("delete_entry", json!({"path": "d", "recursive": true})).await;
    assert!(server.names().is_empty());
}

#[tokio::test]
async fn a_move_replaces_only_what_it_is_told_to() {
    let server = Server::start().await;
    server.put("a", "new");
    server.put("b", "old");
    let client = Client::connect(&server).await;
    let refused = client.fails("move", json!({"from": "a", "to": "b"})).await;
    let words = format!("invalid request: destination already exists: {}", server.shown("b"));
    assert_eq!(refused["detail"], words);
    let wrong = client.fails("move", json!({"from": "a", "to": "b", "overwrite": "yes"})).await;
    assert_eq!(wrong["status"], 400);
    client.files("move", json!({"from": "a", "to": "b", "overwrite": true})).await;
    assert_eq!(server.content("b"), "new");
}

#[tokio::test]
async fn small_files_are_read_and_written_as_base64() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let bytes: Vec<u8> = (0..=255).collect();
    let params = json!({"path": "d/all.bin", "contentBase64": base64(&bytes)});
    let written = client.files("write_file", params).await;
    assert_eq!(written, json!({"bytesWritten": 256, "path": server.shown("d/all.bin")}));
    assert_eq!(std::fs::read(server.host("d/all.bin")).unwrap(), bytes);
    let read = client.files("read_file", json!({"path": "d/all.bin"})).await;
    assert_eq!(
        read,
        json!({"contentBase64": base64(&bytes), "path": server.shown("d/all.bin"), "size": 256})
    );
    client.files("write_file", json!({"path": "e", "content_base64": ""})).await;
    assert_eq!(server.content("e"), "");
    let wrong = client.fails("write_file", json!({"path": "e", "contentBase64": "?"})).await;
    let words = "invalid request: _sandboxagent/fs/write_file invalid base64 content: ";
    assert!(wrong["detail"].as_str().unwrap().starts_with(words), "{wrong}");
}

#[tokio::test]
async fn what_is_too_large_for_json_is_sent_to_the_route_that_streams() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let most = 1024 * 1024;
    server.put("large", &"x".repeat(most));
    assert_eq!(client.files("read_file", json!({"path": "large"})).await["size"], most);
    server.put("larger", &"x".repeat(most + 1));
    let refused = client.fails("read_file", json!({"path": "larger"})).await;
    assert_eq!((&refused["status"], &refused["max"]), (&json!(413), &json!(most)));
    assert!(refused["hint"].as_str().unwrap().contains("GET /v2/fs/file"), "{refused}");
    let content = base64(&vec![0; most + 1]);
    let refused = client.fails("write_file", json!({"path": "w", "contentBase64": content})).await;
    assert!(refused["hint"].as_str().unwrap().contains("PUT /v2/fs/file"), "{refused}");
    assert!(!server.has("w"));
}

#[tokio::test]
async fn an_archive_is_unpacked_and_a_bad_one_leaves_nothing() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let good = base64(&archive(&[("a/", ""), ("a/b.txt", "hello")]));
    let unpacked = client.files("upload_batch", json!({"path": "up", "contentBase64": good})).await;
    let paths = json!([server.shown("up/a"), server.shown("up/a/b.txt")]);
    assert_eq!(unpacked, json!({"paths": paths, "truncated": false}));
    assert_eq!(server.content("up/a/b.txt"), "hello");
    let bad = base64(&archive(&[("ok", "x"), ("../out", "x")]));
    let refused = client.fails("upload_batch", json!({"path": "bad", "contentBase64": bad})).await;
    assert_eq!(refused["kind"], "bad_archive", "{refused}");
    assert!(!server.has("bad") && !server.has("out"));
}

#[tokio::test]
async fn an_answer_names_the_first_1024_paths_of_an_archive() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let names: Vec<String> = (0..1030).map(|number| format!("f{number}")).collect();
    let members: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let tar = base64(&archive(&members));
    let unpacked = client.files("upload_batch", json!({"contentBase64": tar})).await;
    assert_eq!(unpacked["paths"].as_array().unwrap().len(), 1024);
    assert_eq!(unpacked["truncated"], true);
    assert_eq!(server.names().len(), 1030);
}

#[tokio::test]
async fn a_path_that_leads_out_is_refused_by_every_method() {
    let server = Server::start().await;
    server.put("f", "x");
    let client = Client::connect(&server).await;
    let methods = [
        "list_entries",
        "stat",
        "mkdir",
        "delete_entry",
        "read_file",
        "write_file",
        "upload_batch",
    ];
    for method in methods {
        for (path, kind) in [
            ("../x", "invalid_path"),
            ("a/../../x", "invalid_path"),
            ("/etc/passwd", "outside_sandbox"),
        ] {
            let params = json!({"path": path, "contentBase64": ""});
            let refused = client.fails(method, params).await;
            assert_eq!(
                (&refused["status"], &refused["kind"]),
                (&json!(400), &json!(kind)),
                "{method} {path}"
            );
        }
    }
    for trip in [json!({"from": "f", "to": "../x"}), json!({"from": "/etc/passwd", "to": "x"})] {
        assert_eq!(client.fails("move", trip).await["status"], 400);
    }
    std::os::unix::fs::symlink("/etc", server.host("link")).unwrap();
    let refused = client.fails("list_entries", json!({"path": "link"})).await;
    assert_eq!(refused["kind"], "outside_sandbox");
    assert_eq!(server.names(), ["f", "link"]);
}

#[tokio::test]
async fn a_failure_carries_the_same_problem_as_v1() {
    let server = Server::start().await;
    server.put("f", "x");
    let client = Client::connect(&server).await;
    let cases = [
        ("stat", "missing", "/v1/fs/stat?path=missing"),
        ("stat", "f/below", "/v1/fs/stat?path=f/below"),
        ("list_entries", "f", "/v1/fs/entries?path=f"),
        ("read_file", ".", "/v1/fs/file?path=."),
        ("stat", "a\0b", "/v1/fs/stat?path=a%00b"),
        ("stat", "../up", "/v1/fs/stat?path=../up"),
        ("stat", "/outside", "/v1/fs/stat?path=/outside"),
    ];
    for (method, path, target) in cases {
        let error = client.fail(&format!("_sandboxagent/fs/{method}"), json!({"path": path})).await;
        let problem = server.get(target).await.json();
        assert_eq!(error["data"], problem, "{method} {path}");
        assert_eq!(error["message"], problem["detail"]);
    }
    let long = "x".repeat(300);
    let error = client.fails("stat", json!({"path": long})).await;
    assert_eq!(error, server.get(&format!("/v1/fs/stat?path={}", encoded(&long))).await.json());
}

#[tokio::test]
async fn an_unknown_session_is_404_with_its_id() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let error =
        client.fail("_sandboxagent/fs/stat", json!({"path": "a", "sessionId": "none"})).await;
    assert_eq!(error["code"], -32002);
    let told = (&error["data"]["status"], &error["data"]["sessionId"]);
    assert_eq!(told, (&json!(404), &json!("none")));
    // An absolute path needs no session.
    server.put("a", "");
    let params = json!({"path": server.shown("a"), "sessionId": "none"});
    client.files("stat", params).await;
}

#[tokio::test]
async fn the_answers_to_a_batch_are_bounded_and_what_changed_something_is_told() {
    let server = Server::start().await;
    server.put("large", &"x".repeat(1024 * 1024));
    let client = Client::connect(&server).await;
    let read = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "_sandboxagent/fs/read_file", "params": {"path": "large"}});
    let mut batch: Vec<Value> = (0..10).map(read).collect();
    batch.push(json!({"jsonrpc": "2.0", "id": 99, "method": "_sandboxagent/fs/mkdir", "params": {"path": "d"}}));
    let answer = client.post(&batch.into()).await;
    assert!(answer.body.len() < 9 * 1024 * 1024, "{}", answer.body.len());
    let replies = answer.json();
    assert_eq!(replies[0]["result"]["size"], 1024 * 1024);
    assert_eq!(replies[9]["error"]["data"]["kind"], "limit_exceeded");
    assert_eq!(replies[10]["result"]["path"], server.shown("d"));
}

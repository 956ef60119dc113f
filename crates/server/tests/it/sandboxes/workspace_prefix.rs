//! Clients that put `workspace/` before every path.

use server::{Access, Options};

use super::{HOST, content, fields, names, put};
use crate::http::{Server, ask};

async fn stripping() -> Server {
    let mut options = Options::new(Access::Open);
    options.strip_workspace_prefix = true;
    Server::with(options).await
}

#[tokio::test]
async fn the_word_is_taken_off_when_the_operator_says_so() {
    let server = stripping().await;
    put(&server, HOST, "workspace/app.py", "x").await;
    assert_eq!(server.names(), ["app.py"]);
    assert_eq!(content(&server, HOST, "app.py").await, "x");
    assert_eq!(content(&server, HOST, "workspace/app.py").await, "x");
    assert_eq!(names(&server, &format!("{HOST}/fs-list/workspace")).await, ["app.py"]);
    let trip = r#"{"from":"/workspace/app.py","to":"workspace/b.py"}"#;
    assert_eq!(server.post_json(&format!("{HOST}/fs-move"), trip).await.status, 200);
    assert_eq!(server.names(), ["b.py"]);
    assert_eq!(server.send(ask("DELETE", &format!("{HOST}/fs/workspace/b.py"))).await.status, 204);
    assert!(server.names().is_empty());
}

#[tokio::test]
async fn the_word_is_a_name_like_any_other_otherwise() {
    let server = Server::start().await;
    put(&server, HOST, "workspace/app.py", "x").await;
    assert_eq!(server.names(), ["workspace"]);
}

#[tokio::test]
async fn a_cursor_at_a_directory_of_that_name_goes_on() {
    let server = stripping().await;
    server.put("a", "");
    server.put("workspace/x", "");
    server.put("z", "");
    let page = server.get(&format!("{HOST}/fs-list?limit=2")).await;
    assert_eq!(fields(&page, "name"), ["a", "workspace"]);
    let next = page.json()["next_cursor"].as_str().unwrap().to_owned();
    assert_eq!(names(&server, &format!("{HOST}/fs-list?limit=2&cursor={next}")).await, ["z"]);
}

//! Working directories for relative paths.

use engine::{DotDot, SandboxPath};
use server::{Access, Options};

use crate::http::{Server, ask};

async fn in_directory(name: &str) -> Server {
    let mut options = Options::new(Access::Open);
    options.working_directory = SandboxPath::parse(name, DotDot::Refuse).unwrap();
    let server = Server::with(options).await;
    server.put(&format!("{name}/here"), "x");
    server
}

async fn open(server: &Server, id: &str) -> crate::http::Answer {
    let ask = ask("POST", &format!("/v1/sessions/{id}"));
    server.send(ask.header("content-type", "application/json").body(r#"{"agent":"mock"}"#)).await
}

#[tokio::test]
async fn a_session_is_healthy() {
    open(&Server::start().await, "s1").await.is_json(r#"{"healthy":true}"#);
}

#[tokio::test]
async fn a_session_is_opened_once() {
    let server = Server::start().await;
    open(&server, "s1").await;
    let answer = open(&server, "s1").await;
    let (word, title) = ("session_already_exists", "Session Already Exists");
    answer.is_problem(409, word, title, "session already exists: s1");
    assert_eq!(answer.json()["sessionId"], "s1");
}

#[tokio::test]
async fn relative_paths_begin_at_the_working_directory_of_the_session() {
    let server = in_directory("work").await;
    open(&server, "s1").await;
    let shown = server.shown("work/here");
    for query in ["sessionId=s1", "session_id=s1", "sessionId=s1&session_id=s1"] {
        let answer = server.get(&format!("/v1/fs/stat?path=here&{query}")).await;
        assert_eq!(answer.json()["path"], shown, "{query}");
    }
    let words = format!("path not found: {}", server.shown("here"));
    server.get("/v1/fs/stat?path=here").await.is_invalid(&words);
}

#[tokio::test]
async fn every_route_takes_a_session() {
    let server = in_directory("work").await;
    open(&server, "s").await;
    let q = "sessionId=s";
    assert_eq!(
        server.send(ask("PUT", &format!("/v1/fs/file?path=f&{q}")).body("1")).await.status,
        200
    );
    let append = ask("PATCH", &format!("/v1/fs/file?path=f&{q}")).header("x-append", "1").body("2");
    assert_eq!(server.send(append).await.status, 200);
    assert_eq!(server.get(&format!("/v1/fs/file?path=f&{q}")).await.text(), "12");
    assert_eq!(server.get(&format!("/v1/fs/entries?{q}")).await.json()[0]["name"], "f");
    let json = r#"{"from":"f","to":"g"}"#;
    assert_eq!(server.post_json(&format!("/v1/fs/copy?{q}"), json).await.status, 200);
    let json = r#"{"from":"g","to":"h"}"#;
    assert_eq!(server.post_json(&format!("/v1/fs/move?{q}"), json).await.status, 200);
    assert_eq!(server.send(ask("POST", &format!("/v1/fs/mkdir?path=d&{q}"))).await.status, 200);
    assert_eq!(server.send(ask("DELETE", &format!("/v1/fs/entry?path=d&{q}"))).await.status, 200);
    assert_eq!(server.get(&format!("/v1/fs/download-batch?{q}")).await.status, 200);
    assert_eq!(server.content("work/h"), "12");
}

#[tokio::test]
async fn an_unknown_session_is_a_404_for_relative_paths_only() {
    let server = Server::start().await;
    server.put("f", "x");
    let answer = server.get("/v1/fs/stat?path=f&sessionId=nobody").await;
    let (word, title) = ("session_not_found", "Session Not Found");
    answer.is_problem(404, word, title, "session not found: nobody");
    assert_eq!(answer.json()["sessionId"], "nobody");
    let target = format!("/v1/fs/stat?path={}&sessionId=nobody", server.shown("f"));
    assert_eq!(server.get(&target).await.status, 200);
}

#[tokio::test]
async fn two_names_of_a_session_may_not_differ() {
    let server = Server::start().await;
    let answer = server.get("/v1/fs/stat?path=.&sessionId=a&session_id=b").await;
    answer.is_kind(400, "invalid_argument");
}

#[tokio::test]
async fn a_session_id_that_cannot_be_is_a_400() {
    let server = Server::start().await;
    for id in ["a%0Ab", &"x".repeat(257), "%ff"] {
        let answer = open(&server, id).await;
        assert_eq!(answer.status, 400, "{id}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    }
}

#[tokio::test]
async fn a_session_is_of_no_use_to_another_key() {
    let server = Server::with(Options::new(Access::Token("the-token".into()))).await;
    server.put("f", "x");
    let send = async |method: &'static str, target: &str, key: &str, body: &str| {
        let ask = ask(method, target)
            .header("authorization", &format!("Bearer {key}"))
            .header("content-type", "application/json");
        server.send(ask.body(body)).await
    };
    let mut keys = Vec::new();
    for _ in 0..2 {
        let made = send("POST", "/v1/keys", "the-token", r#"{"role":"developer"}"#).await;
        keys.push(made.json()["key"].as_str().unwrap().to_owned());
    }
    assert_eq!(send("POST", "/v1/sessions/s1", &keys[0], "{}").await.status, 200);
    let file = "/v1/fs/file?path=f&sessionId=s1";
    assert_eq!(send("GET", file, &keys[0], "").await.status, 200);
    for other in [&keys[1], "the-token"] {
        assert_eq!(send("GET", file, other, "").await.status, 404);
    }
    // Nor is its name taken for others.
    assert_eq!(send("POST", "/v1/sessions/s1", &keys[1], "{}").await.status, 200);
}

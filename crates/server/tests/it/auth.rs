//! Who is let in.

use server::{Access, Cors, Options};

use crate::http::{Ask, Server, answer, ask};

const TOKEN: &str = "correct-horse";

async fn locked() -> Server {
    Server::with(Options::new(Access::Token(TOKEN.to_owned()))).await
}

fn guarded() -> Vec<Ask> {
    vec![
        ask("GET", "/v1/health"),
        ask("GET", "/v1/fs/entries"),
        ask("GET", "/v1/fs/file?path=f"),
        ask("HEAD", "/v1/fs/file?path=f"),
        ask("PUT", "/v1/fs/file?path=f").body("x"),
        ask("PATCH", "/v1/fs/file?path=f").header("x-append", "1").body("x"),
        ask("DELETE", "/v1/fs/entry?path=f"),
        ask("POST", "/v1/fs/mkdir?path=d"),
        ask("POST", "/v1/fs/move").header("content-type", "application/json").body("{}"),
        ask("POST", "/v1/fs/copy").header("content-type", "application/json").body("{}"),
        ask("GET", "/v1/fs/stat?path=f"),
        ask("POST", "/v1/fs/upload-batch").header("content-type", "application/x-tar"),
        ask("GET", "/v1/fs/download-batch"),
        ask("POST", "/v1/sessions/s1"),
        ask("GET", "/metrics"),
        // Even what cannot succeed is not told apart before the token is right.
        ask("POST", "/v1/fs/entries"),
        ask("GET", "/v1/fs/file"),
    ]
}

#[tokio::test]
async fn every_guarded_route_is_a_401_without_the_token() {
    let server = locked().await;
    server.put("f", "x");
    for ask in guarded() {
        assert_eq!(server.send(ask).await.status, 401);
    }
    assert_eq!(server.names(), ["f"]);
    assert_eq!(server.content("f"), "x");
}

#[tokio::test]
async fn every_guarded_route_is_a_401_with_a_wrong_token() {
    let server = locked().await;
    server.put("f", "x");
    for ask in guarded() {
        let answer = server.send(ask.header("authorization", "Bearer wrong")).await;
        assert_eq!(answer.status, 401);
    }
    assert_eq!(server.content("f"), "x");
}

#[tokio::test]
async fn no_guarded_route_is_a_401_with_the_token() {
    let server = locked().await;
    server.put("f", "x");
    for ask in guarded() {
        let answer = server.send(ask.header("authorization", &format!("Bearer {TOKEN}"))).await;
        assert_ne!(answer.status, 401);
    }
}

#[tokio::test]
async fn the_401_is_the_problem_that_clients_know() {
    let server = locked().await;
    let answer = server.get("/v1/health").await;
    answer.is_problem(401, "token_invalid", "Token Invalid", "token invalid");
    assert!(answer.text().contains(
        r#""detail":"token invalid","details":{"message":"missing or invalid bearer token"},"#
    ));
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
}

#[tokio::test]
async fn only_the_exact_header_is_right() {
    let server = locked().await;
    let wrong = [
        format!("bearer {TOKEN}"),
        format!("BEARER {TOKEN}"),
        format!("Bearer  {TOKEN}"),
        format!("Bearer {TOKEN}x"),
        "Bearer correct-hors".to_owned(),
        "Bearer ".to_owned(),
        "Bearer".to_owned(),
        format!("Basic {TOKEN}"),
        TOKEN.to_owned(),
    ];
    for value in wrong {
        let answer = server.send(ask("GET", "/v1/health").header("authorization", &value)).await;
        assert_eq!(answer.status, 401, "{value}");
    }
    let twice = ask("GET", "/v1/health")
        .header("authorization", &format!("Bearer {TOKEN}"))
        .header("authorization", "Bearer other");
    assert_eq!(server.send(twice).await.status, 401);
    assert_eq!(server.get(&format!("/v1/health?token={TOKEN}")).await.status, 401);
}

#[tokio::test]
async fn what_says_nothing_about_the_sandbox_needs_no_token() {
    let server = locked().await;
    for target in ["/", "/healthz", "/readyz", "/openapi.json", "/docs"] {
        assert_eq!(server.get(target).await.status, 200, "{target}");
    }
    assert_eq!(server.get("/v1/unknown").await.status, 404);
    assert_eq!(server.send(ask("OPTIONS", "/v1/fs/file")).await.status, 200);
}

#[tokio::test]
async fn a_refused_body_is_not_asked_for() {
    let server = locked().await;
    let ask = ask("PUT", "/v1/fs/file?path=f")
        .header("expect", "100-continue")
        .header("content-length", "1000000");
    let mut stream = server.connect().await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, &ask.into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, false).await.status, 401);
}

#[tokio::test]
async fn a_token_that_cannot_be_sent_is_refused_at_the_start() {
    for token in ["", "two words", "tab\t", "ümlaut"] {
        let options = Options::new(Access::Token(token.to_owned()));
        let refused = crate::http::app(options).unwrap_err();
        assert!(refused.to_string().contains("(use letters"), "{token:?}: {refused}");
    }
}

#[tokio::test]
async fn an_open_server_can_refuse_foreign_host_names() {
    let mut options = Options::new(Access::Open);
    options.host_names = Some(vec!["box.example".to_owned()]);
    let server = Server::with(options).await;
    for host in ["localhost:2468", "127.0.0.1", "[::1]:80", "box.example", "BOX.example:99"] {
        let answer = server.send(ask("GET", "/v1/health").header("host", host)).await;
        assert_eq!(answer.status, 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "", "10.0.0.1"] {
        let answer = server.send(ask("GET", "/v1/health").header("host", host)).await;
        answer.is_kind(403, "forbidden");
    }
}

#[tokio::test]
async fn a_foreign_page_cannot_change_an_open_server() {
    let mut options = Options::new(Access::Open);
    options.cors = Cors { origins: vec!["https://friend.example".to_owned()], ..Cors::default() };
    let server = Server::with(options).await;
    let mkdir = |name: &str, origin: &str| {
        let ask = ask("POST", &format!("/v1/fs/mkdir?path={name}")).header("origin", origin);
        server.send(ask.header("host", "localhost:2468"))
    };
    mkdir("a", "https://evil.example").await.is_kind(403, "forbidden");
    mkdir("b", "null").await.is_kind(403, "forbidden");
    assert_eq!(mkdir("c", "https://friend.example").await.status, 200);
    assert_eq!(mkdir("d", "http://localhost:2468").await.status, 200);
    assert_eq!(server.names(), ["c", "d"]);
}

//! Web pages, and names that a page points at this machine.

use serde_json::json;
use server::{Access, Cors, Options};

use super::client::{Client, greeting};
use crate::http::Server;
use crate::roles::TOKEN;

#[tokio::test]
async fn a_page_that_was_not_invited_is_refused_whatever_it_knows() {
    for access in [Access::Open, Access::Token(TOKEN.to_owned())] {
        let server = Server::with(Options::new(access)).await;
        let client = Client { key: Some(TOKEN.to_owned()), ..Client::stranger(&server) };
        for method in ["GET", "DELETE"] {
            let ask = client.ask(method).header("origin", "https://evil.example");
            server.send(ask).await.is_kind(403, "forbidden");
        }
        let ask = client.post(&greeting()).header("origin", "https://evil.example");
        server.send(ask).await.is_kind(403, "forbidden");
    }
}

#[tokio::test]
async fn a_page_that_was_invited_is_heard() {
    let cors = Cors { origins: vec!["https://good.example".to_owned()], ..Cors::default() };
    let server = Server::with(Options { cors, ..Options::new(Access::Open) }).await;
    let ask = Client::stranger(&server).post(&greeting());
    let answer = server.send(ask.header("origin", "https://good.example")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://good.example"));
}

#[tokio::test]
async fn an_open_server_answers_to_its_own_names() {
    let host_names = Some(Vec::new());
    let server = Server::with(Options { host_names, ..Options::new(Access::Open) }).await;
    let ask = Client::stranger(&server).post(&greeting());
    server.send(ask.header("host", "evil.example")).await.is_kind(403, "forbidden");
}

#[tokio::test]
async fn a_page_may_read_which_session_it_has() {
    let cors = Cors { origins: vec!["https://good.example".to_owned()], ..Cors::default() };
    let server = Server::with(Options { cors, ..Options::new(Access::Open) }).await;
    let ask = Client::stranger(&server).post(&json!({})).header("origin", "https://good.example");
    let answer = server.send(ask).await;
    let exposed = answer.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("mcp-session-id"), "{exposed}");
}

//! Which web pages may ask.

use server::{Access, Cors, Options};

use crate::http::{Server, app, ask};

const VARY: &str = "origin, access-control-request-method, access-control-request-headers";

async fn with(cors: Cors) -> Server {
    let mut options = Options::new(Access::Token("t".to_owned()));
    options.cors = cors;
    Server::with(options).await
}

fn origin(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

#[tokio::test]
async fn without_origins_none_is_allowed_but_preflights_are_answered() {
    let server = with(Cors::default()).await;
    let ask = ask("OPTIONS", "/v1/fs/file").header("origin", "https://a.example");
    let answer = server.send(ask.header("access-control-request-method", "PUT")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(answer.header("access-control-allow-methods"), Some("*"));
    assert_eq!(answer.header("access-control-allow-headers"), Some("*"));
    assert!(answer.header("allow").unwrap().contains("PUT"));
}

#[tokio::test]
async fn a_matching_origin_is_echoed_and_another_is_not() {
    let server = with(Cors { origins: origin("https://a.example"), ..Cors::default() }).await;
    let from = |origin| server.send(ask("GET", "/v1/health").header("origin", origin));
    let answer = from("https://a.example").await;
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://a.example"));
    assert_eq!(from("https://b.example").await.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn every_answer_varies_by_origin() {
    let server = with(Cors::default()).await;
    for target in ["/", "/v1/health", "/no/such", "/docs"] {
        assert_eq!(server.get(target).await.header("vary"), Some(VARY), "{target}");
    }
}

#[tokio::test]
async fn methods_and_headers_are_listed_when_they_are_limited() {
    let cors = Cors {
        origins: origin("https://a.example"),
        methods: vec!["GET".to_owned(), "PUT".to_owned()],
        headers: vec!["content-type".to_owned()],
        credentials: true,
    };
    let server = with(cors).await;
    let ask = ask("OPTIONS", "/v1/fs/file").header("origin", "https://a.example");
    let answer = server.send(ask).await;
    assert_eq!(answer.header("access-control-allow-methods"), Some("GET,PUT"));
    assert_eq!(answer.header("access-control-allow-headers"), Some("content-type"));
    assert_eq!(answer.header("access-control-allow-credentials"), Some("true"));
}

#[tokio::test]
async fn with_credentials_what_is_asked_for_is_repeated_instead_of_a_star() {
    let cors = Cors { origins: origin("https://a.example"), credentials: true, ..Cors::default() };
    let server = with(cors).await;
    let ask = ask("OPTIONS", "/v1/fs/file")
        .header("origin", "https://a.example")
        .header("access-control-request-method", "PUT")
        .header("access-control-request-headers", "authorization");
    let answer = server.send(ask).await;
    assert_eq!(answer.header("access-control-allow-methods"), Some("PUT"));
    assert_eq!(answer.header("access-control-allow-headers"), Some("authorization"));
}

#[tokio::test]
async fn bad_values_are_an_error_with_a_hint() {
    let bad = [
        Cors { origins: origin("example.org"), ..Cors::default() },
        Cors { origins: origin("*"), credentials: true, ..Cors::default() },
        Cors { methods: origin("G ET"), ..Cors::default() },
        Cors { headers: origin("a b"), ..Cors::default() },
    ];
    for cors in bad {
        let mut options = Options::new(Access::Open);
        options.cors = cors;
        let refused = app(options).unwrap_err().to_string();
        assert!(refused.contains(" (write it as ") || refused.contains(" (name the "), "{refused}");
    }
}

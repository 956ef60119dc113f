//! Requests that depend on the state of a file.

use crate::http::{Answer, Server, ask};

const FILE: &str = "/v1/fs/file?path=f";

async fn tag(server: &Server) -> String {
    server.get(FILE).await.header("etag").unwrap().to_owned()
}

async fn put_if(server: &Server, header: &str, value: &str, body: &str) -> Answer {
    server.send(ask("PUT", FILE).header(header, value).body(body)).await
}

#[tokio::test]
async fn a_version_changes_with_the_content_and_is_the_same_everywhere() {
    let server = Server::start().await;
    let put = server.send(ask("PUT", FILE).body("one")).await;
    let stat = server.get("/v1/fs/stat?path=f").await;
    assert_eq!(put.header("etag"), Some(tag(&server).await.as_str()));
    assert_eq!(put.header("etag"), stat.header("etag"));
    let again = server.send(ask("PUT", FILE).body("two")).await;
    assert_ne!(again.header("etag"), put.header("etag"));
}

#[tokio::test]
async fn a_version_that_the_client_has_is_not_sent_again() {
    let server = Server::start().await;
    server.write("f", "x").await;
    let tag = tag(&server).await;
    for value in [tag.as_str(), &format!("W/{tag}"), &format!("\"no\", {tag}"), "*"] {
        for method in ["GET", "HEAD"] {
            let answer = server.send(ask(method, FILE).header("if-none-match", value)).await;
            assert_eq!(answer.status, 304, "{method} {value}");
            assert_eq!(answer.header("etag"), Some(tag.as_str()));
            assert!(answer.body.is_empty());
        }
    }
    let answer = server.send(ask("GET", FILE).header("if-none-match", "\"no\"")).await;
    assert_eq!((answer.status, answer.text()), (200, "x"));
}

#[tokio::test]
async fn a_read_of_another_version_than_expected_fails() {
    let server = Server::start().await;
    server.write("f", "x").await;
    let tag = tag(&server).await;
    let send = |value: String| server.send(ask("GET", FILE).header("if-match", &value));
    assert_eq!(send(tag.clone()).await.status, 200);
    assert_eq!(send("*".to_owned()).await.status, 200);
    send("\"no\"".to_owned()).await.is_kind(412, "precondition_failed");
    send(format!("W/{tag}")).await.is_kind(412, "precondition_failed");
}

#[tokio::test]
async fn a_change_with_a_date_before_1970_is_not_made() {
    let server = Server::start().await;
    server.write("f", "x").await;
    let answer = put_if(&server, "if-unmodified-since", "Wed, 31 Dec 1969 23:59:59 GMT", "y").await;
    answer.is_kind(412, "precondition_failed");
    assert_eq!(server.content("f"), "x");
}

#[tokio::test]
async fn dates_are_honoured() {
    let server = Server::start().await;
    server.write("f", "x").await;
    let date = server.get(FILE).await.header("last-modified").unwrap().to_owned();
    let old = "Sun, 06 Nov 1994 08:49:37 GMT";
    let send =
        |name: &'static str, value: String| server.send(ask("GET", FILE).header(name, &value));
    assert_eq!(send("if-modified-since", date.clone()).await.status, 304);
    assert_eq!(send("if-modified-since", old.to_owned()).await.status, 200);
    assert_eq!(send("if-modified-since", "nonsense".to_owned()).await.status, 200);
    assert_eq!(send("if-unmodified-since", date).await.status, 200);
    send("if-unmodified-since", old.to_owned()).await.is_kind(412, "precondition_failed");
}

#[tokio::test]
async fn a_write_replaces_only_the_version_that_was_expected() {
    let server = Server::start().await;
    server.write("f", "old").await;
    let first = tag(&server).await;
    assert_eq!(put_if(&server, "if-match", &first, "new").await.status, 200);
    put_if(&server, "if-match", &first, "lost").await.is_kind(412, "precondition_failed");
    assert_eq!(server.content("f"), "new");
    assert_eq!(put_if(&server, "if-none-match", &first, "newer").await.status, 200);
}

#[tokio::test]
async fn a_write_can_be_made_to_create_only() {
    let server = Server::start().await;
    assert_eq!(put_if(&server, "if-none-match", "*", "one").await.status, 200);
    put_if(&server, "if-none-match", "*", "two").await.is_kind(412, "precondition_failed");
    assert_eq!(server.content("f"), "one");
}

#[tokio::test]
async fn a_write_can_be_made_to_replace_only() {
    let server = Server::start().await;
    put_if(&server, "if-match", "*", "x").await.is_kind(412, "precondition_failed");
    assert!(!server.has("f"));
}

#[tokio::test]
async fn a_write_can_depend_on_a_date() {
    let server = Server::start().await;
    server.write("f", "old").await;
    let old = "Sun, 06 Nov 1994 08:49:37 GMT";
    put_if(&server, "if-unmodified-since", old, "x").await.is_kind(412, "precondition_failed");
    let date = server.get(FILE).await.header("last-modified").unwrap().to_owned();
    assert_eq!(put_if(&server, "if-unmodified-since", &date, "new").await.status, 200);
    assert_eq!(server.content("f"), "new");
}

#[tokio::test]
async fn a_removal_takes_only_the_version_that_was_expected() {
    let server = Server::start().await;
    server.write("f", "x").await;
    let remove = |value: String| {
        server.send(ask("DELETE", "/v1/fs/entry?path=f").header("if-match", &value))
    };
    remove("\"no\"".to_owned()).await.is_kind(412, "precondition_failed");
    assert!(server.has("f"));
    assert_eq!(remove(tag(&server).await).await.status, 200);
    assert!(!server.has("f"));
}

#[tokio::test]
async fn conditions_that_cannot_be_read_or_combined_are_a_400() {
    let server = Server::start().await;
    for (name, value) in [("if-match", "unquoted"), ("if-none-match", "\"a"), ("if-match", "")] {
        put_if(&server, name, value, "x").await.is_kind(400, "invalid_argument");
    }
    let ask = ask("PUT", FILE).header("if-match", "*").header("if-none-match", "\"a\"");
    server.send(ask.body("x")).await.is_kind(400, "invalid_argument");
    assert!(!server.has("f"));
}

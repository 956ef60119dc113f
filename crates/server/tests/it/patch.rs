//! Range writes and appends.

use engine::Limits;
use server::{Access, Options};
use tokio::io::AsyncWriteExt as _;

use crate::http::{Answer, Ask, Server, answer, ask};

fn patch() -> Ask {
    ask("PATCH", "/v1/fs/file?path=f")
}

async fn place(server: &Server, range: &str, body: &str) -> Answer {
    server.send(patch().header("content-range", range).body(body)).await
}

#[tokio::test]
async fn a_part_replaces_the_bytes_of_its_range() {
    let server = Server::start().await;
    server.put("f", "0123456789");
    let answer = place(&server, "bytes 2-4/*", "abc").await;
    answer.is_json(&format!(r#"{{"path":"{}","bytesWritten":3}}"#, server.shown("f")));
    assert_eq!(server.content("f"), "01abc56789");
    let read = server.get("/v1/fs/file?path=f").await;
    assert_eq!(answer.header("etag"), read.header("etag"));
}

#[tokio::test]
async fn a_part_may_lengthen_a_file_or_make_it() {
    let server = Server::start().await;
    assert_eq!(place(&server, "bytes 2-3/*", "ab").await.status, 200);
    assert_eq!(server.content("f"), "\0\0ab");
    assert_eq!(place(&server, "bytes 4-5/6", "cd").await.status, 200);
    assert_eq!(server.content("f"), "\0\0abcd");
}

#[tokio::test]
async fn a_part_in_many_pieces_arrives_whole() {
    let server = Server::start().await;
    let body: String = (0..700_000).map(|n| char::from(b'a' + (n % 23) as u8)).collect();
    assert_eq!(place(&server, "bytes 0-699999/*", &body).await.status, 200);
    assert!(server.content("f") == body);
}

#[tokio::test]
async fn a_total_that_would_be_wrong_fails() {
    let server = Server::start().await;
    server.put("f", "0123456789");
    place(&server, "bytes 0-0/5", "x").await.is_kind(412, "precondition_failed");
    assert_eq!(server.content("f"), "0123456789");
    assert_eq!(place(&server, "bytes 0-0/10", "x").await.status, 200);
}

#[tokio::test]
async fn a_body_of_another_length_than_its_range_is_a_400() {
    let server = Server::start().await;
    server.put("f", "0123456789");
    place(&server, "bytes 2-4/*", "ab").await.is_kind(400, "invalid_argument");
    place(&server, "bytes 2-4/*", "abcd").await.is_kind(400, "invalid_argument");
    for chunks in ["2\r\nab\r\n0\r\n\r\n", "4\r\nabcd\r\n0\r\n\r\n"] {
        let ask =
            patch().header("content-range", "bytes 2-4/*").header("transfer-encoding", "chunked");
        let mut stream = server.connect().await;
        stream.write_all(&ask.into_bytes()).await.unwrap();
        stream.write_all(chunks.as_bytes()).await.unwrap();
        answer(&mut stream, false).await.is_kind(400, "broken_body");
    }
    assert_eq!(server.content("f"), "0123456789");
}

#[tokio::test]
async fn an_append_goes_to_the_end() {
    let server = Server::start().await;
    let append = |body: &'static str| server.send(patch().header("x-append", "1").body(body));
    let answer = append("one").await;
    answer.is_json(&format!(r#"{{"path":"{}","bytesWritten":3}}"#, server.shown("f")));
    assert!(answer.header("etag").is_some());
    assert_eq!(append("two").await.status, 200);
    assert_eq!(server.content("f"), "onetwo");
}

#[tokio::test]
async fn an_append_that_breaks_off_changes_nothing() {
    let server = Server::start().await;
    server.put("f", "old");
    let ask = patch().header("x-append", "1").header("content-length", "10");
    let mut stream = server.connect().await;
    stream.write_all(&ask.into_bytes()).await.unwrap();
    stream.write_all(b"half").await.unwrap();
    stream.shutdown().await.unwrap();
    answer(&mut stream, false).await.is_kind(400, "broken_body");
    assert_eq!(server.content("f"), "old");
}

#[tokio::test]
async fn a_patch_says_where_its_body_goes_and_only_once() {
    let server = Server::start().await;
    let asks = [
        patch(),
        patch().header("x-append", "yes"),
        patch().header("x-append", "1").header("content-range", "bytes 0-0/*"),
        patch().header("content-range", "bytes 5-2/*"),
        patch().header("content-range", "nonsense"),
        patch().header("content-range", "bytes 0-0/*").header("content-range", "bytes 0-0/*"),
    ];
    for ask in asks {
        server.send(ask.body("x")).await.is_kind(400, "invalid_argument");
    }
    assert!(!server.has("f"));
}

#[tokio::test]
async fn the_conditions_of_a_part_are_checked() {
    let server = Server::start().await;
    let send = |name: &'static str, value: String| {
        let ask = patch().header("content-range", "bytes 0-0/*").header(name, &value);
        server.send(ask.body("x"))
    };
    send("if-match", "*".to_owned()).await.is_kind(412, "precondition_failed");
    assert!(!server.has("f"));
    assert_eq!(send("if-none-match", "*".to_owned()).await.status, 200);
    send("if-none-match", "*".to_owned()).await.is_kind(412, "precondition_failed");
    let tag = server.get("/v1/fs/file?path=f").await.header("etag").unwrap().to_owned();
    send("if-match", "\"no\"".to_owned()).await.is_kind(412, "precondition_failed");
    send("if-none-match", tag.clone()).await.is_kind(412, "precondition_failed");
    assert_eq!(send("if-match", tag).await.status, 200);
}

#[tokio::test]
async fn the_conditions_of_an_append_are_checked() {
    let server = Server::start().await;
    server.put("f", "x");
    let send = |value: &'static str| {
        server.send(patch().header("x-append", "1").header("if-match", value).body("y"))
    };
    send("\"no\"").await.is_kind(412, "precondition_failed");
    assert_eq!(send("*").await.status, 200);
    assert_eq!(server.content("f"), "xy");
}

#[tokio::test]
async fn a_part_behind_the_longest_length_is_a_413() {
    let limits = Limits { file_size: Some(4), ..Limits::default() };
    let server = Server::limited(Options::new(Access::Open), limits).await;
    place(&server, "bytes 4-4/*", "x").await.is_kind(413, "file_too_large");
}

#[tokio::test]
async fn a_put_with_a_content_range_is_sent_to_patch() {
    let server = Server::start().await;
    let ask = ask("PUT", "/v1/fs/file?path=f").header("content-range", "bytes 0-0/1").body("x");
    server.send(ask).await.is_kind(400, "invalid_argument");
    assert!(!server.has("f"));
}

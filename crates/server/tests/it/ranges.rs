//! Parts of files.

use crate::http::{Answer, Server, ask};

const FILE: &str = "/v1/fs/file?path=f";

async fn ten() -> Server {
    let server = Server::start().await;
    server.write("f", "0123456789").await;
    server
}

async fn part(server: &Server, range: &str) -> Answer {
    server.send(ask("GET", FILE).header("range", range)).await
}

#[tokio::test]
async fn one_range_is_sent_alone() {
    let server = ten().await;
    for (range, text, sent) in [
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-2", "89", "bytes 8-9/10"),
        ("bytes=0-0", "0", "bytes 0-0/10"),
        ("bytes=8-99999999999999999999", "0123456789", ""),
        ("bytes=8-18446744073709551615", "89", "bytes 8-9/10"),
        ("bytes=-100", "0123456789", "bytes 0-9/10"),
    ] {
        let answer = part(&server, range).await;
        assert_eq!(answer.text(), text, "{range}");
        assert_eq!(answer.header("content-range").unwrap_or_default(), sent, "{range}");
        assert_eq!(answer.status, if sent.is_empty() { 200 } else { 206 }, "{range}");
        assert_eq!(answer.header("content-length").unwrap(), text.len().to_string());
        assert!(answer.header("etag").is_some());
    }
}

#[tokio::test]
async fn several_ranges_and_unknown_ones_are_answered_with_the_whole() {
    let server = ten().await;
    for range in ["bytes=0-1,4-5", "lines=1-2", "bytes=4-2", "bytes=a-b", "bytes="] {
        let answer = part(&server, range).await;
        assert_eq!((answer.status, answer.text()), (200, "0123456789"), "{range}");
    }
}

#[tokio::test]
async fn a_range_behind_the_end_is_a_416_that_says_how_long_the_file_is() {
    let server = ten().await;
    for range in ["bytes=10-", "bytes=100-200", "bytes=-0"] {
        let answer = part(&server, range).await;
        answer.is_kind(416, "range_not_satisfiable");
        assert_eq!(answer.header("content-range"), Some("bytes */10"), "{range}");
    }
    server.put("f", "");
    let answer = part(&server, "bytes=0-").await;
    assert_eq!((answer.status, answer.header("content-range")), (416, Some("bytes */0")));
}

#[tokio::test]
async fn a_part_of_another_version_is_answered_with_the_whole() {
    let server = ten().await;
    let tag = server.get(FILE).await.header("etag").unwrap().to_owned();
    let send = |value: String, range: &'static str| {
        server.send(ask("GET", FILE).header("range", range).header("if-range", &value))
    };
    assert_eq!(send(tag.clone(), "bytes=1-2").await.status, 206);
    assert_eq!(send("\"no\"".to_owned(), "bytes=1-2").await.status, 200);
    assert_eq!(send("\"no\"".to_owned(), "bytes=50-").await.status, 200);
    assert_eq!(send(format!("W/{tag}"), "bytes=1-2").await.status, 200);
    let date = server.get(FILE).await.header("last-modified").unwrap().to_owned();
    assert_eq!(send(date, "bytes=1-2").await.status, 200);
}

#[tokio::test]
async fn conditions_come_before_ranges() {
    let server = ten().await;
    let tag = server.get(FILE).await.header("etag").unwrap().to_owned();
    let held = ask("GET", FILE).header("range", "bytes=50-").header("if-none-match", &tag);
    assert_eq!(server.send(held).await.status, 304);
    let wrong = ask("GET", FILE).header("range", "bytes=1-2").header("if-match", "\"no\"");
    assert_eq!(server.send(wrong).await.status, 412);
}

#[tokio::test]
async fn head_ignores_ranges() {
    let server = ten().await;
    let answer = server.send(ask("HEAD", FILE).header("range", "bytes=1-2")).await;
    assert_eq!((answer.status, answer.header("content-length")), (200, Some("10")));
}

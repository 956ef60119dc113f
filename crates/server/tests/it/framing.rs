//! Requests that are framed so that two readers would see two different things.

use tokio::io::AsyncWriteExt as _;

use crate::http::{Server, answer, ask, rest};

async fn exchange(server: &Server, bytes: &str) -> String {
    let mut stream = server.connect().await;
    stream.write_all(bytes.as_bytes()).await.unwrap();
    String::from_utf8(rest(&mut stream).await.unwrap()).unwrap()
}

#[tokio::test]
async fn what_follows_a_request_with_two_lengths_is_never_a_request() {
    let server = Server::start().await;
    for (one, other) in [
        ("content-length: 4", "transfer-encoding: chunked"),
        ("transfer-encoding: chunked", "content-length: 4"),
    ] {
        let request = format!(
            "PUT /v1/fs/file?path=f HTTP/1.1\r\nhost: localhost\r\n{one}\r\n{other}\r\n\r\n\
             0\r\n\r\nPOST /v1/fs/mkdir?path=smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n"
        );
        let text = exchange(&server, &request).await;
        assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{text}");
        assert!(!server.has("smuggled"));
    }
}

#[tokio::test]
async fn two_different_lengths_are_a_400() {
    let server = Server::start().await;
    let text = exchange(
        &server,
        "PUT /v1/fs/file?path=f HTTP/1.1\r\nhost: localhost\r\n\
         content-length: 4\r\ncontent-length: 5\r\n\r\nabcde",
    );
    assert!(text.await.starts_with("HTTP/1.1 400 "));
    assert!(!server.has("f"));
}

#[tokio::test]
async fn lengths_and_encodings_that_are_not_plain_are_a_400() {
    let server = Server::start().await;
    for header in [
        "content-length: +4",
        "content-length: 4, 4",
        "content-length: -1",
        "content-length: 0x4",
        "content-length: 99999999999999999999",
        "transfer-encoding: gzip",
        "transfer-encoding: chunked, identity",
        "transfer-encoding : chunked",
        "content-length\t: 4",
    ] {
        let request =
            format!("PUT /v1/fs/file?path=f HTTP/1.1\r\nhost: localhost\r\n{header}\r\n\r\nabcd");
        let text = exchange(&server, &request).await;
        assert!(text.starts_with("HTTP/1.1 400 "), "{header}: {text}");
        assert!(!server.has("f"), "{header}");
    }
}

#[tokio::test]
async fn bytes_that_are_coded_within_their_chunks_are_not_stored() {
    let server = Server::start().await;
    for (headers, status) in [
        ("transfer-encoding: gzip, chunked", 501),
        ("transfer-encoding: identity, chunked", 501),
        ("transfer-encoding: chunked, chunked", 501),
        ("transfer-encoding: gzip\r\ntransfer-encoding: chunked", 400),
        ("transfer-encoding: chunked\r\ntransfer-encoding: chunked", 400),
    ] {
        let request = format!(
            "PUT /v1/fs/file?path=f HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n\r\n\
             4\r\nabcd\r\n0\r\n\r\nPOST /v1/fs/mkdir?path=f HTTP/1.1\r\nhost: localhost\r\n\r\n"
        );
        let text = exchange(&server, &request).await;
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{headers}: {text}");
        assert!(text.contains("\r\nconnection: close\r\n"), "{headers}: {text}");
        assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{headers}: {text}");
        assert!(!server.has("f"), "{headers}");
    }
}

#[tokio::test]
async fn an_equal_length_that_is_repeated_is_one_length() {
    let server = Server::start().await;
    let text = exchange(
        &server,
        "PUT /v1/fs/file?path=f HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-length: 4\r\ncontent-length: 4\r\n\r\nabcd",
    );
    assert!(text.await.starts_with("HTTP/1.1 200 "));
    assert_eq!(server.content("f"), "abcd");
}

#[tokio::test]
async fn a_request_names_exactly_one_host() {
    let server = Server::start().await;
    for hosts in ["", "host: a\r\nhost: a\r\n"] {
        let text = exchange(&server, &format!("GET /v1/health HTTP/1.1\r\n{hosts}\r\n")).await;
        assert!(text.starts_with("HTTP/1.1 400 "), "{hosts}: {text}");
        assert!(text.contains("\r\nconnection: close\r\n"), "{hosts}: {text}");
    }
    let text = exchange(&server, "GET /v1/health HTTP/1.0\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.0 200 "), "{text}");
}

#[tokio::test]
async fn a_bad_chunk_length_changes_nothing() {
    let server = Server::start().await;
    for chunks in ["zz\r\nabcd\r\n0\r\n\r\n", "fffffffffffffffff\r\nabcd", "4\r\nabcdX0\r\n\r\n"] {
        let ask = ask("PUT", "/v1/fs/file?path=f").header("transfer-encoding", "chunked");
        let mut stream = server.connect().await;
        stream.write_all(&ask.into_bytes()).await.unwrap();
        stream.write_all(chunks.as_bytes()).await.unwrap();
        let answer = answer(&mut stream, false).await;
        assert_eq!(answer.status, 400, "{chunks}");
        assert!(!server.has("f"), "{chunks}");
    }
}

#[tokio::test]
async fn headers_have_a_most_number_and_a_longest_length() {
    let server = Server::start().await;
    let many: String = (0..200).map(|n| format!("x-{n}: y\r\n")).collect();
    let long = format!("x-long: {}\r\n", "y".repeat(100_000));
    for headers in [many, long] {
        let mut stream = server.connect().await;
        let request = format!("GET /v1/health HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        // The server may close before it has read everything.
        drop(stream.write_all(request.as_bytes()).await);
        assert_eq!(answer(&mut stream, true).await.status, 431);
    }
}

#[tokio::test]
async fn only_http_1_is_spoken() {
    let server = Server::start().await;
    let text = exchange(&server, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert!(!text.contains(" 200 "), "{text}");
}

//! What clients send, and what they send badly.

use tokio::io::AsyncWriteExt as _;

use crate::http::{Server, answer, ask, rest};

#[tokio::test]
async fn a_body_that_ends_early_changes_nothing() {
    let server = Server::start().await;
    server.put("f", "old");
    let ask = ask("PUT", "/v1/fs/file?path=f").header("content-length", "10");
    let mut stream = server.connect().await;
    stream.write_all(&ask.into_bytes()).await.unwrap();
    stream.write_all(b"half").await.unwrap();
    stream.shutdown().await.unwrap();
    answer(&mut stream, false).await.is_kind(400, "broken_body");
    assert_eq!(server.content("f"), "old");
    assert_eq!(server.names(), ["f"]);
}

#[tokio::test]
async fn a_chunked_body_that_ends_early_changes_nothing() {
    let server = Server::start().await;
    let ask = ask("PUT", "/v1/fs/file?path=f").header("transfer-encoding", "chunked");
    let mut stream = server.connect().await;
    stream.write_all(&ask.into_bytes()).await.unwrap();
    stream.write_all(b"4\r\nhalf\r\n5\r\nno").await.unwrap();
    stream.shutdown().await.unwrap();
    answer(&mut stream, false).await.is_kind(400, "broken_body");
    assert!(server.names().is_empty());
}

#[tokio::test]
async fn a_client_that_closes_its_side_still_gets_its_answer() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    stream.write_all(&ask("PUT", "/v1/fs/file?path=f").body("whole").into_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(answer(&mut stream, false).await.status, 200);
    assert_eq!(server.content("f"), "whole");
}

#[tokio::test]
async fn a_client_that_waits_to_be_asked_is_asked() {
    let server = Server::start().await;
    let ask = ask("PUT", "/v1/fs/file?path=f")
        .header("expect", "100-continue")
        .header("content-length", "5");
    let mut stream = server.connect().await;
    stream.write_all(&ask.into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, true).await.status, 100);
    stream.write_all(b"hello").await.unwrap();
    assert_eq!(answer(&mut stream, false).await.status, 200);
    assert_eq!(server.content("f"), "hello");
}

#[tokio::test]
async fn a_client_that_is_still_sending_sees_why_it_was_refused() {
    let server = Server::start().await;
    let length = 64 * 1024 * 1024;
    let ask = ask("PUT", "/v1/fs/file?path=../x").header("content-length", &length.to_string());
    let mut stream = server.connect().await;
    stream.write_all(&ask.into_bytes()).await.unwrap();
    let piece = vec![7; 64 * 1024];
    for _ in 0..length / piece.len() {
        if stream.write_all(&piece).await.is_err() {
            break;
        }
    }
    answer(&mut stream, false).await.is_invalid("invalid relative path: ../x");
}

#[tokio::test]
async fn a_connection_outlives_a_small_body_that_was_refused() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    stream.write_all(&ask("PUT", "/v1/fs/file?path=../x").body("x").into_bytes()).await.unwrap();
    let refused = answer(&mut stream, false).await;
    assert_eq!((refused.status, refused.header("connection")), (400, None));
    stream.write_all(&ask("GET", "/v1/health").into_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream, false).await.status, 200);
}

#[tokio::test]
async fn a_connection_that_ends_with_an_answer_says_so() {
    let server = Server::start().await;
    for expect in [None, Some("100-continue")] {
        let mut ask = ask("PUT", "/v1/fs/file?path=../x").header("content-length", "1000000");
        if let Some(expect) = expect {
            ask = ask.header("expect", expect);
        }
        let mut stream = server.connect().await;
        stream.write_all(&ask.into_bytes()).await.unwrap();
        let refused = answer(&mut stream, false).await;
        assert_eq!((refused.status, refused.header("connection")), (400, Some("close")));
    }
}

#[tokio::test]
async fn an_answer_whose_file_shrinks_is_broken_off() {
    let server = Server::start().await;
    let length = 64 * 1024 * 1024;
    let file = std::fs::File::create(server.host("f")).unwrap();
    file.set_len(length).unwrap();
    let mut stream = server.connect().await;
    stream.write_all(&ask("GET", "/v1/fs/file?path=f").into_bytes()).await.unwrap();
    let head = answer(&mut stream, true).await;
    assert_eq!(head.header("content-length"), Some(length.to_string().as_str()));
    file.set_len(0).unwrap();
    let received = rest(&mut stream).await.map_or(0, |bytes| bytes.len() as u64);
    assert!(received < length);
}

#[tokio::test]
async fn a_compressed_body_is_a_415_that_says_what_to_do() {
    let server = Server::start().await;
    let asks = [
        ask("PUT", "/v1/fs/file?path=f").header("content-encoding", "gzip"),
        ask("PATCH", "/v1/fs/file?path=f").header("content-encoding", "br"),
        ask("POST", "/v1/fs/upload-batch")
            .header("content-type", "application/x-tar")
            .header("content-encoding", "zstd"),
        ask("POST", "/v1/fs/move")
            .header("content-type", "application/json")
            .header("content-encoding", "gzip"),
    ];
    for ask in asks {
        server.send(ask.body("x")).await.is_kind(415, "unsupported");
    }
    assert!(server.names().is_empty());
    let ask = ask("PUT", "/v1/fs/file?path=f").header("content-encoding", "identity").body("x");
    assert_eq!(server.send(ask).await.status, 200);
}

#[tokio::test]
async fn json_needs_its_content_type() {
    let server = Server::start().await;
    let detail = "Expected request with `Content-Type: application/json`";
    let body = r#"{"from":"a","to":"b"}"#;
    for kind in [None, Some("text/plain"), Some("application/x-tar")] {
        let mut ask = ask("POST", "/v1/fs/move").body(body);
        if let Some(kind) = kind {
            ask = ask.header("content-type", kind);
        }
        let answer = server.send(ask).await;
        answer.is_problem(415, "unsupported_media_type", "Unsupported Media Type", detail);
    }
    server.put("a", "x");
    let ask = ask("POST", "/v1/fs/move").header("content-type", "Application/JSON; charset=utf-8");
    assert_eq!(server.send(ask.body(body)).await.status, 200);
}

#[tokio::test]
async fn json_that_is_not_json_is_a_400() {
    let server = Server::start().await;
    for body in ["", "{", "{\"from\":", "nonsense", "{,}", "\u{feff}{}"] {
        let answer = server.post_json("/v1/fs/move", body).await;
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.starts_with("Failed to parse the request body as JSON: "), "{detail}");
        assert_eq!(answer.status, 400);
    }
}

#[tokio::test]
async fn json_of_the_wrong_shape_is_a_422_that_names_the_field() {
    let server = Server::start().await;
    let answer = server.post_json("/v1/fs/move", r#"{"from":"a.txt"} "#).await;
    let detail = "Failed to deserialize the JSON body into the target type: \
                  missing field `to` at line 1 column 16";
    answer.is_problem(422, "invalid_request", "Invalid Request", detail);
    for body in [r#"{"from":1,"to":"b"}"#, r#"{"from":"a","to":"b","overwrite":"yes"}"#, "[]", "1"]
    {
        assert_eq!(server.post_json("/v1/fs/move", body).await.status, 422, "{body}");
    }
}

#[tokio::test]
async fn json_has_a_longest_length_and_a_deepest_nesting() {
    let server = Server::start().await;
    let long = format!(r#"{{"from":"{}","to":"b"}}"#, "a".repeat(70_000));
    server.post_json("/v1/fs/move", &long).await.is_kind(413, "limit_exceeded");
    let deep = format!(r#"{{"x":{}}}"#, "[".repeat(10_000));
    assert_eq!(server.post_json("/v1/fs/move", &deep).await.status, 400);
}

#[tokio::test]
async fn half_of_a_json_body_is_a_400() {
    let server = Server::start().await;
    let ask = ask("POST", "/v1/fs/move")
        .header("content-type", "application/json")
        .header("content-length", "100");
    let mut stream = server.connect().await;
    stream.write_all(&ask.into_bytes()).await.unwrap();
    stream.write_all(b"{\"from\":").await.unwrap();
    stream.shutdown().await.unwrap();
    let answer = answer(&mut stream, false).await;
    assert_eq!((answer.status, &answer.json()["kind"]), (400, &"broken_body".into()));
}

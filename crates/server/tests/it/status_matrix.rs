//! Every failure that clients know, with its status and its words.

use std::os::unix::fs::symlink;

use engine::Limits;
use server::{Access, Options};

use crate::http::{Server, ask, encoded};

#[tokio::test]
async fn a_missing_path_is_a_400_with_words_that_clients_match_on() {
    let server = Server::start().await;
    let words = format!("path not found: {}", server.shown("no/such"));
    server.get("/v1/fs/stat?path=no/such").await.is_invalid(&words);
    server.get("/v1/fs/file?path=no/such").await.is_invalid(&words);
    server.get("/v1/fs/entries?path=no/such").await.is_invalid(&words);
    server.get("/v1/fs/download-batch?path=no/such").await.is_invalid(&words);
    server.send(ask("DELETE", "/v1/fs/entry?path=no/such")).await.is_invalid(&words);
    let json = r#"{"from":"no/such","to":"x"}"#;
    server.post_json("/v1/fs/move", json).await.is_invalid(&words);
    server.post_json("/v1/fs/copy", json).await.is_invalid(&words);
}

#[tokio::test]
async fn a_missing_path_is_named_as_it_was_spelled() {
    let server = Server::start().await;
    let spelled = server.shown("x/../no");
    let answer = server.get(&format!("/v1/fs/stat?path={}", encoded(&spelled))).await;
    answer.is_invalid(&format!("path not found: {spelled}"));
}

#[tokio::test]
async fn a_dangling_link_is_not_found() {
    let server = Server::start().await;
    symlink("nowhere", server.host("link")).unwrap();
    let words = format!("path not found: {}", server.shown("link"));
    server.get("/v1/fs/stat?path=link").await.is_invalid(&words);
    server.get("/v1/fs/file?path=link").await.is_invalid(&words);
}

#[tokio::test]
async fn dots_in_a_relative_path_are_refused_as_given() {
    let server = Server::start().await;
    let words = "invalid relative path: a/../../b";
    server.get("/v1/fs/stat?path=a/../../b").await.is_invalid(words);
    server.get("/v1/fs/stat?path=a%2F..%2F%2E%2E/b").await.is_invalid(words);
    server.send(ask("PUT", "/v1/fs/file?path=a/../../b").body("x")).await.is_invalid(words);
    server.post_json("/v1/fs/move", r#"{"from":"a/../../b","to":"c"}"#).await.is_invalid(words);
    server.send(ask("POST", "/v1/fs/mkdir?path=a/../../b")).await.is_invalid(words);
}

#[tokio::test]
async fn an_absolute_path_outside_is_refused() {
    let server = Server::start().await;
    let climbing = server.shown("../../../../../../etc/passwd");
    for path in ["/etc/passwd", "/", &climbing, &server.shown("../evil/x")] {
        let answer = server.get(&format!("/v1/fs/file?path={}", encoded(path))).await;
        let problem = answer.json();
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with("invalid request: path is outside the sandbox"), "{detail}");
        answer.is_kind(400, "outside_sandbox");
    }
}

#[tokio::test]
async fn a_link_that_leads_out_is_refused() {
    let server = Server::start().await;
    symlink("/etc", server.host("out")).unwrap();
    server.get("/v1/fs/file?path=out/passwd").await.is_kind(400, "outside_sandbox");
    server.get("/v1/fs/entries?path=out").await.is_kind(400, "outside_sandbox");
    let answer = server.send(ask("PUT", "/v1/fs/file?path=out/x").body("x")).await;
    answer.is_kind(400, "outside_sandbox");
}

#[tokio::test]
async fn a_listing_of_a_file_says_that_it_is_not_a_directory() {
    let server = Server::start().await;
    server.put("f", "");
    let words = format!("path is not a directory: {}", server.shown("f"));
    server.get("/v1/fs/entries?path=f").await.is_invalid(&words);
}

#[tokio::test]
async fn a_read_of_a_directory_or_socket_says_that_it_is_not_a_file() {
    let server = Server::start().await;
    std::fs::create_dir(server.host("d")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(server.host("s")).unwrap();
    let words = format!("path is not a file: {}", server.shown("d"));
    server.get("/v1/fs/file?path=d").await.is_invalid(&words);
    let words = format!("path is not a file: {}", server.shown("s"));
    server.get("/v1/fs/file?path=s").await.is_invalid(&words);
}

#[tokio::test]
async fn a_fifo_is_never_opened() {
    let server = Server::start().await;
    let made = std::process::Command::new("mkfifo").arg(server.host("p")).status().unwrap();
    assert!(made.success());
    let words = format!("path is not a file: {}", server.shown("p"));
    server.get("/v1/fs/file?path=p").await.is_invalid(&words);
    let answer = server.send(ask("PUT", "/v1/fs/file?path=p/x").body("x")).await;
    assert!((400..500).contains(&answer.status), "{answer:?}");
    server.get("/v1/fs/entries?path=p").await.is_kind(400, "not_a_directory");
}

#[tokio::test]
async fn an_absolute_path_with_a_trailing_slash_is_not_a_file() {
    let server = Server::start().await;
    server.put("f", "x");
    let spelled = server.shown("f/");
    let target = format!("/v1/fs/file?path={}", encoded(&spelled));
    let words = format!("path is not a file: {spelled}");
    server.get(&target).await.is_invalid(&words);
    server.send(ask("PUT", &target).body("y")).await.is_invalid(&words);
    let answer = server.get(&format!("/v1/fs/stat?path={}", encoded(&spelled))).await;
    answer.is_kind(409, "not_a_directory");
    let answer = server.send(ask("DELETE", &format!("/v1/fs/entry?path={}", encoded(&spelled))));
    answer.await.is_kind(409, "not_a_directory");
    assert_eq!(server.content("f"), "x");
}

#[tokio::test]
async fn a_move_onto_something_is_refused_without_overwrite() {
    let server = Server::start().await;
    server.put("a", "a");
    server.put("b", "b");
    let words = format!("destination already exists: {}", server.shown("b"));
    server.post_json("/v1/fs/move", r#"{"from":"a","to":"b"}"#).await.is_invalid(&words);
    server.post_json("/v1/fs/copy", r#"{"from":"a","to":"b"}"#).await.is_invalid(&words);
    let json = r#"{"from":"a","to":"b","overwrite":false}"#;
    server.post_json("/v1/fs/move", json).await.is_invalid(&words);
    assert_eq!((server.content("a"), server.content("b")), ("a".into(), "b".into()));
}

#[tokio::test]
async fn a_move_to_an_empty_path_is_refused_even_with_overwrite() {
    let server = Server::start().await;
    server.put("a", "a");
    let words = format!("destination already exists: {}", server.shown(""));
    server.post_json("/v1/fs/move", r#"{"from":"a","to":""}"#).await.is_invalid(&words);
    let json = r#"{"from":"a","to":"","overwrite":true}"#;
    server.post_json("/v1/fs/move", json).await.is_invalid(&words);
}

#[tokio::test]
async fn a_move_into_itself_is_a_400() {
    let server = Server::start().await;
    server.put("d/f", "x");
    let answer = server.post_json("/v1/fs/move", r#"{"from":"d","to":"d/e"}"#).await;
    answer.is_kind(400, "invalid_argument");
    assert_eq!(server.content("d/f"), "x");
}

#[tokio::test]
async fn a_full_directory_is_a_409_with_its_path() {
    let server = Server::start().await;
    server.put("d/f", "x");
    let answer = server.send(ask("DELETE", "/v1/fs/entry?path=d")).await;
    let message = format!("directory not empty: {}", server.shown("d"));
    answer.is_problem(409, "stream_error", "Stream Error", &format!("stream error: {message}"));
    assert_eq!(answer.json()["details"]["message"], message);
    answer.is_kind(409, "directory_not_empty");
}

#[tokio::test]
async fn a_write_onto_a_directory_is_a_409() {
    let server = Server::start().await;
    std::fs::create_dir(server.host("d")).unwrap();
    let answer = server.send(ask("PUT", "/v1/fs/file?path=d").body("x")).await;
    answer.is_kind(409, "is_a_directory");
    server.send(ask("PUT", "/v1/fs/file?path=").body("x")).await.is_kind(409, "is_a_directory");
}

#[tokio::test]
async fn a_file_on_the_way_is_a_409() {
    let server = Server::start().await;
    server.put("f", "x");
    let answer = server.send(ask("PUT", "/v1/fs/file?path=f/g").body("x")).await;
    answer.is_kind(409, "not_a_directory");
    server.send(ask("POST", "/v1/fs/mkdir?path=f/g")).await.is_kind(409, "not_a_directory");
}

#[tokio::test]
async fn a_directory_over_a_file_is_a_409() {
    let server = Server::start().await;
    server.put("f", "x");
    let answer = server.send(ask("POST", "/v1/fs/mkdir?path=f")).await;
    assert_eq!(answer.status, 409, "{answer:?}");
}

#[tokio::test]
async fn the_root_cannot_be_removed_or_moved() {
    let server = Server::start().await;
    server.put("f", "x");
    let answer = server.send(ask("DELETE", "/v1/fs/entry?path=&recursive=true")).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    let answer = server.post_json("/v1/fs/move", r#"{"from":".","to":"x"}"#).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    assert!(server.has("f"));
}

#[tokio::test]
async fn names_that_cannot_be_are_a_400() {
    let server = Server::start().await;
    server.get("/v1/fs/stat?path=a%00b").await.is_kind(400, "invalid_path");
    let long = "x".repeat(256);
    server.get(&format!("/v1/fs/stat?path={long}")).await.is_kind(400, "invalid_path");
    let deep = "abcdefg/".repeat(600);
    server.get(&format!("/v1/fs/stat?path={deep}")).await.is_kind(400, "invalid_path");
}

#[tokio::test]
async fn a_loop_of_links_is_a_400() {
    let server = Server::start().await;
    symlink("b", server.host("a")).unwrap();
    symlink("a", server.host("b")).unwrap();
    server.get("/v1/fs/file?path=a").await.is_kind(400, "too_many_links");
}

#[tokio::test]
async fn a_file_over_its_limit_is_a_413_and_changes_nothing() {
    let limits = Limits { file_size: Some(4), ..Limits::default() };
    let server = Server::limited(Options::new(Access::Open), limits).await;
    server.put("f", "old");
    let answer = server.send(ask("PUT", "/v1/fs/file?path=f").body("12345")).await;
    answer.is_kind(413, "file_too_large");
    assert_eq!(server.content("f"), "old");
}

#[tokio::test]
async fn a_full_sandbox_is_a_507() {
    let limits = Limits { total_size: Some(4), ..Limits::default() };
    let server = Server::limited(Options::new(Access::Open), limits).await;
    let answer = server.send(ask("PUT", "/v1/fs/file?path=f").body("12345")).await;
    answer.is_kind(507, "storage_full");
    assert!(server.names().is_empty());
}

#[tokio::test]
async fn too_many_nodes_are_a_507() {
    let limits = Limits { nodes: Some(2), ..Limits::default() };
    let server = Server::limited(Options::new(Access::Open), limits).await;
    assert_eq!(server.send(ask("PUT", "/v1/fs/file?path=f")).await.status, 200);
    server.send(ask("PUT", "/v1/fs/file?path=g")).await.is_kind(507, "too_many_nodes");
}

#[tokio::test]
async fn a_missing_parameter_is_named() {
    let server = Server::start().await;
    let detail = "Failed to deserialize query string: missing field `path`";
    let asks = [
        ask("GET", "/v1/fs/file"),
        ask("PUT", "/v1/fs/file").body("x"),
        ask("PATCH", "/v1/fs/file"),
        ask("DELETE", "/v1/fs/entry"),
        ask("POST", "/v1/fs/mkdir")
            .header("content-type", "application/json")
            .body(r#"{"path":"x"}"#),
        ask("GET", "/v1/fs/stat"),
    ];
    for ask in asks {
        let answer = server.send(ask).await;
        answer.is_problem(400, "invalid_request", "Invalid Request", detail);
    }
}

#[tokio::test]
async fn recursive_is_true_or_false_and_nothing_else() {
    let server = Server::start().await;
    server.put("f", "x");
    let detail = "Failed to deserialize query string: provided string was not `true` or `false`";
    for value in ["1", "TRUE", "yes", ""] {
        let answer = server.send(ask("DELETE", &format!("/v1/fs/entry?path=f&recursive={value}")));
        answer.await.is_problem(400, "invalid_request", "Invalid Request", detail);
    }
    assert!(server.has("f"));
}

#[tokio::test]
async fn a_doubled_parameter_is_refused_and_an_unknown_one_ignored() {
    let server = Server::start().await;
    let detail = "Failed to deserialize query string: duplicate field `path`";
    let answer = server.get("/v1/fs/stat?path=.&path=.").await;
    answer.is_problem(400, "invalid_request", "Invalid Request", detail);
    assert_eq!(server.get("/v1/fs/stat?path=.&x=1&x=2&agent=mock").await.status, 200);
}

#[tokio::test]
async fn a_query_that_cannot_be_decoded_is_a_400() {
    let server = Server::start().await;
    for query in ["path=%", "path=%zz", "path=a%2", "path=%ff", "path=a&sessionId=%e0%80"] {
        let answer = server.get(&format!("/v1/fs/stat?{query}")).await;
        answer.is_kind(400, "invalid_argument");
    }
    let long = "a".repeat(9000);
    server.get(&format!("/v1/fs/stat?path={long}")).await.is_kind(400, "invalid_argument");
}

#[tokio::test]
async fn the_wrong_method_is_an_empty_405_that_names_the_right_ones() {
    let server = Server::start().await;
    let cases = [
        (ask("POST", "/v1/fs/entries"), "GET,HEAD"),
        (ask("POST", "/v1/fs/file"), "GET,HEAD,PUT,PATCH"),
        (ask("GET", "/v1/fs/entry"), "DELETE"),
        (ask("GET", "/v1/fs/mkdir"), "POST"),
        (ask("GET", "/v1/fs/move"), "POST"),
        (ask("GET", "/v1/fs/copy"), "POST"),
        (ask("DELETE", "/v1/fs/stat"), "GET,HEAD"),
        (ask("GET", "/v1/fs/upload-batch"), "POST"),
        (ask("PUT", "/v1/health"), "GET,HEAD"),
        (ask("BREW", "/v1/health"), "GET,HEAD"),
    ];
    for (ask, allowed) in cases {
        let answer = server.send(ask).await;
        assert_eq!((answer.status, &answer.body[..]), (405, &b""[..]));
        let sorted = |list: &str| {
            let mut methods: Vec<String> = list.split(',').map(str::to_owned).collect();
            methods.sort();
            methods
        };
        assert_eq!(sorted(answer.header("allow").unwrap()), sorted(allowed));
    }
}

#[tokio::test]
async fn an_unknown_route_is_a_404_problem() {
    let server = Server::start().await;
    for target in ["/v1/fs", "/v1/fs/file/", "/v1/anything", "/v2/anything", "/v1//fs/stat", "/%00"]
    {
        let answer = server.get(target).await;
        answer.is_problem(404, "invalid_request", "Not Found", "endpoint not found");
    }
}

#[tokio::test]
async fn no_problem_names_the_operating_system() {
    let server = Server::start().await;
    server.put("f", "x");
    let answer = server.send(ask("PUT", "/v1/fs/file?path=f/g").body("x")).await;
    assert!(!answer.text().contains("os error"), "{}", answer.text());
}

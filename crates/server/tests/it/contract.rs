//! The success bodies of `/v1/fs`, byte for byte.

use std::os::unix::fs::symlink;
use std::time::{Duration, UNIX_EPOCH};

use crate::http::{Server, ask, encoded};

fn set_modified(server: &Server, name: &str, nanoseconds: u32) {
    let time = UNIX_EPOCH + Duration::new(1_700_000_000, nanoseconds);
    let file = std::fs::File::open(server.host(name)).unwrap();
    file.set_modified(time).unwrap();
}

#[tokio::test]
async fn health_says_ok() {
    Server::start().await.get("/v1/health").await.is_json(r#"{"status":"ok"}"#);
}

#[tokio::test]
async fn the_root_says_who_answers() {
    Server::start().await.get("/").await.is_json(r#"{"docs":"/docs","name":"Sandkeep"}"#);
}

#[tokio::test]
async fn a_write_answers_with_path_and_length_and_makes_parents() {
    let server = Server::start().await;
    let answer = server.send(ask("PUT", "/v1/fs/file?path=a/b/c.txt").body("hello")).await;
    let shown = server.shown("a/b/c.txt");
    answer.is_json(&format!(r#"{{"path":"{shown}","bytesWritten":5}}"#));
    assert_eq!(server.content("a/b/c.txt"), "hello");
}

#[tokio::test]
async fn a_write_tells_whether_the_file_is_new_and_how_long_it_is() {
    let server = Server::start().await;
    let first = server.send(ask("PUT", "/v1/fs/file?path=f").body("hello")).await;
    assert_eq!((first.header("x-created"), first.header("x-size")), (Some("1"), Some("5")));
    let append = ask("PATCH", "/v1/fs/file?path=f").header("x-append", "1").body("!");
    let second = server.send(append).await;
    assert_eq!((second.header("x-created"), second.header("x-size")), (None, Some("6")));
}

#[tokio::test]
async fn a_write_without_a_body_makes_an_empty_file() {
    let server = Server::start().await;
    let answer = server.send(ask("PUT", "/v1/fs/file?path=empty")).await;
    let shown = server.shown("empty");
    answer.is_json(&format!(r#"{{"path":"{shown}","bytesWritten":0}}"#));
    assert_eq!(server.content("empty"), "");
}

#[tokio::test]
async fn a_chunked_write_arrives_whole() {
    let server = Server::start().await;
    let ask = ask("PUT", "/v1/fs/file?path=c").header("transfer-encoding", "chunked");
    let mut bytes = ask.into_bytes();
    bytes.extend_from_slice(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    let mut stream = server.connect().await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, &bytes).await.unwrap();
    let answer = crate::http::answer(&mut stream, false).await;
    assert_eq!(answer.json()["bytesWritten"], 5);
    assert_eq!(server.content("c"), "abcde");
}

#[tokio::test]
async fn a_read_sends_the_bytes() {
    let server = Server::start().await;
    std::fs::write(server.host("b.bin"), [0, 255, 10, 13]).unwrap();
    let answer = server.get("/v1/fs/file?path=b.bin").await;
    assert_eq!((answer.status, &answer.body[..]), (200, &[0, 255, 10, 13][..]));
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    assert_eq!(answer.header("content-length"), Some("4"));
    assert_eq!(answer.header("accept-ranges"), Some("bytes"));
    assert!(answer.header("etag").unwrap().starts_with('"'));
}

#[tokio::test]
async fn a_browser_neither_guesses_nor_shows_nor_runs_a_file() {
    let server = Server::start().await;
    server.put("page.html", "<script>alert(1)</script>");
    for target in ["/v1/fs/file?path=page.html", "/v1/fs/download-batch"] {
        for method in ["GET", "HEAD"] {
            let answer = server.send(ask(method, target)).await;
            let told = ["x-content-type-options", "content-security-policy", "content-disposition"]
                .map(|name| answer.header(name));
            let expected = [Some("nosniff"), Some("sandbox"), Some("attachment")];
            assert_eq!(told, expected, "{method} {target}");
        }
    }
}

#[tokio::test]
async fn what_a_cache_keeps_is_asked_about_again() {
    let server = Server::start().await;
    server.put("f", "x");
    for target in
        ["/v1/fs/file?path=f", "/v1/fs/stat?path=f", "/v1/fs/entries", "/v1/fs/download-batch"]
    {
        let answer = server.get(target).await;
        assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-cache")));
    }
    let again = ask("GET", "/v1/fs/file?path=f").header("if-none-match", "*");
    let answer = server.send(again).await;
    assert_eq!((answer.status, answer.header("cache-control")), (304, Some("no-cache")));
}

#[tokio::test]
async fn a_parameter_that_nobody_knows_may_be_anything() {
    let server = Server::start().await;
    server.put("f", "x");
    for unknown in ["x=%", "%zz=1", "x=%ff", &format!("x={}", "y".repeat(10_000))] {
        let answer = server.get(&format!("/v1/fs/stat?{unknown}&path=f")).await;
        assert_eq!(answer.status, 200, "{unknown}");
    }
}

#[tokio::test]
async fn a_stat_has_the_fields_in_order() {
    let server = Server::start().await;
    server.put("f.txt", "12345");
    set_modified(&server, "f.txt", 123_456_789);
    let shown = server.shown("f.txt");
    server.get("/v1/fs/stat?path=f.txt").await.is_json(&format!(
        r#"{{"path":"{shown}","entryType":"file","size":5,"modified":"2023-11-14T22:13:20.123456789+00:00"}}"#
    ));
}

#[tokio::test]
async fn a_time_without_a_fraction_has_no_fraction() {
    let server = Server::start().await;
    server.put("f.txt", "");
    set_modified(&server, "f.txt", 0);
    let answer = server.get("/v1/fs/stat?path=f.txt").await;
    assert_eq!(answer.json()["modified"], "2023-11-14T22:13:20+00:00");
}

#[tokio::test]
async fn a_listing_is_an_array_with_the_fields_in_order() {
    let server = Server::start().await;
    server.put("d/b.txt", "12");
    server.put("d/a b.txt", "");
    set_modified(&server, "d/b.txt", 120_000_000);
    set_modified(&server, "d/a b.txt", 0);
    let (first, second) = (server.shown("d/a b.txt"), server.shown("d/b.txt"));
    server.get("/v1/fs/entries?path=d").await.is_json(&format!(
        r#"[{{"name":"a b.txt","path":"{first}","entryType":"file","size":0,"modified":"2023-11-14T22:13:20+00:00"}},{{"name":"b.txt","path":"{second}","entryType":"file","size":2,"modified":"2023-11-14T22:13:20.120+00:00"}}]"#
    ));
}

#[tokio::test]
async fn an_empty_directory_is_an_empty_array() {
    Server::start().await.get("/v1/fs/entries").await.is_json("[]");
}

#[tokio::test]
async fn the_entries_of_the_home_have_no_double_slash() {
    let server = Server::start().await;
    server.put("f", "");
    let answer = server.get("/v1/fs/entries?path=.").await;
    assert_eq!(answer.json()[0]["path"], server.shown("f"));
}

#[tokio::test]
async fn a_directory_has_the_size_that_the_host_says() {
    let server = Server::start().await;
    std::fs::create_dir(server.host("d")).unwrap();
    let size = std::fs::metadata(server.host("d")).unwrap().len();
    let answer = server.get("/v1/fs/stat?path=d").await.json();
    assert_eq!((&answer["entryType"], &answer["size"]), (&"directory".into(), &size.into()));
}

#[tokio::test]
async fn a_removal_answers_with_the_path() {
    let server = Server::start().await;
    server.put("f", "x");
    let answer = server.send(ask("DELETE", "/v1/fs/entry?path=f")).await;
    answer.is_json(&format!(r#"{{"path":"{}"}}"#, server.shown("f")));
    assert!(!server.has("f"));
}

#[tokio::test]
async fn a_directory_goes_with_everything_when_told_so() {
    let server = Server::start().await;
    server.put("d/e/f", "x");
    let answer = server.send(ask("DELETE", "/v1/fs/entry?path=d&recursive=true")).await;
    answer.is_json(&format!(r#"{{"path":"{}"}}"#, server.shown("d")));
    assert!(!server.has("d"));
}

#[tokio::test]
async fn an_empty_directory_goes_without_being_told() {
    let server = Server::start().await;
    std::fs::create_dir(server.host("d")).unwrap();
    let answer = server.send(ask("DELETE", "/v1/fs/entry?path=d&recursive=false")).await;
    assert_eq!(answer.status, 200);
    assert!(!server.has("d"));
}

#[tokio::test]
async fn mkdir_makes_parents_and_may_be_repeated() {
    let server = Server::start().await;
    let body = format!(r#"{{"path":"{}"}}"#, server.shown("x/y"));
    server.send(ask("POST", "/v1/fs/mkdir?path=x/y")).await.is_json(&body);
    server.send(ask("POST", "/v1/fs/mkdir?path=x/y")).await.is_json(&body);
    assert!(server.host("x/y").metadata().unwrap().is_dir());
}

#[tokio::test]
async fn a_move_answers_with_both_paths_and_makes_parents() {
    let server = Server::start().await;
    server.put("a", "x");
    let answer = server.post_json("/v1/fs/move", r#"{"from":"a","to":"d/b","z":1}"#).await;
    let (from, to) = (server.shown("a"), server.shown("d/b"));
    answer.is_json(&format!(r#"{{"from":"{from}","to":"{to}"}}"#));
    assert_eq!(server.content("d/b"), "x");
    assert!(!server.has("a"));
}

#[tokio::test]
async fn a_move_with_overwrite_replaces_a_directory() {
    let server = Server::start().await;
    server.put("new/f", "new");
    server.put("old/g", "old");
    let json = r#"{"from":"new","to":"old","overwrite":true}"#;
    assert_eq!(server.post_json("/v1/fs/move", json).await.status, 200);
    assert_eq!(server.content("old/f"), "new");
    assert!(!server.has("old/g"));
}

#[tokio::test]
async fn overwrite_may_be_null() {
    let server = Server::start().await;
    server.put("a", "x");
    let json = r#"{"from":"a","to":"b","overwrite":null}"#;
    assert_eq!(server.post_json("/v1/fs/move", json).await.status, 200);
}

#[tokio::test]
async fn a_file_moved_onto_itself_stays() {
    let server = Server::start().await;
    server.put("a", "x");
    let answer = server.post_json("/v1/fs/move", r#"{"from":"a","to":"a"}"#).await;
    let path = server.shown("a");
    answer.is_json(&format!(r#"{{"from":"{path}","to":"{path}"}}"#));
    let answer = server.post_json("/v1/fs/move", r#"{"from":"a","to":"a","overwrite":true}"#).await;
    assert_eq!(answer.status, 200);
    assert_eq!(server.content("a"), "x");
}

#[tokio::test]
async fn a_copy_leaves_the_source() {
    let server = Server::start().await;
    server.put("d/f", "x");
    let answer = server.post_json("/v1/fs/copy", r#"{"from":"d","to":"e"}"#).await;
    let (from, to) = (server.shown("d"), server.shown("e"));
    answer.is_json(&format!(r#"{{"from":"{from}","to":"{to}"}}"#));
    assert_eq!((server.content("d/f"), server.content("e/f")), ("x".into(), "x".into()));
}

#[tokio::test]
async fn an_absolute_path_is_shown_as_it_was_sent() {
    let server = Server::start().await;
    server.put("sub/f", "x");
    let spelled = server.shown("sub/../sub/./f");
    let answer = server.get(&format!("/v1/fs/stat?path={}", encoded(&spelled))).await;
    assert_eq!(answer.json()["path"], spelled);
    let spelled = server.shown("sub/../sub");
    let answer = server.get(&format!("/v1/fs/entries?path={}", encoded(&spelled))).await;
    assert_eq!(answer.json()[0]["path"], format!("{spelled}/f"));
}

#[tokio::test]
async fn a_relative_path_loses_its_trailing_slash() {
    let server = Server::start().await;
    server.put("sub/f", "x");
    let answer = server.get("/v1/fs/stat?path=./sub//f/").await;
    assert_eq!(answer.json()["path"], server.shown("sub/f"));
}

#[tokio::test]
async fn the_home_is_shown_with_a_trailing_slash() {
    let server = Server::start().await;
    assert_eq!(server.get("/v1/fs/stat?path=.").await.json()["path"], server.shown(""));
    assert_eq!(server.get("/v1/fs/stat?path=").await.json()["path"], server.shown(""));
}

#[tokio::test]
async fn a_link_is_listed_as_a_file_and_followed_by_stat() {
    let server = Server::start().await;
    std::fs::create_dir(server.host("d")).unwrap();
    symlink("d", server.host("link")).unwrap();
    let listed = server.get("/v1/fs/entries").await.json();
    assert_eq!((&listed[1]["name"], &listed[1]["entryType"]), (&"link".into(), &"file".into()));
    assert_eq!(server.get("/v1/fs/stat?path=link").await.json()["entryType"], "directory");
}

#[tokio::test]
async fn a_link_is_removed_itself() {
    let server = Server::start().await;
    server.put("d/f", "x");
    symlink("d", server.host("link")).unwrap();
    let answer = server.send(ask("DELETE", "/v1/fs/entry?path=link&recursive=true")).await;
    assert_eq!(answer.status, 200);
    assert!(server.has("d/f") && !server.has("link"));
}

#[tokio::test]
async fn a_socket_is_listed_as_a_file() {
    let server = Server::start().await;
    let _socket = std::os::unix::net::UnixListener::bind(server.host("s")).unwrap();
    assert_eq!(server.get("/v1/fs/entries").await.json()[0]["entryType"], "file");
    assert_eq!(server.get("/v1/fs/stat?path=s").await.json()["entryType"], "file");
}

#[tokio::test]
async fn odd_names_come_back_as_they_were_sent() {
    let server = Server::start().await;
    for name in ["a b", "a+b", "100%", "new\nline", "ü😀", "~", "-rf", "a?b#c&d=e", "\"q\\"] {
        let target = format!("/v1/fs/file?path={}", encoded(name));
        let answer = server.send(ask("PUT", &target).body(name)).await;
        assert_eq!(answer.json()["path"], server.shown(name));
        assert_eq!(server.get(&target).await.text(), name);
    }
    assert_eq!(server.get("/v1/fs/entries").await.json().as_array().unwrap().len(), 9);
}

#[tokio::test]
async fn head_has_the_headers_of_get_and_no_body() {
    let server = Server::start().await;
    server.write("f", "12345").await;
    let get = server.get("/v1/fs/file?path=f").await;
    let head = server.send(ask("HEAD", "/v1/fs/file?path=f")).await;
    let names = ["content-type", "content-length", "etag", "last-modified", "accept-ranges"];
    for name in names {
        assert_eq!(head.header(name), get.header(name), "{name}");
        assert!(head.header(name).is_some(), "{name}");
    }
    assert_eq!(head.status, 200);
}

#[tokio::test]
async fn head_works_on_every_get_route() {
    let server = Server::start().await;
    for target in
        ["/v1/fs/entries", "/v1/fs/stat?path=.", "/v1/health", "/", "/v1/fs/download-batch"]
    {
        assert_eq!(server.send(ask("HEAD", target)).await.status, 200, "{target}");
    }
}

#[tokio::test]
async fn a_large_file_goes_in_and_out_unchanged() {
    let server = Server::start().await;
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let answer = server.send(ask("PUT", "/v1/fs/file?path=big").body(bytes.clone())).await;
    assert_eq!(answer.json()["bytesWritten"], 3_000_000);
    assert!(server.get("/v1/fs/file?path=big").await.body == bytes);
}

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    for _ in 0..3 {
        let bytes = ask("GET", "/v1/health").into_bytes();
        tokio::io::AsyncWriteExt::write_all(&mut stream, &bytes).await.unwrap();
        assert_eq!(crate::http::answer(&mut stream, false).await.status, 200);
    }
}

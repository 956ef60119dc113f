//! The bytes of files: read, put, patched and removed.

use std::sync::Arc;

use server::{Access, Options};
use tokio::io::AsyncWriteExt as _;

use super::{HOST, KINDS, content, delete, names, put, serving};
use crate::http::{Server, ask};

#[tokio::test]
async fn a_file_is_read_to_the_byte() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "f", &b"a\0b\xff\r\n"[..]).await;
        let answer = server.get(&format!("{root}/fs/f")).await;
        assert_eq!((answer.status, &answer.body[..]), (200, &b"a\0b\xff\r\n"[..]), "{root}");
        assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
        assert_eq!(answer.header("content-length"), Some("6"));
    }
}

#[tokio::test]
async fn an_empty_file_is_read_as_nothing() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "empty", "").await;
        let answer = server.get(&format!("{root}/fs/empty")).await;
        assert_eq!((answer.status, answer.header("content-length")), (200, Some("0")), "{root}");
    }
}

#[tokio::test]
async fn a_file_of_more_than_16_mib_comes_whole() {
    let server = serving().await;
    let large: Vec<u8> = (0..17_u32 << 20).map(|n| (n % 251) as u8).collect();
    for root in KINDS {
        put(&server, root, "large", large.clone()).await;
        let answer = server.get(&format!("{root}/fs/large")).await;
        assert!(answer.status == 200 && answer.body == large, "{root}");
    }
}

#[tokio::test]
async fn a_missing_file_is_404_with_an_error_and_its_path() {
    let server = serving().await;
    for root in KINDS {
        let answer = server.get(&format!("{root}/fs/a/missing.txt")).await;
        answer.is_kind(404, "not_found");
        let problem = answer.json();
        assert_eq!(problem["path"], "a/missing.txt", "{root}");
        assert!(problem["error"].as_str().unwrap().ends_with(": a/missing.txt"), "{problem}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn a_path_with_two_dots_is_403_in_every_spelling_and_for_every_method() {
    let server = serving().await;
    let spellings = ["../x", "a/../../x", "a/..", "%2e%2e/x", "..%2fx", "a/..%2f..%2fx", "%2E./x"];
    for root in KINDS {
        for path in spellings {
            for method in ["GET", "PUT", "PATCH", "DELETE"] {
                let answer = server
                    .send(ask(method, &format!("{root}/fs/{path}")).header("x-append", "1"))
                    .await;
                answer.is_kind(403, "outside_sandbox");
            }
            server.get(&format!("{root}/fs-list/{path}")).await.is_kind(403, "outside_sandbox");
        }
    }
}

#[tokio::test]
async fn a_put_makes_parents_and_says_204_without_a_body() {
    let server = serving().await;
    for root in KINDS {
        let first = put(&server, root, "a/b/c.txt", "one").await;
        assert_eq!((first.header("x-created"), first.header("x-size")), (Some("1"), Some("3")));
        let second = put(&server, root, "a/b/c.txt", "two!").await;
        assert_eq!((second.header("x-created"), second.header("x-size")), (None, Some("4")));
        assert_ne!(first.header("etag"), second.header("etag"), "{root}");
        assert_eq!(content(&server, root, "a/b/c.txt").await, "two!");
    }
}

#[tokio::test]
async fn a_put_that_prefers_to_see_the_file_is_shown_it() {
    let server = serving().await;
    for root in KINDS {
        let request = ask("PUT", &format!("{root}/fs/d/f")).body("abc");
        let answer = server.send(request.header("prefer", "return=representation")).await;
        let stat = answer.json();
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("preference-applied"), Some("return=representation"));
        assert_eq!((&stat["path"], &stat["size"]), (&"d/f".into(), &3.into()), "{root}");
        assert_eq!(
            format!("\"{}\"", stat["version"].as_str().unwrap()),
            answer.header("etag").unwrap()
        );
    }
}

#[tokio::test]
async fn a_put_of_a_new_file_is_409_where_something_is() {
    let server = serving().await;
    for root in KINDS {
        let new = || ask("PUT", &format!("{root}/fs/f?new=true")).body("x");
        assert_eq!(server.send(new()).await.status, 204, "{root}");
        server.send(new()).await.is_kind(409, "already_exists");
    }
}

#[tokio::test]
async fn a_put_may_insist_that_its_directory_is_there() {
    let server = serving().await;
    for root in KINDS {
        let request = ask("PUT", &format!("{root}/fs/no/f?parents=false")).body("x");
        server.send(request).await.is_kind(404, "not_found");
        assert!(names(&server, &format!("{root}/fs-list")).await.is_empty(), "{root}");
    }
}

#[tokio::test]
async fn a_put_onto_a_directory_is_409_and_a_get_of_one_400() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "dir/f", "x").await;
        let request = ask("PUT", &format!("{root}/fs/dir")).body("x");
        server.send(request).await.is_kind(409, "is_a_directory");
        server.get(&format!("{root}/fs/dir")).await.is_kind(400, "is_a_directory");
        let request = ask("PUT", &format!("{root}/fs/")).body("x");
        server.send(request).await.is_kind(400, "is_a_directory");
    }
}

#[tokio::test]
async fn a_put_that_breaks_off_leaves_the_old_content_and_no_trace() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "f", "old").await;
        let mut stream = server.connect().await;
        let head = format!(
            "PUT {root}/fs/f HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\nnew"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        drop(stream);
        // A later write of the same file waits for whatever the broken one still does.
        put(&server, root, "g", "x").await;
        assert_eq!(content(&server, root, "f").await, "old", "{root}");
        assert_eq!(names(&server, &format!("{root}/fs-list")).await, ["f", "g"], "{root}");
    }
}

#[tokio::test]
async fn of_a_hundred_puts_at_once_one_is_there_whole() {
    let server = Arc::new(serving().await);
    for root in KINDS {
        let bodies: Vec<String> = (0..100).map(|n| format!("{n:03}").repeat(5000)).collect();
        let tasks: Vec<_> = bodies
            .iter()
            .map(|body| {
                let (server, body) = (Arc::clone(&server), body.clone());
                tokio::spawn(async move { put(&server, root, "f", body).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let last = content(&server, root, "f").await;
        assert!(bodies.contains(&last), "{root}: {} bytes of more than one body", last.len());
        assert_eq!(names(&server, &format!("{root}/fs-list")).await, ["f"]);
    }
}

#[tokio::test]
async fn a_removal_is_204_whatever_was_there() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "f", "x").await;
        put(&server, root, "dir/sub/f", "x").await;
        for path in ["f", "dir", "dir", "missing", "missing/f"] {
            assert_eq!(delete(&server, &format!("{root}/fs/{path}")).await, 204, "{root}/{path}");
        }
        assert!(names(&server, &format!("{root}/fs-list")).await.is_empty());
    }
}

#[tokio::test]
async fn a_removal_may_insist_and_may_be_careful() {
    let server = serving().await;
    for root in KINDS {
        let missing = server.send(ask("DELETE", &format!("{root}/fs/f?must_exist=true"))).await;
        missing.is_kind(404, "not_found");
        put(&server, root, "dir/f", "x").await;
        let full = server.send(ask("DELETE", &format!("{root}/fs/dir?recursive=false"))).await;
        full.is_kind(409, "directory_not_empty");
        assert_eq!(content(&server, root, "dir/f").await, "x");
    }
}

#[tokio::test]
async fn the_root_cannot_be_removed() {
    let server = serving().await;
    for root in KINDS {
        put(&server, root, "f", "x").await;
        let answer = server.send(ask("DELETE", &format!("{root}/fs/"))).await;
        answer.is_kind(400, "invalid_argument");
        assert_eq!(content(&server, root, "f").await, "x");
    }
}

#[tokio::test]
async fn an_unknown_sandbox_is_404_for_every_route() {
    let server = serving().await;
    for target in ["fs/f", "fs-list", "fs-stat/f", "snapshots", "stats", "fs-archive"] {
        for id in ["nobody", "Not%20an%20id"] {
            let answer = server.get(&format!("/v1/sandboxes/{id}/{target}")).await;
            answer.is_kind(404, "sandbox_not_found");
            assert_eq!(answer.json()["error"], "sandbox: not found", "{target}");
        }
    }
}

#[tokio::test]
async fn without_the_token_nothing_is_told() {
    let server = Server::with(Options::new(Access::Token("secret".to_owned()))).await;
    for header in ["", "Bearer wrong", "Bearer ask_0_0", "Basic c2VjcmV0"] {
        let answer = server
            .send(ask("GET", &format!("{HOST}/fs-list")).header("authorization", header))
            .await;
        assert_eq!((answer.status, &answer.json()["error"]), (401, &"auth: unauthorized".into()));
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let request = ask("GET", &format!("{HOST}/fs-list")).header("authorization", "Bearer secret");
    assert_eq!(server.send(request).await.status, 200);
}
